// Layers by matrix units: memory, and what is launched.
#pragma once

#include <type_traits>

#include <hornbill/circuit/detail/batch.hpp>
#include <hornbill/circuit/detail/dense_flows.hpp>
#include <hornbill/circuit/detail/dense_sums.hpp>
#include <hornbill/circuit/detail/tile_products.hpp>
#include <hornbill/circuit/flows.hpp>
#include <hornbill/detail/allocate.hpp>

namespace hornbill::circuit::detail {

/// Whether matrix units may do layers of Values.
template <class Value, class ExecutionSpace>
inline constexpr bool may_be_dense = std::is_same_v<Value, float>&& multiplies_tiles<ExecutionSpace>;

template <class ExecutionSpace>
bool uses_matrix_units(HostPlan const& plan) {
  return multiplies_tiles<ExecutionSpace> &&
         (plan.matrix_units == MatrixUnits::always ||
          (plan.matrix_units == MatrixUnits::automatic && has_matrix_units<ExecutionSpace>));
}

template <class ExecutionSpace>
WeightPlanes<typename ExecutionSpace::memory_space> make_weight_planes(ExecutionSpace const& exec,
                                                                       HostPlan const& plan) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using hornbill::detail::allocate;
  auto const tiles = plan.dense.weight_tiles.size();
  if (tiles == 0) return {};
  auto const entries = static_cast<std::size_t>(planes_of(std::ssize(plan.dense.weight_tiles), num_planes(plan)));
  return {allocate<Kokkos::View<std::uint16_t*, MemorySpace>>(exec, "hornbill::circuit::weight_planes", entries),
          allocate<Kokkos::View<Exponent*, MemorySpace>>(exec, "hornbill::circuit::weight_exponents", tiles),
          allocate<Kokkos::View<float*, MemorySpace>>(exec, "hornbill::circuit::weight_losses", tiles)};
}

/// \param has_errors  whether errors are kept, as sums want and flows do not
template <class ExecutionSpace>
Columns<typename ExecutionSpace::memory_space> make_columns(ExecutionSpace const& exec, HostPlan const& plan,
                                                            Index count, Index batch_size, bool has_errors) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using hornbill::detail::allocate;
  if (count == 0) return {};
  Columns<MemorySpace> columns;
  columns.blocks = blocks_of(batch_size);
  columns.stride = stride_of(batch_size);
  columns.num_planes = num_planes(plan);
  auto const size = static_cast<std::size_t>(count), entries = size * static_cast<std::size_t>(columns.stride);
  columns.planes = allocate<Kokkos::View<std::uint16_t*, MemorySpace>>(
      exec, "hornbill::circuit::planes",
      static_cast<std::size_t>(planes_of(Offset{count} * columns.blocks, columns.num_planes)));
  columns.exponents =
      allocate<Kokkos::View<Exponent*, MemorySpace>>(exec, "hornbill::circuit::plane_exponents", entries);
  if (!has_errors) return columns;
  columns.errors = allocate<Kokkos::View<float*, MemorySpace>>(exec, "hornbill::circuit::plane_errors", entries);
  columns.losses = allocate<Kokkos::View<float*, MemorySpace>>(exec, "hornbill::circuit::plane_losses", entries);
  return columns;
}

template <class ExecutionSpace>
DenseFlowState<typename ExecutionSpace::memory_space> make_dense_flow_state(ExecutionSpace const& exec,
                                                                            HostPlan const& plan,
                                                                            HostDenseFlowPlan const& flow_plan,
                                                                            Index batch_size) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using hornbill::detail::allocate, hornbill::detail::allocate_initialised;
  auto const entries =
      static_cast<std::size_t>(flow_plan.max_outputs) * static_cast<std::size_t>(stride_of(batch_size));
  return {make_columns(exec, plan, flow_plan.max_sums, batch_size, false),
          make_columns(exec, plan, flow_plan.max_terms, batch_size, false),
          allocate<Kokkos::View<float*, MemorySpace>>(exec, "hornbill::circuit::term_sums", entries * tile_size),
          allocate<Kokkos::View<Exponent*, MemorySpace>>(exec, "hornbill::circuit::term_exponents", entries),
          allocate_initialised<Kokkos::View<unsigned*, MemorySpace>>(
              exec, "hornbill::circuit::turns", static_cast<std::size_t>(flow_plan.max_parameters))};
}

/// The same plan, for kernels that hold smaller numbers beside large ones than planes do.
template <class MemorySpace>
Plan<MemorySpace> without_matrix_units(Plan<MemorySpace> plan) {
  plan.host.dense = {};
  return plan;
}

/// Makes planes of parameters, which have changed.
template <class ExecutionSpace>
void form_weights(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                  DeviceParameters<float, typename ExecutionSpace::memory_space> const& parameters) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  auto const& [planes, exponents, losses] = parameters.planes;
  if (exponents.extent(0) == 0) return;
  constexpr int threads = runs_on_host<ExecutionSpace> ? 1 : TileTeam::parts;
  Kokkos::parallel_for("hornbill::circuit::form_weights",
                       Kokkos::TeamPolicy<ExecutionSpace>(exec, static_cast<int>(exponents.extent(0)), threads),
                       FormWeights<MemorySpace>{plan.dense.weight_tiles, plan.segments, parameters.sum, planes,
                                                exponents, losses, num_planes(plan.host)});
}

/// Room for samples, in whole blocks.
inline Offset padded(Index num_samples) { return Offset{blocks_of(num_samples)} * stride_unit; }

template <class ExecutionSpace>
void sum_by_matrix_units(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                         DeviceParameters<float, typename ExecutionSpace::memory_space> const& parameters,
                         State<float, typename ExecutionSpace::memory_space> const& state, Index layer) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  auto const in = sum_inputs(plan, parameters, state);
  auto const& [kind, begin, end] = plan.host.layers[static_cast<std::size_t>(layer)];
  auto const& dense = plan.host.dense.layers[static_cast<std::size_t>(layer)];
  for_each_tile(exec, "hornbill::circuit::form_terms", dense.terms_end - dense.terms_begin, padded(state.num_samples),
                FormTerms<MemorySpace>{in, plan.dense.terms, state.terms, state.num_samples, dense.terms_begin});
  multiply(exec,
           TileProducts{parameters.planes.planes.data(), parameters.planes.exponents.data(), state.terms.planes.data(),
                        state.terms.exponents.data(), plan.dense.products.data(),
                        plan.dense.product_offsets.data() + begin, plan.tiles.data(), plan.sum_tiles.data() + begin,
                        state.values.data(), state.exponents.data(), end - begin, state.terms.blocks,
                        blocks_of(state.num_samples), state.stride, dense.run, num_planes(plan.host), false});
  for_each_tile(
      exec, "hornbill::circuit::finish_sums", end - begin, state.num_samples,
      FinishSums<MemorySpace>{in, plan.dense.product_offsets, plan.dense.products, state.terms,
                              parameters.planes.exponents, parameters.planes.losses, state.num_samples, begin});
}

/// The flows of a layer's sums, which are complete, divided by their values; and from there to terms.
template <class ExecutionSpace>
void pass_by_matrix_units(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                          FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan,
                          DeviceParameters<float, typename ExecutionSpace::memory_space> const& parameters,
                          TermFlows<float, typename ExecutionSpace::memory_space> of,
                          DenseFlowState<typename ExecutionSpace::memory_space> const& dense, FlowStep const& step) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  auto const& [kind, begin, end] = plan.host.layers[static_cast<std::size_t>(step.layer)];
  auto const samples = static_cast<Index>(of.num_samples);
  for_each_tile(exec, "hornbill::circuit::form_shares", end - begin, padded(samples),
                FormShares<MemorySpace>{
                    plan.tiles, plan.sum_tiles, of.in.values, of.flows, {}, dense.sums, of.num_samples, begin});
  Index const outputs = step.terms_end - step.dense_begin;
  if (outputs == 0) return;
  multiply(exec, TileProducts{parameters.planes.planes.data(), parameters.planes.exponents.data(),
                              dense.sums.planes.data(), dense.sums.exponents.data(), flow_plan.dense.products.data(),
                              flow_plan.dense.product_offsets.data() + step.dense_begin, nullptr, nullptr,
                              dense.outputs.data(), dense.exponents.data(), outputs, dense.sums.blocks,
                              blocks_of(samples), of.flows.stride, step.dense_run, num_planes(plan.host), true});
  of.begin = step.dense_begin;
  for_each_tile(exec, "hornbill::circuit::finish_term_flows", outputs, of.num_samples,
                FinishTermFlows<MemorySpace>{of, dense.outputs, dense.exponents});
}

/// Flows of parameters, group by group.
template <class ExecutionSpace>
void add_by_matrix_units(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                         FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan,
                         TermFlows<float, typename ExecutionSpace::memory_space> const& of,
                         DenseFlowState<typename ExecutionSpace::memory_space> const& dense,
                         Kokkos::View<float const*, typename ExecutionSpace::memory_space> const& weights, double unit,
                         Kokkos::View<double*, typename ExecutionSpace::memory_space> const& flows) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  auto const samples = static_cast<Index>(of.num_samples);
  for (auto const& group : flow_plan.host.dense.groups) {
    for_each_tile(exec, "hornbill::circuit::form_weighted_shares", group.sums_end - group.sums_begin, padded(samples),
                  FormShares<MemorySpace>{plan.tiles, flow_plan.dense.sums, of.in.values, of.flows, weights, dense.sums,
                                          of.num_samples, group.sums_begin});
    for_each_tile(exec, "hornbill::circuit::form_terms_of_flows", group.terms_end - group.terms_begin, padded(samples),
                  FormTerms<MemorySpace>{of.in, flow_plan.dense.terms, dense.terms, of.num_samples, group.terms_begin});
    add_parameter_flows(
        exec, ParameterProducts{dense.sums.planes.data(), dense.terms.planes.data(), dense.sums.exponents.data(),
                                dense.terms.exponents.data(),
                                flow_plan.dense.parameters.data() + group.parameters_begin, flow_plan.dense.uses.data(),
                                flow_plan.dense.strips.data() + group.strips_begin, flow_plan.parameter_tiles.data(),
                                of.in.parameters.data(), unit, flows.data(), dense.turns.data(), group.num_parameters(),
                                group.strips_end - group.strips_begin, group.max_uses, dense.sums.blocks,
                                blocks_of(samples), of.flows.stride, num_planes(plan.host)});
  }
}

}  // namespace hornbill::circuit::detail
