/// \file
/// Messages and working memory of one run.
#pragma once

#include <cstddef>

#include <Kokkos_Core.hpp>

#include <hornbill/bp/detail/accumulator.hpp>
#include <hornbill/bp/detail/control.hpp>
#include <hornbill/bp/detail/extrapolation.hpp>
#include <hornbill/bp/detail/odds_tree.hpp>
#include <hornbill/bp/factor_graph.hpp>
#include <hornbill/bp/plan.hpp>

namespace hornbill::bp {

/// Messages, sums and scratch. One for each run that goes on at the same time; keeps its messages between runs (warm
/// start). All arrays hold what they hold for each of the plan's evidence sets, those of one entry side by side.
template <class Value, class MemorySpace>
struct State {
  /// Factor-to-variable messages as log-odds log(m(1)/m(0)); for variables of k != 2 states, k log-values behind them.
  Kokkos::View<Value*, MemorySpace> messages;                   ///< [num_messages]
  Kokkos::View<detail::Accumulator<Value>*, MemorySpace> sums;  ///< [num_slots], evidence and all messages
  Kokkos::View<Value*, MemorySpace> beliefs;                    ///< [num_slots], P(v = 1); P(v = state) behind them
  /// [num_messages], new values that wait; not where all take their places at once
  Kokkos::View<Value*, MemorySpace> pending;
  Kokkos::View<detail::Node<Value>*, MemorySpace> nodes;             ///< [num_nodes], of the trees over wide factors
  Kokkos::View<detail::Accumulator<Value>*, MemorySpace> part_sums;  ///< [num_part_sums], of parts of hubs
  Kokkos::View<detail::Extended<Value>*, MemorySpace> weights, table_sums;  ///< [num_weights]
  /// of beliefs, by those who formed them; then of messages
  Kokkos::View<Value*, MemorySpace> largest_changes;
  Kokkos::View<detail::Control<Value>*, MemorySpace> controls;  ///< [sets]
  Index sets = 1;
  detail::Extrapolation<Value, MemorySpace> extrapolation;  ///< made by the first run that accelerates
  /// [num_messages], by how much a message would change its probability or its variable's; RESIDUAL only
  Kokkos::View<float*, MemorySpace> residuals;
  Kokkos::View<Index*, MemorySpace> residual_counts;       ///< by size of residual; RESIDUAL only
  Kokkos::View<detail::Selection, MemorySpace> selection;  ///< RESIDUAL only
  detail::LocalMarks<MemorySpace> local;                   ///< of the plan's steps by factor, where it has them
  Kokkos::View<float*, MemorySpace> priorities;            ///< a tree over the edges; SEQMAX only
  bool cold = true;                                        ///< no run has ended in usable messages yet
  bool accelerated = false;                                ///< since the last cold start
  int orders_run = 0;                                      ///< of SEQRND, since the last cold start
  /// The evidence of the last run, and its withdrawals(): certainty among the messages follows from these.
  Kokkos::View<detail::Accumulator<Value> const*, MemorySpace> evidence;
  int withdrawals = 0;
  std::size_t revision = 0;         ///< of that evidence
  detail::Recording recordings[2];  ///< where the backend records iterations: plain and accelerated
};

/// Makes a state with uniform messages. Sized for the graph and the plan; use it with these alone.
/// \throws CapacityError if the plan has too many evidence sets for the indices of a device
template <class Value, class ExecutionSpace, class MemorySpace>
State<Value, MemorySpace> make_state(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                                     Plan<MemorySpace> const& plan);

/// Bytes that graph, evidence, plan and state take on the device, before any of them is made; with the default
/// acceleration.
/// \units bytes Not counted: a backend's own, such as the few kilobytes of each launch that it records.
template <class Value>
std::size_t bytes_needed(HostFactorGraph const& graph, HostPlan const& plan);

}  // namespace hornbill::bp

#include <hornbill/bp/detail/make_state.hpp>
