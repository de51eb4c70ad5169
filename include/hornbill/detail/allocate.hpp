// Views for arrays that kernels read from all over.
#pragma once

#include <cstddef>
#include <string>

#include <Kokkos_Core.hpp>

#include <hornbill/detail/huge_pages.hpp>

namespace hornbill::detail {

/// A new View, not initialised.
template <class View, class ExecutionSpace>
View allocate(ExecutionSpace const& exec, std::string const& label, std::size_t size) {
  View view(Kokkos::view_alloc(exec, label, Kokkos::WithoutInitializing), size);
  if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename View::memory_space>::accessible)
    ask_for_huge_pages(view.data(), size * sizeof(typename View::value_type));
  return view;
}
/// A new View of T{}.
template <class View, class ExecutionSpace>
View allocate_initialised(ExecutionSpace const& exec, std::string const& label, std::size_t size) {
  auto view = allocate<View>(exec, label, size);
  Kokkos::deep_copy(exec, view, typename View::value_type{});
  return view;
}

}  // namespace hornbill::detail
