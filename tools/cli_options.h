// Options of the command line, read strictly. Includes the argument parser, which costs many seconds to
// compile: for cli.cpp and cli_pack.cpp only.
//
// Errors: CLI::ValidationError, naming the option, what was expected and what was found.
//
//   number_option<unsigned>(verb, "--threads", arguments.threads, 0u, 1024u, "Threads", "T");
#pragma once

#include <CLI/CLI.hpp>
#include <charconv>
#include <string>
#include <utility>
#include <vector>

#include "options.h"

namespace tokpack::tools {

[[noreturn]] inline void refuse(const std::string& option, const std::string& what) {
  throw CLI::ValidationError(option, what);
}

/// A whole decimal number in a range; no sign but minus, no spaces, no octal.
template <typename Number>
Number parse_number(const std::string& option, const std::string& text, Number least, Number most) {
  Number value{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size() || value < least || value > most)
    refuse(option, "expected a whole number from " + std::to_string(least) + " to " + std::to_string(most) +
                       ", found '" + text + "'");
  return value;
}

template <typename Number, typename Target>
CLI::Option* number_option(CLI::App* app, const std::string& name, Target& target, Number least, Number most,
                           const std::string& help, const std::string& type = "N") {
  return app
      ->add_option_function<std::string>(
          name,
          [name, &target, least, most](const std::string& text) {
            target = parse_number<Number>(name, text, least, most);
          },
          help)
      ->type_name(type);
}

template <typename Target, typename Value>
CLI::Option* choice_option(CLI::App* app, const std::string& name, Target& target,
                           const std::vector<std::pair<std::string, Value>>& choices,
                           const std::string& help) {
  std::string list;
  for (const auto& [word, value] : choices) list += (list.empty() ? "" : "|") + word;
  return app
      ->add_option_function<std::string>(
          name,
          [name, &target, choices, list](const std::string& text) {
            for (const auto& [word, value] : choices) {
              if (word == text) {
                target = value;
                return;
              }
            }
            refuse(name, "expected " + list + ", found '" + text + "'");
          },
          help)
      ->type_name(list);
}

/// The verb pack and all its options.
void add_pack(CLI::App& app, PackArguments& a);

}  // namespace tokpack::tools
