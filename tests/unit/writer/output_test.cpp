// The output transaction: old file or new one, nothing left behind, whatever fails and whenever.
#include <fcntl.h>
#include <signal.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <filesystem>

#include "model.h"
#include "system_calls.h"
#include "tokpack/core/output_file.h"

using namespace tokpack;
using namespace tokpack::test;
namespace fs = std::filesystem;

namespace {

std::size_t entries(const fs::path& folder) {
  return static_cast<std::size_t>(std::distance(fs::directory_iterator(folder), fs::directory_iterator()));
}

// About 3 MB in several blocks, with late upgrades of tokens and labels, split samples and columns' worth of
// spools: every kind of write happens.
Case large_case() {
  Case c;
  c.form = Form::kLabels;
  c.options.plan.capacity = 512;
  c.options.overlong = Overlong::kSplit;
  c.options.window_tokens = 200000;
  for (std::int64_t i = 0; i < 1500; ++i) {
    Given& s = c.samples.emplace_back();
    for (std::int64_t t = 0; t < 100 + i % 600; ++t) {
      s.tokens.push_back((i * 31 + t) % 5000 + (i > 900 && t == 0 ? 65536 : 0));
      s.labels.push_back(i > 1100 && t == 3 ? 7
                         : t % 3 == 0       ? -100
                                            : static_cast<std::int32_t>(s.tokens.back()));
    }
  }
  return c;
}

// Fails the n-th of all system calls of the table; earlier and later ones work.
struct Failing {
  static inline std::atomic<long> countdown{0};
  static bool now() { return countdown.fetch_sub(1) == 1; }
  static constexpr detail::SystemCalls kCalls = {
      [](int folder, const char* name, int flags, mode_t mode) {
        return now() ? (errno = EIO, -1) : detail::real_system_calls().open_at(folder, name, flags, mode);
      },
      [](int file, const void* bytes, std::size_t size, off_t offset) -> ssize_t {
        return now() ? (errno = ENOSPC, -1) : detail::real_system_calls().write_at(file, bytes, size, offset);
      },
      [](int file, void* bytes, std::size_t size, off_t offset) -> ssize_t {
        return now() ? (errno = EIO, -1) : detail::real_system_calls().read_at(file, bytes, size, offset);
      },
      [](int file) { return now() ? (errno = EIO, -1) : detail::real_system_calls().sync(file); },
      [](int file, int operation) {
        return now() ? (errno = EIO, -1) : detail::real_system_calls().lock(file, operation);
      },
      [](int old_folder, const char* old_name, int new_folder, const char* new_name, unsigned flags) {
        return now()
                   ? (errno = EIO, -1)
                   : detail::real_system_calls().rename_at(old_folder, old_name, new_folder, new_name, flags);
      },
      [](int old_folder, const char* old_name, int new_folder, const char* new_name, int flags) {
        return now() ? (errno = EIO, -1)
                     : detail::real_system_calls().link_at(old_folder, old_name, new_folder, new_name, flags);
      },
  };
};

// What a file system without a call answers.
int no_rename(int old_folder, const char* old_name, int new_folder, const char* new_name, unsigned flags) {
  if (flags != 0) return errno = EINVAL, -1;
  return detail::real_system_calls().rename_at(old_folder, old_name, new_folder, new_name, 0);
}
int no_link(int, const char*, int, const char*, int) { return errno = EPERM, -1; }
int no_tmpfile(int folder, const char* name, int flags, mode_t mode) {
  if ((flags & O_TMPFILE) == O_TMPFILE) return errno = EOPNOTSUPP, -1;
  return detail::real_system_calls().open_at(folder, name, flags, mode);
}
ssize_t short_write(int file, const void* bytes, std::size_t size, off_t offset) {
  static std::atomic<int> turn{0};
  if (turn.fetch_add(1) % 3 == 0) return errno = EINTR, -1;
  return detail::real_system_calls().write_at(file, bytes, size > 7 ? size - size / 3 : size, offset);
}

struct UseCalls {
  explicit UseCalls(const detail::SystemCalls& calls) { detail::set_system_calls(&calls); }
  ~UseCalls() { detail::set_system_calls(nullptr); }
};

}  // namespace

TEST_CASE("the upgraded case is what a writer that had been told would have written") {
  Case c = large_case();
  const Packed late = pack_all(c, 10);
  check_packed(c, late);
  CHECK(late.image.size() > (3u << 20));
  c.options.token_type = ElementType::kU32;
  CHECK(pack_all(c, 10).image == late.image);
}

TEST_CASE("a system call that fails, whichever it is, gives a clear error and leaves nothing") {
  Case c = large_case();
  c.options.sync = true;
  const Packed good = pack_all(c, 100);
  const UseCalls use(Failing::kCalls);
  long n = 1;
  for (bool failed = true; failed && n < 2000; ++n) {
    const TempDir folder;
    c.options.threads = 1 + static_cast<unsigned>(n % 2);
    Failing::countdown = n;
    const auto packed = try_pack(c, 100, folder.file("out.tpk"));
    failed = Failing::countdown.load() <= 0;
    if (!failed) {
      CHECK(packed.ok());
      break;
    }
    CAPTURE(n);
    if (packed.ok()) continue;  // a call that has a fallback
    CHECK(packed.error().code == Errc::kIo);
    const bool complete = packed.error().detail.find("The file is complete") != std::string::npos;
    CHECK(entries(folder.path()) == (complete ? 1 : 0));
  }
  CHECK(n > 20);
  CHECK(n < 2000);
  CHECK(good.image.size() > 0);
}

TEST_CASE("an error of the worker stops the writer at the next full window") {
  auto calls = detail::real_system_calls();
  calls.read_at = [](int, void*, std::size_t, off_t) -> ssize_t {
    return errno = EIO, -1;
  };  // widening reads
  const UseCalls use(calls);
  const TempDir folder;
  auto writer =
      Writer::create(folder.file("out.tpk"),
                     {.plan = {.capacity = 64}, .window_tokens = 1 << 20, .threads = 2, .sync = false});
  REQUIRE(writer.ok());
  const std::vector<std::uint32_t> narrow(64, 1), wide(64, 70000);
  std::size_t added = 0;
  constexpr std::size_t kWindow = (1 << 20) / 64, kMost = 20 * kWindow;
  Result<void> ok;
  while (ok && added < kMost) {
    ok = writer->add({.tokens = TokenInput(std::span(added < 2 * kWindow ? narrow : wide))});
    ++added;
  }
  REQUIRE(!ok.ok());
  CHECK(ok.error().code == Errc::kIo);
  CHECK(added < 8 * kWindow);
  CHECK(entries(folder.path()) == 0);
}

TEST_CASE("threads that share a window's blocks: one that cannot be written stops the writer") {
  static std::atomic<int> countdown{0};
  auto calls = detail::real_system_calls();
  calls.write_at = [](int file, const void* bytes, std::size_t size, off_t offset) -> ssize_t {
    if (size == format::kBlockBytes && countdown.fetch_sub(1) == 1) return errno = ENOSPC, -1;
    return detail::real_system_calls().write_at(file, bytes, size, offset);
  };
  const UseCalls use(calls);
  const std::vector<std::uint16_t> tokens(1 << 16, 7);
  const std::vector<std::uint32_t> lengths(1 << 10, 64);
  constexpr int kBlocks = 6;  // 3 Mi tokens of 2 bytes
  for (int failing = 1; failing <= kBlocks + 1; ++failing) {
    CAPTURE(failing);
    const TempDir folder;
    countdown = failing;
    auto writer =
        Writer::create(folder.file("out.tpk"),
                       {.plan = {.capacity = 64}, .window_tokens = 3 << 20, .threads = 2, .sync = false});
    REQUIRE(writer.ok());
    for (int i = 0; i < 48; ++i) {
      REQUIRE(writer->add_batch({.tokens = TokenInput(std::span(tokens)), .lengths = lengths}).ok());
    }
    const auto done = std::move(*writer).finish();
    if (failing > kBlocks) {
      CHECK(done.ok());
      continue;
    }
    REQUIRE(!done.ok());
    CHECK(done.error().code == Errc::kIo);
    CHECK(done.error().detail.find("No space left") != std::string::npos);
    CHECK(entries(folder.path()) == 0);
  }
}

TEST_CASE("a file-size limit at any point gives a clear error and leaves nothing, the old output intact") {
  const Case c = [] {
    Case made = large_case();
    made.options.force = true;
    return made;
  }();
  ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  int failures = 0;
  for (rlim_t limit = 0; limit < 4'000'000; limit += 203'111) {
    const TempDir folder;
    write_file(folder.file("out.tpk"), "old");
    rlimit limited = before;
    limited.rlim_cur = limit;
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &limited) == 0);
    const auto packed = try_pack(c, 100, folder.file("out.tpk"));
    REQUIRE(::setrlimit(RLIMIT_FSIZE, &before) == 0);
    CHECK(entries(folder.path()) == 1);
    if (packed.ok()) continue;
    ++failures;
    CHECK(packed.error().code == Errc::kIo);
    CHECK(packed.error().detail.find("ulimit -f") != std::string::npos);
    CHECK(read_file(folder.file("out.tpk")) == "old");
  }
  CHECK(failures > 10);
}

TEST_CASE("interrupted and partial writes, and file systems without newer calls, give the same bytes") {
  const Case c = large_case();
  const std::string image = pack_all(c, 100).image;
  detail::SystemCalls calls = detail::real_system_calls();
  SUBCASE("partial writes") { calls.write_at = short_write; }
  SUBCASE("no O_TMPFILE") { calls.open_at = no_tmpfile; }
  SUBCASE("no RENAME_NOREPLACE") { calls.rename_at = no_rename; }
  SUBCASE("nor hard links") {
    calls.rename_at = no_rename;
    calls.link_at = no_link;
  }
  const UseCalls use(calls);
  const TempDir folder;
  const auto packed = try_pack(c, 100, folder.file("out.tpk"));
  REQUIRE_MESSAGE(packed.ok(), (packed ? "" : packed.error().detail));
  CHECK((*packed).image == image);
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("a target that comes into being while packing is not replaced without force") {
  detail::SystemCalls calls = detail::real_system_calls();
  SUBCASE("by rename") {}
  SUBCASE("by link") { calls.rename_at = no_rename; }
  SUBCASE("by reserving") {
    calls.rename_at = no_rename;
    calls.link_at = no_link;
  }
  const UseCalls use(calls);
  const TempDir folder;
  auto writer = Writer::create(folder.file("out.tpk"), {.plan = {.capacity = 8}, .sync = false});
  REQUIRE(writer.ok());
  write_file(folder.file("out.tpk"), "somebody else's");
  const auto done = std::move(*writer).finish();
  REQUIRE(!done.ok());
  CHECK(done.error().code == Errc::kExists);
  CHECK(read_file(folder.file("out.tpk")) == "somebody else's");
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("an existing output is refused at once, or replaced with force") {
  const TempDir folder;
  write_file(folder.file("out.tpk"), "old");
  WriterOptions options{.plan = {.capacity = 8}};
  const auto refused = Writer::create(folder.file("out.tpk"), options);
  REQUIRE(!refused.ok());
  CHECK(refused.error().code == Errc::kExists);
  CHECK(entries(folder.path()) == 1);
  options.force = true;
  {
    const auto dropped = Writer::create(folder.file("out.tpk"), options);
    REQUIRE(dropped.ok());
    CHECK(entries(folder.path()) == 2);
  }
  CHECK(entries(folder.path()) == 1);
  CHECK(read_file(folder.file("out.tpk")) == "old");
  auto writer = Writer::create(folder.file("out.tpk"), options);
  REQUIRE(writer.ok());
  REQUIRE(std::move(*writer).finish().ok());
  CHECK(NaiveFile(read_file(folder.file("out.tpk"))).n_packs == 0);
}

TEST_CASE("outputs that cannot be are named") {
  const TempDir folder;
  const WriterOptions options{.plan = {.capacity = 8}, .force = true};
  const auto code = [&](const std::string& path) {
    const auto writer = Writer::create(path, options);
    return writer.ok() ? Errc{} : writer.error().code;
  };
  CHECK(code(folder.file("missing/out.tpk")) == Errc::kIo);
  CHECK(code(folder.path().string()) == Errc::kNotRegularFile);
  CHECK(code(folder.path().string() + "/") == Errc::kNotRegularFile);
  REQUIRE(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
  CHECK(code(folder.file("fifo")) == Errc::kNotRegularFile);
  CHECK(code("") == Errc::kNotRegularFile);
  CHECK(code(folder.file(std::string("out.tpk\0.jsonl", 14))) == Errc::kIo);
  CHECK(!fs::exists(folder.file("out.tpk")));
  CHECK(code(folder.file(std::string(250, 'n'))) == Errc{});  // the temporary's name is shortened
  if (::geteuid() != 0) {
    fs::permissions(folder.path(), fs::perms::owner_read | fs::perms::owner_exec);
    CHECK(code(folder.file("out.tpk")) == Errc::kIo);
    fs::permissions(folder.path(), fs::perms::owner_all);
  }
}

TEST_CASE("left-over temporaries of dead writers are removed, those in use and of others are kept") {
  const TempDir folder;
  const std::string stem = temporary_stem("out.tpk");
  write_file(folder.file(stem + "0123456789abcdef.tmp"), "dead");
  write_file(folder.file(stem + "fedcba9876543210.tmp"), "in use");
  write_file(folder.file(temporary_stem("other.tpk") + "0123456789abcdef.tmp"), "of another target");
  write_file(folder.file(stem + "0123456789abcdeX.tmp"), "no temporary's name");
  const int used = ::open(folder.file(stem + "fedcba9876543210.tmp").c_str(), O_RDONLY);
  REQUIRE(used >= 0);
  REQUIRE(::flock(used, LOCK_EX | LOCK_NB) == 0);
  { CHECK(Writer::create(folder.file("out.tpk"), {.plan = {.capacity = 8}}).ok()); }
  ::close(used);
  CHECK(!fs::exists(folder.file(stem + "0123456789abcdef.tmp")));
  CHECK(entries(folder.path()) == 3);
}

TEST_CASE("killed at any moment the target is absent, old or complete, and the next run cleans up") {
  Case c = large_case();
  c.options.force = true;
  const TempDir folder;
  const std::string image = pack_all(c, 100).image;
  write_file(folder.file("out.tpk"), "old");
  int killed = 0;
  for (useconds_t delay = 0; delay < 300'000; delay += 6'000) {
    const pid_t child = ::fork();
    REQUIRE(child >= 0);
    if (child == 0) {
      for (int i = 0; i < 50; ++i) (void)try_pack(c, 100, folder.file("out.tpk"));
      ::_exit(0);
    }
    ::usleep(delay);
    ::kill(child, SIGKILL);
    int status = 0;
    ::waitpid(child, &status, 0);
    killed += WIFSIGNALED(status) ? 1 : 0;
    const std::string left = read_file(folder.file("out.tpk"));
    CHECK((left == "old" || left == image));
  }
  CHECK(killed > 0);
  { CHECK(Writer::create(folder.file("out.tpk"), c.options).ok()); }
  CHECK(entries(folder.path()) == 1);
}

TEST_CASE("two processes packing to one target leave one complete file") {
  for (const bool force : {false, true}) {
    Case a = large_case();
    a.options.force = force;
    Case b = a;
    b.samples.resize(700);
    const std::string image_a = pack_all(a, 100).image, image_b = pack_all(b, 100).image;
    const TempDir folder;
    const auto start = [&](const Case& c) {
      const pid_t child = ::fork();
      if (child == 0) ::_exit(try_pack(c, 100, folder.file("out.tpk")).ok() ? 0 : 1);
      return child;
    };
    const pid_t first = start(a), second = start(b);
    int status_a = 0, status_b = 0;
    ::waitpid(first, &status_a, 0);
    ::waitpid(second, &status_b, 0);
    const int succeeded = (WEXITSTATUS(status_a) == 0 ? 1 : 0) + (WEXITSTATUS(status_b) == 0 ? 1 : 0);
    CHECK(succeeded == (force ? 2 : 1));
    const std::string left = read_file(folder.file("out.tpk"));
    CHECK((left == image_a || left == image_b));
    CHECK(entries(folder.path()) == 1);
  }
}
