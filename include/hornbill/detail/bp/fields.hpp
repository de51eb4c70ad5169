// What the kernels of belief propagation read and write, in one aggregate.
#pragma once

#include <hornbill/bp/state.hpp>
#include <hornbill/graph/evidence.hpp>

namespace hornbill::detail {

/// |s(b) - s(a)| for s(l) = 1/(1 + exp(-l)), without cancellation: s(high) s(-low) (1 - exp(low - high)).
template <class Value>
KOKKOS_INLINE_FUNCTION float change_of_probability(Value a, Value b) {
  if (a == b) return 0.f;
  auto const low = static_cast<float>(Kokkos::fmin(a, b)), high = static_cast<float>(Kokkos::fmax(a, b));
  auto const apart = static_cast<float>(Kokkos::abs(b - a));
  return -Kokkos::expm1(-apart) / ((1.f + Kokkos::exp(-high)) * (1.f + Kokkos::exp(low)));
}

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
  Value damping = 0;
  Kokkos::View<float*, MemorySpace> residuals;  // with damping only
  Kokkos::View<Step*, MemorySpace> steps;       // with adaptive damping only
  bp::AdaptiveDamping rule;

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

  /// What becomes of a newly computed message: entry `at`, a term of slot `slot`.
  KOKKOS_FUNCTION Value damped(Index at, Index slot, Value before, Value computed) const {
    Value const after = limit_to_grid(computed);
    return damps() ? damped_on_grid(at, slot, before, after) : after;
  }
  KOKKOS_FUNCTION bool damps() const { return residuals.extent(0) > 0; }

  /// Geometric damping, as libDAI's, or by a step of the message's own. Certainty is not damped: it would never be reached.
  KOKKOS_FUNCTION Value stepped(Index at, Value before, Value after) const {
    if (before == after || Kokkos::isinf(before) || Kokkos::isinf(after)) return after;
    if (steps.extent(0) == 0) return damping * before + (1 - damping) * after;
    Step step = steps(at);
    float const length = step.next(after < before, rule);
    steps(at).last = step.last;
    steps(at).turns = step.turns;
    return length == 1.f ? after : before + static_cast<Value>(length) * (after - before);
  }

 private:
  /// A function of its own, so that its registers are not those of every kernel.
  [[gnu::noinline]] KOKKOS_FUNCTION Value damped_on_grid(Index at, Index slot, Value before, Value after) const {
    residuals(at) = before == after ? 0.f : Kokkos::fmax(change_of_probability(before, after), change_of_belief(slot, before, after));
    return stepped(at, before, after);
  }
  /// What the change of one message does to its variable. Messages near certainty change by much in log-odds and by nothing in
  /// probability; it is the others at the variable that tell whether that matters.
  KOKKOS_FUNCTION float change_of_belief(Index slot, Value before, Value after) const {
    Accumulator<Value> const sum = sums(slot);
    Value const others = log_odds_without(sum, before);
    if (Kokkos::isinf(others)) return 0.f;
    return change_of_probability(others + before, others + after);
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
  Value const after = f.damped(at, slot, before, computed);
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
