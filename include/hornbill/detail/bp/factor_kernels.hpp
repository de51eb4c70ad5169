// Kernels that compute factor-to-variable messages of one large batch.
#pragma once

#include <hornbill/detail/bp/chunk_update.hpp>
#include <hornbill/detail/bp/lane_update.hpp>
#include <hornbill/detail/bp/table_update.hpp>
#include <hornbill/detail/bp/wide_update.hpp>

namespace hornbill::detail {

/// Teams of at most `largest` threads. Said at compile time, because registers are shared out by it: a kernel compiled
/// without knowing may need more of them than a large team has.
template <class ExecutionSpace, int largest>
using BoundedTeams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<largest, 1>>;
template <class ExecutionSpace>
using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;

/// Calls function(lane) in each lane of the calling warp.
template <class Member, class Function>
KOKKOS_INLINE_FUNCTION void for_each_lane(Member const& member, Function const& function) {
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, bp::warp_size), function);
}

/// Messages of chunks, one thread a chunk.   Source: design.md section 2.
/// Traffic (double) of an AND of n variables: 24 B chunk, 32 B parameters, and for each edge 4 B variable id, 32 B sum (a
/// gather), 8 B message read and 8 B written.
template <Write write, class Value, class MemorySpace>
struct FactorToVariable {
  Fields<Value, MemorySpace> fields;
  Kokkos::View<bp::Chunk const*, MemorySpace> chunks;
  KOKKOS_FUNCTION void operator()(Index i) const {
    ChunkUpdate<Value, MemorySpace>(fields, chunks(i)).template put_messages<write>();
  }
};

/// The same an edge a lane.
/// Traffic (double) for each edge: 16 B lane, 32 B sum (a gather), 8 B message read and 8 B written; 32 B parameters a factor.
template <Write write, class Value, class MemorySpace>
struct FactorToVariableLanes {
  Fields<Value, MemorySpace> fields;
  Kokkos::View<bp::Lane const*, MemorySpace> lanes;
  Index first, last;  // warps

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    Index const warp = first + static_cast<Index>(member.league_rank()) * member.team_size() + member.team_rank();
    if (warp >= last) return;
    for_each_lane(member, [&](int id) {
      bp::Lane const lane = lanes(Offset{warp} * bp::warp_size + id);
      LaneUpdate<Value, MemorySpace> update(fields, lane, id);
      update.read_head();
      Value const computed = update.message();
      if (lane.is(bp::Lane::wanted)) put_message<write>(fields, lane.edge, lane.variable, update.before, computed);
    });
  }
};

/// Totals of the parts of wide factors: `teams` teams, or threads, share the parts of each.
template <class Value, class MemorySpace>
struct TotalOfParts {
  Fields<Value, MemorySpace> fields;
  Kokkos::View<bp::WideTask const*, MemorySpace> wide;
  Kokkos::View<bp::Chunk const*, MemorySpace> parts;
  Index first, teams;

  KOKKOS_FUNCTION void operator()(Index i) const {
    bp::WideTask const task = wide(first + i / teams);
    for (Index part = task.first_part + i % teams; part < task.last_part; part += teams) one_thread(part);
  }
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const i = static_cast<Index>(member.league_rank());
    bp::WideTask const task = wide(first + i / teams);
    Index const size = member.team_size();
    for (Index part = task.first_part + i % teams * size + member.team_rank(); part < task.last_part; part += teams * size) one_warp(member, part);
  }

  KOKKOS_FUNCTION void one_thread(Index part) const {
    fields.nodes(parts(part).node).total = ChunkUpdate<Value, MemorySpace>(fields, parts(part)).total();
  }
  template <class Member>
  KOKKOS_FUNCTION void one_warp(Member const& member, Index part) const {
    bp::Chunk const chunk = parts(part);
    for_each_lane(member, [&](int id) {
      auto const total = LaneUpdate<Value, MemorySpace>(fields, lane_of(chunk, id), id).total();
      if (id == 0) fields.nodes(chunk.node).total = total;
    });
  }

 private:
  KOKKOS_FUNCTION bp::Lane lane_of(bp::Chunk const& chunk, int id) const {
    using bp::Lane;
    if (id >= chunk.count) return {0, 0, 0, Lane::pack_levels(LaneTree<Value>::most_levels)};
    Index const edge = chunk.first_edge + id;
    return {edge, fields.graph.factor_variables(edge), chunk.node,
            Lane::valid | Lane::wide | (chunk.head && id == 0 ? Lane::head : 0u) | (chunk.disjunction ? Lane::disjunction : 0u) |
                (chunk.ordinary ? Lane::ordinary : 0u) | Lane::pack(id, chunk.count) | Lane::pack_levels(LaneTree<Value>::most_levels)};
  }
};

/// The upper parts of wide factors' trees, one thread or one team a factor.
template <Write write, class Value, class MemorySpace>
struct TieParts {
  Fields<Value, MemorySpace> fields;
  Kokkos::View<bp::WideTask const*, MemorySpace> wide;
  Index first;

  KOKKOS_FUNCTION void operator()(Index i) const { update_wide<write>(OneThread{}, fields, wide(first + i)); }
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    update_wide<write>(Warps<Member>{member, true}, fields, wide(first + static_cast<Index>(member.league_rank())));
  }
};

/// Messages of tables, one thread a table.
template <Write write, class Value, class MemorySpace>
struct TableToVariable {
  Fields<Value, MemorySpace> fields;
  Kokkos::View<bp::TableTask const*, MemorySpace> tables;
  Kokkos::View<Index const*, MemorySpace> edges;
  KOKKOS_FUNCTION void operator()(Index i) const { update_table<write>(fields, tables(i).factor, edges, tables(i).first, tables(i).last); }
};

/// What ties the chunks of wide factors [first, last) together, before their messages.
template <Write write, class ExecutionSpace, class Value, class MemorySpace>
void launch_wide(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& fields, bp::Plan<MemorySpace> const& plan, Index first,
                 Index last) {
  if (first == last) return;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  using Totals = TotalOfParts<Value, MemorySpace>;
  using Tie = TieParts<write, Value, MemorySpace>;
  Index const most_teams = 64;
  if constexpr (tuning.lanes) {
    constexpr int warps = tuning.team_size / bp::warp_size;
    using Teams = BoundedTeams<ExecutionSpace, tuning.team_size>;
    Index const teams = std::min<Index>(most_teams, (plan.most_parts + warps - 1) / warps);
    Kokkos::parallel_for("hornbill::bp::total_of_parts", Teams(exec, (last - first) * teams, warps, bp::warp_size),
                         Totals{fields, plan.wide, plan.parts, first, teams});
    Kokkos::parallel_for("hornbill::bp::tie_parts", Teams(exec, last - first, warps, bp::warp_size), Tie{fields, plan.wide, first});
  } else {
    Index const teams = std::min(most_teams, plan.most_parts);
    Kokkos::parallel_for("hornbill::bp::total_of_parts", Range<ExecutionSpace>(exec, 0, (last - first) * teams),
                         Totals{fields, plan.wide, plan.parts, first, teams});
    Kokkos::parallel_for("hornbill::bp::tie_parts", Range<ExecutionSpace>(exec, 0, last - first), Tie{fields, plan.wide, first});
  }
}

/// All messages of one batch.
template <Write write, class ExecutionSpace, class Value, class MemorySpace>
void launch_batch(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& fields, bp::Plan<MemorySpace> const& plan, Offset batch) {
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  auto const begin = plan.offsets[batch], end = plan.offsets[batch + 1];
  launch_wide<write>(exec, fields, plan, begin.wide, end.wide);
  if (begin.chunks != end.chunks) {
    if constexpr (tuning.lanes) {
      constexpr int warps = tuning.team_size / bp::warp_size;
      Kokkos::parallel_for("hornbill::bp::factor_to_variable",
                           BoundedTeams<ExecutionSpace, tuning.team_size>(exec, (end.chunks - begin.chunks + warps - 1) / warps, warps, bp::warp_size),
                           FactorToVariableLanes<write, Value, MemorySpace>{fields, plan.lanes, begin.chunks, end.chunks});
    } else {
      Kokkos::parallel_for("hornbill::bp::factor_to_variable", Range<ExecutionSpace>(exec, begin.chunks, end.chunks),
                           FactorToVariable<write, Value, MemorySpace>{fields, plan.chunks});
    }
  }
  if (begin.tables != end.tables)
    Kokkos::parallel_for("hornbill::bp::table_to_variable", Range<ExecutionSpace>(exec, begin.tables, end.tables),
                         TableToVariable<write, Value, MemorySpace>{fields, plan.tables, plan.table_edges});
}

}  // namespace hornbill::detail
