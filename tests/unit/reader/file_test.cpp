// What may be opened, what is refused at once, and what falls back to pread. known-faults.md, "Files".
#include <fcntl.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <cstring>

#include "reader_fixtures.h"

using namespace tokpack;
using test::build;

namespace {

/// Runs `work` in a child, which then answers with true or false.
template <typename Work>
bool in_child(Work work) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(work() ? 0 : 1);
  int status = 0;
  return ::waitpid(child, &status, 0) == child && WIFEXITED(status) && WEXITSTATUS(status) == 0;
}

/// The numbers of the system calls that a child makes to open and close a file a second time; the first time
/// may take memory from the system. Empty where tracing is not allowed.
std::vector<long> calls_of_open(const std::string& path, ReadMode mode) {
  const pid_t child = ::fork();
  if (child == 0) {
    const bool warm = Reader::open(path, {.mode = mode}).ok();
    if (!warm || ::ptrace(PTRACE_TRACEME, 0, nullptr, nullptr) != 0) ::_exit(1);
    ::raise(SIGSTOP);
    ::_exit(Reader::open(path, {.mode = mode}).ok() ? 0 : 1);
  }
  std::vector<long> calls;
  int status = 0;
  if (::waitpid(child, &status, 0) != child || !WIFSTOPPED(status)) return calls;
  REQUIRE(::ptrace(PTRACE_SETOPTIONS, child, nullptr, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL) == 0);
  while (::ptrace(PTRACE_SYSCALL, child, nullptr, nullptr) == 0 && ::waitpid(child, &status, 0) == child &&
         WIFSTOPPED(status)) {
    __ptrace_syscall_info info{};
    if (WSTOPSIG(status) != (SIGTRAP | 0x80)) continue;
    if (::ptrace(PTRACE_GET_SYSCALL_INFO, child, sizeof(info), &info) <= 0) continue;
    if (info.op == PTRACE_SYSCALL_INFO_ENTRY) calls.push_back(static_cast<long>(info.entry.nr));
  }
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) == 0);
  return calls;
}

/// A file of `packs` packs of one sequence whose tokens are a hole: huge to see, a few pages on disk.
void write_sparse(const std::string& path, std::uint64_t packs, std::uint32_t tokens_per_pack) {
  test::FileSpec spec{.packs = {{{.tokens = {1}, .source = 0}}}, .capacity = tokens_per_pack};
  auto small = build(spec);  // its page 0 is changed into that of the large file
  const std::uint64_t tokens = packs * tokens_per_pack;
  const std::uint64_t lengths[] = {
      tokens * 2, (packs + 1) * 8, (packs + 1) * 8, packs * 8, packs * 4, packs * 4, 0};
  std::uint64_t blocks = 0, offset = 4096, size = 0;
  std::vector<std::uint64_t> offsets;
  for (std::size_t i = 0; i < small.sections.size(); ++i) {
    const bool last = i + 1 == small.sections.size();
    const std::uint64_t length = last ? blocks * 8 : lengths[i];
    if (!last) blocks += (length + 1048575) / 1048576;
    small.put(small.sections[i].entry + 8, offset);
    small.put(small.sections[i].entry + 16, length);
    offsets.push_back(offset);
    size = offset + length;
    offset = (size + 4095) / 4096 * 4096;
  }
  small.put<std::uint64_t>(32, size);
  small.put(40, packs);
  small.put(48, packs);
  small.put(56, tokens);
  small.put(64, packs);
  small.put<std::uint64_t>(72, 0);
  small.put(104, tokens_per_pack);
  small.seal_page0();
  const int descriptor = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600);
  REQUIRE(descriptor >= 0);
  REQUIRE(::pwrite(descriptor, small.bytes.data(), 4096, 0) == 4096);
  std::string token_offsets, sequence_offsets, boundaries;
  for (std::uint64_t p = 0; p <= packs; ++p) {
    test::append(token_offsets, p * tokens_per_pack);
    test::append(sequence_offsets, p);
    test::append(boundaries, std::int32_t{0});
    test::append(boundaries, static_cast<std::int32_t>(tokens_per_pack));
  }
  boundaries.resize(packs * 8);
  const auto put = [&](const std::string& bytes, std::uint64_t at) {
    REQUIRE(::pwrite(descriptor, bytes.data(), bytes.size(), static_cast<off_t>(at)) ==
            static_cast<ssize_t>(bytes.size()));
  };
  put(token_offsets, offsets[1]);
  put(sequence_offsets, offsets[2]);
  put(boundaries, offsets[3]);
  REQUIRE(::ftruncate(descriptor, static_cast<off_t>(size)) == 0);
  ::close(descriptor);
}

double median_open_us(const std::string& path, ReadMode mode) {
  std::vector<double> times;
  for (int i = 0; i < 301; ++i) {
    const auto start = std::chrono::steady_clock::now();
    const auto reader = Reader::open(path, {.mode = mode});
    times.push_back(
        std::chrono::duration<double, std::micro>(std::chrono::steady_clock::now() - start).count());
    REQUIRE(reader.ok());
  }
  std::nth_element(times.begin(), times.begin() + 150, times.end());
  return times[150];
}

}  // namespace

TEST_CASE("folders, FIFOs, devices, sockets, loops and missing files are refused at once and by name") {
  const test::TempDir folder;
  REQUIRE(::mkfifo(folder.file("fifo").c_str(), 0600) == 0);
  REQUIRE(::symlink(folder.file("loop").c_str(), folder.file("loop").c_str()) == 0);
  const int listener = ::socket(AF_UNIX, SOCK_STREAM, 0);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::strncpy(address.sun_path, folder.file("socket").c_str(), sizeof(address.sun_path) - 1);
  REQUIRE(::bind(listener, static_cast<const sockaddr*>(static_cast<const void*>(&address)),
                 sizeof(address)) == 0);
  struct Case {
    std::string path;
    Errc code;
    const char* words;
  };
  const std::vector<Case> cases = {
      {folder.path().string(), Errc::kNotRegularFile, "a folder"},
      {folder.file("fifo"), Errc::kNotRegularFile, "a FIFO"},
      {folder.file("socket"), Errc::kNotRegularFile, "a socket"},
      {"/dev/zero", Errc::kNotRegularFile, "a character device"},
      {folder.file("loop"), Errc::kIo, "Too many levels of symbolic links"},
      {folder.file("none"), Errc::kIo, "No such file or directory"},
      {folder.file("none") + "/x", Errc::kIo, "No such file or directory"},
      {std::string("a\0b", 3), Errc::kIo, "NUL"},
      {"", Errc::kIo, "No such file or directory"},
  };
  for (const auto& c : cases) {
    CAPTURE(c.path);
    for (const ReadMode mode : {ReadMode::kAuto, ReadMode::kMmap, ReadMode::kPread}) {
      const auto reader = Reader::open(c.path, {.mode = mode});
      REQUIRE_FALSE(reader.ok());
      CHECK(reader.error().code == c.code);
      CHECK(reader.error().detail.find(c.words) != std::string::npos);
    }
  }
  ::close(listener);
}

TEST_CASE("a file that may not be read says so") {
  if (::geteuid() == 0) return;  // root may read everything
  const test::TempDir folder;
  test::write_file(folder.file("a.tpk"), build(test::rich_spec()).bytes);
  REQUIRE(::chmod(folder.file("a.tpk").c_str(), 0) == 0);
  CHECK(Reader::open(folder.file("a.tpk")).error().detail.find("Permission denied") != std::string::npos);
}

TEST_CASE("names of paths reach messages escaped") {
  const auto reader = Reader::open(
      "no\x1b[31m\nsuch\xc2\x9b"
      "file\xff");
  CHECK(reader.error().detail.find("'no\\x1b[31m\\x0asuch\\xc2\\x9bfile\\xff'") != std::string::npos);
  CHECK(Reader::open("na\xc3\xafve.tpk").error().detail.find("'na\xc3\xafve.tpk'") != std::string::npos);
}

TEST_CASE("the descriptor is not inherited and is closed once the file is mapped") {
  const test::TempDir folder;
  test::write_file(folder.file("a.tpk"), build(test::rich_spec()).bytes);
  const int before = ::open("/dev/null", O_RDONLY | O_CLOEXEC);
  ::close(before);
  const auto mapped = Reader::open(folder.file("a.tpk"), {.mode = ReadMode::kMmap});
  CHECK(::fcntl(before, F_GETFD) == -1);  // nothing took the lowest free number
  const auto read = Reader::open(folder.file("a.tpk"), {.mode = ReadMode::kPread});
  CHECK((::fcntl(before, F_GETFD) & FD_CLOEXEC) != 0);
}

TEST_CASE("opening makes the same system calls for a small file and for one of 33 GB") {
  const test::TempDir folder;
  test::write_file(folder.file("small.tpk"), build(test::rich_spec()).bytes);
  write_sparse(folder.file("large.tpk"), 1000, 1U << 24);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    const auto small = calls_of_open(folder.file("small.tpk"), mode);
    if (small.empty()) {
      MESSAGE("skipped: this system does not let a process trace its child");
      return;
    }
    CHECK(std::count(small.begin(), small.end(), SYS_openat) == 1);
    CHECK(small.size() < 16);
    CHECK(calls_of_open(folder.file("large.tpk"), mode) == small);
  }
}

TEST_CASE("a 40 GB sparse file opens like a small one, and its packs can be read") {
  const test::TempDir folder;
  test::write_file(folder.file("small.tpk"), build(test::rich_spec()).bytes);
  write_sparse(folder.file("large.tpk"), 1000, 1U << 24);
  struct stat status {};
  REQUIRE(::stat(folder.file("large.tpk").c_str(), &status) == 0);
  CHECK(status.st_size > 33'000'000'000);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    const double small = median_open_us(folder.file("small.tpk"), mode);
    const double large = median_open_us(folder.file("large.tpk"), mode);
    CAPTURE(small);
    CAPTURE(large);
    CHECK(large < 4 * small + 100);
    CHECK(large < 1000);
  }
  auto reader = Reader::open(folder.file("large.tpk"));
  REQUIRE_MESSAGE(reader.ok(), reader.error().detail);
  CHECK(reader->mode() == ReadMode::kMmap);
  auto last = reader->pack(999);
  REQUIRE(last.ok());
  CHECK(last->tokens().size() == 1U << 24);
  CHECK(last->tokens()[(1U << 24) - 1] == 0);
  CHECK(reader->locate(500).value().pack == 500);
}

// Sanitizers reserve more address space than this limit leaves.
#if !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
TEST_CASE("where the system refuses to map, auto mode reads and says so") {
  const test::TempDir folder;
  write_sparse(folder.file("large.tpk"), 1000, 1U << 24);
  const std::string path = folder.file("large.tpk");
  CHECK(in_child([&] {
    const rlimit limit{std::uint64_t{4} << 30, std::uint64_t{4} << 30};
    if (::setrlimit(RLIMIT_AS, &limit) != 0) return false;
    auto reader = Reader::open(path);
    if (!reader || reader->mode() != ReadMode::kPread) return false;
    const auto refused = Reader::open(path, {.mode = ReadMode::kMmap});
    if (refused.ok() || refused.error().code != Errc::kIo) return false;
    if (refused.error().detail.find("mmap") == std::string::npos) return false;
    return test::token_count(reader.value(), 999) == 1U << 24;
  }));
}
#endif

TEST_CASE("a file that shrinks while it is read gives an error in pread mode") {
  const test::TempDir folder;
  const auto built = build(test::rich_spec());
  test::write_file(folder.file("a.tpk"), built.bytes);
  auto reader = Reader::open(folder.file("a.tpk"), {.mode = ReadMode::kPread});
  REQUIRE(reader.ok());
  const auto kept = reader->pack(0);
  REQUIRE(kept.ok());
  REQUIRE(::truncate(folder.file("a.tpk").c_str(), 4096) == 0);
  for (std::uint64_t p = 0; p < 3; ++p) {
    const auto pack = reader->pack(p);
    REQUIRE_FALSE(pack.ok());
    CHECK(pack.error().code == Errc::kFileChanged);
  }
  CHECK(reader->locate(0).error().code == Errc::kFileChanged);
  CHECK(reader->metadata_json().error().code == Errc::kFileChanged);
  CHECK(reader->file_column(3).error().code == Errc::kFileChanged);
  CHECK(kept.value().column(0).error().code == Errc::kFileChanged);
  CHECK(kept.value().tokens()[0] == 10);  // what was read stays
}

TEST_CASE("a file replaced by rename keeps its old bytes for who has it open") {
  const test::TempDir folder;
  test::write_file(folder.file("a.tpk"), build(test::rich_spec()).bytes);
  test::FileSpec other{.packs = {{{.tokens = {7}, .source = 0}}}};
  test::write_file(folder.file("new.tpk"), build(other).bytes);
  for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
    test::write_file(folder.file("a.tpk"), build(test::rich_spec()).bytes);
    auto before = Reader::open(folder.file("a.tpk"), {.mode = mode});
    test::write_file(folder.file("new.tpk"), build(other).bytes);
    REQUIRE(::rename(folder.file("new.tpk").c_str(), folder.file("a.tpk").c_str()) == 0);
    CHECK(test::token_count(before.value(), 2) == 8);
    CHECK(Reader::open(folder.file("a.tpk")).value().packs() == 1);
    REQUIRE(::unlink(folder.file("a.tpk").c_str()) == 0);
    CHECK(test::token_count(before.value(), 1) == 6);
  }
}
