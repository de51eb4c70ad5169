// Sums of products of tiles, on any GPU from Ampere on: four warps multiply, and copy what comes next.
#pragma once

#include "tiles_of_warp.hpp"

namespace hornbill::cuda {

/// A block has an output and 64 samples.
template <int planes, bool is_transposed>
struct SumsByWarps {
  using Warp = WarpTile<planes>;
  static constexpr int threads = 128, stages = 2, tile_bytes = Warp::tile_bytes, stage_bytes = 2 * tile_bytes;

  /// Beside tiles, in shared memory: powers of 2 by which products and sums are multiplied.
  struct alignas(16) Scales {
    float of_products[64], of_sums[64];
  };
  static constexpr int shared_bytes = stages * (stage_bytes + static_cast<int>(sizeof(Scales)));

  circuit::detail::TileProducts const& of;
  unsigned tiles;
  Scales* scales;
  Index output;
  Offset block;
  TileProduct const* products;
  int count, thread;

  __device__ SumsByWarps(circuit::detail::TileProducts const& of, unsigned char* memory)
      : of(of),
        tiles(shared_address(memory)),
        scales(reinterpret_cast<Scales*>(memory + stages * stage_bytes)),
        output(static_cast<Index>(blockIdx.x)),
        block(blockIdx.y),
        products(of.products + of.offsets[output]),
        count(static_cast<int>(of.offsets[output + 1] - of.offsets[output])),
        thread(static_cast<int>(threadIdx.x)) {}

  __device__ void run() const {
    Exponent unit = no_exponent;  // of the sample that is this thread's, among the first 64
    Warp warp(thread / 32, thread % 32);
    if (count > 0) bring(0, unit);
    commit_copies();
    for (int i = 0; i < count; ++i) {
      if (i + 1 < count) bring(i + 1, unit);
      commit_copies();
      wait_for_copies<1>();
      __syncthreads();
      multiply(i % stages, warp);
      __syncthreads();
    }
    store(warp, unit);
  }

 private:
  /// Starts to copy product i's tiles, and says how its numbers are scaled.
  __device__ void bring(int i, Exponent& unit) const {
    auto const product = products[i];
    unsigned const to = tiles + i % stages * stage_bytes;
    copy_tile<planes, threads>(to, of.weights, product.weights);
    copy_tile<planes, threads>(to + tile_bytes, of.columns, Offset{product.column} * of.blocks + block);
    if (thread >= 64) return;
    Exponent const exponent =
        of.column_exponents[product.column * of.stride + block * 64 + thread] + of.weight_exponents[product.weights];
    Exponent const old = unit;
    unit = exponent > unit ? exponent : unit;
    scales[i % stages].of_products[thread] = power_of_two(exponent - unit - product_shift);
    scales[i % stages].of_sums[thread] = power_of_two(old - unit);
  }

  __device__ void multiply(int stage, Warp& warp) const {
    unsigned const weights = tiles + stage * stage_bytes, columns = weights + tile_bytes;
    float2 of_products[Warp::column_parts];
    for (int n = 0; n < Warp::column_parts; ++n) {
      of_products[n] = *reinterpret_cast<float2 const*>(scales[stage].of_products + warp.column_of(n));
      float2 const of_sums = *reinterpret_cast<float2 const*>(scales[stage].of_sums + warp.column_of(n));
      for (auto& sums : warp.sums) {
        sums[n][0] *= of_sums.x;
        sums[n][1] *= of_sums.y;
        sums[n][2] *= of_sums.x;
        sums[n][3] *= of_sums.y;
      }
    }
#pragma unroll
    for (int k = 0; k < 64; k += 16) {
      typename Warp::Operand b;
      warp.load_rows(columns, k, b);
      warp.template add<is_transposed>(weights, k, b, [&](int n) { return of_products[n]; });
    }
  }

  __device__ void store(Warp const& warp, Exponent unit) const {
    auto const place = place_of(of, output);
    if (thread < 64) of.exponents[place.exponents * of.stride + block * 64 + thread] = unit;
    for (int m = 0; m < Warp::row_parts; ++m)
      for (int n = 0; n < Warp::column_parts; ++n) {
        int const row = warp.row_of(m);
        float* const to = of.sums + (place.row + row) * of.stride + block * 64 + warp.column_of(n);
        auto const& sums = warp.sums[m][n];
        if (row < place.size)
          *reinterpret_cast<float2*>(to) = make_float2(with_cut_off(sums[0]), with_cut_off(sums[1]));
        if (row + 8 < place.size)
          *reinterpret_cast<float2*>(to + 8 * of.stride) = make_float2(with_cut_off(sums[2]), with_cut_off(sums[3]));
      }
  }
};

template <int planes, bool is_transposed>
__global__ void __launch_bounds__(128) sums_by_warps(circuit::detail::TileProducts const of) {
  extern __shared__ __align__(128) unsigned char memory_of_warps[];
  SumsByWarps<planes, is_transposed>(of, memory_of_warps).run();
}

}  // namespace hornbill::cuda
