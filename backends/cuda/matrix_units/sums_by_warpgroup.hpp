// Sums of products of tiles on Hopper: warpgroups multiply while other warps bring what comes next.
#pragma once

#include "numbers.hpp"
#include "ptx.hpp"

#ifdef HORNBILL_WGMMA

namespace hornbill::cuda {

/// A unit of work is some outputs that have the same columns, for some blocks of 64 samples. A block, one for each
/// multiprocessor, does units one behind the other, and copies what the next needs while it does one. Each output has
/// four warps, which multiply and add, and one that finds the powers of 2 by which products are multiplied, so that the
/// largest is the unit of all. Another warp copies tiles into stages of shared memory.
///
/// Of two planes each 16 products are summed up from 0 by matrix units, first those of low planes, and moved to sums in
/// registers: more of them would lose more by cutting off. Of one plane, which has fewer digits, 64 are.
///
/// \tparam most_outputs  of a block
template <int planes, int most_outputs, int sample_blocks, int stages, bool is_transposed>
struct SumsByWarpgroup {
  static constexpr int samples = 64 * sample_blocks, warps_of_output = 4;
  /// Several outputs need more registers than a block's threads have by themselves: the warps that do not multiply
  /// leave them theirs, which four warps must do together.
  static constexpr bool moves_registers = most_outputs > 1;
  /// Powers of 2 are read from shared memory before they are needed, where there are registers for them.
  static constexpr bool keeps_powers = most_outputs < 3;
  static constexpr int registers_left = most_outputs == 2 ? 64 : 56, registers_taken = most_outputs == 2 ? 216 : 152;
  static constexpr int threads = 32 * (warps_of_output * most_outputs + (moves_registers ? 4 : 2));
  static constexpr int registers = samples / 2;  ///< of a thread, for sums of 64 by `samples`
  static constexpr int tile_bytes = planes * plane_bytes, stage_bytes = tile_bytes * (most_outputs + sample_blocks);
  static constexpr int samples_of_lane = samples / 32;
  static constexpr int parts = planes == 2 ? 4 : 1;  ///< of a product, that are moved to sums
  /// While one part is moved, units do the next, or what another output has.
  static constexpr int buffers = parts > 1 ? 2 : 1;
  static_assert(planes == 1 || most_outputs == 1, "of two planes there are no registers for more");

  /// How an output's products are scaled. Powers of 2 of products are exponents as floats have them, those that a
  /// thread needs one behind the other: units read shared memory all the time, and little more can be read of it.
  struct alignas(16) Scales {
    std::uint8_t of_products[4][samples / 4];
    float of_sums[samples];
    int has_new_unit;
  };
  /// Beside tiles, in shared memory, of each stage.
  struct alignas(16) Beside {
    Exponent exponents[samples];  ///< of the column
    Scales scales[most_outputs];
  };
  static constexpr int shared_bytes = stages * (stage_bytes + static_cast<int>(sizeof(Beside))) + 1024;
  static constexpr int num_barriers = 3 * stages;

  circuit::detail::TileProducts const& of;
  unsigned tiles;
  Beside* beside;
  unsigned full, empty, known;  ///< barriers of stages: tiles are there, or are done with; exponents are there
  Index blocks_of_run, blocks_of_outputs;

  __device__ SumsByWarpgroup(circuit::detail::TileProducts const& of, unsigned char* memory, std::uint64_t* barriers)
      : of(of),
        tiles((shared_address(memory) + 1023) / 1024 * 1024),
        beside(reinterpret_cast<Beside*>(memory + (tiles - shared_address(memory)) + stages * stage_bytes)),
        full(shared_address(barriers)),
        empty(full + 8 * stages),
        known(empty + 8 * stages),
        blocks_of_run((of.run + most_outputs - 1) / most_outputs),
        blocks_of_outputs(of.num_outputs / of.run * blocks_of_run) {}

  __device__ void run() const {
    if (threadIdx.x == 0) {
      for (int s = 0; s < stages; ++s) {
        set_up_barrier(full + 8 * s, 2 * most_outputs);  // by those that copy, and those that scale
        set_up_barrier(empty + 8 * s, warps_of_output * most_outputs);
        set_up_barrier(known + 8 * s, 1);
      }
      publish_barriers();
    }
    __syncthreads();
    constexpr int warps_that_multiply = warps_of_output * most_outputs;
    int const warp = static_cast<int>(threadIdx.x) / 32, lane = static_cast<int>(threadIdx.x) % 32;
    if (warp < warps_that_multiply) {
      if constexpr (moves_registers) take_registers<registers_taken>();
      multiply(warp / warps_of_output);
    } else {
      if constexpr (moves_registers) leave_registers<registers_left>();
      int const other = warp - warps_that_multiply;
      if (other == most_outputs)
        copy(lane);
      else if (other < most_outputs)
        find_scales(other, lane);
    }
  }

 private:
  struct Unit {
    Index first_output;
    int outputs, count;  ///< count: of products, of each output
    Offset first_block;
  };
  __device__ Index num_units() const { return blocks_of_outputs * (of.used_blocks / sample_blocks); }
  __device__ Unit unit_at(Index u) const {
    Index const outputs = u % blocks_of_outputs, run = outputs / blocks_of_run,
                first = outputs % blocks_of_run * most_outputs, output = run * of.run + first;
    return {output, of.run - first < most_outputs ? of.run - first : most_outputs,
            static_cast<int>(of.offsets[output + 1] - of.offsets[output]),
            Offset{u / blocks_of_outputs} * sample_blocks};
  }

  /// Calls function(unit) for each that the block does.
  template <class Function>
  __device__ void for_each_unit(Function const& function) const {
    Index const end = num_units();
    for (auto u = static_cast<Index>(blockIdx.x); u < end; u += static_cast<Index>(gridDim.x)) function(unit_at(u));
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

  /// Exponents of an output's weights, 32 products at a time: lane i has the i-th. Products are read 32 before they are
  /// needed, and exponents 16.
  class WeightExponents {
   public:
    __device__ WeightExponents(circuit::detail::TileProducts const& of, Index output, int count, int lane)
        : of_(of), products_(of.products + of.offsets[output]), count_(count), lane_(lane) {
      read_weights(0);
      read_exponent();
    }
    /// Of product i, behind the one before.
    __device__ Exponent at(int i) {
      if (i % 32 == 0) {
        now_ = next_;
        read_weights(i + 32);
      }
      if (i % 32 == 16) read_exponent();
      return __shfl_sync(0xffffffff, now_, i % 32);
    }

   private:
    __device__ void read_weights(int first) {
      if (first + lane_ < count_) weights_ = products_[first + lane_].weights;
    }
    __device__ void read_exponent() { next_ = of_.weight_exponents[weights_]; }

    circuit::detail::TileProducts const& of_;
    TileProduct const* products_;
    int count_, lane_;
    Index weights_ = 0;
    Exponent now_ = 0, next_ = 0;
  };

  /// The warp that copies: a lane for each output, the first of which copies columns, and their exponents, too.
  __device__ void copy(int lane) const {
    if (lane >= most_outputs) return;
    Turn turn{0, 1};  // stages are empty at first
    for_each_unit([&](Unit const& unit) {
      bool const is_there = lane < unit.outputs;
      auto const* const products = of.products + (is_there ? of.offsets[unit.first_output + lane] : 0);
      TileProduct next{};
      if (is_there && unit.count > 0) next = products[0];
      for (int i = 0; i < unit.count; ++i, turn.go_on()) {
        auto const now = next;
        if (is_there && i + 1 < unit.count) next = products[i + 1];  // read before it is needed
        wait(empty + 8 * turn.stage, turn.parity);
        if (is_there)
          copy_tiles(unit, lane, now, turn.stage);
        else
          arrive(full + 8 * turn.stage);
      }
    });
  }

  /// Weights of all outputs lie in front of columns.
  __device__ void copy_tiles(Unit const& unit, int o, TileProduct const& product, int stage) const {
    unsigned const to = tiles + stage * stage_bytes, barrier = full + 8 * stage;
    expect_bytes(barrier, tile_bytes * (o == 0 ? 1 + sample_blocks : 1));
    if (o == 0) {  // exponents first, for they are used first
      constexpr int bytes = samples * static_cast<int>(sizeof(Exponent));
      expect_bytes(known + 8 * stage, bytes);
      copy_bytes(shared_address(beside[stage].exponents),
                 of.column_exponents + product.column * of.stride + unit.first_block * 64, bytes, known + 8 * stage);
      arrive(known + 8 * stage);
      copy_bytes(to + most_outputs * tile_bytes,
                 of.columns + planes_of(Offset{product.column} * of.blocks + unit.first_block, planes),
                 sample_blocks * tile_bytes, barrier);
    }
    copy_bytes(to + static_cast<unsigned>(o) * tile_bytes, of.weights + planes_of(product.weights, planes), tile_bytes,
               barrier);
    arrive(barrier);
  }

  /// The warp that says how an output's products are scaled.
  __device__ void find_scales(int o, int lane) const {
    Turn turn;
    for_each_unit([&](Unit const& unit) {
      bool const is_there = o < unit.outputs;
      Index const output = unit.first_output + (is_there ? o : 0);
      WeightExponents of_weights(of, output, unit.count, lane);
      Exponent units[samples_of_lane];
      for (auto& of_sample : units) of_sample = no_exponent;
      for (int i = 0; i < unit.count; ++i, turn.go_on()) {
        Exponent const of_product = of_weights.at(i);
        wait(known + 8 * turn.stage, turn.parity);
        if (is_there) write_scales(of_product, units, lane, turn.stage, o, i > 0);
        __syncwarp();
        if (lane == 0) arrive(full + 8 * turn.stage);
      }
      if (!is_there) return;
      Offset const at = place_of(of, output).exponents * of.stride + unit.first_block * 64;
      for (int k = 0; k < samples_of_lane; ++k) of.exponents[at + lane + k * 32] = units[k];
    });
  }

  __device__ void write_scales(Exponent of_weights, Exponent* units, int lane, int stage, int o, bool has_sums) const {
    auto& to = beside[stage].scales[o];
    bool grows = false;
    for (int k = 0; k < samples_of_lane; ++k) {
      Exponent const old = units[k], exponent = beside[stage].exponents[lane + k * 32] + of_weights;
      if (exponent > old) {
        units[k] = exponent;
        grows = has_sums;
      }
      int const b = lane + k * 32;
      to.of_products[b % 8 / 2][b / 8 * 2 + b % 2] =
          static_cast<std::uint8_t>(bits_of_power(exponent - units[k] - product_shift));
      to.of_sums[b] = power_of_two(old - units[k]);
    }
    int const any = __any_sync(0xffffffff, grows);
    if (lane == 0) to.has_new_unit = any;
  }

  using Sums = float[registers];

  /// The warps that multiply for an output. Units do what one output has while sums of another are added.
  __device__ void multiply(int o) const {
    int const lane = static_cast<int>(threadIdx.x) % 32;
    Turn turn;
    for_each_unit([&](Unit const& unit) {
      bool const is_there = o < unit.outputs;
      auto const place = place_of(of, unit.first_output + (is_there ? o : 0));
      Sums sums = {}, buffer[buffers];
      for (int i = 0; i < unit.count; ++i, turn.go_on()) {
        wait(full + 8 * turn.stage, turn.parity);
        if (is_there) add_product(turn.stage, o, lane, buffer, sums);
        __syncwarp();
        if (lane == 0) arrive(empty + 8 * turn.stage);
      }
      if (is_there) store(place, unit, lane, sums);
    });
  }

  __device__ void add_product(int stage, int o, int lane, Sums (&buffer)[buffers], Sums& sums) const {
    unsigned const first = tiles + stage * stage_bytes, weights = first + static_cast<unsigned>(o) * tile_bytes,
                   columns = first + most_outputs * tile_bytes;
    auto const& scale = beside[stage].scales[o];
    start(weights, columns, 0, buffer[0]);
    Powers powers;
    if constexpr (keeps_powers) powers.read(scale, lane);
    if (scale.has_new_unit)
      for_each_pair(lane, [&](int r, int b) {
        float2 const by = *reinterpret_cast<float2 const*>(scale.of_sums + b);
        sums[r] *= by.x;
        sums[r + 1] *= by.y;
        sums[r + 2] *= by.x;
        sums[r + 3] *= by.y;
      });
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      bool const has_next = part + 1 < parts;
      if (has_next) {
        start(weights, columns, part + 1, buffer[(part + 1) % buffers]);
        wait_for_products<1>();
      } else {
        wait_for_products<0>();
      }
      if constexpr (!keeps_powers) powers.read(scale, lane);
      add(buffer[part % buffers], powers, sums);
    }
  }

  /// Calls function(first of four registers, first of two samples).
  template <class Function>
  __device__ static void for_each_pair(int lane, Function const& function) {
#pragma unroll
    for (int n = 0; n < samples / 8; ++n) function(n * 4, n * 8 + lane % 4 * 2);
  }

  /// Starts the products of a part.
  __device__ static void start(unsigned weights, unsigned columns, int part, Sums& to) {
    begin_products();
    if constexpr (planes == 2) {
      constexpr std::uint64_t low_plane = plane_bytes >> 4;
      auto const a = weights_at(weights, part), b = columns_at(columns, part);
      product(a, b + low_plane, false, to);
      product(a + low_plane, b, true, to);
      product(a, b, true, to);
    } else {
#pragma unroll
      for (int k = 0; k < 4; ++k) product(weights_at(weights, k), columns_at(columns, k), k > 0, to);
    }
    commit_products();
  }
  /// The k-th 16 columns of weights, and the values that they are multiplied by.
  __device__ static std::uint64_t weights_at(unsigned weights, int k) {
    return matrix_at(weights + k * (is_transposed ? 2048 : 32), tile_bytes);
  }
  __device__ static std::uint64_t columns_at(unsigned columns, int k) {
    return matrix_at(columns + k * 2048, tile_bytes);
  }
  __device__ static void product(std::uint64_t a, std::uint64_t b, bool adds, Sums& sums) {
    if constexpr (sample_blocks == 1)
      multiply_64<is_transposed>(sums, a, b, adds);
    else
      multiply_128<is_transposed>(sums, a, b, adds);
  }

  /// Powers of 2 that a thread's products are multiplied by.
  struct Powers {
    uint4 exponents[samples / 64];  ///< a byte each

    __device__ void read(Scales const& scale, int lane) {
      auto const* const from = reinterpret_cast<uint4 const*>(scale.of_products[lane % 4]);
      for (int i = 0; i < samples / 64; ++i) exponents[i] = from[i];
    }
    __device__ float operator[](int i) const {
      auto const& four = exponents[i / 16];
      unsigned const word = i % 16 < 4 ? four.x : i % 16 < 8 ? four.y : i % 16 < 12 ? four.z : four.w;
      return __uint_as_float((i % 4 == 3 ? word >> 1 : word << (23 - i % 4 * 8)) & 0x7f800000u);
    }
  };

  __device__ static void add(Sums const& parts, Powers const& powers, Sums& sums) {
#pragma unroll
    for (int n = 0; n < samples / 8; ++n) {
      float const x = powers[n * 2], y = powers[n * 2 + 1];
      int const r = n * 4;
      sums[r] = fmaf(parts[r], x, sums[r]);
      sums[r + 1] = fmaf(parts[r + 1], y, sums[r + 1]);
      sums[r + 2] = fmaf(parts[r + 2], x, sums[r + 2]);
      sums[r + 3] = fmaf(parts[r + 3], y, sums[r + 3]);
    }
  }

  __device__ void store(OutputPlace const& place, Unit const& unit, int lane, Sums const& sums) const {
    int const row = static_cast<int>(threadIdx.x) / 32 % warps_of_output * 16 + lane / 4;
    float* const to = of.sums + (place.row + row) * of.stride + unit.first_block * 64;
    for_each_pair(lane, [&](int r, int b) {
      if (row < place.size)
        *reinterpret_cast<float2*>(to + b) = make_float2(with_cut_off(sums[r]), with_cut_off(sums[r + 1]));
      if (row + 8 < place.size)
        *reinterpret_cast<float2*>(to + 8 * of.stride + b) =
            make_float2(with_cut_off(sums[r + 2]), with_cut_off(sums[r + 3]));
    });
  }
};

template <class Sums>
__global__ void __launch_bounds__(Sums::threads, 1) sums_by_warpgroup(circuit::detail::TileProducts const of) {
  extern __shared__ unsigned char memory[];
  __shared__ std::uint64_t barriers[Sums::num_barriers];
  Sums(of, memory, barriers).run();
}

}  // namespace hornbill::cuda

#endif
