// tokpack verify: every byte of every file named.
#include "tokpack/core/verify.h"

#include <fmt/format.h>

#include <algorithm>
#include <thread>

#include "command.h"
#include "json.h"
#include "options.h"
#include "text.h"

namespace tokpack::tools {

namespace {

Json finding_json(const Finding& finding) {
  Json json;
  json["code"] = static_cast<std::uint16_t>(finding.code);
  json["error"] = errc_name(finding.code);
  json["section"] = as_utf8(finding.section);
  json["block"] = finding.block ? Json(*finding.block) : Json(nullptr);
  json["pack"] = finding.pack ? Json(*finding.pack) : Json(nullptr);
  json["offset"] = finding.offset == Error::kNoOffset ? Json(nullptr) : Json(finding.offset);
  json["detail"] = as_utf8(finding.detail);
  return json;
}

std::string finding_text(const std::string& path, const Finding& finding) {
  std::string where = finding.section.empty() ? "" : " in " + finding.section;
  if (finding.block) where += fmt::format(", block {}", *finding.block);
  if (finding.pack) where += fmt::format(", pack {}", *finding.pack);
  if (finding.offset != Error::kNoOffset) where += fmt::format(", byte {}", finding.offset);
  return terminal_safe(fmt::format("{}: {}{}: {}", path, errc_name(finding.code), where, finding.detail)) +
         "\n";
}

}  // namespace

int run(const VerifyArguments& arguments) {
  const VerifyOptions options{.threads = arguments.threads != 0
                                             ? arguments.threads
                                             : std::max(1u, std::thread::hardware_concurrency())};
  Output out;
  Json files = Json::array();
  int exit_code = kDone;
  for (const std::string& path : arguments.files) {
    Json findings = Json::array();
    const auto summary = verify(path, options, [&](const Finding& finding) {
      if (arguments.json) {
        findings.push_back(finding_json(finding));
      } else {
        out << finding_text(path, finding);
      }
    });
    Json file = {
        {"file", as_utf8(path)}, {"ok", summary && summary->ok()}, {"findings", std::move(findings)}};
    if (!summary) {
      const std::string text = describe(summary.error(), path);
      file["error"] = as_utf8(text);
      out.flush();
      print_error(text);
      exit_code = kUnusable;
    } else if (!summary->ok()) {
      if (exit_code == kDone) exit_code = kAnswerIsNo;
      if (!arguments.json) {
        out << fmt::format("{}: not ok ({}, {} read)\n", terminal_safe(path),
                           counted(summary->findings, "finding"), human_bytes(summary->bytes));
      }
    } else if (!arguments.json) {
      out << fmt::format("{}: ok ({} read)\n", terminal_safe(path), human_bytes(summary->bytes));
    }
    files.push_back(std::move(file));
  }
  if (arguments.json) {
    Json json;
    if (files.size() == 1) {
      json = std::move(files[0]);
      json.erase("file");
    } else {
      json = {{"ok", exit_code == kDone}, {"files", std::move(files)}};
    }
    print_json(out, json);
  }
  out.flush();
  return exit_code;
}

}  // namespace tokpack::tools
