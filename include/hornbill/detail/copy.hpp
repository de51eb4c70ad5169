// Host vectors to Views and back.
#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/detail/allocate.hpp>

namespace hornbill::detail {

/// A new View with the vector's entries, each converted. Waits for the copy, so the vector may go.
template <class T, class MemorySpace, class ExecutionSpace, class U>
Kokkos::View<T*, MemorySpace> to_view(ExecutionSpace const& exec, std::string const& label,
                                      std::vector<U> const& values) {
  auto const view = allocate<Kokkos::View<T*, MemorySpace>>(exec, label, values.size());
  auto mirror = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, Kokkos::HostSpace{}, view);
  exec.fence("hornbill: allocation before the host writes a mirror of it");
  for (std::size_t i = 0; i < values.size(); ++i) mirror(i) = static_cast<T>(values[i]);
  Kokkos::deep_copy(exec, view, mirror);
  exec.fence("hornbill: copy from a temporary host array");
  return view;
}

/// Copies a vector's entries to the first ones of a View. Waits for the copy, so the vector may go.
template <class T, class MemorySpace, class ExecutionSpace>
void copy_to_view(ExecutionSpace const& exec, std::vector<T> const& values, Kokkos::View<T*, MemorySpace> const& view) {
  Kokkos::View<T const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const host(values.data(),
                                                                                                values.size());
  Kokkos::deep_copy(exec, Kokkos::subview(view, std::pair<std::size_t, std::size_t>(0, values.size())), host);
  exec.fence("hornbill: copy from a temporary host array");
}

/// The View's entries. Waits for `exec`.
template <class View, class ExecutionSpace>
auto to_vector(ExecutionSpace const& exec, View const& view) {
  using T = typename View::non_const_value_type;
  std::vector<T> values(view.extent(0));
  Kokkos::View<T*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> host(values.data(), values.size());
  Kokkos::deep_copy(exec, host, view);
  exec.fence("hornbill: result read by the host");
  return values;
}

}  // namespace hornbill::detail
