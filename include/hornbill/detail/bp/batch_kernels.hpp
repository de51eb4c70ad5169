// Many small batches, or a whole sequential iteration, in one kernel.
#pragma once

#include <hornbill/detail/bp/factor_kernels.hpp>
#include <hornbill/detail/bp/variable_kernels.hpp>

namespace hornbill::detail {

template <class MemorySpace>
using TaskLists = Kokkos::Array<bp::TaskList<MemorySpace>, bp::num_kernel_types>;

template <class MemorySpace>
TaskLists<MemorySpace> task_lists(bp::Plan<MemorySpace> const& plan) {
  TaskLists<MemorySpace> lists;
  for (int t = 0; t < bp::num_kernel_types; ++t) lists[t] = plan.tasks[t];
  return lists;
}

/// A stretch of consecutive small batches, by one team: between batches stands a team barrier instead of a launch.
template <class Value, class MemorySpace>
struct RunStretch {
  Fields<Value, MemorySpace> fields;
  TaskLists<MemorySpace> lists;
  Kokkos::View<Index const* [bp::num_kernel_types], Kokkos::LayoutRight, MemorySpace> task_offsets;
  Kokkos::View<Index const*, MemorySpace> edge_offsets, edges;
  Index first, last;  // batches

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    for (Index batch = first; batch < last; ++batch) {
      run_types(member, batch, std::make_integer_sequence<int, bp::num_kernel_types>{});
      member.team_barrier();
      Kokkos::parallel_for(Kokkos::TeamVectorRange(member, edge_offsets(batch), edge_offsets(batch + 1)),
                           [&](Index i) { commit_pending(fields, edges(i)); });
      member.team_barrier();
    }
  }

 private:
  template <class Member, int... type>
  KOKKOS_FUNCTION void run_types(Member const& member, Index batch, std::integer_sequence<int, type...>) const {
    (run_type<type>(member, batch), ...);
  }
  template <int type, class Member>
  KOKKOS_FUNCTION void run_type(Member const& member, Index batch) const {
    Index const begin = task_offsets(batch, type), end = task_offsets(batch + 1, type);
    if constexpr (bp::kernel_types[type].wide) {
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, begin, end), [&](Index t) {
        run_task<type, Write::stage>(VectorGroup<Member>{member}, fields, lists[type], t);
      });
    } else {
      Kokkos::parallel_for(Kokkos::TeamVectorRange(member, begin, end),
                           [&](Index t) { run_task<type, Write::stage>(OneThread{}, fields, lists[type], t); });
    }
  }
};

/// One iteration of a total order, update after update, by one thread.
template <class Value, class MemorySpace>
struct RunSequence {
  Fields<Value, MemorySpace> fields;
  TaskLists<MemorySpace> lists;
  Kokkos::View<Index const*, MemorySpace> task, type;

  KOKKOS_FUNCTION void operator()(Index) const {
    for (Index i = 0; i < static_cast<Index>(task.extent(0)); ++i)
      dispatch(task(i), type(i), std::make_integer_sequence<int, bp::num_kernel_types>{});
  }

 private:
  template <int... types>
  KOKKOS_FUNCTION void dispatch(Index t, Index wanted, std::integer_sequence<int, types...>) const {
    (void)((wanted == types && (run_task<types, Write::commit>(OneThread{}, fields, lists[types], t), true)) || ...);
  }
};

template <class ExecutionSpace, class Value, class MemorySpace>
void run_batches(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& fields, bp::Plan<MemorySpace> const& plan) {
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  for (auto const& segment : plan.segments) {
    if (segment.mode == bp::Segment::Mode::stretch) {
      Kokkos::parallel_for("hornbill::bp::run_stretch", BoundedTeams<ExecutionSpace, tuning.stretch_team_size>(
                               exec, 1, tuning.stretch_team_size / tuning.stretch_vector, tuning.stretch_vector),
                           RunStretch<Value, MemorySpace>{fields, task_lists(plan), plan.device_task_offsets, plan.edge_offsets,
                                                          plan.edges, static_cast<Index>(segment.first), static_cast<Index>(segment.last)});
      continue;
    }
    launch_batch<Write::stage>(exec, fields, plan, segment.first);
    Kokkos::parallel_for("hornbill::bp::commit_pending",
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(exec, plan.edge_offsets_host[segment.first],
                                                                                       plan.edge_offsets_host[segment.first + 1]),
                         CommitPending<Value, MemorySpace>{fields, plan.edges});
  }
}

template <class ExecutionSpace, class Value, class MemorySpace>
void run_sequence(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& fields, bp::Plan<MemorySpace> const& plan) {
  Kokkos::parallel_for("hornbill::bp::run_sequence", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(exec, 0, 1),
                       RunSequence<Value, MemorySpace>{fields, task_lists(plan), plan.sequence_task, plan.sequence_type});
}

}  // namespace hornbill::detail
