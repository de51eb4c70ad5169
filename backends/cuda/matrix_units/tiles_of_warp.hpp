// Products of matrices in shared memory by one warp.
#pragma once

#include "numbers.hpp"
#include "ptx.hpp"

namespace hornbill::cuda {

/// A warp's part of a product of tiles: 32 rows and 32 columns, as eight by eight sums of 16 by 8.
struct WarpTile {
  static constexpr int row_parts = 2, column_parts = 4;
  float sums[row_parts][column_parts][4] = {};
  int row, column, lane;  ///< the first ones

  __device__ WarpTile(int warp, int lane) : row(warp % 2 * 32), column(warp / 2 * 32), lane(lane) {}

  /// Column of sums n, in registers 0 and 2; the next is in 1 and 3.
  __device__ int column_of(int n) const { return column + n * 8 + lane % 4 * 2; }
  /// Row of sums m, in registers 0 and 1; that of the others is 8 more.
  __device__ int row_of(int m) const { return row + m * 16 + lane / 4; }

  /// Parts of two planes of b, for 16 of the numbers that are summed over.
  struct Operand {
    unsigned high[column_parts][2], low[column_parts][2];
  };

  /// Of a matrix whose rows are those that are summed over.
  __device__ void load_rows(unsigned plane, int k, unsigned (&to)[column_parts][2]) const {
    for (int n = 0; n < column_parts; n += 2) {
      unsigned four[4];
      load_transposed(four, plane + eight_at(k + (lane & 15), (column + n * 8) / 8 + (lane >> 4)));
      to[n][0] = four[0];
      to[n][1] = four[1];
      to[n + 1][0] = four[2];
      to[n + 1][1] = four[3];
    }
  }
  /// Of a matrix whose columns are those.
  __device__ void load_columns(unsigned plane, int k, unsigned (&to)[column_parts][2]) const {
    for (int n = 0; n < column_parts; n += 2) {
      unsigned four[4];
      load_matrices(four, plane + eight_at(column + n * 8 + (lane & 7) + (lane >> 4) * 8, k / 8 + ((lane >> 3) & 1)));
      to[n][0] = four[0];
      to[n][1] = four[1];
      to[n + 1][0] = four[2];
      to[n + 1][1] = four[3];
    }
  }

  /// Of a, for row part m.
  template <bool is_transposed>
  __device__ void load_a(unsigned plane, int m, int k, unsigned (&to)[4]) const {
    if constexpr (is_transposed)
      load_transposed(to, plane + eight_at(k + (lane & 7) + (lane >> 4) * 8, (row + m * 16) / 8 + ((lane >> 3) & 1)));
    else
      load_matrices(to, plane + eight_at(row + m * 16 + (lane & 15), k / 8 + (lane >> 4)));
  }

  /// Adds 16 products, times what scale(first column) says of two columns, to sums.
  template <bool is_transposed, class Scale>
  __device__ void add(unsigned a, int k, Operand const& b, Scale const& scale) {
#pragma unroll
    for (int m = 0; m < row_parts; ++m) {
      unsigned high[4], low[4];
      load_a<is_transposed>(a, m, k, high);
      load_a<is_transposed>(a + plane_bytes, m, k, low);
      float parts[column_parts][4] = {};
#pragma unroll
      for (int n = 0; n < column_parts; ++n) multiply_add(parts[n], high, b.low[n][0], b.low[n][1]);
#pragma unroll
      for (int n = 0; n < column_parts; ++n) multiply_add(parts[n], low, b.high[n][0], b.high[n][1]);
#pragma unroll
      for (int n = 0; n < column_parts; ++n) multiply_add(parts[n], high, b.high[n][0], b.high[n][1]);
#pragma unroll
      for (int n = 0; n < column_parts; ++n) {
        float2 const by = scale(n);
        sums[m][n][0] = fmaf(parts[n][0], by.x, sums[m][n][0]);
        sums[m][n][1] = fmaf(parts[n][1], by.y, sums[m][n][1]);
        sums[m][n][2] = fmaf(parts[n][2], by.x, sums[m][n][2]);
        sums[m][n][3] = fmaf(parts[n][3], by.y, sums[m][n][3]);
      }
    }
  }
};

/// Starts to copy a tile, by all threads of a block.
template <int threads>
__device__ void copy_tile(unsigned to, void const* from) {
  for (int i = static_cast<int>(threadIdx.x); i < tile_bytes / 16; i += threads)
    copy_16(to + i * 16, static_cast<unsigned char const*>(from) + i * 16);
}

}  // namespace hornbill::cuda
