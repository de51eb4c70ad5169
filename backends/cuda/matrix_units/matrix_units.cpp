// Matrix units of NVIDIA GPUs: what is launched.
#include <algorithm>

#include "../require_success.hpp"
#include "flows_by_warpgroup.hpp"
#include "parameter_flows.hpp"
#include "sums_by_warpgroup.hpp"
#include "sums_by_warps.hpp"

namespace hornbill::circuit::detail::cuda {
namespace {

using hornbill::cuda::require_success;

/// More shared memory than a kernel has of itself must be asked for, on each device.
template <class Of>
void launch(void (*kernel)(Of), dim3 blocks, int threads, int shared_bytes, cudaStream_t stream, Of const& of) {
  require_success(cudaFuncSetAttribute(kernel, cudaFuncAttributeMaxDynamicSharedMemorySize, shared_bytes));
  kernel<<<blocks, static_cast<unsigned>(threads), static_cast<std::size_t>(shared_bytes), stream>>>(of);
  require_success(cudaGetLastError());
}

dim3 grid(Index x, Index y) { return {static_cast<unsigned>(x), static_cast<unsigned>(y)}; }

#ifdef HORNBILL_WGMMA

Offset num_multiprocessors() {
  int device = 0, count = 0;
  require_success(cudaGetDevice(&device));
  require_success(cudaDeviceGetAttribute(&count, cudaDevAttrMultiProcessorCount, device));
  return count;
}

Offset num_units(TileProducts const& of, int outputs, int sample_blocks) {
  return Offset{of.num_outputs / of.run} * ((of.run + outputs - 1) / outputs) * (of.used_blocks / sample_blocks);
}

template <int planes, int most_outputs, int sample_blocks, int stages, bool is_transposed>
void launch_sums(cudaStream_t stream, TileProducts const& of) {
  using Sums = hornbill::cuda::SumsByWarpgroup<planes, most_outputs, sample_blocks, stages, is_transposed>;
  auto const blocks = std::min(num_units(of, most_outputs, sample_blocks), num_multiprocessors());
  launch(hornbill::cuda::sums_by_warpgroup<Sums>, grid(static_cast<Index>(blocks), 1), Sums::threads,
         Sums::shared_bytes, stream, of);
}

/// How many outputs of one plane a unit of work has best: those that have the same columns read them less often, where
/// multiprocessors are kept busy. Cycles for each product are as measured on an H200.
int outputs_of_unit(TileProducts const& of) {
  Offset const multiprocessors = num_multiprocessors();
  int best = 1;
  Offset least = 0;
  for (int outputs = 1; outputs <= std::min<Index>(of.run, 3); ++outputs) {
    Offset const units = (num_units(of, outputs, 2) + multiprocessors - 1) / multiprocessors,
                 cycles = units * (650 + 325 * outputs);
    if (least != 0 && cycles >= least) continue;
    least = cycles;
    best = outputs;
  }
  return best;
}

/// Two blocks of samples at a time read weights half as often, where there is work for all multiprocessors. Where
/// memory limits stages, they are as many as it holds.
template <int planes, bool is_transposed>
void choose(cudaStream_t stream, TileProducts const& of) {
  constexpr int stages_of_block = planes == 1 ? 4 : 3;
  constexpr Offset enough_units = 128;
  if (of.used_blocks % 2 != 0 || Offset{of.num_outputs} * of.used_blocks / 2 < enough_units)
    return launch_sums<planes, 1, 1, stages_of_block, is_transposed>(stream, of);
  if constexpr (planes == 1) {  // of two planes more outputs gain nothing
    int const outputs = outputs_of_unit(of);
    if (outputs == 3) return launch_sums<planes, 3, 2, 5, is_transposed>(stream, of);
    if (outputs == 2) return launch_sums<planes, 2, 2, 6, is_transposed>(stream, of);
  }
  launch_sums<planes, 1, 2, 4, is_transposed>(stream, of);
}

/// In how many parts the steps of strips are done, so that there is work for all multiprocessors. The number of these
/// is that of an H200 on each GPU: sums of parts are rounded, and bits are to be the same.
Index parts_of_strips(ParameterProducts const& of) {
  constexpr Offset multiprocessors = 132, steps_of_turn = 8, steps_of_store = 6;
  Offset const steps = Offset{of.max_uses} * of.used_blocks;
  Index best = 1;
  Offset least = 0;
  for (Index parts = 1; parts <= std::min<Offset>(16, steps); ++parts) {
    Offset const rounds = (Offset{of.num_strips} * parts + multiprocessors - 1) / multiprocessors,
                 cost = rounds * ((steps + parts - 1) / parts + steps_of_store) + (parts - 1) * steps_of_turn;
    if (least != 0 && cost >= least) continue;
    least = cost;
    best = parts;
  }
  return best;
}

template <int planes>
void choose_flows(cudaStream_t stream, ParameterProducts of) {
  using Flows = hornbill::cuda::FlowsByWarpgroup<planes, planes == 1 ? 6 : 3>;
  of.num_parts = parts_of_strips(of);
  auto const units = Offset{of.num_strips} * of.num_parts;
  // a part waits for the one before: its block must have been started earlier, so that none waits for one that cannot
  // be
  auto const blocks = of.num_parts > 1 ? units : std::min(units, num_multiprocessors());
  launch(hornbill::cuda::flows_by_warpgroup<Flows>, grid(static_cast<Index>(blocks), 1), Flows::threads,
         Flows::shared_bytes, stream, of);
}

#else

template <int planes, bool is_transposed>
void choose(cudaStream_t stream, TileProducts const& of) {
  using Sums = hornbill::cuda::SumsByWarps<planes, is_transposed>;
  launch(hornbill::cuda::sums_by_warps<planes, is_transposed>, grid(of.num_outputs, of.used_blocks), Sums::threads,
         Sums::shared_bytes, stream, of);
}

template <int planes>
void choose_flows(cudaStream_t stream, ParameterProducts const& of) {
  using Flows = hornbill::cuda::ParameterFlows<planes>;
  launch(hornbill::cuda::parameter_flows<planes>, grid(of.num_parameters, 1), Flows::threads, Flows::shared_bytes,
         stream, of);
}

#endif

template <int planes>
void choose_multiply(cudaStream_t stream, TileProducts const& of) {
  if (of.is_transposed)
    choose<planes, true>(stream, of);
  else
    choose<planes, false>(stream, of);
}

}  // namespace

void multiply(CUstream_st* stream, TileProducts const& of) {
  if (of.num_outputs == 0 || of.used_blocks == 0) return;
  of.num_planes == 2 ? choose_multiply<2>(stream, of) : choose_multiply<1>(stream, of);
}

void add_parameter_flows(CUstream_st* stream, ParameterProducts const& of) {
  if (of.num_parameters == 0 || of.used_blocks == 0) return;
  of.num_planes == 2 ? choose_flows<2>(stream, of) : choose_flows<1>(stream, of);
}

}  // namespace hornbill::circuit::detail::cuda
