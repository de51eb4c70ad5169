// The graph of variables that are together in some table, from which variables are eliminated.
#pragma once

#include <span>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::elim {

class PrimalGraph {
 public:
  /// \throws InputError for a variable that there is not
  PrimalGraph(std::span<Index const> cardinality, std::vector<std::span<Index const>> const& scopes);

  Index num_variables() const { return static_cast<Index>(neighbours_.size()); }
  std::vector<Index> const& neighbours(Index v) const { return neighbours_[v]; }
  /// Of the table over a variable and its neighbours.
  double cells(Index v) const { return table_cells(v) * cardinality_[v]; }
  /// Of the table over its neighbours.
  double table_cells(Index v) const;
  /// Pairs of neighbours that are not neighbours themselves; by their lists, not by pairs, as a hub has very many.
  double fill(Index v);
  /// Takes a variable out; its neighbours become each other's.
  void eliminate(Index v, bool connect = true);

 private:
  std::span<Index const> cardinality_;
  std::vector<std::vector<Index>> neighbours_;  // sorted
  std::vector<bool> is_marked_;                 // of fill(): neighbours of its variable
};

}  // namespace hornbill::elim
