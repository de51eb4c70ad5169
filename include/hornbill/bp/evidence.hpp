/// \file
/// Evidence on the device: set, changed and withdrawn without touching the graph.
#pragma once

#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/bp/detail/accumulator.hpp>
#include <hornbill/bp/factor_graph.hpp>
#include <hornbill/graph/host_evidence.hpp>

namespace hornbill::bp {

/// Observations on the variables of one device graph.
///
/// Changes are staged on the host; `commit` uploads what has changed. Hard evidence on v equals a body-less conjunction
/// AND(0, 0) or AND(1, 1) at v, soft evidence one with the likelihoods' ratio; where v has k != 2 states, a table of
/// their k likelihoods.
///
///     Evidence evidence(exec, host_graph, graph);
///     evidence.clamp(alarm, 1);
///     evidence.commit(exec);
template <class Value, class MemorySpace>
class Evidence {
 public:
  template <class ExecutionSpace>
  Evidence(ExecutionSpace const& exec, HostFactorGraph const& host, FactorGraph<Value, MemorySpace> const& graph);

  /// Observes variable = value.   \throws InputError for an unknown variable or value
  // A negative value would read as soft evidence; the largest Index is refused as what it is, no value.
  void clamp(Index variable, Index value) {
    observe(Observation::hard(variable, value < 0 ? std::numeric_limits<Index>::max() : value));
  }
  /// Soft evidence with likelihoods of values 0 and 1.   \throws InputError
  void soften(Index variable, double l0, double l1) { observe(Observation::soft(variable, l0, l1)); }
  /// The same with a likelihood for each state.   \throws InputError
  void soften(Index variable, std::vector<double> likelihoods) {
    observe(Observation::soft(variable, std::move(likelihoods)));
  }
  /// Replaces what was observed of the observation's variable.   \throws InputError
  void observe(Observation const& observation);
  void observe(HostEvidence const& evidence) {
    for (auto const& o : evidence) observe(o);
  }
  /// Withdraws what was observed of a variable.   \throws InputError for an unknown variable
  void release(Index variable);
  /// Withdraws everything.
  void release_all();
  /// Uploads staged changes. Waits for `exec`.
  template <class ExecutionSpace>
  void commit(ExecutionSpace const& exec);

  /// \shape [slots], the terms that evidence adds to the sums of log-odds
  Kokkos::View<detail::Accumulator<Value> const*, MemorySpace> terms() const { return terms_; }
  /// Counts commits that withdrew or changed hard evidence: what followed from it with certainty no longer does.
  int withdrawals() const { return withdrawals_; }
  /// How far the series of changes has come, to be asked of changes_since() later.
  std::size_t revision() const { return forgotten_ + changes_.size(); }
  /// The variables whose observations were committed since a revision; none if that is so long ago that it is
  /// forgotten.
  std::optional<std::vector<Index>> changes_since(std::size_t revision) const;

 private:
  using Term = detail::Accumulator<Value>;
  void remember_changes();
  void set_terms(Index variable, std::vector<Term> const& terms);
  std::vector<Term> terms_of(Observation const& observation) const;
  Index slot_of(Index variable, Index state) const;
  Index slots_of(Index variable) const { return states_of(variable) == 2 ? 1 : states_of(variable); }
  Index states_of(Index variable) const { return cardinality_.empty() ? 2 : cardinality_[variable]; }
  void require_known(Index variable) const;

  Index num_variables_ = 0;
  std::vector<Index> cardinality_, state_offsets_;  // empty if all variables are binary
  std::vector<Term> host_;
  std::vector<Index> observed_, changed_slots_, changed_variables_;
  std::vector<Index> changes_;  // of the last commits, at most as many as there are variables
  std::size_t forgotten_ = 0;   // those before
  Kokkos::View<Term*, MemorySpace> terms_;
  bool withdrawal_is_staged_ = false;
  int withdrawals_ = 0;
};

}  // namespace hornbill::bp

#include <hornbill/bp/detail/evidence.hpp>
