// Elimination on a device: the reductions, then the best states in the reverse order.
#pragma once

#include <algorithm>
#include <cmath>
#include <numbers>
#include <type_traits>
#include <utility>
#include <vector>

#include <hornbill/elim/elimination.hpp>
#include <hornbill/error.hpp>
#include <hornbill/tables/detail/instantiate.hpp>
#include <hornbill/tables/detail/reorder.hpp>

namespace hornbill::elim {

template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostPlan host) {
  Plan<typename ExecutionSpace::memory_space> plan;
  plan.host = std::move(host);
  plan.reductions = tables::make_reductions(exec, plan.host.reductions);
  plan.schedule = tables::make_schedule(exec, plan.host.reductions, plan.reductions);
  plan.decode = tables::make_decode_plan(exec, plan.host.reductions, plan.host.decode);
  return plan;
}

template <class Value, class ExecutionSpace>
State<Value, typename ExecutionSpace::memory_space> make_state(
    ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan) {
  return {tables::make_values<Value>(exec, plan.host.reductions), tables::make_decode_scratch(exec, plan.decode),
          hornbill::detail::allocate_initialised<Kokkos::View<Index*, typename ExecutionSpace::memory_space>>(
              exec, "hornbill::elim::assignment", plan.host.order.variables.size())};
}

template <class Value, class ExecutionSpace>
void load(ExecutionSpace const& exec, tables::TableNetwork<Value> const& network,
          Plan<typename ExecutionSpace::memory_space> const& plan,
          State<Value, typename ExecutionSpace::memory_space> const& state) {
  auto const given = tables::detail::reordered(network, plan.host.reductions, plan.host.reductions.num_given());
  tables::set_given<Value>(exec, plan.host.reductions, state.values, given);
}

namespace detail {

template <class Semiring>
void require_meaning(HostPlan const& plan) {
  if (!Semiring::selects && !plan.is_exact) throw Error("mini-buckets bound the best assignment, not a sum");
  if constexpr (std::is_same_v<typename Semiring::Value, tables::NarrowCost>) {
    auto const& all = plan.reductions.reductions();
    if (!plan.is_exact && std::any_of(all.begin(), all.end(), [](auto const& r) { return r.shifts >= 0; }))
      throw Error("moments are matched in 64 bits: shifts may add up to more than 32 hold");
  }
}

}  // namespace detail

template <class Semiring, class ExecutionSpace>
void run(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
         State<typename Semiring::Value, typename ExecutionSpace::memory_space> const& state) {
  detail::require_meaning<Semiring>(plan.host);
  tables::reduce<Semiring>(exec, plan.reductions, plan.schedule, state.values);
  if constexpr (Semiring::selects)
    tables::decode<Semiring>(exec, plan.decode, state.values, state.known, state.assignment);
}

template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> result_of(
    ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
    State<typename Semiring::Value, typename ExecutionSpace::memory_space> const& state) {
  auto const& host = plan.host;
  Elimination<typename Semiring::Value> result;
  result.value = tables::cells_of(exec, host.reductions, state.values, host.result).front();
  if constexpr (Semiring::scales) {
    auto const extents = tables::extents_of(exec, state.values);
    result.exponent = tables::exponents_of(host.reductions, extents.largest)[host.result];
    result.is_in_range = tables::are_in_range(host.reductions, extents);
  }
  if constexpr (Semiring::selects) {
    if (Semiring::is_zero(result.value)) result.value = Semiring::zero();
    result.assignment = hornbill::detail::to_vector(exec, state.assignment);
  }
  return result;
}

namespace detail {

template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> eliminate_once(ExecutionSpace const& exec,
                                                     tables::TableNetwork<typename Semiring::Value> const& network,
                                                     HostPlan const& host) {
  auto const plan = make_plan(exec, host);
  auto const state = make_state<typename Semiring::Value>(exec, plan);
  load(exec, network, plan, state);
  run<Semiring>(exec, plan, state);
  return result_of<Semiring>(exec, plan, state);
}

template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> eliminate_once_in_slices(
    ExecutionSpace const& exec, tables::TableNetwork<typename Semiring::Value> const& network, HostPlan const& host,
    std::size_t max_bytes) {
  require_meaning<Semiring>(host);
  Kokkos::DefaultHostExecutionSpace const on_host;
  Plan<Kokkos::HostSpace> plan;
  plan.host = host;
  plan.decode = tables::make_decode_plan(on_host, host.reductions, host.decode);
  auto const state = make_state<typename Semiring::Value>(on_host, plan);
  load(on_host, network, plan, state);
  double const slices = tables::reduce_in_slices<Semiring>(exec, host.reductions, state.values, max_bytes);
  if constexpr (Semiring::selects)
    tables::decode<Semiring>(on_host, plan.decode, state.values, state.known, state.assignment);
  auto result = result_of<Semiring>(on_host, plan, state);
  result.slices = slices;
  return result;
}

/// A logarithm's number, as semirings that scale have it.
template <class Value>
Elimination<Value> from_logarithms(Elimination<double> const& found) {
  Elimination<Value> result;
  if (std::isfinite(found.value)) {
    result.exponent = std::floor(found.value / std::numbers::ln2);
    result.value = static_cast<Value>(std::exp(found.value - result.exponent * std::numbers::ln2));
  }
  result.slices = found.slices;
  result.took_logarithms = true;
  result.assignment = found.assignment;
  return result;
}

/// \param once  eliminates in the semiring that is its template argument
template <class Semiring, class Once>
Elimination<typename Semiring::Value> eliminate_in_range(tables::TableNetwork<typename Semiring::Value> const& network,
                                                         Once const& once) {
  auto result = once.template operator()<Semiring>(network);
  if constexpr (Semiring::scales)
    if (!result.is_in_range)
      return from_logarithms<typename Semiring::Value>(
          once.template operator()<typename Semiring::OfLogarithms>(logarithms_of(network)));
  return result;
}

}  // namespace detail

template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> eliminate(ExecutionSpace const& exec,
                                                tables::TableNetwork<typename Semiring::Value> const& network,
                                                HostPlan const& host) {
  return detail::eliminate_in_range<Semiring>(
      network, [&]<class Once>(tables::TableNetwork<typename Once::Value> const& values) {
        return detail::eliminate_once<Once>(exec, values, host);
      });
}

template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> eliminate_in_slices(ExecutionSpace const& exec,
                                                          tables::TableNetwork<typename Semiring::Value> const& network,
                                                          HostPlan const& host, std::size_t max_bytes) {
  return detail::eliminate_in_range<Semiring>(
      network, [&]<class Once>(tables::TableNetwork<typename Once::Value> const& values) {
        return detail::eliminate_once_in_slices<Once>(exec, values, host, max_bytes);
      });
}

}  // namespace hornbill::elim

#define HORNBILL_INSTANTIATE_ELIM_PLANS(PREFIX, SPACE) \
  PREFIX template Plan<SPACE::memory_space> make_plan<SPACE>(SPACE const&, HostPlan);
#define HORNBILL_INSTANTIATE_ELIM_VALUES(PREFIX, SPACE, VALUE)                                                  \
  PREFIX template State<VALUE, SPACE::memory_space> make_state<VALUE, SPACE>(SPACE const&,                      \
                                                                             Plan<SPACE::memory_space> const&); \
  PREFIX template void load<VALUE, SPACE>(SPACE const&, tables::TableNetwork<VALUE> const&,                     \
                                          Plan<SPACE::memory_space> const&, State<VALUE, SPACE::memory_space> const&);
#define HORNBILL_INSTANTIATE_ELIM(PREFIX, SPACE, SEMIRING)                                                          \
  PREFIX template void run<SEMIRING, SPACE>(SPACE const&, Plan<SPACE::memory_space> const&,                         \
                                            State<typename SEMIRING::Value, SPACE::memory_space> const&);           \
  PREFIX template Elimination<typename SEMIRING::Value> result_of<SEMIRING, SPACE>(                                 \
      SPACE const&, Plan<SPACE::memory_space> const&, State<typename SEMIRING::Value, SPACE::memory_space> const&); \
  PREFIX template Elimination<typename SEMIRING::Value> eliminate<SEMIRING, SPACE>(                                 \
      SPACE const&, tables::TableNetwork<typename SEMIRING::Value> const&, HostPlan const&);                        \
  PREFIX template Elimination<typename SEMIRING::Value> eliminate_in_slices<SEMIRING, SPACE>(                       \
      SPACE const&, tables::TableNetwork<typename SEMIRING::Value> const&, HostPlan const&, std::size_t);

namespace hornbill::elim {
HORNBILL_EXTERN(HORNBILL_FOR_PLANS, HORNBILL_INSTANTIATE_ELIM_PLANS)
HORNBILL_EXTERN(HORNBILL_FOR_TABLE_VALUES, HORNBILL_INSTANTIATE_ELIM_VALUES)
HORNBILL_EXTERN(HORNBILL_FOR_SEMIRINGS, HORNBILL_INSTANTIATE_ELIM)
}  // namespace hornbill::elim
