#include <reference/reference.hpp>

#include <cmath>

#include <hornbill/error.hpp>

namespace hornbill::reference {

long double factor_value(HostFactorGraph const& graph, Index factor, std::vector<Index> const& states) {
  auto const variables = graph.variables_of(factor);
  bool all = true, some = false;
  for (std::size_t i = 1; i < variables.size(); ++i) {
    all = all && states[variables[i]] == 1;
    some = some || states[variables[i]] == 1;
  }
  auto const of_head = [&](bool fires) {
    long double const p = fires ? graph.p1[factor] : graph.p2[factor];
    return states[variables[0]] == 1 ? p : 1 - p;
  };
  switch (graph.factor_type[factor]) {
    case FactorType::conjunction: return of_head(all);
    case FactorType::disjunction: return of_head(some);
    case FactorType::table: break;
  }
  std::size_t entry = 0;
  for (Index v : variables) entry = entry * graph.states(v) + states[v];
  return graph.table_of(factor)[entry];
}

std::vector<Distribution> enumerate_marginals(HostFactorGraph const& graph, HostEvidence const& evidence) {
  std::vector<Index> state(graph.num_variables, 0);
  std::vector<Distribution> sums;
  double assignments = 1;
  for (Index v = 0; v < graph.num_variables; ++v) {
    sums.emplace_back(graph.states(v), 0.0L);
    assignments *= graph.states(v);
  }
  if (assignments > 0x1p24) throw InputError("too many assignments to enumerate");
  long double total = 0;
  for (;;) {
    long double weight = 1;
    for (auto const& o : evidence)
      weight *= o.is_hard() ? (state[o.variable] == o.value) : o.likelihoods[state[o.variable]];
    for (Index a = 0; a < graph.num_factors() && weight > 0; ++a) weight *= factor_value(graph, a, state);
    total += weight;
    for (Index v = 0; v < graph.num_variables; ++v) sums[v][state[v]] += weight;
    Index v = 0;
    while (v < graph.num_variables && ++state[v] == graph.states(v)) state[v++] = 0;
    if (v == graph.num_variables) break;
  }
  if (total == 0) throw InputError("the evidence is contradictory: no assignment is possible");
  for (auto& sum : sums)
    for (auto& s : sum) s /= total;
  return sums;
}

}  // namespace hornbill::reference
