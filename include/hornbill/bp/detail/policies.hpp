// Ways to spread kernels over threads, by short names.
#pragma once

#include <Kokkos_Core.hpp>

#include <hornbill/backend/tuning.hpp>
#include <hornbill/bp/tasks.hpp>

namespace hornbill::bp::detail {

/// Teams of at most `largest` threads. Said at compile time, because registers are shared out by it: a kernel compiled
/// without knowing may need more of them than a large team has.
/// So is how many teams are to be at work at once on each multiprocessor, where waiting for memory is most of the work.
template <class ExecutionSpace, int largest, int at_once = 1>
using BoundedTeams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<largest, at_once>>;
template <class ExecutionSpace>
using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;

/// Tasks of all evidence sets of the fields.
template <class ExecutionSpace, class F>
Range<ExecutionSpace> items(ExecutionSpace const& exec, F const& fields, Index tasks) {
  return Range<ExecutionSpace>(exec, 0, tasks * fields.sets);
}
/// Whether an edge is a lane of a warp.
template <class ExecutionSpace>
inline constexpr bool uses_lanes = backend::TuningOf<ExecutionSpace>::value.bp.lanes;

/// Calls function(lane) in each lane of the calling warp.
template <class Member, class Function>
KOKKOS_INLINE_FUNCTION void for_each_lane(Member const& member, Function const& function) {
  Kokkos::parallel_for(Kokkos::ThreadVectorRange(member, bp::warp_size), function);
}

}  // namespace hornbill::bp::detail
