// Kernels that compute factor-to-variable messages: each over the tasks of one kernel type.
#pragma once

#include <hornbill/detail/bp/horn_update.hpp>
#include <hornbill/detail/bp/table_update.hpp>

namespace hornbill::detail {

/// Task `t` of type `type`, by the calling thread or by a group of threads.
template <int type, Write write, class Group, class Value, class MemorySpace>
KOKKOS_FUNCTION void run_task(Group const& group, Fields<Value, MemorySpace> const& f, bp::TaskList<MemorySpace> const& tasks, Index t) {
  constexpr bp::KernelType kernel = bp::kernel_types[type];
  Index const factor = tasks.factor(t);
  if constexpr (kernel.factor == FactorType::table) {
    update_table<write>(f, factor, tasks.edges, tasks.edge_offsets(t), tasks.edge_offsets(t + 1));
  } else {
    using Kind = std::conditional_t<kernel.factor == FactorType::conjunction, And, Or>;
    BodyEdges<MemorySpace> edges{tasks.edges, 0, 0, true};
    if constexpr (kernel.direction == Direction::to_body) {
      edges.first = tasks.edge_offsets(t);
      edges.count = tasks.edge_offsets(t + 1) - edges.first;
      edges.all = false;
    }
    if constexpr (kernel.wide)
      update_wide<Kind, kernel.direction, write>(group, f, factor, edges, tasks.workspace(t));
    else
      update_narrow<Kind, kernel.direction, write>(f, factor, edges);
  }
}

/// Messages of narrow factors and tables, one thread a task.   Source: design.md section 2.
/// Traffic (double) for a whole AND of n variables: 16 B offsets, factor id and 32 B parameters, and for each edge
/// 4 B variable id, 32 B sum (a gather), 8 B message read and 8 B written.
template <int type, Write write, class Value, class MemorySpace>
struct FactorToVariable {
  Fields<Value, MemorySpace> fields;
  bp::TaskList<MemorySpace> tasks;
  KOKKOS_FUNCTION void operator()(Index t) const { run_task<type, write>(OneThread{}, fields, tasks, t); }
};

/// Messages of wide factors, one team a task.
template <int type, Write write, class Value, class MemorySpace>
struct FactorToVariableWide {
  Fields<Value, MemorySpace> fields;
  bp::TaskList<MemorySpace> tasks;
  Index first;  // task of the league's first team
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    run_task<type, write>(TeamGroup<Member>{member}, fields, tasks, first + static_cast<Index>(member.league_rank()));
  }
};

/// Names of kernels in profiles: AND/OR, direction, width.
inline char const* kernel_label(int type) {
  static constexpr char const* labels[bp::num_kernel_types] = {
      "hornbill::bp::and_to_head",      "hornbill::bp::and_to_body",      "hornbill::bp::and_to_all",
      "hornbill::bp::or_to_head",       "hornbill::bp::or_to_body",       "hornbill::bp::or_to_all",
      "hornbill::bp::wide_and_to_head", "hornbill::bp::wide_and_to_body", "hornbill::bp::wide_and_to_all",
      "hornbill::bp::wide_or_to_head",  "hornbill::bp::wide_or_to_body",  "hornbill::bp::wide_or_to_all",
      "hornbill::bp::table_to_variable"};
  return labels[type];
}

/// Teams of at most `largest` threads. Said at compile time, because registers are shared out by it: a kernel compiled
/// without knowing may need more of them than a large team has.
template <class ExecutionSpace, int largest>
using BoundedTeams = Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<largest, 1>>;

/// Launches tasks [first, last) of one type.
template <int type, Write write, class ExecutionSpace, class Value, class MemorySpace>
void launch_tasks(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& fields, bp::Plan<MemorySpace> const& plan,
                  Index first, Index last) {
  if (first == last) return;
  if constexpr (bp::kernel_types[type].wide) {
    constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
    int const team_size = plan.largest_wide_body > tuning.huge ? tuning.huge_team_size : tuning.team_size;
    Kokkos::parallel_for(kernel_label(type), BoundedTeams<ExecutionSpace, tuning.huge_team_size>(exec, last - first, team_size),
                         FactorToVariableWide<type, write, Value, MemorySpace>{fields, plan.tasks[type], first});
  } else {
    Kokkos::parallel_for(kernel_label(type), Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(exec, first, last),
                         FactorToVariable<type, write, Value, MemorySpace>{fields, plan.tasks[type]});
  }
}

/// Calls function.template operator()<type>() for each kernel type.
template <class Function>
void for_each_kernel_type(Function&& function) {
  [&]<int... type>(std::integer_sequence<int, type...>) { (function.template operator()<type>(), ...); }
  (std::make_integer_sequence<int, bp::num_kernel_types>{});
}

/// All tasks of one batch.
template <Write write, class ExecutionSpace, class Value, class MemorySpace>
void launch_batch(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& fields, bp::Plan<MemorySpace> const& plan, Offset batch) {
  for_each_kernel_type([&]<int type> {
    launch_tasks<type, write>(exec, fields, plan, plan.task_offsets[type][batch], plan.task_offsets[type][batch + 1]);
  });
}

}  // namespace hornbill::detail
