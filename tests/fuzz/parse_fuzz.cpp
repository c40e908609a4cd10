// Fuzz target: page 0 from any bytes. Parsed as they are, then with magic, version, checksum and digest put
// right, so that the checks behind them are reached; the size that the header claims is taken as the file's,
// since the parser reads page 0 alone. After a success every invariant of the layout must hold. The numbers
// of the input serve as boundaries too.
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "../support/page_builder.h"
#include "../support/parse_invariants.h"

namespace {

using namespace tokpack::test;

void require(bool holds) {
  if (!holds) std::abort();
}

void check_layout(Bytes bytes, std::uint64_t file_size) {
  const auto layout = parse_page0(bytes, file_size);
  if (layout) {
    require(broken_invariant(*layout, file_size).empty());
    return;
  }
  const auto code = static_cast<unsigned>(layout.error().code);
  require(code >= 1 && code <= 49);
  require(!layout.error().detail.empty());
  for (const char c : layout.error().detail) require(c >= 0x20 && c < 0x7f);
}

void check_sealed(Bytes bytes) {
  std::string page(kPageBytes, '\0');
  std::memcpy(page.data(), bytes.data(), std::min(page.size(), bytes.size()));
  patch(page, 0, kMagic);
  patch(page, offsetof(Header, version_major), kVersionMajor);
  patch(page, offsetof(Header, version_minor), kVersionMinor);
  patch(page, offsetof(Header, header_bytes), std::uint32_t{kPageBytes});
  reseal(page);
  const auto claimed = load<std::uint64_t>(bytes_of(page), offsetof(Header, file_size));
  check_layout(bytes_of(page), claimed);
}

void check_boundaries(Bytes bytes) {
  if (bytes.size() < sizeof(Header)) return;
  const auto header = load<Header>(bytes, 0);
  const std::uint64_t tokens[2] = {header.file_size, header.targets};
  const std::uint64_t sequences[2] = {header.samples, header.required_features};
  const auto bounds = check_pack_bounds(header, header.ignorable_features, tokens, sequences);
  if (bounds) {
    require(bounds->token_begin < bounds->token_end && bounds->token_end <= header.tokens);
    require(bounds->token_end - bounds->token_begin <= header.capacity);
    require(bounds->sequence_begin < bounds->sequence_end && bounds->sequence_end <= header.sequences);
  }
  std::vector<std::int32_t> cu_seqlens(bytes.size() / 4);
  std::memcpy(cu_seqlens.data(), bytes.data(), cu_seqlens.size() * 4);
  for (std::size_t n = 0; n <= cu_seqlens.size() && n <= 64; ++n) {
    const auto last = n == 0 ? 0 : static_cast<std::uint64_t>(cu_seqlens[n - 1]);
    const std::int64_t bad = check_cu_seqlens(std::span(cu_seqlens).first(n), last);
    bool holds = n > 0 && cu_seqlens[0] == 0;
    for (std::size_t i = 1; i < n; ++i) holds = holds && cu_seqlens[i] > cu_seqlens[i - 1];
    require((bad == -1) == holds);
    require(bad < static_cast<std::int64_t>(n == 0 ? 1 : n));
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const Bytes bytes = std::as_bytes(std::span(data, size));
  check_layout(bytes, size);
  check_sealed(bytes);
  check_boundaries(bytes);
  return 0;
}
