#include "ignored_fields.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>
#include <string_view>

#include "text.h"

namespace tokpack::tools {

namespace {

/// What tokenizers and packers write besides the tokens, and what follows from tokens or boundaries.
constexpr std::array<std::string_view, 16> kDerived = {
    "attention_mask", "attention_masks", "position_ids", "token_type_ids", "special_tokens_mask",
    "length",         "lengths",         "num_tokens",   "seq_len",        "seq_lens",
    "seq_length",     "seq_lengths",     "seq_idx",      "cu_seqlens",     "cu_seq_lens",
    "max_seqlen"};

bool is_derived(std::string_view name) { return std::ranges::find(kDerived, name) != kDerived.end(); }

std::string lower(std::string_view text) {
  std::string out;
  for (const char c : text) out += static_cast<char>(c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c);
  return out;
}

bool looks_like(const std::string& name, std::span<const std::string_view> words) {
  const std::string small = lower(name);
  return std::ranges::any_of(words, [&small](std::string_view word) { return small.ends_with(word); });
}

bool looks_like_mask(const input::IgnoredField& field) {
  static constexpr std::array<std::string_view, 2> kWords = {"mask", "masks"};
  return field.list && !is_derived(field.name) && looks_like(field.name, kWords);
}

bool looks_like_labels(const input::IgnoredField& field) {
  static constexpr std::array<std::string_view, 6> kWords = {"label",   "labels",    "target",
                                                             "targets", "label_ids", "target_ids"};
  return field.list && !is_derived(field.name) && looks_like(field.name, kWords);
}

std::string quoted_name(const std::string& name) { return '"' + terminal_safe(name) + '"'; }

/// Those beyond the ones that are shown; more than that when ignored.more.
std::size_t not_shown(const input::IgnoredFields& ignored) {
  return ignored.fields.size() - std::min(ignored.fields.size(), kShownIgnored);
}

}  // namespace

std::string ignored_text(const input::IgnoredFields& ignored) {
  constexpr std::size_t kLine = 110;
  constexpr std::string_view kIndent = "          ";
  if (ignored.fields.empty()) return {};
  std::string out;
  std::string line = "  not kept";
  const auto add = [&](const std::string& word) {
    if (line.size() + 1 + word.size() > kLine && line.size() > kIndent.size()) {
      out += line + "\n";
      line = kIndent;
    }
    line += " " + word;
  };
  const std::size_t shown = std::min(ignored.fields.size(), kShownIgnored);
  bool derived = false;
  for (std::size_t i = 0; i < shown; ++i) {
    const input::IgnoredField& field = ignored.fields[i];
    derived |= is_derived(field.name);
    add(fmt::format("{} ({}{}){}", quoted_name(field.name), counted(field.samples, "sample"),
                    is_derived(field.name) ? ", derived" : "",
                    i + 1 < shown || not_shown(ignored) > 0 ? "," : ""));
  }
  if (not_shown(ignored) > 0)
    add(fmt::format("and {}{} more", ignored.more ? "at least " : "", with_commas(not_shown(ignored))));
  out += line + "\n";
  out += fmt::format("{} --column keeps a field{}\n", kIndent,
                     derived ? "; derived ones follow from tokens and boundaries and are never stored" : "");
  return out;
}

void add_ignored_json(const input::IgnoredFields& ignored, Json& json) {
  Json list = Json::array();
  for (std::size_t i = 0; i < std::min(ignored.fields.size(), kShownIgnored); ++i)
    list.push_back({{"name", as_utf8(ignored.fields[i].name)}, {"samples", ignored.fields[i].samples}});
  json["ignored_fields"] = std::move(list);
  json["ignored_fields_more"] = not_shown(ignored);
}

void warn_of_ignored(const input::IgnoredFields& ignored, const std::vector<std::string>& asked) {
  constexpr std::size_t kMostWarnings = 5;
  std::size_t warnings = 0;
  for (const input::IgnoredField& field : ignored.fields) {
    const bool mask = looks_like_mask(field);
    if (!mask && !looks_like_labels(field)) continue;
    if (std::ranges::find(asked, field.name) != asked.end()) continue;
    if (++warnings > kMostWarnings) continue;
    const std::string name = quoted_name(field.name);
    if (mask) {
      warn(
          fmt::format("{} of {} looks like a mask and was not read, so it decides nothing about what is "
                      "trained on; where it has 1 for trained tokens, pack again with --mask-field {}",
                      name, counted(field.samples, "sample"), field.name));
    } else {
      warn(
          fmt::format("{} of {} looks like labels and was not read: pack takes labels from \"labels\" alone; "
                      "rename the field (and give --labels shifted where label i belongs to token i+1), or "
                      "keep it beside them with --column",
                      name, counted(field.samples, "sample")));
    }
  }
  if (warnings > kMostWarnings) {
    warn(fmt::format("{} of the fields that were not read look like labels or masks as well",
                     warnings - kMostWarnings));
  }
}

}  // namespace tokpack::tools
