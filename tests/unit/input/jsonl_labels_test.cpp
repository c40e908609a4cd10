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
        "json_field: in.jsonl:1: field \"completion_mask\" has 1 elements, the tokens are 2; both must be "
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
      "; give all records the same, or let those without labels be trained in full with --missing-labels "
      "train";
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

TEST_CASE("missing labels can be trained in full") {
  const JsonlOptions options{.missing_labels = MissingLabels::kTrain};
  Everything read = read_text(
      "{\"tokens\":[1,2],\"labels\":[-100,2]}\n{\"tokens\":[3,4]}\n"
      "{\"tokens\":[5,6],\"loss_mask\":[1,0]}",
      options);
  CHECK_FALSE(read.error);
  CHECK(read.all.label_form == Labels::kLabels);
  CHECK(read.all.labels == Ints{-100, 2, 3, 4, 5, -100});

  read = read_text("{\"tokens\":[1,2],\"loss_mask\":[0,1]}\n{\"tokens\":[3,4]}", options);
  CHECK(read.all.label_form == Labels::kMask);
  CHECK(read.all.loss_mask == Bits{0, 1, 1, 1});

  read = read_text("{\"tokens\":[1,2]}\n{\"tokens\":[3,4],\"loss_mask\":[0,1]}", options);
  CHECK(read.all.label_form == Labels::kMask);
  CHECK(read.all.loss_mask == Bits{1, 1, 0, 1});

  read = read_text(
      "{\"tokens\":[1]}\n{\"tokens\":[3,4],\"loss_mask\":[0,1]}\n{\"tokens\":[5],\"labels\":[9]}", options);
  CHECK(read.all.label_form == Labels::kLabels);
  CHECK(read.all.labels == Ints{1, -100, 4, 9});
}

}  // namespace
}  // namespace tokpack::input::test
