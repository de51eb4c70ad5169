// Elimination on a device: the reductions, then the best states in the reverse order.
#pragma once

#include <utility>
#include <vector>

#include <hornbill/elim/elimination.hpp>
#include <hornbill/error.hpp>

namespace hornbill::elim::detail {

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

}  // namespace hornbill::elim::detail

namespace hornbill::elim {

template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostPlan host) {
  Plan<typename ExecutionSpace::memory_space> plan;
  plan.host = std::move(host);
  plan.reductions = tables::make_reductions(exec, plan.host.reductions);
  plan.schedule = tables::make_schedule(exec, plan.host.reductions, plan.reductions);
  plan.decode = tables::make_decode_plan(exec, plan.host.reductions);
  return plan;
}

template <class Value, class ExecutionSpace>
State<Value, typename ExecutionSpace::memory_space> make_state(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan) {
  return {tables::make_values<Value>(exec, plan.host.reductions),
          hornbill::detail::allocate_initialised<Kokkos::View<Index*, typename ExecutionSpace::memory_space>>(exec, "hornbill::elim::assignment", plan.host.order.variables.size())};
}

template <class Value, class ExecutionSpace>
void load(ExecutionSpace const& exec, tables::TableNetwork<Value> const& network, Plan<typename ExecutionSpace::memory_space> const& plan,
          State<Value, typename ExecutionSpace::memory_space> const& state) {
  auto const& scopes = plan.host.given;
  if (network.tables.size() != scopes.size()) throw ShapeError("tables of the plan", network.tables.size(), scopes.size());
  std::vector<std::vector<Value>> given;
  for (std::size_t t = 0; t < scopes.size(); ++t) given.push_back(detail::reordered(network.tables[t], network.cardinality, scopes[t]));
  tables::set_given<Value>(exec, plan.host.reductions, state.values, given);
}

template <class Semiring, class ExecutionSpace>
void run(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan, State<typename Semiring::Value, typename ExecutionSpace::memory_space> const& state) {
  tables::reduce<Semiring>(exec, plan.reductions, plan.schedule, state.values);
  if constexpr (Semiring::selects) tables::decode<Semiring>(exec, plan.decode, plan.reductions, plan.schedule, state.values, state.assignment);
}

template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> result_of(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                                                State<typename Semiring::Value, typename ExecutionSpace::memory_space> const& state) {
  auto const& host = plan.host;
  Elimination<typename Semiring::Value> result;
  auto const place = host.reductions.tables()[host.result].offset;
  result.value = hornbill::detail::to_vector(exec, Kokkos::subview(state.values.cells, std::pair(place, place + 1))).front();
  if constexpr (Semiring::scales) result.exponent = tables::exponents_of(host.reductions, hornbill::detail::to_vector(exec, state.values.largest))[host.result];
  if constexpr (Semiring::selects) result.assignment = hornbill::detail::to_vector(exec, state.assignment);
  return result;
}

template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> eliminate(ExecutionSpace const& exec, tables::TableNetwork<typename Semiring::Value> const& network, HostPlan const& host) {
  auto const plan = make_plan(exec, host);
  auto const state = make_state<typename Semiring::Value>(exec, plan);
  load(exec, network, plan, state);
  run<Semiring>(exec, plan, state);
  return result_of<Semiring>(exec, plan, state);
}

}  // namespace hornbill::elim
