// Policies of kernels.
#pragma once

#include <Kokkos_Core.hpp>

#include <hornbill/types.hpp>

namespace hornbill::circuit::detail {

template <class ExecutionSpace>
inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;

template <class ExecutionSpace>
using Items = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Offset>>;

}  // namespace hornbill::circuit::detail
