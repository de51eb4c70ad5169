#include <algorithm>
#include <utility>

#include <hornbill/bp/schedule.hpp>

namespace hornbill::bp {
namespace {

/// Factors and variables taken off the graph leaf by leaf until only the cyclic core is left.
struct Peeling {
  std::vector<Index> factors;          ///< peeled factors, leaves first
  std::vector<Offset> edge_to_parent;  ///< [F]; the edge to the variable that a factor hung on; -1: none, or not peeled
  std::vector<char> factor_peeled, variable_peeled;
};

Peeling peel(HostFactorGraph const& graph, VariableEdges const& variable_edges,
             std::vector<Index> const& factor_of_edge) {
  Index const num_factors = graph.num_factors(), num_variables = graph.num_variables;
  Peeling p{
      {}, std::vector<Offset>(num_factors, -1), std::vector<char>(num_factors, 0), std::vector<char>(num_variables, 0)};
  std::vector<Offset> factor_degree(num_factors), variable_degree(num_variables);
  std::vector<Index> leaves;  // factor a as a, variable v as num_factors + v
  for (Index a = 0; a < num_factors; ++a)
    if ((factor_degree[a] = graph.factor_offsets[a + 1] - graph.factor_offsets[a]) <= 1) leaves.push_back(a);
  for (Index v = 0; v < num_variables; ++v)
    if ((variable_degree[v] = variable_edges.offsets[v + 1] - variable_edges.offsets[v]) <= 1)
      leaves.push_back(num_factors + v);
  for (std::size_t i = 0; i < leaves.size(); ++i) {
    if (Index const a = leaves[i]; a < num_factors) {
      if (std::exchange(p.factor_peeled[a], 1)) continue;
      p.factors.push_back(a);
      for (Offset e = graph.factor_offsets[a]; e < graph.factor_offsets[a + 1]; ++e) {
        Index const v = graph.factor_variables[e];
        if (p.variable_peeled[v]) continue;
        p.edge_to_parent[a] = e;
        if (--variable_degree[v] <= 1) leaves.push_back(num_factors + v);
      }
    } else {
      Index const v = leaves[i] - num_factors;
      if (std::exchange(p.variable_peeled[v], 1)) continue;
      for (Offset k = variable_edges.offsets[v]; k < variable_edges.offsets[v + 1]; ++k)
        if (Index const b = factor_of_edge[variable_edges.edges[k]]; !p.factor_peeled[b] && --factor_degree[b] <= 1)
          leaves.push_back(b);
    }
  }
  return p;
}

/// The factors of the core, premises before conclusions.
std::vector<Index> sort_core(HostFactorGraph const& graph, VariableEdges const& variable_edges,
                             std::vector<Index> const& factor_of_edge, Peeling const& peeling) {
  Index const num_factors = graph.num_factors();
  auto is_head = [&](Offset e) { return e == graph.factor_offsets[factor_of_edge[e]]; };
  std::vector<Offset> producers(graph.num_variables, 0), waiting(num_factors, 0);
  std::vector<Index> ready, sorted;
  std::vector<char> taken = peeling.factor_peeled;
  for (Index a = 0; a < num_factors; ++a)
    if (!taken[a]) ++producers[graph.factor_variables[graph.factor_offsets[a]]];
  for (Index a = 0; a < num_factors; ++a) {
    if (taken[a]) continue;
    for (Index v : graph.variables_of(a).subspan(1)) waiting[a] += producers[v] > 0;
    if (waiting[a] == 0) ready.push_back(a);
  }
  for (Index next_in_file = 0;;) {
    for (std::size_t i = 0; i < ready.size(); ++i) {
      Index const a = ready[i];
      if (std::exchange(taken[a], 1)) continue;
      sorted.push_back(a);
      Index const head = graph.factor_variables[graph.factor_offsets[a]];
      if (--producers[head] > 0) continue;
      for (Offset k = variable_edges.offsets[head]; k < variable_edges.offsets[head + 1]; ++k) {
        Offset const e = variable_edges.edges[k];
        if (Index const b = factor_of_edge[e]; !taken[b] && !is_head(e) && --waiting[b] == 0) ready.push_back(b);
      }
    }
    ready.clear();
    while (next_in_file < num_factors && taken[next_in_file]) ++next_in_file;
    if (next_in_file == num_factors) return sorted;
    ready.push_back(next_in_file);  // the derivations are cyclic: break the cycle here
  }
}

}  // namespace

std::vector<Offset> topological_order(HostFactorGraph const& graph) {
  auto const variable_edges = edges_of_variables(graph);
  auto const factor_of_edge = factors_of_edges(graph);
  auto const peeling = peel(graph, variable_edges, factor_of_edge);
  auto const core = sort_core(graph, variable_edges, factor_of_edge, peeling);
  std::vector<Offset> order;
  order.reserve(graph.factor_variables.size());
  auto add_edges = [&](Index a, auto&& wanted) {
    for (Offset e = graph.factor_offsets[a]; e < graph.factor_offsets[a + 1]; ++e)
      if (wanted(e)) order.push_back(e);
  };
  auto in_core = [&](Offset e) { return !peeling.variable_peeled[graph.factor_variables[e]]; };

  for (Index a : peeling.factors)
    if (peeling.edge_to_parent[a] >= 0) order.push_back(peeling.edge_to_parent[a]);
  for (Index a : core) add_edges(a, [&](Offset e) { return in_core(e) && e == graph.factor_offsets[a]; });
  for (auto a = core.rbegin(); a != core.rend(); ++a)
    add_edges(*a, [&](Offset e) { return in_core(e) && e != graph.factor_offsets[*a]; });
  for (Index a : core) add_edges(a, [&](Offset e) { return !in_core(e); });
  for (auto a = peeling.factors.rbegin(); a != peeling.factors.rend(); ++a)
    add_edges(*a, [&](Offset e) { return e != peeling.edge_to_parent[*a]; });
  return order;
}

}  // namespace hornbill::bp
