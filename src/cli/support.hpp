// What several subcommands share.
#pragma once

#include <chrono>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <hornbill/bp/schedule.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/points_to/constraints.hpp>

namespace hornbill::cli {

/// A strategy by its name, or that of a schedule in the model's file.
/// \throws InputError listing what there is
bp::Strategy find_strategy(std::string const& name, Model const& model, std::string const& file);

/// "parall, seqfix, ..."
std::string built_in_schedules();

nlohmann::json to_json(bp::BatchStatistics const& statistics, double analysis_seconds);

/// Prints a line of JSON; bytes that are no UTF-8, which names may hold, are replaced.
void print_json(nlohmann::json const& json);

/// Whether a file holds points-to constraints, not a model.   \throws InputError if it cannot be opened
bool holds_points_to(std::string const& file);

/// "1 factor", "2 factors".   \param noun  that gets an s
std::string counted(std::int64_t count, std::string_view noun);
/// "7 variables, 5 factors, 9 edges" of a graph, "7 variables, 3 objects, 5 constraints" of a system.
std::string sizes_of(HostFactorGraph const& graph);
std::string sizes_of(points_to::ConstraintSystem const& system);
/// "12.3 GiB", "870 B".
std::string human_bytes(double bytes);
/// "1.24 s", "35 ms", "12 us".
std::string human_seconds(double seconds);

using Clock = std::chrono::steady_clock;
inline double seconds_since(Clock::time_point begin) {
  return std::chrono::duration<double>(Clock::now() - begin).count();
}

/// Whether standard error is a terminal, where progress may be shown.
bool shows_progress();

/// Options that do not go together: exit code 2.
class UsageError : public Error {
 public:
  explicit UsageError(std::string const& message) : Error(message) {}
};

/// A file, and the option that names it.
struct NamedFile {
  std::string option, file;  ///< no file: not given
};
/// Checks that no file is written that is read, or written twice; where one is standard output, it is that file's alone
/// (report_on_standard_error).   \throws UsageError naming both options
void keep_apart(std::vector<NamedFile> const& read, std::vector<NamedFile> const& written);

/// Evidence that contradicts itself, where nothing else can be done: exit code 5.
class ContradictionError : public Error {
 public:
  explicit ContradictionError(std::string const& message) : Error(message) {}
};

/// Checks a number on the command line, and says what is wanted of it, e.g. "a number of at least 0".
CLI::Validator number_that(std::function<bool(double)> holds, std::string const& wanted);
CLI::Validator at_least(double least);
/// The backends of this build.
CLI::Validator known_backend();
CLI::Validator not_empty();
/// A file for text: not one whose ending is that of a model, which was hardly meant.
CLI::Validator text_file();
/// Adds an option that takes a number of bytes, also as 512M or 4G.
CLI::Option* add_bytes_option(CLI::App& command, std::string const& name, std::size_t& bytes,
                              std::string const& description);

/// The keys of a map, such as the names of what a model holds.
template <class Map>
std::vector<std::string> names_of(Map const& map) {
  std::vector<std::string> names;
  for (auto const& [name, item] : map) names.push_back(name);
  return names;
}

}  // namespace hornbill::cli
