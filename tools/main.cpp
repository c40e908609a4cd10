// tokpack: packs tokenised samples into .tpk files, and shows, checks and unpacks them.
#include <exception>
#include <new>
#include <variant>

#include "command.h"
#include "interrupt.h"
#include "options.h"

namespace {

template <typename... Functions>
struct Overloaded : Functions... {
  using Functions::operator()...;
};
template <typename... Functions>
Overloaded(Functions...) -> Overloaded<Functions...>;

}  // namespace

int main(int argc, char** argv) {
  using namespace tokpack::tools;
  occupy_standard_descriptors();
  install_signal_handlers();
  try {
    const Parsed parsed = parse_command_line(argc, argv);
    return std::visit(Overloaded{[](int exit_code) { return exit_code; },
                                 [](const auto& arguments) { return run(arguments); }},
                      parsed);
  } catch (const Failure& failure) {
    if (!failure.message.empty()) print_error(failure.message, failure.name);
    return failure.exit_code;
  } catch (const std::bad_alloc&) {
    print_error("out of memory");
  } catch (const std::exception& exception) {
    print_error(exception.what());
  }
  return kUnusable;
}
