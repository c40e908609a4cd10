#include "text.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace tokpack::tools {

namespace {

struct CodePoint {
  std::uint32_t value = 0;
  std::size_t bytes = 0;  ///< 0 = not UTF-8
};

CodePoint decode(std::string_view text) {
  const auto byte = [&](std::size_t i) { return static_cast<unsigned char>(text[i]); };
  const unsigned char first = byte(0);
  std::size_t length = 0;
  std::uint32_t value = 0;
  std::uint32_t least = 0;
  if (first < 0x80) return {first, 1};
  if (first >= 0xc2 && first <= 0xdf) {
    length = 2, value = first & 0x1fu, least = 0x80;
  } else if ((first & 0xf0) == 0xe0) {
    length = 3, value = first & 0x0fu, least = 0x800;
  } else if (first >= 0xf0 && first <= 0xf4) {
    length = 4, value = first & 0x07u, least = 0x10000;
  } else {
    return {};
  }
  if (text.size() < length) return {};
  for (std::size_t i = 1; i < length; ++i) {
    if ((byte(i) & 0xc0) != 0x80) return {};
    value = value << 6 | (byte(i) & 0x3fu);
  }
  if (value < least || value > 0x10ffff || (value >= 0xd800 && value <= 0xdfff)) return {};
  return {value, length};
}

bool harmless(std::uint32_t c) {
  if (c < 0x20 || (c >= 0x7f && c <= 0x9f)) return false;
  if (c >= 0x200e && c <= 0x200f) return false;  // direction marks
  if (c >= 0x2028 && c <= 0x202e) return false;  // separators, embeddings, overrides
  if (c >= 0x2066 && c <= 0x2069) return false;  // isolates
  return c != 0x061c && c != 0xfeff;
}

}  // namespace

std::string terminal_safe(std::string_view text) {
  std::string out;
  out.reserve(text.size());
  while (!text.empty()) {
    const CodePoint c = decode(text);
    const std::size_t taken = std::max<std::size_t>(c.bytes, 1);
    if (c.bytes > 0 && harmless(c.value)) {
      out.append(text.substr(0, c.bytes));
    } else if (c.bytes == 0 || c.value < 0x80) {
      const unsigned byte = static_cast<unsigned char>(text[0]);
      if (byte == '\n') {
        out += "\\n";
      } else if (byte == '\t') {
        out += "\\t";
      } else if (byte == '\r') {
        out += "\\r";
      } else {
        out += fmt::format("\\x{:02x}", byte);
      }
    } else {
      out += fmt::format("\\u{{{:04x}}}", c.value);
    }
    text.remove_prefix(taken);
  }
  return out;
}

std::string with_commas(std::uint64_t number) {
  std::string digits = std::to_string(number);
  for (std::size_t at = digits.size(); at > 3; at -= 3) digits.insert(at - 3, 1, ',');
  return digits;
}

std::string human_bytes(std::uint64_t bytes) {
  constexpr std::array<std::string_view, 7> kUnits = {"B", "kB", "MB", "GB", "TB", "PB", "EB"};
  if (bytes < 1000) return fmt::format("{} B", bytes);
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 999.5 && unit + 1 < kUnits.size()) value /= 1000, ++unit;
  return fmt::format("{:.{}f} {}", value, value < 9.95 ? 1 : 0, kUnits[unit]);
}

std::string percent(double fraction) {
  double value = std::round(fraction * 10000.0) / 100.0;
  // 99.999 % is not 100 %: a pack that is nearly full is not full.
  if (value >= 100.0 && fraction < 1.0) value = 99.99;
  return fmt::format("{:.2f} %", value);
}

double utilization(std::uint64_t tokens, std::uint64_t packs, std::uint32_t capacity) {
  if (packs == 0) return 0;
  return static_cast<double>(tokens) / (static_cast<double>(packs) * static_cast<double>(capacity));
}

std::string bar(double fraction, std::size_t width) {
  const double clamped = std::clamp(fraction, 0.0, 1.0);
  const auto filled = static_cast<std::size_t>(std::lround(clamped * static_cast<double>(width)));
  return std::string(filled, '#') + std::string(width - filled, '.');
}

std::string counted(std::uint64_t number, std::string_view singular, std::string_view plural) {
  if (number == 1) return fmt::format("1 {}", singular);
  if (plural.empty()) return fmt::format("{} {}s", with_commas(number), singular);
  return fmt::format("{} {}", with_commas(number), plural);
}

std::uint64_t Distribution::smallest() const noexcept {
  const auto it = std::find_if(counts_.begin(), counts_.end(), [](std::uint64_t n) { return n > 0; });
  return it == counts_.end() ? 0 : static_cast<std::uint64_t>(it - counts_.begin());
}

std::uint64_t Distribution::largest() const noexcept {
  for (std::size_t value = counts_.size(); value > 0; --value)
    if (counts_[value - 1] > 0) return value - 1;
  return 0;
}

std::uint64_t Distribution::percentile(unsigned percent) const noexcept {
  if (count_ == 0) return 0;
  // The rank is the least whole number not below count * percent / 100, without a product that could wrap.
  const std::uint64_t rest = (count_ % 100 * percent + 99) / 100;
  const std::uint64_t rank = std::max<std::uint64_t>(count_ / 100 * percent + rest, 1);
  std::uint64_t seen = 0;
  for (std::size_t value = 0; value < counts_.size(); ++value) {
    seen += counts_[value];
    if (seen >= rank) return value;
  }
  return largest();
}

std::vector<Distribution::Bin> Distribution::bins(std::size_t most) const {
  if (count_ == 0) return {};
  const std::uint64_t low = smallest();
  const std::uint64_t high = largest();
  std::uint64_t width = 1;
  for (std::uint64_t power = 1;; power *= 10) {
    bool found = false;
    for (const std::uint64_t factor : {1u, 2u, 5u}) {
      width = factor * power;
      if (high / width - low / width + 1 <= most) {
        found = true;
        break;
      }
    }
    if (found) break;
  }
  std::vector<Bin> out;
  for (std::uint64_t first = low / width * width; first <= high; first += width) {
    Bin bin{std::max(first, low), std::min(first + width - 1, high), 0};
    for (std::uint64_t value = bin.first; value <= bin.last; ++value) bin.count += counts_[value];
    out.push_back(bin);
  }
  return out;
}

std::string text_histogram(std::span<const Distribution::Bin> bins, std::uint64_t total) {
  std::uint64_t highest = 0;
  std::size_t range_width = 0;
  std::size_t count_width = 0;
  std::vector<std::string> ranges;
  for (const Distribution::Bin& bin : bins) {
    highest = std::max(highest, bin.count);
    ranges.push_back(bin.first == bin.last
                         ? with_commas(bin.first)
                         : fmt::format("{} - {}", with_commas(bin.first), with_commas(bin.last)));
    range_width = std::max(range_width, ranges.back().size());
    count_width = std::max(count_width, with_commas(bin.count).size());
  }
  std::string out;
  for (std::size_t i = 0; i < bins.size(); ++i) {
    const double share = total == 0 ? 0.0 : static_cast<double>(bins[i].count) / static_cast<double>(total);
    std::string hashes;
    if (bins[i].count > 0) {
      const double relative = static_cast<double>(bins[i].count) / static_cast<double>(highest);
      // A bin that is not empty shows at least one mark.
      hashes.assign(std::max<std::size_t>(static_cast<std::size_t>(std::lround(relative * 40)), 1), '#');
    }
    std::string line = fmt::format("  {:>{}}  {:>{}}  {:>8}  {}", ranges[i], range_width,
                                   with_commas(bins[i].count), count_width, percent(share), hashes);
    line.erase(line.find_last_not_of(' ') + 1);
    out += line + "\n";
  }
  return out;
}

}  // namespace tokpack::tools
