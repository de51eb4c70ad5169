// The upper part of a wide factor's tree: from the totals of its chunks to the odds outside each, and the message to
// its head.
#pragma once

#include <hornbill/bp/detail/fields.hpp>
#include <hornbill/bp/detail/lane_update.hpp>
#include <hornbill/bp/detail/odds_tree.hpp>
#include <hornbill/bp/detail/policies.hpp>

namespace hornbill::bp::detail {

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
  KOKKOS_FUNCTION void once(Function const& function) const {
    function();
  }
  KOKKOS_FUNCTION void barrier() const {}

  /// The total of a block of nodes.
  template <class F>
  KOKKOS_FUNCTION auto total(F const& f, Index first, Index count) const {
    BlockTree<Extended<typename F::Value>> tree;
    for (Index i = 0; i < count; ++i) tree.odds[i] = f.nodes(first + i).total;
    return tree.compose(count);
  }
  /// Writes the odds outside each node of a block, given those outside them all; returns the total.
  template <class F, class Number>
  KOKKOS_FUNCTION Number spread(F const& f, Index first, Index count, Number outside) const {
    BlockTree<Number> tree;
    for (Index i = 0; i < count; ++i) tree.odds[i] = f.nodes(first + i).total;
    Number const total = tree.compose(count);
    tree.leave_one_out(count, outside);
    for (Index i = 0; i < count; ++i) store(f.nodes(first + i).outside, tree.odds[i]);
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
    for_each_lane(member, [&](int lane) {
      for (Index i = first() * bp::warp_size + lane; i < count; i += step() * bp::warp_size) function(i);
    });
  }
  template <class Function>
  KOKKOS_FUNCTION void once(Function const& function) const {
    Kokkos::single(Kokkos::PerThread(member), function);
  }
  KOKKOS_FUNCTION void barrier() const {
    if (whole_team) member.team_barrier();
  }
  template <class F>
  KOKKOS_FUNCTION auto total(F const& f, Index first, Index count) const {
    using E = Extended<typename F::Value>;
    E total;
    for_each_lane(member, [&](int lane) { total = walk(f, first, count, lane, E::zero()).total; });
    return total;
  }
  template <class F, class E>
  KOKKOS_FUNCTION E spread(F const& f, Index first, Index count, E outside) const {
    E total;
    for_each_lane(member, [&](int lane) {
      auto const walked = walk(f, first, count, lane, outside);
      if (lane < count) store(f.nodes(first + lane).outside, walked.outside);
      total = walked.total;
    });
    return total;
  }

  template <class E>
  struct Walked {
    E total, outside;
  };
  /// Up the tree over a block of nodes, and down again.
  template <class F, class E>
  KOKKOS_FUNCTION static Walked<E> walk(F const& f, Index first, Index count, int lane, E outside) {
    using Value = decltype(E::m);
    E const leaf = lane < count ? f.nodes(first + lane).total : E::zero();
    if (all_lanes(leaf.is_ordinary() && outside.is_ordinary())) {
      auto const walked = walk_in(leaf.plain(), outside.plain(), lane, count);
      if (all_lanes(suffices<Value>(odds_against_both(walked.total, outside.plain()))))
        return {E::from(walked.total), E::from(walked.outside)};
    }
    return walk_out_of_range(leaf, outside, lane, count);
  }

 private:
  KOKKOS_FUNCTION Index first() const { return whole_team ? member.team_rank() : 0; }
  KOKKOS_FUNCTION Index step() const { return whole_team ? member.team_size() : 1; }
  template <class Number>
  KOKKOS_FUNCTION static Walked<Number> walk_in(Number leaf, Number outside, int lane, Index count) {
    constexpr int levels = LaneTree<Number>::max_levels;
    LaneTree<Number> const tree(leaf, lane, static_cast<int>(count), 0, levels);
    return {tree.total, tree.leave_one_out(outside, levels)};
  }
  /// A function of its own, see lane_update.hpp.
  template <class E>
  [[gnu::noinline]] KOKKOS_FUNCTION static Walked<E> walk_out_of_range(E leaf, E outside, int lane, Index count) {
    return walk_in(leaf, outside, lane, count);
  }
};

/// The total of block b of level l, which goes to its node above.
template <class Executor, class F>
KOKKOS_FUNCTION void total_of_block(Executor const& executor, F const& f, NodeLevels const& levels, int l, Index b) {
  auto const total = executor.total(f, levels.first[l] + b * bp::chunk_size, levels.block_size(l, b));
  executor.once([&] { store(f.nodes(levels.first[l + 1] + b).total, total); });
}

/// The upper part of a wide factor: from totals at the nodes of level `lowest` to the odds outside them and what the
/// head says; puts the message to the head where it is wanted.
template <Write write, class Executor, class F>
KOKKOS_FUNCTION void update_wide(Executor const& executor, F const& f, bp::WideTask const& task, int lowest = 0) {
  using Value = typename F::Value;
  using E = Extended<Value>;
  NodeLevels const levels(task.first_node, task.degree);
  auto const p = f.graph.parameters(task.factor);
  Value const before = f.messages(task.first_edge), log_odds = f.variable_to_factor(task.head_variable, before);
  bool const disjunction = task.disjunction;
  auto const weights = head_weights(p, E::exp(disjunction ? -log_odds : log_odds));
  executor.barrier();  // the head's message was read by all before it is replaced

  for (int l = lowest; l + 1 < levels.levels; ++l) {
    executor.for_each_block(levels.count[l + 1], [&](Index b) { total_of_block(executor, f, levels, l, b); });
    executor.barrier();
  }
  for (int l = levels.levels - 1; l >= lowest; --l) {
    bool const root = l == levels.levels - 1;
    executor.for_each_block(root ? 1 : levels.count[l + 1], [&](Index b) {
      E const outside = root ? E::zero() : f.nodes(levels.first[l + 1] + b).outside;
      E const total = executor.spread(f, levels.first[l] + b * bp::chunk_size, levels.block_size(l, b), outside);
      if (root && task.head_wanted) {
        Value const oriented = message(form_to_head<E>(p), total);
        executor.once([&] {
          put_message<write>(f, task.first_edge, task.head_variable, before, disjunction ? -oriented : oriented);
        });
      }
    });
    executor.barrier();
  }
  executor.for_each_node(levels.count[lowest],
                         [&](Index i) { store(f.nodes(levels.first[lowest] + i).head, weights); });
}

}  // namespace hornbill::bp::detail
