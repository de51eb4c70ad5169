// Elimination on a device: the reductions, then the best states in the reverse order.
#pragma once

#include <numeric>
#include <utility>
#include <vector>

#include <hornbill/elim/elimination.hpp>
#include <hornbill/error.hpp>

namespace hornbill::elim::detail {

using hornbill::detail::to_view;

/// The values of a table whose variables are put into another order.
template <class Value>
std::vector<Value> reordered(tables::HostTable<Value> const& table, std::vector<Index> const& cardinality, std::vector<Index> const& scope) {
  if (table.scope == scope) return table.values;
  std::vector<std::size_t> stride(scope.size());  // in the table, of the new order's variables
  for (std::size_t i = 0; i < scope.size(); ++i) {
    stride[i] = 1;
    for (std::size_t j = table.scope.size(); table.scope[--j] != scope[i];) stride[i] *= static_cast<std::size_t>(cardinality[table.scope[j]]);
  }
  std::vector<Value> values(table.values.size());
  std::vector<Index> state(scope.size());
  std::size_t from = 0;
  for (auto& value : values) {
    value = table.values[from];
    for (std::size_t i = scope.size(); i-- > 0;) {
      from += stride[i];
      if (++state[i] < cardinality[scope[i]]) break;
      from -= stride[i] * static_cast<std::size_t>(cardinality[scope[i]]);
      state[i] = 0;
    }
  }
  return values;
}

/// A variable whose best state is looked for, and the tables that tell it.
struct DecodeStep {
  Index variable = 0, states = 0;
  Offset first_input = 0, last_input = 0;
};
struct DecodeInput {
  Offset begin = 0, stride = 0;  ///< of the table; of the variable in it
  Index table = 0;
  Offset first_term = 0, last_term = 0;
};
/// A variable of known state, and its stride.
struct DecodeTerm {
  Offset stride = 0;
  Index variable = 0;
};

/// Best states, the last variable of the order first, by one team.
template <class Semiring, class ExecutionSpace>
struct Decode {
  using Value = typename Semiring::Value;
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using BestState = typename Semiring::BestState;
  using Best = typename BestState::value_type;

  Kokkos::View<DecodeStep const*, MemorySpace> steps;
  Kokkos::View<DecodeInput const*, MemorySpace> inputs;
  Kokkos::View<DecodeTerm const*, MemorySpace> terms;
  tables::TableValues<Value, MemorySpace> values;
  Kokkos::View<Index*, MemorySpace> assignment;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    for (std::size_t i = 0; i < steps.extent(0); ++i) {
      auto const step = steps(i);
      Best best;
      auto const look = [&](Index state, Best& most) {
        Value const value = value_of_state(step, state);
        if (Semiring::is_better(value, most.val) || (value == most.val && state < most.loc)) most = {value, state};
      };
      Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, step.states), look, BestState(best));
      Kokkos::single(Kokkos::PerTeam(team), [&] { assignment(step.variable) = best.loc < step.states ? best.loc : 0; });  // else nothing is possible
      team.team_barrier();
    }
  }

 private:
  KOKKOS_FUNCTION Value value_of_state(DecodeStep const& step, Index state) const {
    Value product = Semiring::one();
    for (Offset k = step.first_input; k < step.last_input; ++k) {
      auto const& input = inputs(k);
      Offset cell = input.begin + state * input.stride;
      for (Offset i = input.first_term; i < input.last_term; ++i) cell += terms(i).stride * assignment(terms(i).variable);
      Value value = values.cells(cell);
      if constexpr (Semiring::scales) value *= values.scales(input.table);
      product = Semiring::multiply(product, value);
    }
    return product;
  }
};

template <class Semiring, class ExecutionSpace>
std::vector<Index> decode(ExecutionSpace const& exec, HostPlan const& plan, tables::TableValues<typename Semiring::Value, typename ExecutionSpace::memory_space> const& values) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Kernel = Decode<Semiring, ExecutionSpace>;
  std::vector<DecodeStep> steps;
  std::vector<DecodeInput> inputs;
  std::vector<DecodeTerm> terms;
  auto const& variables = plan.order.variables;
  for (std::size_t i = variables.size(); i-- > 0;) {
    DecodeStep step{variables[i], plan.reductions.cardinality()[variables[i]], std::ssize(inputs), 0};
    for (Index table : plan.buckets[i]) {
      auto const& place = plan.reductions.tables()[table];
      DecodeInput input{place.offset, plan.reductions.stride(table, variables[i]), table, std::ssize(terms), 0};
      for (Index v : place.scope)
        if (v != variables[i]) terms.push_back({plan.reductions.stride(table, v), v});
      input.last_term = std::ssize(terms);
      inputs.push_back(input);
    }
    step.last_input = std::ssize(inputs);
    steps.push_back(step);
  }
  auto const assignment = hornbill::detail::allocate_initialised<Kokkos::View<Index*, MemorySpace>>(exec, "hornbill::elim::assignment", variables.size());
  Kernel const kernel{to_view<DecodeStep, MemorySpace>(exec, "hornbill::elim::decode_steps", steps), to_view<DecodeInput, MemorySpace>(exec, "hornbill::elim::decode_inputs", inputs),
                      to_view<DecodeTerm, MemorySpace>(exec, "hornbill::elim::decode_terms", terms), values, assignment};
  constexpr int team_size = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible ? 1 : 64;
  Kokkos::parallel_for("hornbill::elim::decode", typename Kernel::Policy(exec, 1, team_size), kernel);
  return hornbill::detail::to_vector(exec, assignment);
}

}  // namespace hornbill::elim::detail

namespace hornbill::elim {

template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> eliminate(ExecutionSpace const& exec, tables::TableNetwork<typename Semiring::Value> const& network, HostPlan const& plan) {
  using Value = typename Semiring::Value;
  if (network.tables.size() != plan.given.size()) throw ShapeError("tables of the plan", network.tables.size(), plan.given.size());
  std::vector<std::vector<Value>> given;
  for (std::size_t t = 0; t < plan.given.size(); ++t) given.push_back(detail::reordered(network.tables[t], network.cardinality, plan.given[t]));
  auto const reductions = tables::make_reductions(exec, plan.reductions);
  auto const values = tables::make_values(exec, plan.reductions, given);
  tables::reduce<Semiring>(exec, reductions, values);
  Elimination<Value> result;
  auto const place = plan.reductions.tables()[plan.result].offset;
  result.value = hornbill::detail::to_vector(exec, Kokkos::subview(values.cells, std::pair(place, place + 1))).front();
  if constexpr (Semiring::scales) {
    auto const exponents = hornbill::detail::to_vector(exec, values.exponents);
    result.exponent = std::accumulate(exponents.begin(), exponents.end(), 0.0) - exponents[plan.result];
  }
  if constexpr (Semiring::selects) result.assignment = detail::decode<Semiring>(exec, plan, values);
  return result;
}

}  // namespace hornbill::elim
