// Distributions on a device, and em_step().
#pragma once

#include <hornbill/circuit/backward.hpp>
#include <hornbill/circuit/detail/em_kernels.hpp>
#include <hornbill/circuit/learning.hpp>

namespace hornbill::circuit {

template <class ExecutionSpace>
Distributions<typename ExecutionSpace::memory_space> make_distributions(ExecutionSpace const& exec,
                                                                        HostDistributions const& host) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using hornbill::detail::to_view;
  return {to_view<SumDistribution, MemorySpace>(exec, "hornbill::circuit::distributions", host.distributions),
          to_view<ParameterRange, MemorySpace>(exec, "hornbill::circuit::ranges", host.ranges)};
}

template <class Value, class ExecutionSpace>
void em_step(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
             FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan,
             Distributions<typename ExecutionSpace::memory_space> const& distributions,
             Flows<typename ExecutionSpace::memory_space> const& flows,
             Kokkos::View<double const*, typename ExecutionSpace::memory_space> const& prior,
             Kokkos::View<double*, typename ExecutionSpace::memory_space> const& moments, EmOptions const& options,
             DeviceParameters<Value, typename ExecutionSpace::memory_space>& parameters) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  Kokkos::Profiling::ScopedRegion region("hornbill::circuit::em_step");
  Offset const sums = std::ssize(distributions.distributions);
  Offset const inputs = std::ssize(flow_plan.host.input_statistics) * tile_size;
  double smallest_sum = 1, smallest_categorical = 1;
  Kokkos::parallel_reduce("hornbill::circuit::learn_sums", detail::Items<ExecutionSpace>(exec, 0, sums),
                          detail::LearnSums<Value, MemorySpace>{distributions.distributions, distributions.ranges,
                                                                flows.sum, parameters.sum, options},
                          Kokkos::Min<double>(smallest_sum));
  Kokkos::parallel_reduce(
      "hornbill::circuit::learn_inputs", detail::Items<ExecutionSpace>(exec, 0, inputs),
      detail::LearnInputs<Value, MemorySpace>{plan.inputs, flow_plan.input_statistics, flows.input, prior, moments,
                                              parameters.categorical, parameters.scalars, options},
      Kokkos::Min<double>(smallest_categorical));
  exec.fence("hornbill: smallest parameters read by the host");
  parameters.smallest_sum = std::min(smallest_sum, 1.0);  // without parameters it is infinite
  parameters.smallest_categorical = std::min(smallest_categorical, 1.0);
}

}  // namespace hornbill::circuit

#define HORNBILL_INSTANTIATE_DISTRIBUTIONS(PREFIX, SPACE) \
  PREFIX template Distributions<SPACE::memory_space> make_distributions<SPACE>(SPACE const&, HostDistributions const&);
#define HORNBILL_INSTANTIATE_EM(PREFIX, SPACE, VALUE)                                                             \
  PREFIX template void em_step<VALUE, SPACE>(                                                                     \
      SPACE const&, Plan<SPACE::memory_space> const&, FlowPlan<SPACE::memory_space> const&,                       \
      Distributions<SPACE::memory_space> const&, Flows<SPACE::memory_space> const&,                               \
      Kokkos::View<double const*, SPACE::memory_space> const&, Kokkos::View<double*, SPACE::memory_space> const&, \
      EmOptions const&, DeviceParameters<VALUE, SPACE::memory_space>&);

namespace hornbill::circuit {
HORNBILL_EXTERN(HORNBILL_FOR_PLANS, HORNBILL_INSTANTIATE_DISTRIBUTIONS)
HORNBILL_EXTERN(HORNBILL_FOR_REALS, HORNBILL_INSTANTIATE_EM)
}  // namespace hornbill::circuit
