// A slow model of what a packed file must hold, and a driver that packs samples in any grouping of calls.
#pragma once

#include <doctest/doctest.h>

#include <algorithm>
#include <cstdint>
#include <map>
#include <optional>
#include <random>
#include <string>
#include <vector>

#include "naive_file.h"
#include "temp_dir.h"
#include "tokpack/core/writer.h"

namespace tokpack::test {

using Numbers = std::vector<std::int64_t>;

enum class Form { kNone, kMask, kLabels };

struct Given {
  std::vector<std::int64_t> tokens{};
  std::vector<std::int32_t> labels{};  ///< as given, one per token (mask: 0 or 1)
  std::int32_t tail = -100;
  std::uint64_t group = 0;
};

struct Case {
  WriterOptions options{.plan = {}, .sync = false};  // thousands of files: fsync has tests of its own
  std::vector<Given> samples{};
  Form form = Form::kNone;
  bool tails = false;
};

struct Packed {
  std::string image;
  WriteSummary summary;
};

/// Packs with add() (batch 0) or add_batch() of `batch` samples.
inline Result<Packed> try_pack(const Case& c, std::size_t batch, const std::string& path) {
  auto made = Writer::create(path, c.options);
  if (!made) return made.error();
  Writer writer = std::move(*made);
  const std::size_t step = batch == 0 ? 1 : batch;
  for (std::size_t first = 0; first < c.samples.size(); first += step) {
    const std::size_t last = std::min(first + step, c.samples.size());
    std::vector<std::int64_t> tokens;
    std::vector<std::uint32_t> lengths;
    std::vector<std::uint8_t> mask;
    std::vector<std::int32_t> labels, tails;
    std::vector<std::uint64_t> groups;
    for (std::size_t i = first; i < last; ++i) {
      const Given& s = c.samples[i];
      tokens.insert(tokens.end(), s.tokens.begin(), s.tokens.end());
      lengths.push_back(static_cast<std::uint32_t>(s.tokens.size()));
      labels.insert(labels.end(), s.labels.begin(), s.labels.end());
      for (const std::int32_t v : s.labels) mask.push_back(static_cast<std::uint8_t>(v));
      tails.push_back(s.tail);
      groups.push_back(s.group);
    }
    Result<void> ok;
    if (batch == 0 && !c.options.groups) {
      Sample sample{.tokens = TokenInput(std::span<const std::int64_t>(tokens))};
      if (c.form == Form::kMask) sample.loss_mask = mask;
      if (c.form == Form::kLabels) sample.labels = labels;
      if (c.tails) sample.tail_label = tails[0];
      ok = writer.add(sample);
    } else {
      Batch all{.tokens = TokenInput(std::span<const std::int64_t>(tokens)), .lengths = lengths};
      if (c.form == Form::kMask) all.loss_mask = mask;
      if (c.form == Form::kLabels) all.labels = labels;
      if (c.tails) all.tail_labels = tails;
      if (c.options.groups) all.groups = groups;
      ok = writer.add_batch(all);
    }
    if (!ok) return ok.error();
  }
  auto done = std::move(writer).finish();
  if (!done) return done.error();
  return Packed{read_file(path), *done};
}

inline Packed pack_all(const Case& c, std::size_t batch = 0) {
  const TempDir folder;
  auto packed = try_pack(c, batch, folder.file("out.tpk"));
  REQUIRE_MESSAGE(packed.ok(), (packed ? "" : packed.error().detail));
  return *packed;
}

/// What must be stored of one sample: its tokens and labels in order, and its last tail label.
struct Expected {
  Numbers tokens{}, labels{};
  std::int64_t tail = -100;
  bool stored = false, truncated = false, dropped = false;
  std::int64_t targets = 0, given_targets = 0;
};

inline Expected expected_of(const Case& c, const Given& s) {
  const std::int64_t none = c.options.ignore_index;
  const bool shifted = c.options.label_alignment == LabelAlignment::kShifted;
  const auto n = static_cast<std::int64_t>(s.tokens.size());
  Numbers all;  // stored labels of every token
  for (std::int64_t i = 0; i < n; ++i) {
    const auto token = s.tokens[static_cast<std::size_t>(i)];
    if (c.form == Form::kNone) {
      all.push_back(token);
      continue;
    }
    const std::int64_t from = shifted ? i - 1 : i;
    if (from < 0) {
      all.push_back(none);
      continue;
    }
    const std::int64_t given = s.labels[static_cast<std::size_t>(from)];
    all.push_back(c.form == Form::kLabels ? given : given == 1 ? token : none);
  }
  std::int64_t given_tail = c.tails ? s.tail : none;
  if (shifted && c.form == Form::kLabels && n > 0) given_tail = s.labels.back();

  Expected e;
  e.given_targets = given_tail != none ? 1 : 0;
  const bool nameless =
      shifted && c.form == Form::kMask && n > 0 && s.labels.back() == 1 && given_tail == none;
  if (nameless) e.given_targets += 1;
  for (std::int64_t i = 1; i < n; ++i) e.given_targets += all[static_cast<std::size_t>(i)] != none ? 1 : 0;
  if (n == 0) return e;
  const bool input_target = c.options.tail == Tail::kInputTarget;
  std::int64_t first = 0, last = input_target ? n - 1 : n;
  if (last == 0) {
    e.dropped = true;
    return e;
  }
  e.tail = input_target ? all[static_cast<std::size_t>(n - 1)] : given_tail;
  const auto capacity = static_cast<std::int64_t>(c.options.plan.capacity);
  if (last > capacity && c.options.plan.strategy != Strategy::kConcat) {
    if (c.options.overlong == Overlong::kDrop) {
      e.dropped = true;
      return e;
    }
    if (c.options.overlong == Overlong::kTruncate) {
      last = capacity;
      e.tail = input_target ? all[static_cast<std::size_t>(last)] : none;
      e.truncated = true;
    }
    if (c.options.overlong == Overlong::kTruncateLeft) {
      first = last - capacity;
      e.truncated = true;
    }
  }
  e.stored = true;
  e.tokens.assign(s.tokens.begin() + first, s.tokens.begin() + last);
  e.labels.assign(all.begin() + first, all.begin() + last);
  e.targets = e.tail != none ? 1 : 0;
  for (std::size_t i = 1; i < e.labels.size(); ++i) e.targets += e.labels[i] != none ? 1 : 0;
  if (e.targets == 0 && c.options.drop_untrainable) {
    e.stored = false;
    e.dropped = true;
  }
  return e;
}

/// Compares a packed file with the model: every sample once, whole or in fragments that join again; counts,
/// targets and limits.
inline void check_packed(const Case& c, const Packed& packed) {
  const NaiveFile file(packed.image);
  const std::int64_t none = c.options.ignore_index;
  struct Fragment {
    std::int64_t position;
    Numbers tokens, labels;
    std::int64_t tail;
  };
  std::map<std::int64_t, std::vector<Fragment>> by_source;
  std::uint64_t sequences = 0, longest = 0, most = 0, targets = 0, tokens = 0;
  for (const NaivePack& pack : file.packs) {
    std::uint64_t aligned = 0;
    std::int64_t pack_targets = 0;
    REQUIRE(pack.cu_seqlens.size() == pack.sources.size() + 1);
    REQUIRE(pack.cu_seqlens.front() == 0);
    REQUIRE(pack.cu_seqlens.back() == static_cast<std::int64_t>(pack.tokens.size()));
    for (std::size_t s = 0; s < pack.sources.size(); ++s) {
      const auto first = pack.cu_seqlens[s], last = pack.cu_seqlens[s + 1];
      REQUIRE(first < last);
      Fragment f{pack.first_positions[s], {}, {}, pack.tail_labels[s]};
      f.tokens.assign(pack.tokens.begin() + first, pack.tokens.begin() + last);
      f.labels.assign(pack.labels.begin() + first, pack.labels.begin() + last);
      for (std::size_t i = 1; i < f.labels.size(); ++i) pack_targets += f.labels[i] != none ? 1 : 0;
      pack_targets += f.tail != none ? 1 : 0;
      const auto length = static_cast<std::uint64_t>(last - first);
      longest = std::max(longest, length);
      aligned += (length + c.options.plan.alignment - 1) / c.options.plan.alignment * c.options.plan.alignment;
      by_source[pack.sources[s]].push_back(std::move(f));
    }
    CHECK(aligned <= c.options.plan.capacity);
    CHECK(pack.targets == pack_targets);
    targets += static_cast<std::uint64_t>(pack_targets);
    most = std::max<std::uint64_t>(most, pack.sources.size());
    sequences += pack.sources.size();
    tokens += pack.tokens.size();
  }
  if (c.options.plan.max_sequences != 0) CHECK(most <= c.options.plan.max_sequences);
  CHECK(file.longest_sequence == longest);
  CHECK(file.most_sequences_in_pack == most);
  CHECK(file.n_sequences == sequences);
  CHECK(file.targets == targets);
  CHECK(file.n_samples == c.samples.size());

  Account want;
  for (std::size_t i = 0; i < c.samples.size(); ++i) {
    const Expected e = expected_of(c, c.samples[i]);
    const std::uint64_t n = c.samples[i].tokens.size();
    want.samples_in += 1;
    want.tokens_in += n;
    auto found = by_source.find(static_cast<std::int64_t>(i));
    CHECK((found != by_source.end()) == e.stored);
    if (!e.stored) {
      (n == 0 ? want.samples_empty : want.samples_dropped) += 1;
      want.tokens_dropped += n;
      continue;
    }
    if (found == by_source.end()) continue;
    auto& fragments = found->second;
    std::sort(fragments.begin(), fragments.end(),
              [](const Fragment& a, const Fragment& b) { return a.position < b.position; });
    Numbers joined, labels;
    for (std::size_t k = 0; k < fragments.size(); ++k) {
      CHECK(fragments[k].position == static_cast<std::int64_t>(joined.size()));
      joined.insert(joined.end(), fragments[k].tokens.begin(), fragments[k].tokens.end());
      labels.insert(labels.end(), fragments[k].labels.begin(), fragments[k].labels.end());
      const bool last = k + 1 == fragments.size();
      CHECK(fragments[k].tail == (last ? e.tail : e.labels.at(labels.size())));
    }
    CHECK(joined == e.tokens);
    CHECK(labels == e.labels);
    const std::uint64_t target_only = c.options.tail == Tail::kInputTarget ? 1 : 0;
    want.samples_packed += 1;
    want.tokens_stored += e.tokens.size();
    want.tokens_target_only += target_only;
    want.tokens_dropped += n - e.tokens.size() - target_only;
    want.sequences += fragments.size();
    want.extra_fragments += fragments.size() - 1;
    want.samples_split += fragments.size() > 1 ? 1u : 0u;
    want.samples_truncated += e.truncated ? 1 : 0;
    want.samples_without_targets += e.targets == 0 ? 1 : 0;
    want.labels_lost += static_cast<std::uint64_t>(e.given_targets - e.targets);
  }
  const Account& got = packed.summary.account;
  for (const AccountField& field : kAccountFields) {
    CHECK_MESSAGE(got.*field.member == want.*field.member, field.name);
  }
  CHECK(adds_up(got));
  CHECK(packed.summary.packs == file.n_packs);
  CHECK(packed.summary.tokens == tokens);
  CHECK(packed.summary.targets == targets);
  CHECK(packed.summary.file_size == packed.image.size());
}

struct Shape {
  std::size_t samples = 40;
  std::int64_t longest = 12;
  std::int64_t largest_id = 1000;
  bool explicit_labels = false;
};

/// Samples of random lengths, 0 now and then, with labels of the case's form.
inline void fill(Case& c, const Shape& shape, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  const auto below = [&random](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  for (std::size_t i = 0; i < shape.samples; ++i) {
    Given& s = c.samples.emplace_back();
    const std::int64_t n = below(10) == 0 ? 0 : 1 + below(shape.longest);
    const bool all_ignored = below(5) == 0;
    for (std::int64_t t = 0; t < n; ++t) {
      s.tokens.push_back(below(shape.largest_id + 1));
      if (c.form == Form::kMask) s.labels.push_back(all_ignored ? 0 : static_cast<std::int32_t>(below(2)));
    }
    if (c.form == Form::kLabels) {
      for (std::int64_t t = 0; t < n; ++t) {
        const std::int64_t beside = c.options.label_alignment == LabelAlignment::kShifted ? t + 1 : t;
        auto label = static_cast<std::int32_t>(beside < n ? s.tokens[static_cast<std::size_t>(beside)] : below(50));
        if (all_ignored || below(3) == 0) label = c.options.ignore_index;
        if (shape.explicit_labels && below(20) == 0) label = static_cast<std::int32_t>(below(shape.largest_id));
        s.labels.push_back(label);
      }
    }
    s.tail = c.tails && below(2) == 0 ? static_cast<std::int32_t>(below(50)) : c.options.ignore_index;
  }
}

}  // namespace tokpack::test
