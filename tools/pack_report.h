// What `pack` says at the end: the account, and advice when there is reason for it.
#pragma once

#include <optional>
#include <string>

#include "command.h"
#include "options.h"
#include "tokpack/core/writer.h"

namespace tokpack::tools {

/// The account as two columns, samples and tokens; rows that are zero are left out.
std::string account_text(const Account& account);

/// What pack decided from the samples, as it stands in the file.
struct FileKinds {
  LabelKind labels{};
  ElementType tokens{};
};
/// Nothing when the file under that name is no longer the one that was written.
std::optional<FileKinds> kinds_of(const std::string& path, const WriteSummary& summary);

void print_summary(Output& out, const std::string& path, const PackArguments& arguments,
                   const WriteSummary& summary);

/// Warnings on standard error: samples that train nothing, lost labels, poor utilization and what to do.
void advise(const std::string& path, const PackArguments& arguments, const WriteSummary& summary);

}  // namespace tokpack::tools
