// Clauses to factor graphs.
#include <hornbill/analysis/build.hpp>

#include <utility>

#include <fmt/format.h>

#include <hornbill/analysis/simplify.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>
#include <hornbill/io/atomic_file.hpp>

#include "incidence.hpp"

namespace hornbill::analysis {
namespace {

/// Numbers of variables: those of a tuple's clauses, then its own, tuple after tuple.
struct Numbering {
  std::vector<Index> of_tuple, of_clause;
  std::vector<std::string> names;

  Numbering(ClauseSet const& clauses, std::vector<Index> const& order, Incidence const& derivers)
      : of_tuple(clauses.num_tuples()), of_clause(clauses.num_clauses()) {
    names.reserve(of_tuple.size() + of_clause.size());
    for (Index t : order) {
      for (Index c : derivers.of(t)) {
        of_clause[c] = static_cast<Index>(names.size());
        names.push_back(to_string(clauses, c));
      }
      of_tuple[t] = static_cast<Index>(names.size());
      names.push_back(clauses.tuple_names[t]);
    }
  }
};

/// Rules that clauses are of, numbered as they come first among them.
struct UsedRules {
  std::vector<Index> number;  ///< by rule, or -1
  RuleInstances instances;

  UsedRules(ClauseSet const& clauses, std::vector<double> const& probability) : number(clauses.rule_names.size(), -1) {
    for (Index r : clauses.rules) {
      if (number[r] >= 0) continue;
      number[r] = static_cast<Index>(instances.names.size());
      instances.names.push_back(clauses.rule_names[r]);
      instances.probabilities.push_back(probability[r]);
    }
  }
};

Model build(ClauseSet const& clauses, std::vector<double> const& probability, std::span<Index const> alarms,
            std::string const& source) {
  auto const order = topological_order(clauses, source);
  auto const derivers = by_head(clauses, all_clauses(clauses));
  Numbering variables(clauses, order, derivers);
  FactorGraphBuilder builder(static_cast<Index>(variables.names.size()));
  Model model;
  UsedRules used(clauses, probability);
  auto& rules = model.rules = std::move(used.instances);
  std::vector<Index> body;
  for (Index t : order) {
    for (Index c : derivers.of(t)) {
      double p = 1;
      for (Index r : clauses.rules_of(c)) {
        p *= probability[r];
        rules.of_factors.push_back(used.number[r]);
      }
      body.clear();
      for (Index premise : clauses.body_of(c)) body.push_back(variables.of_tuple[premise]);
      builder.add_conjunction(variables.of_clause[c], body, p);
      rules.offsets.push_back(static_cast<Offset>(rules.of_factors.size()));
    }
    body.clear();
    for (Index c : derivers.of(t)) body.push_back(variables.of_clause[c]);
    builder.add_disjunction(variables.of_tuple[t], body);
    rules.offsets.push_back(rules.offsets.back());
  }
  model.graph = std::move(builder).build();
  model.graph.variable_names = std::move(variables.names);
  auto& query = model.queries["alarms"];
  for (Index alarm : alarms) query.push_back(variables.of_tuple[alarm]);
  return model;
}

}  // namespace

Model build_model(ClauseSet const& clauses, std::map<std::string, double> const& probabilities,
                  std::span<Index const> alarms, BuildOptions const& options, std::string const& source,
                  std::string const& source_of_probabilities) {
  auto const built = [&](ClauseSet const& all, std::span<Index const> of_alarms) {
    return build(all, probabilities_of_rules(all, probabilities, source_of_probabilities, options.default_probability),
                 of_alarms, source);
  };
  if (options.rule_of_inputs) return built(state_inputs(clauses, *options.rule_of_inputs), alarms);
  auto const derived = drop_inputs(clauses, alarms);
  return built(derived.clauses, derived.alarms);
}

void write_dictionary(Model const& model, std::string const& file) {
  auto const& graph = model.graph;
  std::vector<bool> is_clause(graph.num_variables);
  for (Index a = 0; a < graph.num_factors(); ++a)
    is_clause[graph.variables_of(a)[0]] = is_rule_instance(graph.factor_type[a]);
  std::string text;
  for (Index v = 0; v < graph.num_variables; ++v) {
    auto const& name = graph.variable_names[v];
    text += fmt::format("{}: {}\n", v, is_clause[v] ? literals_of(name) : name);
  }
  io::write_atomically(file, text);
}

}  // namespace hornbill::analysis
