// Strongly connected components. Internal to src/points_to.
#pragma once

#include <algorithm>
#include <numeric>
#include <span>
#include <vector>

#include <hornbill/detail/huge_pages.hpp>
#include <hornbill/types.hpp>

namespace hornbill::points_to {

using hornbill::detail::HugePageVector;

/// Edges by the node that they leave.
struct Rows {
  HugePageVector<Index> offsets{0};  // [num_nodes + 1]
  HugePageVector<Index> targets;

  Index num_nodes() const { return static_cast<Index>(offsets.size()) - 1; }
  Index target(Index, Index edge) const { return targets[edge]; }
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
  /// Numbers components so that edges between them lead to smaller numbers.
  /// \param graph  num_nodes(); the edges of a node are offsets[node] to offsets[node + 1], and end in
  ///               target(node, edge)
  /// \param num_roots  only nodes that these first ones reach are looked at, the others have no component
  /// \param found  is called with the number of a component as soon as all of it is known
  /// \return how many there are
  template <class Graph, class Found>
  Index find(Graph const& graph, Index num_roots, Found const& found) {
    state_.assign(graph.num_nodes(), 0);
    order_.clear();
    ends_.clear();
    if (num_roots == graph.num_nodes()) {
      order_.reserve(num_roots);
      ends_.reserve(num_roots);
    }
    num_visited_ = 0;
    for (Index root = 0; root < num_roots; ++root)
      if (state_[root] == 0) search(graph, root, found);
    return count();
  }
  template <class Graph>
  Index find(Graph const& graph) {
    return find(graph, graph.num_nodes(), [](Index) {});
  }
  Index operator[](Index node) const { return ~state_[node]; }
  Index count() const { return static_cast<Index>(ends_.size()); }
  /// All nodes that were looked at, component after component.
  std::span<Index const> order() const { return order_; }
  std::span<Index const> members(Index component) const {
    auto const begin = component == 0 ? 0 : ends_[component - 1];
    return order().subspan(begin, ends_[component] - begin);
  }

 private:
  struct Frame {
    Index node, next, end, visit;  ///< edges `next` to `end` are left; number of the node when it was entered
  };

  template <class Graph>
  void enter(Graph const& graph, Index node) {
    state_[node] = ++num_visited_;
    path_.push_back(node);
    frames_.push_back({node, graph.offsets[node], graph.offsets[node + 1], num_visited_});
  }
  template <class Graph, class Found>
  void search(Graph const& graph, Index root, Found const& found) {
    enter(graph, root);
    while (!frames_.empty()) {
      auto& frame = frames_.back();
      if (frame.next < frame.end) {
        Index const target = graph.target(frame.node, frame.next++);
        if (state_[target] == 0)
          enter(graph, target);
        else if (state_[target] > 0)
          state_[frame.node] = std::min(state_[frame.node], state_[target]);
      } else if (leave()) {
        found(count() - 1);
      }
    }
  }
  /// \return whether a component is complete
  bool leave() {
    auto const [node, next, end, visit] = frames_.back();
    frames_.pop_back();
    Index const least = state_[node];
    if (!frames_.empty()) state_[frames_.back().node] = std::min(state_[frames_.back().node], least);
    if (least != visit) return false;
    Index member;
    do {
      member = path_.back();
      path_.pop_back();
      state_[member] = ~count();
      order_.push_back(member);
    } while (member != node);
    ends_.push_back(static_cast<Index>(order_.size()));
    return true;
  }

  // 0: not entered; above: the least number that a node on the path is known to reach; below: ~component
  HugePageVector<Index> state_;
  HugePageVector<Index> order_, ends_;  // ends of components in the order
  std::vector<Index> path_;
  std::vector<Frame> frames_;
  Index num_visited_ = 0;
};

}  // namespace hornbill::points_to
