/// \file
/// An elimination order as a tree of agents.
#pragma once

#include <span>
#include <vector>

#include <hornbill/elim/order.hpp>

namespace hornbill::elim {

/// Agents that each decide one variable. Whoever shares a table is ancestor and descendant, so that subtrees are
/// independent given their ancestors.
/// \source Petcu and Faltings: A scalable method for multiagent constraint optimization, 2005
struct PseudoTree {
  Order order;                ///< children before parents, each subtree together
  std::vector<Index> parent;  ///< [V]; -1 of a root
  /// [V], the ancestors that an agent's subtree shares tables with, the nearest first
  std::vector<std::vector<Index>> separator;
  int depth = 0;  ///< messages from the deepest leaf to its root

  Index num_variables() const { return static_cast<Index>(parent.size()); }
};

/// The tree in which a variable's parent is the first of its neighbours to be eliminated after it.
/// \param order  of Heuristic::depth_first: then parents are neighbours of the graph as it was, else of what
/// elimination makes of it
/// \throws ShapeError for an order of other variables
PseudoTree make_pseudo_tree(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                            Order order);

}  // namespace hornbill::elim
