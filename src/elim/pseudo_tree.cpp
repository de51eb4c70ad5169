#include <hornbill/elim/pseudo_tree.hpp>

#include <algorithm>
#include <utility>

#include "variable_order.hpp"

namespace hornbill::elim {
namespace {

/// What each variable's bucket shares with what is eliminated later.
std::vector<std::vector<Index>> separators(VariableOrder const& in_order, std::vector<Index> const& variables,
                                           std::vector<std::span<Index const>> const& scopes) {
  std::vector<std::vector<Index>> result(variables.size());
  for (auto const& scope : scopes)
    if (auto const sorted = in_order.sorted(scope); !sorted.empty())
      result[sorted.front()] = in_order.united(result[sorted.front()], {sorted.begin() + 1, sorted.end()});
  for (Index v : variables)
    if (auto const& of_v = result[v]; !of_v.empty())
      result[of_v.front()] = in_order.united(result[of_v.front()], {of_v.begin() + 1, of_v.end()});
  return result;
}

/// Children before parents, each subtree together, children in their old order.
std::vector<Index> post_order(std::vector<Index> const& variables, std::vector<Index> const& parent) {
  std::vector<std::vector<Index>> children(parent.size());
  std::vector<Index> pending, result;
  for (Index v : variables) (parent[v] < 0 ? pending : children[parent[v]]).push_back(v);
  while (!pending.empty()) {  // the reverse: a parent, then its last child's subtree first
    Index const v = pending.back();
    pending.pop_back();
    result.push_back(v);
    pending.insert(pending.end(), children[v].begin(), children[v].end());
  }
  std::reverse(result.begin(), result.end());
  return result;
}

}  // namespace

PseudoTree make_pseudo_tree(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                            Order order) {
  PseudoTree tree;
  tree.separator = separators(VariableOrder(order.variables, cardinality.size()), order.variables, scopes);
  std::vector<int> depth(cardinality.size());
  for (auto const& separator : tree.separator) tree.parent.push_back(separator.empty() ? -1 : separator.front());
  order.variables = post_order(order.variables, tree.parent);
  for (std::size_t i = order.variables.size(); i-- > 0;)
    if (Index const v = order.variables[i]; tree.parent[v] >= 0)
      tree.depth = std::max(tree.depth, depth[v] = depth[tree.parent[v]] + 1);
  tree.order = std::move(order);
  return tree;
}

}  // namespace hornbill::elim
