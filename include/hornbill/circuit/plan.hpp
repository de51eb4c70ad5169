/// \file
/// A plan where it will run, and parameters there.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/circuit/host_plan.hpp>

namespace hornbill::circuit {

/// The layers that matrix units do; without any, views of no entries.
template <class MemorySpace>
struct DensePlan {
  Kokkos::View<WeightTile const*, MemorySpace> weight_tiles;
  Kokkos::View<Index const*, MemorySpace> terms;
  Kokkos::View<Offset const*, MemorySpace> product_offsets;
  Kokkos::View<TileProduct const*, MemorySpace> products;
};

/// A plan on the device, of any values; any number of states share it.
template <class MemorySpace>
struct Plan {
  HostPlan host;
  Kokkos::View<Tile const*, MemorySpace> tiles;
  Kokkos::View<Index const*, MemorySpace> tile_of_row;
  Kokkos::View<InputPlan const*, MemorySpace> inputs;
  Kokkos::View<InputTile const*, MemorySpace> input_tiles;
  Kokkos::View<ProductTile const*, MemorySpace> product_tiles;
  Kokkos::View<RowFactor const*, MemorySpace> row_factors;
  Kokkos::View<Index const*, MemorySpace> factor_rows;
  Kokkos::View<Term const*, MemorySpace> terms;
  Kokkos::View<TermFactor const*, MemorySpace> term_factors;
  Kokkos::View<Index const*, MemorySpace> sum_tiles;
  Kokkos::View<Offset const*, MemorySpace> segment_offsets;
  Kokkos::View<Segment const*, MemorySpace> segments;
  DensePlan<MemorySpace> dense;
};

/// A plan as it is on a backend: with what matrix units do there, if it has any. Of a plan that was laid out, the same.
template <class ExecutionSpace>
HostPlan lay_out(HostPlan plan);

/// Lays a plan out, and copies it to where it will run.
/// \note waits for `exec`
template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostPlan host);

/// Weights as matrix units read them: numbers of single precision as planes of half precision.
template <class MemorySpace>
struct WeightPlanes {
  Kokkos::View<std::uint16_t*, MemorySpace> planes;  ///< [weight tiles, planes, 64, 64]
  Kokkos::View<Exponent*, MemorySpace> exponents;    ///< [weight tiles] of 2, that a tile is multiplied by
  Kokkos::View<float*, MemorySpace> losses;          ///< [weight tiles] errors beside rounding, in units of that
};

/// Parameters on the device.
template <class Value, class MemorySpace>
struct DeviceParameters {
  Kokkos::View<Value*, MemorySpace> sum;          ///< [num_sum_parameters]
  Kokkos::View<Value*, MemorySpace> categorical;  ///< [num_categorical]
  Kokkos::View<double*, MemorySpace> scalars;     ///< [num_scalars], of other inputs than categoricals
  /// the smallest parameters that are not 0, before they were made Values
  double smallest_sum = 1, smallest_categorical = 1;
  WeightPlanes<MemorySpace> planes;  ///< of single precision, where matrix units read them
};

/// Copies parameters to the device.   \throws ShapeError
/// \note waits for `exec`
template <class Value, class ExecutionSpace>
DeviceParameters<Value, typename ExecutionSpace::memory_space> to_device(
    ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan, Parameters const& parameters);

/// Copies them back, as they are there.
/// \note waits for `exec`
template <class Value, class ExecutionSpace>
Parameters to_host(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                   DeviceParameters<Value, typename ExecutionSpace::memory_space> const& parameters);

}  // namespace hornbill::circuit
