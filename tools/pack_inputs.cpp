#include "pack_inputs.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <charconv>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>

#include "command.h"
#include "text.h"
#include "tokpack/format/checksum.h"

namespace tokpack::tools {

namespace {

constexpr double kMostRepeats = 1e6;

struct Factored {
  std::string path;
  double factor = 1;
};

/// fraction * 2^64, for fractions below 1.
std::uint64_t threshold(double fraction) { return static_cast<std::uint64_t>(std::ldexp(fraction, 64)); }

/// The last '@' followed by a number is a factor.
Factored split_factor(const std::string& text) {
  const std::size_t at = text.rfind('@');
  if (at == std::string::npos || at == 0 || at + 1 == text.size()) return {text, 1};
  for (std::size_t i = at + 1; i < text.size(); ++i)
    if (text[i] != '.' && (text[i] < '0' || text[i] > '9')) return {text, 1};
  double factor = 0;
  const char* end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data() + at + 1, end, factor, std::chars_format::fixed);
  if (error != std::errc{} || stop != end) return {text, 1};
  if (!(factor > 0) || factor > kMostRepeats || (factor < 1 && threshold(factor) == 0)) {
    fail(kUsage,
         fmt::format("{}: expected a factor above 0 (1e-19 at least) and up to {:.0f} after '@', found '{}'",
                     text, kMostRepeats, text.substr(at + 1)));
  }
  return {text.substr(0, at), factor};
}

/// A hint for a name that is no file and looks as if a factor was meant.
std::string no_factor(const std::string& path) {
  const std::size_t at = path.rfind('@');
  if (at == std::string::npos || at + 1 == path.size()) return {};
  const std::string text = path.substr(at + 1);
  if (text.find_first_not_of("+-.0123456789eE_,") != std::string::npos) return {};
  return fmt::format(" ('{}' is no factor: after '@' one is written in digits, like 2 or 0.5)", text);
}

bool named_raw(const std::string& path) { return path.ends_with(".bin") || path.ends_with(".npy"); }

/// A .npy by its first bytes, whatever its name. What cannot be read is told of when it is opened.
bool is_npy(const std::string& path) {
  constexpr std::string_view kMagic = "\x93NUMPY";
  std::array<char, kMagic.size()> head{};
  std::ifstream(path, std::ios::binary).read(head.data(), head.size());
  return std::string_view(head.data(), head.size()) == kMagic;
}

struct FileIdentity {
  dev_t device;
  ino_t inode;
  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

std::optional<FileIdentity> identity(const std::string& path) {
  struct stat status {};
  if ((path == "-" ? ::fstat(0, &status) : ::stat(path.c_str(), &status)) != 0) return std::nullopt;
  return FileIdentity{status.st_dev, status.st_ino};
}

/// Whether two paths lead to one file, be it there already or not: then by the folder and the name in it.
bool one_file(const std::string& a, const std::string& b) {
  if (const auto there = identity(a); there && there == identity(b)) return true;
  const std::filesystem::path first(a);
  const std::filesystem::path second(b);
  const auto folder = [](const std::filesystem::path& path) {
    const std::string parent = path.parent_path().string();
    return identity(parent.empty() ? "." : parent);
  };
  return first.filename() == second.filename() && folder(first) && folder(first) == folder(second);
}

void check_outputs(const PackArguments& a, std::span<const InputPass> passes) {
  std::vector<std::string> read;
  for (const InputPass& pass : passes) read.push_back(pass.path);
  read.insert(read.end(), a.lengths.begin(), a.lengths.end());
  read.insert(read.end(), a.loss_mask_files.begin(), a.loss_mask_files.end());
  if (!a.tokenizer_file.empty()) read.push_back(a.tokenizer_file);
  for (const std::string* output : {&a.output, &a.holdout_output}) {
    if (!output->empty()) check_output_path(*output, "name a file to write");
    const auto target = output->empty() ? std::nullopt : identity(*output);
    for (const std::string& path : read) {
      if (target && identity(path) == target) {
        fail(kUsage,
             fmt::format("the output {} is the input {}: packing would replace what it reads; name another "
                         "output",
                         *output, path));
      }
    }
  }
  if (!a.holdout_output.empty() && one_file(a.output, a.holdout_output)) {
    fail(kUsage, fmt::format("--output and --holdout-out ({}) are the same file, {}; name two",
                             a.holdout_output, a.output));
  }
}

void check_raw_options(const PackArguments& a, std::span<const InputPass> passes, std::size_t raw_inputs) {
  const auto one_each = [&](const std::vector<std::string>& files, std::string_view option) {
    if (!files.empty() && files.size() != raw_inputs) {
      fail(kUsage, fmt::format("{} is given {} for {} (.bin, .npy); give it once for each, in order", option,
                               counted(files.size(), "time"), counted(raw_inputs, "raw input")));
    }
  };
  if (raw_inputs == 0) {
    if (a.document_end || a.array_type || a.header_bytes != 0 || !a.lengths.empty() ||
        !a.loss_mask_files.empty()) {
      fail(kUsage,
           "--lengths, --document-end, --array-type, --header-bytes and --loss-mask-file are for raw inputs, "
           "and there is none: the name "
           "decides, it ends in .bin or .npy; rename the file or give it a link with such a name");
    }
    return;
  }
  one_each(a.lengths, "--lengths");
  one_each(a.loss_mask_files, "--loss-mask-file");
  if (a.lengths.empty() && !a.document_end) {
    fail(kUsage,
         "a raw input (.bin, .npy) needs --lengths PATH or --document-end ID to say where samples end");
  }
  if (!a.lengths.empty() && a.document_end) {
    fail(kUsage,
         fmt::format("--lengths {} and --document-end {} both say where the samples of raw inputs end; give "
                     "one of the two",
                     a.lengths.front(), *a.document_end));
  }
  const std::string& path = first_raw(passes)->path;
  const auto brings_none = [&path](std::string_view what, std::string_view option) {
    fail(kUsage, fmt::format("{} is a raw input, which brings no {}, so {} is not possible with it; pack the "
                             "JSON lines on their own",
                             path, what, option));
  };
  if (!a.columns.empty()) brings_none("columns", fmt::format("--column {}", a.columns.front().name));
  if (!a.mask_fields.empty()) brings_none("fields", fmt::format("--mask-field {}", a.mask_fields.front()));
  if (a.group_field && !a.group_field->empty())
    brings_none("groups", fmt::format("--group-field {}", *a.group_field));
}

std::uint64_t hash_numbers(std::span<const std::uint64_t> numbers) {
  return format::xxh3_64(std::as_bytes(numbers));
}

}  // namespace

const InputPass* first_raw(std::span<const InputPass> passes) {
  const auto found =
      std::find_if(passes.begin(), passes.end(), [](const InputPass& pass) { return pass.raw; });
  return found == passes.end() ? nullptr : &*found;
}

std::vector<InputPass> expand_inputs(const PackArguments& a) {
  std::vector<InputPass> passes;
  std::size_t raw_inputs = 0;
  bool standard_input = false;
  for (const std::string& text : a.inputs) {
    const Factored input = split_factor(text);
    const auto full_passes = static_cast<std::uint64_t>(input.factor);
    const double rest = input.factor - static_cast<double>(full_passes);
    const bool several = full_passes + (rest > 0 ? 1u : 0u) > 1;
    InputPass pass{.path = input.path, .raw = named_raw(input.path)};
    bool regular = false;
    if (input.path == "-") {
      if (standard_input) fail(kUsage, "standard input ('-') is named twice, and can be read only once");
      standard_input = true;
    } else {
      struct stat status {};
      if (::stat(input.path.c_str(), &status) != 0)
        fail(kUnusable,
             fmt::format("{}: cannot open: {}{}", input.path, std::strerror(errno), no_factor(input.path)));
      regular = S_ISREG(status.st_mode);
      if (regular) pass.file_size = static_cast<std::uint64_t>(status.st_size);
      if (regular && status.st_size == 0 && input.path.ends_with(".npy"))
        fail(kUnusable, fmt::format("{}: empty file: expected the header of a .npy array", input.path));
    }
    if (regular && !pass.raw) pass.raw = is_npy(input.path);
    if (pass.raw) pass.raw_index = raw_inputs++;
    if (several && !regular) {
      fail(kUsage,
           fmt::format("{} is not a regular file, so it can be read only once; use a factor of at most 1",
                       input.path == "-" ? "standard input" : input.path));
    }
    for (std::uint64_t i = 0; i < full_passes; ++i) {
      pass.number = passes.size();
      passes.push_back(pass);
      pass.first_of_input = false;
    }
    if (rest > 0) {
      pass.number = passes.size();
      pass.keep = rest;
      passes.push_back(pass);
    }
  }
  check_raw_options(a, passes, raw_inputs);
  check_outputs(a, passes);
  return passes;
}

Selector::Selector(double holdout) : holdout_threshold_(threshold(holdout)) {
  if (holdout > 0 && holdout_threshold_ == 0) {
    fail(kUsage,
         fmt::format("--holdout {}: so small a share holds nothing out; expected at least 1e-17 per cent",
                     holdout * 100));
  }
}

void Selector::begin_pass(const InputPass& pass) {
  keep_all_ = pass.keep >= 1;
  keep_threshold_ = keep_all_ ? 0 : threshold(pass.keep);
  in_group_ = false;
  pass_ = pass.number;
  next_index_ = 0;
}

std::span<const Fate> Selector::decide(const input::SampleBatch& batch) {
  if (keep_all_ && holdout_threshold_ == 0) {
    next_index_ += batch.samples();
    return {};
  }
  fates_.clear();
  std::size_t first_token = 0;
  for (std::size_t i = 0; i < batch.samples(); ++i) {
    const std::size_t length = batch.lengths[i];
    const std::uint64_t index = next_index_++;
    const bool grouped = !batch.groups.empty();
    Fate fate = Fate::kPack;
    const bool same_group = grouped && in_group_ && batch.groups[i] == last_group_;
    if (same_group && group_decided_) {
      fate = last_fate_;
    } else if (!same_group && !keep_all_ && hash_numbers(std::array{index}) >= keep_threshold_) {
      fate = Fate::kSkip;
    } else if (holdout_threshold_ != 0 && length > 0) {
      // Ids as u32, whatever the width that the file will have. An empty sample holds nothing to hold out.
      const auto ids = std::span(batch.tokens).subspan(first_token, length);
      if (format::xxh3_64(std::as_bytes(ids)) < holdout_threshold_) fate = Fate::kHoldOut;
    }
    if (grouped) {
      in_group_ = true;
      last_group_ = batch.groups[i];
      last_fate_ = fate;
      // Empty members say nothing of whether the others are held out.
      group_decided_ = (same_group && group_decided_) || length > 0 || fate == Fate::kSkip;
    }
    fates_.push_back(fate);
    first_token += length;
  }
  return fates_;
}

std::span<const std::uint64_t> Selector::groups(const input::SampleBatch& batch) {
  if (pass_ == 0 || batch.groups.empty()) return batch.groups;
  groups_.clear();
  for (const std::uint64_t key : batch.groups) groups_.push_back(hash_numbers(std::array{key, pass_}));
  return groups_;
}

}  // namespace tokpack::tools
