/// \file
/// A schedule laid out for the device: made once from structure, shared by any number of runs.
#pragma once

#include <array>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/tuning.hpp>
#include <hornbill/bp/kernel_types.hpp>
#include <hornbill/bp/schedule.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::bp {

/// How the batches of a schedule are run. All ways compute the same messages, bit for bit.
enum class Execution {
  automatic,   ///< by the backend's tuning
  batched,     ///< batch after batch, each in parallel
  sequential   ///< one update after another, by one thread; for total orders
};

struct PlanOptions {
  Execution execution = Execution::automatic;
};

/// The tasks of one kernel type, batch after batch. A task is a factor and the edges to update out of it.
template <class MemorySpace>
struct TaskList {
  Kokkos::View<Index const*, MemorySpace> factor;        ///< [tasks]
  Kokkos::View<Index const*, MemorySpace> edge_offsets;  ///< [tasks+1], into edges; only to_body
  Kokkos::View<Index const*, MemorySpace> edges;         ///< only to_body
  Kokkos::View<Index const*, MemorySpace> workspace;     ///< [tasks], first entry in State::partials; only wide
};

/// A schedule on the device.
template <class MemorySpace>
struct Plan {
  enum class Mode { simultaneous, batched, sequential } mode = Mode::simultaneous;
  BatchStatistics statistics;
  double analysis_seconds = 0;  ///< dividing the schedule into batches

  std::array<TaskList<MemorySpace>, num_kernel_types> tasks;
  std::array<std::vector<Index>, num_kernel_types> task_offsets;                ///< [B+1] each, on the host
  Kokkos::View<Index const* [num_kernel_types], Kokkos::LayoutRight, MemorySpace> device_task_offsets;  ///< [B+1]
  Kokkos::View<Index const*, MemorySpace> edge_offsets;  ///< [B+1], into edges; batched mode
  Kokkos::View<Index const*, MemorySpace> edges;         ///< by batch; batched mode
  std::vector<Index> edge_offsets_host;
  std::vector<Segment> segments;
  /// Sequential mode: position i is task `sequence_task[i]` of kernel type `sequence_type[i]`.
  Kokkos::View<Index const*, MemorySpace> sequence_task, sequence_type;

  Kokkos::View<Index const*, MemorySpace> narrow_variables, wide_variables, huge_variables;  ///< by degree
  Index num_partials = 0;      ///< workspace of wide tasks, in entries of State::partials
  Index largest_wide_body = 0;
};

/// Lays out a schedule.
///
/// \param exec  where the plan will run; waits for it
/// \throws InputError if the strategy does not fit the graph, or sequential execution is asked of a schedule without an order
template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostFactorGraph const& graph,
                                                      Strategy const& strategy, PlanOptions const& options = {});

/// The same from batches that were made before.
template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostFactorGraph const& graph,
                                                      Batches const& batches, bool simultaneous, PlanOptions const& options = {});

}  // namespace hornbill::bp

#include <hornbill/detail/bp/make_plan.hpp>
