// tokpack stats: how long sequences are, how full packs are, how many sequences they hold.
#include <fmt/format.h>

#include <array>

#include "command.h"
#include "dump.h"
#include "json.h"
#include "options.h"
#include "text.h"

namespace tokpack::tools {

namespace {

constexpr std::array<unsigned, 7> kPercentiles = {1, 5, 25, 50, 75, 95, 99};
constexpr std::size_t kBins = 20;

Json distribution_json(const Distribution& d) {
  Json percentiles = Json::object();
  for (const unsigned p : kPercentiles) percentiles[fmt::format("{:02}", p)] = d.percentile(p);
  Json histogram = Json::array();
  for (const Distribution::Bin& bin : d.bins(kBins))
    histogram.push_back({{"first", bin.first}, {"last", bin.last}, {"count", bin.count}});
  return {{"count", d.count()},
          {"sum", d.sum()},
          {"min", d.smallest()},
          {"max", d.largest()},
          {"mean", d.mean()},
          {"percentiles", std::move(percentiles)},
          {"histogram", std::move(histogram)}};
}

void print_distribution(Output& out, std::string_view title, const Distribution& d) {
  out << fmt::format("\n{}\n", title);
  if (d.count() == 0) {
    out << "  none\n";
    return;
  }
  out << fmt::format("  mean {:.1f}, least {}, most {}\n ", d.mean(), with_commas(d.smallest()),
                     with_commas(d.largest()));
  for (const unsigned p : kPercentiles)
    out << fmt::format(" {}{} %: {}", p == kPercentiles[0] ? "" : " ", p, with_commas(d.percentile(p)));
  out << "\n\n" << text_histogram(d.bins(kBins), d.count());
}

}  // namespace

int run(const StatsArguments& arguments) {
  const Reader reader = open_reader(arguments.file);
  Distribution lengths;
  Distribution fill;
  Distribution per_pack;
  std::uint64_t damaged = 0;
  std::string first_damage;
  reader.advise(AccessHint::kSequential, 0, reader.packs());
  for (std::uint64_t p = 0; p < reader.packs(); ++p) {
    const auto pack = reader.pack(p);
    if (!pack) {
      if (damaged++ == 0) first_damage = describe(pack.error(), reader.path());
      continue;
    }
    const auto cu = pack->cu_seqlens();
    for (std::size_t s = 0; s + 1 < cu.size(); ++s)
      lengths.add(static_cast<std::uint64_t>(cu[s + 1] - cu[s]));
    fill.add(static_cast<std::uint64_t>(cu.back()));
    per_pack.add(pack->sequences());
  }
  Output out;
  if (arguments.json) {
    print_json(out, {{"capacity", reader.header().capacity},
                     {"packs", reader.packs()},
                     {"damaged_packs", damaged},
                     {"sequence_length", distribution_json(lengths)},
                     {"tokens_per_pack", distribution_json(fill)},
                     {"sequences_per_pack", distribution_json(per_pack)}});
  } else {
    out << fmt::format("{}: {} in {} of {} tokens\n", terminal_safe(reader.path()),
                       counted(reader.sequences(), "sequence"), counted(reader.packs(), "pack"),
                       with_commas(reader.header().capacity));
    print_distribution(out, "Tokens in a sequence", lengths);
    print_distribution(out, "Tokens in a pack", fill);
    print_distribution(out, "Sequences in a pack", per_pack);
    out.flush();
  }
  if (damaged > 0) {
    fail(kUnusable, fmt::format("{} left out because {} damaged; the first: {}",
                                counted(damaged, "pack is", "packs are"), damaged == 1 ? "it is" : "they are",
                                first_damage));
  }
  return kDone;
}

}  // namespace tokpack::tools
