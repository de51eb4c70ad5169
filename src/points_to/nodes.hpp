// Nodes of the graph that sets flow along: variables, and hubs that stand for several. Internal to src/points_to.
#pragma once

#include <cstdint>
#include <span>
#include <utility>
#include <vector>

#include <hornbill/types.hpp>

#include "set_pool.hpp"

namespace hornbill::points_to {

/// Sets by node. Nodes that have become one have the same root.
class Nodes {
 public:
  /// \param representative  of each variable; -1 of those that point to nothing
  Nodes(std::span<Index const> representative, SetPool& pool)
      : pool_(pool), parents_(representative.begin(), representative.end()), sets_(representative.size(), empty_set) {
    for (Index node = 0; node < size(); ++node)
      if (parents_[node] < 0) parents_[node] = node;
  }
  Index add() {
    parents_.push_back(size());
    sets_.push_back(empty_set);
    return size() - 1;
  }
  Index size() const { return static_cast<Index>(parents_.size()); }
  Index root(Index node) {
    while (parents_[node] != node) node = parents_[node] = parents_[parents_[node]];
    return node;
  }
  /// \return whether they were two
  bool merge(Index into, Index node) {
    into = root(into), node = root(node);
    if (into == node) return false;
    parents_[node] = into;
    add_to(into, sets_[node]);
    return true;
  }
  SetId set(Index root) const { return sets_[root]; }
  /// Marks the sets of nodes.   \shape [num_ids] of the pool
  void mark_sets(std::vector<bool>& is_used) const {
    for (Index node = 0; node < size(); ++node)
      if (parents_[node] == node) is_used[sets_[node]] = true;
  }
  /// \return whether the set has grown
  bool add_to(Index root, SetId set) {
    auto const united = pool_.unite(sets_[root], set);
    return std::exchange(sets_[root], united) != united;
  }

 private:
  SetPool& pool_;
  std::vector<Index> parents_;
  std::vector<SetId> sets_;
};

/// Which nodes were seen since the last clear().
class Marks {
 public:
  void clear(Index num_nodes) {
    ++now_;
    if (static_cast<Index>(seen_.size()) < num_nodes) seen_.resize(2 * static_cast<std::size_t>(num_nodes), 0);
  }
  /// \return whether it was not marked
  bool mark(Index node) { return std::exchange(seen_[node], now_) != now_; }

 private:
  std::vector<std::uint64_t> seen_;
  std::uint64_t now_ = 0;
};

}  // namespace hornbill::points_to
