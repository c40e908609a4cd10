// Names of the error codes: one for each, all different, in the spec's form.
#include "tokpack/format/error.h"

#include <doctest/doctest.h>

#include <set>
#include <string>

#include "tokpack/format/parse.h"

namespace {

using tokpack::Errc;
using tokpack::errc_name;

TEST_CASE("names are the enumerators in snake case") {
  CHECK(errc_name(Errc::kTooShort) == "too_short");
  CHECK(errc_name(Errc::kFileSize) == "file_size");
  CHECK(errc_name(Errc::kCuSeqlens) == "cu_seqlens");
  CHECK(errc_name(Errc::kIo) == "io");
  CHECK(errc_name(Errc::kGroupNumbers) == "group_numbers");
  CHECK(errc_name(Errc::kInputArray) == "input_array");
}

TEST_CASE("every number of the list has a name of its own; others are unknown") {
  std::set<std::string> names;
  for (int n = 0; n < 65536; ++n) {
    const auto code = static_cast<Errc>(n);
    const bool listed = (n >= 1 && n <= 36) || (n >= 50 && n <= 57) || (n >= 70 && n <= 82) ||
                        (n >= 100 && n <= 114) || (n >= 200 && n <= 204);
    REQUIRE((errc_name(code) != "unknown") == listed);
    if (!listed) continue;
    const std::string name(errc_name(code));
    REQUIRE(tokpack::format::valid_section_name(name));
    REQUIRE(names.insert(name).second);
  }
}

}  // namespace
