// Prints what layout.h and error.h say, as JSON, for test_tables.py to compare with the tables of
// spec/format.md: offsets and sizes, kinds, types, limits, values of the position formulas, error names.
#include <cstdio>
#include <string>
#include <vector>

#include "tokpack/format/error.h"
#include "tokpack/format/layout.h"

namespace {

using namespace tokpack::format;

void open(const char* key, char bracket) { std::printf("\"%s\": %c\n", key, bracket); }
void close(char bracket, bool last = false) { std::printf("%c%s\n", bracket, last ? "" : ","); }

struct Field {
  const char* name;
  std::size_t offset;
  std::size_t size;
};

void fields(const char* key, std::size_t size, const std::vector<Field>& list) {
  open(key, '{');
  std::printf("  \"size\": %zu, \"fields\": [", size);
  for (const Field& f : list) {
    std::printf("%s\n  [\"%s\", %zu, %zu]", &f == &list.front() ? "" : ",", f.name, f.offset, f.size);
  }
  std::printf("]\n");
  close('}');
}

#define HEADER_FIELD(name) \
  Field { #name, offsetof(Header, name), sizeof(Header::name) }
#define ENTRY_FIELD(name) \
  Field { #name, offsetof(SectionEntry, name), sizeof(SectionEntry::name) }

void structures() {
  fields("header", sizeof(Header),
         {HEADER_FIELD(magic),
          HEADER_FIELD(version_major),
          HEADER_FIELD(version_minor),
          HEADER_FIELD(header_bytes),
          HEADER_FIELD(required_features),
          HEADER_FIELD(ignorable_features),
          HEADER_FIELD(file_size),
          HEADER_FIELD(packs),
          HEADER_FIELD(sequences),
          HEADER_FIELD(tokens),
          HEADER_FIELD(samples),
          HEADER_FIELD(targets),
          HEADER_FIELD(capacity),
          HEADER_FIELD(alignment),
          HEADER_FIELD(token_type),
          HEADER_FIELD(label_kind),
          HEADER_FIELD(section_count),
          HEADER_FIELD(ignore_index),
          HEADER_FIELD(pad_id),
          HEADER_FIELD(vocab_size),
          HEADER_FIELD(longest_sequence),
          HEADER_FIELD(most_sequences_in_pack),
          HEADER_FIELD(content_digest),
          HEADER_FIELD(reserved)});
  fields(
      "section_entry", sizeof(SectionEntry),
      {ENTRY_FIELD(kind), ENTRY_FIELD(element_type), ENTRY_FIELD(scope), ENTRY_FIELD(flags),
       ENTRY_FIELD(width), ENTRY_FIELD(offset), ENTRY_FIELD(length), ENTRY_FIELD(hash), ENTRY_FIELD(name)});
}

unsigned number(ElementType type) { return static_cast<unsigned>(type); }
unsigned number(Scope scope) { return static_cast<unsigned>(scope); }
unsigned number(LabelKind kind) { return static_cast<unsigned>(kind); }
unsigned number(SectionKind kind) { return static_cast<unsigned>(kind); }

void numbers() {
  open("element_types", '{');
  const std::vector<std::pair<const char*, ElementType>> types = {
      {"u8", ElementType::kU8},      {"u16", ElementType::kU16},   {"u32", ElementType::kU32},
      {"u64", ElementType::kU64},    {"i32", ElementType::kI32},   {"i64", ElementType::kI64},
      {"f16", ElementType::kF16},    {"bf16", ElementType::kBF16}, {"f32", ElementType::kF32},
      {"bytes", ElementType::kBytes}};
  for (const auto& [name, type] : types) {
    std::printf("  \"%s\": [%u, %u],\n", name, number(type), element_bytes(type));
  }
  std::printf("  \"(zero)\": [0, %u], \"(next)\": [11, %u]\n", element_bytes(std::uint8_t{0}),
              element_bytes(std::uint8_t{11}));
  close('}');
  std::printf("\"scopes\": {\"file\": %u, \"pack\": %u, \"sequence\": %u, \"token\": %u},\n",
              number(Scope::kFile), number(Scope::kPack), number(Scope::kSequence), number(Scope::kToken));
  std::printf("\"label_kinds\": {\"all\": %u, \"loss_mask\": %u, \"explicit\": %u},\n",
              number(LabelKind::kAll), number(LabelKind::kLossMask), number(LabelKind::kExplicit));
  std::printf("\"column_kinds\": {\"column\": %u, \"column_offsets\": %u, \"column_values\": %u},\n",
              number(SectionKind::kColumn), number(SectionKind::kColumnOffsets),
              number(SectionKind::kColumnValues));
  std::printf("\"flags\": {\"required\": %u, \"reserved\": %u},\n", kSectionRequired, kSectionReservedFlags);
}

void kinds() {
  open("built_in_kinds", '{');
  for (const KindRule& rule : kBuiltInKinds) {
    std::printf("  \"%s\": [%u, %u, %u]%s\n", std::string(rule.name).c_str(), number(rule.kind),
                rule.element_type, number(rule.scope), &rule == &kBuiltInKinds.back() ? "" : ",");
  }
  close('}');
  open("reserved_columns", '{');
  for (const ReservedColumn& column : kReservedColumns) {
    std::printf("  \"%s\": %u%s\n", std::string(column.name).c_str(), number(column.type),
                &column == &kReservedColumns.back() ? "" : ",");
  }
  close('}');
}

void limits() {
  open("limits", '{');
#define LIMIT(name) std::printf("  \"%s\": %llu,\n", #name, static_cast<unsigned long long>(name))
  LIMIT(kPageBytes);
  LIMIT(kMaxHeaderBytes);
  LIMIT(kBlockBytes);
  LIMIT(kMaxCapacity);
  LIMIT(kMaxTokenId);
  LIMIT(kMaxMetadataBytes);
  LIMIT(kMaxMetadataValues);
  LIMIT(kMaxFileBytes);
  LIMIT(kNameBytes);
  LIMIT(kLastKnownKind);
  LIMIT(kVersionMajor);
  LIMIT(kVersionMinor);
  std::printf("  \"kKnownRequiredFeatures\": %llu\n",
              static_cast<unsigned long long>(kKnownRequiredFeatures));
  close('}');
  open("magic", '[');
  for (const unsigned char& c : kMagic) std::printf("%u%s", c, &c == &kMagic.back() ? "" : ", ");
  close(']');
}

/// Each formula over some arguments: [arguments..., value].
void formulas() {
  using U = unsigned long long;
  open("formulas", '{');
  const auto one = [](const char* name, auto function, const std::vector<std::uint64_t>& arguments) {
    std::printf("  \"%s\": [", name);
    for (const std::uint64_t& a : arguments) {
      std::printf("%s[%llu, %llu]", &a == &arguments.front() ? "" : ", ", U{a}, U{function(a)});
    }
    std::printf("],\n");
  };
  one("max_sections", max_sections, {4096, 8192, 12288, 1048576});
  one("header_bytes_for", header_bytes_for, {1, 58, 59, 60, 123, 124, 16379});
  one("page_up", page_up, {0, 1, 4095, 4096, 4097, 8192, std::uint64_t{1} << 61});
  one("block_count", block_count, {0, 1, 1048575, 1048576, 1048577, 0xffffffffffffffff});
  const std::vector<std::pair<std::uint64_t, std::uint64_t>> pairs = {
      {0, 0}, {7, 1}, {8, 1}, {9, 2}, {1000003, 77}, {std::uint64_t{1} << 61, std::uint64_t{1} << 40}};
  const auto two = [&](const char* name, auto function, const char* end) {
    std::printf("  \"%s\": [", name);
    for (const auto& [a, b] : pairs) {
      std::printf("%s[%llu, %llu, %llu]", a == 0 ? "" : ", ", U{a}, U{b}, U{function(a, b)});
    }
    std::printf("]%s\n", end);
  };
  two("loss_bits_begin", loss_bits_begin, ",");
  two("loss_bits_length", loss_bits_length, ",");
  two("cu_seqlens_begin", cu_seqlens_begin, "");
  close('}');
}

void errors() {
  open("errors", '{');
  const char* separator = "";
  for (std::uint16_t n = 1; n < 100; ++n) {
    const std::string name(tokpack::errc_name(static_cast<tokpack::Errc>(n)));
    if (name == "unknown") continue;
    std::printf("%s  \"%u\": \"%s\"", separator, n, name.c_str());
    separator = ",\n";
  }
  std::printf("\n");
  close('}', true);
}

}  // namespace

int main() {
  std::printf("{\n");
  structures();
  numbers();
  kinds();
  limits();
  formulas();
  errors();
  std::printf("}\n");
}
