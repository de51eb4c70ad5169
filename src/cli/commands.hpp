// The subcommands of `hornbill`, one a file. Each adds itself to the parser and returns through its callback.
#pragma once

#include <CLI/CLI.hpp>

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

void add_generate(CLI::App& app, int& exit_code);
void add_clauses(CLI::App& app, int& exit_code);
void add_info(CLI::App& app, int& exit_code);
void add_convert(CLI::App& app, int& exit_code);
void add_schedule(CLI::App& app, int& exit_code);
void add_lbp(CLI::App& app, int& exit_code);
void add_rank(CLI::App& app, int& exit_code);
void add_explain(CLI::App& app, int& exit_code);
void add_learn(CLI::App& app, int& exit_code);
void add_dpop(CLI::App& app, int& exit_code);
void add_map(CLI::App& app, int& exit_code);
void add_partition(CLI::App& app, int& exit_code);
void add_marginals(CLI::App& app, int& exit_code);
void add_serve(CLI::App& app, int& exit_code);

}  // namespace hornbill::cli
