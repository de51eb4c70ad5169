#include <hornbill/analysis/explain.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <hornbill/error.hpp>
#include <hornbill/graph/bayesian_network.hpp>

namespace hornbill::analysis {
namespace {

class Deriver {
 public:
  Deriver(HostFactorGraph const& graph, std::span<double const> holds, std::string const& source)
      : graph_(graph), holds_(holds), order_(network_order(graph, source)), factor_of_(graph.num_variables), chosen_(graph.num_variables), best_(graph.num_variables) {
    for (Index a : order_) {
      Index const head = graph.variables_of(a)[0];
      factor_of_[head] = a;
      if (graph.factor_type[a] == FactorType::conjunction) weigh(a, head);
      else choose(a, head);
    }
  }

  std::optional<Derivation> derive(Index tuple) const {
    if (std::isinf(best_[tuple])) return {};
    auto const used = used_by(tuple);
    Derivation derivation;
    for (Index a : order_) {
      Index const head = graph_.variables_of(a)[0];
      if (!used[head]) continue;
      Index const clause = clause_of(head);
      DerivationStep step{head, clause, {}};
      for (Index premise : graph_.variables_of(clause).subspan(1)) step.premises.push_back(premise);
      derivation.steps.push_back(std::move(step));
      derivation.probability *= holds_[clause];
    }
    return derivation;
  }

 private:
  void weigh(Index a, Index head) {
    best_[head] = std::log(holds_[a]);
    for (Index premise : graph_.variables_of(a).subspan(1)) best_[head] += best_[premise];
  }

  void choose(Index a, Index head) {
    best_[head] = -std::numeric_limits<double>::infinity();
    for (Index v : graph_.variables_of(a).subspan(1)) {
      if (best_[v] <= best_[head]) continue;
      best_[head] = best_[v];
      chosen_[head] = v;
    }
  }

  /// The conjunction that derives a tuple.
  Index clause_of(Index v) const {
    while (graph_.factor_type[factor_of_[v]] == FactorType::disjunction) v = chosen_[v];
    return factor_of_[v];
  }

  /// The tuples of a derivation.
  std::vector<bool> used_by(Index tuple) const {
    std::vector<bool> used(graph_.num_variables);
    std::vector<Index> waiting{tuple};
    used[tuple] = true;
    while (!waiting.empty()) {
      Index const v = waiting.back();
      waiting.pop_back();
      for (Index premise : graph_.variables_of(clause_of(v)).subspan(1)) {
        if (used[premise]) continue;
        used[premise] = true;
        waiting.push_back(premise);
      }
    }
    return used;
  }

  HostFactorGraph const& graph_;
  std::span<double const> holds_;
  std::vector<Index> order_, factor_of_, chosen_;
  std::vector<double> best_;  ///< by variable, the logarithm of its best derivation's product
};

}  // namespace

std::optional<Derivation> most_probable_derivation(HostFactorGraph const& graph, Index tuple, std::span<double const> holds, std::string const& source) {
  if (holds.size() != static_cast<std::size_t>(graph.num_factors())) throw ShapeError("probabilities of factors", static_cast<std::size_t>(graph.num_factors()), holds.size());
  return Deriver(graph, holds, source).derive(tuple);
}

}  // namespace hornbill::analysis
