// Flows of parameters on Hopper: warpgroups multiply while other warps bring what comes next.
#pragma once

#include <cuda_fp16.h>

#include "numbers.hpp"
#include "ptx.hpp"

#ifdef HORNBILL_WGMMA

namespace hornbill::cuda {

/// A unit of work is a part of the steps of a strip, tiles of parameters between the same sums and some terms; a step
/// is 64 samples of a use. A block does units one behind the other, if strips have one part each; else it has one. Each
/// tile has four warps, which multiply and add, and one that says how samples are scaled; another warp copies what
/// comes next into stages of shared memory.
///
/// Numbers of a sample have powers of 2 of their own, and samples are summed over. So values of terms are multiplied by
/// them on their way to registers, in half precision: by at most 1, relative to the largest of the step. Samples that
/// are far from it are done in further passes, each of those within 2^12 of each other.
///
/// Products of a step, of 64 samples, are summed up from 0 by matrix units. A sum of flows goes into no further sum, so
/// what 64 of them lose by cutting off, up to 6e-7 of them, adds up with nothing.
///
/// Parts of a strip add to its flows in their order, so that these have the same bits each time.
template <int planes, int stages>
struct FlowsByWarpgroup {
  static constexpr int strip = max_tiles_of_strip, warps_of_tile = 4;
  static constexpr int threads = 32 * (warps_of_tile * strip + 4);
  static constexpr int registers_left = 56, registers_taken = 152;
  static constexpr int tile_bytes = planes * plane_bytes, stage_bytes = tile_bytes * (1 + strip);
  static_assert(strip == 3, "registers are moved by four warps together, and are as many as three tiles leave");

  /// How values of a term are scaled in a step.
  struct alignas(16) Scales {
    __half2 of_samples[4][8];  ///< those that a thread needs one behind the other, of the first pass
    int below[64];             ///< the power of 2 by which a sample is below the largest
    int largest, passes;
  };
  /// Beside tiles, in shared memory, of each stage.
  struct alignas(16) Beside {
    Exponent of_sums[64], of_terms[strip][64];
    Scales scales[strip];
  };
  static constexpr int shared_bytes = stages * (stage_bytes + static_cast<int>(sizeof(Beside))) + 1024;
  static constexpr int num_barriers = 3 * stages;

  circuit::detail::ParameterProducts const& of;
  unsigned tiles;
  Beside* beside;
  unsigned full, empty, known;  ///< barriers of stages: tiles are there, or are done with; exponents are there

  __device__ FlowsByWarpgroup(circuit::detail::ParameterProducts const& of, unsigned char* memory,
                              std::uint64_t* barriers)
      : of(of),
        tiles((shared_address(memory) + 1023) / 1024 * 1024),
        beside(reinterpret_cast<Beside*>(memory + (tiles - shared_address(memory)) + stages * stage_bytes)),
        full(shared_address(barriers)),
        empty(full + 8 * stages),
        known(empty + 8 * stages) {}

  __device__ void run() const {
    if (threadIdx.x == 0) {
      for (int s = 0; s < stages; ++s) {
        set_up_barrier(full + 8 * s, 2 * strip);  // by those that copy, and those that scale
        set_up_barrier(empty + 8 * s, warps_of_tile * strip);
        set_up_barrier(known + 8 * s, strip);
      }
      publish_barriers();
    }
    __syncthreads();
    int const warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    if (warp < warps_of_tile * strip) {
      take_registers<registers_taken>();
      multiply(warp / warps_of_tile);
    } else {
      leave_registers<registers_left>();
      int const other = warp - warps_of_tile * strip;
      if (other == strip)
        copy(lane);
      else
        find_scales(other, lane);
    }
  }

 private:
  struct Unit {
    Index first;  ///< tile of the strip
    int count;    ///< of tiles
    Index part;
    Offset begin, end;  ///< steps
  };
  __device__ Unit unit_at(Offset u) const {
    auto const& of_strip = of.strips[u % of.num_strips];
    auto const& tile = of.parameters[of_strip.begin];
    auto const part = static_cast<Index>(u / of.num_strips);
    Offset const steps = (tile.uses_end - tile.uses_begin) * of.used_blocks;
    return {of_strip.begin, static_cast<int>(of_strip.end - of_strip.begin), part, steps * part / of.num_parts,
            steps * (part + 1) / of.num_parts};
  }

  /// Calls function(unit) for each that the block does: all parts 0 first, so that parts wait for earlier blocks alone.
  template <class Function>
  __device__ void for_each_unit(Function const& function) const {
    Offset const end = Offset{of.num_strips} * of.num_parts;
    for (Offset u = blockIdx.x; u < end; u += gridDim.x) function(unit_at(u));
  }

  /// A stage, each time that it is filled.
  struct Turn {
    int stage = 0, parity = 0;
    __device__ void go_on() {
      if (++stage < stages) return;
      stage = 0;
      parity ^= 1;
    }
  };

  /// The warp that copies: a lane for each tile, the first of which copies sums too.
  __device__ void copy(int lane) const {
    if (lane >= strip) return;
    Turn turn{0, 1};  // stages are empty at first
    for_each_unit([&](Unit const& unit) {
      bool const is_there = lane < unit.count;
      auto const* const uses = of.uses + (is_there ? of.parameters[unit.first + lane].uses_begin : 0);
      DenseUse next{};
      if (is_there && unit.begin < unit.end) next = uses[unit.begin / of.used_blocks];
      for (Offset i = unit.begin; i < unit.end; ++i, turn.go_on()) {
        auto const now = next;
        if (is_there && i + 1 < unit.end) next = uses[(i + 1) / of.used_blocks];  // read before it is needed
        wait(empty + 8 * turn.stage, turn.parity);
        if (is_there) {
          copy_tiles(now, i % of.used_blocks, lane, turn.stage);
        } else {
          arrive(known + 8 * turn.stage);
          arrive(full + 8 * turn.stage);
        }
      }
    });
  }

  /// Sums lie in front of terms.
  __device__ void copy_tiles(DenseUse const& use, Offset block, int t, int stage) const {
    constexpr int bytes = 64 * static_cast<int>(sizeof(Exponent));
    unsigned const to = tiles + stage * stage_bytes, at = full + 8 * stage, at_exponents = known + 8 * stage;
    bool const is_first = t == 0;
    expect_bytes(at_exponents, is_first ? 2 * bytes : bytes);  // exponents first, for they are used first
    if (is_first)
      copy_bytes(shared_address(beside[stage].of_sums), of.sum_exponents + use.sum * of.stride + block * 64, bytes,
                 at_exponents);
    copy_bytes(shared_address(beside[stage].of_terms[t]), of.term_exponents + use.term * of.stride + block * 64, bytes,
               at_exponents);
    arrive(at_exponents);
    expect_bytes(at, is_first ? 2 * tile_bytes : tile_bytes);
    if (is_first) copy_bytes(to, of.sums + planes_of(Offset{use.sum} * of.blocks + block, planes), tile_bytes, at);
    copy_bytes(to + static_cast<unsigned>(1 + t) * tile_bytes,
               of.terms + planes_of(Offset{use.term} * of.blocks + block, planes), tile_bytes, at);
    arrive(at);
  }

  /// The warp that says how a tile's values are scaled.
  __device__ void find_scales(int t, int lane) const {
    Turn turn;
    for_each_unit([&](Unit const& unit) {
      for (Offset i = unit.begin; i < unit.end; ++i, turn.go_on()) {
        wait(known + 8 * turn.stage, turn.parity);
        if (t < unit.count) write_scales(beside[turn.stage], t, lane);
        __syncwarp();
        if (lane == 0) arrive(full + 8 * turn.stage);
      }
    });
  }

  /// Flows of less are nothing; of more, samples have been given up.
  static constexpr int least = -1000, most = 127 + static_cast<int>(product_shift);
  static constexpr int nothing = 1 << 20, width = 12;  ///< powers of 2 of a pass

  __device__ static void write_scales(Beside& from, int t, int lane) {
    auto& to = from.scales[t];
    int exponents[2];
    for (int h = 0; h < 2; ++h) {
      Exponent const exponent = from.of_sums[lane * 2 + h] + from.of_terms[t][lane * 2 + h];
      exponents[h] = exponent < least ? least : static_cast<int>(exponent);
    }
    int const largest = __reduce_max_sync(0xffffffff, max(exponents[0], exponents[1]));
    int farthest = 0;
    for (int h = 0; h < 2; ++h) {
      bool const is_nothing = exponents[h] == least;
      to.below[lane * 2 + h] = is_nothing ? nothing : largest - exponents[h];
      if (!is_nothing) farthest = max(farthest, largest - exponents[h]);
    }
    farthest = __reduce_max_sync(0xffffffff, farthest);
    to.of_samples[lane % 4][lane / 4] = scale_of(to.below + lane * 2, 0);
    if (lane != 0) return;
    to.largest = min(largest, most);
    to.passes = largest == least ? 0 : farthest / width + 1;
  }

  /// By what two samples are multiplied in a pass.
  __device__ static __half2 scale_of(int const* below, int pass) {
    float scales[2];
    for (int h = 0; h < 2; ++h) {
      int const within = below[h] - pass * width;
      scales[h] = within >= 0 && within < width ? power_of_two(-within) : 0.0f;
    }
    return __floats2half2_rn(scales[0], scales[1]);
  }

  using Sums = float[32];  ///< of 64 values by 64 sums, of a thread
  /// What a thread has of 64 values and samples: 16 samples after the other.
  using Values = unsigned[planes][4][4];

  __device__ void multiply(int t) const {
    int const lane = static_cast<int>(threadIdx.x) % 32;
    Turn turn;
    for_each_unit([&](Unit const& unit) {
      bool const is_there = t < unit.count;
      Sums sums = {};
      for (Offset i = unit.begin; i < unit.end; ++i, turn.go_on()) {
        wait(full + 8 * turn.stage, turn.parity);
        if (is_there) add_step(turn.stage, t, lane, sums);
        __syncwarp();
        if (lane == 0) arrive(empty + 8 * turn.stage);
      }
      if (is_there) store(unit, t, lane, sums);
    });
  }

  __device__ void add_step(int stage, int t, int lane, Sums& sums) const {
    auto const& scales = beside[stage].scales[t];
    int const passes = scales.passes;
    for (int pass = 0; pass < passes; ++pass) {
      Values values;
      load(terms_at(stage, t), lane, values);
      scale(scales, pass, lane, values);
      Sums products;
      start(stage, values, products);
      wait_for_products<0>();
      float const by = power_of_two(scales.largest - pass * width - product_shift);
#pragma unroll
      for (int r = 0; r < 32; ++r) sums[r] = fmaf(products[r], by, sums[r]);
    }
  }

  __device__ unsigned sums_at(int stage) const { return tiles + stage * stage_bytes; }
  __device__ unsigned terms_at(int stage, int t) const {
    return sums_at(stage) + static_cast<unsigned>(1 + t) * tile_bytes;
  }

  /// Starts the products of a step: first those of low planes.
  __device__ void start(int stage, Values const& values, Sums& to) const {
    unsigned const of_sums = sums_at(stage);
    begin_products();
    if constexpr (planes == 2) {
#pragma unroll
      for (int k = 0; k < 4; ++k) {
        multiply_by_rows(to, values[0][k], samples_at(of_sums + plane_bytes, k), k > 0);
        multiply_by_rows(to, values[1][k], samples_at(of_sums, k), true);
      }
    }
#pragma unroll
    for (int k = 0; k < 4; ++k) multiply_by_rows(to, values[0][k], samples_at(of_sums, k), planes == 2 || k > 0);
    commit_products();
  }
  /// The k-th 16 samples of sums.
  __device__ static std::uint64_t samples_at(unsigned plane, int k) { return matrix_at(plane + k * 32, tile_bytes); }

  __device__ static void load(unsigned terms, int lane, Values& to) {
    int const row = static_cast<int>(threadIdx.x) / 32 % warps_of_tile * 16 + (lane & 15);
#pragma unroll
    for (int p = 0; p < planes; ++p)
#pragma unroll
      for (int k = 0; k < 4; ++k) load_matrices(to[p][k], terms + p * plane_bytes + eight_at(row, k * 2 + (lane >> 4)));
  }

  __device__ static void scale(Scales const& scales, int pass, int lane, Values& values) {
    alignas(16) __half2 by[8];
    if (pass == 0) {
      auto const* const from = reinterpret_cast<uint4 const*>(scales.of_samples[lane % 4]);
      *reinterpret_cast<uint4*>(by) = from[0];
      *reinterpret_cast<uint4*>(by + 4) = from[1];
    } else {
      for (int i = 0; i < 8; ++i) by[i] = scale_of(scales.below + i * 8 + lane % 4 * 2, pass);
    }
#pragma unroll
    for (auto& plane : values)
#pragma unroll
      for (int k = 0; k < 4; ++k)
#pragma unroll
        for (int i = 0; i < 4; ++i) {
          __half2 const scaled = __hmul2(*reinterpret_cast<__half2*>(&plane[k][i]), by[k * 2 + i / 2]);
          plane[k][i] = *reinterpret_cast<unsigned const*>(&scaled);
        }
  }

  __device__ void store(Unit const& unit, int t, int lane, Sums const& sums) const {
    bool const is_first_thread = static_cast<int>(threadIdx.x) % (32 * warps_of_tile) == 0;
    unsigned* const turn = of.turns + unit.first + t;
    if (of.num_parts > 1) {
      if (is_first_thread)
        while (load_acquire(turn) != static_cast<unsigned>(unit.part)) continue;
      wait_for_four_warps(1 + t);
    }
    add_to_flows(of.parameters[unit.first + t], lane, sums);
    if (of.num_parts == 1) return;
    __threadfence();
    wait_for_four_warps(1 + t);
    if (is_first_thread) store_release(turn, unit.part + 1 < of.num_parts ? static_cast<unsigned>(unit.part) + 1 : 0u);
  }

  /// No other thread adds to these flows now, so the order of additions is known; they are not waited for.
  __device__ void add_to_flows(DenseParameters const& place, int lane, Sums const& sums) const {
    auto const& tile = of.tiles[place.tile];
    int const value = static_cast<int>(threadIdx.x) / 32 % warps_of_tile * 16 + lane / 4;
    constexpr int at_a_time = 16;  // weights are read, each of which takes long
#pragma unroll
    for (int first = 0; first < 32; first += at_a_time) {
      Offset at[at_a_time];
      float weights[at_a_time];
#pragma unroll
      for (int i = 0; i < at_a_time; ++i) {
        int const r = first + i, row = r / 4 * 8 + lane % 4 * 2 + r % 2 - place.first_row,
                  column = value + r % 4 / 2 * 8 - place.first_column;
        bool const is_there = row >= 0 && row < tile.rows && column >= 0 && column < tile.columns;
        at[i] = is_there ? tile.parameter + Offset{row} * tile.stride + column : -1;
        weights[i] = is_there ? of.weights[at[i]] : 0.0f;
      }
#pragma unroll
      for (int i = 0; i < at_a_time; ++i) {
        if (weights[i] == 0) continue;  // of which flows would be 0 times what may be very large
        add_in_memory(of.flows + at[i], of.unit * static_cast<double>(weights[i]) *
                                            static_cast<double>(with_cut_off_of_four(sums[first + i])));
      }
    }
  }
};

template <class Flows>
__global__ void __launch_bounds__(Flows::threads, 1) flows_by_warpgroup(circuit::detail::ParameterProducts const of) {
  extern __shared__ unsigned char memory[];
  __shared__ std::uint64_t barriers[Flows::num_barriers];
  Flows(of, memory, barriers).run();
}

}  // namespace hornbill::cuda

#endif
