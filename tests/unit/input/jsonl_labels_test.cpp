// Labels and masks: forms, lengths, values, and records that differ from the first.

#include "input_support.h"

namespace tokpack::input::test {
namespace {

using Labels = SampleBatch::Labels;

TEST_CASE("labels are kept as they are, ignore_index included") {
  const Everything read = read_text(
      "{\"input_ids\":[5,6,7],\"labels\":[-100,6,2147483647]}\n{\"labels\":[],\"input_ids\":[]}\n"
      "{\"labels\":[-100],\"input_ids\":[65535]}",
      {.u16_only = true});
  CHECK_FALSE(read.error);
  CHECK(read.all.label_form == Labels::kLabels);
  CHECK(read.all.labels == Ints{-100, 6, 2147483647, -100});
  CHECK(read_text("{\"tokens\":[5],\"labels\":[-1]}", {.ignore_index = -1}).all.labels == Ints{-1});
}

TEST_CASE("a sample of ignored labels alone is a sample") {
  const Everything read = read_text("{\"tokens\":[5,6],\"labels\":[-100,-100]}");
  CHECK(read.all.labels == Ints{-100, -100});
  CHECK(read.all.lengths == Ids{2});
}

TEST_CASE("masks are 0, 1, false or true and several are and-ed") {
  const Everything read = read_text(
      "{\"tokens\":[1,2,3,4],\"loss_mask\":[0,1,1,true],\"completion_mask\":[1,1,false,1]}\n"
      "{\"assistant_masks\":[1,0],\"tokens\":[5,6]}\n");
  CHECK_FALSE(read.error);
  CHECK(read.all.label_form == Labels::kMask);
  CHECK(read.all.loss_mask == Bits{0, 1, 0, 1, 1, 0});
}

TEST_CASE("a mask beside labels thins them out") {
  const Everything read = read_text("{\"tokens\":[1,2,3],\"labels\":[9,-100,3],\"loss_mask\":[0,1,1]}");
  CHECK(read.all.label_form == Labels::kLabels);
  CHECK(read.all.labels == Ints{-100, -100, 3});
  CHECK(read.all.loss_mask.empty());
}

TEST_CASE("a named mask field counts as the known ones do and must be there") {
  const JsonlOptions options{.mask_fields = {"trainable"}};
  CHECK(read_text("{\"tokens\":[1,2],\"trainable\":[0,1]}", options).all.loss_mask == Bits{0, 1});
  CHECK(error_of(read_text("{\"tokens\":[1,2],\"trainable\":[0,1]}\n{\"tokens\":[1],\"loss_mask\":[1]}",
                           options)) ==
        "labels_missing: in.jsonl:2: the mask field \"trainable\" is missing; it was named, so every record "
        "must "
        "have it");
  CHECK(error_of(read_text("{\"tokens\":[1,2]}", options)).starts_with("labels_missing: in.jsonl:1: "));
}

TEST_CASE("labels and masks must be as long as the tokens; the error has both lengths") {
  CHECK(error_of(read_text("{\"tokens\":[1,2],\"labels\":[1,2,3]}")) ==
        "json_field: in.jsonl:1: field \"labels\" has 3 elements, the tokens are 2; both must be equal");
  CHECK(error_of(read_text("{\"tokens\":[1,2],\"labels\":[]}")) ==
        "json_field: in.jsonl:1: field \"labels\" has 0 elements, the tokens are 2; both must be equal");
  CHECK(error_of(read_text("{\"tokens\":[1,2],\"completion_mask\":[1]}")) ==
        "json_field: in.jsonl:1: field \"completion_mask\" has 1 element, the tokens are 2; both must be "
        "equal");
}

TEST_CASE("values that are no labels or mask bits are named") {
  CHECK(error_of(read_text("{\"tokens\":[1,2],\"labels\":[1,-1]}")) ==
        "json_field: in.jsonl:1: field \"labels\", position 1: expected -100 or an integer from 0 to "
        "2147483647, "
        "found -1");
  CHECK(error_of(read_text("{\"tokens\":[1,2],\"labels\":[1.0,1]}"))
            .starts_with("json_field: in.jsonl:1: field \"labels\", position 0: "));
  CHECK(error_of(read_text("{\"tokens\":[1,2],\"labels\":[1,7]}", {.vocab_size = 7}))
            .ends_with("expected -100 or an integer from 0 to 6, found 7"));
  CHECK(error_of(read_text("{\"tokens\":[1,2],\"loss_mask\":[1,2]}")) ==
        "json_field: in.jsonl:1: field \"loss_mask\", position 1: expected 0, 1, false or true, found 2");
  CHECK(error_of(read_text("{\"tokens\":[1,2],\"loss_mask\":[1,0.0]}"))
            .ends_with("expected 0, 1, false or true, found 0.0"));
  CHECK(error_of(read_text("{\"tokens\":[1],\"labels\":{}}")) ==
        "json_field: in.jsonl:1: field \"labels\": expected a list of labels, found {}");
}

TEST_CASE("a record without labels behind one with labels is an error that names both lines") {
  const auto second = [](const std::string& record) {
    const Everything read = read_text("\n{\"tokens\":[1],\"labels\":[1]}\n" + record + "\n");
    CHECK(read.all.tokens == Ids{1});
    return error_of(read);
  };
  const std::string advice =
      "; give all records the same, or let those without labels be trained in full (missing_labels = "
      "train)";
  CHECK(
      second("{\"tokens\":[2]}") ==
      "labels_missing: in.jsonl:3: this record has no labels, but the first record, in.jsonl:2, has labels" +
          advice);
  CHECK(second("{\"tokens\":[2],\"labels\":null}")
            .starts_with("labels_missing: in.jsonl:3: this record has no labels"));
  CHECK(second("{\"tokens\":[2],\"loss_mask\":[1]}")
            .starts_with("labels_missing: in.jsonl:3: this record has a loss mask, but the first record"));
  CHECK(
      error_of(read_text("{\"tokens\":[1]}\n{\"tokens\":[1],\"labels\":[1]}"))
          .starts_with(
              "labels_missing: in.jsonl:2: this record has labels, but the first record, in.jsonl:1, has no "
              "labels"));
}

TEST_CASE("the first record of the first input decides for the inputs behind it") {
  auto session = make_jsonl_session({});
  CHECK_FALSE(read_all(open_jsonl_text("{\"tokens\":[1],\"labels\":[1]}", "a.jsonl", session)).error);
  CHECK(
      error_of(read_all(open_jsonl_text("{\"tokens\":[1]}", "b.jsonl", session)))
          .starts_with(
              "labels_missing: b.jsonl:1: this record has no labels, but the first record, a.jsonl:1, has"));
}

using Forms = std::vector<Labels>;
using Counts = std::vector<std::size_t>;
const JsonlOptions kTrain{.missing_labels = MissingLabels::kTrain};

// What has no labels stays without: the writer trains it in full, and it alone knows whether labels are
// shifted.
TEST_CASE("samples without labels come in batches of their own") {
  const Everything read = read_text(
      "{\"tokens\":[1,2],\"labels\":[-100,2]}\n{\"tokens\":[3,4]}\n{\"tokens\":[8]}\n"
      "{\"tokens\":[5,6],\"loss_mask\":[1,0]}\n{\"tokens\":[7],\"labels\":[9]}",
      kTrain);
  CHECK_FALSE(read.error);
  CHECK(read.batch_forms == Forms{Labels::kLabels, Labels::kNone, Labels::kMask, Labels::kLabels});
  CHECK(read.batch_samples == Counts{1, 2, 1, 1});
  CHECK(read.all.tokens == Ids{1, 2, 3, 4, 8, 5, 6, 7});
  CHECK(read.all.labels == Ints{-100, 2, 9});
  CHECK(read.all.loss_mask == Bits{1, 0});
  CHECK(read.where ==
        std::vector<std::string>{"in.jsonl:1", "in.jsonl:2", "in.jsonl:3", "in.jsonl:4", "in.jsonl:5"});
}

TEST_CASE("a mask is not completed with ones for samples that have none") {
  Everything read = read_text("{\"tokens\":[1,2],\"loss_mask\":[0,1]}\n{\"tokens\":[3,4]}", kTrain);
  CHECK(read.batch_forms == Forms{Labels::kMask, Labels::kNone});
  CHECK(read.all.loss_mask == Bits{0, 1});
  read = read_text("{\"tokens\":[1,2]}\n{\"tokens\":[3,4],\"loss_mask\":[0,1]}", kTrain);
  CHECK(read.batch_forms == Forms{Labels::kNone, Labels::kMask});
  CHECK(read.all.loss_mask == Bits{0, 1});
}

TEST_CASE("the label form of a sample does not depend on where batches are cut or on threads") {
  const std::string text =
      "{\"tokens\":[1]}\n{\"tokens\":[3,4],\"loss_mask\":[0,1]}\n{\"tokens\":[5],\"labels\":[9]}\n"
      "{\"tokens\":[]}\n{\"tokens\":[6,7]}\n";
  for (const std::uint64_t batch_bytes : Sizes{1, 64, 1 << 20}) {
    for (const unsigned threads : {1U, 2U}) {
      CAPTURE(batch_bytes);
      const Everything read = read_text(
          text, {.missing_labels = MissingLabels::kTrain, .threads = threads, .batch_bytes = batch_bytes});
      CHECK_FALSE(read.error);
      Forms forms;
      for (std::size_t b = 0; b < read.batch_forms.size(); ++b)
        forms.insert(forms.end(), read.batch_samples[b], read.batch_forms[b]);
      CHECK(forms == Forms{Labels::kNone, Labels::kMask, Labels::kLabels, Labels::kNone, Labels::kNone});
      CHECK(read.all.loss_mask == Bits{0, 1});
      CHECK(read.all.labels == Ints{9});
    }
  }
}

TEST_CASE("groups and columns are cut with the samples of one label form") {
  JsonlOptions options = kTrain;
  options.columns = {{.name = "id", .type = ElementType::kU16},
                     {.name = "score", .type = ElementType::kU8, .width = 2, .scope = Scope::kToken},
                     {.name = "note", .type = ElementType::kU8, .ragged = true}};
  auto source = open_jsonl_text(
      "{\"tokens\":[1,2],\"id\":10,\"score\":[[1,2],[3,4]],\"note\":[7],\"group\":1}\n"
      "{\"tokens\":[3],\"id\":11,\"score\":[[5,6]],\"note\":[8,9],\"group\":1,\"labels\":[3]}\n"
      "{\"tokens\":[4],\"id\":12,\"score\":[[7,8]],\"note\":[],\"group\":2,\"labels\":[-100]}\n",
      "in", make_jsonl_session(options));
  REQUIRE(source);
  auto first = (*source)->next();
  REQUIRE(first);
  CHECK((*first)->groups == std::vector<std::uint64_t>{1});
  CHECK(values_of<std::uint16_t>((*first)->columns[0]) == std::vector<std::uint16_t>{10});
  CHECK(values_of<std::uint8_t>((*first)->columns[1]) == Bits{1, 2, 3, 4});
  CHECK(values_of<std::uint8_t>((*first)->columns[2]) == Bits{7});
  CHECK((*first)->columns[2].offsets == std::vector<std::uint64_t>{0, 1});
  auto second = (*source)->next();
  REQUIRE(second);
  CHECK((*second)->groups == std::vector<std::uint64_t>{1, 2});
  CHECK(values_of<std::uint16_t>((*second)->columns[0]) == std::vector<std::uint16_t>{11, 12});
  CHECK(values_of<std::uint8_t>((*second)->columns[1]) == Bits{5, 6, 7, 8});
  CHECK(values_of<std::uint8_t>((*second)->columns[2]) == Bits{8, 9});
  CHECK((*second)->columns[2].offsets == std::vector<std::uint64_t>{0, 2, 2});
  auto end = (*source)->next();
  REQUIRE(end);
  CHECK(*end == nullptr);
}

TEST_CASE("a bad record behind records of several forms leaves what stands before it") {
  const Everything read = read_text(
      "{\"tokens\":[1],\"labels\":[1]}\n{\"tokens\":[2]}\n{\"tokens\":[3,4],\"loss_mask\":[0,2]}\n", kTrain);
  CHECK(error_of(read).starts_with("json_field: in.jsonl:3: "));
  CHECK(read.batch_forms == Forms{Labels::kLabels, Labels::kNone});
  CHECK(read.all.labels == Ints{1});
  CHECK(read.all.loss_mask.empty());
}

}  // namespace
}  // namespace tokpack::input::test
