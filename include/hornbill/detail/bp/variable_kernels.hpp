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
/// Traffic (double): 16 B row and 64 B sums a variable, 8 B message (a gather) an edge.
template <class Value, class MemorySpace>
struct SumSmall {
  Fields<Value, MemorySpace> f;
  Kokkos::View<bp::SmallRow const*, MemorySpace> rows;
  KOKKOS_FUNCTION void operator()(Index i) const {
    bp::SmallRow const row = rows(i);
    Accumulator<Value> sum = f.evidence(row.variable);
    for (int k = 0; k < bp::small_row; ++k)
      if (row.edge[k] >= 0) add_term(sum, f.messages(row.edge[k]));
    f.sums(row.variable) = sum;
  }
};

/// The same of a longer row, or of a part of a hub's: the first `parts` rows. One thread a row, or `lanes` lanes of a vector.
/// Sums on the grid are exact, so their division does not change bits.
/// Traffic (double): 12 B row and 64 B sums a row, 4 B edge id and 8 B message (a gather) an edge.
template <class Value, class MemorySpace>
struct SumRows {
  Fields<Value, MemorySpace> f;
  Kokkos::View<bp::Row const*, MemorySpace> rows;
  Index parts;

  KOKKOS_FUNCTION void operator()(Index i) const {
    bp::Row const row = rows(i);
    Accumulator<Value> sum;
    for (Index k = 0; k < row.count; ++k) add_entry(row, k, sum);
    put(i, row, sum);
  }
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    Index const i = static_cast<Index>(member.league_rank()) * member.team_size() + member.team_rank();
    if (i >= static_cast<Index>(rows.extent(0))) return;
    bp::Row const row = rows(i);
    Accumulator<Value> sum;
    Kokkos::parallel_reduce(Kokkos::ThreadVectorRange(member, row.count),
                            [&](Index k, Accumulator<Value>& partial) { add_entry(row, k, partial); }, Kokkos::Sum<Accumulator<Value>>(sum));
    Kokkos::single(Kokkos::PerThread(member), [&] { put(i, row, sum); });
  }

 private:
  KOKKOS_FUNCTION void add_entry(bp::Row const& row, Index k, Accumulator<Value>& sum) const {
    add_term(sum, f.messages(f.graph.variable_edges(row.first + k)));
  }
  KOKKOS_FUNCTION void put(Index i, bp::Row const& row, Accumulator<Value> sum) const {
    if (i < parts) {
      f.part_sums(row.target) = sum;
    } else {
      add_sum(sum, f.evidence(row.target));
      f.sums(row.target) = sum;
    }
  }
};

/// Hubs: evidence plus the sums of their parts, one thread a hub or one vector.
template <class Value, class MemorySpace>
struct SumHubs {
  Fields<Value, MemorySpace> f;
  Kokkos::View<bp::Row const*, MemorySpace> hubs;
  KOKKOS_FUNCTION void operator()(Index i) const {
    bp::Row const hub = hubs(i);
    Accumulator<Value> sum = f.evidence(hub.target);
    for (Index k = 0; k < hub.count; ++k) add_sum(sum, f.part_sums(hub.first + k));
    f.sums(hub.target) = sum;
  }
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    bp::Row const hub = hubs(static_cast<Index>(member.league_rank()));
    Accumulator<Value> sum;
    Kokkos::parallel_reduce(Kokkos::ThreadVectorRange(member, hub.count),
                            [&](Index k, Accumulator<Value>& partial) { add_sum(partial, f.part_sums(hub.first + k)); },
                            Kokkos::Sum<Accumulator<Value>>(sum));
    Kokkos::single(Kokkos::PerThread(member), [&] {
      add_sum(sum, f.evidence(hub.target));
      f.sums(hub.target) = sum;
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
template <class Value, class MemorySpace>
KOKKOS_FUNCTION void commit_pending(Fields<Value, MemorySpace> const& f, Index edge) {
  Index const v = f.graph.factor_variables(edge);
  if (f.is_binary(v)) return commit_message(f, edge, v, f.messages(edge), f.pending(edge));
  auto const& tables = f.graph.tables;
  for (Index s = 0; s < tables.cardinality(v); ++s) {
    Index const at = f.num_edges() + tables.message_offsets(edge) + s;
    commit_message(f, at, f.num_variables() + tables.state_offsets(v) + s, f.messages(at), f.pending(at));
  }
}
template <class Value, class MemorySpace>
KOKKOS_FUNCTION void commit_lane(Fields<Value, MemorySpace> const& f, bp::Lane const& lane) {
  if (lane.is(bp::Lane::wanted)) commit_message(f, lane.edge, lane.variable, f.messages(lane.edge), f.pending(lane.edge));
}

/// Second phase of a large batch, one thread an edge.
template <class Value, class MemorySpace>
struct CommitPending {
  Fields<Value, MemorySpace> f;
  Kokkos::View<Index const*, MemorySpace> edges;
  KOKKOS_FUNCTION void operator()(Index i) const { commit_pending(f, edges(i)); }
};

/// The same of a batch of lanes.
template <class Value, class MemorySpace>
struct CommitLanes {
  Fields<Value, MemorySpace> f;
  Kokkos::View<bp::Lane const*, MemorySpace> lanes;
  KOKKOS_FUNCTION void operator()(Index i) const { commit_lane(f, lanes(i)); }
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

/// Rows by one thread each, or by `vector` lanes.
template <int vector, class ExecutionSpace, class Value, class MemorySpace>
void sum_rows(ExecutionSpace const& exec, char const* label, SumRows<Value, MemorySpace> const& kernel) {
  auto const count = static_cast<Index>(kernel.rows.extent(0));
  if (count == 0) return;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  if constexpr (tuning.lanes) {
    constexpr int rows = tuning.team_size / vector;
    Kokkos::parallel_for(label, Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<tuning.team_size, 1>>(exec, (count + rows - 1) / rows, rows, vector), kernel);
  } else {
    Kokkos::parallel_for(label, Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(exec, 0, count), kernel);
  }
}

/// Evidence plus all incoming messages, for all variables.
template <class ExecutionSpace, class Value, class MemorySpace>
void form_sums(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& f, bp::Plan<MemorySpace> const& plan) {
  using Range = Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>;
  auto count = [](auto const& view) { return static_cast<Index>(view.extent(0)); };
  sum_rows<32>(exec, "hornbill::bp::sum_large", SumRows<Value, MemorySpace>{f, plan.large_rows, plan.num_part_sums});
  if (count(plan.hubs) > 0) {
    SumHubs<Value, MemorySpace> const kernel{f, plan.hubs};
    if constexpr (backend::TuningOf<ExecutionSpace>::value.lanes)
      Kokkos::parallel_for("hornbill::bp::sum_hubs", Kokkos::TeamPolicy<ExecutionSpace>(exec, count(plan.hubs), 1, 32), kernel);
    else
      Kokkos::parallel_for("hornbill::bp::sum_hubs", Range(exec, 0, count(plan.hubs)), kernel);
  }
  sum_rows<8>(exec, "hornbill::bp::sum_medium", SumRows<Value, MemorySpace>{f, plan.medium_rows, 0});
  if (count(plan.small_rows) > 0)
    Kokkos::parallel_for("hornbill::bp::sum_small", Range(exec, 0, count(plan.small_rows)), SumSmall<Value, MemorySpace>{f, plan.small_rows});
  if (f.graph.tables.num_states > 0)
    Kokkos::parallel_for("hornbill::bp::sum_states", Range(exec, 0, f.num_variables()), SumStates<Value, MemorySpace>{f});
}

}  // namespace hornbill::detail
