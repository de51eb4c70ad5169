/// \file
/// A plan of the pass from the root to the inputs.
#pragma once

#include <cstdint>
#include <vector>

#include <hornbill/circuit/host_plan.hpp>

namespace hornbill::circuit {

/// Edges above a term: a segment, and the sum tile that it belongs to.
struct TermSegment {
  Offset segment;
  Index tile;
};

/// A row that gets its flow from several places, or from a product.
struct FlowGather {
  Index row;
  bool is_first;      ///< whether it has none yet
  Offset begin, end;  ///< in HostFlowPlan::sources
};

/// What is done once a layer's rows have their flows.
struct FlowStep {
  Index layer;                   ///< in HostPlan::layers
  Index terms_begin, terms_end;  ///< in HostFlowPlan::terms: those of which all sums are done now
  Index dense_begin;             ///< from which on matrix units do them
  Index gathers_begin, gathers_end;
  Index dense_run = 1;  ///< so many terms of those, one behind the other, have the same sums
};

/// Where parameters are used.
struct ParameterUse {
  Index tile, term;
  std::uint8_t first_row, first_column;
};

/// Parameters of sums that have the same uses. Each parameter is in one tile, so that tied ones have one sum of flows.
struct ParameterTile {
  Offset parameter;
  Index stride, rows, columns;  ///< at most tile_size rows and columns
  Offset uses_begin, uses_end;  ///< in HostFlowPlan::parameter_uses
};

/// Nodes of input vectors with the same parameters.
struct InputStatistics {
  Index distributions;          ///< in HostPlan::inputs, of the first such vector
  Index first, size;            ///< nodes within a vector
  Offset statistics;            ///< where those of the vector begin
  Offset weights;               ///< of the vector's first node, in weights of nodes
  Offset uses_begin, uses_end;  ///< in HostFlowPlan::input_uses
};

/// Where flows go. A flow is written by the only term that gives one to its row; others are gathered from rows of their
/// own, in an order that never changes.
struct HostFlowPlan {
  std::vector<FlowStep> steps;             ///< from the root on
  std::vector<Index> terms;                ///< by step
  std::vector<Offset> term_offsets;        ///< [terms of the plan + 1], into term_segments
  std::vector<TermSegment> term_segments;  ///< of each term, those of a tile one behind the other
  std::vector<Index> own_rows;             ///< [terms of the plan] first of its rows apart, or -1
  std::vector<std::uint8_t> writes;        ///< [term_factors of the plan] whether flows go to the factor's rows at once
  Index num_own_rows = 0;                  ///< that are needed at a time
  std::vector<FlowGather> gathers;         ///< by step
  std::vector<Index> sources;              ///< rows of products, or -1 - i of row i of those apart
  std::vector<Index> unused_rows;          ///< that nothing uses
  std::vector<ParameterTile> parameter_tiles;
  std::vector<ParameterUse> parameter_uses;
  std::vector<InputStatistics> input_statistics;
  std::vector<Index> input_uses;   ///< tiles
  Offset num_statistics = 0;       ///< see Flows::input
  Offset num_input_nodes = 0;      ///< of vectors with parameters of their own
  Index num_plain_parameters = 0;  ///< parameter tiles in front, which matrix units do not do
  HostDenseFlowPlan dense;
};

/// Plans the pass from the root to the inputs.
HostFlowPlan make_flow_plan(HostPlan const& plan);

}  // namespace hornbill::circuit
