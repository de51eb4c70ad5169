/// \file
/// How kernels are launched on each backend. The numbers live in backends/<name>/tuning.hpp.
#pragma once

#include <hornbill/types.hpp>

namespace hornbill::backend {

/// Constants of one backend; its folder's notes.md says where they come from.
struct Tuning {
  int team_size;            ///< threads that share a wide factor or variable
  int huge_team_size;       ///< threads that share one with more than `huge` neighbours
  Index huge;               ///< neighbours from which a factor or variable counts as huge
  int stretch_team_size;    ///< threads of the one team that runs a stretch of small batches
  int stretch_vector;       ///< of them, those that share a wide factor, so that several such factors run side by side
  Offset stretch_batch;     ///< largest batch, in edges, that a stretch takes in
  Offset sequential_below;  ///< total orders whose median batch has fewer edges are run in sequence; 0 = never
  int check_every;          ///< iterations between looks at the residual
};

/// Specialised for each enabled backend in backends/<name>/tuning.hpp.
template <class ExecutionSpace>
struct TuningOf;

}  // namespace hornbill::backend

#include <hornbill/backend/enabled.hpp>
