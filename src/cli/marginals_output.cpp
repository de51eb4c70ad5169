// hornbill marginals: what is printed and written.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <map>
#include <numbers>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/config.hpp>
#include <hornbill/io/uai.hpp>

#include "marginals.hpp"
#include "output.hpp"
#include "solver.hpp"
#include "state_marginals.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

/// P(variable = 1); 0 where there is no such state.
std::vector<double> p_true_of(MarginalsOfSet const& set) {
  std::vector<double> p_true;
  for (auto const& p : set.p) p_true.push_back(p.size() > 1 ? p[1] : 0);
  return p_true;
}

/// As StoredMarginals has them.
std::vector<double> p_states_of(MarginalsOfSet const& set, HostFactorGraph const& graph) {
  std::vector<double> p_states;
  if (graph.is_binary()) return p_states;
  for (auto const& p : set.p) p_states.insert(p_states.end(), p.begin(), p.end());
  return p_states;
}

/// How far other marginals are off: those stored in the model, or of a file of the UAI competitions.
struct Difference {
  double largest = 0, mean = 0;
  Index variable = -1;
};

Difference difference_from(std::vector<std::vector<double>> const& others, MarginalsOfSet const& set) {
  Difference result;
  for (std::size_t v = 0; v < others.size(); ++v) {
    double largest = 0;
    if (others[v].size() == 1 && set.p[v].size() > 1)
      largest = std::abs(others[v][0] - set.p[v][1]);
    else if (others[v].size() == set.p[v].size())
      for (std::size_t s = 0; s < set.p[v].size(); ++s)
        largest = std::max(largest, std::abs(others[v][s] - set.p[v][s]));
    result.mean += largest / static_cast<double>(others.size());
    if (largest > result.largest || result.variable < 0) {
      result.largest = largest;
      result.variable = static_cast<Index>(v);
    }
  }
  return result;
}

/// "a = yes, b = 2", of variables.
std::string describe_states(HostFactorGraph const& graph, std::vector<Index> const& variables,
                            std::vector<Index> const& states) {
  std::vector<std::string> words;
  for (std::size_t i = 0; i < variables.size(); ++i)
    words.push_back(fmt::format("{} = {}", graph.name_of(variables[i]), graph.state_name(variables[i], states[i])));
  return fmt::format("{}", fmt::join(words, ", "));
}

/// Whether nothing else was asked for, so that marginals themselves are printed.
bool prints_marginals(MarginalsArguments const& a) {
  return a.output.empty() && a.top.empty() && a.joint.empty() && a.against.empty();
}

/// "double", or "3 sets in double, 1 set in logarithms".
std::string arithmetic_text(MarginalsResult const& r) {
  std::map<std::string, int> sets;
  for (auto const& set : r.sets) ++sets[set.arithmetic];
  if (sets.size() == 1) return sets.begin()->first;
  std::vector<std::string> words;
  for (auto const& [arithmetic, count] : sets)
    words.push_back(fmt::format("{} {} in {}", count, count == 1 ? "set" : "sets", arithmetic));
  return fmt::format("{}", fmt::join(words, ", "));
}

void print_set(MarginalsArguments const& a, HostFactorGraph const& graph, MarginalsProblem const& problem,
               MarginalsOfSet const& set) {
  write_out("{}: partition function {}\n", label_of(a, set), power_of_ten(set.log_z / std::numbers::ln10));
  if (prints_marginals(a))
    print_first_marginals(
        graph, [&](Index v) { return set.p[v]; },
        a.each.empty() ? "-o FILE.MAR writes all, --top and --joint print some"
                       : "-o FILE.h5 writes all, --top and --joint print some");
  auto const p_true = p_true_of(set);
  for (Index v : most_probable(problem.query, p_true, a.top_count))
    write_out("    {:.6f}  {} = {}\n", p_true[v], graph.name_of(v), graph.state_name(v, 1));
  for (std::size_t j = 0; j < set.joint.size(); ++j)
    for_each_possible_cell(problem, graph, problem.joint[j], [&](std::size_t cell, std::vector<Index> const& states) {
      write_out("    {:.6f}  {}\n", set.joint[j][cell], describe_states(graph, problem.joint[j], states));
    });
  if (problem.others.empty()) return;
  auto const d = difference_from(problem.others, set);
  write_out("  against {}: largest difference {:.3g}, at {}; {:.3g} on average\n", a.against, d.largest,
            graph.name_of(d.variable), d.mean);
}

nlohmann::json joint_json(HostFactorGraph const& graph, std::vector<Index> const& variables,
                          std::vector<double> const& p) {
  nlohmann::json names, states;
  for (Index v : variables) {
    names.push_back(graph.name_of(v));
    states.push_back(state_names(graph, v));
  }
  return {{"variables", names}, {"states", states}, {"p", p}};
}

nlohmann::json to_json(MarginalsArguments const& a, HostFactorGraph const& graph, MarginalsProblem const& problem,
                       MarginalsOfSet const& set) {
  nlohmann::json json{{"arithmetic", set.arithmetic}, {"log10_z", nullptr}};
  if (!set.name.empty()) json["evidence"] = set.name;
  if (set.conflict) json.update(set.conflict->json);
  if (!set.is_possible()) return json;
  json["log10_z"] = set.log_z / std::numbers::ln10;
  if (prints_marginals(a)) json["marginals"] = set.p;
  for (Index v : most_probable(problem.query, p_true_of(set), a.top_count))
    json["top"].push_back(
        {{"variable", v}, {"name", graph.name_of(v)}, {"states", state_names(graph, v)}, {"p", set.p[v]}});
  for (std::size_t j = 0; j < set.joint.size(); ++j)
    json["joint"].push_back(joint_json(graph, problem.joint[j], set.joint[j]));
  if (!problem.others.empty()) {
    auto const d = difference_from(problem.others, set);
    json["against"] = {
        {"name", a.against}, {"largest", d.largest}, {"mean", d.mean}, {"variable", graph.name_of(d.variable)}};
  }
  return json;
}

}  // namespace

std::size_t cells_of_joint(HostFactorGraph const& graph, std::vector<Index> const& joint) {
  constexpr double most = 1 << 24;
  double cells = 1;
  for (Index v : joint) cells *= graph.states(v);
  if (cells > most)
    throw CapacityError(fmt::format(
        "--joint: the variables have {:.3g} states together; {} are possible. List fewer variables", cells, most));
  return static_cast<std::size_t>(cells);
}

std::vector<std::vector<double>> read_others(MarginalsArguments const& a, Model const& model) {
  std::vector<std::vector<double>> others;
  if (a.against.empty()) return others;
  bool const is_stored = model.marginals.contains(a.against);
  if (is_stored) {
    auto const& stored = model.marginals.at(a.against);
    if (!stored.p_states.empty()) others = StateMarginals(model.graph, stored).by_variable();
    for (Index v = 0; stored.p_states.empty() && v < model.graph.num_variables; ++v)
      others.push_back({model.graph.states(v) == 1 ? 1 - stored.p_true[v] : stored.p_true[v]});
  } else if (std::filesystem::exists(a.against)) {
    others = io::read_uai_marginals(a.against);
  } else {
    throw InputError(
        fmt::format("--against {} is neither a file nor marginals stored in {}, where there are {}", a.against, a.file,
                    model.marginals.empty() ? "none" : fmt::format("{}", fmt::join(names_of(model.marginals), ", "))));
  }
  if (std::ssize(others) != model.graph.num_variables)
    throw InputError(fmt::format("--against {}: {} variables, not {} as the model has", a.against, others.size(),
                                 model.graph.num_variables));
  for (Index v = 0; v < model.graph.num_variables; ++v) {
    if (is_stored && std::any_of(others[v].begin(), others[v].end(), [](double p) { return std::isnan(p); }))
      throw InputError(a.file, "/marginals/" + a.against, fmt::format("a marginal of variable {} is not a number", v));
    if (!is_stored && std::ssize(others[v]) != model.graph.states(v))
      throw InputError(fmt::format("--against {}: variable {} has {} states, not {}", a.against, v, others[v].size(),
                                   model.graph.states(v)));
  }
  return others;
}

void print_text(MarginalsArguments const& a, Model const& model, MarginalsProblem const& problem,
                MarginalsResult const& r) {
  for (auto const& set : r.sets)
    if (set.is_possible()) print_set(a, model.graph, problem, set);
  write_out("  order {}: width {}, {} cliques, {} of tables{}{}\n", a.order, r.order.width, r.num_cliques,
            human_bytes(static_cast<double>(r.table_bytes)), slices_text(r.slice_bytes, r.slices),
            r.sets.size() > 1 ? fmt::format(", {} evidence sets at once", r.sets_at_once) : "");
  write_out("  order in {}, plan in {}, set-up in {}, propagation in {} on {} ({}, {})\n",
            human_seconds(r.order_seconds), human_seconds(r.plan_seconds), human_seconds(r.setup_seconds),
            human_seconds(r.seconds), a.backend, r.device, arithmetic_text(r));
}

void print_json(MarginalsArguments const& a, Model const& model, MarginalsProblem const& problem,
                MarginalsResult const& r) {
  auto json = order_json(a, r.order, r.table_bytes);
  json.update({{"device", r.device},
               {"precision", a.precision},
               {"cliques", r.num_cliques},
               {"sets_at_once", r.sets_at_once},
               {"slices", static_cast<std::int64_t>(r.slices)},
               {"order_seconds", r.order_seconds},
               {"plan_seconds", r.plan_seconds},
               {"setup_seconds", r.setup_seconds},
               {"seconds", r.seconds}});
  if (prints_marginals(a) && std::any_of(r.sets.begin(), r.sets.end(), std::mem_fn(&MarginalsOfSet::is_possible)))
    json.update(names_json(model.graph));
  for (auto const& set : r.sets) {
    auto const of_set = to_json(a, model.graph, problem, set);
    if (a.each.empty())
      json.update(of_set);
    else
      json["sets"].push_back(of_set);
  }
  print_json(json);
}

void write_marginals(MarginalsArguments const& a, Model& model, MarginalsResult const& r) {
  if (a.output.ends_with(".MAR")) return io::write_uai_marginals(r.sets.front().p, a.output);
  for (auto const& set : r.sets) {
    if (!set.is_possible()) continue;
    StoredMarginals marginals;
    marginals.p_true = p_true_of(set);
    marginals.p_states = p_states_of(set, model.graph);
    auto evidence = a.evidence;
    if (!set.name.empty()) evidence.push_back(set.name);
    marginals.attributes = {{"method", "junction tree"},
                            {"backend", a.backend},
                            {"precision", a.precision},
                            {"arithmetic", set.arithmetic},
                            {"log_z", fmt::format("{:.17g}", set.log_z)},
                            {"evidence", fmt::format("{}", fmt::join(evidence, " "))},
                            {"hornbill_version", HORNBILL_VERSION}};
    model.marginals[stored_name(a.name, set.name)] = std::move(marginals);
  }
  io::write_model(model, a.output);
}

}  // namespace hornbill::cli
