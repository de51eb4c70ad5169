/// \file
/// A schedule laid out for the device: made once from structure, shared by any number of runs.
#pragma once

#include <functional>
#include <memory>
#include <string_view>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/tuning.hpp>
#include <hornbill/bp/host_plan.hpp>
#include <hornbill/bp/schedule.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::bp {

/// How the batches of a schedule are run. All ways compute the same messages, bit for bit.
enum class Execution {
  automatic,  ///< by the backend's tuning
  batched,    ///< batch after batch, each in parallel
  sequential  ///< one update after another; for total orders
};

/// Choices of how to run a schedule.
struct PlanOptions {
  Execution execution = Execution::automatic;
  Index sets = 1;  ///< evidence sets that are run at once; the state takes so many times the memory
  /// Be ready to update, where evidence has changed since a state's last run, what moves by it alone before iterations
  /// of all (see run()). Of one evidence set.
  /// \cost about 15 bytes an edge, and those of State::pending where there would be none
  bool local_update = true;
};

/// A schedule on the device. Arrays are those of HostPlan.
template <class MemorySpace>
struct Plan {
  template <class T>
  using Array = Kokkos::View<T const*, MemorySpace>;

  std::shared_ptr<void const> id;  ///< of this plan and its copies, and of no other
  Mode mode = Mode::simultaneous;
  Index sets = 1;
  Residual selection;
  std::function<HostPlan(int)> of_iteration;
  BatchStatistics statistics;
  double analysis_seconds = 0;
  Array<Chunk> chunks, parts;
  Array<Lane> lanes;
  Array<WideTask> wide;
  Array<TableTask> tables;
  Array<Index> table_edges, edges;
  std::vector<BatchOffsets> offsets;   ///< [B+1], on the host
  Array<BatchOffsets> device_offsets;  ///< the same on the device; batched mode
  std::vector<Segment> segments;
  Array<Step> sequence;
  Index num_nodes = 0, max_parts = 0;
  Array<SmallRow> small_rows;
  Array<Row> medium_rows, large_rows, long_rows, hubs;
  Index num_part_sums = 0;
  std::shared_ptr<Plan const> by_factor;
  Array<Index> readers;
};

/// The built-in schedule that suits an execution space: `chromatic` on GPUs and many CPU threads, `seqfix`, which has a
/// thread for each evidence set, on few. So the last digits of marginals may depend on how many threads there are; with
/// a schedule of one's own they do not.
template <class ExecutionSpace>
std::string_view suitable_schedule(ExecutionSpace const& exec, Index sets = 1) {
  return exec.concurrency() >= Offset{backend::TuningOf<ExecutionSpace>::value.bp.chromatic_from} * sets ? "chromatic"
                                                                                                         : "seqfix";
}

/// Lays out batches for an execution space: by its tuning, as chunks or lanes.
///
/// For SEQRND it keeps a copy of the graph, to lay out later orders.
/// \throws InputError if sequential execution is asked of a schedule without an order, or RESIDUAL or SEQMAX of several
/// evidence sets
/// \throws CapacityError if there are more than 2^31 - 1 tasks, or 2^30 edges for SEQMAX
template <class ExecutionSpace>
HostPlan lay_out(HostFactorGraph const& graph, Batches const& batches, PlanOptions const& options = {});

/// Copies a plan to where it will run; waits for `exec`.
template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostPlan const& host);

/// Divides a schedule into batches, lays them out and copies them.
///
/// \throws InputError if the strategy does not fit the graph, or sequential execution is asked of a schedule without an
/// order
template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostFactorGraph const& graph,
                                                      Strategy const& strategy, PlanOptions const& options = {});

}  // namespace hornbill::bp

#include <hornbill/bp/detail/make_plan.hpp>
