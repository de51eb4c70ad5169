#include <hornbill/analysis/explain.hpp>

#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <hornbill/detail/log_odds.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/bayesian_network.hpp>
#include <hornbill/graph/factor_traits.hpp>

namespace hornbill::analysis {
namespace {

/// The factors in order, of a graph in which tuples follow by derivations.
std::vector<Index> order_of_derivations(HostFactorGraph const& graph, std::string const& source) {
  auto order = network_order(graph, source);
  for (Index a : order)
    if (graph.p2[a] > 0 && graph.variables_of(a).size() > 1)
      throw InputError(source, "",
                       fmt::format("factor {}: {} may be true though its body is not (p2 = {}); it has no derivations",
                                   a, graph.name_of(graph.variables_of(a)[0]), graph.p2[a]));
  return order;
}

class Deriver {
 public:
  Deriver(HostFactorGraph const& graph, std::span<double const> log_weights, std::string const& source)
      : graph_(graph),
        log_weights_(log_weights),
        order_(order_of_derivations(graph, source)),
        factor_of_(graph.num_variables),
        chosen_(graph.num_variables),
        best_(graph.num_variables) {
    for (Index a : order_) {
      Index const head = graph.variables_of(a)[0];
      factor_of_[head] = a;
      best_[head] = log_weights[a] + (needs_all(a) ? of_all(a) : choose(a, head));
    }
  }

  std::optional<Derivation> derive(Index tuple) const {
    if (std::isinf(best_[tuple])) return {};
    auto const used = use_for(tuple);
    Derivation derivation;
    for (Index a : order_) {
      if (used.factors[a]) derivation.log_weight += log_weights_[a];
      if (Index const head = graph_.variables_of(a)[0]; used.tuples[head]) derivation.steps.push_back(step_to(head));
    }
    return derivation;
  }

 private:
  struct Used {
    std::vector<bool> tuples, factors;
  };

  /// Whether a derivation by this factor needs its whole body, or one of it.
  bool needs_all(Index a) const { return !deciding_value(graph_.factor_type[a]); }

  double of_all(Index a) const {
    double sum = 0;
    for (Index premise : graph_.variables_of(a).subspan(1)) sum += best_[premise];
    return sum;
  }

  double choose(Index a, Index head) {
    double best = -std::numeric_limits<double>::infinity();
    for (Index v : graph_.variables_of(a).subspan(1)) {
      if (best_[v] <= best) continue;
      best = best_[v];
      chosen_[head] = v;
    }
    return best;
  }

  DerivationStep step_to(Index tuple) const {
    Index v = tuple;
    while (!needs_all(factor_of_[v])) v = chosen_[v];
    auto const premises = graph_.variables_of(factor_of_[v]).subspan(1);
    return {tuple, factor_of_[v], {premises.begin(), premises.end()}, num_derivations(tuple)};
  }

  Index num_derivations(Index v) const {
    if (needs_all(factor_of_[v])) return 1;
    Index sum = 0;
    for (Index part : graph_.variables_of(factor_of_[v]).subspan(1)) sum += num_derivations(part);
    return sum;
  }

  Used use_for(Index tuple) const {
    Used used{std::vector<bool>(graph_.num_variables), std::vector<bool>(graph_.num_factors())};
    std::vector<Index> waiting{tuple};
    used.tuples[tuple] = true;
    while (!waiting.empty()) {
      Index v = waiting.back();
      waiting.pop_back();
      for (; !needs_all(factor_of_[v]); v = chosen_[v]) used.factors[factor_of_[v]] = true;
      if (used.factors[factor_of_[v]]) continue;
      used.factors[factor_of_[v]] = true;
      for (Index premise : graph_.variables_of(factor_of_[v]).subspan(1))
        if (!used.tuples[premise]) {
          used.tuples[premise] = true;
          waiting.push_back(premise);
        }
    }
    return used;
  }

  HostFactorGraph const& graph_;
  std::span<double const> log_weights_;
  std::vector<Index> order_, factor_of_, chosen_;
  std::vector<double> best_;  ///< by variable, the logarithm of its best derivation's product
};

void require_size(char const* what, std::size_t expected, std::size_t size) {
  if (size != expected) throw ShapeError(what, expected, size);
}

/// log P(head | one of its body), with the message from the head.
double log_weight_of_disjunction(double p1, double from_head) {
  if (p1 == 0 || p1 == 1) return std::log(p1);
  return detail::log_probability(std::log(p1 / (1 - p1)) + from_head);
}

}  // namespace

void require_derivations(HostFactorGraph const& graph, std::string const& source) {
  order_of_derivations(graph, source);
}

std::vector<double> log_derivation_weights(HostFactorGraph const& graph, std::span<double const> to_variables,
                                           std::span<double const> to_factors) {
  auto const edges = static_cast<std::size_t>(graph.num_edges());
  if (to_variables.size() < edges) throw ShapeError("messages to variables", edges, to_variables.size());
  require_size("messages to factors", edges, to_factors.size());
  auto const order = order_of_derivations(graph, "factor graph");
  std::vector<double> log_p(graph.num_variables), log_weights(graph.num_factors());
  for (Index a : order) {  // each variable is the head of one
    Offset const e = graph.factor_offsets[a];
    log_p[graph.variables_of(a)[0]] = detail::log_probability(to_variables[e] + to_factors[e]);
  }
  for (Index a : order) {
    auto const variables = graph.variables_of(a);
    if (deciding_value(graph.factor_type[a])) {
      log_weights[a] = log_weight_of_disjunction(graph.p1[a], to_factors[graph.factor_offsets[a]]);
      continue;
    }
    double premises = 0;
    for (Index premise : variables.subspan(1)) premises += log_p[premise];
    log_weights[a] = std::isinf(premises) ? premises : log_p[variables[0]] - premises;
  }
  return log_weights;
}

std::optional<Derivation> most_probable_derivation(HostFactorGraph const& graph, Index tuple,
                                                   std::span<double const> log_weights, std::string const& source) {
  require_size("weights of factors", static_cast<std::size_t>(graph.num_factors()), log_weights.size());
  return Deriver(graph, log_weights, source).derive(tuple);
}

}  // namespace hornbill::analysis
