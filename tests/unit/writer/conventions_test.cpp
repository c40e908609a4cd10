// The worked examples of the label conventions, as literals.
#include "model.h"

using namespace tokpack;
using test::NaiveFile;
using Numbers = std::vector<std::int64_t>;

namespace {

NaiveFile pack(const WriterOptions& options, const std::vector<std::vector<std::int32_t>>& samples,
               const std::vector<std::vector<std::int32_t>>& labels = {}, WriteSummary* summary = nullptr) {
  const test::TempDir folder;
  auto writer = Writer::create(folder.file("out.tpk"), options);
  REQUIRE_MESSAGE(writer.ok(), (writer ? "" : writer.error().detail));
  for (std::size_t i = 0; i < samples.size(); ++i) {
    Sample sample{.tokens = TokenInput(std::span(samples[i]))};
    if (!labels.empty()) sample.labels = labels[i];
    const auto added = writer->add(sample);
    REQUIRE_MESSAGE(added.ok(), (added ? "" : added.error().detail));
  }
  auto done = std::move(*writer).finish();
  REQUIRE_MESSAGE(done.ok(), (done ? "" : done.error().detail));
  if (summary != nullptr) *summary = *done;
  return NaiveFile(test::read_file(folder.file("out.tpk")));
}

std::vector<std::vector<std::int32_t>> numbered(const std::vector<std::int32_t>& lengths) {
  std::vector<std::vector<std::int32_t>> out;
  for (std::size_t k = 0; k < lengths.size(); ++k) {
    auto& sample = out.emplace_back();
    for (std::int32_t j = 0; j < lengths[k]; ++j)
      sample.push_back(100 * (static_cast<std::int32_t>(k) + 1) + j);
  }
  return out;
}

}  // namespace

TEST_CASE("concat cuts at the capacity and keeps the label of the cut as tail label") {
  WriteSummary summary;
  const NaiveFile file =
      pack({.plan = {.capacity = 6, .strategy = Strategy::kConcat}}, numbered({3, 2, 4, 6, 1}), {}, &summary);
  REQUIRE(file.packs.size() == 3);
  CHECK(file.packs[0].tokens == Numbers{100, 101, 102, 200, 201, 300});
  CHECK(file.packs[1].tokens == Numbers{301, 302, 303, 400, 401, 402});
  CHECK(file.packs[2].tokens == Numbers{403, 404, 405, 500});
  CHECK(file.packs[0].cu_seqlens == Numbers{0, 3, 5, 6});
  CHECK(file.packs[1].cu_seqlens == Numbers{0, 3, 6});
  CHECK(file.packs[2].cu_seqlens == Numbers{0, 3, 4});
  CHECK(file.packs[0].tail_labels == Numbers{-100, -100, 301});
  CHECK(file.packs[1].tail_labels == Numbers{-100, 403});
  CHECK(file.packs[2].tail_labels == Numbers{-100, -100});
  CHECK(file.packs[0].first_positions == Numbers{0, 0, 0});
  CHECK(file.packs[1].first_positions == Numbers{1, 0});
  CHECK(file.packs[2].first_positions == Numbers{3, 0});
  CHECK(file.packs[0].sources == Numbers{0, 1, 2});
  CHECK(file.packs[0].targets == 4);
  CHECK(file.packs[1].targets == 5);
  CHECK(file.packs[2].targets == 2);
  CHECK(file.targets == 11);
  CHECK(summary.targets == 11);
  CHECK(summary.account.samples_split == 2);
  CHECK(summary.account.extra_fragments == 2);
  CHECK(summary.account.samples_without_targets == 1);
  CHECK(adds_up(summary.account));
}

TEST_CASE("input-target stores the last token of each sample only as its tail label") {
  WriteSummary summary;
  const NaiveFile file = pack({.plan = {.capacity = 8}, .tail = Tail::kInputTarget},
                              {{10, 11, 12}, {20, 21}, {30}}, {}, &summary);
  REQUIRE(file.packs.size() == 1);
  CHECK(file.packs[0].tokens == Numbers{10, 11, 20});
  CHECK(file.packs[0].cu_seqlens == Numbers{0, 2, 3});
  CHECK(file.packs[0].tail_labels == Numbers{12, 21});
  CHECK(file.packs[0].targets == 3);
  CHECK(file.find("first_token_positions") == nullptr);
  CHECK(summary.account.tokens_target_only == 2);
  CHECK(summary.account.samples_dropped == 1);
  CHECK(summary.account.tokens_dropped == 1);
  CHECK(adds_up(summary.account));
}

TEST_CASE("a plain file has no tail labels and trains all but first tokens") {
  const NaiveFile file = pack({.plan = {.capacity = 8}}, {{10, 11, 12}, {20, 21}});
  REQUIRE(file.packs.size() == 1);
  CHECK(file.packs[0].tokens == Numbers{10, 11, 12, 20, 21});
  CHECK(file.packs[0].labels == Numbers{10, 11, 12, 20, 21});
  CHECK(file.packs[0].targets == 3);
  CHECK(file.label_kind == 0);
  CHECK(file.find("tail_labels") == nullptr);
}

TEST_CASE("shifted labels are stored unshifted, the last one as tail label") {
  const NaiveFile file = pack({.plan = {.capacity = 8}, .label_alignment = LabelAlignment::kShifted},
                              {{10, 11, 12}, {20, 21}}, {{11, 12, 13}, {-100, -100}});
  REQUIRE(file.packs.size() == 1);
  CHECK(file.label_kind == 1);
  CHECK(file.packs[0].labels == Numbers{-100, 11, 12, -100, -100});
  CHECK(file.packs[0].tail_labels == Numbers{13, -100});
  CHECK(file.packs[0].targets == 3);
}

TEST_CASE("the last 1 of a shifted mask has no id to be stored by and is counted as lost") {
  test::Case c;
  c.options.plan.capacity = 8;
  c.options.label_alignment = LabelAlignment::kShifted;
  c.form = test::Form::kMask;
  c.samples = {{.tokens = {10, 11, 12}, .labels = {0, 1, 1}}, {.tokens = {20, 21}, .labels = {1, 0}}};
  const test::Packed packed = test::pack_all(c);
  const NaiveFile file(packed.image);
  REQUIRE(file.packs.size() == 1);
  CHECK(file.packs[0].labels == Numbers{-100, -100, 12, -100, 21});
  CHECK(file.packs[0].tail_labels == Numbers{-100, -100});
  CHECK(packed.summary.targets == 2);
  CHECK(packed.summary.account.labels_lost == 1);
}

TEST_CASE("labels that are neither their token nor ignored make all labels explicit") {
  const NaiveFile file =
      pack({.plan = {.capacity = 8}}, {{10, 11, 12}, {20, 21}}, {{-100, 11, -100}, {20, 99}});
  REQUIRE(file.packs.size() == 1);
  CHECK(file.label_kind == 2);
  CHECK(file.packs[0].labels == Numbers{-100, 11, -100, 20, 99});
  CHECK(file.packs[0].targets == 2);
}
