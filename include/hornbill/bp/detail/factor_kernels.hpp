// Kernels that compute factor-to-variable messages of one large batch.
#pragma once

#include <algorithm>
#include <cstdint>

#include <hornbill/bp/detail/chunk_update.hpp>
#include <hornbill/bp/detail/lane_update.hpp>
#include <hornbill/bp/detail/table_update.hpp>
#include <hornbill/bp/detail/wide_kernels.hpp>

namespace hornbill::bp::detail {

/// Messages of chunks, one thread a chunk.   Source: hornbill/bp/README.md, equations 8 and 9.
/// Traffic (double) of an AND of n variables: 20 B chunk, 32 B parameters, and for each edge 4 B variable id, 32 B sum
/// (a gather), 8 B message read and 8 B written.
template <Write write, class F>
struct FactorToVariable {
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Kokkos::View<bp::Chunk const*, MemorySpace> chunks;
  Index first = 0;
  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = fields.item(i);
    Index const ahead = first + item.task + chunks_ahead;
    if (ahead < static_cast<Index>(chunks.extent(0))) prefetch(item.fields, chunks(ahead));
    if (!item.fields.stopped()) ChunkUpdate(item.fields, chunks(first + item.task)).template put_messages<write>();
  }
};

/// The same of narrow factors, an edge a lane. Of several evidence sets neighbouring warps take one each, of the same
/// edges, so that what they share, or what lies side by side, is near when the next asks for it.
/// Traffic (double) for each edge: 16 B lane; and of each set 32 B sum (a gather), 8 B message read and 8 B written; 32
/// B parameters a factor.
template <Write write, class F>
struct NarrowToVariable {
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Kokkos::View<bp::Lane const*, MemorySpace> lanes;
  Index first, last;  // warps

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    Index const i = static_cast<Index>(member.league_rank()) * member.team_size() + member.team_rank();
    if (i >= (last - first) * fields.sets) return;
    auto const item = fields.item(i);
    update(member, item.fields, first + item.task);
  }

 private:
  template <class Member, class Set>
  KOKKOS_FUNCTION void update(Member const& member, Set const& f, Index warp) const {
    bool const stopped = f.stopped();  // asked ahead of the long way to the first write, to wait for both at once
    for_each_lane(member, [&](int id) {
      bp::Lane const lane = lanes(Offset{warp} * bp::warp_size + id);
      NarrowLane<Set> const narrow(f, lane, id);
      auto const computed = narrow.message(f);
      if (lane.is(bp::Lane::wanted) && !stopped)
        put_message<write>(f, lane.edge, lane.variable, narrow.in.before, computed);
    });
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

/// Narrow factors of a batch, an edge a lane.
template <Write write, class Launcher, class F>
void launch_narrow_lanes(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan,
                         bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value.bp;
  constexpr int warps = tuning.team_size / bp::warp_size;
  using Teams = BoundedTeams<ExecutionSpace, tuning.team_size, tuning.teams_at_once>;
  Index const items = (end.warps - begin.warps) * fields.sets;
  launcher.parallel_for("hornbill::bp::narrow_to_variable",
                        Teams(launcher.exec, (items + warps - 1) / warps, warps, bp::warp_size),
                        NarrowToVariable<write, F>{fields, plan.lanes, begin.warps, end.warps});
}

/// Horn factors of a batch, an edge a lane.
template <Write write, class Launcher, class F>
void launch_lanes(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan,
                  bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
  auto narrow = [&](auto& to) { launch_narrow_lanes<write>(to, fields, plan, begin, end); };
  auto wide = [&](auto& to) { launch_wide_lanes<write>(to, fields, plan, begin, end); };
  bool const has_narrow = begin.warps != end.warps, has_wide = begin.wide != end.wide;
  if (has_narrow && has_wide)
    launcher.together(wide, narrow);
  else if (has_narrow)
    narrow(launcher);
  else if (has_wide)
    wide(launcher);
}

/// Horn factors of a batch, a chunk a thread.
template <Write write, class Launcher, class F>
void launch_chunks(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan,
                   bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  if (begin.wide != end.wide) launch_wide_threads<write>(launcher, fields, plan, begin, end);
  if (begin.chunks != end.chunks)
    launcher.parallel_for("hornbill::bp::factor_to_variable",
                          items<ExecutionSpace>(launcher.exec, fields, end.chunks - begin.chunks),
                          FactorToVariable<write, F>{fields, plan.chunks, begin.chunks});
}

/// All messages of one batch.
template <Write write, class Launcher, class F>
void launch_batch(Launcher& launcher, F const& fields, bp::Plan<typename F::MemorySpace> const& plan, Offset batch) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  auto const begin = plan.offsets[batch], end = plan.offsets[batch + 1];
  if constexpr (uses_lanes<ExecutionSpace>)
    launch_lanes<write>(launcher, fields, plan, begin, end);
  else
    launch_chunks<write>(launcher, fields, plan, begin, end);
  if (begin.tables != end.tables)
    launcher.parallel_for("hornbill::bp::table_to_variable",
                          items<ExecutionSpace>(launcher.exec, fields, end.tables - begin.tables),
                          TableToVariable<write, F>{fields, plan.tables, plan.table_edges, begin.tables});
}

}  // namespace hornbill::bp::detail
