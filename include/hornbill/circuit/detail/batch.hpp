// Samples of a batch as kernels read them.
#pragma once

#include <cstddef>
#include <vector>

#include <hornbill/circuit/host_plan.hpp>
#include <hornbill/circuit/samples.hpp>

namespace hornbill::circuit::detail {

/// Rows have room for a multiple of this many samples.
inline constexpr Offset stride_unit = 64;
/// Blocks of that many.
constexpr Index blocks_of(Index batch_size) {
  return static_cast<Index>((Offset{batch_size} + stride_unit - 1) / stride_unit);
}
/// Between rows: not a large power of 2, or the rows of a tile would share a few places of a cache.
constexpr Offset stride_of(Index batch_size) {
  constexpr Offset line = 16;
  Offset const room = blocks_of(batch_size) * stride_unit;
  return room % (2 * stride_unit) == 0 ? room + line : room;
}

/// Planes that matrix units read of each number.
inline Index num_planes(HostPlan const& plan) { return static_cast<Index>(plan.planes); }

/// Values, and likelihoods, of each variable in a row.
struct BatchRows {
  std::vector<double> values;        ///< [num_variables, stride]
  std::vector<Offset> soft_offsets;  ///< [num_variables] rows of `soft`; -1 where there are none
  std::vector<double> soft;          ///< [categories of variables with likelihoods, stride]
};
BatchRows by_variable(HostPlan const& plan, Samples const& samples, std::vector<Offset> const& which, Offset stride);

/// Weights with the largest made 1.
struct UnitWeights {
  std::vector<double> weights;
  double unit = 1;
};
/// \param weights  none are all 1   \throws ShapeError
UnitWeights unit_weights(std::vector<double> const& weights, Index num_samples);

/// How many samples exact values are computed of at a time.
std::size_t exact_batch(Circuit const& circuit, std::size_t wanted);

/// Samples of an exact pass beside batches of so many. Few, since each node of the circuit takes 16 bytes for each.
constexpr Index exact_share(Index batch_size) { return (batch_size - 1) / 16 + 1; }

}  // namespace hornbill::circuit::detail
