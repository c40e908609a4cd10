// A sampler's state as text, and back. Spec: order.md, section 4.
#include <fmt/format.h>

#include <array>
#include <charconv>
#include <new>
#include <utility>

#include "reader_text.h"
#include "tokpack/core/sampler.h"
#include "tokpack/format/checksum.h"

namespace tokpack {
namespace {

constexpr std::string_view kName = "tokpack-order ", kCheck = " check=";
constexpr std::array<std::string_view, 3> kRemainders = {"drop", "pad", "wrap"};

Error bad_state(std::string detail) { return {Errc::kSamplerState, Error::kNoOffset, std::move(detail)}; }

Error damaged() {
  return bad_state(
      "the sampler's state is damaged: expected one line as to_text() wrote it; take the state of an "
      "older checkpoint, or start the epoch anew");
}

std::uint64_t checksum(std::string_view text) noexcept {
  return format::xxh3_64(std::as_bytes(std::span(text)));
}

/// Reads fields of " name=value" one after another.
class Fields {
 public:
  explicit Fields(std::string_view text) noexcept : rest_(text) {}

  bool good() const noexcept { return good_; }
  bool at_end() const noexcept { return rest_.empty(); }
  std::string_view text(std::string_view name) noexcept {
    if (!good_ || rest_.size() < name.size() + 2 || rest_[0] != ' ' || rest_.substr(1, name.size()) != name ||
        rest_[name.size() + 1] != '=') {
      good_ = false;
      return {};
    }
    rest_.remove_prefix(name.size() + 2);
    const std::string_view value = rest_.substr(0, rest_.find(' '));
    rest_.remove_prefix(value.size());
    return value;
  }
  std::uint64_t number(std::string_view name, int base = 10) noexcept { return parse(text(name), base); }
  std::uint64_t parse(std::string_view value, int base) noexcept {
    std::uint64_t out = 0;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out, base);
    good_ = good_ && error == std::errc() && end == value.data() + value.size() && !value.empty();
    return out;
  }

 private:
  std::string_view rest_;
  bool good_ = true;
};

}  // namespace

std::string to_text(const SamplerState& state) {
  const std::string body =
      fmt::format("{}1 digest={} algorithm=1 seed={} epoch={} cursor={} remainder={} shuffle={} plan={}",
                  kName, to_hex(state.digest), state.seed, state.epoch, state.cursor,
                  kRemainders[static_cast<std::size_t>(state.remainder)], state.shuffle ? 1 : 0, state.plan);
  return fmt::format("{}{}{:016x}", body, kCheck, checksum(body));
}

Result<SamplerState> parse_sampler_state(std::string_view text) try {
  if (text.ends_with('\n')) text.remove_suffix(1);  // as a line of a file ends
  if (text.substr(0, kName.size()) != kName) return damaged();
  std::string_view rest = text.substr(kName.size());
  const std::string_view version = rest.substr(0, rest.find(' '));
  if (version != "1") {
    return bad_state(fmt::format("the sampler's state has version {}, this library reads version 1",
                                 detail::quoted(version)));
  }
  const std::size_t check = text.rfind(kCheck);
  if (check == std::string_view::npos) return damaged();
  Fields sum(text.substr(check));
  const std::uint64_t stored = sum.number("check", 16);
  if (!sum.good() || !sum.at_end() || stored != checksum(text.substr(0, check))) return damaged();

  rest = text.substr(kName.size() + 1, check - kName.size() - 1);
  Fields fields(rest);
  SamplerState state;
  const std::string_view digest = fields.text("digest");
  if (digest.size() != 32) return damaged();
  state.digest.high = fields.parse(digest.substr(0, 16), 16);
  state.digest.low = fields.parse(digest.substr(16), 16);
  const std::uint64_t algorithm = fields.number("algorithm");
  if (fields.good() && algorithm != 1) {
    return bad_state(
        fmt::format("the sampler's state is of algorithm {}, this library knows algorithm 1", algorithm));
  }
  state.seed = fields.number("seed");
  state.epoch = fields.number("epoch");
  state.cursor = fields.number("cursor");
  const std::string_view remainder = fields.text("remainder");
  std::size_t kind = 0;
  while (kind < kRemainders.size() && kRemainders[kind] != remainder) ++kind;
  state.remainder = static_cast<Remainder>(kind);
  state.shuffle = fields.number("shuffle") != 0;
  state.plan = fields.number("plan");
  // One way to write a state: whatever else reads the same was not written by to_text().
  if (!fields.good() || !fields.at_end() || kind == kRemainders.size() || to_text(state) != text)
    return damaged();
  return state;
} catch (const std::bad_alloc&) {
  return detail::out_of_memory("for a sampler's state");
}

}  // namespace tokpack
