// Strongly connected components. Internal to src/points_to.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::points_to {

/// Edges by the node that they leave.
struct Rows {
  std::vector<Index> offsets{0};  // [num_nodes + 1]
  std::vector<Index> targets;

  Index num_nodes() const { return static_cast<Index>(offsets.size()) - 1; }
  std::span<Index const> of(Index node) const {
    return {targets.data() + offsets[node], static_cast<std::size_t>(offsets[node + 1] - offsets[node])};
  }
};

/// Rows of pairs (row, entry), in the order in which they are given.
template <class ForEachPair>
Rows rows_of(Index num_nodes, ForEachPair const& for_each_pair) {
  Rows rows;
  rows.offsets.assign(num_nodes + 1, 0);
  for_each_pair([&](Index row, Index) { ++rows.offsets[row + 1]; });
  std::partial_sum(rows.offsets.begin(), rows.offsets.end(), rows.offsets.begin());
  rows.targets.resize(rows.offsets.back());
  auto next = rows.offsets;
  for_each_pair([&](Index row, Index entry) { rows.targets[next[row]++] = entry; });
  return rows;
}

/// Components by Tarjan's algorithm, without recursion. Memory is kept from run to run.
class Components {
 public:
  /// Numbers components so that edges between them lead to smaller numbers.   \return how many there are
  Index find(Rows const& rows) {
    auto const num_nodes = rows.num_nodes();
    of_node_.assign(num_nodes, unknown);
    least_.assign(num_nodes, 0);
    order_.clear();
    order_.reserve(num_nodes);
    count_ = visited_ = 0;
    for (Index root = 0; root < num_nodes; ++root)
      if (least_[root] == 0) search(rows, root);
    return count_;
  }
  Index operator[](Index node) const { return of_node_[node]; }
  Index count() const { return count_; }
  /// All nodes, component after component.
  std::span<Index const> order() const { return order_; }

 private:
  static constexpr Index unknown = -1;
  struct Frame {
    Index node, next, first;  ///< next edge; number of the node when it was entered
  };

  void enter(Rows const& rows, Index node) {
    least_[node] = ++visited_;
    path_.push_back(node);
    frames_.push_back({node, rows.offsets[node], visited_});
  }
  void search(Rows const& rows, Index root) {
    enter(rows, root);
    while (!frames_.empty()) {
      auto& frame = frames_.back();
      if (frame.next < rows.offsets[frame.node + 1]) {
        Index const target = rows.targets[frame.next++];
        if (least_[target] == 0)
          enter(rows, target);
        else if (of_node_[target] == unknown)
          least_[frame.node] = std::min(least_[frame.node], least_[target]);
      } else {
        leave();
      }
    }
  }
  void leave() {
    auto const [node, next, first] = frames_.back();
    frames_.pop_back();
    if (least_[node] == first) {
      Index member;
      do {
        member = path_.back();
        path_.pop_back();
        of_node_[member] = count_;
        order_.push_back(member);
      } while (member != node);
      ++count_;
    }
    if (!frames_.empty()) least_[frames_.back().node] = std::min(least_[frames_.back().node], least_[node]);
  }

  std::vector<Index> of_node_, least_, order_, path_;
  std::vector<Frame> frames_;
  Index count_ = 0, visited_ = 0;
};

}  // namespace hornbill::points_to
