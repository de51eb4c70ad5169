// Distributions on a device, and em_step().
#pragma once

#include <hornbill/circuit/backward.hpp>
#include <hornbill/circuit/detail/em_kernels.hpp>
#include <hornbill/circuit/detail/matrix_units.hpp>
#include <hornbill/circuit/learning.hpp>

namespace hornbill::circuit::detail {

template <class Value, class ExecutionSpace, class MemorySpace>
void learn_sums(ExecutionSpace const& exec, LearnSums<Value, MemorySpace> const& of, double& smallest) {
  constexpr char const* label = "hornbill::circuit::learn_sums";
  Offset const sums = std::ssize(of.distributions);
  if constexpr (runs_on_host<ExecutionSpace>) {
    Kokkos::parallel_reduce(label, Items<ExecutionSpace>(exec, 0, sums), of, Kokkos::Min<double>(smallest));
  } else {
    using Functor = LearnSumsByWarp<Value, ExecutionSpace>;
    auto const teams = static_cast<int>((sums + Functor::warps - 1) / Functor::warps);
    Kokkos::parallel_reduce(label, Kokkos::TeamPolicy<ExecutionSpace>(exec, teams, Functor::warps, Functor::lanes),
                            Functor{of}, Kokkos::Min<double>(smallest));
  }
}

template <class Value, class ExecutionSpace, class MemorySpace>
void learn_inputs(ExecutionSpace const& exec, LearnInputs<Value, MemorySpace> const& of, double& smallest) {
  constexpr char const* label = "hornbill::circuit::learn_inputs";
  Offset const tiles = std::ssize(of.groups);
  if constexpr (runs_on_host<ExecutionSpace>) {
    Kokkos::parallel_reduce(label, Items<ExecutionSpace>(exec, 0, tiles * tile_size), of,
                            Kokkos::Min<double>(smallest));
  } else {
    using Functor = LearnInputsByTeam<Value, ExecutionSpace>;
    Kokkos::TeamPolicy<ExecutionSpace> policy(exec, static_cast<int>(tiles), Functor::team_size);
    policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes_of<typename Functor::Scratch>));
    Kokkos::parallel_reduce(label, policy, Functor{of}, Kokkos::Min<double>(smallest));
  }
}

}  // namespace hornbill::circuit::detail

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
  double smallest_sum = 1, smallest_categorical = 1;
  detail::learn_sums(exec,
                     detail::LearnSums<Value, MemorySpace>{distributions.distributions, distributions.ranges, flows.sum,
                                                           parameters.sum, options},
                     smallest_sum);
  detail::learn_inputs(
      exec,
      detail::LearnInputs<Value, MemorySpace>{plan.inputs, flow_plan.input_statistics, flows.input, prior, moments,
                                              parameters.categorical, parameters.scalars, options},
      smallest_categorical);
  exec.fence("hornbill: smallest parameters read by the host");
  parameters.smallest_sum = std::min(smallest_sum, 1.0);  // without parameters it is infinite
  parameters.smallest_categorical = std::min(smallest_categorical, 1.0);
  if constexpr (std::is_same_v<Value, float>) detail::form_weights(exec, plan, parameters);
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
