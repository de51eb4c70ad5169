#include <reference/reference.hpp>

#include <algorithm>
#include <cmath>

namespace hornbill::reference {
namespace {

// Messages that contradict each other become uniform; callers look for contradictions elsewhere.
Distribution normalised(Distribution d) {
  long double total = 0;
  for (auto x : d) total += x;
  for (auto& x : d) x = total > 0 ? x / total : 1.0L / static_cast<long double>(d.size());
  return d;
}

Distribution product(Distribution a, Distribution const& b) {
  for (std::size_t s = 0; s < a.size(); ++s) a[s] *= b[s];
  return normalised(std::move(a));
}

}  // namespace

BeliefPropagation::BeliefPropagation(HostFactorGraph const& graph, HostEvidence const& evidence)
    : graph_(graph), variable_edges_(edges_of_variables(graph)), factor_of_edge_(factors_of_edges(graph)) {
  for (Index v = 0; v < graph.num_variables; ++v) evidence_.push_back(normalised(Distribution(graph.states(v), 1.0L)));
  for (auto const& o : evidence) {
    Distribution d(graph.states(o.variable));
    for (Index s = 0; s < graph.states(o.variable); ++s) d[s] = o.is_hard() ? (s == o.value) : o.likelihoods[s];
    evidence_[o.variable] = normalised(d);
  }
  for (Index v : graph.factor_variables) f2v_.push_back(normalised(Distribution(graph.states(v), 1.0L)));
}

Distribution BeliefPropagation::variable_to_factor(Offset edge) const {
  Index const v = graph_.factor_variables[edge];
  Distribution d = evidence_[v];
  for (Offset k = variable_edges_.offsets[v]; k < variable_edges_.offsets[v + 1]; ++k)
    if (Offset const e = variable_edges_.edges[k]; e != edge) d = product(d, f2v_[e]);
  return d;
}

Distribution BeliefPropagation::factor_to_variable(Offset edge) const {
  Index const a = factor_of_edge_[edge];
  std::vector<Distribution> in;  // by position; that of `edge` itself is not used
  for (Offset e = graph_.factor_offsets[a]; e < graph_.factor_offsets[a + 1]; ++e)
    in.push_back(e == edge ? Distribution{} : variable_to_factor(e));
  return message(a, edge, in);
}

Distribution BeliefPropagation::message(Index a, Offset edge, std::vector<Distribution> const& in) const {
  switch (graph_.factor_type[a]) {
    case FactorType::conjunction: return horn_message(a, edge, in, true);
    case FactorType::disjunction: return horn_message(a, edge, in, false);
    case FactorType::table: break;
  }
  return table_message(a, edge, in);
}

// Equations 5, 6 and 10 of hornbill/bp/README.md, with B and S walked in order of the body.
Distribution BeliefPropagation::horn_message(Index a, Offset edge, std::vector<Distribution> const& in,
                                             bool conjunction) const {
  auto const target = static_cast<std::size_t>(edge - graph_.factor_offsets[a]);
  long double const p1 = graph_.p1[a], p2 = graph_.p2[a];
  long double q = 1, not_q = 0;  // AND: that all others are true; OR: that none is
  for (std::size_t i = 1; i < in.size(); ++i) {
    if (i == target) continue;
    not_q += q * in[i][conjunction ? 0 : 1];
    q *= in[i][conjunction ? 1 : 0];
  }
  if (target == 0)
    return conjunction ? normalised({q * (1 - p1) + not_q * (1 - p2), q * p1 + not_q * p2})
                       : normalised({not_q * (1 - p1) + q * (1 - p2), not_q * p1 + q * p2});
  long double const h = in[0][1], not_h = in[0][0];
  long double const c1 = p1 * h + (1 - p1) * not_h, c2 = p2 * h + (1 - p2) * not_h;
  return conjunction ? normalised({c2, q * c1 + not_q * c2}) : normalised({q * c2 + not_q * c1, c1});
}

Distribution BeliefPropagation::table_message(Index a, Offset edge, std::vector<Distribution> const& in) const {
  auto const variables = graph_.variables_of(a);
  auto const target = static_cast<std::size_t>(edge - graph_.factor_offsets[a]);
  Distribution out(graph_.states(variables[target]), 0.0L);
  std::vector<Index> state(variables.size(), 0);
  for (double value : graph_.table_of(a)) {
    long double weight = value;
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (i != target) weight *= in[i][state[i]];
    out[state[target]] += weight;
    for (std::size_t i = variables.size(); i-- > 0 && ++state[i] == graph_.states(variables[i]);) state[i] = 0;
  }
  return normalised(out);
}

void BeliefPropagation::run_parall(int iterations) {
  for (int t = 0; t < iterations; ++t) {
    auto next = f2v_;
    // Products of all messages but one, by prefixes and suffixes, so that hubs are not quadratic.
    std::vector<Distribution> v2f(f2v_.size());
    for (Index v = 0; v < graph_.num_variables; ++v) {
      Distribution prefix = evidence_[v];
      for (Offset k = variable_edges_.offsets[v]; k < variable_edges_.offsets[v + 1]; ++k) {
        v2f[variable_edges_.edges[k]] = prefix;
        prefix = product(prefix, f2v_[variable_edges_.edges[k]]);
      }
      Distribution suffix(graph_.states(v), 1.0L);
      for (Offset k = variable_edges_.offsets[v + 1]; k-- > variable_edges_.offsets[v];) {
        Offset const e = variable_edges_.edges[k];
        v2f[e] = product(v2f[e], suffix);
        suffix = product(suffix, f2v_[e]);
      }
    }
    for (Index a = 0; a < graph_.num_factors(); ++a) {
      auto const first = v2f.begin() + graph_.factor_offsets[a];
      std::vector<Distribution> const in(first, v2f.begin() + graph_.factor_offsets[a + 1]);
      for (Offset e = graph_.factor_offsets[a]; e < graph_.factor_offsets[a + 1]; ++e) next[e] = message(a, e, in);
    }
    f2v_ = std::move(next);
  }
}

void BeliefPropagation::run_sequence(std::vector<Offset> const& order, int iterations) {
  for (int t = 0; t < iterations; ++t)
    for (Offset e : order) f2v_[e] = factor_to_variable(e);
}

void BeliefPropagation::run_largest_first(Offset updates) {
  auto next = f2v_;
  std::vector<float> change(f2v_.size());
  auto compute = [&](Offset e) {
    next[e] = factor_to_variable(e);
    change[e] = static_cast<float>(std::abs(next[e].back() - f2v_[e].back()));  // of binary variables
  };
  for (std::size_t e = 0; e < f2v_.size(); ++e) compute(static_cast<Offset>(e));
  for (Offset i = 0; i < updates; ++i) {
    Offset const edge = std::max_element(change.begin(), change.end()) - change.begin();
    f2v_[edge] = next[edge];
    change[edge] = 0;
    Index const v = graph_.factor_variables[edge];
    for (Offset k = variable_edges_.offsets[v]; k < variable_edges_.offsets[v + 1]; ++k) {
      Offset const read = variable_edges_.edges[k];
      Index const a = factor_of_edge_[read];
      for (Offset e = graph_.factor_offsets[a]; read != edge && e < graph_.factor_offsets[a + 1]; ++e) compute(e);
    }
  }
}

std::vector<Distribution> BeliefPropagation::marginals() const {
  std::vector<Distribution> result = evidence_;
  for (std::size_t e = 0; e < f2v_.size(); ++e)
    result[graph_.factor_variables[e]] = product(result[graph_.factor_variables[e]], f2v_[e]);
  return result;
}

}  // namespace hornbill::reference
