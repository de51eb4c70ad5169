/// \file
/// A factor graph on the device.
#pragma once

#include <Kokkos_Core.hpp>

#include <hornbill/bp/detail/horn_message.hpp>
#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/types.hpp>

namespace hornbill::bp {

/// Tables and variables of other cardinality than two; all extents are 0 where a graph has neither.
///
/// A variable with k != 2 states has k slots behind the V slots of the variables themselves: in sums, beliefs and
/// evidence at V + state_offsets[v] + state. Its messages have k entries behind the E entries of the edges.
template <class Value, class MemorySpace>
struct TableFactors {
  Kokkos::View<Index const*, MemorySpace> cardinality;      ///< [V]
  Kokkos::View<Index const*, MemorySpace> offsets;          ///< [F+1], into values
  Kokkos::View<Value const*, MemorySpace> values;           ///< scaled so that each table's largest entry is 1
  Kokkos::View<Index const*, MemorySpace> state_offsets;    ///< [V+1]
  Kokkos::View<Index const*, MemorySpace> message_offsets;  ///< [E+1], of entries of messages behind the E edges
  Kokkos::View<Index const*, MemorySpace> weight_offsets;   ///< [E+1], of one entry a state of each edge of a table
  Index num_states = 0, num_state_messages = 0, num_weights = 0;
};

/// A factor graph in the memory of an execution space. Made by to_device(); shares its arrays when copied.
template <class Value, class MemorySpace>
struct FactorGraph {
  Kokkos::View<Index const*, MemorySpace> factor_offsets;    ///< [F+1]
  Kokkos::View<Index const*, MemorySpace> factor_variables;  ///< [E], head first
  Kokkos::View<Index const*, MemorySpace> variable_offsets;  ///< [V+1]
  Kokkos::View<Index const*, MemorySpace> variable_edges;    ///< [E], edge ids by variable
  /// [F]; of a disjunction those of the conjunction of complements that it is
  Kokkos::View<detail::HornParameters<Value> const*, MemorySpace> parameters;
  TableFactors<Value, MemorySpace> tables;

  Index num_variables() const { return static_cast<Index>(variable_offsets.extent(0)) - 1; }
  Index num_factors() const { return static_cast<Index>(factor_offsets.extent(0)) - 1; }
  Index num_edges() const { return static_cast<Index>(factor_variables.extent(0)); }
  /// Slots of sums, beliefs and evidence.
  Index num_slots() const { return num_variables() + tables.num_states; }
  /// Entries of messages.
  Index num_messages() const { return num_edges() + tables.num_state_messages; }
};

/// Copies a graph to the memory of `exec`. The graph must be valid: see validate().
/// \throws CapacityError if it has more than 2^31 - 1 edges, states or table entries
template <class Value, class ExecutionSpace>
FactorGraph<Value, typename ExecutionSpace::memory_space> to_device(ExecutionSpace const& exec,
                                                                    HostFactorGraph const& host);

}  // namespace hornbill::bp

#include <hornbill/bp/detail/to_device.hpp>
