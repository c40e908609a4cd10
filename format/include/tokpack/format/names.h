// Names of the format's numbers, as the spec's tables, the command and its options write them.
//
// Pure functions; the texts live for ever. Unknown numbers are "unknown".
//
//   element_type_name(ElementType::kBF16);  // "bf16"
//   element_type_by_name("bf16");           // ElementType::kBF16
#pragma once

#include <array>
#include <optional>
#include <string_view>

#include "tokpack/format/layout.h"

namespace tokpack::format {

inline constexpr std::array<std::string_view, 11> kElementTypeNames = {
    "unknown", "u8", "u16", "u32", "u64", "i32", "i64", "f16", "bf16", "f32", "bytes"};
inline constexpr std::array<std::string_view, 5> kScopeNames = {"unknown", "file", "pack", "sequence",
                                                                "token"};
inline constexpr std::array<std::string_view, 3> kLabelKindNames = {"all", "loss_mask", "explicit"};

constexpr std::string_view element_type_name(ElementType type) noexcept {
  const auto i = static_cast<std::size_t>(type);
  return kElementTypeNames[i < kElementTypeNames.size() ? i : 0];
}
constexpr std::string_view scope_name(Scope scope) noexcept {
  const auto i = static_cast<std::size_t>(scope);
  return kScopeNames[i < kScopeNames.size() ? i : 0];
}
constexpr std::string_view label_kind_name(LabelKind kind) noexcept {
  const auto i = static_cast<std::size_t>(kind);
  return i < kLabelKindNames.size() ? kLabelKindNames[i] : "unknown";
}
constexpr std::optional<ElementType> element_type_by_name(std::string_view name) noexcept {
  for (std::size_t i = 1; i < kElementTypeNames.size(); ++i) {
    if (kElementTypeNames[i] == name) return static_cast<ElementType>(i);
  }
  return std::nullopt;
}
/// The name of a known kind, columns included; "unknown" otherwise.
constexpr std::string_view section_kind_name(std::uint16_t kind) noexcept {
  for (const KindRule& rule : kBuiltInKinds) {
    if (static_cast<std::uint16_t>(rule.kind) == kind) return rule.name;
  }
  switch (static_cast<SectionKind>(kind)) {
    case SectionKind::kColumn:
      return "column";
    case SectionKind::kColumnOffsets:
      return "column_offsets";
    case SectionKind::kColumnValues:
      return "column_values";
    default:
      return "unknown";
  }
}

static_assert(element_type_name(ElementType::kBytes) == "bytes" &&
              element_type_name(ElementType{11}) == "unknown");
static_assert(element_type_by_name("bf16") == ElementType::kBF16 && !element_type_by_name("unknown"));
static_assert(scope_name(Scope::kToken) == "token" && label_kind_name(LabelKind::kExplicit) == "explicit");
static_assert(section_kind_name(12) == "column_offsets" && section_kind_name(16) == "unknown");

}  // namespace tokpack::format
