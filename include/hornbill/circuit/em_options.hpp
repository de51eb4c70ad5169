/// \file
/// What a step of expectation maximisation is told.
#pragma once

#include <Kokkos_Core.hpp>

#include <hornbill/circuit/distributions.hpp>

namespace hornbill::circuit {

/// How parameters follow flows.
struct EmOptions {
  double step_size = 1;     ///< more than 0, at most 1
  double pseudocount = 0;   ///< of samples that each distribution sees beside the true ones, at least 0
  bool keep_zeros = false;  ///< whether parameters that are 0 stay 0, whatever the pseudocount is
};

/// Distributions on the device.
template <class MemorySpace>
struct Distributions {
  Kokkos::View<SumDistribution const*, MemorySpace> distributions;
  Kokkos::View<ParameterRange const*, MemorySpace> ranges;
};

}  // namespace hornbill::circuit
