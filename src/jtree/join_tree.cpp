#include <hornbill/jtree/join_tree.hpp>

#include <utility>

#include "../elim/primal_graph.hpp"
#include "../elim/variable_order.hpp"

namespace hornbill::jtree {

JoinTree make_join_tree(std::span<Index const> cardinality, std::vector<std::span<Index const>> const& scopes,
                        elim::Order order) {
  JoinTree tree;
  tree.order = std::move(order);
  auto const& variables = tree.order.variables;
  elim::VariableOrder const in_order(variables, cardinality.size());

  elim::PrimalGraph graph(cardinality, scopes);
  std::vector<std::vector<Index>> later(variables.size());  // of each variable, its neighbours when it is eliminated
  std::vector<Index> widest_below(variables.size(), -1);    // of the variables of which this one is the next neighbour
  // of each clique, the variable that is eliminated last of those it is the clique of
  std::vector<Index> last_of;
  tree.clique_of.resize(variables.size());
  for (Index v : variables) {
    later[v] = in_order.sorted(graph.neighbours(v));
    graph.eliminate(v);
    // the clique there has all of these
    if (Index const below = widest_below[v]; below >= 0 && later[below].size() == later[v].size() + 1) {
      tree.clique_of[v] = tree.clique_of[below];
      last_of[tree.clique_of[v]] = v;
    } else {
      tree.clique_of[v] = static_cast<Index>(tree.cliques.size());
      tree.cliques.push_back({v});
      tree.cliques.back().insert(tree.cliques.back().end(), later[v].begin(), later[v].end());
      last_of.push_back(v);
    }
    if (later[v].empty()) continue;
    auto& below = widest_below[later[v].front()];
    if (below < 0 || later[v].size() > later[below].size()) below = v;
  }
  for (std::size_t c = 0; c < tree.cliques.size(); ++c) {
    auto const& shared = later[last_of[c]];
    tree.parent.push_back(shared.empty() ? -1 : tree.clique_of[shared.front()]);
    tree.separators.push_back(shared);
  }
  return tree;
}

}  // namespace hornbill::jtree
