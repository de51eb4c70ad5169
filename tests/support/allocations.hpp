// Bytes of Views that live at once.
#pragma once

#include <algorithm>
#include <atomic>
#include <string>
#include <string_view>
#include <utility>

#include <doctest/doctest.h>

#include "hygiene.hpp"

namespace hornbill::test {

inline std::atomic<std::int64_t> allocated{0}, max_allocated{0};
inline std::string counted_space;

/// Kokkos' own are scratch memory of kernels: they depend on the backend, and not on what is computed.
inline bool is_counted(Kokkos_Profiling_SpaceHandle space, char const* label) {
  return space.name == counted_space && !std::string_view(label).starts_with("Kokkos::");
}

/// Counts the bytes of Views that live at once in one memory space: a device's, without the host's copies.
struct CountAllocations {
  explicit CountAllocations(std::string space) {
    namespace tools = Kokkos::Tools::Experimental;
    counted_space = std::move(space);
    allocated = max_allocated = 0;
    tools::set_allocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle space, char const* label, void const*, std::uint64_t bytes) {
          if (!is_counted(space, label)) return;
          allocated += static_cast<std::int64_t>(bytes);
          max_allocated = std::max(max_allocated.load(), allocated.load());
        });
    tools::set_deallocate_data_callback(
        [](Kokkos_Profiling_SpaceHandle space, char const* label, void const*, std::uint64_t bytes) {
          if (is_counted(space, label)) allocated -= static_cast<std::int64_t>(bytes);
        });
  }
  ~CountAllocations() {
    Kokkos::Tools::Experimental::set_deallocate_data_callback(nullptr);
    watch_labels();
  }
};

/// The most bytes that live at once while `use` makes what it needs and uses it are those promised, headers and scalars
/// aside.
template <class Memory, class Use>
void check_promise(double promised, Use const& use) {
  CountAllocations const counter(Memory::name());
  use();
  double const small_change = 16384;
  INFO("promised ", promised);
  CHECK(max_allocated > 0);
  CHECK(static_cast<double>(max_allocated) <= promised + small_change);
  CHECK(promised <= 1.2 * static_cast<double>(max_allocated));
}

}  // namespace hornbill::test
