/// \file
/// Arrays of a device, named for profilers.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/detail/allocate.hpp>

namespace hornbill::points_to::detail {

inline std::string profiler_name(char const* name) { return std::string("hornbill::points_to::") + name; }

template <class T, class ExecutionSpace>
using DeviceArray = Kokkos::View<T*, typename ExecutionSpace::memory_space>;

/// Not initialised.
template <class T, class ExecutionSpace>
DeviceArray<T, ExecutionSpace> array(ExecutionSpace const& exec, char const* name, std::size_t size) {
  return hornbill::detail::allocate<DeviceArray<T, ExecutionSpace>>(exec, profiler_name(name), size);
}
template <class T, class ExecutionSpace>
DeviceArray<T, ExecutionSpace> zeros(ExecutionSpace const& exec, char const* name, std::size_t size) {
  return hornbill::detail::allocate_initialised<DeviceArray<T, ExecutionSpace>>(exec, profiler_name(name), size);
}
/// The values must stay until the execution space has been waited for.
template <class T, class ExecutionSpace>
DeviceArray<T, ExecutionSpace> copied(ExecutionSpace const& exec, char const* name, std::vector<T> const& values) {
  auto const view = array<T>(exec, name, values.size());
  Kokkos::deep_copy(exec, view, Kokkos::View<T const*, Kokkos::HostSpace>(values.data(), values.size()));
  return view;
}

}  // namespace hornbill::points_to::detail
