// Kernels that compute the messages of wide factors.
#pragma once

#include <algorithm>
#include <cstdint>

#include <hornbill/bp/detail/chunk_update.hpp>
#include <hornbill/bp/detail/lane_update.hpp>
#include <hornbill/bp/detail/plan_tasks.hpp>
#include <hornbill/bp/detail/policies.hpp>
#include <hornbill/bp/detail/wide_update.hpp>

namespace hornbill::bp::detail {

/// The total of a part of a wide factor goes to its node, by one thread.
template <class F>
KOKKOS_FUNCTION void store_total_of_part(F const& f, bp::Chunk const& part) {
  store(f.nodes(part.node).total, ChunkUpdate(f, part).total());
}
/// The same by the calling warp.
template <class Member, class F>
KOKKOS_FUNCTION void store_total_of_part(Member const& member, F const& f, bp::Chunk const& part) {
  for_each_lane(member, [&](int id) {
    auto const total = WideLane<F>(f, part, id).total();
    if (id == 0) store(f.nodes(part.node).total, total);
  });
}

template <Write write, class F>
KOKKOS_FUNCTION void put_lane(F const& f, WideLane<F> const& lane, typename F::Value computed) {
  auto const& in = lane.in;
  if (in.lane.is(bp::Lane::wanted)) put_message<write>(f, in.lane.edge, in.lane.variable, in.before, computed);
}
/// Messages of a chunk of a wide factor whose node is complete, by the calling warp.
template <Write write, class Member, class F>
KOKKOS_FUNCTION void put_messages_of_chunk(Member const& member, F const& f, bp::Chunk const& chunk) {
  for_each_lane(member, [&](int id) {
    Node<typename F::Value> const node = f.nodes(chunk.node);
    WideLane<F> const lane(f, chunk, id);
    put_lane<write>(f, lane, lane.message(node));
  });
}

/// Totals of the parts of wide factors, which `teams` threads share; or of their blocks too, which `teams` teams share.
template <class F>
struct TotalOfParts {
  F fields;
  Tasks<typename F::MemorySpace> tasks;
  Index first, teams;

  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = fields.item(i);
    if (item.fields.stopped()) return;
    bp::WideTask const task = tasks.wide(first + item.task / teams);
    for (Index part = task.first_part + item.task % teams; part < task.last_part; part += teams)
      store_total_of_part(item.fields, tasks.parts(part));
  }
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const item = fields.item(static_cast<Index>(member.league_rank()));
    if (item.fields.stopped()) return;
    bp::WideTask const task = tasks.wide(first + item.task / teams);
    NodeLevels const levels(task.first_node, task.degree);
    Index const blocks = levels.levels > 1 ? levels.count[1] : 1;
    for (Index b = item.task % teams; b < blocks; b += teams) {
      Index const begin = task.first_part + b * bp::chunk_size, end = begin + levels.block_size(0, b);
      for (Index part = begin + member.team_rank(); part < end; part += member.team_size())
        store_total_of_part(member, item.fields, tasks.parts(part));
      member.team_barrier();
      if (levels.levels > 1 && member.team_rank() == 0)
        total_of_block(Warps<Member>{member, false}, item.fields, levels, 0, b);
    }
  }
};

/// The upper parts of wide factors' trees, one thread or one team a factor.
template <Write write, class F>
struct TieParts {
  F fields;
  Tasks<typename F::MemorySpace> tasks;
  Index first;

  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = fields.item(i);
    if (!item.fields.stopped()) update_wide<write>(OneThread{}, item.fields, tasks.wide(first + item.task));
  }
  /// From level 1 up, where there is one.
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const item = fields.item(static_cast<Index>(member.league_rank()));
    if (item.fields.stopped()) return;
    bp::WideTask const task = tasks.wide(first + item.task);
    update_wide<write>(Warps<Member>{member, true}, item.fields, task,
                       task.degree > bp::chunk_size * bp::chunk_size ? 1 : 0);
  }
};

/// Messages of chunks of wide factors, which `teams` teams share, a warp a chunk.
template <Write write, class F>
struct WideToVariable {
  F fields;
  Tasks<typename F::MemorySpace> tasks;
  Index first, teams;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const item = fields.item(static_cast<Index>(member.league_rank()));
    if (item.fields.stopped()) return;
    bp::WideTask const task = tasks.wide(first + item.task / teams);
    NodeLevels const levels(task.first_node, task.degree);
    Index const size = member.team_size();
    for (Index at = task.first_chunk + item.task % teams * size + member.team_rank(); at < task.last_chunk;
         at += teams * size)
      for_each_lane(member, [&](int id) { put_messages<Member>(item.fields, levels, tasks.chunks(at), id); });
  }

 private:
  template <class Member, class Set>
  KOKKOS_FUNCTION void put_messages(Set const& f, NodeLevels const& levels, bp::Chunk const& chunk, int id) const {
    WideLane<Set> const lane(f, chunk, id);
    put_lane<write>(f, lane,
                    lane.message(levels.levels > 1 ? node_of<Member>(f, levels, chunk, id) : f.nodes(chunk.node)));
  }
  /// The chunk's node, of which only the total is in memory: the rest follows from the block that it is in and the node
  /// above.
  template <class Member, class Set>
  KOKKOS_FUNCTION auto node_of(Set const& f, NodeLevels const& levels, bp::Chunk const& chunk, int id) const {
    using Node = detail::Node<typename F::Value>;
    Index const at = chunk.node - levels.first[0], b = at / bp::chunk_size;
    Node const above = f.nodes(levels.first[1] + b);
    auto const walked =
        Warps<Member>::walk(f, levels.first[0] + b * bp::chunk_size, levels.block_size(0, b), id, above.outside);
    return Node{walked.total, from_lane(walked.outside, at % bp::chunk_size), above.head};
  }
};

/// Wide factors of at most warp_size parts, each from one end to the other by a team that has a warp for each part.
template <Write write, class F>
struct WholeWideFactors {
  F fields;
  Tasks<typename F::MemorySpace> tasks;
  Index first;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const item = fields.item(static_cast<Index>(member.league_rank()));
    if (item.fields.stopped()) return;
    bp::WideTask const task = tasks.wide(first + item.task);
    for_each_lane(member, [&](int id) { update(member, item.fields, task, id); });
  }

 private:
  /// A warp beyond the factor's parts only comes to the barrier.
  template <class Member, class Set>
  KOKKOS_FUNCTION void update(Member const& member, Set const& f, bp::WideTask const& task, int id) const {
    using Value = typename F::Value;
    Index const rank = member.team_rank(), parts = task.last_part - task.first_part;
    if (rank >= parts) return member.team_barrier();

    bp::Chunk const part = tasks.parts(task.first_part + rank);
    Value const head_before = f.messages(task.first_edge);
    std::uint32_t const wanted = wanted_of(task, part.node, id);
    WideLane<Set> const lane(f, part, id);
    Value const head_says = f.variable_to_factor(task.head_variable, head_before);
    auto const total = lane.total();
    if (id == 0) store(f.nodes(part.node).total, total);
    member.team_barrier();

    auto const walked = Warps<Member>::walk(f, task.first_node, parts, id, Extended<Value>::zero());
    auto const p = f.graph.parameters(task.factor);
    auto const head = head_weights(p, Extended<Value>::exp(task.disjunction ? -head_says : head_says));
    Value const computed = lane.message(Node<Value>{walked.total, from_lane(walked.outside, rank), head});
    if (wanted >> id & 1u) put_message<write>(f, lane.in.lane.edge, lane.in.lane.variable, lane.in.before, computed);
    if (rank == 0 && id == 0 && task.head_wanted) {
      Value const oriented = message(form_to_head<Extended<Value>>(p), walked.total);
      put_message<write>(f, task.first_edge, task.head_variable, head_before, task.disjunction ? -oriented : oriented);
    }
  }
  /// Which messages of a part are wanted; the task's chunks are those of which some are.
  KOKKOS_FUNCTION std::uint32_t wanted_of(bp::WideTask const& task, Index node, int id) const {
    std::uint32_t mask = 0;
    if (Index const at = task.first_chunk + id; at < task.last_chunk && tasks.chunks(at).node == node)
      mask = tasks.chunks(at).wanted;
    for (int distance = bp::warp_size / 2; distance > 0; distance /= 2) mask |= from_lane_beside(mask, distance);
    return mask;
  }
};

/// Wide factors of a batch, an edge a lane.
template <Write write, class Launcher, class F>
void launch_wide_lanes(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan,
                       bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value.bp;
  using Teams = BoundedTeams<ExecutionSpace, tuning.wide_team_size>;
  constexpr int warps = tuning.wide_team_size / bp::warp_size, whole_team = bp::warp_size * bp::warp_size;
  Tasks const tasks(plan);
  Index const count = (end.wide - begin.wide) * fields.sets;
  if (plan.max_parts <= bp::warp_size) {
    launcher.parallel_for("hornbill::bp::wide_to_variable",
                          BoundedTeams<ExecutionSpace, whole_team>(launcher.exec, count, plan.max_parts, bp::warp_size),
                          WholeWideFactors<write, F>{fields, tasks, begin.wide});
    return;
  }
  auto teams = [&](Index each) { return std::min<Index>(tuning.teams_of_parts, (plan.max_parts + each - 1) / each); };
  Index const for_totals = teams(bp::chunk_size), for_messages = teams(warps);
  launcher.parallel_for("hornbill::bp::total_of_parts", Teams(launcher.exec, count * for_totals, warps, bp::warp_size),
                        TotalOfParts<F>{fields, tasks, begin.wide, for_totals});
  launcher.parallel_for("hornbill::bp::tie_parts", Teams(launcher.exec, count, warps, bp::warp_size),
                        TieParts<write, F>{fields, tasks, begin.wide});
  if (begin.chunks != end.chunks)
    launcher.parallel_for("hornbill::bp::wide_to_variable",
                          Teams(launcher.exec, count * for_messages, warps, bp::warp_size),
                          WideToVariable<write, F>{fields, tasks, begin.wide, for_messages});
}

/// Wide factors of a batch up to the nodes of their chunks, by threads.
template <Write write, class Launcher, class F>
void launch_wide_threads(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan,
                         bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  Index const count = end.wide - begin.wide,
              threads = std::min<Index>(backend::TuningOf<ExecutionSpace>::value.bp.teams_of_parts, plan.max_parts);
  Tasks const tasks(plan);
  launcher.parallel_for("hornbill::bp::total_of_parts", items<ExecutionSpace>(launcher.exec, fields, count * threads),
                        TotalOfParts<F>{fields, tasks, begin.wide, threads});
  launcher.parallel_for("hornbill::bp::tie_parts", items<ExecutionSpace>(launcher.exec, fields, count),
                        TieParts<write, F>{fields, tasks, begin.wide});
}

}  // namespace hornbill::bp::detail
