// Policies of kernels, and lists for them.
#pragma once

#include <cstddef>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/types.hpp>

namespace hornbill::circuit::detail {

template <class ExecutionSpace>
inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;

template <class ExecutionSpace>
using Items = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Offset>>;

/// Entries of a list, picked by number.
template <class Value>
std::vector<Value> picked(std::vector<double> const& values, std::vector<Offset> const& which) {
  std::vector<Value> result;
  result.reserve(which.size());
  for (Offset i : which) result.push_back(static_cast<Value>(values[static_cast<std::size_t>(i)]));
  return result;
}

}  // namespace hornbill::circuit::detail
