#include <hornbill/bp/expected_counts.hpp>

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::bp {
namespace {

double probability(double log_odds) { return 1 / (1 + std::exp(-log_odds)); }

/// log(1 / (1 + exp(-x))) without overflow.
double log_probability(double log_odds) { return std::min(log_odds, 0.0) - std::log1p(std::exp(-std::abs(log_odds))); }

/// log(exp(a) + exp(b))
double log_sum(double a, double b) {
  double const larger = std::max(a, b);
  return std::isinf(larger) ? larger : larger + std::log1p(std::exp(std::min(a, b) - larger));
}

void require_messages(HostFactorGraph const& graph, std::span<double const> to_variables, std::span<double const> to_factors) {
  auto const edges = static_cast<std::size_t>(graph.num_edges());
  if (to_variables.size() < edges) throw ShapeError("messages to variables", edges, to_variables.size());
  if (to_factors.size() != edges) throw ShapeError("messages to factors", edges, to_factors.size());
}

/// log P(observation | value) of every variable, for both values.
std::vector<std::array<double, 2>> log_likelihoods(HostFactorGraph const& graph, HostEvidence const& evidence) {
  std::vector<std::array<double, 2>> result(graph.num_variables, {0, 0});
  for (auto const& o : evidence)
    for (Index value : {0, 1}) result[o.variable][value] = std::log(o.is_hard() ? static_cast<double>(o.value == value) : o.likelihood[value]);
  return result;
}

}  // namespace

ExpectedCounts expected_counts(HostFactorGraph const& graph, std::span<double const> to_variables, std::span<double const> to_factors) {
  require_messages(graph, to_variables, to_factors);
  ExpectedCounts counts{std::vector<double>(graph.num_factors()), std::vector<double>(graph.num_factors())};
  for (Index a = 0; a < graph.num_factors(); ++a) {
    double const p = graph.p1[a];
    if (graph.factor_type[a] != FactorType::conjunction || p == 0) continue;
    if (graph.p2[a] > 0 && graph.variables_of(a).size() > 1) throw InputError(fmt::format("factor {} may be true though its body is not (p2 = {}): it has no expected counts", a, graph.p2[a]));
    double const to_head = to_variables[graph.factor_offsets[a]], both = to_head + to_factors[graph.factor_offsets[a]];
    // Messages that have not quite converged may say that the body is more than certain.
    double const body_if_not_fired = p == 1 ? 0 : std::min(1.0, std::exp(to_head) * (1 - p) / p);
    counts.fired[a] = probability(both);
    counts.tried[a] = counts.fired[a] + probability(-both) * body_if_not_fired;
  }
  return counts;
}

double log_evidence(HostFactorGraph const& graph, HostEvidence const& evidence, std::span<double const> to_variables, std::span<double const> to_factors) {
  require_messages(graph, to_variables, to_factors);
  validate(evidence, graph, "evidence");
  auto sums = log_likelihoods(graph, evidence);  // of each value's messages
  double of_edges = 0;
  for (Index a = 0; a < graph.num_factors(); ++a) {
    if (graph.factor_type[a] == FactorType::table) throw InputError(fmt::format("factor {} is a table; log_evidence is of Horn factors", a));
    auto const variables = graph.variables_of(a);
    for (std::size_t i = 0; i < variables.size(); ++i) {
      double const in = to_variables[graph.factor_offsets[a] + i], out = to_factors[graph.factor_offsets[a] + i];
      double const in_false = log_probability(-in), in_true = log_probability(in);
      sums[variables[i]][0] += in_false;
      sums[variables[i]][1] += in_true;
      if (i > 0) of_edges += log_sum(in_false + log_probability(-out), in_true + log_probability(out));
    }
  }
  double of_variables = 0;
  for (auto const& [of_false, of_true] : sums) of_variables += log_sum(of_false, of_true);
  return of_variables - of_edges;
}

}  // namespace hornbill::bp
