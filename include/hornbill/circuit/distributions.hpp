/// \file
/// Distributions of sum nodes.
#pragma once

#include <vector>

#include <hornbill/circuit/circuit.hpp>

namespace hornbill::circuit {

/// Parameters one behind the other.
struct ParameterRange {
  Offset first, count;
};

/// Parameters of one sum node, and of those tied to it.
struct SumDistribution {
  Offset ranges_begin, ranges_end;  ///< in HostDistributions::ranges
};

/// Distributions of sums, each once.
struct HostDistributions {
  std::vector<SumDistribution> distributions;
  std::vector<ParameterRange> ranges;
};
/// \throws InputError where two nodes have some parameters in common, but not all
HostDistributions sum_distributions(Circuit const& circuit);

}  // namespace hornbill::circuit
