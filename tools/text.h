// Text for people: numbers with separators, bars, histograms, and escaping of what files say.
//
// Threads: pure functions.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace tokpack::tools {

/// Printable as it is on any terminal: control characters (C0, DEL, C1), bidirectional overrides, line
/// separators and bytes that are not UTF-8 come out as \n, \t, \xNN or \u{NNNN}. Backslashes stay as they
/// are, so text that is escaped already is not escaped again.
std::string terminal_safe(std::string_view text);

std::string with_commas(std::uint64_t number);  ///< 1,234,567
std::string human_bytes(std::uint64_t bytes);   ///< 1.2 MB (powers of 1000)
std::string percent(double fraction);           ///< "99.61 %"; never rounds up to 100 %
/// Share of the packs' room that tokens fill; 0 where there are no packs.
double utilization(std::uint64_t tokens, std::uint64_t packs, std::uint32_t capacity);
std::string bar(double fraction, std::size_t width);  ///< "#####....."
/// "1 sample", "2 samples", "1,000 samples".
std::string counted(std::uint64_t number, std::string_view singular, std::string_view plural = {});

/// Counts of values that are small integers: lengths, fills, sequences per pack.
class Distribution {
 public:
  void add(std::uint64_t value) {
    if (value >= counts_.size()) counts_.resize(value + 1 + value / 2);
    ++counts_[value];
    ++count_;
    sum_ += value;
  }
  std::uint64_t count() const noexcept { return count_; }
  std::uint64_t sum() const noexcept { return sum_; }
  double mean() const noexcept {
    return count_ == 0 ? 0.0 : static_cast<double>(sum_) / static_cast<double>(count_);
  }
  std::uint64_t smallest() const noexcept;
  std::uint64_t largest() const noexcept;
  /// The smallest value that at least `percent` of 100 of all values do not exceed. 0 when empty.
  std::uint64_t percentile(unsigned percent) const noexcept;

  struct Bin {
    std::uint64_t first, last, count;
  };
  /// At most `most` bins of equal width (1, 2 or 5 times a power of ten) from the smallest to the largest.
  std::vector<Bin> bins(std::size_t most) const;

 private:
  std::vector<std::uint64_t> counts_;
  std::uint64_t count_ = 0, sum_ = 0;
};

/// One line per bin: range, count, share, bar. Every line starts with two spaces.
std::string text_histogram(std::span<const Distribution::Bin> bins, std::uint64_t total);

}  // namespace tokpack::tools
