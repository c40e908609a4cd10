// What the parser says about file images broken by a test.
#pragma once

#include <doctest/doctest.h>

#include <string>
#include <string_view>
#include <utility>

#include "page_builder.h"
#include "tokpack/format/parse.h"

namespace tokpack::test {

/// The number of the error, 0 when the image is valid.
inline int code_of(std::string_view bytes, std::uint64_t file_size) {
  const Result<FileLayout> layout = parse_page0(bytes_of(bytes), file_size);
  return layout ? 0 : static_cast<int>(layout.error().code);
}
inline int code_of(std::string_view bytes) { return code_of(bytes, bytes.size()); }

inline Error refusal(std::string_view bytes) {
  Result<FileLayout> layout = parse_page0(bytes_of(bytes), bytes.size());
  REQUIRE_FALSE(layout.ok());
  return layout.error();
}

/// small_image() with one value put at one offset of page 0, sealed again.
template <typename T>
std::string broken(std::size_t offset, T value, const Image& image = small_image()) {
  std::string bytes = image.build();
  patch(bytes, offset, value);
  reseal(bytes);
  return bytes;
}
template <typename T>
std::string broken_entry(const Image& image, std::string_view name, std::size_t field, T value) {
  return broken(entry_field(image.index(name), field), value, image);
}

using U8 = std::uint8_t;
using U16 = std::uint16_t;
using U32 = std::uint32_t;
using U64 = std::uint64_t;

inline constexpr U64 k2to61 = U64{1} << 61;
inline constexpr U64 kAllOnes = ~U64{0};
inline constexpr U64 kCountValues[] = {k2to61, (U64{1} << 62) + 1, U64{1} << 63, kAllOnes};

inline void add(Image& image, Section s) { image.sections.push_back(std::move(s)); }
inline Section column(std::string_view name, std::string content = std::string(12, 'x'),
                      ElementType type = ElementType::kU32, Scope scope = Scope::kSequence) {
  return section(SectionKind::kColumn, name, type, scope, std::move(content));
}

}  // namespace tokpack::test
