// Matrix units of NVIDIA GPUs: what is launched.
#include "../require_success.hpp"
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

template <int sample_blocks, int stages, bool is_transposed>
void launch_sums(cudaStream_t stream, TileProducts const& of) {
  using Sums = hornbill::cuda::SumsByWarpgroup<sample_blocks, stages, is_transposed>;
  launch(hornbill::cuda::sums_by_warpgroup<sample_blocks, stages, is_transposed>,
         grid(of.num_outputs, of.used_blocks / sample_blocks), Sums::threads, Sums::shared_bytes, stream, of);
}

/// Two blocks of samples at a time read weights half as often, where there is work for all multiprocessors.
template <bool is_transposed>
void choose(cudaStream_t stream, TileProducts const& of) {
  constexpr Offset enough_outputs = 256;
  if (of.used_blocks % 2 == 0 && Offset{of.num_outputs} * of.used_blocks / 2 >= enough_outputs / 2)
    launch_sums<2, 4, is_transposed>(stream, of);
  else
    launch_sums<1, 3, is_transposed>(stream, of);
}

#else

template <bool is_transposed>
void choose(cudaStream_t stream, TileProducts const& of) {
  using Sums = hornbill::cuda::SumsByWarps<is_transposed>;
  launch(hornbill::cuda::sums_by_warps<is_transposed>, grid(of.num_outputs, of.used_blocks), Sums::threads,
         Sums::shared_bytes, stream, of);
}

#endif

}  // namespace

void multiply(CUstream_st* stream, TileProducts const& of) {
  if (of.num_outputs == 0 || of.used_blocks == 0) return;
  if (of.is_transposed)
    choose<true>(stream, of);
  else
    choose<false>(stream, of);
}

void add_parameter_flows(CUstream_st* stream, ParameterProducts const& of) {
  if (of.num_parameters == 0 || of.used_blocks == 0) return;
  using Flows = hornbill::cuda::ParameterFlows;
  launch(hornbill::cuda::parameter_flows, grid(of.num_parameters, 1), Flows::threads, Flows::shared_bytes, stream, of);
}

}  // namespace hornbill::circuit::detail::cuda
