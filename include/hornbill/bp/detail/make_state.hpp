// make_state() and the memory it takes.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <limits>
#include <string>
#include <type_traits>

#include <hornbill/backend/instantiate.hpp>
#include <hornbill/bp/detail/policies.hpp>
#include <hornbill/bp/state.hpp>
#include <hornbill/detail/allocate.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>

namespace hornbill::bp::detail {

/// Warps that form beliefs, each of as many variables as it must, and warps that look at residuals of messages.
inline constexpr std::size_t max_belief_warps = 4096;
/// Threads that form beliefs of one of several evidence sets, where there are as many variables.
inline constexpr std::size_t max_belief_blocks = 2048;
/// Entries of State::largest_changes for each set: of beliefs; of a single set, half of them of messages.
inline std::size_t largest_changes_of(Index sets, std::size_t variables, bool lanes) {
  if (sets > 1) return std::clamp<std::size_t>(variables, 1, max_belief_blocks);
  return 2 * (lanes ? max_belief_warps : 1);
}
/// Items of the largest launch, of one set: lanes, which are padded, teams that share wide factors, and rows.
/// \param edges  of the graph; two warps of lanes one after another have more edges than one has lanes
template <class ExecutionSpace, class MemorySpace>
Offset largest_launch(bp::Plan<MemorySpace> const& plan, Offset edges) {
  Index const teams = std::min(backend::TuningOf<ExecutionSpace>::value.bp.teams_of_parts, plan.max_parts);
  auto most = static_cast<Offset>(plan.small_rows.extent(0) + plan.medium_rows.extent(0) + plan.large_rows.extent(0) +
                                  plan.long_rows.extent(0));
  // of orders to come
  if (plan.of_iteration && uses_lanes<ExecutionSpace>) most = std::max(most, 2 * edges + bp::warp_size);
  for (std::size_t b = 0; b + 1 < plan.offsets.size(); ++b) {
    auto const &begin = plan.offsets[b], &end = plan.offsets[b + 1];
    most = std::max({most, Offset{end.warps - begin.warps} * bp::warp_size, Offset{end.wide - begin.wide} * teams});
  }
  return most;
}
/// Indices that a launch may have: rounded up to whole teams they must still be one.
inline constexpr Offset max_items = std::numeric_limits<Index>::max() - 4096;
/// Entries of a tree over so many edges.
inline std::size_t priorities_of(std::size_t edges) { return 2 * std::bit_ceil(edges); }

}  // namespace hornbill::bp::detail

namespace hornbill::bp {

template <class Value, class ExecutionSpace, class MemorySpace>
State<Value, MemorySpace> make_state(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                                     Plan<MemorySpace> const& plan) {
  using Kokkos::view_alloc;
  State<Value, MemorySpace> state;
  state.sets = plan.sets;
  if (std::max<Offset>(
          {graph.num_messages(), graph.num_slots(), detail::largest_launch<ExecutionSpace>(plan, graph.num_edges())}) *
          plan.sets >
      detail::max_items)
    throw CapacityError("a state of " + std::to_string(plan.sets) + " evidence sets has more than the " +
                        std::to_string(detail::max_items) + " entries or tasks that a device can hold" +
                        (plan.sets > 1 ? "; run fewer at once" : ""));
  auto make = [&](auto& view, char const* label, std::size_t size) {
    view = hornbill::detail::allocate_initialised<std::decay_t<decltype(view)>>(
        exec, std::string("hornbill::bp::") + label, size * plan.sets);
  };
  make(state.messages, "messages", graph.num_messages());
  make(state.sums, "sums", graph.num_slots());
  make(state.beliefs, "beliefs", graph.num_slots());
  make(state.pending, "pending",
       plan.mode == Mode::batched || plan.mode == Mode::selected || plan.by_factor ? graph.num_messages() : 0);
  if (plan.mode == Mode::selected) {
    make(state.residuals, "residuals", graph.num_messages());
    make(state.residual_counts, "residual_counts", detail::num_bins);
    state.selection = Kokkos::View<detail::Selection, MemorySpace>(view_alloc(exec, "hornbill::bp::selection"));
  }
  if (plan.mode == Mode::largest_first) make(state.priorities, "priorities", detail::priorities_of(graph.num_edges()));
  make(state.nodes, "nodes", std::max(plan.num_nodes, plan.by_factor ? plan.by_factor->num_nodes : 0));
  make(state.part_sums, "part_sums", plan.num_part_sums);
  if (plan.by_factor) {
    std::size_t const words = state.local.words(plan.by_factor->sequence.extent(0));
    make(state.local.marks, "marks", words);
    make(state.local.taken, "taken", words);
    state.local.work = Kokkos::View<detail::LocalWork, MemorySpace>(view_alloc(exec, "hornbill::bp::local_work"));
  }
  make(state.weights, "weights", graph.tables.num_weights);
  make(state.table_sums, "table_sums", graph.tables.num_weights);
  make(state.controls, "controls", 1);
  make(state.largest_changes, "largest_changes",
       detail::largest_changes_of(plan.sets, graph.num_variables(), backend::TuningOf<ExecutionSpace>::value.bp.lanes));
  return state;
}

template <class Value>
std::size_t bytes_needed(HostFactorGraph const& graph, HostPlan const& plan) {
  auto const factors = static_cast<std::size_t>(graph.num_factors()), edges = graph.factor_variables.size();
  std::size_t slots = graph.num_variables, messages = edges, weights = 0, tables = 0;
  if (graph.has_tables() || !graph.cardinality.empty()) {
    for (Index v = 0; v < graph.num_variables; ++v) slots += graph.states(v) == 2 ? 0 : graph.states(v);
    for (Index a = 0; a < graph.num_factors(); ++a)
      for (Index v : graph.variables_of(a)) {
        messages += graph.states(v) == 2 ? 0 : graph.states(v);
        weights += is_table(graph.factor_type[a]) ? graph.states(v) : 0;
      }
    tables = sizeof(Index) * (2 * slots + 2 * edges + factors) + sizeof(Value) * graph.table_values.size() +
             2 * sizeof(detail::Extended<Value>) * weights * plan.sets;
  }
  std::size_t const sets = plan.sets;
  std::size_t const structure =
      sizeof(Index) * (2 * edges + factors + slots) + sizeof(detail::HornParameters<Value>) * factors;
  int const window = Acceleration{}.window;
  std::size_t const extrapolation = (sizeof(Value) + sizeof(float) * (1 + window)) * messages +
                                    sizeof(double) * detail::num_slices(messages) * detail::num_pairs(window);
  std::size_t const staged =
      (plan.mode == Mode::batched || plan.mode == Mode::selected || plan.by_factor ? sizeof(Value) * messages : 0) +
      (plan.mode == Mode::selected ? sizeof(float) * messages : 0) +
      (plan.mode == Mode::largest_first ? sizeof(float) * detail::priorities_of(edges) : 0);
  Index const nodes = std::max(plan.num_nodes, plan.by_factor ? plan.by_factor->num_nodes : 0);
  std::size_t const state = sizeof(Value) * (messages + slots) + staged + extrapolation +
                            sizeof(detail::Accumulator<Value>) * (2 * slots + plan.num_part_sums) +
                            sizeof(detail::Node<Value>) * nodes;
  auto bytes = [](auto const&... lists) { return ((lists.size() * sizeof(lists[0])) + ...); };
  auto bytes_of = [&](HostPlan const& p) {
    return bytes(p.chunks, p.parts, p.lanes, p.wide, p.tables, p.table_edges, p.edges, p.offsets, p.sequence,
                 p.small_rows, p.medium_rows, p.large_rows, p.long_rows, p.hubs, p.readers);
  };
  std::size_t const tasks = bytes_of(plan),
                    by_factor = plan.by_factor ? bytes_of(*plan.by_factor) + plan.by_factor->sequence.size() / 4 : 0;
  // an order beside the first, which may be a little longer
  std::size_t const plans = plan.of_iteration ? 2 * tasks + tasks / 16 : tasks;
  return structure + state * sets + plans + by_factor + tables +
         sizeof(Value) * sets * detail::largest_changes_of(plan.sets, graph.num_variables, true);
}

}  // namespace hornbill::bp

#define HORNBILL_INSTANTIATE_BP_STATE(PREFIX, SPACE, VALUE)     \
  PREFIX template State<VALUE, SPACE::memory_space> make_state( \
      SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&, Plan<SPACE::memory_space> const&);

namespace hornbill::bp {
HORNBILL_EXTERN(HORNBILL_FOR_REALS, HORNBILL_INSTANTIATE_BP_STATE)
}  // namespace hornbill::bp
