// Where bytes come from: files, zstd, pipes, standard input; and what is no JSON lines at all.

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <zstd.h>

#include <thread>

#include "input_support.h"
#include "temp_dir.h"

namespace tokpack::input::test {
namespace {

using tokpack::test::TempDir;
using tokpack::test::write_file;
using namespace std::string_literals;

/// A frame with a checksum of its content, as the zstd command writes them.
std::string zstd_frame(std::string_view text) {
  std::string out(ZSTD_compressBound(text.size()) + 4, '\0');
  ZSTD_CCtx* const context = ZSTD_createCCtx();
  ZSTD_CCtx_setParameter(context, ZSTD_c_checksumFlag, 1);
  out.resize(ZSTD_compress2(context, out.data(), out.size(), text.data(), text.size()));
  ZSTD_freeCCtx(context);
  return out;
}

Everything read_path(const std::string& path, JsonlOptions options = {}) {
  return read_all(open_jsonl(path, make_jsonl_session(std::move(options))));
}

std::string many_lines(int lines, Ids& tokens) {
  std::string text;
  for (int i = 0; i < lines; ++i) {
    text += "{\"tokens\":[" + std::to_string(i) + "]}\n";
    tokens.push_back(static_cast<std::uint32_t>(i));
  }
  return text;
}

TEST_CASE("a plain file, by any batch size") {
  const TempDir dir;
  Ids expected;
  write_file(dir.file("a.jsonl"), many_lines(1000, expected));
  for (const std::uint64_t batch_bytes : Sizes{0, 1, 64, 65, 1000, 1 << 20}) {
    CAPTURE(batch_bytes);
    const Everything read = read_path(dir.file("a.jsonl"), {.batch_bytes = batch_bytes});
    CHECK_FALSE(read.error);
    CHECK(read.all.tokens == expected);
  }
}

TEST_CASE("batches of a file are those of the same text in memory") {
  const TempDir dir;
  Ids ignored;
  std::string text = many_lines(300, ignored);
  text.insert(text.find("{\"tokens\":[200]}"),
              "{\"tokens\":[5],\"text\":\"" + std::string(1500, 'x') + "\"}\n");
  write_file(dir.file("a.jsonl"), text);
  for (const std::uint64_t batch_bytes : Sizes{64, 100, 333, 4096}) {
    CAPTURE(batch_bytes);
    const Everything file = read_path(dir.file("a.jsonl"), {.batch_bytes = batch_bytes});
    CHECK(file.batch_samples == read_text(text, {.batch_bytes = batch_bytes}).batch_samples);
    CHECK(file.all.samples() == 301);
  }
}

TEST_CASE("zstd: one frame, several, empty and skippable ones") {
  const TempDir dir;
  Ids expected;
  const std::string text = many_lines(5000, expected);
  const std::string skippable = "\x5a\x2a\x4d\x18\x03\0\0\0abc"s;
  const std::string one = zstd_frame(text);
  const std::string several = skippable + zstd_frame(text.substr(0, 777)) + zstd_frame("") + skippable +
                              zstd_frame(text.substr(777)) + skippable;
  for (const std::string& bytes : {one, several}) {
    write_file(dir.file("a.zst"), bytes);
    for (const std::uint64_t batch_bytes : Sizes{64, 1 << 20}) {
      const Everything read = read_path(dir.file("a.zst"), {.batch_bytes = batch_bytes});
      CHECK_FALSE(read.error);
      CHECK(read.all.tokens == expected);
    }
    CHECK(read_text(bytes).all.tokens == expected);
  }
  CHECK(read_text(zstd_frame("")).batch_samples.empty());
  CHECK_FALSE(read_text(zstd_frame("")).error);
}

TEST_CASE("cut zstd is an error after the whole lines before the cut") {
  Ids expected;
  const std::string frame = zstd_frame(many_lines(3000, expected));
  for (const std::size_t keep : {std::size_t{5}, frame.size() / 2, frame.size() - 1}) {
    CAPTURE(keep);
    const Everything read = read_text(frame.substr(0, keep), {.batch_bytes = 200});
    CHECK(error_of(read).starts_with("input_compressed: in.jsonl: zstd data are cut: the file ends after " +
                                     std::to_string(keep) + " bytes"));
    CHECK(read.all.tokens ==
          Ids(expected.begin(), expected.begin() + static_cast<std::ptrdiff_t>(read.all.samples())));
  }
  const std::string whole = zstd_frame("{\"tokens\":[1]}\n");
  const Everything second = read_text(whole + whole.substr(0, whole.size() - 2));
  CHECK(second.all.tokens.size() >= 1);
  CHECK(second.error->code == Errc::kInputCompressed);
}

TEST_CASE("damaged zstd and bytes behind the last frame are errors") {
  Ids expected;
  std::string frame = zstd_frame(many_lines(3000, expected));
  CHECK(error_of(read_text(frame + "garbage"))
            .starts_with("input_compressed: in.jsonl: damaged zstd data near byte"));
  frame[frame.size() / 2] = static_cast<char>(frame[frame.size() / 2] ^ 0x55);
  const Everything damaged = read_text(frame);
  REQUIRE(damaged.error.has_value());
}

TEST_CASE("damaged zstd gives the same samples and the same error, by any batch size") {
  Ids ignored;
  std::string late_damage = zstd_frame(many_lines(60000, ignored));
  late_damage[late_damage.size() * 3 / 4] ^= 0x55;
  // One block that repeats a byte 484,007 times, in a frame that promises no content at all.
  const std::string wrong_size = "\x28\xb5\x2f\xfd\x24\x00\x3b\x3b\x3b\x3b"s;
  for (const std::string& text : {late_damage, wrong_size}) {
    const Everything expected = read_text(text, {.batch_bytes = 1 << 20});
    REQUIRE(expected.error.has_value());
    for (const std::uint64_t batch_bytes : Sizes{64, 1000, 1 << 18}) {
      CAPTURE(batch_bytes);
      const Everything read = read_text(text, {.batch_bytes = batch_bytes});
      CHECK(read.all.tokens == expected.all.tokens);
      CHECK(error_of(read) == error_of(expected));
    }
  }
}

TEST_CASE("other compressions and encodings are named with what to do") {
  const TempDir dir;
  const auto message = [&dir](const std::string& bytes) {
    write_file(dir.file("in"), bytes);
    const std::string text = error_of(read_path(dir.file("in")));
    CHECK(error_of(read_text(bytes)).starts_with("input_encoding: "));
    REQUIRE(text.starts_with("input_encoding: "));
    return text.substr(text.find("found ") + 6);
  };
  CHECK(message("\x1f\x8b\x08\0\0"s) ==
        "gzip data; decompress it on the way: gzip -dc FILE | tokpack pack - ...");
  CHECK(message("BZh91AY").starts_with("bzip2 data; "));
  CHECK(message("\xfd"
                "7zXZ\0\0"s)
            .starts_with("xz data; "));
  CHECK(message("\xff\xfe{\0"s) ==
        "UTF-16 text; convert it: iconv -f UTF-16 -t UTF-8 FILE | tokpack pack - ...");
  CHECK(message("\xfe\xff\0{"s).starts_with("UTF-16 text; "));
  CHECK(message("{\0\"\0"s).starts_with("UTF-16 text; "));
  CHECK(message("\xff\xfe\0\0{\0\0\0"s).starts_with("UTF-32 text; "));
  CHECK(message("PK\x03\x04").starts_with("a zip archive; "));
  CHECK(message("PAR1\x15").starts_with("a Parquet file; "));
  CHECK(message("\x93NUMPY\x01").starts_with("a .npy array; "));
  CHECK(message("\x89TPK\r\n").starts_with("a tokpack file; "));
  CHECK(message("\0\0\0\0"s).starts_with("binary data; "));
  CHECK(error_of(read_text(zstd_frame("\x1f\x8b\x08"))).find("gzip data") != std::string::npos);
}

TEST_CASE("a folder, a missing file and one without permission are one clear line") {
  const TempDir dir;
  CHECK(error_of(read_path(dir.path().string())) ==
        "not_regular_file: " + dir.path().string() +
            ": expected a file, found a folder; name the files in it");
  CHECK(error_of(read_path(dir.file("none"))) ==
        "io: " + dir.file("none") + ": cannot be opened: No such file or directory");
  CHECK(error_of(read_path(dir.file("a\x1b[1mb"))) ==
        "io: " + dir.file("a\\x1b[1mb") + ": cannot be opened: No such file or directory");
  if (::geteuid() != 0) {
    write_file(dir.file("locked"), "");
    REQUIRE(::chmod(dir.file("locked").c_str(), 0) == 0);
    CHECK(error_of(read_path(dir.file("locked"))).ends_with(": cannot be opened: Permission denied"));
  }
}

TEST_CASE("an empty file has no samples") {
  const TempDir dir;
  write_file(dir.file("empty"), "");
  const Everything read = read_path(dir.file("empty"));
  CHECK_FALSE(read.error);
  CHECK(read.batch_samples.empty());
}

TEST_CASE("a FIFO streams, however little comes at a time") {
  const TempDir dir;
  Ids expected;
  const std::string text = many_lines(2000, expected);
  for (const bool compressed : {false, true}) {
    const std::string path = dir.file(compressed ? "pipe.zst" : "pipe");
    REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
    const std::string bytes = compressed ? zstd_frame(text) : text;
    std::thread feeder([&] {
      const int descriptor = ::open(path.c_str(), O_WRONLY | O_CLOEXEC);
      for (std::size_t at = 0; at < bytes.size();) {
        const ssize_t put =
            ::write(descriptor, bytes.data() + at, std::min<std::size_t>(977, bytes.size() - at));
        if (put <= 0) break;
        at += static_cast<std::size_t>(put);
      }
      ::close(descriptor);
    });
    const Everything read = read_path(path, {.batch_bytes = 3000});
    feeder.join();
    CHECK_FALSE(read.error);
    CHECK(read.all.tokens == expected);
  }
}

TEST_CASE("- is standard input and stays open") {
  const TempDir dir;
  write_file(dir.file("a"), "{\"tokens\":[1]}\n{\"tokens\":[\"x\"]}");
  const int kept = ::dup(STDIN_FILENO);
  const int file = ::open(dir.file("a").c_str(), O_RDONLY | O_CLOEXEC);
  REQUIRE(::dup2(file, STDIN_FILENO) == STDIN_FILENO);
  const Everything read = read_path("-");
  CHECK(::fcntl(STDIN_FILENO, F_GETFD) != -1);
  if (kept >= 0) ::dup2(kept, STDIN_FILENO);
  ::close(kept);
  ::close(file);
  CHECK(read.all.tokens == Ids{1});
  CHECK(error_of(read).starts_with("json_field: standard input:2: field \"tokens\", position 0: "));
}

TEST_CASE("progress counts bytes of the file, compressed ones where it is compressed") {
  const TempDir dir;
  Ids ignored;
  const std::string text = many_lines(1000, ignored);
  for (const std::string& bytes : {text, zstd_frame(text)}) {
    write_file(dir.file("a"), bytes);
    auto source = open_jsonl(dir.file("a"), make_jsonl_session({}));
    REQUIRE(source.ok());
    CHECK((*source)->progress().bytes_total == bytes.size());
    while (true) {
      auto batch = (*source)->next();
      REQUIRE(batch.ok());
      if (*batch == nullptr) break;
    }
    CHECK((*source)->progress().bytes_read == bytes.size());
  }
}

TEST_CASE("after an error the source repeats it, after the end it stays ended") {
  auto source = open_jsonl_text("{\"tokens\":[1]}\nx", "in", make_jsonl_session({}));
  REQUIRE(source.ok());
  CHECK((*source)->next().ok());
  const std::string first = (*source)->next().error().detail;
  CHECK((*source)->next().error().detail == first);
  auto ended = open_jsonl_text("", "in", make_jsonl_session({}));
  for (int i = 0; i < 3; ++i) {
    auto batch = (*ended)->next();
    REQUIRE(batch.ok());
    CHECK(*batch == nullptr);
  }
}

TEST_CASE("names of inputs keep printable UTF-8 and escape what a terminal would act on") {
  const TempDir dir;
  const auto missing = [&dir](const std::string& name) {
    const std::string text = error_of(read_all(open_jsonl(dir.file(name), make_jsonl_session({}))));
    return text.substr(text.rfind('/') + 1);
  };
  CHECK(missing("\xf0\x9f\x98\x80\xc2\xa0").starts_with("\xf0\x9f\x98\x80\xc2\xa0: "));
  CHECK(missing("a\x9b"
                "31m")
            .starts_with("a\\x9b31m: "));  // a C1 control as one byte
  CHECK(missing("a\xc2\x9b"
                "31m")
            .starts_with("a\\xc2\\x9b31m: "));  // and as UTF-8
  CHECK(missing("a\xff\xc3").starts_with("a\\xff\\xc3: "));
  CHECK(missing("a\x1b\x7f\n").starts_with("a\\x1b\\x7f\\n: "));
}

TEST_CASE("a path with a NUL byte is refused, not cut") {
  const TempDir dir;
  const std::string path = dir.file("in.jsonl");
  tokpack::test::write_file(path, "{\"tokens\":[1]}\n");
  const std::string text =
      error_of(read_all(open_jsonl(path + std::string("\0.old", 5), make_jsonl_session({}))));
  CHECK(text.starts_with("io: "));
  CHECK(text.ends_with("in.jsonl\\x00.old: cannot be opened: a path cannot hold a NUL byte"));
}

}  // namespace
}  // namespace tokpack::input::test
