/// \file
/// Steps of expectation maximisation.
#pragma once

#include <hornbill/circuit/backward.hpp>
#include <hornbill/circuit/em_options.hpp>

namespace hornbill::circuit {

/// Copies distributions to where steps will run.
/// \note waits for `exec`
template <class ExecutionSpace>
Distributions<typename ExecutionSpace::memory_space> make_distributions(ExecutionSpace const& exec,
                                                                        HostDistributions const& host);

/// A step of expectation maximisation on all parameters.
///
/// Probabilities become  theta <- (1 - a) theta + a (flow + q / k) / (sum of flows + q),  with step size a, pseudocount
/// q and k parameters of the distribution. Other distributions become those of their kind that are nearest to such a
/// mixture: the pseudo-samples of Bernoullis and binomials have all values equally often, those of Gaussians and
/// logistics are as the distribution is now. A distribution without flow and pseudocount stays as it is.
///
/// \param flows  of the samples
/// \param prior  [num_input_nodes] samples of its old distribution that each input node sees beside the others; none if
///               empty
/// \param moments  other statistics of inputs that are about the old means, and will be about the new ones; or empty
/// \source Dempster et al. 1977; Liu et al. 2024
/// \async no, it waits for `exec`   \determinism bitwise on each backend
template <class Value, class ExecutionSpace>
void em_step(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
             FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan,
             Distributions<typename ExecutionSpace::memory_space> const& distributions,
             Flows<typename ExecutionSpace::memory_space> const& flows,
             Kokkos::View<double const*, typename ExecutionSpace::memory_space> const& prior,
             Kokkos::View<double*, typename ExecutionSpace::memory_space> const& moments, EmOptions const& options,
             DeviceParameters<Value, typename ExecutionSpace::memory_space>& parameters);

}  // namespace hornbill::circuit

#include <hornbill/circuit/detail/em.hpp>
