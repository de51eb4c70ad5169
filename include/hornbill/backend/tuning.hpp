/// \file
/// How kernels are launched on each backend. The numbers live in backends/NAME/tuning.hpp.
#pragma once

#include <hornbill/types.hpp>

namespace hornbill::backend {

/// Constants of propagation.
struct BpTuning {
  bool lanes;               ///< an edge a lane of a warp; otherwise a chunk of edges a thread
  int team_size;            ///< threads of a team in launches for large batches; with lanes, a multiple of a warp
  int teams_at_once;        ///< of those, on a multiprocessor: registers are shared out by it
  int wide_team_size;       ///< threads that share a wide factor
  Index teams_of_parts;     ///< most teams, or threads, that share its chunks
  int stretch_team_size;    ///< threads of the one team that runs a stretch of small batches
  Offset stretch_batch;     ///< largest batch, in edges, that a stretch takes in
  Offset sequential_below;  ///< total orders whose median batch has fewer edges are run in sequence; 0 = never
  bool record;              ///< iterations are recorded into a graph, where launches are dear
  int check_every;          ///< iterations between judgements of the residual
  int chromatic_from;       ///< threads from which on CHROMATIC is faster to convergence than SEQFIX
  double local_share;  ///< work that a local update may spend, as a share of the graph's edges, before iterations take
                       ///< over
  Index max_local_edges;  ///< and at most so many edges
  Index local_longest;    ///< variable or factor, in edges, that one thread of it takes on
};

/// Constants of dense tables.
struct TableTuning {
  int team_size;         ///< threads of a team that reduces a block of a table
  int decode_team_size;  ///< threads of a team that looks for the best state of one variable
};

/// Constants of one backend, a member for each engine that has some; its folder's notes.md says where they come from.
struct Tuning {
  BpTuning bp;
  TableTuning tables;
};

/// Specialised for each enabled backend in backends/NAME/tuning.hpp.
template <class ExecutionSpace>
struct TuningOf;

}  // namespace hornbill::backend

#include <hornbill/backend/enabled.hpp>
