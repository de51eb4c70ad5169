// Many small batches, or a whole sequential iteration, in one kernel.
#pragma once

#include <type_traits>

#include <hornbill/bp/detail/step_update.hpp>
#include <hornbill/bp/detail/variable_kernels.hpp>

namespace hornbill::bp::detail {

/// A stretch of consecutive small batches, by one team, or one for each evidence set: between batches stands a team
/// barrier instead of a launch.
template <class F>
struct RunStretch {
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Tasks<MemorySpace> tasks;
  Index first, last;  // batches

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    run(member, fields.of_set(static_cast<Index>(member.league_rank())));
  }

 private:
  template <class Member, class Set>
  KOKKOS_FUNCTION void run(Member const& member, Set const& f) const {
    if (f.stopped()) return;
    for (Index batch = first; batch < last; ++batch) {
      bp::BatchOffsets const begin = tasks.offsets(batch), end = tasks.offsets(batch + 1);
      for (Index w = begin.wide; w < end.wide; ++w)
        Kokkos::parallel_for(Kokkos::TeamThreadRange(member, tasks.wide(w).first_part, tasks.wide(w).last_part),
                             [&](Index part) { store_total_of_part(f, tasks.parts(part)); });
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin.wide, end.wide),
                           [&](Index w) { update_wide<Write::stage>(OneThread{}, f, tasks.wide(w)); });
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin.chunks, end.chunks),
                           FactorToVariable<Write::stage, Set>{f, tasks.chunks});
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin.tables, end.tables),
                           TableToVariable<Write::stage, Set>{f, tasks.tables, tasks.table_edges});
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin.edges, end.edges), CommitPending<Set>{f, tasks.edges});
      member.team_barrier();
    }
  }
};

/// The same where an edge is a lane. What a batch costs is the time from one barrier to the next, so a warp's first new
/// messages wait in registers, and the lanes of the next batch and where those after it begin, which nothing changes,
/// are loaded ahead.
template <class F>
struct RunStretchLanes {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Tasks<MemorySpace> tasks;
  Index first, last;  // batches

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    run(member, fields.of_set(static_cast<Index>(member.league_rank())));
  }

 private:
  template <class Member, class Set>
  KOKKOS_FUNCTION void run(Member const& member, Set const& f) const {
    if (f.stopped()) return;
    for_each_lane(member, [&](int id) {
      auto offsets = [&](Index batch) { return tasks.offsets(Kokkos::min(batch, last)); };
      bp::BatchOffsets begin = offsets(first), end = offsets(first + 1), next_end = offsets(first + 2);
      bp::Lane lane = load(begin.warps + member.team_rank(), end, id);
      for (Index batch = first; batch < last; ++batch) {
        bp::BatchOffsets const after_next = offsets(batch + 3);
        bp::Lane const next = load(end.warps + member.team_rank(), next_end, id);
        run_batch(member, f, begin, end, lane, id);
        begin = end;
        end = next_end;
        next_end = after_next;
        lane = next;
      }
    });
  }
  KOKKOS_FUNCTION bp::Lane load(Index warp, bp::BatchOffsets const& end, int id) const {
    return warp < end.warps ? tasks.lanes(Offset{warp} * bp::warp_size + id) : bp::Lane{0, 0, 0, 0};
  }

  /// All lanes of the team come here together, so that warps meet at its barriers.
  template <class Member, class Set>
  KOKKOS_FUNCTION void run_batch(Member const& member, Set const& f, bp::BatchOffsets const& begin,
                                 bp::BatchOffsets const& end, bp::Lane const& lane, int id) const {
    if (begin.wide != end.wide) stage_wide(member, f, begin, end);
    Index const warp = begin.warps + member.team_rank(), warps = member.team_size();
    Value before = 0, after = 0;
    if (warp < end.warps) {
      NarrowLane<Set> const narrow(f, lane, id);
      before = narrow.in.before;
      Value const computed = narrow.message(f);
      if (lane.is(bp::Lane::wanted)) after = f.damped(before, computed);
    }
    for (Index w = warp + warps; w < end.warps; w += warps) {
      bp::Lane const further = load(w, end, id);
      NarrowLane<Set> const narrow(f, further, id);
      Value const computed = narrow.message(f);
      if (further.is(bp::Lane::wanted)) f.pending(further.edge) = f.damped(narrow.in.before, computed);
    }
    for (Index t = begin.tables + member.team_rank() * bp::warp_size + id; t < end.tables; t += warps * bp::warp_size)
      update_table<Write::stage>(f, tasks.tables(t).factor, tasks.table_edges, tasks.tables(t).first,
                                 tasks.tables(t).last);
    member.team_barrier();

    if (lane.is(bp::Lane::wanted)) commit_message(f, lane.edge, lane.variable, before, after);
    for (Index w = warp + warps; w < end.warps; w += warps) commit_lane(f, load(w, end, id));
    for (Index i = begin.edges + member.team_rank() * bp::warp_size + id; i < end.edges; i += warps * bp::warp_size)
      commit_pending(f, tasks.edges(i));
    member.team_barrier();
  }

  template <class Member, class Set>
  KOKKOS_FUNCTION void stage_wide(Member const& member, Set const& f, bp::BatchOffsets const& begin,
                                  bp::BatchOffsets const& end) const {
    Index const rank = member.team_rank(), warps = member.team_size();
    for (Index w = begin.wide; w < end.wide; ++w)
      for (Index part = tasks.wide(w).first_part + rank; part < tasks.wide(w).last_part; part += warps)
        store_total_of_part(member, f, tasks.parts(part));
    member.team_barrier();
    for (Index w = begin.wide + rank; w < end.wide; w += warps)
      update_wide<Write::stage>(Warps<Member>{member, false}, f, tasks.wide(w));
    member.team_barrier();
    for (Index chunk = begin.chunks + rank; chunk < end.chunks; chunk += warps)
      put_messages_of_chunk<Write::stage>(member, f, tasks.chunks(chunk));
  }
};

/// One iteration of a total order, update after update, by one thread for each evidence set.
template <class F>
struct RunSequence {
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Tasks<MemorySpace> tasks;
  Kokkos::View<bp::Step const*, MemorySpace> steps;

  KOKKOS_FUNCTION void operator()(Index set) const { run(fields.of_set(set)); }

 private:
  template <class Set>
  KOKKOS_FUNCTION void run(Set const& f) const {
    if (f.stopped()) return;
    auto const count = static_cast<Index>(steps.extent(0));
    for (Index i = 0; i < count; ++i) {
      if (i + chunks_ahead < count && steps(i + chunks_ahead).kind == bp::Step::Kind::chunk)
        prefetch(f, tasks.chunks(steps(i + chunks_ahead).task));
      update_step<Write::commit>(f, tasks, steps(i));
    }
  }
};

/// The same by the lanes of one warp for each evidence set.
template <class F>
struct RunSequenceLanes {
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Tasks<MemorySpace> tasks;
  Kokkos::View<bp::Step const*, MemorySpace> steps;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    run(member, fields.of_set(static_cast<Index>(member.league_rank())));
  }

 private:
  template <class Member, class Set>
  KOKKOS_FUNCTION void run(Member const& member, Set const& f) const {
    if (f.stopped()) return;
    for (Index i = 0; i < static_cast<Index>(steps.extent(0)); ++i) {
      bp::Step const step = steps(i);
      if (step.kind == bp::Step::Kind::chunk)
        narrow(member, f, tasks.chunks(step.task));
      else if (step.kind == bp::Step::Kind::wide)
        wide(member, f, tasks.wide(step.task));
      else
        Kokkos::single(Kokkos::PerThread(member), [&] { table(f, tasks.tables(step.task)); });
    }
  }
  template <class Member, class Set>
  KOKKOS_FUNCTION void narrow(Member const& member, Set const& f, bp::Chunk const& chunk) const {
    for_each_lane(member, [&](int id) {
      bp::Lane const lane = lane_of(f, chunk, id);
      NarrowLane<Set> const narrow(f, lane, id);
      auto const computed = narrow.message(f);
      if (lane.is(bp::Lane::wanted))
        put_message<Write::commit>(f, lane.edge, lane.variable, narrow.in.before, computed);
    });
  }
  template <class Member, class Set>
  KOKKOS_FUNCTION void wide(Member const& member, Set const& f, bp::WideTask const& task) const {
    for (Index part = task.first_part; part < task.last_part; ++part) store_total_of_part(member, f, tasks.parts(part));
    update_wide<Write::commit>(Warps<Member>{member, false}, f, task);
    for (Index chunk = task.first_chunk; chunk < task.last_chunk; ++chunk)
      put_messages_of_chunk<Write::commit>(member, f, tasks.chunks(chunk));
  }
  template <class Set>
  KOKKOS_FUNCTION void table(Set const& f, bp::TableTask const& table) const {
    update_table<Write::commit>(f, table.factor, tasks.table_edges, table.first, table.last);
  }
};

template <class Launcher, class F>
void run_stretch(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan,
                 bp::Segment const& segment) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value.bp;
  constexpr bool by_lanes = uses_lanes<ExecutionSpace>;
  using Stretch = std::conditional_t<by_lanes, RunStretchLanes<F>, RunStretch<F>>;
  constexpr int lanes = by_lanes ? bp::warp_size : 1, size = tuning.stretch_team_size;
  launcher.parallel_for(
      "hornbill::bp::run_stretch", BoundedTeams<ExecutionSpace, size>(launcher.exec, fields.sets, size / lanes, lanes),
      Stretch{fields, Tasks(plan), static_cast<Index>(segment.first), static_cast<Index>(segment.last)});
}

/// One large batch: its messages, then their commits.
template <class Launcher, class F>
void run_large_batch(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan, Offset batch) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  launch_batch<Write::stage>(launcher, fields, plan, batch);
  auto const begin = plan.offsets[batch], end = plan.offsets[batch + 1];
  if constexpr (uses_lanes<ExecutionSpace>)
    if (begin.warps != end.warps)
      launcher.parallel_for("hornbill::bp::commit_lanes",
                            items<ExecutionSpace>(launcher.exec, fields, (end.warps - begin.warps) * bp::warp_size),
                            CommitLanes<F>{fields, plan.lanes, begin.warps * bp::warp_size});
  if (begin.edges != end.edges)
    launcher.parallel_for("hornbill::bp::commit_pending",
                          items<ExecutionSpace>(launcher.exec, fields, end.edges - begin.edges),
                          CommitPending<F>{fields, plan.edges, begin.edges});
}

template <class Launcher, class F>
void run_batches(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan) {
  for (auto const& segment : plan.segments) {
    if (segment.mode == bp::Segment::Mode::stretch)
      run_stretch(launcher, fields, plan, segment);
    else
      run_large_batch(launcher, fields, plan, segment.first);
  }
}

template <class Launcher, class F>
void run_sequence(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  if constexpr (uses_lanes<ExecutionSpace>)
    launcher.parallel_for("hornbill::bp::run_sequence",
                          BoundedTeams<ExecutionSpace, bp::warp_size>(launcher.exec, fields.sets, 1, bp::warp_size),
                          RunSequenceLanes<F>{fields, Tasks(plan), plan.sequence});
  else
    launcher.parallel_for("hornbill::bp::run_sequence", items<ExecutionSpace>(launcher.exec, fields, 1),
                          RunSequence<F>{fields, Tasks(plan), plan.sequence});
}

}  // namespace hornbill::bp::detail
