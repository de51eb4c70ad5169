// Kernels on the side of the variables: sums of incoming messages, beliefs, and bringing sums up to date.
#pragma once

#include <hornbill/detail/bp/fields.hpp>

// Accumulators are reduced by teams as any number is.
template <class Value>
struct Kokkos::reduction_identity<hornbill::detail::Accumulator<Value>> {
  KOKKOS_FUNCTION static hornbill::detail::Accumulator<Value> sum() { return {}; }
};

namespace hornbill::detail {

template <class Value>
KOKKOS_INLINE_FUNCTION Accumulator<Value>& operator+=(Accumulator<Value>& a, Accumulator<Value> const& b) {
  add_sum(a, b);
  return a;
}

/// Evidence plus all incoming messages of a variable with few neighbours, one thread a variable.
/// Traffic (double): 8 B offsets and 64 B sums a variable, 4 B edge id and 8 B message (a gather) an edge.
template <class Value, class MemorySpace>
struct SumNarrow {
  Fields<Value, MemorySpace> f;
  Kokkos::View<Index const*, MemorySpace> variables;
  KOKKOS_FUNCTION void operator()(Index i) const {
    Index const v = variables(i);
    Accumulator<Value> sum = f.evidence(v);
    for (Index k = f.graph.variable_offsets(v); k < f.graph.variable_offsets(v + 1); ++k)
      add_term(sum, f.messages(f.graph.variable_edges(k)));
    f.sums(v) = sum;
  }
};

/// The same for hubs, one team a variable. Sums on the grid are exact, so the team's size does not change their bits.
template <class Value, class MemorySpace>
struct SumWide {
  Fields<Value, MemorySpace> f;
  Kokkos::View<Index const*, MemorySpace> variables;
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    Index const v = variables(member.league_rank());
    Index const first = f.graph.variable_offsets(v), count = f.graph.variable_offsets(v + 1) - first;
    Accumulator<Value> sum;
    Kokkos::parallel_reduce(Kokkos::TeamThreadRange(member, count),
                            [&](Index k, Accumulator<Value>& partial) { add_term(partial, f.messages(f.graph.variable_edges(first + k))); },
                            Kokkos::Sum<Accumulator<Value>>(sum));
    Kokkos::single(Kokkos::PerTeam(member), [&] {
      add_sum(sum, f.evidence(v));
      f.sums(v) = sum;
    });
  }
};

/// Sums of the states of a variable that is not binary, one thread a variable.
template <class Value, class MemorySpace>
struct SumStates {
  Fields<Value, MemorySpace> f;
  KOKKOS_FUNCTION void operator()(Index v) const {
    auto const& tables = f.graph.tables;
    for (Index s = 0; s < tables.state_offsets(v + 1) - tables.state_offsets(v); ++s) {
      Index const slot = f.num_variables() + tables.state_offsets(v) + s;
      Accumulator<Value> sum = f.evidence(slot);
      for (Index k = f.graph.variable_offsets(v); k < f.graph.variable_offsets(v + 1); ++k)
        add_term(sum, f.messages(f.num_edges() + tables.message_offsets(f.graph.variable_edges(k)) + s));
      f.sums(slot) = sum;
    }
  }
};

/// P(v = 1) from its sum, the largest change against the last belief, and the lowest contradicted variable.
template <class Value, class MemorySpace>
struct Beliefs {
  Fields<Value, MemorySpace> f;
  KOKKOS_FUNCTION void operator()(Index v, Value& largest_change) const {
    if (!f.is_binary(v)) return of_states(v, largest_change);
    Accumulator<Value> const sum = f.sums(v);
    if (sum.plus > 0 && sum.minus > 0) f.report_contradiction(v);
    set(v, probability(log_odds(sum)), largest_change);
  }

 private:
  static KOKKOS_FUNCTION Value probability(Value l) {
    Value const small = Kokkos::exp(-Kokkos::abs(l));  // 0 for infinite l
    return (l > 0 ? Value(1) : small) / (1 + small);
  }
  KOKKOS_FUNCTION void set(Index slot, Value belief, Value& largest_change) const {
    largest_change = Kokkos::fmax(largest_change, Kokkos::abs(belief - f.beliefs(slot)));
    f.beliefs(slot) = belief;
  }
  KOKKOS_FUNCTION void of_states(Index v, Value& largest_change) const {
    auto const& tables = f.graph.tables;
    Index const first = f.num_variables() + tables.state_offsets(v), last = f.num_variables() + tables.state_offsets(v + 1);
    Value highest = -Kokkos::Experimental::infinity_v<Value>, total = 0;
    for (Index slot = first; slot < last; ++slot) highest = Kokkos::fmax(highest, log_odds(f.sums(slot)));
    if (Kokkos::isinf(highest)) return f.report_contradiction(v);
    for (Index slot = first; slot < last; ++slot) total += Kokkos::exp(log_odds(f.sums(slot)) - highest);
    for (Index slot = first; slot < last; ++slot) set(slot, Kokkos::exp(log_odds(f.sums(slot)) - highest) / total, largest_change);
    f.beliefs(v) = last - first > 1 ? f.beliefs(first + 1) : Value(0);
  }
};

/// Second phase of a batch for one edge: the pending message takes its place, the variable's sum is brought up to date.
/// Additions on the grid are exact, so their order, which varies, does not matter.
template <class Value, class MemorySpace>
KOKKOS_FUNCTION void commit_pending(Fields<Value, MemorySpace> const& f, Index edge) {
  auto commit = [&](Index at, Index slot) {
    Value const before = f.messages(at), after = f.pending(at);
    if (before == after) return;
    f.messages(at) = after;
    atomic_add_sum(f.sums(slot), difference(before, after));
  };
  Index const v = f.graph.factor_variables(edge);
  if (f.is_binary(v)) return commit(edge, v);
  auto const& tables = f.graph.tables;
  for (Index s = 0; s < tables.cardinality(v); ++s)
    commit(f.num_edges() + tables.message_offsets(edge) + s, f.num_variables() + tables.state_offsets(v) + s);
}

/// Second phase of a large batch, one thread an edge.
template <class Value, class MemorySpace>
struct CommitPending {
  Fields<Value, MemorySpace> f;
  Kokkos::View<Index const*, MemorySpace> edges;
  KOKKOS_FUNCTION void operator()(Index i) const { commit_pending(f, edges(i)); }
};

/// Variable-to-factor messages of a subset of edges, as log-odds (binary variables): for those who want to see them. The
/// factor kernels form them on the way, from the same sums.
template <class Value, class MemorySpace>
struct VariableToFactor {
  Fields<Value, MemorySpace> f;
  Kokkos::View<Index const*, MemorySpace> edges;
  Kokkos::View<Value*, MemorySpace> out;  // [edges]
  KOKKOS_FUNCTION void operator()(Index i) const { out(i) = f.variable_to_factor(edges(i)); }
};

/// Forgets certainty that no longer follows from the evidence; finite messages stay for a warm start.
template <class Value, class MemorySpace>
struct ForgetCertainty {
  Kokkos::View<Value*, MemorySpace> messages;
  KOKKOS_FUNCTION void operator()(Index i) const {
    if (Kokkos::isinf(messages(i))) messages(i) = 0;
  }
};

/// Evidence plus all incoming messages, for all variables.
template <class ExecutionSpace, class Value, class MemorySpace>
void form_sums(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& f, bp::Plan<MemorySpace> const& plan) {
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  auto count = [](auto const& view) { return static_cast<Index>(view.extent(0)); };
  if (count(plan.narrow_variables) > 0)
    Kokkos::parallel_for("hornbill::bp::sum_narrow", Range(exec, 0, count(plan.narrow_variables)),
                         SumNarrow<Value, MemorySpace>{f, plan.narrow_variables});
  if (count(plan.wide_variables) > 0)
    Kokkos::parallel_for("hornbill::bp::sum_wide", Kokkos::TeamPolicy<ExecutionSpace>(exec, count(plan.wide_variables), tuning.team_size),
                         SumWide<Value, MemorySpace>{f, plan.wide_variables});
  if (count(plan.huge_variables) > 0)
    Kokkos::parallel_for("hornbill::bp::sum_huge", Kokkos::TeamPolicy<ExecutionSpace>(exec, count(plan.huge_variables), tuning.huge_team_size),
                         SumWide<Value, MemorySpace>{f, plan.huge_variables});
  if (f.graph.tables.num_states > 0)
    Kokkos::parallel_for("hornbill::bp::sum_states", Range(exec, 0, f.num_variables()), SumStates<Value, MemorySpace>{f});
}

}  // namespace hornbill::detail
