// Flows of parameters: products of shares of sums and of values of terms, over samples and uses.
#pragma once

#include <cuda_fp16.h>

#include "tiles_of_warp.hpp"

namespace hornbill::cuda {

/// A block has a tile of parameters; its four warps multiply, and copy what comes next. A step is 64 samples of a use.
///
/// Numbers of a sample have powers of 2 of their own, and samples are summed over. So values of a term are multiplied
/// by them where they are used, in half precision: by at most 1, relative to the largest of the step. Samples that are
/// far from it are done in further passes, each of those within 2^12 of each other.
template <int planes>
struct ParameterFlows {
  using Warp = WarpTile<planes>;
  static constexpr int threads = 128, stages = 3, tile_bytes = Warp::tile_bytes, stage_bytes = 2 * tile_bytes;

  /// Beside tiles, in shared memory: how values of a step are scaled.
  struct alignas(16) Scales {
    int below[64];  ///< the power of 2 by which a sample is below the largest
    int largest, passes;
  };
  static constexpr int shared_bytes = stages * (stage_bytes + static_cast<int>(sizeof(Scales)));

  circuit::detail::ParameterProducts const& of;
  unsigned tiles;
  Scales* scales;
  DenseParameters place;
  int count, thread;

  __device__ ParameterFlows(circuit::detail::ParameterProducts const& of, unsigned char* memory)
      : of(of),
        tiles(shared_address(memory)),
        scales(reinterpret_cast<Scales*>(memory + stages * stage_bytes)),
        place(of.parameters[blockIdx.x]),
        count(static_cast<int>(place.uses_end - place.uses_begin) * of.used_blocks),
        thread(static_cast<int>(threadIdx.x)) {}

  __device__ void run() const {
    Warp warp(thread / 32, thread % 32);
    Step next{};
    if (count > 0) next = read(0);
    for (int i = 0; i < stages - 1; ++i) bring(i, next);
    for (int i = 0; i < count; ++i) {
      wait_for_copies<stages - 2>();
      __syncthreads();
      bring(i + stages - 1, next);
      multiply(i % stages, warp);
    }
    store(warp);
  }

 private:
  /// A step's use; and, of the first warp, the powers of 2 of two samples. They are read a step ahead.
  struct Step {
    DenseUse use;
    Exponent exponents[2];
  };
  __device__ Step read(int i) const {
    Step step{of.uses[place.uses_begin + i / of.used_blocks], {}};
    if (thread >= 32) return step;
    for (int h = 0; h < 2; ++h) {
      Offset const sample = i % of.used_blocks * 64 + thread * 2 + h;
      step.exponents[h] =
          of.sum_exponents[step.use.sum * of.stride + sample] + of.term_exponents[step.use.term * of.stride + sample];
    }
    return step;
  }

  /// Starts to copy step i, and reads what is known of the next.
  __device__ void bring(int i, Step& next) const {
    if (i < count) {
      Step const now = next;
      if (i + 1 < count) next = read(i + 1);
      unsigned const to = tiles + i % stages * stage_bytes;
      Offset const block = i % of.used_blocks;
      copy_tile<planes, threads>(to, of.sums, Offset{now.use.sum} * of.blocks + block);
      copy_tile<planes, threads>(to + tile_bytes, of.terms, Offset{now.use.term} * of.blocks + block);
      if (thread < 32) write_scales(now, scales[i % stages]);
    }
    commit_copies();
  }

  __device__ void write_scales(Step const& step, Scales& to) const {
    int exponents[2];
    for (int h = 0; h < 2; ++h) exponents[h] = step.exponents[h] < least ? least : static_cast<int>(step.exponents[h]);
    int largest = exponents[0] > exponents[1] ? exponents[0] : exponents[1];
    for (int other = 16; other > 0; other /= 2) {
      int const theirs = __shfl_xor_sync(0xffffffff, largest, other);
      largest = theirs > largest ? theirs : largest;
    }
    int farthest = 0;
    for (int h = 0; h < 2; ++h) {
      to.below[thread * 2 + h] = exponents[h] == least ? nothing : largest - exponents[h];
      if (exponents[h] != least && largest - exponents[h] > farthest) farthest = largest - exponents[h];
    }
    for (int other = 16; other > 0; other /= 2) {
      int const theirs = __shfl_xor_sync(0xffffffff, farthest, other);
      farthest = theirs > farthest ? theirs : farthest;
    }
    if (thread != 0) return;
    to.largest = largest < most ? largest : most;
    to.passes = largest == least ? 0 : farthest / width + 1;
  }
  /// Flows of less are nothing; of more, samples have been given up.
  static constexpr int least = -1000, most = 127 + static_cast<int>(product_shift);
  static constexpr int nothing = 1 << 20, width = 12;  ///< powers of 2 of a pass

  /// By what samples are multiplied in a pass.
  __device__ static __half2 scale_of(int const* below, int pass) {
    float scales[2];
    for (int h = 0; h < 2; ++h) {
      int const within = below[h] - pass * width;
      scales[h] = within >= 0 && within < width ? power_of_two(-within) : 0.0f;
    }
    return __floats2half2_rn(scales[0], scales[1]);
  }

  __device__ void multiply(int stage, Warp& warp) const {
    for (int pass = 0; pass < scales[stage].passes; ++pass) multiply(stage, pass, warp);
  }
  __device__ void multiply(int stage, int pass, Warp& warp) const {
    unsigned const sums = tiles + stage * stage_bytes, terms = sums + tile_bytes;
    float const of_pass = power_of_two(scales[stage].largest - pass * width - product_shift);
#pragma unroll
    for (int k = 0; k < 64; k += 16) {
      typename Warp::Operand b;
      warp.load_columns(terms, k, b);
      for (int h = 0; h < 2; ++h) {
        __half2 const by = scale_of(scales[stage].below + k + warp.lane % 4 * 2 + h * 8, pass);
        for (auto& plane : b.of)
          for (auto& part : plane) scale(part[h], by);
      }
      warp.template add<false>(sums, k, b, [&](int) { return make_float2(of_pass, of_pass); });
    }
  }
  __device__ static void scale(unsigned& two, __half2 by) {
    __half2 const scaled = __hmul2(*reinterpret_cast<__half2*>(&two), by);
    two = *reinterpret_cast<unsigned const*>(&scaled);
  }

  __device__ void store(Warp const& warp) const {
    auto const& tile = of.tiles[place.tile];
    for (int m = 0; m < Warp::row_parts; ++m)
      for (int n = 0; n < Warp::column_parts; ++n)
        for (int r = 0; r < 4; ++r) {
          int const row = warp.row_of(m) + r / 2 * 8 - place.first_row,
                    column = warp.column_of(n) + r % 2 - place.first_column;
          if (row < 0 || row >= tile.rows || column < 0 || column >= tile.columns) continue;
          Offset const at = tile.parameter + Offset{row} * tile.stride + column;
          if (of.weights[at] == 0) continue;  // of which flows would be 0 times what may be very large
          of.flows[at] +=
              of.unit * static_cast<double>(of.weights[at]) * static_cast<double>(with_cut_off(warp.sums[m][n][r]));
        }
  }
};

template <int planes>
__global__ void __launch_bounds__(128) parameter_flows(circuit::detail::ParameterProducts const of) {
  extern __shared__ __align__(128) unsigned char memory_of_parameters[];
  ParameterFlows<planes>(of, memory_of_parameters).run();
}

}  // namespace hornbill::cuda
