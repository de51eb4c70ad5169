/// \file
/// The oracle of probabilistic circuits: node by node, in long double, by the definitions.
#pragma once

#include <vector>

#include <hornbill/circuit/circuit.hpp>
#include <hornbill/circuit/samples.hpp>

namespace hornbill::reference {

/// ln p_n(x) of each node for one sample.   \shape [num_nodes]
std::vector<long double> circuit_log_values(circuit::Circuit const& circuit, circuit::Parameters const& parameters,
                                            circuit::Samples const& samples, Offset sample);

/// d ln p_root / d ln of something, for one sample or, summed, for several.
struct CircuitFlows {
  std::vector<long double> nodes;  ///< [num_nodes]
  std::vector<long double> sum;    ///< [num_sum_parameters]: of tied edges together
  /// By input node and category, for categoricals [num_input_parameters]: of p(x = c) theirs; otherwise empty entries.
  std::vector<long double> input;

  void add(CircuitFlows const& other);
};
/// \param log_values  as circuit_log_values() has them; the root's must be finite
CircuitFlows circuit_flows(circuit::Circuit const& circuit, circuit::Parameters const& parameters,
                           circuit::Samples const& samples, Offset sample, std::vector<long double> const& log_values);

/// A step of expectation maximisation on sums and categorical inputs:
/// theta <- (1 - step) theta + step (flow + pseudocount / k) / (sum of the distribution's flows + pseudocount), k its
/// number of parameters.   \source Choi et al. 2021; Liu et al. 2024
circuit::Parameters circuit_em_step(circuit::Circuit const& circuit, circuit::Parameters const& parameters,
                                    CircuitFlows const& flows, double step, double pseudocount);

}  // namespace hornbill::reference
