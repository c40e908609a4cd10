// The command line: the verbs, and the options of all but pack.
#include <algorithm>
#include <iostream>
#include <numeric>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include "cli_options.h"
#include "command.h"
#include "tokpack/format/layout.h"

namespace tokpack::tools {

namespace {

void add_dump(CLI::App& app, DumpArguments& a) {
  CLI::App* dump = app.add_subcommand("dump", "Show what is in a .tpk file");
  dump->add_option("FILE", a.file, "File to show")->type_name("PATH")->required();
  CLI::Option* pack = number_option<std::uint64_t>(dump, "--pack", a.pack, 0, format::kMaxFileBytes,
                                                   "Show one pack (numbered from 0)", "P");
  number_option<std::uint64_t>(dump, "--sequence", a.sequence, 0, format::kMaxFileBytes,
                               "Show one sequence (numbered from 0) and the pack it stands in", "J")
      ->excludes(pack);
  dump->add_flag(
      "--tokens", a.tokens,
      "Print token ids and columns of one row a token too (with --pack or --sequence); untrained ids "
      "in brackets");
  dump->add_flag("--sections", a.sections, "List the sections");
  dump->add_flag("--json", a.json,
                 "One JSON object with sorted keys; the layout of the file, or of --pack, or of --sequence");
  dump->footer(
      "A row of --pack is a sequence: its number, its source (the number of its record in the input), the\n"
      "token of that sample that it starts with, its length, its targets, and its tail: the label that its "
      "last\n"
      "token predicts where the next token is not in the sequence, or '-'. Where the file has them, group "
      "and\n"
      "role follow. With --tokens '0' is an id that is trained on, '[0]' one that is not, '0:1' the id 0 "
      "with "
      "the\n"
      "label 1. Labels stand with their own token; the first of a sequence is no target.\n\n"
      "Exit codes: 0 done, 2 usage, 3 not a file that this version reads, or a part that was asked for is "
      "damaged.\n\n"
      "Example:\n"
      "  tokpack dump train.tpk --pack 7 --tokens");
}

void add_verify(CLI::App& app, VerifyArguments& a) {
  CLI::App* verify = app.add_subcommand("verify", "Check every byte of .tpk files");
  verify->add_option("FILE", a.files, "Files to check")->type_name("PATH")->required();
  number_option<unsigned>(verify, "--threads", a.threads, 0u, 1024u, "Threads (default 0 = one per CPU)",
                          "T");
  verify->add_flag(
      "--json", a.json,
      "One JSON object: {\"ok\", \"findings\"} for one file; {\"ok\", \"files\"} for several, each with "
      "\"file\", \"ok\" and \"findings\". A file that cannot be read has \"error\" besides");
  verify->footer(
      "Reports everything that is wrong, not the first thing only. Exit codes: 0 all are intact, 1 something "
      "is\n"
      "wrong with a file that could be read, 2 usage, 3 a file could not be read.\n\n"
      "Example:\n"
      "  tokpack verify train.tpk held.tpk");
}

void add_stats(CLI::App& app, StatsArguments& a) {
  CLI::App* stats = app.add_subcommand("stats", "Distributions of lengths, fill and sequences per pack");
  stats->add_option("FILE", a.file, "File to look at")->type_name("PATH")->required();
  stats->add_flag("--json", a.json, "The same numbers as one JSON object");
  stats->footer(
      "Exit codes: 0 done, 2 usage, 3 the file or some of its packs cannot be read.\n\n"
      "Example:\n"
      "  tokpack stats train.tpk");
}

void add_export(CLI::App& app, ExportArguments& a) {
  CLI::App* verb = app.add_subcommand("export", "Write the samples of a .tpk file as JSON lines");
  verb->add_option("FILE", a.file, "File to read")->type_name("PATH")->required();
  verb->add_option("-o,--output", a.output,
                   "File to write, complete or not there at all; '-' = standard output (default -)")
      ->type_name("OUT.jsonl");
  verb->add_flag("--sources", a.sources,
                 "Add 'source' to each sample: the number of its record over all inputs, from 0");
  verb->add_flag("--force", a.force, "Replace an existing output");
  verb->footer(
      "Samples come in the order of the input, fragments rejoined: 'input_ids', 'labels' unless all tokens "
      "of the\n"
      "file are trained, then group, role, weight and further columns. Groups come as numbers 0, 1, 2, ...: "
      "a file\n"
      "does not keep the values that the input had for them. Checksums are not checked: run tokpack verify "
      "first.\n"
      "Exit codes: 0 done, 2 usage, 3 the file or the output cannot be used.\n\n"
      "Example:\n"
      "  tokpack export train.tpk -o train.jsonl");
}

/// How many characters must be changed, put in or left out to make one text of the other.
std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 0; i < a.size(); ++i) {
    std::size_t diagonal = std::exchange(row[0], i + 1);
    for (std::size_t j = 0; j < b.size(); ++j) {
      const std::size_t changed = diagonal + (a[i] == b[j] ? 0u : 1u);
      diagonal = row[j + 1];
      row[j + 1] = std::min({changed, row[j] + 1, diagonal + 1});
    }
  }
  return row.back();
}

/// The names of all options of a verb, those in its groups too, without dashes.
std::vector<std::string> long_names(const CLI::App& verb) {
  std::vector<std::string> names;
  for (const CLI::Option* option : verb.get_options())
    names.insert(names.end(), option->get_lnames().begin(), option->get_lnames().end());
  for (const CLI::App* group : verb.get_subcommands([](const CLI::App*) { return true; })) {
    const std::vector<std::string> more = long_names(*group);
    names.insert(names.end(), more.begin(), more.end());
  }
  return names;
}

/// The option that was most likely meant, or nothing near: a third of its letters may be wrong, or it is the
/// only one that begins so.
std::string nearest_option(const CLI::App& verb, const std::string& given) {
  const std::string name = given.substr(std::min(given.find_first_not_of('-'), given.size()));
  std::string best;
  std::size_t least = name.size() / 3 + 2;
  std::size_t begin_so = 0;
  std::string beginning;
  for (const std::string& known : long_names(verb)) {
    const std::size_t distance = edit_distance(name, known);
    if (distance < least && distance < known.size()) {
      least = distance;
      best = known;
    }
    if (name.size() >= 3 && known.starts_with(name)) {
      ++begin_so;
      beginning = known;
    }
  }
  return begin_so == 1 ? beginning : best;
}

/// What CLI11 tells last: an argument that no option takes. It is often why a required option seems missing.
std::string unknown_argument(const CLI::App& verb) {
  for (const std::string& argument : verb.remaining()) {
    if (!argument.starts_with('-') || argument == "-" || argument == "--") continue;
    const std::string name = argument.substr(0, argument.find('='));
    const std::string near = name.starts_with("--") ? nearest_option(verb, name) : std::string();
    return "there is no option " + name + (near.empty() ? "" : "; did you mean --" + near + "?");
  }
  for (const std::string& argument : verb.remaining())
    return "'" + argument + "' is one argument too many; quote a name that has spaces";
  return {};
}

}  // namespace

Parsed parse_command_line(int argc, char** argv) {
  CLI::App app("Packs tokenised samples into .tpk files that training processes map and read without a copy.",
               "tokpack");
  app.set_version_flag("--version", std::string("tokpack " TOKPACK_VERSION " (format ") +
                                        std::to_string(format::kVersionMajor) + "." +
                                        std::to_string(format::kVersionMinor) + ")");
  app.require_subcommand(0, 1);
  app.get_formatter()->column_width(34);
  app.footer("tokpack VERB --help says more, with an example.");
  PackArguments pack;
  DumpArguments dump;
  VerifyArguments verify;
  StatsArguments stats;
  ExportArguments exporting;
  add_pack(app, pack);
  add_dump(app, dump);
  add_verify(app, verify);
  add_stats(app, stats);
  add_export(app, exporting);

  const auto verb = [&]() -> std::string {
    for (const CLI::App* sub : app.get_subcommands()) return " " + sub->get_name();
    return "";
  };
  if (argc > 1 && argv[1][0] != '-') {
    const auto verbs = app.get_subcommands([](const CLI::App*) { return true; });
    if (std::none_of(verbs.begin(), verbs.end(),
                     [&](const CLI::App* known) { return known->get_name() == argv[1]; }))
      fail(kUsage, "'" + std::string(argv[1]) + "' is no verb; expected pack, dump, verify, stats or export");
  }
  for (int i = 1; i < argc; ++i) {
    if (std::string_view(argv[i]).starts_with("-@"))
      fail(kUsage, "standard input ('-') takes no factor: it can be read only once, and in full");
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::Success& asked) {
    std::ostringstream text;
    app.exit(asked, text, std::cerr);
    Output out;
    out << text.str();
    out.flush();
    return kDone;
  } catch (const CLI::ParseError& error) {
    std::string unknown;
    for (const CLI::App* sub : app.get_subcommands()) unknown = unknown_argument(*sub);
    if (unknown.empty()) unknown = unknown_argument(app);
    print_error(unknown.empty() ? error.what() : unknown);
    std::cerr << "see: tokpack" << verb() << " --help\n";
    return kUsage;
  }
  if (verb().empty()) {
    print_error("expected a verb: pack, dump, verify, stats or export");
    std::cerr << "see: tokpack --help\n";
    return kUsage;
  }
  if (verb() == " pack") return pack;
  if (verb() == " dump") return dump;
  if (verb() == " verify") return verify;
  if (verb() == " stats") return stats;
  return exporting;
}

}  // namespace tokpack::tools
