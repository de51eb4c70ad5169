// make_plan(): tasks to the device, and the choice between ways to run them.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <hornbill/backend/instantiate.hpp>
#include <hornbill/bp/detail/task_layout.hpp>
#include <hornbill/bp/plan.hpp>
#include <hornbill/detail/copy.hpp>
#include <hornbill/error.hpp>

namespace hornbill::bp::detail {

inline bp::Mode choose_mode(bp::Batches const& batches, bp::Execution execution, bp::BatchStatistics const& statistics,
                            Offset sequential_below) {
  using bp::Mode;
  if (execution == bp::Execution::sequential) {
    if (batches.order.empty() && !batches.edges.empty())
      throw InputError("sequential execution needs a schedule that is a total order");
    return Mode::sequential;
  }
  switch (batches.updates) {
    case bp::Updates::in_turn: break;
    case bp::Updates::simultaneous: return Mode::simultaneous;
    case bp::Updates::selected: return Mode::selected;
    case bp::Updates::largest_first: return Mode::largest_first;
  }
  bool const in_sequence =
      execution == bp::Execution::automatic && !batches.order.empty() && statistics.median < sequential_below;
  return in_sequence ? Mode::sequential : Mode::batched;
}

}  // namespace hornbill::bp::detail

namespace hornbill::bp {

template <class ExecutionSpace>
HostPlan lay_out(HostFactorGraph const& graph, Batches const& batches, PlanOptions const& options) {
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value.bp;
  HostPlan plan;
  plan.statistics = statistics(batches);
  plan.analysis_seconds = batches.analysis_seconds;
  plan.mode = detail::choose_mode(batches, options.execution, plan.statistics, tuning.sequential_below);
  plan.sets = options.sets;
  if (options.sets < 1) throw InputError("a plan is for at least one evidence set");
  bool const chooses = plan.mode == Mode::selected || plan.mode == Mode::largest_first;
  if (options.sets > 1 && chooses)
    throw InputError(
        "RESIDUAL and SEQMAX choose among the messages of one evidence set; several at once need another schedule");
  if (plan.mode == Mode::largest_first && graph.num_edges() > Offset{1} << 30)
    throw CapacityError("SEQMAX needs a graph of at most 2^30 edges");
  if (plan.mode == Mode::sequential)
    detail::lay_out_sequence(graph, batches.order, plan);
  else if (plan.mode != Mode::largest_first)
    detail::lay_out_batches(graph, batches, tuning.lanes, plan);
  if (plan.mode == Mode::batched)
    plan.segments = detail::make_segments(batches, tuning.stretch_batch);
  else
    plan.edges = {};
  detail::lay_out_rows(graph, plan);
  if ((options.local_update && options.sets == 1) || plan.mode == Mode::largest_first)
    plan.by_factor = std::make_shared<HostPlan const>(detail::lay_out_by_factor(graph, batches.edges));
  plan.selection = batches.selection;
  if (batches.reshuffled)
    plan.of_iteration =
        [graph = std::make_shared<HostFactorGraph const>(graph), random = *batches.reshuffled, sets = options.sets,
         execution = plan.mode == Mode::sequential ? Execution::sequential : Execution::batched](int iteration) {
          return lay_out<ExecutionSpace>(*graph, make_batches(*graph, SeqFix{random_order(*graph, random, iteration)}),
                                         {execution, sets, false});
        };
  return plan;
}

template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostPlan const& host) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  Plan<MemorySpace> plan;
  auto copy = [&]<class T>(std::vector<T> const& from, Kokkos::View<T const*, MemorySpace>& to, char const* name) {
    to = hornbill::detail::to_view<T, MemorySpace>(exec, std::string("hornbill::plan::") + name, from);
  };
  plan.id = std::make_shared<char>();
  plan.mode = host.mode;
  plan.sets = host.sets;
  plan.selection = host.selection;
  plan.of_iteration = host.of_iteration;
  plan.statistics = host.statistics;
  plan.analysis_seconds = host.analysis_seconds;
  copy(host.chunks, plan.chunks, "chunks");
  copy(host.parts, plan.parts, "parts");
  copy(host.lanes, plan.lanes, "lanes");
  copy(host.wide, plan.wide, "wide");
  copy(host.tables, plan.tables, "tables");
  copy(host.table_edges, plan.table_edges, "table_edges");
  copy(host.edges, plan.edges, "edges");
  plan.offsets = host.offsets;
  if (host.mode == Mode::batched) copy(host.offsets, plan.device_offsets, "offsets");
  plan.segments = host.segments;
  copy(host.sequence, plan.sequence, "sequence");
  plan.num_nodes = host.num_nodes;
  plan.max_parts = host.max_parts;
  copy(host.small_rows, plan.small_rows, "small_rows");
  copy(host.medium_rows, plan.medium_rows, "medium_rows");
  copy(host.large_rows, plan.large_rows, "large_rows");
  copy(host.long_rows, plan.long_rows, "long_rows");
  copy(host.hubs, plan.hubs, "hubs");
  plan.num_part_sums = host.num_part_sums;
  if (host.by_factor) plan.by_factor = std::make_shared<Plan<MemorySpace> const>(make_plan(exec, *host.by_factor));
  copy(host.readers, plan.readers, "readers");
  return plan;
}

template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostFactorGraph const& graph,
                                                      Strategy const& strategy, PlanOptions const& options) {
  return make_plan(exec, lay_out<ExecutionSpace>(graph, make_batches(graph, strategy), options));
}

}  // namespace hornbill::bp

#define HORNBILL_INSTANTIATE_BP_PLANS(PREFIX, SPACE)                                                                \
  PREFIX template HostPlan lay_out<SPACE>(HostFactorGraph const&, Batches const&, PlanOptions const&);              \
  PREFIX template Plan<SPACE::memory_space> make_plan<SPACE>(SPACE const&, HostPlan const&);                        \
  PREFIX template Plan<SPACE::memory_space> make_plan<SPACE>(SPACE const&, HostFactorGraph const&, Strategy const&, \
                                                             PlanOptions const&);

namespace hornbill::bp {
HORNBILL_EXTERN(HORNBILL_FOR_PLANS, HORNBILL_INSTANTIATE_BP_PLANS)
}  // namespace hornbill::bp
