// tokpack export: the samples of a file as JSON lines, in the order of the input, fragments rejoined.
#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <map>
#include <optional>
#include <span>
#include <unordered_map>
#include <vector>

#include "command.h"
#include "describe.h"
#include "dump.h"
#include "export_file.h"
#include "interrupt.h"
#include "options.h"
#include "text.h"
#include "tokpack/core/metadata.h"

namespace tokpack::tools {

namespace {

/// 16 bytes a sequence: the index that brings samples back into order.
struct Entry {
  std::uint64_t source, sequence;
};

/// Packs looked at before, with their columns: a view of a pack costs time by the sequences in it, and
/// samples jump from pack to pack.
class PackCache {
 public:
  explicit PackCache(const Reader& reader) : reader_(reader) {}

  SequenceView sequence(std::uint64_t number) {
    const SequenceLocation where = take(reader_.locate(number), reader_.path());
    const PackView& pack = known(where.pack).view;
    if (where.index_in_pack >= pack.sequences())
      fail(kUnusable, fmt::format("{}: the file changed while it was read", reader_.path()));
    return pack.sequence(static_cast<std::size_t>(where.index_in_pack));
  }

  ColumnView column(const PackView& pack, std::size_t index) {
    Known& entry = known(pack.pack());
    entry.columns.resize(reader_.layout().columns.size());
    std::optional<ColumnView>& column = entry.columns[index];
    if (!column) column = take(entry.view.column(index), reader_.path());
    return *column;
  }

 private:
  struct Known {
    PackView view;
    std::vector<std::optional<ColumnView>> columns{};
  };
  // Views of a mapped file are small; those of a file that is read hold the pack's bytes.
  static constexpr std::size_t kMostPacks = 65536;
  static constexpr std::size_t kMostTokensRead = std::size_t{1} << 24;

  Known& known(std::uint64_t number) {
    if (const auto found = packs_.find(number); found != packs_.end()) return found->second;
    PackView pack = take(reader_.pack(number), reader_.path());
    const std::size_t size = pack.tokens().size();
    if (packs_.size() >= kMostPacks ||
        (reader_.mode() == ReadMode::kPread && tokens_ + size > kMostTokensRead)) {
      packs_.clear();
      tokens_ = 0;
    }
    tokens_ += size;
    return packs_.emplace(number, Known{std::move(pack)}).first->second;
  }

  const Reader& reader_;
  std::unordered_map<std::uint64_t, Known> packs_;
  std::size_t tokens_ = 0;
};

void append_number(std::string& out, std::int64_t number) {
  std::array<char, 24> text;
  const auto end = std::to_chars(text.data(), text.data() + text.size(), number);
  out.append(text.data(), end.ptr);
}

class Exporter {
 public:
  Exporter(const Reader& reader, Output& out, bool sources)
      : reader_(reader),
        packs_(reader),
        out_(out),
        ignore_(reader.header().ignore_index),
        with_sources_(sources) {
    const auto text = reader.metadata_json();
    if (text) {
      if (auto metadata = parse_metadata(*text)) {
        roles_ = metadata->roles;
        for (const std::string& role : roles_) long_roles_ += role.size() > kLongestRole ? 1u : 0u;
        input_target_ = metadata->tail == "input-target";
        metadata_known_ = true;
      }
    }
    if (!metadata_known_)
      warn(fmt::format(
          "{}: the metadata cannot be read: roles come as numbers, last tokens kept as targets only are "
          "not restored",
          reader.path()));
    for (std::size_t c = 0; c < reader.layout().columns.size(); ++c) {
      if (with_sources_ && column_entry(reader, c).name_view() == "source") {
        fail(kUsage,
             fmt::format("{} has a column 'source' of its own, and --sources gives each sample a field of "
                         "that name; leave out --sources",
                         reader.path()));
      }
      const auto& offsets = reader.layout().columns[c].offsets;
      const format::SectionEntry& entry =
          offsets ? reader.layout().sections[*offsets] : column_entry(reader, c);
      const auto scope = static_cast<Scope>(entry.scope);
      if (scope == Scope::kSequence || scope == Scope::kToken) {
        columns_.push_back(c);
      } else {
        left_out_ += fmt::format("{}{}", left_out_.empty() ? "" : ", ", entry.name_view());
      }
    }
  }

  void run() {
    std::vector<Entry> entries = index();
    for (std::size_t first = 0; first < entries.size();) {
      std::size_t last = first + 1;
      while (last < entries.size() && entries[last].source == entries[first].source) ++last;
      write_sample(std::span(entries).subspan(first, last - first));
      first = last;
      out_.flush_if_full();
      if (first % 256 == 0) stop_if_interrupted();
    }
  }

  void say_what_is_missing() const {
    if (unrestored_ > 0) {
      warn(fmt::format(
          "{}: the last token of {} is not in the file and missing in the export: it was no training "
          "target under --tail input-target",
          reader_.path(), counted(unrestored_, "sample")));
    }
    if (guessed_ > 0) {
      warn(fmt::format(
          "{}: the last token of {} is restored from its label, and is another id wherever the input's last "
          "label was not the last token",
          reader_.path(), counted(guessed_, "sample")));
    }
    if (tails_ > 0) {
      warn(fmt::format(
          "{}: {} a label for the token after the last one; it stands in 'tail_label', which pack does "
          "not read",
          reader_.path(), counted(tails_, "sample has", "samples have")));
    }
    if (rows_missing_ > 0) {
      warn(fmt::format(
          "{}: the columns of scope token have no row for the restored last token of {}: pack does not take "
          "such lists back",
          reader_.path(), counted(rows_missing_, "sample")));
    }
    if (hex_ > 0) {
      warn(
          fmt::format("{}: {} of bytes columns {} no UTF-8 and stand as hex digits, which pack does not read",
                      reader_.path(), counted(hex_, "value"), hex_ == 1 ? "is" : "are"));
    }
    if (long_roles_ > 0) {
      warn(fmt::format("{}: {} longer than {} bytes and comes as a number", reader_.path(),
                       counted(long_roles_, "role is", "roles are"), kLongestRole));
    }
    if (!left_out_.empty())
      warn(fmt::format("{}: columns that belong to packs or to the file are left out: {}", reader_.path(),
                       left_out_));
  }

 private:
  std::vector<Entry> index() const {
    std::vector<Entry> entries;
    entries.reserve(reader_.sequences());
    for (std::uint64_t p = 0; p < reader_.packs(); ++p) {
      const PackView pack = take(reader_.pack(p), reader_.path());
      const SourceSpan sources = pack.sources();
      for (std::size_t s = 0; s < sources.size(); ++s)
        entries.push_back({sources[s], pack.first_sequence() + s});
    }
    std::sort(entries.begin(), entries.end(), [](const Entry& a, const Entry& b) {
      return a.source != b.source ? a.source < b.source : a.sequence < b.sequence;
    });
    return entries;
  }

  /// The sample's sequences in order. Several may stand in one pack.
  std::vector<SequenceView> pieces(std::span<const Entry> entries) {
    std::vector<SequenceView> out;
    for (const Entry& entry : entries) out.push_back(packs_.sequence(entry.sequence));
    std::stable_sort(out.begin(), out.end(), [](const SequenceView& a, const SequenceView& b) {
      return a.first_token_position() < b.first_token_position();
    });
    return out;
  }

  void write_sample(std::span<const Entry> entries) {
    const std::vector<SequenceView> sample = pieces(entries);
    const bool with_labels = reader_.header().label_kind != static_cast<std::uint8_t>(LabelKind::kAll);
    const std::int32_t tail = sample.back().tail_label();
    std::optional<std::int32_t> last_token;
    if (input_target_ && tail != ignore_) last_token = tail;
    if (input_target_ && tail == ignore_) ++unrestored_;
    // Without labels of its own the file says of every token that it is its label; else it need not be.
    if (last_token && with_labels) ++guessed_;

    std::string& text = out_.buffer();
    text += "{\"input_ids\":[";
    bool first = true;
    const auto comma = [&] {
      if (!first) text += ',';
      first = false;
    };
    for (const SequenceView& piece : sample) {
      const TokenSpan tokens = piece.tokens();
      for (std::size_t i = 0; i < tokens.size(); ++i) {
        comma();
        append_number(text, static_cast<std::int64_t>(tokens[i]));
      }
    }
    if (last_token) {
      comma();
      append_number(text, *last_token);
    }
    text += ']';
    if (with_labels) {
      text += ",\"labels\":[";
      first = true;
      for (const SequenceView& piece : sample) {
        const std::size_t length = piece.tokens().size();
        for (std::size_t i = 0; i < length; ++i) {
          comma();
          append_number(text, piece.stored_label(i));
        }
      }
      if (last_token) {
        comma();
        append_number(text, *last_token);
      }
      text += ']';
    }
    if (tail != ignore_ && !last_token) {
      text += ",\"tail_label\":";
      append_number(text, tail);
      ++tails_;
    }
    if (with_sources_) text += fmt::format(",\"source\":{}", entries.front().source);
    rows_missing_here_ = false;
    for (const std::size_t column : columns_) write_column(text, sample, column, last_token.has_value());
    rows_missing_ += rows_missing_here_ ? 1 : 0;
    text += "}\n";
  }

  void write_column(std::string& text, const std::vector<SequenceView>& sample, std::size_t index,
                    bool last_token_restored) {
    ColumnView column = packs_.column(sample.front().pack(), index);
    text += fmt::format(",\"{}\":", column.name);
    if (column.scope == Scope::kSequence) {
      // Every fragment carries the sample's value.
      if (column.name == "role" && !column.ragged) {
        const auto role = std::to_integer<std::size_t>(column.values[sample.front().index_in_pack()]);
        if (role < roles_.size() && roles_[role].size() <= kLongestRole) {
          text += nlohmann::json(roles_[role]).dump();
          return;
        }
      }
      append_value(text, column, sample.front().index_in_pack());
      return;
    }
    if (last_token_restored) rows_missing_here_ = true;
    text += '[';
    bool first = true;
    for (const SequenceView& piece : sample) {
      column = packs_.column(piece.pack(), index);
      const std::size_t length = piece.tokens().size();
      for (std::size_t i = 0; i < length; ++i) {
        if (!first) text += ',';
        first = false;
        append_value(text, column, piece.first_token_in_pack() + i);
      }
    }
    text += ']';
  }

  /// A row as pack reads it back. Bytes that are no UTF-8 cannot stand in JSON: they come as hex digits.
  void append_value(std::string& text, const ColumnView& column, std::size_t row) {
    if (column.type == ElementType::kBytes && !column.ragged) {
      const format::Bytes bytes = column.values.subspan(row * column.width, column.width);
      const std::string value(reinterpret_cast<const char*>(bytes.data()), bytes.size());
      if (as_utf8(value) == value) {
        text += nlohmann::json(value).dump();
        return;
      }
      ++hex_;
    }
    append_row(text, column, row, true);
  }

  /// As in the input: a name stands in every sample.
  static constexpr std::size_t kLongestRole = 256;

  const Reader& reader_;
  PackCache packs_;
  Output& out_;
  std::int32_t ignore_;
  bool with_sources_;
  std::vector<std::size_t> columns_;
  std::vector<std::string> roles_;
  bool input_target_ = false, metadata_known_ = false;
  std::uint64_t unrestored_ = 0, guessed_ = 0, tails_ = 0, rows_missing_ = 0, hex_ = 0, long_roles_ = 0;
  bool rows_missing_here_ = false;
  std::string left_out_;
};

bool same_file(const std::string& a, const std::string& b) {
  struct stat first {};
  struct stat second {};
  return ::stat(a.c_str(), &first) == 0 && ::stat(b.c_str(), &second) == 0 && first.st_dev == second.st_dev &&
         first.st_ino == second.st_ino;
}

}  // namespace

int run(const ExportArguments& arguments) {
  if (arguments.output != "-" && same_file(arguments.file, arguments.output))
    fail(kUsage, fmt::format("the output {} is the file to export; name another output", arguments.output));
  const Reader reader = open_reader(arguments.file);
  if (arguments.output == "-") {
    Output out;
    Exporter exporter(reader, out, arguments.sources);
    exporter.run();
    out.flush();
    exporter.say_what_is_missing();
    return kDone;
  }
  defer_interrupts();
  NewFile file(arguments.output, arguments.force);
  Exporter exporter(reader, file.out(), arguments.sources);
  exporter.run();
  stop_if_interrupted();
  file.commit();
  exporter.say_what_is_missing();
  return kDone;
}

}  // namespace tokpack::tools
