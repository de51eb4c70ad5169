// The subcommands of `hornbill`. Each adds itself to the parser and returns through its callback.
#pragma once

#include <CLI/CLI.hpp>

#include "all_commands.hpp"

namespace hornbill::cli {

/// Exit codes; `hornbill --help` lists them.
enum ExitCode : int {
  success = 0,
  internal_error = 1,
  usage_error = 2,
  input_error = 3,
  not_converged = 4,
  contradiction = 5,
  no_capacity = 6
};

#define HORNBILL_DECLARE_COMMAND(ADD) void ADD(CLI::App& app, int& exit_code);
HORNBILL_FOR_EACH_COMMAND(HORNBILL_DECLARE_COMMAND)
#undef HORNBILL_DECLARE_COMMAND

}  // namespace hornbill::cli
