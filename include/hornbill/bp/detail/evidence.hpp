// Evidence: members that need templates.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>

#include <hornbill/backend/instantiate.hpp>
#include <hornbill/bp/evidence.hpp>
#include <hornbill/detail/copy.hpp>
#include <hornbill/error.hpp>

namespace hornbill::bp::detail {

/// Writes changed evidence to its slots.
template <class Term, class MemorySpace>
struct ScatterEvidence {
  Kokkos::View<Index const*, MemorySpace> slots;   // [n]
  Kokkos::View<Term const*, MemorySpace> changed;  // [n]
  Kokkos::View<Term*, MemorySpace> terms;          // [slots], out
  KOKKOS_FUNCTION void operator()(Index i) const { store(terms(slots(i)), changed(i)); }
};

}  // namespace hornbill::bp::detail

namespace hornbill::bp {

template <class Value, class MemorySpace>
template <class ExecutionSpace>
Evidence<Value, MemorySpace>::Evidence(ExecutionSpace const& exec, HostFactorGraph const& host,
                                       FactorGraph<Value, MemorySpace> const& graph)
    : num_variables_(host.num_variables), cardinality_(host.cardinality), host_(graph.num_slots()) {
  if (!cardinality_.empty()) {
    state_offsets_.push_back(0);
    for (Index states : cardinality_) state_offsets_.push_back(state_offsets_.back() + (states == 2 ? 0 : states));
  }
  terms_ = hornbill::detail::to_view<Term, MemorySpace>(exec, "hornbill::evidence::terms", host_);
}

template <class Value, class MemorySpace>
Index Evidence<Value, MemorySpace>::slot_of(Index variable, Index state) const {
  return states_of(variable) == 2 ? variable : num_variables_ + state_offsets_[variable] + state;
}

template <class Value, class MemorySpace>
void Evidence<Value, MemorySpace>::require_known(Index variable) const {
  if (variable < 0 || variable >= num_variables_)
    throw InputError("evidence on variable " + std::to_string(variable) + ", which is unknown: variables are 0 to " +
                     std::to_string(num_variables_ - 1));
}

template <class Value, class MemorySpace>
void Evidence<Value, MemorySpace>::set_terms(Index variable, std::vector<Term> const& terms) {
  bool withdrawn = false;
  for (Index s = 0; s < slots_of(variable); ++s) {
    Term& term = host_[slot_of(variable, s)];
    withdrawn = withdrawn || term.plus > terms[s].plus || term.minus > terms[s].minus;
    term = terms[s];
    changed_slots_.push_back(slot_of(variable, s));
  }
  changed_variables_.push_back(variable);
  withdrawal_is_staged_ = withdrawal_is_staged_ || withdrawn;
}

template <class Value, class MemorySpace>
auto Evidence<Value, MemorySpace>::terms_of(Observation const& o) const -> std::vector<Term> {
  std::vector<Term> terms(slots_of(o.variable));
  constexpr Value infinity = std::numeric_limits<Value>::infinity();
  auto const& l = o.likelihoods;
  auto const add_ratio = [](Term& term, double likelihood, double other) {
    add_term(term, detail::limit_to_grid(static_cast<Value>(std::log(likelihood) - std::log(other))));
  };
  if (states_of(o.variable) == 2) {
    if (o.is_hard())
      add_term(terms[0], o.value == 1 ? infinity : -infinity);
    else
      add_ratio(terms[0], l[1], l[0]);
    return terms;
  }
  double const largest = o.is_hard() ? 1 : *std::max_element(l.begin(), l.end());
  for (std::size_t s = 0; s < terms.size(); ++s)
    if (o.is_hard())
      terms[s].minus = static_cast<Index>(s) != o.value;
    else
      add_ratio(terms[s], l[s], largest);
  return terms;
}

template <class Value, class MemorySpace>
void Evidence<Value, MemorySpace>::observe(Observation const& o) {
  require_known(o.variable);
  Index const states = states_of(o.variable);
  bool const fits =
      o.is_hard() ? o.value < states : o.value == -1 && static_cast<Index>(o.likelihoods.size()) == states;
  if (!fits)
    throw InputError("evidence on variable " + std::to_string(o.variable) + " does not fit its " +
                     std::to_string(states) + " states: it needs a value below that, or so many likelihoods");
  if (!o.is_hard()) validate_likelihoods(o);
  set_terms(o.variable, terms_of(o));
  observed_.push_back(o.variable);
}

template <class Value, class MemorySpace>
void Evidence<Value, MemorySpace>::release(Index variable) {
  require_known(variable);
  set_terms(variable, std::vector<Term>(slots_of(variable)));
  observed_.erase(std::remove(observed_.begin(), observed_.end(), variable), observed_.end());
}

template <class Value, class MemorySpace>
void Evidence<Value, MemorySpace>::release_all() {
  for (Index v : observed_) set_terms(v, std::vector<Term>(slots_of(v)));
  observed_.clear();
}

template <class Value, class MemorySpace>
void Evidence<Value, MemorySpace>::remember_changes() {
  std::sort(changed_variables_.begin(), changed_variables_.end());
  changed_variables_.erase(std::unique(changed_variables_.begin(), changed_variables_.end()), changed_variables_.end());
  if (changes_.size() + changed_variables_.size() > static_cast<std::size_t>(num_variables_)) {
    forgotten_ += changes_.size();
    changes_.clear();
  }
  changes_.insert(changes_.end(), changed_variables_.begin(), changed_variables_.end());
  changed_variables_.clear();
}

template <class Value, class MemorySpace>
std::optional<std::vector<Index>> Evidence<Value, MemorySpace>::changes_since(std::size_t revision) const {
  if (revision < forgotten_ || revision > this->revision()) return {};
  return std::vector<Index>(changes_.begin() + static_cast<std::ptrdiff_t>(revision - forgotten_), changes_.end());
}

template <class Value, class MemorySpace>
template <class ExecutionSpace>
void Evidence<Value, MemorySpace>::commit(ExecutionSpace const& exec) {
  if (changed_slots_.empty()) return;
  std::sort(changed_slots_.begin(), changed_slots_.end());
  changed_slots_.erase(std::unique(changed_slots_.begin(), changed_slots_.end()), changed_slots_.end());
  std::vector<Term> changed;
  for (Index slot : changed_slots_) changed.push_back(host_[slot]);
  detail::ScatterEvidence<Term, MemorySpace> scatter{
      hornbill::detail::to_view<Index, MemorySpace>(exec, "hornbill::evidence::slots", changed_slots_),
      hornbill::detail::to_view<Term, MemorySpace>(exec, "hornbill::evidence::changed", changed), terms_};
  Kokkos::parallel_for(
      "hornbill::evidence::scatter",
      Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(exec, 0, static_cast<Index>(changed.size())),
      scatter);
  exec.fence("hornbill: changed evidence is temporary");
  changed_slots_.clear();
  remember_changes();
  withdrawals_ += std::exchange(withdrawal_is_staged_, false);
}

}  // namespace hornbill::bp

#define HORNBILL_INSTANTIATE_BP_EVIDENCE(PREFIX, SPACE, VALUE)                                                    \
  PREFIX template Evidence<VALUE, SPACE::memory_space>::Evidence(SPACE const&, HostFactorGraph const&,            \
                                                                 FactorGraph<VALUE, SPACE::memory_space> const&); \
  PREFIX template void Evidence<VALUE, SPACE::memory_space>::commit(SPACE const&);

namespace hornbill::bp {
HORNBILL_EXTERN(HORNBILL_FOR_REALS, HORNBILL_INSTANTIATE_BP_EVIDENCE)
}  // namespace hornbill::bp
