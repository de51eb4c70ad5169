#include "support.hpp"

#include <unistd.h>

#include <algorithm>

#include <fmt/format.h>

#include <hornbill/backend/registry.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/constraint_file.hpp>
#include <hornbill/io/cost_network_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>

#include "output.hpp"

namespace hornbill::cli {

bp::Strategy find_strategy(std::string const& name, Model const& model, std::string const& file) {
  if (auto const strategy = bp::strategy_named(name)) {
    if (model.schedules.contains(name))
      throw InputError(file, "/schedules/" + name,
                       fmt::format("has the name of a built-in schedule: give it another name (built in are {})",
                                   built_in_schedules()));
    return *strategy;
  }
  if (auto stored = model.schedules.find(name); stored != model.schedules.end()) return bp::Custom{stored->second};
  std::string known = built_in_schedules();
  for (auto const& [stored, schedule] : model.schedules) known += ", " + stored;
  throw InputError(file, "/schedules", fmt::format("there is no schedule '{}'; there are {}", name, known));
}

std::string built_in_schedules() { return fmt::format("{}", fmt::join(bp::strategy_names(), ", ")); }

nlohmann::json to_json(bp::BatchStatistics const& s, double analysis_seconds) {
  return {{"batches", s.num_batches}, {"edges", s.num_edges},       {"smallest_batch", s.smallest},
          {"median_batch", s.median}, {"largest_batch", s.largest}, {"analysis_seconds", analysis_seconds}};
}

void print_json(nlohmann::json const& json) {
  write_out("{}\n", json.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
}

std::string human_bytes(double bytes) {
  char const* const units[] = {"B", "KiB", "MiB", "GiB", "TiB"};
  int unit = 0;
  for (; bytes >= 1024 && unit < 4; ++unit) bytes /= 1024;
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string human_seconds(double seconds) {
  if (seconds >= 1) return fmt::format("{:.2f} s", seconds);
  if (seconds >= 1e-3) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.1f} us", seconds * 1e6);
}

void keep_apart(std::vector<NamedFile> const& read, std::vector<NamedFile> const& written) {
  // Of pipes and devices any number of options may name the same, and a name in /proc leads to none.
  auto const is_file = [](std::string const& file) {
    std::error_code ignored;
    return !file.empty() &&
           (std::filesystem::is_regular_file(file, ignored) || !std::filesystem::exists(file, ignored));
  };
  auto const place = [](std::string const& file) {
    std::error_code error;
    auto const canonical = std::filesystem::weakly_canonical(std::filesystem::absolute(file), error);
    return error ? std::filesystem::path(file) : canonical;
  };
  std::map<std::filesystem::path, std::string> option_of;
  for (auto const& [option, file] : read)
    if (is_file(file)) option_of.emplace(place(file), option);
  for (auto const& [option, file] : written) {
    if (!file.empty() && io::standard_stream(file) == STDOUT_FILENO) report_on_standard_error();
    if (!is_file(file)) continue;
    auto const [other, is_new] = option_of.emplace(place(file), option);
    if (!is_new)
      throw UsageError(
          fmt::format("{} and {} name the same file, {}, which would be overwritten", other->second, option, file));
  }
}

bool holds_points_to(std::string const& file) {
  return io::is_constraint_text(file) || (io::is_hdf5(file) && io::holds_constraints(file));
}

std::string counted(std::int64_t count, std::string_view noun) {
  return fmt::format("{} {}{}", count, noun, count == 1 ? "" : "s");
}

std::string sizes_of(HostFactorGraph const& graph) {
  return fmt::format("{}, {}, {}", counted(graph.num_variables, "variable"), counted(graph.num_factors(), "factor"),
                     counted(graph.num_edges(), "edge"));
}

std::string sizes_of(points_to::ConstraintSystem const& system) {
  return fmt::format("{}, {}, {}", counted(system.num_variables, "variable"), counted(system.num_objects(), "object"),
                     counted(system.num_constraints(), "constraint"));
}

bool shows_progress() { return ::isatty(STDERR_FILENO) != 0; }

CLI::Validator number_that(std::function<bool(double)> holds, std::string const& wanted) {
  return CLI::Validator(
      [=](std::string& text) {
        double number = 0;
        bool const good = CLI::detail::lexical_cast(text, number) && holds(number);
        return good ? std::string() : fmt::format("'{}' is not {}", text, wanted);
      },
      "");
}

CLI::Validator at_least(double least) {
  return number_that([=](double x) { return x >= least; }, fmt::format("a number of at least {}", least));
}

CLI::Validator not_empty() {
  return CLI::Validator([](std::string& text) { return text.empty() ? std::string("is empty") : std::string(); }, "");
}

CLI::Validator text_file() {
  return CLI::Validator(
      [](std::string& file) {
        if (file == "-") return std::string("'-' would be a file of that name; --json prints everything");
        return io::is_model(file) || io::is_cost_network(file)
                   ? fmt::format("{} has the ending of a model, and a text that is none would be written", file)
                   : "";
      },
      "");
}

CLI::Option* add_bytes_option(CLI::App& command, std::string const& name, std::size_t& bytes,
                              std::string const& description) {
  auto const with_unit = [](std::string& text) {
    auto const given = text;
    try {
      if (CLI::AsSizeValue(false)(text).empty()) return std::string();
    } catch (CLI::ValidationError const&) {  // it both throws and tells
    }
    return fmt::format(
        "'{}' is no number of bytes: a whole one, or one with K, M, G or T behind it, as 4G, which is 4 * 2^30", given);
  };
  return command.add_option(name, bytes, description)
      ->transform(CLI::Validator(with_unit, ""))
      ->check(number_that([](double x) { return x >= 1 && x < 0x1p63; }, "a number of bytes from 1 to 2^63"))
      ->option_text("BYTES");
}

CLI::Validator known_backend() {
  return CLI::Validator(
      [](std::string& name) {
        auto const names = backend::names();
        if (std::find(names.begin(), names.end(), name) != names.end()) return std::string();
        return fmt::format(
            "there is no backend '{}' in this build; there are {}. README.md, \"Build\", names the presets of others",
            name, fmt::join(names, ", "));
      },
      "");
}

}  // namespace hornbill::cli
