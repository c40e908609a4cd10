// tokpack dump: what is in a file. spec/format.md "The dump" fixes the JSON.
#include "dump.h"

#include <fmt/format.h>

#include <cstdlib>
#include <optional>

#include "describe.h"
#include "pack_report.h"
#include "text.h"
#include "tokpack/core/metadata.h"
#include "tokpack/format/checksum.h"

namespace tokpack::tools {

namespace {

double utilization_of(const format::Header& h) { return utilization(h.tokens, h.packs, h.capacity); }

struct MetadataText {
  std::string json;
  std::optional<Metadata> parsed;
  std::string problem;  ///< why it is not parsed
};

MetadataText read_metadata(const Reader& reader) {
  MetadataText out;
  auto text = reader.metadata_json();
  if (!text) {
    out.problem = text.error().detail;
    return out;
  }
  out.json = std::move(text).value();
  auto parsed = parse_metadata(out.json);
  if (parsed) {
    out.parsed = std::move(parsed).value();
  } else {
    out.problem = parsed.error().detail;
  }
  return out;
}

Json file_json(const Reader& reader) {
  const format::Header& h = reader.header();
  Json json;
  json["format_version"] = fmt::format("{}.{}", h.version_major, h.version_minor);
  json["digest"] = format::to_hex(h.content_digest);
  json["file_size"] = h.file_size;
  json["capacity"] = h.capacity;
  json["alignment"] = h.alignment;
  json["packs"] = h.packs;
  json["sequences"] = h.sequences;
  json["samples"] = h.samples;
  json["tokens"] = h.tokens;
  json["token_type"] = format::element_type_name(static_cast<ElementType>(h.token_type));
  json["label_kind"] = format::label_kind_name(static_cast<LabelKind>(h.label_kind));
  json["targets"] = h.targets;
  json["longest_sequence"] = h.longest_sequence;
  json["most_sequences_in_pack"] = h.most_sequences_in_pack;
  json["pad_id"] = h.pad_id;
  json["ignore_index"] = h.ignore_index;
  json["vocab_size"] = h.vocab_size;
  // The nearest binary64 of the value rounded to 6 decimals, as Python's round() gives it.
  json["utilization"] = std::strtod(fmt::format("{:.6f}", utilization_of(h)).c_str(), nullptr);

  Json columns = Json::array();
  for (std::size_t i = 0; i < reader.layout().columns.size(); ++i) {
    const format::SectionEntry& entry = column_entry(reader, i);
    const auto& offsets = reader.layout().columns[i].offsets;
    const format::SectionEntry& scoped = offsets ? reader.layout().sections[*offsets] : entry;
    columns.push_back({{"name", entry.name_view()},
                       {"type", type_name(entry)},
                       {"scope", scope_name(scoped)},
                       {"width", entry.width},
                       {"ragged", offsets.has_value()}});
  }
  json["columns"] = std::move(columns);

  Json sections = Json::array();
  for (const format::SectionEntry& entry : reader.layout().sections) {
    sections.push_back({{"name", entry.name_view()},
                        {"kind", kind_name(entry.kind)},
                        {"element_type", type_name(entry)},
                        {"scope", scope_name(entry)},
                        {"width", entry.width},
                        {"offset", entry.offset},
                        {"length", entry.length},
                        {"hash", format::to_hex(entry.hash)}});
  }
  json["sections"] = std::move(sections);

  const MetadataText metadata = read_metadata(reader);
  json["account"] = nullptr;
  json["metadata"] = nullptr;
  if (metadata.parsed) {
    json["metadata"] = Json::parse(metadata.json);
    if (json["metadata"].contains("account")) json["account"] = json["metadata"]["account"];
  } else {
    warn(fmt::format("{}: the metadata is damaged and shown as null: {}", reader.path(), metadata.problem));
  }
  return json;
}

std::string row(std::string_view name, std::string_view text) {
  return fmt::format("  {:<12} {}\n", name, terminal_safe(text));
}

std::string labels_text(const format::Header& h) {
  const double share = h.tokens == 0 ? 0.0 : static_cast<double>(h.targets) / static_cast<double>(h.tokens);
  const std::string targets =
      fmt::format("{}, {} of all tokens", counted(h.targets, "training target"), percent(share));
  switch (static_cast<LabelKind>(h.label_kind)) {
    case LabelKind::kAll:
      return "every token is its own label; " + targets;
    case LabelKind::kLossMask:
      return "a loss mask, one bit a token; " + targets;
    case LabelKind::kExplicit:
      return "explicit, one i32 a token; " + targets;
  }
  return targets;
}

std::string window_text(const Metadata& metadata) {
  if (!metadata.window) return "";
  return *metadata.window == kWindowAll
             ? ", all in one window"
             : fmt::format(", windows of {} tokens", with_commas(*metadata.window));
}

std::string metadata_text(const MetadataText& metadata) {
  if (!metadata.parsed) {
    return row("metadata", "damaged: " + metadata.problem) +
           "               (what is shown above does not depend on it)\n";
  }
  const Metadata& m = *metadata.parsed;
  std::string out;
  if (!m.strategy.empty()) out += row("packed by", m.strategy + window_text(m));
  if (!m.overlong.empty()) out += row("overlong", m.overlong);
  if (!m.tail.empty() && m.tail != "none") out += row("tail", m.tail);
  if (!m.tokenizer_name.empty()) out += row("tokenizer", m.tokenizer_name);
  if (!m.tokenizer_sha256.empty()) out += row("", "SHA-256 " + m.tokenizer_sha256);
  if (m.bos_id) out += row("bos id", std::to_string(*m.bos_id));
  if (m.eos_id) out += row("eos id", std::to_string(*m.eos_id));
  for (std::size_t i = 0; i < m.roles.size(); ++i)
    out += row(i == 0 ? "roles" : "", fmt::format("{} = {}", i, m.roles[i]));
  bool first = true;
  for (const auto& [key, value] : m.user) {
    out += row(first ? "notes" : "", key + " = " + value);
    first = false;
  }
  first = true;
  for (const MetadataInput& input : m.inputs) {
    out += row(first ? "inputs" : "",
               fmt::format("{}: {} from number {} on", input.name, counted(input.samples, "sample"),
                           with_commas(input.first_sample)));
    first = false;
  }
  if (!m.tool.empty()) out += row("made by", m.tool);
  return out;
}

void print_file(Output& out, const Reader& reader, bool sections) {
  const format::Header& h = reader.header();
  out << fmt::format("{}: a packed dataset, format {}.{}, {}\n\n", terminal_safe(reader.path()),
                     h.version_major, h.version_minor, human_bytes(h.file_size));
  out << row("packs",
             fmt::format("{} of {} tokens{}", with_commas(h.packs), with_commas(h.capacity),
                         h.alignment > 1 ? fmt::format(", sequences aligned to {}", h.alignment) : ""));
  out << row("sequences",
             fmt::format("{}, from {} read; at most {} in a pack, the longest has {}",
                         with_commas(h.sequences), counted(h.samples, "sample"),
                         with_commas(h.most_sequences_in_pack), counted(h.longest_sequence, "token")));
  out << row("tokens",
             fmt::format("{} as {}{}", with_commas(h.tokens),
                         format::element_type_name(static_cast<ElementType>(h.token_type)),
                         h.vocab_size == 0 ? "" : fmt::format(", ids below {}", with_commas(h.vocab_size))));
  out << row("labels", labels_text(h));
  for (std::size_t i = 0; i < reader.layout().columns.size(); ++i)
    out << row(i == 0 ? "columns" : "", column_text(reader, i));
  if (h.pad_id != 0) out << row("pad id", std::to_string(h.pad_id));
  if (h.ignore_index != kDefaultIgnoreIndex) out << row("ignore index", std::to_string(h.ignore_index));
  out << row("digest", format::to_hex(h.content_digest));
  out << row("filled", fmt::format("[{}] {}", bar(utilization_of(h), 50), percent(utilization_of(h))));
  out << "\n";
  const MetadataText metadata = read_metadata(reader);
  const std::string about = metadata_text(metadata);
  out << about;
  if (metadata.parsed && metadata.parsed->account)
    out << (about.empty() ? "" : "\n") << account_text(*metadata.parsed->account);
  if (sections) out << "\n" << section_table(reader);
}

}  // namespace

Reader open_reader(const std::string& path) {
  Reader reader = take(Reader::open(path), path);
  if (reader.mode() == ReadMode::kPread && reader.header().packs > 0)
    warn(fmt::format("{}: the system does not map this file; reading it piece by piece", path));
  return reader;
}

std::string section_table(const Reader& reader) {
  std::string out = fmt::format("  {:<24} {:<22} {:<10} {:<9} {:>14} {:>14}  {}\n", "section", "kind", "type",
                                "scope", "offset", "bytes", "hash");
  for (const format::SectionEntry& entry : reader.layout().sections) {
    std::string type(type_name(entry));
    if (entry.width > 1) type += fmt::format("x{}", entry.width);
    out += fmt::format("  {:<24} {:<22} {:<10} {:<9} {:>14} {:>14}  {}\n", entry.name_view(),
                       kind_name(entry.kind), type, scope_name(entry), with_commas(entry.offset),
                       with_commas(entry.length), format::to_hex(entry.hash));
  }
  return out;
}

void dump_file(Output& out, const Reader& reader, const DumpArguments& arguments) {
  if (arguments.json) {
    print_json(out, file_json(reader));
  } else {
    print_file(out, reader, arguments.sections);
  }
}

int run(const DumpArguments& arguments) {
  const bool part = arguments.pack || arguments.sequence;
  if (arguments.tokens && !part) fail(kUsage, "--tokens goes with --pack P or --sequence J");
  if (arguments.sections && part)
    fail(kUsage, "--sections is about the whole file; leave out --pack and --sequence");
  const Reader reader = open_reader(arguments.file);
  Output out;
  if (arguments.pack) {
    dump_pack(out, reader, arguments);
  } else if (arguments.sequence) {
    dump_sequence(out, reader, arguments);
  } else {
    dump_file(out, reader, arguments);
  }
  out.flush();
  return kDone;
}

}  // namespace tokpack::tools
