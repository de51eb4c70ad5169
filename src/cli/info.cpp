// hornbill info: what a file holds.
#include <algorithm>
#include <array>
#include <memory>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/bp/state.hpp>
#include <hornbill/graph/factor_traits.hpp>
#include <hornbill/io/constraint_file.hpp>
#include <hornbill/io/model.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

char const* key_of(FactorType type) {
  switch (type) {
    case FactorType::conjunction: return "conjunctions";
    case FactorType::disjunction: return "disjunctions";
    case FactorType::table: return "tables";
  }
  fail_on_factor_type(type);
}

nlohmann::json describe(Model const& model) {
  auto const& graph = model.graph;
  std::array<std::int64_t, num_factor_types> counts{};
  std::int64_t largest_factor = 0;
  for (Index a = 0; a < graph.num_factors(); ++a) {
    ++counts.at(static_cast<std::size_t>(graph.factor_type[a]));
    largest_factor = std::max<std::int64_t>(largest_factor, static_cast<std::int64_t>(graph.variables_of(a).size()));
  }
  std::vector<std::int64_t> degree(graph.num_variables, 0);
  for (Index v : graph.factor_variables) ++degree[v];
  auto const plan =
      bp::lay_out<Kokkos::DefaultExecutionSpace>(graph, bp::make_batches(graph, bp::Parall{}), {.local_update = false});
  nlohmann::json json{{"variables", graph.num_variables},
                      {"factors", graph.num_factors()},
                      {"edges", graph.num_edges()},
                      {"largest_factor", largest_factor},
                      {"largest_variable_degree", degree.empty() ? 0 : *std::max_element(degree.begin(), degree.end())},
                      {"isolated_variables", std::count(degree.begin(), degree.end(), 0)},
                      {"device_bytes_double", bp::bytes_needed<double>(graph, plan)},
                      {"device_bytes_float", bp::bytes_needed<float>(graph, plan)},
                      {"named_variables", !graph.variable_names.empty()}};
  for (std::size_t type = 0; type < counts.size(); ++type) json[key_of(static_cast<FactorType>(type))] = counts[type];
  auto add_sizes = [&](char const* key, auto const& map, auto&& size) {
    json[key] = nlohmann::json::object();
    for (auto const& [name, item] : map) json[key][name] = size(item);
  };
  add_sizes("schedules", model.schedules, [](auto const& s) {
    return fmt::format("{} ({} {})",
                       s.kind == ScheduleKind::order     ? "order"
                       : s.kind == ScheduleKind::batches ? "batches"
                                                         : "partial order",
                       s.kind == ScheduleKind::partial_order ? s.before.size() : s.edges.size(),
                       s.kind == ScheduleKind::partial_order ? "pairs" : "edges");
  });
  json["rules"] = model.rules.names.size();
  add_sizes("evidence", model.evidence, [](auto const& e) { return counted(std::ssize(e), "observation"); });
  add_sizes("queries", model.queries, [](auto const& q) { return counted(std::ssize(q), "variable"); });
  add_sizes("messages", model.messages, [](auto const& m) {
    return counted(std::ssize(m.log_odds), "number") +
           (m.evidence ? ", with " + counted(std::ssize(*m.evidence), "observation") : "");
  });
  add_sizes("marginals", model.marginals, [](auto const& m) {
    auto const stop = m.attributes.find("stop");
    return stop == m.attributes.end() ? std::string("stored") : stop->second;
  });
  return json;
}

nlohmann::json describe(io::PointsTo const& points_to) {
  auto const& system = points_to.constraints;
  std::array<std::int64_t, points_to::num_constraint_kinds> counts{};
  for (auto const& c : system.constraints) ++counts.at(static_cast<std::size_t>(c.kind));
  nlohmann::json json{{"variables", system.num_variables},
                      {"objects", system.num_objects()},
                      {"functions", std::ranges::count(system.is_function, 1)},
                      {"constraints", system.num_constraints()},
                      {"calls", system.calls.size()},
                      {"named_variables", !system.variable_names.empty()},
                      {"places", system.places.size()}};
  for (std::size_t k = 0; k < counts.size(); ++k)
    json["constraints_by_kind"][points_to::name_of(static_cast<points_to::ConstraintKind>(k))] = counts[k];
  if (auto const& solution = points_to.solution)
    json["points_to"] = {{"facts", solution->num_facts()},
                         {"distinct_sets", solution->num_sets()},
                         {"set_objects", solution->set_objects.size()}};
  return json;
}

void print(std::string const& file, nlohmann::json const& json) {
  write_out("{}\n", file);
  for (auto const& [key, value] : json.items()) {
    std::string label = key;
    std::replace(label.begin(), label.end(), '_', ' ');
    if (value.is_object()) {
      for (auto const& [name, item] : value.items())
        write_out("  {:<26} {}: {}\n", label, name, item.is_string() ? item.get<std::string>() : item.dump());
    } else if (key.starts_with("device_bytes")) {
      write_out("  {:<26} {}\n", label, human_bytes(value.get<double>()));
    } else {
      write_out("  {:<26} {}\n", label, value.dump());
    }
  }
}

}  // namespace

void add_info(CLI::App& app, int&) {
  auto* command = app.add_subcommand("info", "Say what a file of a model, or of points-to constraints, holds");
  auto file = std::make_shared<std::string>();
  auto json = std::make_shared<bool>(false);
  command->add_option("FILE", *file, "Model: .h5, .fg, .causal_fg, .uai or .bif; constraints: .h5 or .cons.txt")
      ->required();
  command->add_flag("--json", *json, "Print JSON");
  command->callback([=] {
    auto const description = holds_points_to(*file) ? describe(io::read_points_to(*file)) : describe(read_model(*file));
    if (*json)
      write_out("{}\n", description.dump(2));
    else
      print(*file, description);
  });
}

}  // namespace hornbill::cli
