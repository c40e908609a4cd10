// Every sample comes out as the model says, under every policy, strategy, label form, window and alignment.
#include "model.h"

using namespace tokpack;
using namespace tokpack::test;

TEST_CASE("random samples under every combination of options come out whole") {
  std::uint64_t seed = 0;
  for (const Strategy strategy : {Strategy::kBestFit, Strategy::kNextFit, Strategy::kConcat}) {
    for (const Overlong overlong :
         {Overlong::kSplit, Overlong::kTruncate, Overlong::kTruncateLeft, Overlong::kDrop}) {
      if (strategy == Strategy::kConcat && overlong != Overlong::kSplit) continue;
      for (const Form form : {Form::kNone, Form::kMask, Form::kLabels}) {
        for (const bool shifted : {false, true}) {
          for (const Tail tail : {Tail::kNone, Tail::kInputTarget}) {
            for (const std::uint64_t window : {std::uint64_t{1}, std::uint64_t{50}, kWindowAll}) {
              ++seed;
              Case c;
              c.form = form;
              c.tails = seed % 3 == 0 && !(shifted && form == Form::kLabels);
              const std::uint32_t alignment = seed % 4 == 0 ? 4 : 1;
              c.options.plan = {.capacity = 8,
                                .alignment = alignment,
                                .max_sequences = seed % 5 == 0 ? 3u : 0u,
                                .strategy = strategy};
              c.options.overlong = overlong;
              c.options.label_alignment = shifted ? LabelAlignment::kShifted : LabelAlignment::kAligned;
              c.options.tail = tail;
              c.options.window_tokens = window;
              c.options.drop_untrainable = seed % 7 == 0;
              c.options.threads = seed % 2 == 0 ? 1 : 2;
              c.options.ignore_index = seed % 11 == 0 ? 7 : -100;
              if (c.options.ignore_index == 7) {
                for (Given& s : c.samples) s.tail = 7;
              }
              fill(c,
                   {.samples = 40,
                    .longest = 20,
                    .largest_id = seed % 2 == 0 ? 70000 : 300,
                    .explicit_labels = seed % 3 != 0},
                   seed);
              CAPTURE(seed);
              const Packed one = pack_all(c, 0);
              check_packed(c, one);
              c.options.threads = 3 - c.options.threads;
              CHECK(pack_all(c, 7).image == one.image);
            }
          }
        }
      }
    }
  }
}

TEST_CASE("an input without any token gives a valid file of no packs") {
  Case c;
  c.options.plan.capacity = 8;
  CHECK(NaiveFile(pack_all(c).image).n_packs == 0);
  c.samples = {Given{}, Given{}};
  const Packed packed = pack_all(c);
  const NaiveFile file(packed.image);
  CHECK(file.n_packs == 0);
  CHECK(file.n_samples == 2);
  CHECK(packed.summary.account.samples_empty == 2);
  CHECK(packed.summary.lower_bound_packs == 0);
}

TEST_CASE("overlong policies leave 6, 6 and 2 of a sample of 14, or 6, or nothing") {
  const auto lengths_under = [](Overlong overlong) {
    Case c;
    c.options.plan.capacity = 6;
    c.options.overlong = overlong;
    c.samples.push_back({.tokens = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13}});
    Numbers lengths;
    for (const NaivePack& pack : NaiveFile(pack_all(c).image).packs) {
      for (std::size_t s = 1; s < pack.cu_seqlens.size(); ++s) {
        lengths.push_back(pack.cu_seqlens[s] - pack.cu_seqlens[s - 1]);
      }
    }
    return lengths;
  };
  CHECK(lengths_under(Overlong::kSplit) == Numbers{6, 6, 2});
  CHECK(lengths_under(Overlong::kTruncate) == Numbers{6});
  CHECK(lengths_under(Overlong::kTruncateLeft) == Numbers{6});
  CHECK(lengths_under(Overlong::kDrop).empty());
}

TEST_CASE("under error the report counts the overlong samples and nothing is left behind") {
  const TempDir folder;
  Case c;
  c.options.plan.capacity = 4;
  for (const std::size_t n : std::vector<std::size_t>{3, 5, 4, 9, 0, 2})
    c.samples.push_back({.tokens = Numbers(n, 1)});
  const auto packed = try_pack(c, 0, folder.file("out.tpk"));
  REQUIRE(!packed.ok());
  CHECK(packed.error().code == Errc::kOverlong);
  CHECK(packed.error().detail ==
        "2 of 5 samples exceed the capacity of 4 tokens: the first starts at sample 1, the longest has 9 "
        "tokens "
        "(sample 3). Nothing was written; raise the capacity, or choose split, truncate, truncate-left or "
        "drop");
  CHECK(std::filesystem::is_empty(folder.path()));
}

TEST_CASE("the limit of sequences per pack holds: 100 samples of one token, 8 per pack, give 13 packs") {
  Case c;
  c.options.plan = {.capacity = 4096, .max_sequences = 8};
  for (int i = 0; i < 100; ++i) c.samples.push_back({.tokens = {i}});
  CHECK(NaiveFile(pack_all(c).image).n_packs == 13);
}

TEST_CASE("the smallest width that holds every id is chosen, whatever came first") {
  for (const std::int64_t largest : {65535, 65536}) {
    Case c;
    c.options.plan.capacity = 4;
    c.options.window_tokens = 8;
    for (int i = 0; i < 30; ++i) c.samples.push_back({.tokens = {i, i, i}});
    c.samples.push_back({.tokens = {largest}});
    const Packed packed = pack_all(c);
    CHECK(NaiveFile(packed.image).token_type == (largest == 65535 ? 2 : 3));
    check_packed(c, packed);
    if (largest == 65536) {
      c.options.token_type = ElementType::kU32;
      CHECK(pack_all(c).image == packed.image);
    }
  }
}

TEST_CASE("a file is as small as the format promises") {
  // tokens x width + labels + 8 B a sequence (12 for wide sources, + 4 if something was split, + 4 if there
  // are tail labels) + 24 B a pack + 8 B a MiB + 4 KiB a section.
  for (const Form form : {Form::kNone, Form::kMask, Form::kLabels}) {
    for (const bool split : {false, true}) {
      for (const bool wide : {false, true}) {
        Case c;
        c.form = form;
        c.options.plan.capacity = split ? 200 : 4096;
        c.options.overlong = Overlong::kSplit;
        fill(c,
             {.samples = 800,
              .longest = 600,
              .largest_id = wide ? 70'000 : 60'000,
              .explicit_labels = form == Form::kLabels},
             2);
        const Packed packed = pack_all(c);
        const NaiveFile file(packed.image);
        CAPTURE(static_cast<int>(form));
        CAPTURE(split);
        CAPTURE(wide);
        const std::uint64_t label_bytes = form == Form::kNone   ? 0
                                          : form == Form::kMask ? file.n_tokens / 8 + file.n_packs
                                                                : file.n_tokens * 4;
        const std::uint64_t per_sequence = 8 + (split ? 8 : 0);
        const std::uint64_t bound = file.n_tokens * (wide ? 4 : 2) + label_bytes +
                                    file.n_sequences * per_sequence + file.n_packs * 24 +
                                    (packed.image.size() >> 20) * 8 + file.section_count * 4096;
        CHECK(packed.image.size() <= bound);
      }
    }
  }
}
