// What kernels of matrix units have in common.
#pragma once

#include <hornbill/circuit/detail/matrix_tasks.hpp>

namespace hornbill::cuda {

using namespace hornbill::circuit;
using circuit::detail::plane_entries, circuit::detail::plane_shift;

inline constexpr int plane_bytes = plane_entries * 2;
/// Both operands have been multiplied by 2^plane_shift.
inline constexpr Exponent product_shift = 2 * plane_shift;

/// The exponent of 2^exponent as floats have it: 0, which is that of 0, where the power is too small.
/// \param exponent  at most 127
__device__ inline int bits_of_power(Exponent exponent) {
  return exponent <= -127 ? 0 : static_cast<int>(exponent + 127);
}
__device__ inline float power_of_two(Exponent exponent) { return __int_as_float(bits_of_power(exponent) << 23); }

/// Where the planes of a tile begin, if each has so many.
__device__ inline Offset planes_of(Offset tile, int num_planes) { return tile * num_planes * plane_entries; }

/// Where eight halves of a row are in a plane, in bytes; see entry_of().
__device__ inline unsigned eight_at(int row, int eight) {
  return static_cast<unsigned>(row * 128 + ((eight ^ (row & 7)) << 4));
}

/// Units cut off what is behind the last place of a sum, so that each sum of 16 products that is added to another lacks
/// half a unit in the last place on average: of mantissas that are evenly spread in their logarithms, this share.
inline constexpr float cut_off = 0x1.715476p-25f;
__device__ inline float with_cut_off(float sum) { return fmaf(sum, cut_off, sum); }
/// Of four times 16 products, one added to the other: a quarter of the sum lacks it four times, another three times.
__device__ inline float with_cut_off_of_four(float sum) { return fmaf(sum, 2.5f * cut_off, sum); }

/// Where an output's sums go.
struct OutputPlace {
  Offset row;
  Index size, exponents;
};
__device__ inline OutputPlace place_of(circuit::detail::TileProducts const& of, Index output) {
  if (of.outputs == nullptr) return {Offset{output} * tile_size, tile_size, output};
  Index const tile = of.outputs[output];
  return {of.tiles[tile].row, of.tiles[tile].size, tile};
}

}  // namespace hornbill::cuda
