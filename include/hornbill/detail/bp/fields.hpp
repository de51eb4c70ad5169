// What the kernels of belief propagation read and write, in one aggregate.
#pragma once

#include <hornbill/bp/state.hpp>
#include <hornbill/graph/evidence.hpp>

namespace hornbill::detail {

template <class Value_, class MemorySpace_>
struct Fields {
  using Value = Value_;
  using MemorySpace = MemorySpace_;
  FactorGraph<Value, MemorySpace> graph;
  Kokkos::View<Accumulator<Value> const*, MemorySpace> evidence;
  Kokkos::View<Value*, MemorySpace> messages;
  Kokkos::View<Accumulator<Value>*, MemorySpace> sums;
  Kokkos::View<Value*, MemorySpace> beliefs;
  Kokkos::View<Value*, MemorySpace> pending;
  Kokkos::View<Node<Value>*, MemorySpace> nodes;
  Kokkos::View<Accumulator<Value>*, MemorySpace> part_sums;
  Kokkos::View<Extended<Value>*, MemorySpace> weights, table_sums;
  Kokkos::View<Control<Value>, MemorySpace> control;
  bool damps = true;  // by the run's damping; otherwise new messages are as they were computed

  KOKKOS_FUNCTION bool is_binary(Index variable) const {
    return graph.tables.cardinality.extent(0) == 0 || graph.tables.cardinality(variable) == 2;
  }
  KOKKOS_FUNCTION Index num_variables() const { return static_cast<Index>(graph.variable_offsets.extent(0)) - 1; }
  KOKKOS_FUNCTION Index num_edges() const { return static_cast<Index>(graph.factor_variables.extent(0)); }

  /// Variable-to-factor message of an edge to a binary variable, as log-odds: the sum of all that the variable receives,
  /// without `message`, what this factor sent. A contradiction is reported here because later messages may hide it.
  KOKKOS_FUNCTION Value variable_to_factor(Index variable, Accumulator<Value> const& sum, Value message) const {
    if (sum.plus > 0 && sum.minus > 0) report_contradiction(variable);
    return log_odds_without(sum, message);
  }
  KOKKOS_FUNCTION Value variable_to_factor(Index variable, Value message) const {
    Accumulator<Value> const sum = sums(variable);
    return variable_to_factor(variable, sum, message);
  }
  KOKKOS_FUNCTION Value variable_to_factor(Index edge) const {
    return variable_to_factor(graph.factor_variables(edge), messages(edge));
  }
  KOKKOS_FUNCTION void report_contradiction(Index variable) const { Kokkos::atomic_min(&control().contradiction, variable); }

  /// Whether the run has ended: what was submitted ahead then changes nothing.
  KOKKOS_FUNCTION bool stopped() const { return control().stopped != 0; }

  /// What becomes of a newly computed message: with damping it takes a part of its way. Certainty is not damped: it would
  /// never be reached.
  KOKKOS_FUNCTION Value damped(Value before, Value computed) const {
    Value const after = limit_to_grid(computed), damping = damps ? control().damping : Value(0);
    if (damping == 0 || Kokkos::isinf(before) || Kokkos::isinf(after)) return after;
    return damping * before + (1 - damping) * after;
  }
};

/// What becomes of a new message.
enum class Write {
  replace,  ///< it takes its place; sums are formed anew later (simultaneous updates)
  stage,    ///< it waits in `pending` for the batch's second phase: others may still read the old one
  commit    ///< the variable's sum is brought up to date at once (one thread)
};

/// Entry `at` of messages, which was `before` and is a term of slot `slot`.
template <Write write, class Value, class MemorySpace>
KOKKOS_INLINE_FUNCTION void put_message(Fields<Value, MemorySpace> const& f, Index at, Index slot, Value before, Value computed) {
  Value const after = f.damped(before, computed);
  if constexpr (write == Write::stage)
    f.pending(at) = after;
  else
    f.messages(at) = after;
  if constexpr (write == Write::commit)
    if (before != after) add_sum(f.sums(slot), difference(before, after));
}

/// Second phase of a batch for one message. Additions on the grid are exact, so their order, which varies, does not matter.
template <class Value, class MemorySpace>
KOKKOS_INLINE_FUNCTION void commit_message(Fields<Value, MemorySpace> const& f, Index at, Index slot, Value before, Value after) {
  if (before == after) return;
  f.messages(at) = after;
  atomic_add_sum(f.sums(slot), difference(before, after));
}

}  // namespace hornbill::detail
