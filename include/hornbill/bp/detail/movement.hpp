// movement(): kernels that compare beliefs and messages with those of the last look.
#pragma once

#include <algorithm>
#include <string>

#include <hornbill/bp/detail/policies.hpp>
#include <hornbill/bp/detail/run.hpp>
#include <hornbill/bp/movement.hpp>
#include <hornbill/error.hpp>

namespace hornbill::bp::detail {

/// Of variables of other than two states.
template <class Value, class MemorySpace>
struct UniformBeliefs {
  FactorGraph<Value, MemorySpace> graph;
  Kokkos::View<Value*, MemorySpace> beliefs;  // [num_slots]
  Index num_variables;
  KOKKOS_FUNCTION void operator()(Index v) const {
    Index const first = graph.tables.state_offsets(v), last = graph.tables.state_offsets(v + 1);
    for (Index s = first; s < last; ++s) beliefs(num_variables + s) = Value(1) / static_cast<Value>(last - first);
  }
};

/// Beliefs and messages of a graph in which nothing is known.
template <class ExecutionSpace, class Value, class MemorySpace>
Look<Value, MemorySpace> uniform_look(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph) {
  auto const make = [&](std::string const& label, Index size) {
    return Kokkos::View<Value*, MemorySpace>(Kokkos::view_alloc(exec, Kokkos::WithoutInitializing, label), size);
  };
  Look<Value, MemorySpace> look{make("hornbill::bp::look::beliefs", graph.num_slots()),
                                make("hornbill::bp::look::messages", graph.num_edges()),
                                make("hornbill::bp::look::moves", graph.num_edges())};
  Kokkos::deep_copy(exec, look.beliefs, Value(0.5));
  Kokkos::deep_copy(exec, look.messages, Value(0.5));
  if (graph.tables.num_states > 0)
    Kokkos::parallel_for("hornbill::bp::uniform_beliefs", Range<ExecutionSpace>(exec, 0, graph.num_variables()),
                         UniformBeliefs<Value, MemorySpace>{graph, look.beliefs, graph.num_variables()});
  return look;
}

/// Half the change of P(1) in the message from each edge's variable to its factor.
template <class F>
struct MessageMoves {
  using View = Kokkos::View<typename F::Value*, typename F::MemorySpace>;
  F f;
  View last, moves;  // [E]
  KOKKOS_FUNCTION void operator()(Index e) const {
    if (!f.is_binary(f.graph.factor_variables(e))) {
      moves(e) = 0;
      return;
    }
    auto const now = probability(f.variable_to_factor(e));
    moves(e) = Kokkos::abs(now - last(e)) / 2;
    last(e) = now;
  }
};

/// Counts moves beyond the tolerance, and finds the largest.
struct Moves {
  double tolerance;
  KOKKOS_FUNCTION void add(double move, Index& count, double& largest) const {
    count += move > tolerance;
    largest = Kokkos::fmax(largest, move);
  }
};

template <class F>
struct BeliefMoves : Moves {
  F f;
  Kokkos::View<typename F::Value*, typename F::MemorySpace> last;  // [num_slots]
  BeliefMoves(double tolerance, F const& fields, decltype(last) const& beliefs)
      : Moves{tolerance}, f(fields), last(beliefs) {}

  KOKKOS_FUNCTION void operator()(Index v, Index& count, double& largest) const {
    if (f.is_binary(v)) return add(moved(v), count, largest);
    auto const& offsets = f.graph.tables.state_offsets;
    double move = 0;
    for (Index s = offsets(v); s < offsets(v + 1); ++s) move = Kokkos::fmax(move, moved(f.num_variables() + s));
    add(move, count, largest);
  }

 private:
  KOKKOS_FUNCTION double moved(Index slot) const {
    auto const now = f.beliefs(slot);
    auto const move = Kokkos::abs(now - last(slot));
    last(slot) = now;
    return move;
  }
};

/// One thread adds a factor's moves, so that the order of additions is the same everywhere.
template <class F>
struct FactorMoves : Moves {
  Kokkos::View<Index const*, typename F::MemorySpace> offsets;
  Kokkos::View<typename F::Value*, typename F::MemorySpace> moves;  // [E]
  FactorMoves(double tolerance, decltype(offsets) const& factor_offsets, decltype(moves) const& of_edges)
      : Moves{tolerance}, offsets(factor_offsets), moves(of_edges) {}

  KOKKOS_FUNCTION void operator()(Index factor, Index& count, double& largest) const {
    Index const first = offsets(factor), last = offsets(factor + 1);
    double sum = 0;
    for (Index e = first; e < last; ++e) sum += static_cast<double>(moves(e));
    add(last > first ? sum / (last - first) : 0, count, largest);
  }
};

}  // namespace hornbill::bp::detail

namespace hornbill::bp {

template <class ExecutionSpace, class Value, class MemorySpace>
Movement movement(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                  Evidence<Value, MemorySpace> const& evidence, State<Value, MemorySpace> const& state,
                  double tolerance, Look<Value, MemorySpace>& last) {
  if (state.sets != 1) throw ShapeError("evidence sets of the state", 1, state.sets);
  using F = detail::Fields<Value, MemorySpace>;
  using Range = detail::Range<ExecutionSpace>;
  if (!last.messages.is_allocated()) last = detail::uniform_look(exec, graph);
  auto const f = detail::fields_of(graph, evidence.terms(), state);
  Kokkos::parallel_for("hornbill::bp::move_messages", Range(exec, 0, graph.num_edges()),
                       detail::MessageMoves<F>{f, last.messages, last.moves});
  Movement result;
  double of_variables = 0, of_factors = 0;  // the reductions give -infinity where there is nothing
  Kokkos::parallel_reduce("hornbill::bp::move_beliefs", Range(exec, 0, graph.num_variables()),
                          detail::BeliefMoves<F>(tolerance, f, last.beliefs), Kokkos::Sum<Index>(result.variables),
                          Kokkos::Max<double>(of_variables));
  Kokkos::parallel_reduce("hornbill::bp::move_factors", Range(exec, 0, graph.num_factors()),
                          detail::FactorMoves<F>(tolerance, graph.factor_offsets, last.moves),
                          Kokkos::Sum<Index>(result.factors), Kokkos::Max<double>(of_factors));
  exec.fence("hornbill: the host looks at what has moved");
  result.largest = std::max({0.0, of_variables, of_factors});
  return result;
}

}  // namespace hornbill::bp

/// What backends/instantiate/bp.cpp compiles of this.
#define HORNBILL_INSTANTIATE_BP_MOVEMENT(PREFIX, SPACE, VALUE)                                                   \
  PREFIX template Movement movement(                                                                             \
      SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&, Evidence<VALUE, SPACE::memory_space> const&, \
      State<VALUE, SPACE::memory_space> const&, double, Look<VALUE, SPACE::memory_space>&);

namespace hornbill::bp {
HORNBILL_EXTERN(HORNBILL_FOR_REALS, HORNBILL_INSTANTIATE_BP_MOVEMENT)
}  // namespace hornbill::bp
