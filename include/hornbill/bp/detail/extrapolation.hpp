// What acceleration remembers of the iterations that it extrapolates from.
#pragma once

#include <algorithm>
#include <cstddef>

#include <Kokkos_Core.hpp>

#include <hornbill/types.hpp>

namespace hornbill::bp::detail {

/// Messages whose products are summed at a time, and slices of them that are summed apart: the same on every backend,
/// so that the number of threads does not change bits.
inline constexpr Index extrapolation_tile = 128, max_slices = 256;

inline Index num_slices(std::size_t messages) {
  return static_cast<Index>(
      std::min<std::size_t>(max_slices, (messages + extrapolation_tile - 1) / extrapolation_tile));
}
KOKKOS_INLINE_FUNCTION constexpr Index num_pairs(Index window) { return window * (window + 1) / 2; }

template <class Value, class MemorySpace>
struct Extrapolation {
  Kokkos::View<Value*, MemorySpace> previous;  ///< [num_messages * sets], one iteration ago
  /// [num_messages * sets], of the variable's probability to its log-odds
  Kokkos::View<float*, MemorySpace> sensitivities;
  Kokkos::View<float*, MemorySpace> changes;        ///< [window * num_messages * sets], iteration after iteration
  Kokkos::View<double*, MemorySpace> products;      ///< [slices * sets * pairs], of changes
  Kokkos::View<double*, MemorySpace> coefficients;  ///< [window * sets]
};

}  // namespace hornbill::bp::detail
