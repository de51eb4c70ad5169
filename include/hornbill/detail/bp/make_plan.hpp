// make_plan(): tasks to the device, and the choice between ways to run them.
#pragma once

#include <limits>
#include <string>

#include <hornbill/bp/plan.hpp>
#include <hornbill/detail/bp/task_layout.hpp>
#include <hornbill/detail/copy.hpp>
#include <hornbill/error.hpp>

namespace hornbill::detail {

template <class MemorySpace, class ExecutionSpace>
bp::TaskList<MemorySpace> tasks_to_device(ExecutionSpace const& exec, HostTaskList const& host) {
  return {to_view<Index, MemorySpace>(exec, "hornbill::plan::task_factor", host.factor),
          to_view<Index, MemorySpace>(exec, "hornbill::plan::task_edge_offsets", host.edge_offsets),
          to_view<Index, MemorySpace>(exec, "hornbill::plan::task_edges", host.edges),
          to_view<Index, MemorySpace>(exec, "hornbill::plan::task_workspace", host.workspace)};
}

template <class MemorySpace, class ExecutionSpace>
auto task_offsets_to_device(ExecutionSpace const& exec, TaskLayout const& layout) {
  auto const num_rows = layout.lists[0].offsets.size();
  Kokkos::View<Index* [bp::num_kernel_types], Kokkos::LayoutRight, MemorySpace> view("hornbill::plan::task_offsets", num_rows);
  auto mirror = Kokkos::create_mirror_view(view);
  for (std::size_t b = 0; b < num_rows; ++b)
    for (int t = 0; t < bp::num_kernel_types; ++t) mirror(b, t) = layout.lists[t].offsets[b];
  Kokkos::deep_copy(exec, view, mirror);
  exec.fence("hornbill: copy from a temporary host array");
  return view;
}

/// Variables by degree; those of other cardinality than two have a kernel of their own.
template <class MemorySpace, class ExecutionSpace>
void classify_variables(ExecutionSpace const& exec, HostFactorGraph const& graph, bp::Plan<MemorySpace>& plan) {
  std::vector<Index> degree(graph.num_variables, 0), narrow, wide, huge;
  for (Index v : graph.factor_variables) ++degree[v];
  constexpr Index huge_from = backend::TuningOf<ExecutionSpace>::value.huge;
  for (Index v = 0; v < graph.num_variables; ++v)
    if (graph.states(v) == 2) (degree[v] <= bp::narrow_degree ? narrow : degree[v] <= huge_from ? wide : huge).push_back(v);
  plan.narrow_variables = to_view<Index, MemorySpace>(exec, "hornbill::plan::narrow_variables", narrow);
  plan.wide_variables = to_view<Index, MemorySpace>(exec, "hornbill::plan::wide_variables", wide);
  plan.huge_variables = to_view<Index, MemorySpace>(exec, "hornbill::plan::huge_variables", huge);
}

template <class Mode>
Mode choose_mode(bp::Batches const& batches, bool simultaneous, bp::Execution execution, bp::BatchStatistics const& statistics,
                 Offset sequential_below) {
  if (execution == bp::Execution::sequential) {
    if (batches.order.empty() && !batches.edges.empty())
      throw InputError("sequential execution needs a schedule that is a total order");
    return Mode::sequential;
  }
  if (simultaneous) return Mode::simultaneous;
  bool const in_sequence = execution == bp::Execution::automatic && !batches.order.empty() && statistics.median < sequential_below;
  return in_sequence ? Mode::sequential : Mode::batched;
}

}  // namespace hornbill::detail

namespace hornbill::bp {

template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostFactorGraph const& graph,
                                                      Batches const& batches, bool simultaneous, PlanOptions const& options) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using detail::to_view;
  Plan<MemorySpace> plan;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  plan.statistics = statistics(batches);
  plan.analysis_seconds = batches.analysis_seconds;
  using Mode = typename Plan<MemorySpace>::Mode;
  plan.mode = detail::choose_mode<Mode>(batches, simultaneous, options.execution, plan.statistics, tuning.sequential_below);

  auto const layout = plan.mode == Mode::sequential ? detail::lay_out_sequence(graph, batches.order)
                                                    : detail::lay_out_batches(graph, batches);
  for (int t = 0; t < num_kernel_types; ++t) {
    plan.tasks[t] = detail::tasks_to_device<MemorySpace>(exec, layout.lists[t]);
    plan.task_offsets[t] = layout.lists[t].offsets;
  }
  plan.num_partials = layout.num_partials;
  plan.largest_wide_body = layout.largest_wide_body;
  if (plan.mode == Mode::sequential) {
    plan.sequence_task = to_view<Index, MemorySpace>(exec, "hornbill::plan::sequence_task", layout.sequence.task);
    plan.sequence_type = to_view<Index, MemorySpace>(exec, "hornbill::plan::sequence_type", layout.sequence.type);
  } else if (plan.mode == Mode::batched) {
    plan.device_task_offsets = detail::task_offsets_to_device<MemorySpace>(exec, layout);
    plan.edges = to_view<Index, MemorySpace>(exec, "hornbill::plan::edges", batches.edges);
    plan.edge_offsets = to_view<Index, MemorySpace>(exec, "hornbill::plan::edge_offsets", batches.offsets);
    plan.edge_offsets_host.assign(batches.offsets.begin(), batches.offsets.end());
    plan.segments = detail::make_segments(batches, tuning.stretch_batch);
  }
  detail::classify_variables(exec, graph, plan);
  return plan;
}

template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostFactorGraph const& graph,
                                                      Strategy const& strategy, PlanOptions const& options) {
  return make_plan(exec, graph, make_batches(graph, strategy), std::holds_alternative<Parall>(strategy), options);
}

}  // namespace hornbill::bp
