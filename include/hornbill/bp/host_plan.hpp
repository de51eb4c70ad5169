/// \file
/// A schedule laid out on the host.
#pragma once

#include <functional>
#include <memory>
#include <vector>

#include <hornbill/bp/schedule.hpp>
#include <hornbill/bp/tasks.hpp>

namespace hornbill::bp {

/// Ways to run a plan.
enum class Mode {
  simultaneous,   ///< all messages at once, then all sums anew
  selected,       ///< the same, but only some take their place
  largest_first,  ///< update after update, always of the message with the largest residual, by one thread
  batched,        ///< batch after batch: new messages are staged, then committed
  sequential      ///< update after update, by one thread, or one warp where lanes are used
};

/// A schedule laid out, on the host: what Plan is copied from.
struct HostPlan {
  Mode mode = Mode::simultaneous;
  Index sets = 1;                             ///< evidence sets that are run at once
  Residual selection;                         ///< selected mode
  std::function<HostPlan(int)> of_iteration;  ///< SEQRND: the plan of a later iteration; empty for others
  BatchStatistics statistics;
  double analysis_seconds = 0;  ///< dividing the schedule into batches

  std::vector<Chunk> chunks;          ///< by batch, or in sequence; where batches are lanes, only those of wide factors
  std::vector<Lane> lanes;            ///< of narrow factors, warp_size of them a warp; by batch
  std::vector<Chunk> parts;           ///< all chunks of wide factors, factor by factor
  std::vector<WideTask> wide;         ///< by batch
  std::vector<TableTask> tables;      ///< by batch
  std::vector<Index> table_edges;     ///< whose messages are wanted, table by table
  std::vector<Index> edges;           ///< by batch; batched mode, see BatchOffsets::edges
  std::vector<BatchOffsets> offsets;  ///< [B+1]
  std::vector<Segment> segments;      ///< batched mode
  std::vector<Step> sequence;         ///< sequential mode
  Index num_nodes = 0;                ///< of State::nodes
  Index max_parts = 0;                ///< of one factor

  std::vector<SmallRow> small_rows;                     ///< binary variables, each in one of the rows or a hub
  std::vector<Row> medium_rows, large_rows, long_rows;  ///< long rows begin with the parts of hubs
  Index num_part_sums = 0;                              ///< of State::part_sums; as many long rows are parts of hubs
  std::vector<Row> hubs;                                ///< whose first and count range over State::part_sums

  /// A sequence of one step for each factor, for updates out of turn; where PlanOptions::local_update or SEQMAX asks
  /// for it.
  std::shared_ptr<HostPlan const> by_factor;
  /// of by_factor: [E], the step of the factor of each of FactorGraph::variable_edges, or -1
  std::vector<Index> readers;
};

}  // namespace hornbill::bp
