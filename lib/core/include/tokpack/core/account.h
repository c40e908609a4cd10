// The account: where every sample and every token of the input went. `verify` checks that it adds up.
//
//   samples_in = samples_packed + samples_empty + samples_dropped + samples_held_out + samples_skipped
//   tokens_in  = tokens_stored + tokens_dropped + tokens_held_out + tokens_skipped + tokens_target_only
//   sequences  = samples_packed + extra_fragments
//
// Threads: a value.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>

namespace tokpack {

struct Account {
  std::uint64_t samples_in = 0;  ///< repeated samples count each time
  std::uint64_t samples_packed = 0;
  std::uint64_t samples_empty = 0;
  std::uint64_t samples_dropped = 0;  ///< overlong under drop, untrainable, nothing to store
  std::uint64_t samples_held_out = 0;
  std::uint64_t samples_skipped = 0;  ///< left out by a factor below 1
  std::uint64_t tokens_in = 0;
  std::uint64_t tokens_stored = 0;
  std::uint64_t tokens_dropped = 0;  ///< truncated tails included
  std::uint64_t tokens_held_out = 0;
  std::uint64_t tokens_skipped = 0;
  std::uint64_t tokens_target_only = 0;  ///< last tokens kept only as tail labels
  std::uint64_t sequences = 0;
  std::uint64_t extra_fragments = 0;
  std::uint64_t samples_split = 0;
  std::uint64_t samples_truncated = 0;
  std::uint64_t samples_without_targets = 0;  ///< packed samples that contribute no training target
  std::uint64_t labels_lost = 0;  ///< targets of packed samples, as given, that no sequence carries

  friend bool operator==(const Account&, const Account&) = default;
};

/// Every field with the name it has in JSON, in one place for writer, verify and dump.
struct AccountField {
  std::string_view name;
  std::uint64_t Account::*member;
};
inline constexpr std::array<AccountField, 18> kAccountFields = {{
    {"samples_in", &Account::samples_in},
    {"samples_packed", &Account::samples_packed},
    {"samples_empty", &Account::samples_empty},
    {"samples_dropped", &Account::samples_dropped},
    {"samples_held_out", &Account::samples_held_out},
    {"samples_skipped", &Account::samples_skipped},
    {"tokens_in", &Account::tokens_in},
    {"tokens_stored", &Account::tokens_stored},
    {"tokens_dropped", &Account::tokens_dropped},
    {"tokens_held_out", &Account::tokens_held_out},
    {"tokens_skipped", &Account::tokens_skipped},
    {"tokens_target_only", &Account::tokens_target_only},
    {"sequences", &Account::sequences},
    {"extra_fragments", &Account::extra_fragments},
    {"samples_split", &Account::samples_split},
    {"samples_truncated", &Account::samples_truncated},
    {"samples_without_targets", &Account::samples_without_targets},
    {"labels_lost", &Account::labels_lost},
}};

/// True when the three equations above hold (checked by subtraction: no sum can wrap).
bool adds_up(const Account& account) noexcept;

}  // namespace tokpack
