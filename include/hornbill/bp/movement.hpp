/// \file
/// How far beliefs and the messages into factors move from one look to the next, as the extended libDAI measures it.
#pragma once

#include <Kokkos_Core.hpp>

#include <hornbill/backend/instantiate.hpp>
#include <hornbill/bp/evidence.hpp>
#include <hornbill/bp/factor_graph.hpp>
#include <hornbill/bp/state.hpp>

namespace hornbill::bp {

/// What has moved between two looks.
struct Movement {
  Index variables = 0;  ///< whose belief moved by more than the tolerance
  Index factors = 0;    ///< that did: by their messages from variables, or by their joint beliefs (JointBeliefs)
  double largest = 0;   ///< move of any of them   \units a difference of probabilities
};

/// What a look has seen, for the next one to compare with. One that holds nothing stands for uniform messages.
template <class Value, class MemorySpace>
struct Look {
  Kokkos::View<Value*, MemorySpace> beliefs;   ///< [num_slots], as in State
  Kokkos::View<Value*, MemorySpace> messages;  ///< [E], P(1) in the message from variable to factor
  Kokkos::View<Value*, MemorySpace> moves;     ///< [E], of messages, between the last two looks
};

/// How far a run has moved since the last look, which is replaced: equation (14) of include/hornbill/bp/README.md. A
/// variable moves by the largest change of a state's probability; a factor by the mean of its edges' moves, each of
/// which is half the change of P(1) in the message from variable to factor. Edges to variables of other than two states
/// count as at rest.   Waits for `exec`.
/// \throws ShapeError for a state of several evidence sets
template <class ExecutionSpace, class Value, class MemorySpace>
Movement movement(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                  Evidence<Value, MemorySpace> const& evidence, State<Value, MemorySpace> const& state,
                  double tolerance, Look<Value, MemorySpace>& last);

}  // namespace hornbill::bp

#include <hornbill/bp/detail/movement.hpp>
