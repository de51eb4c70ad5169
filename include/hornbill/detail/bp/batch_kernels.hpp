// Many small batches, or a whole sequential iteration, in one kernel.
#pragma once

#include <hornbill/detail/bp/factor_kernels.hpp>
#include <hornbill/detail/bp/variable_kernels.hpp>

namespace hornbill::detail {

/// The tasks of a plan, as kernels see them.
template <class MemorySpace>
struct Tasks {
  template <class T>
  using Array = Kokkos::View<T const*, MemorySpace>;
  Array<bp::Chunk> chunks, parts;
  Array<bp::Lane> lanes;
  Array<bp::WideTask> wide;
  Array<bp::TableTask> tables;
  Array<Index> table_edges, edges;
  Array<bp::BatchOffsets> offsets;

  explicit Tasks(bp::Plan<MemorySpace> const& plan)
      : chunks(plan.chunks), parts(plan.parts), lanes(plan.lanes), wide(plan.wide), tables(plan.tables), table_edges(plan.table_edges),
        edges(plan.edges), offsets(plan.device_offsets) {}
};

/// A stretch of consecutive small batches, by one team: between batches stands a team barrier instead of a launch.
template <class Value, class MemorySpace>
struct RunStretch {
  Fields<Value, MemorySpace> fields;
  Tasks<MemorySpace> tasks;
  Index first, last;  // batches

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    for (Index batch = first; batch < last; ++batch) {
      bp::BatchOffsets const begin = tasks.offsets(batch), end = tasks.offsets(batch + 1);
      TotalOfParts<Value, MemorySpace> const totals{fields, tasks.wide, tasks.parts, 0, 1};
      for (Index w = begin.wide; w < end.wide; ++w)
        Kokkos::parallel_for(Kokkos::TeamThreadRange(member, tasks.wide(w).first_part, tasks.wide(w).last_part),
                             [&](Index part) { totals.one_thread(part); });
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin.wide, end.wide),
                           [&](Index w) { update_wide<Write::stage>(OneThread{}, fields, tasks.wide(w)); });
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin.chunks, end.chunks), FactorToVariable<Write::stage, Value, MemorySpace>{fields, tasks.chunks});
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin.tables, end.tables),
                           TableToVariable<Write::stage, Value, MemorySpace>{fields, tasks.tables, tasks.table_edges});
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin.edges, end.edges), CommitPending<Value, MemorySpace>{fields, tasks.edges});
      member.team_barrier();
    }
  }
};

/// The same where an edge is a lane. What a batch costs is the time from one barrier to the next, so a warp's first new
/// messages wait in registers, and the lanes of the next batch, which nothing changes, are loaded ahead.
template <class Value, class MemorySpace>
struct RunStretchLanes {
  Fields<Value, MemorySpace> fields;
  Tasks<MemorySpace> tasks;
  Index first, last;  // batches

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    for_each_lane(member, [&](int id) {
      bp::BatchOffsets begin = tasks.offsets(first), end = tasks.offsets(first + 1);
      bp::Lane lane = load(begin.chunks + member.team_rank(), end, id);
      for (Index batch = first; batch < last; ++batch) {
        bp::BatchOffsets const next_end = batch + 1 < last ? tasks.offsets(batch + 2) : end;
        bp::Lane const next = load(end.chunks + member.team_rank(), next_end, id);
        run_batch(member, begin, end, lane, id);
        begin = end;
        end = next_end;
        lane = next;
      }
    });
  }

 private:
  KOKKOS_FUNCTION bp::Lane load(Index warp, bp::BatchOffsets const& end, int id) const {
    return warp < end.chunks ? tasks.lanes(Offset{warp} * bp::warp_size + id) : bp::Lane{0, 0, 0, 0};
  }

  /// All lanes of the team come here together, so that warps meet at its barriers.
  template <class Member>
  KOKKOS_FUNCTION void run_batch(Member const& member, bp::BatchOffsets const& begin, bp::BatchOffsets const& end, bp::Lane const& lane,
                                 int id) const {
    if (begin.wide != end.wide) tie_wide(member, begin, end);
    Index const warp = begin.chunks + member.team_rank(), warps = member.team_size();
    Value before = 0, after = 0;
    if (warp < end.chunks) {
      LaneUpdate<Value, MemorySpace> update(fields, lane, id);
      update.read_head();
      before = update.before;
      after = fields.damped(before, update.message());
    }
    for (Index w = warp + warps; w < end.chunks; w += warps) {
      bp::Lane const further = load(w, end, id);
      LaneUpdate<Value, MemorySpace> update(fields, further, id);
      update.read_head();
      Value const computed = update.message();
      if (further.is(bp::Lane::wanted)) fields.pending(further.edge) = fields.damped(update.before, computed);
    }
    for (Index t = begin.tables + member.team_rank() * bp::warp_size + id; t < end.tables; t += warps * bp::warp_size)
      update_table<Write::stage>(fields, tasks.tables(t).factor, tasks.table_edges, tasks.tables(t).first, tasks.tables(t).last);
    member.team_barrier();

    if (lane.is(bp::Lane::wanted)) commit_message(fields, lane.edge, lane.variable, before, after);
    for (Index w = warp + warps; w < end.chunks; w += warps) commit_lane(fields, load(w, end, id));
    for (Index i = begin.edges + member.team_rank() * bp::warp_size + id; i < end.edges; i += warps * bp::warp_size)
      commit_pending(fields, tasks.edges(i));
    member.team_barrier();
  }

  template <class Member>
  KOKKOS_FUNCTION void tie_wide(Member const& member, bp::BatchOffsets const& begin, bp::BatchOffsets const& end) const {
    TotalOfParts<Value, MemorySpace> const totals{fields, tasks.wide, tasks.parts, 0, 1};
    for (Index w = begin.wide; w < end.wide; ++w)
      for (Index part = tasks.wide(w).first_part + member.team_rank(); part < tasks.wide(w).last_part; part += member.team_size())
        totals.one_warp(member, part);
    member.team_barrier();
    for (Index w = begin.wide + member.team_rank(); w < end.wide; w += member.team_size())
      update_wide<Write::stage>(Warps<Member>{member, false}, fields, tasks.wide(w));
    member.team_barrier();
  }
};

/// One iteration of a total order, update after update, by one thread.
template <class Value, class MemorySpace>
struct RunSequence {
  Fields<Value, MemorySpace> fields;
  Tasks<MemorySpace> tasks;
  Kokkos::View<bp::Step const*, MemorySpace> steps;

  KOKKOS_FUNCTION void operator()(Index) const {
    for (Index i = 0; i < static_cast<Index>(steps.extent(0)); ++i) {
      bp::Step const step = steps(i);
      if (step.kind == bp::Step::Kind::chunk) {
        update_chunk(step.task);
      } else if (step.kind == bp::Step::Kind::wide) {
        wide(tasks.wide(step.task));
      } else {
        auto const table = tasks.tables(step.task);
        update_table<Write::commit>(fields, table.factor, tasks.table_edges, table.first, table.last);
      }
    }
  }

 private:
  KOKKOS_FUNCTION void update_chunk(Index i) const {
    ChunkUpdate<Value, MemorySpace>(fields, tasks.chunks(i)).template put_messages<Write::commit>();
  }
  KOKKOS_FUNCTION void wide(bp::WideTask const& task) const {
    TotalOfParts<Value, MemorySpace> const totals{fields, tasks.wide, tasks.parts, 0, 1};
    for (Index part = task.first_part; part < task.last_part; ++part) totals.one_thread(part);
    update_wide<Write::commit>(OneThread{}, fields, task);
    for (Index chunk = task.first_chunk; chunk < task.last_chunk; ++chunk) update_chunk(chunk);
  }
};

template <class ExecutionSpace, class Value, class MemorySpace>
void run_stretch(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& fields, bp::Plan<MemorySpace> const& plan,
                 bp::Segment const& segment) {
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  using Stretch = std::conditional_t<tuning.lanes, RunStretchLanes<Value, MemorySpace>, RunStretch<Value, MemorySpace>>;
  constexpr int lanes = tuning.lanes ? bp::warp_size : 1;
  Kokkos::parallel_for("hornbill::bp::run_stretch",
                       BoundedTeams<ExecutionSpace, tuning.stretch_team_size>(exec, 1, tuning.stretch_team_size / lanes, lanes),
                       Stretch{fields, Tasks<MemorySpace>(plan), static_cast<Index>(segment.first), static_cast<Index>(segment.last)});
}

/// One large batch: its messages, then their commits.
template <class ExecutionSpace, class Value, class MemorySpace>
void run_large_batch(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& fields, bp::Plan<MemorySpace> const& plan, Offset batch) {
  launch_batch<Write::stage>(exec, fields, plan, batch);
  auto const begin = plan.offsets[batch], end = plan.offsets[batch + 1];
  if (backend::TuningOf<ExecutionSpace>::value.lanes && begin.chunks != end.chunks)
    Kokkos::parallel_for("hornbill::bp::commit_lanes", Range<ExecutionSpace>(exec, begin.chunks * bp::warp_size, end.chunks * bp::warp_size),
                         CommitLanes<Value, MemorySpace>{fields, plan.lanes});
  if (begin.edges != end.edges)
    Kokkos::parallel_for("hornbill::bp::commit_pending", Range<ExecutionSpace>(exec, begin.edges, end.edges),
                         CommitPending<Value, MemorySpace>{fields, plan.edges});
}

template <class ExecutionSpace, class Value, class MemorySpace>
void run_batches(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& fields, bp::Plan<MemorySpace> const& plan) {
  for (auto const& segment : plan.segments) {
    if (segment.mode == bp::Segment::Mode::stretch) run_stretch(exec, fields, plan, segment);
    else run_large_batch(exec, fields, plan, segment.first);
  }
}

template <class ExecutionSpace, class Value, class MemorySpace>
void run_sequence(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& fields, bp::Plan<MemorySpace> const& plan) {
  Kokkos::parallel_for("hornbill::bp::run_sequence", Range<ExecutionSpace>(exec, 0, 1),
                       RunSequence<Value, MemorySpace>{fields, Tasks<MemorySpace>(plan), plan.sequence});
}

}  // namespace hornbill::detail
