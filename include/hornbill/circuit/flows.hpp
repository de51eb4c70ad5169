/// \file
/// Flows: how much each node and each parameter has to do with samples.
///
/// The flow of a node is d ln p_root / d ln p_node, the posterior probability that the sample came through the node;
/// that of a parameter is theta d ln p_root / d theta.                \source Liu et al. 2024, equation 2; Choi et al.
/// 2021
#pragma once

#include <cstddef>
#include <vector>

#include <hornbill/circuit/flow_plan.hpp>
#include <hornbill/circuit/state.hpp>

namespace hornbill::circuit {

/// What matrix units sum up, on the device.
template <class MemorySpace>
struct DenseFlowPlan {
  Kokkos::View<Offset const*, MemorySpace> product_offsets;
  Kokkos::View<TileProduct const*, MemorySpace> products;
  Kokkos::View<Index const*, MemorySpace> sums, terms;
  Kokkos::View<DenseParameters const*, MemorySpace> parameters;
  Kokkos::View<DenseUse const*, MemorySpace> uses;
  Kokkos::View<DenseStrip const*, MemorySpace> strips;
};

/// A flow plan on the device.
template <class MemorySpace>
struct FlowPlan {
  HostFlowPlan host;
  Kokkos::View<Index const*, MemorySpace> terms;
  Kokkos::View<Offset const*, MemorySpace> term_offsets;
  Kokkos::View<TermSegment const*, MemorySpace> term_segments;
  Kokkos::View<Index const*, MemorySpace> own_rows;
  Kokkos::View<std::uint8_t const*, MemorySpace> writes;
  Kokkos::View<FlowGather const*, MemorySpace> gathers;
  Kokkos::View<Index const*, MemorySpace> sources;
  Kokkos::View<Index const*, MemorySpace> unused_rows;
  Kokkos::View<ParameterTile const*, MemorySpace> parameter_tiles;
  Kokkos::View<ParameterUse const*, MemorySpace> parameter_uses;
  Kokkos::View<InputStatistics const*, MemorySpace> input_statistics;
  Kokkos::View<Index const*, MemorySpace> input_uses;
  DenseFlowPlan<MemorySpace> dense;
};

/// Memory of flows by matrix units.
template <class MemorySpace>
struct DenseFlowState {
  Columns<MemorySpace> sums, terms;                ///< of a layer, or a group of layers
  Kokkos::View<float*, MemorySpace> outputs;       ///< [terms of a step, 64, stride]
  Kokkos::View<Exponent*, MemorySpace> exponents;  ///< [terms of a step, stride]
  Kokkos::View<unsigned*, MemorySpace> turns;      ///< [parameters of a group] 0 between kernels, see ParameterProducts
};

/// Flows of a batch of samples, of rows of a state. A product that is not stored has none: what it would have is formed
/// where it is used.
template <class Value, class MemorySpace>
struct FlowState {
  Kokkos::View<Value*, MemorySpace> rows;      ///< [num_rows, stride]; of sums, divided by their mantissas
  Kokkos::View<Value*, MemorySpace> own_rows;  ///< [num_own_rows, stride]
  Kokkos::View<Index*, MemorySpace> is_known;  ///< [stride] 1 where a sample has flows; else they mean nothing
  DenseFlowState<MemorySpace> dense;
};

/// Sums of flows over samples, each sample's times its weight.
template <class MemorySpace>
struct Flows {
  Kokkos::View<double*, MemorySpace> sum;  ///< [num_sum_parameters]
  /// [num_statistics]: of a vector of inputs, with s where its statistics begin, that of node i and category c is
  /// s + c * size + i. Of Gaussians c is 0, 1 and 2: the flow, and its moments about the mean that the node has now.
  Kokkos::View<double*, MemorySpace> input;
  /// [num_input_nodes]: also of samples in which the variable is missing
  Kokkos::View<double*, MemorySpace> input_nodes;
};

/// Bytes that the flows of a batch take, and those of all samples, on the device.   \units bytes
template <class Value>
std::size_t bytes_of_flow_state(HostPlan const& plan, HostFlowPlan const& flow_plan, Index batch_size);
extern template std::size_t bytes_of_flow_state<float>(HostPlan const&, HostFlowPlan const&, Index);
extern template std::size_t bytes_of_flow_state<double>(HostPlan const&, HostFlowPlan const&, Index);
std::size_t bytes_of_flows(HostPlan const& plan, HostFlowPlan const& flow_plan);
std::size_t bytes_of_plan(HostFlowPlan const& plan);

}  // namespace hornbill::circuit
