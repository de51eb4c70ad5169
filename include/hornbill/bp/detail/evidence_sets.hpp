// EvidenceSets: members that need templates.
#pragma once

#include <limits>
#include <string>

#include <hornbill/backend/instantiate.hpp>
#include <hornbill/bp/evidence_sets.hpp>
#include <hornbill/error.hpp>

namespace hornbill::bp::detail {

/// Puts the terms of one set in their places between the others'.
template <class Term, class MemorySpace>
struct InterleaveEvidence {
  Kokkos::View<Term const*, MemorySpace> from;  // [slots]
  Kokkos::View<Term*, MemorySpace> terms;       // [slots * sets], out
  Index set, sets;
  KOKKOS_FUNCTION void operator()(Index slot) const { store(terms(Offset{slot} * sets + set), from(slot)); }
};

}  // namespace hornbill::bp::detail

namespace hornbill::bp {

template <class Value, class MemorySpace>
template <class ExecutionSpace>
EvidenceSets<Value, MemorySpace>::EvidenceSets(ExecutionSpace const& exec, HostFactorGraph const& host,
                                               FactorGraph<Value, MemorySpace> const& graph,
                                               std::vector<HostEvidence> const& sets)
    : size_(static_cast<Index>(sets.size())) {
  using Term = detail::Accumulator<Value>;
  Offset const slots = graph.num_slots(), entries = slots * static_cast<Offset>(sets.size());
  if (sets.empty()) throw InputError("evidence sets: there must be at least one");
  if (entries > std::numeric_limits<Index>::max())
    throw CapacityError("evidence sets: " + std::to_string(sets.size()) + " of " + std::to_string(slots) +
                        " slots are more than the 2^31 - 1 that a device can hold");
  terms_ = Kokkos::View<Term*, MemorySpace>(Kokkos::view_alloc(exec, "hornbill::evidence::terms"), entries);
  Evidence<Value, MemorySpace> one(exec, host, graph);
  for (Index s = 0; s < size_; ++s) {
    one.release_all();
    one.observe(sets[s]);
    one.commit(exec);
    Kokkos::parallel_for(
        "hornbill::evidence::interleave",
        Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(exec, 0, static_cast<Index>(slots)),
        detail::InterleaveEvidence<Term, MemorySpace>{one.terms(), terms_, s, size_});
  }
  exec.fence("hornbill: evidence that is interleaved is temporary");
}

}  // namespace hornbill::bp

#define HORNBILL_INSTANTIATE_BP_EVIDENCE_SETS(PREFIX, SPACE, VALUE)                         \
  PREFIX template EvidenceSets<VALUE, SPACE::memory_space>::EvidenceSets(                   \
      SPACE const&, HostFactorGraph const&, FactorGraph<VALUE, SPACE::memory_space> const&, \
      std::vector<HostEvidence> const&);

namespace hornbill::bp {
HORNBILL_EXTERN(HORNBILL_FOR_REALS, HORNBILL_INSTANTIATE_BP_EVIDENCE_SETS)
}  // namespace hornbill::bp
