// Metadata: canonical, and an account that adds up and agrees with the header.
#include <fmt/format.h>

#include <string_view>

#include "tokpack/core/metadata.h"
#include "verify_run.h"

namespace tokpack::detail {

using format::SectionEntry;
using format::SectionKind;

void verify_metadata(VerifyRun& run) {
  const SectionEntry* entry = run.state.layout.find(SectionKind::kMetadata);
  if (entry == nullptr) return;
  std::vector<std::byte> buffer;
  const format::Bytes bytes = bytes_at(run.state, entry->offset, entry->length, buffer);
  const auto characters = format::view<char>(bytes, 0, bytes.size());
  const auto add = [&](Errc code, std::uint64_t offset, std::string detail) {
    run.add({.code = code,
             .section = std::string(entry->name_view()),
             .offset = offset,
             .detail = std::move(detail)});
  };
  const auto metadata = parse_metadata(std::string_view(characters.data(), characters.size()));
  if (!metadata) {
    const Error& error = metadata.error();
    if (error.code == Errc::kOutOfMemory) throw ReadFailure{error};
    add(error.code, entry->offset + (error.offset == Error::kNoOffset ? 0 : error.offset), error.detail);
    return;
  }
  if (!metadata.value().account) return;
  const Account& account = *metadata.value().account;
  if (!adds_up(account)) {
    add(Errc::kAccount, entry->offset,
        "the account does not add up: samples, tokens or sequences in are not the sum "
        "of where they went");
  }
  const auto differ = [&](std::string_view name, std::uint64_t said, std::string_view field,
                          std::uint64_t header) {
    if (said != header) {
      add(Errc::kAccount, entry->offset,
          fmt::format("the account says {} {}, the header {} {}", name, said, field, header));
    }
  };
  differ("samples_in", account.samples_in, "samples", run.header().samples);
  differ("tokens_stored", account.tokens_stored, "tokens", run.header().tokens);
  differ("sequences", account.sequences, "sequences", run.header().sequences);
}

}  // namespace tokpack::detail
