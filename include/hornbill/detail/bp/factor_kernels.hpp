// Kernels that compute factor-to-variable messages of one large batch.
#pragma once

#include <algorithm>
#include <cstdint>

#include <hornbill/detail/bp/chunk_update.hpp>
#include <hornbill/detail/bp/lane_update.hpp>
#include <hornbill/detail/bp/policies.hpp>
#include <hornbill/detail/bp/table_update.hpp>
#include <hornbill/detail/bp/wide_update.hpp>

namespace hornbill::detail {

/// Messages of chunks, one thread a chunk.   Source: design.md section 2.
/// Traffic (double) of an AND of n variables: 20 B chunk, 32 B parameters, and for each edge 4 B variable id, 32 B sum (a
/// gather), 8 B message read and 8 B written.
template <Write write, class F>
struct FactorToVariable {
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Kokkos::View<bp::Chunk const*, MemorySpace> chunks;
  Index first = 0;
  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = fields.item(i);
    if (!item.fields.stopped()) ChunkUpdate(item.fields, chunks(first + item.task)).template put_messages<write>();
  }
};

/// The same of narrow factors, an edge a lane.
/// Traffic (double) for each edge: 16 B lane, 32 B sum (a gather), 8 B message read and 8 B written; 32 B parameters a factor.
template <Write write, class F>
struct NarrowToVariable {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Kokkos::View<bp::Lane const*, MemorySpace> lanes;
  Index first, last;  // warps

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    Index const warp = first + static_cast<Index>(member.league_rank()) * member.team_size() + member.team_rank();
    if (warp >= last) return;
    bool const stopped = fields.stopped();  // asked ahead of the long way to the first write, to wait for both at once
    for_each_lane(member, [&](int id) {
      bp::Lane const lane = lanes(Offset{warp} * bp::warp_size + id);
      NarrowLane<Value, MemorySpace> const narrow(fields, lane, id);
      Value const computed = narrow.message(fields);
      if (lane.is(bp::Lane::wanted) && !stopped) put_message<write>(fields, lane.edge, lane.variable, narrow.in.before, computed);
    });
  }
};

/// The parts and chunks of wide factors: totals going up, messages to the body coming down.
template <Write write, class F>
struct WideParts {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Kokkos::View<bp::WideTask const*, MemorySpace> wide;
  Kokkos::View<bp::Chunk const*, MemorySpace> parts, chunks;

  /// By one thread, of one set.
  template <class Set>
  KOKKOS_FUNCTION void total_of_set(Set const& set, Index part) const {
    store(set.nodes(parts(part).node).total, ChunkUpdate(set, parts(part)).total());
  }
  /// By the calling warp.
  template <class Member>
  KOKKOS_FUNCTION void total(Member const& member, Index part) const {
    bp::Chunk const chunk = parts(part);
    for_each_lane(member, [&](int id) {
      auto const total = WideLane<Value, MemorySpace>(fields, chunk, id).total();
      if (id == 0) store(fields.nodes(chunk.node).total, total);
    });
  }
  template <class Member>
  KOKKOS_FUNCTION void put_messages(Member const& member, Index at) const {
    bp::Chunk const chunk = chunks(at);
    for_each_lane(member, [&](int id) {
      Node<Value> const node = fields.nodes(chunk.node);
      WideLane<Value, MemorySpace> const lane(fields, chunk, id);
      put(lane, lane.message(node));
    });
  }
  KOKKOS_FUNCTION void put(WideLane<Value, MemorySpace> const& lane, Value computed) const {
    auto const& in = lane.in;
    if (in.lane.is(bp::Lane::wanted)) put_message<write>(fields, in.lane.edge, in.lane.variable, in.before, computed);
  }
};

/// Totals of the parts of wide factors, which `teams` threads share; or of their blocks too, which `teams` teams share.
template <class F>
struct TotalOfParts {
  WideParts<Write::replace, F> factors;
  Index first, teams;

  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = factors.fields.item(i);
    if (item.fields.stopped()) return;
    bp::WideTask const task = factors.wide(first + item.task / teams);
    for (Index part = task.first_part + item.task % teams; part < task.last_part; part += teams) factors.total_of_set(item.fields, part);
  }
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    if (factors.fields.stopped()) return;
    auto const i = static_cast<Index>(member.league_rank());
    bp::WideTask const task = factors.wide(first + i / teams);
    NodeLevels const levels(task.first_node, task.degree);
    Index const blocks = levels.levels > 1 ? levels.count[1] : 1;
    for (Index b = i % teams; b < blocks; b += teams) {
      Index const begin = task.first_part + b * bp::chunk_size, end = begin + levels.block_size(0, b);
      for (Index part = begin + member.team_rank(); part < end; part += member.team_size()) factors.total(member, part);
      member.team_barrier();
      if (levels.levels > 1 && member.team_rank() == 0) total_of_block(Warps<Member>{member, false}, factors.fields, levels, 0, b);
    }
  }
};

/// The upper parts of wide factors' trees, one thread or one team a factor.
template <Write write, class F>
struct TieParts {
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Kokkos::View<bp::WideTask const*, MemorySpace> wide;
  Index first;

  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = fields.item(i);
    if (!item.fields.stopped()) update_wide<write>(OneThread{}, item.fields, wide(first + item.task));
  }
  /// From level 1 up, where there is one.
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    if (fields.stopped()) return;
    bp::WideTask const task = wide(first + static_cast<Index>(member.league_rank()));
    update_wide<write>(Warps<Member>{member, true}, fields, task, task.degree > bp::chunk_size * bp::chunk_size ? 1 : 0);
  }
};

/// Messages of chunks of wide factors, which `teams` teams share, a warp a chunk.
template <Write write, class F>
struct WideToVariable {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  WideParts<write, F> factors;
  Index first, teams;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    if (factors.fields.stopped()) return;
    auto const i = static_cast<Index>(member.league_rank());
    bp::WideTask const task = factors.wide(first + i / teams);
    NodeLevels const levels(task.first_node, task.degree);
    Index const size = member.team_size();
    for (Index at = task.first_chunk + i % teams * size + member.team_rank(); at < task.last_chunk; at += teams * size)
      for_each_lane(member, [&](int id) { put_messages<Member>(levels, factors.chunks(at), id); });
  }

 private:
  template <class Member>
  KOKKOS_FUNCTION void put_messages(NodeLevels const& levels, bp::Chunk const& chunk, int id) const {
    WideLane<Value, MemorySpace> const lane(factors.fields, chunk, id);
    factors.put(lane, lane.message(levels.levels > 1 ? node_of<Member>(levels, chunk, id) : factors.fields.nodes(chunk.node)));
  }
  /// The chunk's node, of which only the total is in memory: the rest follows from the block that it is in and the node above.
  template <class Member>
  KOKKOS_FUNCTION Node<Value> node_of(NodeLevels const& levels, bp::Chunk const& chunk, int id) const {
    Index const at = chunk.node - levels.first[0], b = at / bp::chunk_size;
    Node<Value> const above = factors.fields.nodes(levels.first[1] + b);
    auto const walked = Warps<Member>::walk(factors.fields, levels.first[0] + b * bp::chunk_size, levels.block_size(0, b), id, above.outside);
    return {walked.total, from_lane(walked.outside, at % bp::chunk_size), above.head};
  }
};

/// Wide factors of at most warp_size parts, each from one end to the other by a team that has a warp for each part.
template <Write write, class F>
struct WholeWideFactors {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  WideParts<write, F> factors;
  Index first;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const& f = factors.fields;
    if (f.stopped()) return;
    bp::WideTask const task = factors.wide(first + static_cast<Index>(member.league_rank()));
    Index const rank = member.team_rank(), parts = task.last_part - task.first_part;
    for_each_lane(member, [&](int id) {
      bp::Chunk part = factors.parts(rank < parts ? task.first_part + rank : task.first_part);
      if (rank >= parts) part.count = 0;
      Value const head_before = f.messages(task.first_edge), head_says = f.variable_to_factor(task.head_variable, head_before);
      WideLane<Value, MemorySpace> const lane(f, part, id);
      auto const total = lane.total();
      if (id == 0 && rank < parts) store(f.nodes(part.node).total, total);
      member.team_barrier();

      using Node = detail::Node<Value>;
      auto const walked = Warps<Member>::walk(f, task.first_node, parts, id, Extended<Value>::zero());
      auto const p = f.graph.parameters(task.factor);
      auto const head = head_weights(p, Extended<Value>::exp(task.disjunction ? -head_says : head_says));
      Value const computed = lane.message(Node{walked.total, from_lane(walked.outside, rank), head});
      if (rank < parts && wanted(task, part.node, id) >> id & 1u) put_message<write>(f, lane.in.lane.edge, lane.in.lane.variable, lane.in.before, computed);
      if (rank == 0 && id == 0 && task.head_wanted) {
        Value const oriented = message(form_to_head<Extended<Value>>(p), walked.total);
        put_message<write>(f, task.first_edge, task.head_variable, head_before, task.disjunction ? -oriented : oriented);
      }
    });
  }

 private:
  /// Which messages of a part are wanted; the task's chunks are those of which some are.
  KOKKOS_FUNCTION std::uint32_t wanted(bp::WideTask const& task, Index node, int id) const {
    std::uint32_t mask = 0;
    if (Index const at = task.first_chunk + id; at < task.last_chunk && factors.chunks(at).node == node) mask = factors.chunks(at).wanted;
    for (int distance = bp::warp_size / 2; distance > 0; distance /= 2) mask |= from_lane_beside(mask, distance);
    return mask;
  }
};

/// Messages of tables, one thread a table.
template <Write write, class F>
struct TableToVariable {
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Kokkos::View<bp::TableTask const*, MemorySpace> tables;
  Kokkos::View<Index const*, MemorySpace> edges;
  Index first = 0;
  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = fields.item(i);
    bp::TableTask const table = tables(first + item.task);
    if (!item.fields.stopped()) update_table<write>(item.fields, table.factor, edges, table.first, table.last);
  }
};

/// Wide factors of a batch, an edge a lane.
template <Write write, class Launcher, class F>
void launch_wide_lanes(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan,
                       bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  using Teams = BoundedTeams<ExecutionSpace, tuning.wide_team_size>;
  constexpr int warps = tuning.wide_team_size / bp::warp_size, whole_team = bp::warp_size * bp::warp_size;
  WideParts<write, F> const factors{fields, plan.wide, plan.parts, plan.chunks};
  Index const count = end.wide - begin.wide;
  if (plan.most_parts <= bp::warp_size) {
    launcher.parallel_for("hornbill::bp::wide_to_variable", BoundedTeams<ExecutionSpace, whole_team>(launcher.exec, count, bp::warp_size, bp::warp_size),
                          WholeWideFactors<write, F>{factors, begin.wide});
    return;
  }
  auto teams = [&](Index each) { return std::min<Index>(tuning.teams_of_parts, (plan.most_parts + each - 1) / each); };
  Index const for_totals = teams(bp::chunk_size), for_messages = teams(warps);
  launcher.parallel_for("hornbill::bp::total_of_parts", Teams(launcher.exec, count * for_totals, warps, bp::warp_size),
                        TotalOfParts<F>{{fields, plan.wide, plan.parts, plan.chunks}, begin.wide, for_totals});
  launcher.parallel_for("hornbill::bp::tie_parts", Teams(launcher.exec, count, warps, bp::warp_size),
                        TieParts<write, F>{fields, plan.wide, begin.wide});
  if (begin.chunks != end.chunks)
    launcher.parallel_for("hornbill::bp::wide_to_variable", Teams(launcher.exec, count * for_messages, warps, bp::warp_size),
                          WideToVariable<write, F>{factors, begin.wide, for_messages});
}

/// Narrow factors of a batch, an edge a lane.
template <Write write, class Launcher, class F>
void launch_narrow_lanes(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan,
                         bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  constexpr int warps = tuning.team_size / bp::warp_size;
  using Teams = BoundedTeams<ExecutionSpace, tuning.team_size, tuning.teams_at_once>;
  launcher.parallel_for("hornbill::bp::narrow_to_variable", Teams(launcher.exec, (end.warps - begin.warps + warps - 1) / warps, warps, bp::warp_size),
                        NarrowToVariable<write, F>{fields, plan.lanes, begin.warps, end.warps});
}

/// Horn factors of a batch, an edge a lane.
template <Write write, class Launcher, class F>
void launch_lanes(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan,
                  bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
  auto narrow = [&](auto& to) { launch_narrow_lanes<write>(to, fields, plan, begin, end); };
  auto wide = [&](auto& to) { launch_wide_lanes<write>(to, fields, plan, begin, end); };
  bool const has_narrow = begin.warps != end.warps, has_wide = begin.wide != end.wide;
  if (has_narrow && has_wide) launcher.together(wide, narrow);
  else if (has_narrow) narrow(launcher);
  else if (has_wide) wide(launcher);
}

/// Horn factors of a batch, a chunk a thread.
template <Write write, class Launcher, class F>
void launch_chunks(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan,
                   bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  if (begin.wide != end.wide) {
    Index const threads = std::min<Index>(backend::TuningOf<ExecutionSpace>::value.teams_of_parts, plan.most_parts);
    launcher.parallel_for("hornbill::bp::total_of_parts", items<ExecutionSpace>(launcher.exec, fields, (end.wide - begin.wide) * threads),
                          TotalOfParts<F>{{fields, plan.wide, plan.parts, plan.chunks}, begin.wide, threads});
    launcher.parallel_for("hornbill::bp::tie_parts", items<ExecutionSpace>(launcher.exec, fields, end.wide - begin.wide),
                          TieParts<write, F>{fields, plan.wide, begin.wide});
  }
  if (begin.chunks != end.chunks)
    launcher.parallel_for("hornbill::bp::factor_to_variable", items<ExecutionSpace>(launcher.exec, fields, end.chunks - begin.chunks),
                          FactorToVariable<write, F>{fields, plan.chunks, begin.chunks});
}

/// All messages of one batch.
template <Write write, class Launcher, class F>
void launch_batch(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan, Offset batch) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  auto const begin = plan.offsets[batch], end = plan.offsets[batch + 1];
  if constexpr (uses_lanes<ExecutionSpace, F>) launch_lanes<write>(launcher, fields, plan, begin, end);
  else launch_chunks<write>(launcher, fields, plan, begin, end);
  if (begin.tables != end.tables)
    launcher.parallel_for("hornbill::bp::table_to_variable", items<ExecutionSpace>(launcher.exec, fields, end.tables - begin.tables),
                          TableToVariable<write, F>{fields, plan.tables, plan.table_edges, begin.tables});
}

}  // namespace hornbill::detail
