#include "tokpack/core/verify.h"

#include <fmt/format.h>

#include <new>
#include <utility>

#include "reader_text.h"
#include "verify_run.h"

namespace tokpack {
namespace detail {

format::Bytes bytes_at(const ReaderState& state, std::uint64_t offset, std::uint64_t length,
                       std::vector<std::byte>& buffer) {
  if (state.mapped()) {
    return state.mapping->bytes().subspan(static_cast<std::size_t>(offset), static_cast<std::size_t>(length));
  }
  if (buffer.size() < length) buffer.resize(static_cast<std::size_t>(length));
  const std::span<std::byte> out(buffer.data(), static_cast<std::size_t>(length));
  if (auto read = state.file->read_at(offset, out); !read) throw ReadFailure{std::move(read).error()};
  return out;
}

std::optional<std::uint64_t> pack_of_row(const format::Header& header, SectionWindow<std::uint64_t>& offsets,
                                         std::uint64_t row) {
  if (header.packs == 0) return std::nullopt;
  std::uint64_t low = 0, high = header.packs;
  while (high - low > 1) {
    const std::uint64_t middle = low + (high - low) / 2;
    (offsets.at(middle, 1)[0] <= row ? low : high) = middle;
  }
  const auto pair = offsets.at(low, 2);
  if (row < pair[0] || row >= pair[1]) return std::nullopt;
  return low;
}

/// A byte between two sections that is not zero: no checksum covers these.
void verify_gaps(VerifyRun& run) {
  const auto& sections = run.state.layout.sections;
  std::vector<std::byte> buffer;
  for (std::size_t i = 0; i + 1 < sections.size(); ++i) {
    const std::uint64_t begin = sections[i].offset + sections[i].length;
    const format::Bytes gap = bytes_at(run.state, begin, sections[i + 1].offset - begin, buffer);
    const auto set = [](std::byte b) { return b != std::byte{0}; };
    const auto first = std::find_if(gap.begin(), gap.end(), set);
    if (first == gap.end()) continue;
    run.add({.code = Errc::kGapNotZero,
             .section = "gap",
             .offset = begin + static_cast<std::uint64_t>(first - gap.begin()),
             .detail = fmt::format(
                 "the {} bytes between sections '{}' and '{}' must be 0; {} are not, the first is "
                 "0x{:02x}",
                 gap.size(), sections[i].name_view(), sections[i + 1].name_view(),
                 std::count_if(first, gap.end(), set), std::to_integer<unsigned>(*first))});
  }
}

namespace {

/// True for an error that is about the bytes of the file, not about reading them.
bool is_refusal(Errc code) noexcept { return code < Errc::kIo; }

Result<VerifySummary> run_all(const std::string& path, const VerifyOptions& options,
                              const std::function<void(const Finding&)>& report) {
  auto state = open_state(path, {.mode = options.mode, .hint = AccessHint::kSequential});
  if (!state) {
    Error error = std::move(state).error();
    if (!is_refusal(error.code)) return error;
    report(
        {.code = error.code, .section = "page 0", .offset = error.offset, .detail = std::move(error.detail)});
    return VerifySummary{.findings = 1, .bytes = 0};
  }
  VerifyRun run{*state.value(), std::max(options.threads, 1U), report};
  verify_gaps(run);
  verify_blocks(run);
  verify_packs(run);
  verify_fragments(run);
  verify_columns(run);
  verify_metadata(run);
  return VerifySummary{.findings = run.findings, .bytes = run.header().file_size};
}

}  // namespace
}  // namespace detail

Result<VerifySummary> verify(const std::string& path, const VerifyOptions& options,
                             const std::function<void(const Finding&)>& report) try {
  return detail::run_all(path, options, report);
} catch (detail::ReadFailure& failure) {
  return std::move(failure.error);
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("to verify a file");
}

}  // namespace tokpack
