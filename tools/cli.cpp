// The command line: the verbs, and the options of all but pack.
#include <algorithm>
#include <iostream>
#include <sstream>
#include <string>

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
  dump->add_flag("--tokens", a.tokens,
                 "Print token ids too (with --pack or --sequence); untrained ones in brackets");
  dump->add_flag("--sections", a.sections, "List the sections");
  dump->add_flag("--json", a.json,
                 "One JSON object with sorted keys; the layout of the file, or of --pack, or of --sequence");
  dump->footer(
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
  verb->add_flag("--force", a.force, "Replace an existing output");
  verb->footer(
      "Samples come in the order of the input, fragments rejoined: 'input_ids', 'labels' unless all tokens "
      "of the\n"
      "file are trained, then group, role, weight and further columns. Exit codes: 0 done, 2 usage, 3 the "
      "file or\n"
      "the output cannot be used.\n\n"
      "Example:\n"
      "  tokpack export train.tpk -o train.jsonl");
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
    print_error(error.what());
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
