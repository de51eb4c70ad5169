// What the kernels of belief propagation read and write, in one aggregate.
#pragma once

#include <hornbill/bp/evidence.hpp>
#include <hornbill/bp/state.hpp>

namespace hornbill::bp::detail {

/// What kernels do with fields, whether of one evidence set or of one among many.
template <class Fields, class Value>
struct FieldMethods {
  KOKKOS_FUNCTION bool is_binary(Index variable) const {
    auto const& cardinality = self().graph.tables.cardinality;
    return cardinality.extent(0) == 0 || cardinality(variable) == 2;
  }
  KOKKOS_FUNCTION Index num_variables() const {
    return static_cast<Index>(self().graph.variable_offsets.extent(0)) - 1;
  }
  KOKKOS_FUNCTION Index num_edges() const { return static_cast<Index>(self().graph.factor_variables.extent(0)); }

  /// Variable-to-factor message of an edge to a binary variable, as log-odds: the sum of all that the variable
  /// receives, without `message`, what this factor sent. A contradiction is reported here because later messages may
  /// hide it.
  KOKKOS_FUNCTION Value variable_to_factor(Index variable, Accumulator<Value> const& sum, Value message) const {
    if (sum.plus > 0 && sum.minus > 0) report_contradiction(variable);
    return log_odds_without(sum, message);
  }
  KOKKOS_FUNCTION Value variable_to_factor(Index variable, Value message) const {
    Accumulator<Value> const sum = self().sums(variable);
    return variable_to_factor(variable, sum, message);
  }
  KOKKOS_FUNCTION Value variable_to_factor(Index edge) const {
    return variable_to_factor(self().graph.factor_variables(edge), self().messages(edge));
  }
  KOKKOS_FUNCTION void report_contradiction(Index variable) const {
    Kokkos::atomic_min(&self().control().contradiction, variable);
  }

  /// Whether the run has ended: what was submitted ahead then changes nothing.
  KOKKOS_FUNCTION bool stopped() const { return self().control().stopped != 0; }

  /// What becomes of a newly computed message: with damping it takes a part of its way. Certainty is not damped: it
  /// would never be reached.
  KOKKOS_FUNCTION Value damped(Value before, Value computed) const {
    Value const after = limit_to_grid(computed), damping = self().damps ? self().control().damping : Value(0);
    if (damping == 0 || Kokkos::isinf(before) || Kokkos::isinf(after)) return after;
    return damping * before + (1 - damping) * after;
  }

 private:
  KOKKOS_FUNCTION Fields const& self() const { return static_cast<Fields const&>(*this); }
};

/// Arrays of one evidence set.
template <class ValueType, class Memory>
struct Fields : FieldMethods<Fields<ValueType, Memory>, ValueType> {
  using Value = ValueType;
  using MemorySpace = Memory;
  FactorGraph<Value, MemorySpace> graph;
  Kokkos::View<Accumulator<Value> const*, MemorySpace> evidence;
  Kokkos::View<Value*, MemorySpace> messages;
  Kokkos::View<Accumulator<Value>*, MemorySpace> sums;
  Kokkos::View<Value*, MemorySpace> beliefs;
  Kokkos::View<Value*, MemorySpace> pending;
  Kokkos::View<Node<Value>*, MemorySpace> nodes;
  Kokkos::View<Accumulator<Value>*, MemorySpace> part_sums;
  Kokkos::View<Extended<Value>*, MemorySpace> weights, table_sums;
  Kokkos::View<Control<Value>*, MemorySpace> controls;
  bool damps = true;  // by the run's damping; otherwise new messages are as they were computed

  KOKKOS_FUNCTION Control<Value>& control() const { return controls(0); }

  static constexpr bool many = false;
  static constexpr Index sets = 1;
  struct Item {
    Fields const& fields;
    Index task;
  };
  /// Task and evidence set of work item i: of one set, just the task.
  KOKKOS_FUNCTION Item item(Index i) const { return {*this, i}; }
  KOKKOS_FUNCTION Fields const& of_set(Index) const { return *this; }
};

/// Arrays of several evidence sets, those of one entry side by side, so that neighbouring threads, which work on the
/// same task of different sets, share what describes it and lie side by side in all else.
template <class ValueType, class Memory>
struct ManyFields {
  using Value = ValueType;
  using MemorySpace = Memory;
  Fields<Value, MemorySpace> all;
  FactorGraph<Value, MemorySpace> graph;
  Index sets;

  /// One of them.
  struct Set : FieldMethods<Set, ValueType> {
    using Value = ValueType;
    using MemorySpace = Memory;
    FactorGraph<Value, MemorySpace> const& graph;
    Fields<Value, MemorySpace> const& all;
    Index set, sets;
    bool damps;

    KOKKOS_FUNCTION Set(ManyFields const& many, Index s)
        : graph(many.graph), all(many.all), set(s), sets(many.sets), damps(many.all.damps) {}
    KOKKOS_FUNCTION std::size_t at(Index i) const { return static_cast<std::size_t>(i) * sets + set; }
    KOKKOS_FUNCTION auto& evidence(Index i) const { return all.evidence(at(i)); }
    KOKKOS_FUNCTION auto& messages(Index i) const { return all.messages(at(i)); }
    KOKKOS_FUNCTION auto& sums(Index i) const { return all.sums(at(i)); }
    KOKKOS_FUNCTION auto& beliefs(Index i) const { return all.beliefs(at(i)); }
    KOKKOS_FUNCTION auto& pending(Index i) const { return all.pending(at(i)); }
    KOKKOS_FUNCTION auto& nodes(Index i) const { return all.nodes(at(i)); }
    KOKKOS_FUNCTION auto& part_sums(Index i) const { return all.part_sums(at(i)); }
    KOKKOS_FUNCTION auto& weights(Index i) const { return all.weights(at(i)); }
    KOKKOS_FUNCTION auto& table_sums(Index i) const { return all.table_sums(at(i)); }
    KOKKOS_FUNCTION Control<Value>& control() const { return all.controls(set); }

    struct Item {
      Set const& fields;
      Index task;
    };
    KOKKOS_FUNCTION Item item(Index i) const { return {*this, i}; }
  };

  static constexpr bool many = true;
  struct ItemOfSet {
    Set fields;
    Index task;
  };
  KOKKOS_FUNCTION ItemOfSet item(Index i) const { return {Set(*this, i % sets), i / sets}; }
  KOKKOS_FUNCTION Set of_set(Index set) const { return Set(*this, set); }
};

/// What becomes of a new message.
enum class Write {
  replace,  ///< it takes its place; sums are formed anew later (simultaneous updates)
  stage,    ///< it waits in `pending` for the batch's second phase: others may still read the old one
  commit    ///< the variable's sum is brought up to date at once (one thread)
};

/// Entry `at` of messages, which was `before` and is a term of slot `slot`.
template <Write write, class F>
KOKKOS_INLINE_FUNCTION void put_message(F const& f, Index at, Index slot, typename F::Value before,
                                        typename F::Value computed) {
  auto const after = f.damped(before, computed);
  if constexpr (write == Write::stage)
    f.pending(at) = after;
  else
    f.messages(at) = after;
  if constexpr (write == Write::commit)
    if (before != after) add_sum(f.sums(slot), difference(before, after));
}

/// Second phase of a batch for one message. Additions on the grid are exact, so their order, which varies, does not
/// matter.
template <class F>
KOKKOS_INLINE_FUNCTION void commit_message(F const& f, Index at, Index slot, typename F::Value before,
                                           typename F::Value after) {
  if (before == after) return;
  f.messages(at) = after;
  atomic_add_sum(f.sums(slot), difference(before, after));
}

}  // namespace hornbill::bp::detail
