/// \file
/// The oracle: what every backend is checked against. Plain sequential loops in long double, by the definitions.
#pragma once

#include <vector>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::reference {

/// A distribution over the states of one variable, or a message; sums to 1.
using Distribution = std::vector<long double>;

/// The value of a factor at one assignment to its variables, by equations 1 and 2 of hornbill/bp/README.md.
long double factor_value(HostFactorGraph const& graph, Index factor, std::vector<Index> const& states);

/// Exact marginals by enumeration of all assignments.
/// \throws InputError if there are more than 2^24, or none is possible
std::vector<Distribution> enumerate_marginals(HostFactorGraph const& graph, HostEvidence const& evidence);

/// Loopy belief propagation with messages as pairs (vectors) of long double.
class BeliefPropagation {
 public:
  BeliefPropagation(HostFactorGraph const& graph, HostEvidence const& evidence);

  /// All messages from the previous iteration's values, `iterations` times.
  void run_parall(int iterations);
  /// Edge by edge in the given order, each reading every value written before it, `iterations` times.
  void run_sequence(std::vector<Offset> const& order, int iterations);
  /// One message at a time, the first of those that would change most, `updates` times; each must change something.
  void run_largest_first(Offset updates);

  /// \shape [V]
  std::vector<Distribution> marginals() const;
  /// Factor-to-variable messages by edge.   \shape [E]
  std::vector<Distribution> const& messages() const { return f2v_; }

 private:
  Distribution variable_to_factor(Offset edge) const;
  Distribution factor_to_variable(Offset edge) const;
  Distribution message(Index a, Offset edge, std::vector<Distribution> const& in) const;
  Distribution horn_message(Index a, Offset edge, std::vector<Distribution> const& in, bool conjunction) const;
  Distribution table_message(Index factor, Offset edge, std::vector<Distribution> const& in) const;

  HostFactorGraph const& graph_;
  VariableEdges variable_edges_;
  std::vector<Index> factor_of_edge_;
  std::vector<Distribution> evidence_, f2v_;
};

}  // namespace hornbill::reference
