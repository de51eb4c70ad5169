// hornbill: the command-line program.
#include <algorithm>
#include <cstdio>
#include <sstream>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <fmt/format.h>

#include <hornbill/config.hpp>
#include <hornbill/error.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "processes.hpp"
#include "support.hpp"

namespace {

constexpr char const* footer =
    "Start with:\n"
    "  hornbill generate --like xalan graph.h5        a derivation graph of real size\n"
    "  hornbill lbp graph.h5 --top alarms             its ten most probable alarms\n"
    "\n"
    "Exit codes: 0 done; 1 internal error; 2 wrong usage; 3 bad input, or output that cannot be written; 4 stopped at\n"
    "a limit before what was asked for; 5 the evidence contradicts itself, or nothing is possible at all; 6 too large\n"
    "for the device or for memory.";

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

/// What the parser has to say: help and the version go to standard output, and are a success.
int answer_from_parser(CLI::App const& app, CLI::ParseError const& e) {
  std::ostringstream out, error;
  bool const is_success = app.exit(e, out, error) == 0;
  cli::write_out("{}", out.str());
  fmt::print(stderr, "{}", error.str());
  return is_success ? cli::success : cli::usage_error;
}

int parse_and_run(CLI::App& app, int argc, char** argv, int const& exit_code) {
  try {
    app.parse(argc, argv);
    return exit_code;
  } catch (CLI::ParseError const& e) {
    return answer_from_parser(app, e);
  }
}

int run(int argc, char** argv) {
  cli::open_standard_streams();
  cli::report_files_that_are_full();
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
    int const code = parse_and_run(app, argc, argv, exit_code);
    cli::flush_output();
    return code;
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
