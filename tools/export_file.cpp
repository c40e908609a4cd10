#include "export_file.h"

#include <fmt/format.h>

#include <utility>

namespace tokpack::tools {

namespace {

OutputFile create(const std::string& path, bool force) {
  check_output_path(path, "'-o -' writes to standard output");
  auto file = OutputFile::create(path, force);
  if (!file && file.error().code == Errc::kExists)
    fail(kUnusable, fmt::format("{} exists; --force replaces it", path));
  return take(std::move(file), path);
}

}  // namespace

NewFile::NewFile(const std::string& path, bool force)
    : file_(create(path, force)), out_(file_.descriptor(), path) {}

void NewFile::commit() {
  out_.flush();
  const auto committed = file_.commit(true);
  if (committed) return;
  if (committed.error().code == Errc::kExists)
    fail(kUnusable, fmt::format("{} exists by now; --force replaces it", file_.path()));
  fail(committed.error(), file_.path());
}

}  // namespace tokpack::tools
