// hornbill: the command-line program.
#include <algorithm>
#include <cstdio>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <fmt/format.h>

#include <hornbill/config.hpp>
#include <hornbill/error.hpp>

#include "commands.hpp"
#include "processes.hpp"
#include "support.hpp"

namespace {

constexpr char const* footer =
    "Start with:\n"
    "  hornbill generate --like xalan graph.h5        a derivation graph of real size\n"
    "  hornbill lbp graph.h5 --top alarms             its ten most probable alarms\n"
    "\n"
    "Exit codes: 0 done; 1 internal error; 2 wrong usage; 3 bad input; 4 stopped at a limit before what was asked "
    "for;\n"
    "5 the evidence contradicts itself, or nothing is possible at all; 6 too large for the device.";

int fail(int code, char const* message) {
  fmt::print(stderr, "hornbill: {}\n", message);
  return code;
}

namespace cli = hornbill::cli;

std::vector<std::string> names_of_commands(CLI::App const& app) {
  std::vector<std::string> names;
  for (auto const* command : app.get_subcommands({})) names.push_back(command->get_name());
  return names;
}

int run(int argc, char** argv) {
  CLI::App app{"Probabilistic inference over the graphs that program analyses produce"};
  app.set_version_flag("--version", HORNBILL_VERSION);
  app.require_subcommand(1);
  app.footer(footer);
  int exit_code = cli::success;
#define HORNBILL_ADD_COMMAND(ADD) cli::ADD(app, exit_code);
  HORNBILL_FOR_EACH_COMMAND(HORNBILL_ADD_COMMAND)
#undef HORNBILL_ADD_COMMAND
  if (auto const commands = names_of_commands(app);
      argc > 1 && argv[1][0] != '-' && std::find(commands.begin(), commands.end(), argv[1]) == commands.end())
    return fail(cli::usage_error,
                fmt::format("there is no command '{}'; there are {}", argv[1], fmt::join(commands, ", ")).c_str());
  try {
    app.parse(argc, argv);
    return exit_code;
  } catch (CLI::ParseError const& e) {
    return app.exit(e) == 0 ? cli::success : cli::usage_error;
  } catch (cli::UsageError const& e) {
    return fail(cli::usage_error, e.what());
  } catch (cli::ContradictionError const& e) {
    return fail(cli::contradiction, e.what());
  } catch (hornbill::CapacityError const& e) {
    return fail(cli::no_capacity, e.what());
  } catch (hornbill::Error const& e) {
    return fail(cli::input_error, e.what());
  } catch (std::bad_alloc const&) {
    return fail(cli::no_capacity, "out of memory");
  } catch (std::exception const& e) {
    return fail(cli::internal_error, e.what());
  }
}

}  // namespace

int main(int argc, char** argv) { return cli::leave_processes(run(argc, argv)); }
