// The graph of variables that are together in some table, from which variables are eliminated.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::elim {

/// By how much the fill of some variables changes.
class FillChanges {
 public:
  explicit FillChanges(Index num_variables) : by_(static_cast<std::size_t>(num_variables)), is_listed_(by_.size()) {}
  void add(Index v, double change) {
    if (!is_listed_[v]) listed_.push_back(v);
    is_listed_[v] = true;
    by_[v] += change;
  }
  /// Calls visit(variable, change) for each, and forgets them.
  template <class Visit>
  void take(Visit const& visit) {
    for (Index v : listed_) {
      visit(v, by_[v]);
      by_[v] = 0;
      is_listed_[v] = false;
    }
    listed_.clear();
  }

 private:
  std::vector<double> by_;
  std::vector<bool> is_listed_;
  std::vector<Index> listed_;
};

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
  /// The same; tells how the fill of others changes, by looking at new edges alone and not at a hub's neighbours each
  /// time that one of them changes.
  void eliminate(Index v, FillChanges& changes);

 private:
  void connect(Index a, Index b, FillChanges& changes);

  std::span<Index const> cardinality_;
  std::vector<std::vector<Index>> neighbours_;  // sorted
  std::vector<bool> is_marked_;                 // of fill(): neighbours of its variable
};

}  // namespace hornbill::elim
