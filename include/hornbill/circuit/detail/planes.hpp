// Numbers as matrix units multiply them: tile by tile, as planes of half precision.
#pragma once

#include <cstdint>

#include <hornbill/circuit/detail/matrix_tasks.hpp>
#include <hornbill/circuit/detail/scaled.hpp>
#ifdef KOKKOS_ENABLE_CUDA
#include <cuda_fp16.h>
#endif

namespace hornbill::circuit::detail {

/// Numbers of at least least_exact, as a share of that, are rounded to 22 bits by two planes and to 11 by one; others
/// by at most lost_by_planes more.
inline constexpr float least_exact = 0x1p-18f, lost_by_planes = 0x1p-40f;
/// Products of two planes are true to this share of them, but for what is lost.
inline constexpr float rounding_of_planes = 0x1p-22f;

/// Where an entry is in a plane: eights of a row are in another order in each, so that units that read eights of
/// several rows find them in different banks.
KOKKOS_INLINE_FUNCTION constexpr Index entry_of(Index row, Index column) {
  return row * tile_size + ((column / 8) ^ (row % 8)) * 8 + column % 8;
}

/// The bits of the nearest number of half precision.   \param value  of at most 2^15
KOKKOS_INLINE_FUNCTION std::uint16_t to_half(float value) {
  KOKKOS_IF_ON_DEVICE((return __half_as_ushort(__float2half_rn(value));))
  KOKKOS_IF_ON_HOST((auto const bits = Kokkos::bit_cast<std::uint32_t>(value); auto const sign = bits >> 16 & 0x8000u;
                     auto const size = bits & 0x7fffffffu; constexpr std::uint32_t least_normal = 0x38800000u;
                     if (size < least_normal) {  // multiples of 2^-24, which is the last place of numbers from 1/2 to 1
                       auto const sum = Kokkos::bit_cast<std::uint32_t>(Kokkos::bit_cast<float>(size) + 0.5f);
                       return static_cast<std::uint16_t>(sign | (sum - 0x3f000000u));
                     } constexpr std::uint32_t bias = (127u - 15u) << 10;
                     return static_cast<std::uint16_t>(sign | (((size + 0xfffu + (size >> 13 & 1u)) >> 13) - bias));))
}

KOKKOS_INLINE_FUNCTION float from_half(std::uint16_t bits) {
  KOKKOS_IF_ON_DEVICE((return __half2float(__ushort_as_half(bits));))
  KOKKOS_IF_ON_HOST((std::uint32_t const sign = (bits & 0x8000u) << 16, size = bits & 0x7fffu;
                     if (size < 0x400u) return (sign ? -1.0f : 1.0f) * static_cast<float>(size) * 0x1p-24f;
                     return Kokkos::bit_cast<float>(sign | ((size << 13) + ((127u - 15u) << 23)));))
}

/// Writes a number to the planes of a tile.   \param scaled  at most 2^plane_shift
KOKKOS_INLINE_FUNCTION void store_planes(std::uint16_t* tile, Index num_planes, Index row, Index column, float scaled) {
  std::uint16_t const high = to_half(scaled);
  tile[entry_of(row, column)] = high;
  if (num_planes == 2) tile[plane_entries + entry_of(row, column)] = to_half(scaled - from_half(high));
}

/// Where the planes of a tile begin, if each has so many.
KOKKOS_INLINE_FUNCTION Offset planes_of(Offset tile, Index num_planes) { return tile * num_planes * plane_entries; }

/// A column's planes of a block of samples.
template <class MemorySpace>
KOKKOS_INLINE_FUNCTION std::uint16_t* tile_of(Columns<MemorySpace> const& columns, Index column, Offset sample) {
  return &columns.planes(planes_of(Offset{column} * columns.blocks + sample / tile_size, columns.num_planes));
}

}  // namespace hornbill::circuit::detail
