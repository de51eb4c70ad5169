/// \file
/// Best states of what reductions eliminated, once they have run.
#pragma once

#include <Kokkos_Core.hpp>

#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables {

/// Variables of each reduction's rows and of what it eliminates.
template <class MemorySpace>
struct DecodePlan {
  Kokkos::View<Offset const*, MemorySpace> kept_offsets, eliminated_offsets;  ///< [reductions + 1]
  Kokkos::View<Index const*, MemorySpace> kept, strides;                      ///< variables of the output, and how far apart their states are in it
  Kokkos::View<Index const*, MemorySpace> eliminated, states;                 ///< the slowest first
};

/// Copies the plan to where it will run; waits for `exec`.
template <class ExecutionSpace>
DecodePlan<typename ExecutionSpace::memory_space> make_decode_plan(ExecutionSpace const& exec, HostReductions const& host);

/// A best assignment of all variables that the scheduled reductions eliminate, each once: level by level backwards, what makes a reduction's
/// output what it is in the row that is known by then. Of several best states the first; where nothing is possible, any.   \async yes
/// \param[out] assignment  \shape [V]
template <class Semiring, class ExecutionSpace>
void decode(ExecutionSpace const& exec, DecodePlan<typename ExecutionSpace::memory_space> const& plan, Reductions<typename ExecutionSpace::memory_space> const& reductions,
            Schedule<typename ExecutionSpace::memory_space> const& schedule, TableValues<typename Semiring::Value, typename ExecutionSpace::memory_space> const& values,
            Kokkos::View<Index*, typename ExecutionSpace::memory_space> const& assignment);

}  // namespace hornbill::tables

#include <hornbill/detail/tables/decode.hpp>
