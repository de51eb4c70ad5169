// The upper part of a wide factor's tree: from the totals of its chunks to the odds outside each, and the message to its head.
#pragma once

#include <hornbill/detail/bp/fields.hpp>
#include <hornbill/detail/bp/lane_update.hpp>
#include <hornbill/detail/bp/odds_tree.hpp>

namespace hornbill::detail {

/// Blocks of nodes, one after another, by one thread.
struct OneThread {
  template <class Function>
  KOKKOS_FUNCTION void for_each_block(Index count, Function const& function) const {
    for (Index b = 0; b < count; ++b) function(b);
  }
  template <class Function>
  KOKKOS_FUNCTION void for_each_node(Index count, Function const& function) const {
    for (Index i = 0; i < count; ++i) function(i);
  }
  /// By one of those who share a block.
  template <class Function>
  KOKKOS_FUNCTION void once(Function const& function) const { function(); }
  KOKKOS_FUNCTION void barrier() const {}

  /// The total of a block of nodes.
  template <class Nodes>
  KOKKOS_FUNCTION auto total(Nodes const& nodes, Index first, Index count) const {
    BlockTree<decltype(nodes(0).total)> tree;
    for (Index i = 0; i < count; ++i) tree.odds[i] = nodes(first + i).total;
    return tree.compose(count);
  }
  /// Writes the odds outside each node of a block, given those outside them all; returns the total.
  template <class Nodes, class Number>
  KOKKOS_FUNCTION Number spread(Nodes const& nodes, Index first, Index count, Number outside) const {
    BlockTree<Number> tree;
    for (Index i = 0; i < count; ++i) tree.odds[i] = nodes(first + i).total;
    Number const total = tree.compose(count);
    tree.leave_one_out(count, outside);
    for (Index i = 0; i < count; ++i) nodes(first + i).outside = tree.odds[i];
    return total;
  }
};

/// Blocks of nodes, each by a warp; a node a lane.
template <class Member>
struct Warps {
  Member const& member;
  bool whole_team;  ///< all warps of the team, or this one alone

  template <class Function>
  KOKKOS_FUNCTION void for_each_block(Index count, Function const& function) const {
    for (Index b = first(); b < count; b += step()) function(b);
  }
  template <class Function>
  KOKKOS_FUNCTION void for_each_node(Index count, Function const& function) const {
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, bp::warp_size), [&](int lane) {
      for (Index i = first() * bp::warp_size + lane; i < count; i += step() * bp::warp_size) function(i);
    });
  }
  template <class Function>
  KOKKOS_FUNCTION void once(Function const& function) const { Kokkos::single(Kokkos::PerThread(member), function); }
  KOKKOS_FUNCTION void barrier() const {
    if (whole_team) member.team_barrier();
  }
  template <class Nodes>
  KOKKOS_FUNCTION auto total(Nodes const& nodes, Index first, Index count) const {
    decltype(nodes(0).total) total;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, bp::warp_size), [&](int lane) { total = tree(nodes, first, count, lane).total; });
    return total;
  }
  template <class Nodes, class Number>
  KOKKOS_FUNCTION Number spread(Nodes const& nodes, Index first, Index count, Number outside) const {
    Number total;
    Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, bp::warp_size), [&](int lane) {
      auto const path = tree(nodes, first, count, lane);
      if (lane < count) nodes(first + lane).outside = path.leave_one_out(outside, LaneTree<Number>::most_levels);
      total = path.total;
    });
    return total;
  }

 private:
  KOKKOS_FUNCTION Index first() const { return whole_team ? member.team_rank() : 0; }
  KOKKOS_FUNCTION Index step() const { return whole_team ? member.team_size() : 1; }
  template <class Nodes>
  KOKKOS_FUNCTION static auto tree(Nodes const& nodes, Index first, Index count, int lane) {
    using Number = decltype(nodes(0).total);
    return LaneTree<Number>(lane < count ? nodes(first + lane).total : Number{}, lane, static_cast<int>(count), 0, LaneTree<Number>::most_levels);
  }
};

/// From totals at the nodes of chunks to all else at the nodes; puts the message to the head where it is wanted.
template <Write write, class Executor, class Value, class MemorySpace>
KOKKOS_FUNCTION void update_wide(Executor const& executor, Fields<Value, MemorySpace> const& f, bp::WideTask const& task) {
  using E = Extended<Value>;
  Index const head = f.graph.factor_offsets(task.factor);
  NodeLevels const levels(task.first_node, f.graph.factor_offsets(task.factor + 1) - head);
  auto const p = f.graph.parameters(task.factor);
  Value const before = f.messages(head), log_odds = f.variable_to_factor(f.graph.factor_variables(head), before);
  bool const disjunction = task.disjunction;
  auto const weights = head_weights(p, E::exp(disjunction ? -log_odds : log_odds));
  executor.barrier();  // the head's message was read by all before it is replaced

  for (int l = 0; l + 1 < levels.levels; ++l) {
    executor.for_each_block(levels.count[l + 1], [&](Index b) {
      E const total = executor.total(f.nodes, levels.first[l] + b * bp::chunk_size, levels.block_size(l, b));
      executor.once([&] { f.nodes(levels.first[l + 1] + b).total = total; });
    });
    executor.barrier();
  }
  for (int l = levels.levels - 1; l >= 0; --l) {
    bool const root = l == levels.levels - 1;
    executor.for_each_block(root ? 1 : levels.count[l + 1], [&](Index b) {
      E const outside = root ? E::zero() : f.nodes(levels.first[l + 1] + b).outside;
      E const total = executor.spread(f.nodes, levels.first[l] + b * bp::chunk_size, levels.block_size(l, b), outside);
      if (root && task.head_wanted) {
        Value const oriented = message(form_to_head<E>(p), total);
        executor.once([&] { put_message<write>(f, head, f.graph.factor_variables(head), before, disjunction ? -oriented : oriented); });
      }
    });
    executor.barrier();
  }
  executor.for_each_node(levels.count[0], [&](Index i) { f.nodes(levels.first[0] + i).head = weights; });
}

}  // namespace hornbill::detail
