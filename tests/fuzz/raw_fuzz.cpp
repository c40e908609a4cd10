// Any bytes as a raw array (bare or .npy), with a lengths file and a loss mask: no crash, batches of
// consistent shape, the same samples and the same error for any batch size, documents that end where they
// should, and the ids that plain decoding of the bytes gives.
//
// An input is 4 bytes that choose options and sizes, then the lengths file, the mask, the array.
#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "../support/fuzz_file.h"
#include "../support/patched_file.h"
#include "tokpack/input/raw.h"

namespace {

using namespace tokpack;
using namespace tokpack::input;

struct Read {
  std::vector<std::uint32_t> tokens, lengths;
  std::vector<std::uint8_t> mask;
  std::vector<std::string> notes;
  std::string error;
};

void check_batch(const SampleBatch& batch, const RawOptions& options) {
  TOKPACK_FUZZ_CHECK(batch.samples() > 0);
  std::uint64_t sum = 0;
  for (const std::uint32_t length : batch.lengths) sum += length;
  TOKPACK_FUZZ_CHECK(sum == batch.tokens.size());
  const std::uint32_t limit = options.vocab_size == 0 ? 0x80000000U : options.vocab_size;
  for (const std::uint32_t id : batch.tokens) TOKPACK_FUZZ_CHECK(id < limit);
  const bool masked = !options.loss_mask_path.empty();
  TOKPACK_FUZZ_CHECK(batch.loss_mask.size() == (masked ? sum : 0));
  for (const std::uint8_t bit : batch.loss_mask) TOKPACK_FUZZ_CHECK(bit <= 1);
  TOKPACK_FUZZ_CHECK(batch.labels.empty() && batch.groups.empty() && batch.columns.empty());
}

Read read_all(const std::string& path, const RawOptions& options) {
  Read out;
  auto source = open_raw(path, options);
  if (!source) {
    out.error = source.error().detail;
    TOKPACK_FUZZ_CHECK(!out.error.empty());
    return out;
  }
  while (true) {
    auto batch = (*source)->next();
    if (!batch) {
      out.error = batch.error().detail;
      for (const char c : out.error) TOKPACK_FUZZ_CHECK(static_cast<unsigned char>(c) >= 0x20);
      return out;
    }
    if (*batch == nullptr) break;
    check_batch(**batch, options);
    out.tokens.insert(out.tokens.end(), (*batch)->tokens.begin(), (*batch)->tokens.end());
    out.lengths.insert(out.lengths.end(), (*batch)->lengths.begin(), (*batch)->lengths.end());
    out.mask.insert(out.mask.end(), (*batch)->loss_mask.begin(), (*batch)->loss_mask.end());
  }
  TOKPACK_FUZZ_CHECK((*source)->progress().bytes_read == (*source)->progress().bytes_total);
  for (const Note& note : (*source)->notes()) out.notes.push_back(note.text);
  return out;
}

/// Each document ends in the id and has it nowhere else; the last one may lack it, which is noted.
void check_documents(const Read& read, std::uint32_t end) {
  std::size_t at = 0;
  bool unended = false;
  for (const std::uint32_t length : read.lengths) {
    TOKPACK_FUZZ_CHECK(length > 0 && !unended);
    for (std::size_t i = at; i + 1 < at + length; ++i) TOKPACK_FUZZ_CHECK(read.tokens[i] != end);
    unended = read.tokens[at + length - 1] != end;
    at += length;
  }
  const bool noted = std::any_of(read.notes.begin(), read.notes.end(), [](const std::string& note) {
    return note.find("does not end in") != std::string::npos;
  });
  TOKPACK_FUZZ_CHECK(noted == unended);
}

/// The numbers of a bare array, read the plain way.
void check_ids(std::string_view array, const RawOptions& options, const Read& read) {
  const std::size_t width = *options.type == ArrayType::kU16 ? 2 : *options.type == ArrayType::kI64 ? 8 : 4;
  const std::string_view numbers = array.substr(static_cast<std::size_t>(options.header_bytes));
  TOKPACK_FUZZ_CHECK(numbers.size() == read.tokens.size() * width);
  for (std::size_t i = 0; i < read.tokens.size(); ++i) {
    std::uint64_t value = 0;
    std::memcpy(&value, numbers.data() + i * width, width);  // little-endian, as the format is
    TOKPACK_FUZZ_CHECK(value == read.tokens[i]);
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 4) return 0;
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::uint8_t kind = data[0], number = data[1];
  std::string_view rest = std::string_view(all).substr(4);
  const auto take = [&rest](std::size_t bytes) {
    const std::string_view part = rest.substr(0, bytes);
    rest.remove_prefix(part.size());
    return part;
  };
  const test::PatchedFile lengths(take(data[2])), mask(take(data[3])), array(rest);

  RawOptions options;
  constexpr ArrayType kTypes[] = {ArrayType::kU16, ArrayType::kU32, ArrayType::kI32, ArrayType::kI64};
  if ((kind & 4) == 0) options.type = kTypes[kind & 3];
  if ((kind & 8) != 0) options.lengths_path = lengths.path();
  // Both or neither is refused: often enough one is given.
  if ((kind & 8) == 0 || number == 255) options.document_end = number;
  if ((kind & 16) != 0) options.loss_mask_path = mask.path();
  if ((kind & 32) != 0) options.header_bytes = number % 16;
  if ((kind & 64) != 0) options.vocab_size = 300;

  options.batch_tokens = 1 << 20;
  const Read whole = read_all(array.path(), options);
  options.batch_tokens = (kind & 128) != 0 ? 1 : 7;
  const Read pieces = read_all(array.path(), options);
  TOKPACK_FUZZ_CHECK(whole.error.empty() == pieces.error.empty());
  if (!whole.error.empty()) {
    // Of a wrong id and a wrong mask, small batches meet first what comes first.
    if (options.loss_mask_path.empty()) TOKPACK_FUZZ_CHECK(whole.error == pieces.error);
    return 0;
  }
  TOKPACK_FUZZ_CHECK(whole.tokens == pieces.tokens && whole.lengths == pieces.lengths);
  TOKPACK_FUZZ_CHECK(whole.mask == pieces.mask && whole.notes == pieces.notes);
  if (options.document_end) check_documents(whole, *options.document_end);
  if (options.type && !rest.starts_with("\x93NUMPY")) check_ids(rest, options, whole);
  return 0;
}
