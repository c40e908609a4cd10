// The options of tokpack pack.
#include <charconv>
#include <limits>
#include <span>
#include <string>

#include "cli_options.h"
#include "tokpack/core/window_defaults.h"
#include "tokpack/format/layout.h"
#include "tokpack/format/names.h"
#include "tokpack/format/parse.h"

namespace tokpack::tools {

namespace {

/// NAME:TYPE[xWIDTH]@token|sequence
ColumnSpec parse_column(const std::string& text) {
  const std::string option = "--column";
  const std::size_t colon = text.find(':');
  const std::size_t at = text.rfind('@');
  if (colon == std::string::npos || at == std::string::npos || at < colon)
    refuse(option, "expected NAME:TYPE[xWIDTH]@token or ...@sequence, found '" + text + "'");
  ColumnSpec spec;
  spec.name = text.substr(0, colon);
  if (!format::valid_section_name(spec.name))
    refuse(option, "a column's name is 1 to 24 of a-z, 0-9 and _, found '" + spec.name + "'");
  std::string type = text.substr(colon + 1, at - colon - 1);
  if (const std::size_t x = type.find('x'); x != std::string::npos) {
    spec.width = parse_number<std::uint16_t>(option, type.substr(x + 1), 1, 65535);
    type.resize(x);
  }
  const auto known = format::element_type_by_name(type);
  if (!known) {
    std::string names;
    for (const std::string_view name : std::span(format::kElementTypeNames).subspan(1))
      names.append(names.empty() ? "" : ", ").append(name);
    refuse(option, "expected a type of " + names + ", found '" + type + "'");
  }
  spec.type = *known;
  const std::string scope = text.substr(at + 1);
  if (scope != "token" && scope != "sequence")
    refuse(option, "expected @token or @sequence, found '@" + scope + "'");
  spec.scope = scope == "token" ? Scope::kToken : Scope::kSequence;
  return spec;
}

}  // namespace

void add_pack(CLI::App& app, PackArguments& a) {
  CLI::App* pack = app.add_subcommand("pack", "Pack tokenised samples into a .tpk file");
  pack->add_option(
          "INPUT", a.inputs,
          "JSON lines, plain or zstd ('-' = standard input), or raw token arrays (the name decides: .bin, "
          ".npy; also what starts as a .npy does). "
          "PATH@2 packs an input twice, PATH@0.5 a fixed half of its samples: the last @ followed by a "
          "number is always a factor, so write a@2@1 for a file named a@2")
      ->type_name("PATH[@FACTOR]")
      ->required();
  pack->add_option("-o,--output", a.output, "File to write; complete or not there at all")
      ->type_name("FILE")
      ->required();
  number_option<std::uint32_t>(pack, "--capacity", a.capacity, 1, format::kMaxCapacity, "Tokens in a pack")
      ->required();

  CLI::Option_group* plan = pack->add_option_group("Packing");
  choice_option<Strategy, Strategy>(
      plan, "--strategy", a.strategy,
      {{"best-fit", Strategy::kBestFit}, {"next-fit", Strategy::kNextFit}, {"concat", Strategy::kConcat}},
      "best-fit fills packs best; next-fit keeps the input order; concat keeps it and cuts samples at the "
      "capacity "
      "(default best-fit)");
  choice_option<std::optional<Overlong>, Overlong>(plan, "--overlong", a.overlong,
                                                   {{"error", Overlong::kError},
                                                    {"split", Overlong::kSplit},
                                                    {"truncate", Overlong::kTruncate},
                                                    {"truncate-left", Overlong::kTruncateLeft},
                                                    {"drop", Overlong::kDrop}},
                                                   "Samples longer than the capacity: refuse, cut into "
                                                   "fragments, keep the first or the last tokens, leave out "
                                                   "(default error; concat always splits)");
  number_option<std::uint32_t>(plan, "--max-sequences", a.max_sequences, 1, 0x7fffffffu,
                               "Most sequences in a pack (default no limit)");
  number_option<std::uint32_t>(
      plan, "--align", a.alignment, 1, format::kMaxCapacity,
      "A sequence takes its length rounded up to this; divides the capacity (default 1)");
  const std::string packs = std::to_string(kLeastPacksPerWindow);
  plan->add_option_function<std::string>(
          "--window",
          [&a](const std::string& text) {
            if (text != "all" && (text.empty() || text.find_first_not_of("0123456789") != std::string::npos))
              refuse("--window", "expected a number of tokens or all, found '" + text + "'");
            a.window = text == "all"
                           ? kWindowAll
                           : parse_number<std::uint64_t>("--window", text, 1, format::kMaxFileBytes);
          },
          "Tokens planned at once, at least " + packs +
              " x capacity; memory follows it (default the larger of " +
              std::to_string(kDefaultWindowTokens) + " and " + packs + " x capacity)")
      ->type_name("TOKENS|all");
  number_option<unsigned>(plan, "--threads", a.threads, 0u, 1024u,
                          "Threads; the file does not depend on it (default 0 = one per CPU)", "T");

  CLI::Option_group* samples = pack->add_option_group("Samples");
  number_option<std::uint32_t>(samples, "--vocab-size", a.vocab_size, 1, format::kMaxTokenId + 1u,
                               "Refuse ids at or above this (default unknown)");
  choice_option<std::optional<ElementType>, ElementType>(
      samples, "--token-type", a.token_type, {{"u16", ElementType::kU16}, {"u32", ElementType::kU32}},
      "Type of stored ids (default u16 until an id of 65536 or more)");
  choice_option<LabelAlignment, LabelAlignment>(
      samples, "--labels", a.labels,
      {{"aligned", LabelAlignment::kAligned}, {"shifted", LabelAlignment::kShifted}},
      "Labels and masks of the input: aligned with its tokens, or already shifted by one (default aligned)");
  choice_option<MissingLabels, MissingLabels>(
      samples, "--missing-labels", a.missing_labels,
      {{"error", MissingLabels::kError}, {"train", MissingLabels::kTrain}},
      "Samples without labels among samples with them: refuse, or train on all their tokens (default error)");
  choice_option<Tail, Tail>(
      samples, "--tail", a.tail, {{"none", Tail::kNone}, {"input-target", Tail::kInputTarget}},
      "input-target keeps a sample's last token only as the target of the one before it "
      "(default none)");
  samples->add_flag("--drop-untrainable", a.drop_untrainable,
                    "Leave out samples in which no token is trained on");
  samples
      ->add_option_function<std::vector<std::string>>(
          "--column",
          [&a](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) a.columns.push_back(parse_column(text));
          },
          "Another field to keep, one value (or WIDTH values) per token or per sample; repeatable")
      ->type_name("NAME:TYPE[xWIDTH]@token|sequence")
      ->allow_extra_args(false);
  samples
      ->add_option("--group-field", a.group_field,
                   "Field whose equal consecutive values in an input make samples share a pack; '' = none "
                   "(default group)")
      ->type_name("FIELD");
  samples
      ->add_option("--mask-field", a.mask_fields,
                   "Another field with 1 for trained tokens, besides loss_mask, completion_mask and "
                   "assistant_masks; repeatable, all are and-ed")
      ->type_name("FIELD")
      ->allow_extra_args(false);
  samples
      ->add_option("--ignore-field", a.ignore_fields,
                   "Field to read as if no record had it, such as a weight that only some inputs bring; "
                   "repeatable")
      ->type_name("FIELD")
      ->allow_extra_args(false);
  number_option<std::int32_t>(
      samples, "--ignore-index", a.ignore_index, std::numeric_limits<std::int32_t>::min(),
      std::numeric_limits<std::int32_t>::max(), "Label of tokens that are not trained on (default -100)");

  CLI::Option_group* raw = pack->add_option_group("Raw arrays");
  choice_option<std::optional<input::ArrayType>, input::ArrayType>(
      raw, "--array-type", a.array_type,
      {{"u16", input::ArrayType::kU16},
       {"u32", input::ArrayType::kU32},
       {"i32", input::ArrayType::kI32},
       {"i64", input::ArrayType::kI64}},
      "Type of the ids (default what a .npy header says)");
  raw->add_option("--lengths", a.lengths,
                  "Sample lengths of a raw input, text with one a line or .npy; once per raw input, in order")
      ->type_name("PATH")
      ->allow_extra_args(false);
  number_option<std::uint32_t>(raw, "--document-end", a.document_end, 0, format::kMaxTokenId,
                               "Or: the id that ends a sample and stays in it; refused when it never occurs",
                               "ID");
  number_option<std::uint64_t>(raw, "--header-bytes", a.header_bytes, 0, format::kMaxFileBytes,
                               "Bytes to skip at the start of a .bin (default 0)");
  raw->add_option("--loss-mask-file", a.loss_mask_files,
                  "One byte (or .npy bool or u8) per token, 1 = trained; once per raw input, in order")
      ->type_name("PATH")
      ->allow_extra_args(false);

  CLI::Option_group* holdout = pack->add_option_group("Holdout");
  CLI::Option* percent =
      holdout
          ->add_option_function<std::string>(
              "--holdout",
              [&a](const std::string& text) {
                double value = 0;
                const auto [end, error] =
                    std::from_chars(text.data(), text.data() + text.size(), value, std::chars_format::fixed);
                if (error != std::errc{} || end != text.data() + text.size() || !(value > 0 && value < 100))
                  refuse("--holdout", "expected a percentage above 0 and below 100, found '" + text + "'");
                a.holdout_percent = value;
              },
              "Share of samples to hold out, chosen by a hash of each sample's tokens, so that the choice "
              "stays the "
              "same when the data grows or is packed anew")
          ->type_name("PERCENT");
  CLI::Option* holdout_out =
      holdout->add_option("--holdout-out", a.holdout_output, "File for the held-out samples")
          ->type_name("FILE");
  percent->needs(holdout_out);
  holdout_out->needs(percent);

  CLI::Option_group* metadata = pack->add_option_group("Metadata");
  metadata->add_option("--tokenizer", a.tokenizer, "Name of the tokenizer")->type_name("NAME");
  metadata->add_option("--tokenizer-file", a.tokenizer_file, "File of the tokenizer; its SHA-256 is kept")
      ->type_name("PATH");
  number_option<std::uint32_t>(metadata, "--pad-id", a.pad_id, 0, format::kMaxTokenId,
                               "Id that loaders pad with; packs are stored unpadded (default 0)");
  number_option<std::int64_t>(metadata, "--bos-id", a.bos_id, 0, format::kMaxTokenId,
                              "Id that starts a text");
  number_option<std::int64_t>(metadata, "--eos-id", a.eos_id, 0, format::kMaxTokenId, "Id that ends a text");
  metadata
      ->add_option_function<std::vector<std::string>>(
          "--meta",
          [&a](const std::vector<std::string>& texts) {
            for (const std::string& text : texts) {
              const std::size_t equals = text.find('=');
              if (equals == std::string::npos || equals == 0)
                refuse("--meta", "expected KEY=VALUE, found '" + text + "'");
              const std::string key = text.substr(0, equals);
              for (const auto& [known, value] : a.meta)
                if (known == key) refuse("--meta", "key '" + key + "' is given twice");
              a.meta.emplace_back(key, text.substr(equals + 1));
            }
          },
          "Text to keep in the file; repeatable")
      ->type_name("KEY=VALUE")
      ->allow_extra_args(false);

  pack->add_flag("--force", a.force, "Replace existing outputs");
  pack->add_flag(
      "--json", a.json,
      "Print the account, 'output', 'digest', 'label_kind', 'token_type' and 'ignored_fields' as one "
      "JSON object");
  pack->footer(
      "A record is {\"input_ids\": [...]} (or \"tokens\"). It may have \"labels\", masks, and one each of\n"
      "  group   a string or an integer: equal ones in a row make samples share a pack, as preference pairs "
      "do\n"
      "  role    a string or 0 to 255: which member of the group; strings are kept as numbers, in the order "
      "in\n"
      "          which they first appear, and their names in the metadata\n"
      "  weight  a number (f32): of the sample's loss\n"
      "The first record decides which of them there are; role and weight then stand in every one. Raw "
      "arrays\n"
      "bring none.\n\n"
      "Ends with the account: where every sample and token went, and which fields were not kept. Exit "
      "codes:\n"
      "0 done, 2 usage, 3 an input or the output cannot be used (nothing is left behind), or the account "
      "cannot\n"
      "be printed (the output is complete).\n\n"
      "Example:\n"
      "  tokpack pack sft.jsonl.zst docs.jsonl@0.5 -o train.tpk --capacity 4096 --overlong split \\\n"
      "      --vocab-size 50257 --holdout 1 --holdout-out held.tpk");
}

}  // namespace tokpack::tools
