#include "writer_options.h"

#include <algorithm>
#include <set>

#include "descriptor.h"
#include "file_finish.h"
#include "tokpack/format/names.h"
#include "tokpack/format/parse.h"

namespace tokpack {
namespace {

constexpr std::uint64_t kMostThreads = 4096;

Error wrong(std::string detail) { return {Errc::kOptions, Error::kNoOffset, std::move(detail)}; }

}  // namespace

Result<void> check_column(const ColumnSpec& column) {
  const std::string name = "column " + detail::quoted(column.name);
  if (!format::valid_section_name(column.name)) {
    return wrong(name + ": a name has 1 to " + std::to_string(format::kNameBytes) +
                 " characters of a-z, 0-9 and _");
  }
  if (column.name == "group") {
    return wrong(name + " is written from the samples' groups; declare another name");
  }
  for (const format::KindRule& rule : format::kBuiltInKinds) {
    if (rule.name == column.name) return wrong(name + " is the name of a built-in section; choose another");
  }
  if (format::element_bytes(column.type) == 0) return wrong(name + ": unknown element type");
  if (column.width == 0) return wrong(name + ": the width must be at least 1");
  if (column.scope != Scope::kSequence && column.scope != Scope::kToken) {
    return wrong(name + ": the scope must be sequence or token");
  }
  if (column.ragged && column.scope != Scope::kSequence) {
    return wrong(name + ": only a column of scope sequence can be ragged");
  }
  for (const format::ReservedColumn& reserved : format::kReservedColumns) {
    if (reserved.name != column.name) continue;
    if (column.type != reserved.type || column.scope != Scope::kSequence || column.width != 1 ||
        column.ragged) {
      return wrong(name + ": the name is reserved for one " +
                   std::string(format::element_type_name(reserved.type)) +
                   " a sequence; declare it so or choose another name");
    }
  }
  return {};
}

namespace detail {

Result<void> check_text(const std::string& what, std::string_view text) {
  if (is_utf8(text)) return {};
  return wrong(what + " is " + quoted(text) + ", which is not UTF-8; metadata holds UTF-8 alone");
}

Result<void> check_writer_options(const WriterOptions& options) {
  if (auto ok = check_plan_options(options.plan); !ok) return ok;
  if (options.plan.strategy == Strategy::kConcat) {
    // kError is what an option struct has when nothing was chosen, and nothing is overlong here.
    if (options.overlong != Overlong::kSplit && options.overlong != Overlong::kError) {
      return wrong("the strategy concat cuts every sample at the capacity: the overlong policy " +
                   std::string(overlong_name(options.overlong)) + " has no meaning with it; leave it out");
    }
    if (options.groups)
      return wrong("the strategy concat cuts samples apart and so cannot keep groups together");
  }
  if (options.groups && options.overlong != Overlong::kError && options.overlong != Overlong::kDrop) {
    return wrong("with groups the overlong policy " + std::string(overlong_name(options.overlong)) +
                 " is not possible: a group stays whole. Choose error or drop");
  }
  if (options.overlong > Overlong::kDrop) return wrong("unknown overlong policy");
  if (options.token_type && *options.token_type != ElementType::kU16 &&
      *options.token_type != ElementType::kU32) {
    return wrong("the token type must be u16 or u32");
  }
  constexpr std::uint32_t kMostVocabulary = format::kMaxTokenId + 1;
  if (options.vocab_size > kMostVocabulary) {
    return wrong("vocabulary size " + std::to_string(options.vocab_size) + " is above " +
                 std::to_string(kMostVocabulary));
  }
  if (options.pad_id > format::kMaxTokenId) {
    return wrong("pad id " + std::to_string(options.pad_id) + " is above " +
                 std::to_string(format::kMaxTokenId));
  }
  if (options.token_type == ElementType::kU16 && options.pad_id > 0xffff) {
    return wrong("pad id " + std::to_string(options.pad_id) + " does not fit tokens of type u16; choose u32");
  }
  if (planned_header_bytes(options) > format::kMaxHeaderBytes) {
    return wrong(std::to_string(options.columns.size()) +
                 " columns are more than a file can hold: it has room for " +
                 std::to_string(format::max_sections(format::kMaxHeaderBytes)) +
                 " sections, and a ragged column takes two");
  }
  if (auto ok = check_text("the tokenizer name", options.tokenizer_name); !ok) return ok;
  if (auto ok = check_text("the tokenizer sha256", options.tokenizer_sha256); !ok) return ok;
  for (const auto& [key, value] : options.user) {
    if (auto ok = check_text("the metadata key", key); !ok) return ok;
    if (auto ok = check_text("the metadata value of " + quoted(key), value); !ok) return ok;
  }
  if (options.threads == 0 || options.threads > kMostThreads) return wrong("threads must be 1 to 4096");
  std::set<std::string_view> names;
  for (const ColumnSpec& column : options.columns) {
    if (auto ok = check_column(column); !ok) return ok;
    if (!names.insert(column.name).second)
      return wrong("column " + quoted(column.name) + " is declared twice");
  }
  return {};
}

bool starts_wide(const WriterOptions& options) noexcept {
  return options.token_type == ElementType::kU32 || options.pad_id > 0xffff;
}

std::string_view strategy_name(Strategy strategy) noexcept {
  switch (strategy) {
    case Strategy::kBestFit:
      return "best-fit";
    case Strategy::kNextFit:
      return "next-fit";
    case Strategy::kConcat:
      break;
  }
  return "concat";
}

std::string_view overlong_name(Overlong overlong) noexcept {
  switch (overlong) {
    case Overlong::kError:
      return "error";
    case Overlong::kSplit:
      return "split";
    case Overlong::kTruncate:
      return "truncate";
    case Overlong::kTruncateLeft:
      return "truncate-left";
    case Overlong::kDrop:
      break;
  }
  return "drop";
}

std::string_view tail_name(Tail tail) noexcept { return tail == Tail::kNone ? "none" : "input-target"; }

}  // namespace detail
}  // namespace tokpack
