// Products of matrices in shared memory by one warp.
#pragma once

#include "numbers.hpp"
#include "ptx.hpp"

namespace hornbill::cuda {

/// A warp's part of a product of tiles: 32 rows and 32 columns, as two by four sums of 16 by 8.
template <int planes>
struct WarpTile {
  static constexpr int tile_bytes = planes * plane_bytes;
  static constexpr int row_parts = 2, column_parts = 4;
  float sums[row_parts][column_parts][4] = {};
  int row, column, lane;  ///< the first ones

  __device__ WarpTile(int warp, int lane) : row(warp % 2 * 32), column(warp / 2 * 32), lane(lane) {}

  /// Column of sums n, in registers 0 and 2; the next is in 1 and 3.
  __device__ int column_of(int n) const { return column + n * 8 + lane % 4 * 2; }
  /// Row of sums m, in registers 0 and 1; that of the others is 8 more.
  __device__ int row_of(int m) const { return row + m * 16 + lane / 4; }

  /// Parts of b's planes, the high one first, for 16 of the numbers that are summed over.
  struct Operand {
    unsigned of[planes][column_parts][2];
  };

  /// Of a matrix whose rows are those that are summed over.
  __device__ void load_rows(unsigned tile, int k, Operand& to) const {
#pragma unroll
    for (int p = 0; p < planes; ++p) load_rows(tile + p * plane_bytes, k, to.of[p]);
  }
  /// Of a matrix whose columns are those.
  __device__ void load_columns(unsigned tile, int k, Operand& to) const {
#pragma unroll
    for (int p = 0; p < planes; ++p) load_columns(tile + p * plane_bytes, k, to.of[p]);
  }

 private:
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

  __device__ static void multiply_all(unsigned const (&a)[4], unsigned const (&b)[column_parts][2],
                                      float (&parts)[column_parts][4]) {
#pragma unroll
    for (int n = 0; n < column_parts; ++n) multiply_add(parts[n], a, b[n][0], b[n][1]);
  }

 public:
  /// Adds 16 products, times what scale(first column) says of two columns, to sums.
  template <bool is_transposed, class Scale>
  __device__ void add(unsigned a, int k, Operand const& b, Scale const& scale) {
#pragma unroll
    for (int m = 0; m < row_parts; ++m) {
      unsigned high[4];
      load_a<is_transposed>(a, m, k, high);
      float parts[column_parts][4] = {};
      if constexpr (planes == 2) {
        unsigned low[4];
        load_a<is_transposed>(a + plane_bytes, m, k, low);
        multiply_all(high, b.of[1], parts);
        multiply_all(low, b.of[0], parts);
      }
      multiply_all(high, b.of[0], parts);
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

/// Starts to copy a tile of all tiles, by all threads of a block.
template <int planes, int threads>
__device__ void copy_tile(unsigned to, std::uint16_t const* tiles, Offset tile) {
  auto const* const from = reinterpret_cast<unsigned char const*>(tiles + planes_of(tile, planes));
  for (int i = static_cast<int>(threadIdx.x); i < planes * plane_bytes / 16; i += threads)
    copy_16(to + i * 16, from + i * 16);
}

}  // namespace hornbill::cuda
