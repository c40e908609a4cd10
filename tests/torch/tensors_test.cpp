// Tensors of what a pack holds: right values and types, copies that are copies, views that keep the file
// mapped.
#include "tokpack/torch/tensors.h"

#include <ATen/core/Tensor.h>
#include <doctest/doctest.h>

#include <fstream>
#include <optional>
#include <thread>

#include "packs.h"

using namespace tokpack;
using namespace tokpack::test;
namespace tl = tokpack::libtorch;

namespace {

/// Whether this process maps the file.
bool is_mapped(const std::string& path) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(path) != std::string::npos) return true;
  }
  return false;
}

FileSpec with_labels_and_columns(bool wide) {
  FileSpec spec{.capacity = kLength, .wide_tokens = wide, .label_kind = 2};
  spec.packs = {{{.tokens = {10, 11, 12}, .source = 0, .labels = {-100, 11, 7}},
                 {.tokens = {20, 21}, .source = 1, .labels = {20, -100}}},
                {{.tokens = {30}, .source = 2, .labels = {30}}}};
  const auto bytes = [](auto... values) {
    std::string text;
    (text.append(reinterpret_cast<const char*>(&values), sizeof values), ...);
    return text;
  };
  spec.columns.push_back({.name = "weight", .type = 9, .scope = 3, .values = bytes(1.5f, 2.5f, 3.5f)});
  spec.columns.push_back({.name = "pair", .type = 5, .scope = 2, .width = 2, .values = bytes(1, 2, 3, 4)});
  return spec;
}

}  // namespace

DOCTEST_TEST_CASE("tokens, boundaries, labels and columns of a pack, as copies and as views") {
  const TempDir folder;
  for (const bool wide : {false, true}) {
    for (const ReadMode mode : {ReadMode::kMmap, ReadMode::kPread}) {
      const Reader reader = open(write_packs(folder, with_labels_and_columns(wide)), mode);
      const PackView pack = *reader.pack(0);
      DOCTEST_CHECK((tl::tokens(pack).scalar_type() == at::kLong));
      DOCTEST_CHECK(values(tl::tokens(pack)) == I64{10, 11, 12, 20, 21});
      DOCTEST_CHECK((tl::view_tokens(pack).scalar_type() == (wide ? at::kInt : at::kUInt16)));
      DOCTEST_CHECK(values(tl::view_tokens(pack)) == I64{10, 11, 12, 20, 21});
      DOCTEST_CHECK(tl::view_tokens(pack).data_ptr() == pack.tokens().data());
      DOCTEST_CHECK(values(tl::cu_seqlens(pack)) == I64{0, 3, 5});
      DOCTEST_CHECK((tl::cu_seqlens(pack).scalar_type() == at::kInt));
      DOCTEST_CHECK(tl::cu_seqlens(pack).data_ptr() != pack.cu_seqlens().data());
      DOCTEST_CHECK(tl::view_cu_seqlens(pack).data_ptr() == pack.cu_seqlens().data());
      DOCTEST_CHECK(values(tl::stored_labels(pack)) == I64{-100, 11, 7, 20, -100});
      DOCTEST_CHECK(values(tl::view_all_tokens(reader)) == I64{10, 11, 12, 20, 21, 30});
      const at::Tensor weight = tl::column(reader, pack, "weight");
      DOCTEST_CHECK((weight.scalar_type() == at::kFloat));
      DOCTEST_CHECK((weight.sizes() == at::IntArrayRef{2}));
      DOCTEST_CHECK(weight[1].item<float>() == 2.5f);
      const at::Tensor pair = tl::view_column(reader, *reader.pack(1), "pair");
      DOCTEST_CHECK((pair.sizes() == at::IntArrayRef{1, 2}));
      DOCTEST_CHECK(values(pair) == I64{3, 4});
      try {
        tl::column(reader, pack, "wieght");
        DOCTEST_FAIL("expected an exception");
      } catch (const tl::Exception& error) {
        DOCTEST_CHECK(error.code() == Errc::kColumnRange);
        DOCTEST_CHECK(std::string(error.what()) == "the file has no column 'wieght'");
      }
    }
  }
}

DOCTEST_TEST_CASE("a view, and a slice of one, outlive reader and pack; the file is unmapped with the last") {
  const TempDir folder;
  const std::string path = write_packs(folder);
  at::Tensor slice;
  {
    std::optional<Reader> reader = open(path, ReadMode::kMmap);
    std::optional<PackView> pack = *reader->pack(4);
    at::Tensor whole = tl::view_tokens(*pack);
    slice = whole.slice(0, 1, 3);
    reader.reset();
    pack.reset();
    whole.reset();
  }
  DOCTEST_CHECK(is_mapped(path));
  DOCTEST_CHECK(values(slice) == I64{200, 104});
  std::thread([&] { DOCTEST_CHECK(values(slice) == I64{200, 104}); }).join();
  slice.reset();
  DOCTEST_CHECK_FALSE(is_mapped(path));
}

DOCTEST_TEST_CASE("a copy may be written, and keeps nothing mapped") {
  const TempDir folder;
  const std::string path = write_packs(folder);
  at::Tensor ids, boundaries;
  {
    const Reader reader = open(path, ReadMode::kMmap);
    const PackView pack = *reader.pack(0);
    ids = tl::tokens(pack);
    boundaries = tl::cu_seqlens(pack);
    ids.add_(1);
    DOCTEST_CHECK(values(tl::tokens(pack)) == I64{100, 200});
  }
  DOCTEST_CHECK_FALSE(is_mapped(path));
  DOCTEST_CHECK(values(ids) == I64{101, 201});
  DOCTEST_CHECK(values(boundaries.add_(1)) == I64{1, 3});
}
