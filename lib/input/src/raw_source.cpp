// Raw token arrays as a Source.

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <new>
#include <utility>

#include "array_file.h"
#include "length_list.h"
#include "no_memory.h"
#include "quote.h"
#include "tokpack/format/layout.h"
#include "tokpack/input/raw.h"

namespace tokpack::input {
namespace {

Error error_about(Errc code, const std::string& name, const std::string& text,
                  std::uint64_t offset = Error::kNoOffset) {
  return {code, offset, fmt::format("{}: {}", name, text)};
}

NumberType number_type(ArrayType type) {
  switch (type) {
    case ArrayType::kU16:
      return NumberType::kU16;
    case ArrayType::kU32:
      return NumberType::kU32;
    case ArrayType::kI32:
      return NumberType::kI32;
    case ArrayType::kI64:
      break;
  }
  return NumberType::kI64;
}

/// Ids are below it.
std::uint64_t id_limit(std::uint32_t vocab_size) {
  constexpr std::uint64_t kIds = std::uint64_t{format::kMaxTokenId} + 1;
  return vocab_size == 0 ? kIds : std::min<std::uint64_t>(vocab_size, kIds);
}

/// When every second of the first numbers is 0, as where u32 are read as u16: a question to ask. Nothing for
/// a .npy, which says its type itself.
Result<std::string> doubt_type(ArrayFile& tokens) {
  constexpr std::uint64_t kLookedAt = 1 << 15;
  constexpr std::uint64_t kFewest = 8;  // fewer say nothing
  const NumberType type = tokens.type();
  const std::uint64_t count = std::min(tokens.count(), kLookedAt);
  if (tokens.has_header() || number_bytes(type) > 4 || count < kFewest) return std::string();
  std::uint64_t index = 0;
  bool odd_zero = true, even_zero = true;
  auto read = tokens.for_each(
      0, count, [&](std::int64_t value) { (index++ % 2 == 0 ? even_zero : odd_zero) &= value == 0; });
  if (!read) return read.error();
  if (!odd_zero || even_zero) return std::string();
  return fmt::format("every second id of the first {} is 0: is the type {} right, or are they {}?", count,
                     number_type_name(type), type == NumberType::kU16 ? "u32" : "i64");
}

class RawSource final : public Source {
 public:
  RawSource(ArrayFile tokens, std::optional<ArrayFile> mask, std::optional<LengthList> lengths,
            RawOptions options, std::string doubt)
      : tokens_(std::move(tokens)),
        mask_(std::move(mask)),
        lengths_(std::move(lengths)),
        options_(std::move(options)),
        limit_(id_limit(options_.vocab_size)),
        doubt_(std::move(doubt)) {
    if (!doubt_.empty()) note(Note::Kind::kWiderNumbers, doubt_);
  }

  Result<const SampleBatch*> next() override {
    try {
      if (error_) return *error_;
      auto batch = next_batch();
      if (!batch) error_ = batch.error();
      return batch;
    } catch (const std::bad_alloc&) {
      error_ = no_memory(tokens_.name(), "to read on");
      return no_memory(tokens_.name(), "to read on");
    }
  }

  Progress progress() const override { return {tokens_.byte_of(done_), tokens_.byte_of(tokens_.count())}; }
  std::vector<ColumnSpec> columns() const override { return {}; }
  bool has_groups() const override { return false; }
  std::vector<std::string> roles() const override { return {}; }
  std::vector<Note> notes() const override { return notes_; }
  std::string where(std::uint64_t index) const override {
    return fmt::format("{}, sample {}", tokens_.name(), index);
  }

 private:
  Result<const SampleBatch*> next_batch() {
    batch_.lengths.clear();
    batch_.tokens.clear();
    auto cut = lengths_ ? take_by_lengths() : take_by_document_end();
    if (!cut) return cut.error();
    if (batch_.lengths.empty()) return nullptr;
    if (mask_) {
      if (auto read = read_mask(); !read) return read.error();
    }
    done_ += batch_.tokens.size();
    return &batch_;
  }

  /// Their sum was found to be the tokens' count when the source was opened.
  Result<void> take_by_lengths() {
    std::uint64_t sum = 0;
    while (sum < options_.batch_tokens && batch_.lengths.size() < kMaxSamples) {
      auto length = lengths_->next();
      if (!length) return length.error();
      if (!*length) break;
      if (**length > tokens_.count() - done_ - sum) {
        return error_about(Errc::kFileChanged, lengths_->name(), "its lengths changed while it was read");
      }
      batch_.lengths.push_back(**length);
      sum += **length;
    }
    return read_tokens(done_, sum);
  }

  Result<void> take_by_document_end() {
    const std::uint32_t end_id = *options_.document_end;
    std::size_t scanned = 0, begin = 0;
    batch_.tokens.swap(carry_);
    carry_.clear();
    while (true) {
      const std::uint64_t at = done_ + batch_.tokens.size();
      const std::uint64_t wanted =
          std::min(tokens_.count() - at, std::max<std::uint64_t>(options_.batch_tokens, 1));
      if (auto read = read_tokens(at, wanted); !read) return read;
      for (; scanned < batch_.tokens.size(); ++scanned) {
        if (batch_.tokens[scanned] != end_id) continue;
        batch_.lengths.push_back(static_cast<std::uint32_t>(scanned + 1 - begin));
        begin = scanned + 1;
      }
      const bool at_end = at + wanted == tokens_.count();
      ended_documents_ |= begin > 0;
      if (at_end && begin < batch_.tokens.size()) {  // a tail without its end is a document
        if (!ended_documents_) return no_document_end(end_id);
        note(Note::Kind::kUnendedDocument,
             fmt::format("the last document, {} token{}, does not end in the document end {}; is the file "
                         "whole? It is packed as it is",
                         batch_.tokens.size() - begin, batch_.tokens.size() - begin == 1 ? "" : "s", end_id));
        batch_.lengths.push_back(static_cast<std::uint32_t>(batch_.tokens.size() - begin));
        begin = batch_.tokens.size();
      }
      if (batch_.tokens.size() - begin > format::kMaxTokenId) {
        return error_about(Errc::kTooLarge, tokens_.name(),
                           fmt::format("no document end {} within {} tokens; is the id right?", end_id,
                                       batch_.tokens.size() - begin));
      }
      if (at_end || !batch_.lengths.empty()) break;
    }
    carry_.assign(batch_.tokens.begin() + static_cast<std::ptrdiff_t>(begin), batch_.tokens.end());
    batch_.tokens.resize(begin);
    return {};
  }

  void note(Note::Kind kind, const std::string& text) {
    notes_.push_back({kind, fmt::format("{}: {}", tokens_.name(), text)});
  }

  Error no_document_end(std::uint32_t end_id) const {
    return error_about(
        Errc::kInputArray, tokens_.name(),
        fmt::format("the document end {} never occurs in {} token{}, so there is nothing to cut "
                    "at; give the id that ends documents, or a list of lengths{}{}",
                    end_id, tokens_.count(), tokens_.count() == 1 ? "" : "s",
                    doubt_.empty() ? "" : ". Also, ", doubt_));
  }

  Result<void> read_tokens(std::uint64_t first, std::uint64_t count) {
    const std::size_t base = batch_.tokens.size();
    batch_.tokens.resize(base + static_cast<std::size_t>(count));
    auto good = tokens_.read_ids(first, count, limit_, batch_.tokens.data() + base);
    if (!good) return good.error();
    if (*good) return {};
    std::uint64_t index = first, wrong = 0;
    std::optional<std::int64_t> wrong_value;
    auto read = tokens_.for_each(first, count, [&](std::int64_t value) {
      if (static_cast<std::uint64_t>(value) >= limit_ && !wrong_value) {
        wrong_value = value;
        wrong = index;
      }
      ++index;
    });
    if (!read) return read;
    if (!wrong_value) return error_about(Errc::kFileChanged, tokens_.name(), "it changed while it was read");
    return error_about(Errc::kInputArray, tokens_.name(),
                       fmt::format("token {}: expected an id from 0 to {}, found {}; is the type {} right?",
                                   wrong, limit_ - 1, *wrong_value, number_type_name(tokens_.type())),
                       tokens_.byte_of(wrong));
  }

  Result<void> read_mask() {
    batch_.label_form = SampleBatch::Labels::kMask;
    batch_.loss_mask.clear();
    std::uint64_t index = done_, wrong = 0;
    std::optional<std::int64_t> wrong_value;
    auto read = mask_->for_each(done_, batch_.tokens.size(), [&](std::int64_t value) {
      if (value > 1 && !wrong_value) {
        wrong_value = value;
        wrong = index;
      }
      ++index;
      batch_.loss_mask.push_back(static_cast<std::uint8_t>(value));
    });
    if (!read || !wrong_value) return read;
    return error_about(Errc::kInputArray, mask_->name(),
                       fmt::format("token {}: expected 0 or 1, found {}", wrong, *wrong_value),
                       mask_->byte_of(wrong));
  }

  static constexpr std::size_t kMaxSamples = 1 << 20;  // per batch: empty samples have no tokens to bound it

  ArrayFile tokens_;
  std::optional<ArrayFile> mask_;
  std::optional<LengthList> lengths_;
  RawOptions options_;
  std::uint64_t limit_;
  std::string doubt_;  // about the type; empty when there is none
  std::vector<Note> notes_;
  bool ended_documents_ = false;
  SampleBatch batch_;
  std::vector<std::uint32_t> carry_;  // tokens read beyond the last cut
  std::uint64_t done_ = 0;            // tokens of all batches so far
  std::optional<Error> error_;
};

/// The lengths must use up the tokens exactly; said before anything is delivered.
Result<void> check_sum(LengthList list, const ArrayFile& tokens, const std::string& doubt) {
  std::uint64_t sum = 0, samples = 0;
  while (true) {
    auto length = list.next();
    if (!length) return length.error();
    if (!*length) break;
    sum += **length;  // 2^31 lengths of 2^31 do not wrap
    ++samples;
    if (samples > (std::uint64_t{1} << 32)) break;
  }
  if (sum == tokens.count()) return {};
  return error_about(Errc::kInputArray, list.name(),
                     fmt::format("{} length{} make {} token{}, but {} holds {}{}{}", samples,
                                 samples == 1 ? "" : "s", sum, sum == 1 ? "" : "s", tokens.name(),
                                 tokens.count(), doubt.empty() ? "" : "; in it ", doubt));
}

Result<std::unique_ptr<Source>> open_checked(const std::string& path, const RawOptions& options) {
  const std::string name = escaped_name(path);
  if (options.lengths_path.empty() == !options.document_end) {
    return error_about(
        Errc::kOptions, name,
        "a raw array is cut into samples by a lengths file or by an end-of-document id; give one of "
        "the two");
  }
  std::optional<NumberType> type;
  if (options.type) type = number_type(*options.type);
  auto tokens = ArrayFile::open(path, type, options.header_bytes);
  if (!tokens) return tokens.error();
  if (type && tokens->type() != *type) {
    return error_about(Errc::kInputArray, name,
                       fmt::format("expected {}, the .npy header says {}", number_type_name(*type),
                                   number_type_name(tokens->type())));
  }
  constexpr std::array kTokenTypes = {NumberType::kU16, NumberType::kU32, NumberType::kI32, NumberType::kI64};
  if (std::ranges::find(kTokenTypes, tokens->type()) == kTokenTypes.end()) {
    return error_about(Errc::kInputArray, name,
                       fmt::format("expected token ids of u16, u32, i32 or i64, found {}",
                                   number_type_name(tokens->type())));
  }
  auto doubt = doubt_type(*tokens);
  if (!doubt) return doubt.error();
  std::optional<ArrayFile> mask;
  if (!options.loss_mask_path.empty()) {
    auto opened = ArrayFile::open(options.loss_mask_path, NumberType::kU8, 0);
    if (!opened) return opened.error();
    if (opened->type() != NumberType::kU8 && opened->type() != NumberType::kBool) {
      return error_about(
          Errc::kInputArray, opened->name(),
          fmt::format("expected a mask of bool or u8, found {}", number_type_name(opened->type())));
    }
    if (opened->count() != tokens->count()) {
      return error_about(
          Errc::kInputArray, opened->name(),
          fmt::format("the loss mask has {} element{}, {} holds {} token{}; both must be equal",
                      opened->count(), opened->count() == 1 ? "" : "s", name, tokens->count(),
                      tokens->count() == 1 ? "" : "s"));
    }
    mask = std::move(*opened);
  }
  std::optional<LengthList> lengths;
  if (!options.lengths_path.empty()) {
    auto first_pass = LengthList::open(options.lengths_path);
    if (!first_pass) return first_pass.error();
    if (auto sum = check_sum(std::move(*first_pass), *tokens, *doubt); !sum) return sum.error();
    auto second_pass = LengthList::open(options.lengths_path);
    if (!second_pass) return second_pass.error();
    lengths = std::move(*second_pass);
  }
  return std::unique_ptr<Source>(std::make_unique<RawSource>(std::move(*tokens), std::move(mask),
                                                             std::move(lengths), options, std::move(*doubt)));
}

}  // namespace

Result<std::unique_ptr<Source>> open_raw(const std::string& path, const RawOptions& options) {
  try {
    return open_checked(path, options);
  } catch (const std::bad_alloc&) {
    return no_memory(path, "to open it");
  }
}

}  // namespace tokpack::input
