#include "tokpack/core/row_intervals.h"

#include <algorithm>
#include <numeric>

#include "row_check.h"

namespace tokpack {
namespace {

using Positions = std::int32_t;

/// Rows [first, end) of the sequence [start, stop): pads that join a sequence are rows past its stop.
struct Rows {
  Positions first, end, start, stop;
  Positions prefix = 0;
};

struct Target {
  std::span<std::int32_t> lo, hi;  // hi may be empty
  MaskFamily family;
  Positions window;
};

void fill_own(std::span<std::int32_t> values, Positions first, Positions end) noexcept {
  std::iota(values.begin() + first, values.begin() + end, first);
}

void fill_lo(const Target& out, const Rows& rows) noexcept {
  if (out.family != MaskFamily::kSlidingWindow) {
    std::fill(out.lo.begin() + rows.first, out.lo.begin() + rows.end, rows.start);
    return;
  }
  // The rows that still see the start, then one step a row. Row r sees it while r - start < window.
  const Positions sees_start = out.window < rows.end - rows.start ? rows.start + out.window : rows.end;
  const Positions turn = std::max(rows.first, sees_start);
  std::fill(out.lo.begin() + rows.first, out.lo.begin() + turn, rows.start);
  std::iota(out.lo.begin() + turn, out.lo.begin() + rows.end, turn - (out.window - 1));
}

void fill_hi(const Target& out, const Rows& rows) noexcept {
  if (out.hi.empty()) return;
  // The last key that every row sees, its own aside.
  Positions common = rows.first;
  if (out.family == MaskFamily::kBidirectional) common = rows.stop;
  if (out.family == MaskFamily::kPrefixLm) common = rows.start + rows.prefix;
  const Positions turn = std::clamp(common, rows.first, rows.end);
  std::fill(out.hi.begin() + rows.first, out.hi.begin() + turn, common - 1);
  fill_own(out.hi, turn, rows.end);
}

void fill_rows(const Target& out, const Rows& rows) noexcept {
  fill_lo(out, rows);
  fill_hi(out, rows);
}

void fill_pads(const Target& out, PadPolicy pads, Positions tokens, Positions last_start) noexcept {
  const auto positions = static_cast<Positions>(out.lo.size());
  if (tokens == positions) return;
  if (pads == PadPolicy::kSegment || pads == PadPolicy::kLast) {
    // A prefix ends before the pads. With no sequence at all last_start is 0, the first pad.
    fill_rows(out, {tokens, positions, pads == PadPolicy::kLast ? last_start : tokens, positions});
    return;
  }
  if (pads == PadPolicy::kSelf) {
    fill_own(out.lo, tokens, positions);
  } else {
    std::fill(out.lo.begin() + tokens, out.lo.end(), positions);
  }
  if (!out.hi.empty()) fill_own(out.hi, tokens, positions);
}

Result<void> check_prefixes(std::span<const std::int32_t> cu_seqlens,
                            std::span<const std::int32_t> prefixes) {
  for (std::size_t s = 0; s < prefixes.size(); ++s) {
    const Positions length = cu_seqlens[s + 1] - cu_seqlens[s];
    if (prefixes[s] < 0 || prefixes[s] > length) {
      return detail::make_error(Errc::kOptions,
                                "the prefix of sequence {} is {}, expected 0 to its length of {} tokens", s,
                                prefixes[s], length);
    }
  }
  return {};
}

}  // namespace

Result<void> check_interval_options(const IntervalOptions& options, std::size_t sequences, bool has_hi) {
  const MaskFamily family = options.family;
  if (family > MaskFamily::kPrefixLm) {
    return detail::make_error(Errc::kOptions, "unknown mask family {}", static_cast<unsigned>(family));
  }
  if (options.pads > PadPolicy::kLast) {
    return detail::make_error(Errc::kOptions, "unknown pad policy {}", static_cast<unsigned>(options.pads));
  }
  if (family == MaskFamily::kSlidingWindow ? options.window < 1 : options.window != 0) {
    return detail::make_error(
        Errc::kOptions,
        "window is {}; a sliding window needs at least 1 key (the query's own), every other "
        "family 0",
        options.window);
  }
  if (!has_hi && needs_hi(family)) {
    return detail::make_error(
        Errc::kOptions,
        "hi is left out; bidirectional and prefix-LM rows see keys after their own, so give "
        "a buffer for hi");
  }
  if (family == MaskFamily::kPrefixLm && options.prefixes.size() != sequences) {
    return detail::make_error(Errc::kOptions,
                              "there are {} prefixes and {} sequences; give one for each sequence",
                              options.prefixes.size(), sequences);
  }
  if (family != MaskFamily::kPrefixLm && !options.prefixes.empty()) {
    return detail::make_error(Errc::kOptions,
                              "prefixes are given, but the family is not prefix-LM; leave them out");
  }
  return {};
}

Result<void> build_row_intervals(std::span<const std::int32_t> cu_seqlens, const IntervalOptions& options,
                                 std::span<std::int32_t> lo, std::span<std::int32_t> hi) {
  const auto tokens = detail::check_boundaries(cu_seqlens, lo.size());
  if (!tokens) return tokens.error();
  if (!hi.empty() && hi.size() != lo.size()) {
    return detail::make_error(Errc::kOptions,
                              "hi has {} elements and lo {}; give as many, or no hi where hi(r) = r",
                              hi.size(), lo.size());
  }
  auto checked = check_interval_options(options, cu_seqlens.size() - 1, !hi.empty());
  if (checked.ok()) checked = check_prefixes(cu_seqlens, options.prefixes);
  if (!checked) return checked;

  const Target out{lo, hi, options.family, options.window};
  Positions last_start = 0;
  for (std::size_t s = 0; s + 1 < cu_seqlens.size(); ++s) {
    const Positions start = cu_seqlens[s], stop = cu_seqlens[s + 1];
    fill_rows(out, {start, stop, start, stop, options.prefixes.empty() ? 0 : options.prefixes[s]});
    last_start = start;
  }
  fill_pads(out, options.pads, *tokens, last_start);
  return {};
}

}  // namespace tokpack
