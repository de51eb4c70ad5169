/// \file
/// Chunks of items: a thread of a CPU looks at several, so that threads rarely meet where they count or append; a
/// thread of a GPU looks at one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

namespace hornbill::points_to::detail {

/// Whether workers are threads of a CPU; memory that a CPU reaches too may be that of a GPU's warps.
template <class MemorySpace>
inline constexpr bool is_host_memory = std::is_same_v<MemorySpace, Kokkos::HostSpace>;

/// How many items one thread looks at.
template <class MemorySpace>
inline constexpr std::uint32_t items_of_chunk = is_host_memory<MemorySpace> ? 256 : 1;

/// How many chunks so many items are.
template <class MemorySpace>
KOKKOS_INLINE_FUNCTION std::size_t num_chunks(std::size_t num_items) {
  return (num_items + items_of_chunk<MemorySpace> - 1) / items_of_chunk<MemorySpace>;
}

/// Calls function(i) for the items of a chunk, of those below a count.
template <class MemorySpace, class Function>
KOKKOS_FUNCTION void for_each_of_chunk(std::size_t chunk, std::size_t count, Function const& function) {
  auto const begin = chunk * items_of_chunk<MemorySpace>;
  auto const end = Kokkos::min(begin + items_of_chunk<MemorySpace>, count);
  for (auto i = begin; i < end; ++i) function(i);
}

}  // namespace hornbill::points_to::detail
