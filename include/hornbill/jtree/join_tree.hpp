/// \file
/// Junction trees: the cliques of a triangulated graph, joined so that what two of them share is in all between them.
#pragma once

#include <span>
#include <vector>

#include <hornbill/elim/order.hpp>

namespace hornbill::jtree {

/// A tree of cliques for each connected part of a model.
struct JoinTree {
  elim::Order order;
  std::vector<std::vector<Index>> cliques;     ///< maximal; variables of each in the order of elimination
  std::vector<Index> parent;                   ///< [cliques], -1 of a root
  std::vector<std::vector<Index>> separators;  ///< [cliques], what each shares with its parent
  /// [V], a clique that has the variable and all that are its neighbours when it is eliminated
  std::vector<Index> clique_of;
};

/// Triangulates by eliminating in an order, and joins the maximal cliques. Elimination tells a maximum spanning tree
/// over the sizes of what cliques share: each goes below that of the next of its variables to be eliminated.
/// \source Blair and Peyton: An introduction to chordal graphs and clique trees, 1993, section 4
/// \param scopes  of tables, and of whatever else has to be within one clique   \throws InputError, ShapeError
JoinTree make_join_tree(std::span<Index const> cardinality, std::vector<std::span<Index const>> const& scopes,
                        elim::Order order);

}  // namespace hornbill::jtree
