/// \file
/// How kernels are launched on each backend. The numbers live in backends/<name>/tuning.hpp.
#pragma once

#include <hornbill/types.hpp>

namespace hornbill::backend {

/// Constants of one backend; its folder's notes.md says where they come from.
struct Tuning {
  bool lanes;               ///< an edge a lane of a warp; otherwise a chunk of edges a thread
  int team_size;            ///< threads of a team in launches for large batches; with lanes, a multiple of a warp
  int stretch_team_size;    ///< threads of the one team that runs a stretch of small batches
  Offset stretch_batch;     ///< largest batch, in edges, that a stretch takes in
  Offset sequential_below;  ///< total orders whose median batch has fewer edges are run in sequence; 0 = never
  int check_every;          ///< iterations between looks at the residual
};

/// Specialised for each enabled backend in backends/<name>/tuning.hpp.
template <class ExecutionSpace>
struct TuningOf;

}  // namespace hornbill::backend

#include <hornbill/backend/enabled.hpp>
