// Any bytes as JSON lines: no crash, batches of consistent shape, the same samples and the same error for any
// batch size and number of threads, and ids that another JSON parser reads too.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "tokpack/input/jsonl.h"

namespace {

using namespace tokpack;
using namespace tokpack::input;

#define REQUIRE_TRUE(condition)                                                    \
  do {                                                                             \
    if (!(condition)) {                                                            \
      std::fprintf(stderr, "%s:%d: not so: %s\n", __FILE__, __LINE__, #condition); \
      std::abort();                                                                \
    }                                                                              \
  } while (false)

struct Read {
  std::vector<std::uint32_t> tokens, lengths;
  std::vector<std::uint64_t> groups;
  std::vector<std::string> where;
  std::string error;
  std::vector<std::string> ignored;  ///< "name count" of each field that nothing reads
};

JsonlOptions options(std::uint64_t batch_bytes, unsigned threads, std::uint8_t kind) {
  JsonlOptions out;
  out.batch_bytes = batch_bytes;
  out.threads = threads;
  out.missing_labels = (kind & 1) != 0 ? MissingLabels::kTrain : MissingLabels::kError;
  out.vocab_size = (kind & 2) != 0 ? 50000 : 0;
  out.u16_only = (kind & 4) != 0;
  if ((kind & 8) != 0) {
    out.columns = {{.name = "domain"},
                   {.name = "t", .type = ElementType::kF16, .width = 2, .scope = Scope::kToken},
                   {.name = "r", .type = ElementType::kBytes, .ragged = true}};
  }
  return out;
}

void check_batch(const SampleBatch& batch, const std::vector<ColumnSpec>& columns, bool groups) {
  REQUIRE_TRUE(batch.samples() > 0);
  std::uint64_t sum = 0;
  for (const std::uint32_t length : batch.lengths) sum += length;
  REQUIRE_TRUE(sum == batch.tokens.size());
  for (const std::uint32_t id : batch.tokens) REQUIRE_TRUE(id <= 0x7fffffffU);
  using Labels = SampleBatch::Labels;
  REQUIRE_TRUE(batch.loss_mask.size() == (batch.label_form == Labels::kMask ? sum : 0));
  REQUIRE_TRUE(batch.labels.size() == (batch.label_form == Labels::kLabels ? sum : 0));
  for (const std::uint8_t bit : batch.loss_mask) REQUIRE_TRUE(bit <= 1);
  for (const std::int32_t label : batch.labels) REQUIRE_TRUE(label >= 0 || label == kDefaultIgnoreIndex);
  REQUIRE_TRUE(batch.groups.size() == (groups ? batch.samples() : 0));
  REQUIRE_TRUE(batch.columns.size() == columns.size());
  for (std::size_t i = 0; i < columns.size(); ++i) {
    const ColumnSpec& spec = columns[i];
    const std::uint64_t rows = spec.ragged                   ? batch.columns[i].offsets.back()
                               : spec.scope == Scope::kToken ? sum
                                                             : batch.samples();
    REQUIRE_TRUE(!spec.ragged || batch.columns[i].offsets.size() == batch.samples() + 1);
    REQUIRE_TRUE(batch.columns[i].values.size() == rows * spec.width * format::element_bytes(spec.type));
  }
}

Read read_through(std::string_view text, const std::shared_ptr<JsonlSession>& session) {
  Read out;
  auto source = open_jsonl_text(text, "in", session);
  if (!source) {
    out.error = source.error().detail;
    return out;
  }
  while (true) {
    auto batch = (*source)->next();
    if (!batch) {
      out.error = batch.error().detail;
      REQUIRE_TRUE(!out.error.empty());
      for (const char c : out.error) REQUIRE_TRUE(static_cast<unsigned char>(c) >= 0x20);
      return out;
    }
    if (*batch == nullptr) return out;
    const SampleBatch& b = **batch;
    check_batch(b, (*source)->columns(), (*source)->has_groups());
    for (std::size_t i = 0; i < b.samples(); ++i)
      out.where.push_back((*source)->where(out.lengths.size() + i));
    out.tokens.insert(out.tokens.end(), b.tokens.begin(), b.tokens.end());
    out.lengths.insert(out.lengths.end(), b.lengths.begin(), b.lengths.end());
    out.groups.insert(out.groups.end(), b.groups.begin(), b.groups.end());
  }
}

Read read_all(std::string_view text, const JsonlOptions& how) {
  const auto session = make_jsonl_session(how);
  Read out = read_through(text, session);
  const IgnoredFields& ignored = ignored_fields(*session);
  REQUIRE_TRUE(ignored.fields.size() <= kMaxIgnoredFields);
  for (const IgnoredField& field : ignored.fields) {
    REQUIRE_TRUE(field.samples > 0 && field.name.size() <= kMaxIgnoredNameBytes);
    out.ignored.push_back(field.name + " " + std::to_string(field.samples) + (field.list ? "*" : ""));
  }
  // Of more names than are kept, which are counted in a chunk depends on the chunk.
  if (ignored.more) out.ignored.clear();
  return out;
}

/// Each sample's line, read by another parser, has the ids that were delivered.
void check_ids(std::string_view text, const Read& read) {
  std::size_t line_number = 1, begin = 0, at = 0;
  if (text.starts_with("\xef\xbb\xbf")) begin = 3;
  for (std::size_t sample = 0; sample < read.lengths.size(); ++sample) {
    const std::size_t wanted = std::stoull(read.where[sample].substr(3));  // "in:LINE"
    for (; line_number < wanted; ++line_number) begin = text.find('\n', begin) + 1;
    const auto json = nlohmann::json::parse(text.substr(begin, text.find('\n', begin) - begin));
    const bool plain = !json.contains("input_ids") || json["input_ids"].is_null();
    const auto ids = json[plain ? "tokens" : "input_ids"].get<std::vector<std::uint32_t>>();
    REQUIRE_TRUE(ids.size() == read.lengths[sample]);
    for (const std::uint32_t id : ids) REQUIRE_TRUE(id == read.tokens[at++]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  // The last byte chooses options, so that the rest is the text as it stands.
  std::string text;
  for (std::size_t i = 0; i < size; ++i) text += static_cast<char>(data[i]);
  const std::uint8_t kind = size > 0 ? data[size - 1] : 0;
  const Read whole = read_all(text, options(1 << 20, 1, kind));
  const Read pieces = read_all(text, options(64, 1, kind));
  REQUIRE_TRUE(whole.tokens == pieces.tokens && whole.lengths == pieces.lengths);
  REQUIRE_TRUE(whole.ignored == pieces.ignored);
  REQUIRE_TRUE(whole.where == pieces.where && whole.groups == pieces.groups && whole.error == pieces.error);
  if (kind % 16 == 3) {
    const Read threaded = read_all(text, options(64, 2, kind));
    REQUIRE_TRUE(whole.tokens == threaded.tokens && whole.lengths == threaded.lengths);
    REQUIRE_TRUE(whole.where == threaded.where && whole.groups == threaded.groups &&
                 whole.error == threaded.error && whole.ignored == threaded.ignored);
  }
  if (!text.starts_with("\x28\xb5\x2f\xfd") && !(size > 3 && text.substr(1, 3) == "\x2a\x4d\x18")) {
    check_ids(text, whole);
  }
  return 0;
}
