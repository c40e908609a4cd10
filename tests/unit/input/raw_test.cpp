// Raw token arrays: headers, types, lengths, document ends, masks, and sizes that do not fit.

#include <filesystem>

#include "input_support.h"
#include "temp_dir.h"

namespace tokpack::input::test {
namespace {

using tokpack::test::TempDir;
using tokpack::test::write_file;

template <typename T>
std::string bytes_of(const std::vector<T>& values) {
  std::string out(values.size() * sizeof(T), '\0');
  if (!values.empty()) std::memcpy(out.data(), values.data(), out.size());
  return out;
}

std::string npy_with(const std::string& dict, const std::string& data, int version = 1) {
  std::string header = dict;
  while ((header.size() + (version == 1 ? 11 : 13)) % 64 != 0) header += ' ';
  header += '\n';
  std::string out = "\x93NUMPY";
  out += static_cast<char>(version);
  out += '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    out += static_cast<char>((header.size() >> (8 * i)) & 0xff);
  return out + header + data;
}

template <typename T>
std::string npy(const std::string& descr, const std::vector<T>& values, int version = 1) {
  return npy_with("{'descr': '" + descr + "', 'fortran_order': False, 'shape': (" +
                      std::to_string(values.size()) + ",), }",
                  bytes_of(values), version);
}

struct RawFiles {
  TempDir dir;
  std::string tokens = dir.file("tokens"), lengths = dir.file("lengths"), mask = dir.file("mask");

  Everything read(RawOptions options) const { return read_all(open_raw(tokens, options)); }
  std::string error(RawOptions options) const {
    std::string text = error_of(read(std::move(options)));
    for (std::size_t at; (at = text.find(dir.path().string() + "/")) != std::string::npos;) {
      text.erase(at, dir.path().string().size() + 1);
    }
    return text;
  }
};

// The three documents of ../shared/data/peers, as literals.
const std::vector<std::uint16_t> kDocs = {5,  6,  7,  8,  2,  9,  2,  10, 11, 12,
                                          13, 14, 15, 16, 17, 18, 19, 20, 21, 2};
const Ids kDocTokens(kDocs.begin(), kDocs.end());
const Ids kDocLengths = {5, 2, 13};

TEST_CASE("a bare array is cut after the document end, whatever the batch size") {
  const RawFiles files;
  write_file(files.tokens, bytes_of(kDocs));
  for (const std::uint64_t batch_tokens : Sizes{0, 1, 3, 5, 7, 1000}) {
    CAPTURE(batch_tokens);
    const Everything read =
        files.read({.type = ArrayType::kU16, .document_end = 2, .batch_tokens = batch_tokens});
    CHECK_FALSE(read.error);
    CHECK(read.all.tokens == kDocTokens);
    CHECK(read.all.lengths == kDocLengths);
  }
}

TEST_CASE("a tail without document end is a document; ends in a row are documents of one token") {
  const RawFiles files;
  write_file(files.tokens, bytes_of(std::vector<std::uint16_t>{2, 2, 7, 2, 8, 9}));
  const Everything read = files.read({.type = ArrayType::kU16, .document_end = 2, .batch_tokens = 2});
  CHECK(read.all.lengths == Ids{1, 1, 2, 2});
  CHECK(read.all.tokens == Ids{2, 2, 7, 2, 8, 9});
}

TEST_CASE("an empty array has no samples") {
  const RawFiles files;
  write_file(files.tokens, "");
  CHECK(files.read({.type = ArrayType::kU32, .document_end = 2}).batch_samples.empty());
  write_file(files.lengths, "");
  CHECK_FALSE(files.read({.type = ArrayType::kU32, .lengths_path = files.lengths}).error);
}

TEST_CASE("lengths come from text or .npy and may be 0") {
  const RawFiles files;
  write_file(files.tokens, bytes_of(kDocs));
  const Ids expected = {5, 0, 2, 13, 0};
  for (const std::string& lengths :
       {std::string("5\n0\r\n 2\n\n13\n0"), npy("<i8", std::vector<std::int64_t>{5, 0, 2, 13, 0}),
        npy("<u2", std::vector<std::uint16_t>{5, 0, 2, 13, 0}),
        npy("<u8", std::vector<std::uint64_t>{5, 0, 2, 13, 0}),
        npy("<i4", std::vector<std::int32_t>{5, 0, 2, 13, 0}, 2)}) {
    write_file(files.lengths, lengths);
    for (const std::uint64_t batch_tokens : Sizes{1, 6, 1000}) {
      const Everything read =
          files.read({.type = ArrayType::kU16, .lengths_path = files.lengths, .batch_tokens = batch_tokens});
      CHECK_FALSE(read.error);
      CHECK(read.all.lengths == expected);
      CHECK(read.all.tokens == kDocTokens);
    }
  }
}

TEST_CASE("every token type and .npy version") {
  const RawFiles files;
  const auto read_npy = [&files](const std::string& bytes) {
    write_file(files.tokens, bytes);
    const Everything read = files.read({.document_end = 2});
    CHECK_FALSE(read.error);
    return read.all.tokens;
  };
  CHECK(read_npy(npy("<u2", kDocs)) == kDocTokens);
  CHECK(read_npy(npy("<u4", std::vector<std::uint32_t>{70000, 2147483647, 2})) == Ids{70000, 2147483647, 2});
  CHECK(read_npy(npy("<i4", std::vector<std::int32_t>{70000, 2147483647, 2}, 2)) ==
        Ids{70000, 2147483647, 2});
  CHECK(read_npy(npy("<i8", std::vector<std::int64_t>{70000, 2147483647, 2}, 3)) ==
        Ids{70000, 2147483647, 2});
}

TEST_CASE("a fixed header is skipped, and one token follows exactly") {
  const RawFiles files;
  write_file(files.tokens, std::string(1024, '\x07') + bytes_of(kDocs));
  const Everything read = files.read({.type = ArrayType::kU16, .header_bytes = 1024, .document_end = 2});
  CHECK(read.all.tokens == kDocTokens);
  CHECK(files.error({.type = ArrayType::kU16, .header_bytes = 5000, .document_end = 2}) ==
        "input_array: tokens: 5000 header bytes are to be skipped, the file has 1064");
}

TEST_CASE("a loss mask follows the tokens through all batches") {
  const RawFiles files;
  write_file(files.tokens, bytes_of(kDocs));
  const Bits mask = {0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  for (const std::string& bytes : {bytes_of(mask), npy("|b1", mask), npy("|u1", mask)}) {
    write_file(files.mask, bytes);
    for (const std::uint64_t batch_tokens : Sizes{1, 6, 1000}) {
      const Everything read = files.read({.type = ArrayType::kU16,
                                          .document_end = 2,
                                          .loss_mask_path = files.mask,
                                          .batch_tokens = batch_tokens});
      CHECK_FALSE(read.error);
      CHECK(read.all.label_form == SampleBatch::Labels::kMask);
      CHECK(read.all.loss_mask == mask);
    }
  }
}

TEST_CASE("what does not fit is said with numbers") {
  const RawFiles files;
  write_file(files.tokens, bytes_of(kDocs) + "x");
  CHECK(files.error({.type = ArrayType::kU16, .document_end = 2}) ==
        "input_array: tokens: 41 bytes are no whole number of u16, which take 2 each; is the type right?");
  write_file(files.tokens, bytes_of(kDocs));
  write_file(files.lengths, "5\n2\n12\n");
  CHECK(files.error({.type = ArrayType::kU16, .lengths_path = files.lengths}) ==
        "input_array: lengths: 3 lengths make 19 tokens, but tokens holds 20");
  write_file(files.lengths, "5\n2x\n13\n");
  CHECK(files.error({.type = ArrayType::kU16, .lengths_path = files.lengths}) ==
        "input_array: lengths:2: expected a length from 0 to 2147483647, found 2x");
  write_file(files.lengths, npy("<i8", std::vector<std::int64_t>{5, -1}));
  CHECK(files.error({.type = ArrayType::kU16, .lengths_path = files.lengths}) ==
        "input_array: lengths: position 1: expected a length from 0 to 2147483647");
  write_file(files.mask, std::string(19, '\x01'));
  CHECK(files.error({.type = ArrayType::kU16, .document_end = 2, .loss_mask_path = files.mask}) ==
        "input_array: mask: the loss mask has 19 elements, tokens holds 20 tokens; both must be equal");
  write_file(files.mask, std::string(19, '\x01') + "\x02");
  CHECK(files.error({.type = ArrayType::kU16, .document_end = 2, .loss_mask_path = files.mask}) ==
        "input_array: mask: token 19: expected 0 or 1, found 2");
}

TEST_CASE("ids out of range are named with their position, type and byte") {
  const RawFiles files;
  write_file(files.tokens, bytes_of(std::vector<std::int32_t>{1, 2, -5, 2}));
  CHECK(
      files.error({.type = ArrayType::kI32, .document_end = 2}) ==
      "input_array: tokens: token 2: expected an id from 0 to 2147483647, found -5; is the type i32 right?");
  CHECK(files.read({.type = ArrayType::kI32, .document_end = 2}).error->offset == 8);
  write_file(files.tokens, bytes_of(std::vector<std::uint32_t>{1, 50, 2}));
  CHECK(files.error({.type = ArrayType::kU32, .document_end = 2, .vocab_size = 50})
            .starts_with("input_array: tokens: token 1: expected an id from 0 to 49, found 50"));
  write_file(files.tokens, bytes_of(std::vector<std::uint32_t>{0x80000000U}));
  CHECK(files.error({.type = ArrayType::kU32, .document_end = 2}).find("found 2147483648") !=
        std::string::npos);
}

TEST_CASE("options that are missing or contradict are refused") {
  const RawFiles files;
  write_file(files.tokens, bytes_of(kDocs));
  CHECK(files.error({.type = ArrayType::kU16})
            .starts_with("options: tokens: a raw array is cut into samples by"));
  CHECK(files.error({.type = ArrayType::kU16, .lengths_path = files.lengths, .document_end = 2})
            .starts_with("options: "));
  CHECK(files.error({.document_end = 2}) ==
        "options: tokens: no .npy header says the type of the numbers; give one of u16, u32, i32, i64");
  write_file(files.tokens, npy("<u2", kDocs));
  CHECK(files.error({.type = ArrayType::kU32, .document_end = 2}) ==
        "input_array: tokens: expected u32, the .npy header says u16");
  CHECK(files.error({.header_bytes = 8, .document_end = 2})
            .starts_with("options: tokens: a .npy file says itself"));
  CHECK(error_of(read_all(open_raw(files.dir.path().string(), {.type = ArrayType::kU16, .document_end = 2})))
            .starts_with("not_regular_file: "));
}

TEST_CASE(".npy headers that do not fit are named") {
  const RawFiles files;
  const auto message = [&files](const std::string& bytes) {
    write_file(files.tokens, bytes);
    return files.error({.document_end = 2});
  };
  const std::string data = bytes_of(kDocs);
  const auto dict = [](const std::string& descr, const std::string& shape) {
    return "{'descr': " + descr + ", 'fortran_order': False, 'shape': " + shape + ", }";
  };
  CHECK(message(npy_with(dict("'>u2'", "(20,)"), data)) ==
        "input_array: tokens: expected a type of |b1 |u1 <u2 <u4 <u8 <i4 <i8, found >u2");
  CHECK(message(npy_with(dict("'<f4'", "(10,)"), data)).ends_with("found <f4"));
  CHECK(message(npy_with(dict("'|u1'", "(40,)"), data)) ==
        "input_array: tokens: expected token ids of u16, u32, i32 or i64, found u8");
  CHECK(message(npy_with(dict("'<u2'", "(4, 5)"), data)) ==
        "input_array: tokens: expected one dimension, found shape (4, 5); where it is one row a sample, "
        "ravel it "
        "and give the lengths");
  CHECK(message(npy_with(dict("'<u2'", "()"), data)).ends_with("expected one dimension, found shape ()"));
  CHECK(message(npy_with(dict("[('a', '<u2')]", "(20,)"), data)) ==
        "input_array: tokens: expected an array of plain numbers, found records");
  CHECK(message(npy_with(dict("'<u2'", "(21,)"), data)) ==
        "input_array: tokens: the header says 21 numbers of u16, 40 bytes follow it, which are 20.0");
  CHECK(message(npy_with(dict("'<u2'", "(9223372036854775829,)"), data)).starts_with("input_array: "));
  CHECK(message(npy_with(dict("'<u2'", "(99999999999999999999,)"), data)).starts_with("input_array: "));
  CHECK(message(npy_with("{'descr': '<u2'}", data)) ==
        "input_array: tokens: the .npy header lacks descr or shape");
  CHECK(message(npy_with("nonsense", data))
            .starts_with("input_array: tokens: a damaged .npy header near \"nonsense"));
  CHECK(message("\x93NUMPY\x09" + std::string(20, '\0')) ==
        "input_array: tokens: expected .npy version 1, 2 or 3, found 9");
  const std::string good = npy("<u2", kDocs);
  for (std::size_t keep = 6; keep < good.size(); ++keep) {
    CAPTURE(keep);
    CHECK(message(good.substr(0, keep)).starts_with("input_array: tokens: "));
  }
  CHECK(message(std::string("MMIDIDX\0\0", 9) + data)
            .ends_with("this is a Megatron or fairseq .idx; read the .bin beside it"));
}

TEST_CASE("files written by other tools") {
  namespace fs = std::filesystem;
  const fs::path peers = fs::path(TOKPACK_SOURCE_DIR).parent_path() / "shared" / "data" / "peers";
  if (!fs::exists(peers)) {
    MESSAGE("skipped: no " << peers);
    return;
  }
  const Ids wide = {5, 6, 70000, 8, 2, 131071, 2, 10, 11, 12, 13, 14, 15, 16, 17, 18, 19, 20, 65536, 2};
  const auto check = [&peers](const char* path, RawOptions options, const Ids& tokens) {
    CAPTURE(path);
    options.document_end = 2;
    const Everything read = read_all(open_raw((peers / path).string(), options));
    CHECK_FALSE(read.error);
    CHECK(read.all.tokens == tokens);
    CHECK(read.all.lengths == kDocLengths);
    return read.all.loss_mask;
  };
  const Bits mask = {0, 0, 1, 1, 1, 1, 1, 0, 0, 0, 0, 1, 1, 1, 1, 1, 1, 1, 1, 1};
  check("raw/olmo_raw_u16.npy", {.type = ArrayType::kU16}, kDocTokens);
  CHECK(check("raw/olmo_raw_u32.npy",
              {.type = ArrayType::kU32, .loss_mask_path = (peers / "raw/olmo_label_mask.npy").string()},
              wide) == mask);
  check("raw/nanogpt_train.bin", {.type = ArrayType::kU16}, kDocTokens);
  check("raw/llmc_v1_u16.bin", {.type = ArrayType::kU16, .header_bytes = 1024}, kDocTokens);
  check("raw/llmc_v7_u32.bin", {.type = ArrayType::kU32, .header_bytes = 1024}, wide);
  CHECK(check("datatrove_u16/00000_docs.ds",
              {.type = ArrayType::kU16,
               .loss_mask_path = (peers / "datatrove_u16/00000_docs.ds.loss").string()},
              kDocTokens) == mask);
  check("datatrove_u32/00000_docs.ds", {.type = ArrayType::kU32}, wide);
  check("megatron/u16_text_document.bin", {.type = ArrayType::kU16}, kDocTokens);
  check("megatron/i32_text_document.bin", {.type = ArrayType::kI32}, wide);
}

template <typename T>
void check_long_array(ArrayType type, const std::vector<std::int64_t>& bad_values) {
  const RawFiles files;
  std::vector<T> values(70'000);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<T>(i % 60'000);
  tokpack::test::write_file(files.tokens, bytes_of(values));
  tokpack::test::write_file(files.lengths, "70000\n");
  const RawOptions options{.type = type, .lengths_path = files.lengths, .vocab_size = 60'000};
  const Everything read = files.read(options);
  CHECK_FALSE(read.error);
  REQUIRE(read.all.tokens.size() == values.size());
  CHECK(std::equal(values.begin(), values.end(), read.all.tokens.begin(), [](T value, std::uint32_t token) {
    return static_cast<std::int64_t>(value) == std::int64_t{token};
  }));
  for (const std::int64_t bad : bad_values) {
    CAPTURE(bad);
    values[65'540] = static_cast<T>(bad);
    tokpack::test::write_file(files.tokens, bytes_of(values));
    CHECK(files.error(options).find("token 65540: expected an id from 0 to 59999, found " +
                                    std::to_string(bad)) != std::string::npos);
  }
}

TEST_CASE("arrays longer than what is read at once keep every id, and a bad one is found anywhere") {
  check_long_array<std::uint16_t>(ArrayType::kU16, {60'000, 65'535});
  check_long_array<std::uint32_t>(ArrayType::kU32, {60'000, 4'294'967'295});
  check_long_array<std::int32_t>(ArrayType::kI32, {60'000, -1});
  check_long_array<std::int64_t>(ArrayType::kI64, {60'000, -1, std::int64_t{1} << 32});
}

TEST_CASE("a vocabulary size above 2^31 lets no negative id through") {
  const RawFiles files;
  tokpack::test::write_file(files.tokens, bytes_of(std::vector<std::int32_t>{1, -5}));
  tokpack::test::write_file(files.lengths, "2\n");
  CHECK(files.error({.type = ArrayType::kI32, .lengths_path = files.lengths, .vocab_size = 4'294'967'295})
            .find("token 1: expected an id from 0 to 2147483647, found -5") != std::string::npos);
}

}  // namespace
}  // namespace tokpack::input::test
