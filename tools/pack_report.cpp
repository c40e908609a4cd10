#include "pack_report.h"

#include <fmt/format.h>

#include "text.h"
#include "tokpack/core/reader.h"
#include "tokpack/core/window_defaults.h"
#include "tokpack/format/checksum.h"
#include "tokpack/format/names.h"

namespace tokpack::tools {

namespace {

/// Whether the samples filled more than one window.
bool several_windows(const PackArguments& a, const WriteSummary& s) {
  if (a.window == kWindowAll) return false;
  const std::uint64_t window = effective_window(a.window, a.capacity);
  return s.tokens > window || s.sequences > window_sequences(window);
}

std::string_view label_words(LabelKind kind) {
  if (kind == LabelKind::kAll) return "every token is its own label";
  return kind == LabelKind::kLossMask ? "one bit a token" : "one i32 a token";
}

std::string lost_text(const Account& a) {
  return a.labels_lost == 1 ? "1 training target was" : with_commas(a.labels_lost) + " training targets were";
}

}  // namespace

std::string account_text(const Account& a) {
  struct Row {
    std::string_view name;
    std::uint64_t samples, tokens;
    bool always;
  };
  const Row rows[] = {
      {"read", a.samples_in, a.tokens_in, true},
      {"packed", a.samples_packed, a.tokens_stored, true},
      {"empty", a.samples_empty, 0, false},
      {"dropped", a.samples_dropped, a.tokens_dropped, false},
      {"held out", a.samples_held_out, a.tokens_held_out, false},
      {"skipped", a.samples_skipped, a.tokens_skipped, false},
      {"only as targets", 0, a.tokens_target_only, false},
  };
  std::string out = fmt::format("  {:<16}{:>16}{:>18}\n", "", "samples", "tokens");
  for (const Row& row : rows) {
    if (!row.always && row.samples == 0 && row.tokens == 0) continue;
    const auto cell = [&](std::uint64_t number) {
      return number == 0 && !row.always ? std::string("-") : with_commas(number);
    };
    out += fmt::format("  {:<16}{:>16}{:>18}\n", row.name, cell(row.samples), cell(row.tokens));
  }
  if (a.samples_split > 0) {
    out += fmt::format("  of these, {} cut into {}\n",
                       a.samples_split == 1 ? "1 sample was" : with_commas(a.samples_split) + " samples were",
                       counted(a.samples_split + a.extra_fragments, "fragment"));
  }
  if (a.samples_truncated > 0) {
    out += fmt::format(
        "  of these, {} cut short\n",
        a.samples_truncated == 1 ? "1 sample was" : with_commas(a.samples_truncated) + " samples were");
  }
  if (a.labels_lost > 0) out += fmt::format("  {} lost\n", lost_text(a));
  return out;
}

std::optional<FileKinds> kinds_of(const std::string& path, const WriteSummary& summary) {
  const auto reader = Reader::open(path);
  if (!reader || reader->header().content_digest != summary.digest) return std::nullopt;
  return FileKinds{static_cast<LabelKind>(reader->header().label_kind),
                   static_cast<ElementType>(reader->header().token_type)};
}

void print_summary(Output& out, const std::string& path, const PackArguments& a, const WriteSummary& s) {
  const double fill = utilization(s.tokens, s.packs, a.capacity);
  out << fmt::format("{}: {} of {} tokens, {}, {} of {} tokens are training targets\n\n", terminal_safe(path),
                     counted(s.packs, "pack"), with_commas(a.capacity), counted(s.sequences, "sequence"),
                     with_commas(s.targets), with_commas(s.tokens));
  out << account_text(s.account) << "\n";
  if (s.packs > 0) {
    out << fmt::format("  filled  [{}] {}; at least {} needed for these tokens\n", bar(fill, 40),
                       percent(fill), counted(s.lower_bound_packs, "pack is", "packs are"));
  }
  if (const std::optional<FileKinds> kinds = kinds_of(path, s)) {
    out << fmt::format("  stored  tokens as {}, labels as {}: {}\n", format::element_type_name(kinds->tokens),
                       format::label_kind_name(kinds->labels), label_words(kinds->labels));
  }
  out << fmt::format("  size    {}, digest {}\n", human_bytes(s.file_size), format::to_hex(s.digest));
}

void advise(const std::string& path, const PackArguments& a, const WriteSummary& s) {
  if (s.packs == 0) warn(fmt::format("{}: there are no packs in it: no sample was left to pack", path));
  if (s.account.samples_without_targets > 0) {
    warn(fmt::format("{}: {} no trainable token; --drop-untrainable leaves such samples out", path,
                     s.account.samples_without_targets == 1
                         ? "1 packed sample has"
                         : with_commas(s.account.samples_without_targets) + " packed samples have"));
  }
  if (s.account.labels_lost > 0) {
    warn(fmt::format("{}: {} lost: {}", path, lost_text(s.account),
                     s.account.samples_truncated > 0 ? "cut off from samples longer than the capacity; "
                                                       "--overlong split or a larger --capacity keeps them"
                                                     : "they belong to tokens after the last one of their "
                                                       "samples, whose ids the input does not give"));
  }
  // A twentieth more packs than the bound, and more than the one that rounding explains.
  if (s.packs < s.lower_bound_packs + 2 || s.packs - s.lower_bound_packs <= s.lower_bound_packs / 20) return;
  std::string why;
  if (a.strategy == Strategy::kNextFit) {
    why =
        "next-fit keeps the input order and closes a pack when the next sample does not fit; --strategy "
        "best-fit "
        "fills packs better";
  } else if (a.strategy == Strategy::kConcat) {
    why = "--align or --max-sequences ends packs early";
  } else if (several_windows(a, s)) {
    why =
        "samples are planned window by window, and in an ordered input (by length, or one kind after "
        "another) those "
        "that would fit together are far apart; shuffle the input, or plan everything at once with --window "
        "all";
  } else if (a.max_sequences != 0 && s.sequences / a.max_sequences * 10 >= s.packs * 9) {
    why = "--max-sequences ends packs early; raise it";
  } else {
    why =
        "few sample lengths add up to the capacity; another --capacity, or --overlong split with --strategy "
        "concat, "
        "fills packs better";
  }
  warn(fmt::format("{}: utilization is poor: {} packs where {} could do, {} filled: {}", path,
                   with_commas(s.packs), with_commas(s.lower_bound_packs),
                   percent(utilization(s.tokens, s.packs, a.capacity)), why));
}

}  // namespace tokpack::tools
