/// \file
/// Likelihoods of samples.
#pragma once

#include <cstddef>
#include <functional>
#include <vector>

#include <hornbill/circuit/memory.hpp>
#include <hornbill/circuit/state.hpp>

namespace hornbill::circuit {

/// Values of all nodes, from the inputs to the root; State::log_likelihood and is_certain are of the root.
///
/// \source Liu et al. 2024, equation 1 and algorithm 1
/// \async yes
/// \determinism bitwise on each backend, whatever samples are beside one in a batch
template <class Value, class ExecutionSpace>
void forward(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
             DeviceParameters<Value, typename ExecutionSpace::memory_space> const& parameters,
             State<Value, typename ExecutionSpace::memory_space>& state);

/// ln p of some samples in double precision with an exponent for each node, so that nothing is too small to be held.
/// For the few that forward() is not certain of.
/// \param which    samples, by number
/// \param at_most  samples at a time; fewer where their values would take more than a gibibyte
/// \return by sample of `which`; -infinity where one is impossible
/// \note waits for `exec`
template <class ExecutionSpace>
std::vector<double> exact_log_likelihoods(ExecutionSpace const& exec, Circuit const& circuit, HostPlan const& plan,
                                          Parameters const& parameters, Samples const& samples,
                                          std::vector<Offset> const& which, Index at_most = 512);

struct EvaluateOptions {
  Index batch_size = 512;                   ///< samples at a time
  std::size_t max_bytes = ~std::size_t{0};  ///< that the evaluation may take on the device
  std::function<void(Offset)> progress{};   ///< is told how many samples are done
};

struct Likelihoods {
  std::vector<double> log_likelihood;  ///< by sample; -infinity where one is impossible
  Offset recomputed = 0;               ///< samples that exact_log_likelihoods() was needed for
};

/// ln p of all samples: by forward(), and by exact_log_likelihoods() where that is not certain.
/// \param plan  of the circuit   \param samples  valid ones   \throws CapacityError   \note waits for `exec`
template <class Value, class ExecutionSpace>
Likelihoods log_likelihoods(ExecutionSpace const& exec, Circuit const& circuit, HostPlan const& plan,
                            Parameters const& parameters, Samples const& samples, EvaluateOptions const& options = {});

}  // namespace hornbill::circuit

#include <hornbill/circuit/detail/run.hpp>
