// What several subcommands share.
#pragma once

#include <optional>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <hornbill/bp/schedule.hpp>
#include <hornbill/io/model.hpp>

namespace hornbill::cli {

/// A strategy by its name, or that of a schedule in the model's file.
/// \throws InputError listing what there is
bp::Strategy find_strategy(std::string const& name, io::Model const& model, std::string const& file);

/// "parall, seqfix, ..."
std::string built_in_schedules();

nlohmann::json to_json(bp::BatchStatistics const& statistics, double analysis_seconds);

/// "12.3 GiB", "870 B".
std::string human_bytes(double bytes);
/// "1.24 s", "35 ms", "12 us".
std::string human_seconds(double seconds);

/// Whether standard error is a terminal, where progress may be shown.
bool shows_progress();

/// Checks of numbers on the command line, which say what was wrong with them.
CLI::Validator at_least(double least);
CLI::Validator below(double bound);

}  // namespace hornbill::cli
