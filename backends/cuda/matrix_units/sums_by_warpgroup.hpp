// Sums of products of tiles on Hopper: a warpgroup multiplies while a warp brings what comes next.
#pragma once

#include "numbers.hpp"
#include "ptx.hpp"

#ifdef HORNBILL_WGMMA

namespace hornbill::cuda {

/// A block has an output and some blocks of 64 samples. Four warps multiply and add; one copies tiles into stages of
/// shared memory, and finds the powers of 2 by which products are multiplied, so that the largest is the unit of all.
///
/// Each 16 products are summed up from 0 by matrix units, first those of low planes, and moved to sums in registers:
/// more of them would lose more by cutting off.
template <int sample_blocks, int stages, bool is_transposed>
struct SumsByWarpgroup {
  static constexpr int samples = 64 * sample_blocks, warps_that_multiply = 4, threads = 32 * (warps_that_multiply + 1);
  static constexpr int registers = samples / 2;  ///< of a thread, for sums of 64 by `samples`
  static constexpr int stage_bytes = tile_bytes * (1 + sample_blocks);
  static constexpr int samples_of_lane = samples / 32;

  /// Beside tiles, in shared memory.
  struct alignas(16) Scales {
    float of_products[samples], of_sums[samples];
    int has_new_unit;
  };
  static constexpr int shared_bytes = stages * (stage_bytes + static_cast<int>(sizeof(Scales))) + 1024;

  circuit::detail::TileProducts const& of;
  unsigned tiles;
  Scales* scales;
  unsigned full, empty;  ///< barriers of stages
  Index output;
  Offset first_block;
  TileProduct const* products;
  int count;

  __device__ SumsByWarpgroup(circuit::detail::TileProducts const& of, unsigned char* memory, std::uint64_t* barriers)
      : of(of),
        tiles((shared_address(memory) + 1023) / 1024 * 1024),
        scales(reinterpret_cast<Scales*>(memory + (tiles - shared_address(memory)) + stages * stage_bytes)),
        full(shared_address(barriers)),
        empty(full + 8 * stages),
        output(static_cast<Index>(blockIdx.x)),
        first_block(static_cast<Offset>(blockIdx.y) * sample_blocks),
        products(of.products + of.offsets[output]),
        count(static_cast<int>(of.offsets[output + 1] - of.offsets[output])) {}

  __device__ void run() const {
    if (threadIdx.x == 0) {
      for (int s = 0; s < stages; ++s) {
        set_up_barrier(full + 8 * s, 32);
        set_up_barrier(empty + 8 * s, warps_that_multiply);
      }
      publish_barriers();
    }
    __syncthreads();
    if (threadIdx.x >= 32 * warps_that_multiply)
      bring();
    else
      multiply();
  }

 private:
  __device__ Offset sample_of(int lane, int k) const { return first_block * 64 + lane + k * 32; }

  __device__ void read_exponents(TileProduct const& product, int lane, Exponent* to) const {
    Exponent const of_weights = of.weight_exponents[product.weights];
    for (int k = 0; k < samples_of_lane; ++k)
      to[k] = of.column_exponents[product.column * of.stride + sample_of(lane, k)] + of_weights;
  }

  /// The warp that copies.
  __device__ void bring() const {
    int const lane = static_cast<int>(threadIdx.x) % 32;
    Exponent units[samples_of_lane], exponents[samples_of_lane], next_exponents[samples_of_lane] = {};
    for (auto& unit : units) unit = no_exponent;
    TileProduct next{};
    if (count > 0) {
      next = products[0];
      read_exponents(next, lane, next_exponents);
    }
    for (int i = 0; i < count; ++i) {
      auto const now = next;
      for (int k = 0; k < samples_of_lane; ++k) exponents[k] = next_exponents[k];
      if (i + 1 < count) {  // read before it is needed
        next = products[i + 1];
        read_exponents(next, lane, next_exponents);
      }
      int const stage = i % stages;
      if (i >= stages) wait(empty + 8 * stage, (i / stages - 1) & 1);
      if (lane == 0) copy_tiles(now, stage);
      write_scales(exponents, units, lane, scales[stage], i > 0);
      arrive(full + 8 * stage);
    }
    Offset const at = place_of(of, output).exponents * of.stride;
    for (int k = 0; k < samples_of_lane; ++k) of.exponents[at + sample_of(lane, k)] = units[k];
  }

  __device__ void copy_tiles(TileProduct const& product, int stage) const {
    unsigned const to = tiles + stage * stage_bytes, barrier = full + 8 * stage;
    expect_bytes(barrier, stage_bytes);
    copy_bytes(to, of.weights + Offset{product.weights} * tile_entries, tile_bytes, barrier);
    copy_bytes(to + tile_bytes, of.columns + (Offset{product.column} * of.blocks + first_block) * tile_entries,
               sample_blocks * tile_bytes, barrier);
  }

  __device__ static void write_scales(Exponent const* exponents, Exponent* units, int lane, Scales& to, bool has_sums) {
    bool grows = false;
    for (int k = 0; k < samples_of_lane; ++k) {
      Exponent const old = units[k];
      if (exponents[k] > old) {
        units[k] = exponents[k];
        grows = has_sums;
      }
      to.of_products[lane + k * 32] = power_of_two(exponents[k] - units[k] - product_shift);
      to.of_sums[lane + k * 32] = power_of_two(old - units[k]);
    }
    int const any = __any_sync(0xffffffff, grows);
    if (lane == 0) to.has_new_unit = any;
  }

  using Sums = float[registers];

  /// The warps that multiply.
  __device__ void multiply() const {
    int const lane = static_cast<int>(threadIdx.x) % 32;
    Sums sums = {}, parts[2];
    for (int i = 0; i < count; ++i) {
      int const stage = i % stages;
      wait(full + 8 * stage, (i / stages) & 1);
      unsigned const weights = tiles + stage * stage_bytes;
      auto const& scale = scales[stage];
      start(weights, 0, parts[0]);
      if (scale.has_new_unit)
        for_each_pair(lane, [&](int r, int b) {
          float2 const by = *reinterpret_cast<float2 const*>(scale.of_sums + b);
          sums[r] *= by.x;
          sums[r + 1] *= by.y;
          sums[r + 2] *= by.x;
          sums[r + 3] *= by.y;
        });
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        if (k < 3) {
          start(weights, k + 1, parts[(k + 1) % 2]);
          wait_for_products<1>();
        } else {
          wait_for_products<0>();
        }
        add(parts[k % 2], scale, lane, sums);
      }
      __syncwarp();
      if (lane == 0) arrive(empty + 8 * stage);
    }
    store(lane, sums);
  }

  /// Calls function(first of four registers, first of two samples).
  template <class Function>
  __device__ static void for_each_pair(int lane, Function const& function) {
#pragma unroll
    for (int n = 0; n < samples / 8; ++n) function(n * 4, n * 8 + lane % 4 * 2);
  }

  /// Starts the products of 16 columns of weights.
  __device__ static void start(unsigned weights, int k, Sums& parts) {
    constexpr std::uint64_t low_plane = plane_bytes >> 4;
    auto const a = is_transposed ? matrix_at(weights + k * 2048, tile_bytes) : matrix_at(weights + k * 32, tile_bytes);
    auto const b = matrix_at(weights + tile_bytes + k * 2048, tile_bytes);
    begin_products();
    product(a, b + low_plane, false, parts);
    product(a + low_plane, b, true, parts);
    product(a, b, true, parts);
    commit_products();
  }
  __device__ static void product(std::uint64_t a, std::uint64_t b, bool adds, Sums& parts) {
    if constexpr (sample_blocks == 1)
      multiply_64<is_transposed>(parts, a, b, adds);
    else
      multiply_128<is_transposed>(parts, a, b, adds);
  }

  __device__ static void add(Sums const& parts, Scales const& scale, int lane, Sums& sums) {
    for_each_pair(lane, [&](int r, int b) {
      float2 const by = *reinterpret_cast<float2 const*>(scale.of_products + b);
      sums[r] = fmaf(parts[r], by.x, sums[r]);
      sums[r + 1] = fmaf(parts[r + 1], by.y, sums[r + 1]);
      sums[r + 2] = fmaf(parts[r + 2], by.x, sums[r + 2]);
      sums[r + 3] = fmaf(parts[r + 3], by.y, sums[r + 3]);
    });
  }

  __device__ void store(int lane, Sums const& sums) const {
    auto const place = place_of(of, output);
    int const row = static_cast<int>(threadIdx.x) / 32 * 16 + lane / 4;
    float* const to = of.sums + (place.row + row) * of.stride + first_block * 64;
    for_each_pair(lane, [&](int r, int b) {
      if (row < place.size)
        *reinterpret_cast<float2*>(to + b) = make_float2(with_cut_off(sums[r]), with_cut_off(sums[r + 1]));
      if (row + 8 < place.size)
        *reinterpret_cast<float2*>(to + 8 * of.stride + b) =
            make_float2(with_cut_off(sums[r + 2]), with_cut_off(sums[r + 3]));
    });
  }
};

template <int sample_blocks, int stages, bool is_transposed>
__global__ void __launch_bounds__(160, 1) sums_by_warpgroup(circuit::detail::TileProducts const of) {
  extern __shared__ unsigned char memory[];
  __shared__ std::uint64_t barriers[2 * stages];
  SumsByWarpgroup<sample_blocks, stages, is_transposed>(of, memory, barriers).run();
}

}  // namespace hornbill::cuda

#endif
