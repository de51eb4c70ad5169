/// \file
/// Several evidence sets over one device graph, for inference over all of them at once.
#pragma once

#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/bp/evidence.hpp>

namespace hornbill::bp {

/// Evidence sets side by side: what bp::run takes in place of one Evidence where its plan is for several.
///
///     EvidenceSets evidence(exec, host_graph, graph, {labels, labels_and_this, labels_and_that});
template <class Value, class MemorySpace>
class EvidenceSets {
 public:
  /// \throws InputError for an observation that does not fit the graph, or no sets
  /// \throws CapacityError for more than 2^31 - 1 slots of all sets
  template <class ExecutionSpace>
  EvidenceSets(ExecutionSpace const& exec, HostFactorGraph const& host, FactorGraph<Value, MemorySpace> const& graph,
               std::vector<HostEvidence> const& sets);

  Index size() const { return size_; }
  /// \shape [slots * size()], those of one slot side by side: the terms that evidence adds to the sums of log-odds
  Kokkos::View<detail::Accumulator<Value> const*, MemorySpace> terms() const { return terms_; }

 private:
  Index size_ = 0;
  Kokkos::View<detail::Accumulator<Value>*, MemorySpace> terms_;
};

}  // namespace hornbill::bp

#include <hornbill/bp/detail/evidence_sets.hpp>
