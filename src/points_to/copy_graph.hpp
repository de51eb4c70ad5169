// Edges along which sets flow: from is a part of to. Internal to src/points_to.
#pragma once

#include <utility>
#include <vector>

#include <hornbill/types.hpp>

#include "components.hpp"
#include "nodes.hpp"

namespace hornbill::points_to {

class CopyGraph {
 public:
  explicit CopyGraph(Nodes& nodes) : nodes_(nodes) {}

  /// The set of `from` must be in that of `to` already, unless collapse() has not run.
  void add_edge(Index from, Index to) { edges_.emplace_back(from, to); }
  /// A node's set is to be sent again, as it was merged with another one since collapse().
  void send_again(Index root) {
    if (root < static_cast<Index>(sent_.size())) sent_[root] = none;
  }

  /// Only these sets are kept: a number of another one says nothing any more.   \shape [num_ids] of the pool
  void keep_sets(std::vector<bool> const& is_used) {
    for (auto& set : sent_)
      if (set != none && !is_used[set]) set = none;
  }

  /// Brings edges into rows, and merges the nodes of each cycle.   \return how many were merged into others
  Index collapse(bool merge_cycles);
  /// Sets flow along edges in topological order, each node once; around cycles, if they are not merged, until nothing
  /// changes.
  void propagate(bool cycles_are_merged);

 private:
  static constexpr SetId none = PairMap::none;

  void number_active_nodes();
  void make_rows();
  void drop_repeated();
  bool send(Index node);

  Nodes& nodes_;
  std::vector<std::pair<Index, Index>> edges_;
  std::vector<SetId> sent_;  // [nodes], the set that went along a node's edges
  // of one round
  std::vector<Index> active_;     // nodes that have edges
  std::vector<Index> number_of_;  // [nodes], among them
  Rows rows_;                     // by number
  Components components_;
  std::vector<Index> next_, roots_;
  Marks marks_;
};

}  // namespace hornbill::points_to
