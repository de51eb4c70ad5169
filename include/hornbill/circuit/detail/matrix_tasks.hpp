// What matrix units are asked to do: addresses on a device, and sizes. Without Kokkos, so that a backend's kernels can
// be compiled by themselves.
#pragma once

#include <cstdint>

#include <hornbill/circuit/flow_plan.hpp>

namespace hornbill::circuit::detail {

/// Entries of a plane. A tile's planes lie one behind the other: its numbers in half precision; and, if there are two,
/// what they lack.
inline constexpr Index plane_entries = tile_size * tile_size;
/// A tile's numbers are at most 2^plane_shift there, times a power of 2 that it has in common.
inline constexpr Index plane_shift = 15;
/// Sums of products of weights and columns: output o is the sum over its list of
/// 2^(exponents of both) * weights * column, in which weights are a matrix of 64 by 64, or its transpose.
struct TileProducts {
  std::uint16_t const* weights;      ///< [weight tiles, planes, 64, 64]
  Exponent const* weight_exponents;  ///< [weight tiles]
  std::uint16_t const* columns;      ///< [columns, blocks, planes, 64, 64]
  Exponent const* column_exponents;  ///< [columns, stride]
  TileProduct const* products;
  Offset const* offsets;  ///< [outputs + 1]
  /// of output o are rows o * 64 to o * 64 + 63, and exponents o; or, if outputs is not null, the rows of tile
  /// outputs[o], and exponents of that number
  Tile const* tiles;
  Index const* outputs;
  float* sums;          ///< [rows, stride]
  Exponent* exponents;  ///< [outputs or tiles, stride]: of 2, that sums are multiplied by
  Index num_outputs, blocks, used_blocks;
  Offset stride;
  Index run;  ///< so many outputs, one behind the other, have the same columns
  Index num_planes;
  bool is_transposed;
};

/// Parameters between a tile of sums and one of values: their flows over samples and uses are added to `flows`.
struct ParameterProducts {
  std::uint16_t const *sums, *terms;               ///< [columns, blocks, planes, 64, 64]
  Exponent const *sum_exponents, *term_exponents;  ///< [columns, stride]
  DenseParameters const* parameters;
  DenseUse const* uses;
  DenseStrip const* strips;
  ParameterTile const* tiles;
  float const* weights;  ///< parameters of sums
  double unit;           ///< of all flows
  double* flows;
  unsigned* turns;  ///< [parameters] 0, and again when all is done
  Index num_parameters, num_strips, max_uses, blocks, used_blocks;
  Offset stride;
  Index num_planes;
  Index num_parts = 1;  ///< in which the steps of a strip are done, for kernels to choose
};

}  // namespace hornbill::circuit::detail

struct CUstream_st;

namespace hornbill::circuit::detail::cuda {

/// In backends/cuda/matrix_units/matrix_units.cpp.   \throws Error where a kernel cannot be started
void multiply(CUstream_st* stream, TileProducts const& of);
void add_parameter_flows(CUstream_st* stream, ParameterProducts const& of);

}  // namespace hornbill::circuit::detail::cuda
