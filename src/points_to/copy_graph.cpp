#include "copy_graph.hpp"

#include <numeric>

namespace hornbill::points_to {

Index CopyGraph::collapse(bool merge_cycles) {
  number_active_nodes();
  make_rows();
  components_.find(rows_);
  roots_.resize(components_.count());
  for (Index node = 0; node < rows_.num_nodes(); ++node) roots_[components_[node]] = active_[node];
  sent_.resize(nodes_.size(), none);
  Index merged = 0;
  for (Index node = 0; merge_cycles && node < rows_.num_nodes(); ++node) {
    Index const root = roots_[components_[node]];
    if (!nodes_.merge(root, active_[node])) continue;
    ++merged;
    sent_[root] = none;
  }
  return merged;
}

/// Roots that have edges, and their numbers in rows.
void CopyGraph::number_active_nodes() {
  active_.clear();
  number_of_.resize(nodes_.size());
  marks_.clear(nodes_.size());
  auto const number = [&](Index& node) {
    node = nodes_.root(node);
    if (!marks_.mark(node)) return;
    number_of_[node] = static_cast<Index>(active_.size());
    active_.push_back(node);
  };
  for (auto& [from, to] : edges_) number(from), number(to);
}

void CopyGraph::make_rows() {
  auto& offsets = rows_.offsets;
  offsets.assign(active_.size() + 1, 0);
  for (auto const& [from, to] : edges_) ++offsets[number_of_[from] + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  rows_.targets.resize(edges_.size());
  next_.assign(offsets.begin(), offsets.end());
  for (auto const& [from, to] : edges_) rows_.targets[next_[number_of_[from]]++] = number_of_[to];
  drop_repeated();
}

/// And edges from a node to itself; the edges are then those of the rows.
void CopyGraph::drop_repeated() {
  edges_.clear();
  Index kept = 0, begin = 0;
  for (Index node = 0; node < rows_.num_nodes(); ++node) {
    Index const end = rows_.offsets[node + 1];
    marks_.clear(rows_.num_nodes());
    for (Index e = begin; e < end; ++e) {
      Index const target = rows_.targets[e];
      if (target == node || !marks_.mark(target)) continue;
      rows_.targets[kept++] = target;
      edges_.emplace_back(active_[node], active_[target]);
    }
    begin = end;
    rows_.offsets[node + 1] = kept;
  }
  rows_.targets.resize(kept);
}

void CopyGraph::propagate(bool cycles_are_merged) {
  auto const order = components_.order();  // the last component comes first
  for (bool changes = true; changes;) {
    changes = false;
    for (auto node = order.rbegin(); node != order.rend(); ++node) changes |= send(*node);
    changes = changes && !cycles_are_merged;
  }
}

/// \return whether another set has grown
bool CopyGraph::send(Index node) {
  Index const root = nodes_.root(active_[node]);
  auto const set = nodes_.set(root);
  if (set == sent_[active_[node]]) return false;
  sent_[active_[node]] = set;
  bool grows = false;
  for (Index const target : rows_.of(node))
    if (Index const to = nodes_.root(active_[target]); to != root) grows |= nodes_.add_to(to, set);
  return grows;
}

}  // namespace hornbill::points_to
