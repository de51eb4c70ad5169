// Flow plans on a device, backward(), and add_flows().
#pragma once

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <hornbill/circuit/backward.hpp>
#include <hornbill/circuit/detail/exact_flows.hpp>
#include <hornbill/circuit/detail/input_flows.hpp>
#include <hornbill/circuit/detail/matrix_units.hpp>
#include <hornbill/circuit/detail/parameter_flows.hpp>
#include <hornbill/circuit/forward.hpp>

namespace hornbill::circuit::detail {

/// Samples of a thread of kernels that go along rows.
template <class ExecutionSpace>
inline constexpr int samples_of_thread = runs_on_host<ExecutionSpace> ? 64 : 1;

template <class Value, class MemorySpace>
FlowRows<Value, MemorySpace> flow_rows(State<Value, MemorySpace> const& state,
                                       FlowState<Value, MemorySpace> const& flows) {
  return {flows.rows, flows.own_rows, flows.is_known, state.stride};
}

template <class Value, class MemorySpace>
TermFlows<Value, MemorySpace> term_flows(Plan<MemorySpace> const& plan, FlowPlan<MemorySpace> const& flow_plan,
                                         DeviceParameters<Value, MemorySpace> const& parameters,
                                         State<Value, MemorySpace> const& state,
                                         FlowState<Value, MemorySpace> const& flows) {
  return {sum_inputs(plan, parameters, state),
          flow_rows(state, flows),
          flow_plan.terms,
          flow_plan.term_offsets,
          flow_plan.term_segments,
          flow_plan.own_rows,
          flow_plan.writes,
          state.num_samples,
          0};
}

/// The flows of a layer's sums, which are complete, divided by their values.
template <class Value, class ExecutionSpace, class MemorySpace>
void divide_flows(ExecutionSpace const& exec, Plan<MemorySpace> const& plan, TermFlows<Value, MemorySpace> const& of,
                  FlowStep const& step) {
  constexpr int width = samples_of_thread<ExecutionSpace>;
  auto const& layer = plan.host.layers[static_cast<std::size_t>(step.layer)];
  SampleBlocks<width> const blocks{of.num_samples};
  Kokkos::parallel_for(
      "hornbill::circuit::divide_flows",
      Items<ExecutionSpace>(exec, 0, Offset{layer.end - layer.begin} * blocks.count()),
      DivideFlows<Value, MemorySpace, width>{plan.tiles, plan.sum_tiles, of.in.values, of.flows, blocks, layer.begin});
}

/// From there to the terms that have no others, but for those that matrix units do.
template <class Value, class ExecutionSpace, class MemorySpace>
void pass_to_terms(ExecutionSpace const& exec, TermFlows<Value, MemorySpace> of, Index begin, Index end) {
  of.begin = begin;
  Offset const terms = end - begin;
  constexpr char const* label = "hornbill::circuit::term_flows";
  if constexpr (runs_on_host<ExecutionSpace>) {
    using Functor = TermFlowsOnHost<Value, MemorySpace>;
    Offset const count = (of.num_samples + Functor::width - 1) / Functor::width;
    Kokkos::parallel_for(label, Items<ExecutionSpace>(exec, 0, terms * count), Functor{of});
  } else {
    Kokkos::parallel_for(label, Items<ExecutionSpace>(exec, 0, terms * of.num_samples),
                         TermFlowsByThread<Value, MemorySpace>{of});
  }
}

template <class Value, class ExecutionSpace, class MemorySpace>
void pass_layer(ExecutionSpace const& exec, Plan<MemorySpace> const& plan, FlowPlan<MemorySpace> const& flow_plan,
                DeviceParameters<Value, MemorySpace> const& parameters, TermFlows<Value, MemorySpace> const& of,
                FlowState<Value, MemorySpace> const& flows, FlowStep const& step) {
  if constexpr (may_be_dense<Value, ExecutionSpace>)
    if (plan.host.dense.is_dense(step.layer) && !flow_plan.host.dense.product_offsets.empty()) {
      pass_by_matrix_units(exec, plan, flow_plan, parameters, of, flows.dense, step);
      return pass_to_terms(exec, of, step.terms_begin, step.dense_begin);
    }
  divide_flows(exec, plan, of, step);
  pass_to_terms(exec, of, step.terms_begin, step.terms_end);
}

/// \param tiles  those in front
template <class Value, class ExecutionSpace, class MemorySpace>
void add_parameter_flows(ExecutionSpace const& exec, ParameterFlows<Value, MemorySpace> const& of, Offset tiles) {
  constexpr char const* label = "hornbill::circuit::parameter_flows";
  if constexpr (runs_on_host<ExecutionSpace>)
    Kokkos::parallel_for(label, Items<ExecutionSpace>(exec, 0, tiles), ParameterFlowsOnHost<Value, MemorySpace>{of});
  else
    Kokkos::parallel_for(label, Items<ExecutionSpace>(exec, 0, tiles * tile_size * tile_size),
                         ParameterFlowsByThread<Value, MemorySpace>{of});
}

template <class Value, class ExecutionSpace, class MemorySpace>
void add_input_flows_by_team(ExecutionSpace const& exec, char const* label, Offset tiles,
                             std::vector<InputPlan> const& inputs, InputFlows<Value, MemorySpace> const& of) {
  using Functor = InputFlowsByTeam<Value, MemorySpace>;
  if (tiles == 0) return;
  Index most = 1;
  for (auto const& input : inputs) most = std::max(most, input.num_categories);
  Index const slices = (most - 1) / Functor::categories + 1;
  Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<Functor::team_size>> policy(
      exec, static_cast<int>(tiles * Functor::parts_of_tile * slices), Functor::team_size);
  policy.set_scratch_size(0, Kokkos::PerTeam(scratch_bytes_of<typename Functor::Scratch>));
  Kokkos::parallel_for(label, policy, Functor{of, slices});
}

template <class Value, class ExecutionSpace, class MemorySpace>
void add_input_flows(ExecutionSpace const& exec, std::vector<InputPlan> const& inputs,
                     InputFlows<Value, MemorySpace> const& of) {
  Offset const tiles = std::ssize(of.input_statistics);
  constexpr char const* label = "hornbill::circuit::input_flows";
  if constexpr (runs_on_host<ExecutionSpace>)
    Kokkos::parallel_for(label, Items<ExecutionSpace>(exec, 0, tiles), InputFlowsOnHost<Value, MemorySpace>{of});
  else
    add_input_flows_by_team(exec, label, tiles, inputs, of);
}

}  // namespace hornbill::circuit::detail

namespace hornbill::circuit {

template <class ExecutionSpace>
FlowPlan<typename ExecutionSpace::memory_space> make_flow_plan(ExecutionSpace const& exec, HostFlowPlan host) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  FlowPlan<MemorySpace> plan;
  auto const copy = [&]<class T>(Kokkos::View<T const*, MemorySpace>& to, std::string const& name,
                                 std::vector<T> const& from) {
    to = hornbill::detail::to_view<T, MemorySpace>(exec, "hornbill::circuit::" + name, from);
  };
  copy(plan.terms, "terms_of_steps", host.terms);
  copy(plan.term_offsets, "term_offsets", host.term_offsets);
  copy(plan.term_segments, "term_segments", host.term_segments);
  copy(plan.own_rows, "own_rows", host.own_rows);
  copy(plan.writes, "writes", host.writes);
  copy(plan.gathers, "gathers", host.gathers);
  copy(plan.sources, "sources", host.sources);
  copy(plan.unused_rows, "unused_rows", host.unused_rows);
  copy(plan.parameter_tiles, "parameter_tiles", host.parameter_tiles);
  copy(plan.parameter_uses, "parameter_uses", host.parameter_uses);
  copy(plan.input_statistics, "input_statistics", host.input_statistics);
  copy(plan.input_uses, "input_uses", host.input_uses);
  copy(plan.dense.product_offsets, "flow_product_offsets", host.dense.product_offsets);
  copy(plan.dense.products, "flow_products", host.dense.products);
  copy(plan.dense.sums, "sums_of_groups", host.dense.sums);
  copy(plan.dense.terms, "terms_of_groups", host.dense.terms);
  copy(plan.dense.parameters, "dense_parameters", host.dense.parameters);
  copy(plan.dense.uses, "dense_uses", host.dense.uses);
  copy(plan.dense.strips, "dense_strips", host.dense.strips);
  plan.host = std::move(host);
  return plan;
}

template <class Value, class ExecutionSpace>
FlowState<Value, typename ExecutionSpace::memory_space> make_flow_state(
    ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
    FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan,
    State<Value, typename ExecutionSpace::memory_space> const& state) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using hornbill::detail::allocate;
  auto const stride = static_cast<std::size_t>(state.stride);
  using Values = Kokkos::View<Value*, MemorySpace>;
  return {allocate<Values>(exec, "hornbill::circuit::flows", static_cast<std::size_t>(plan.host.num_rows) * stride),
          allocate<Values>(exec, "hornbill::circuit::own_flows",
                           static_cast<std::size_t>(flow_plan.host.num_own_rows) * stride),
          allocate<Kokkos::View<Index*, MemorySpace>>(exec, "hornbill::circuit::is_known", stride),
          std::is_same_v<Value, float>
              ? detail::make_dense_flow_state(exec, plan.host, flow_plan.host.dense, state.batch_size)
              : DenseFlowState<MemorySpace>{}};
}

template <class ExecutionSpace>
Flows<typename ExecutionSpace::memory_space> make_flows(
    ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
    FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan) {
  auto const zeros = [&](std::string const& name, Offset count) {
    return hornbill::detail::allocate_initialised<Kokkos::View<double*, typename ExecutionSpace::memory_space>>(
        exec, "hornbill::circuit::" + name, static_cast<std::size_t>(count));
  };
  return {zeros("sum_flows", plan.host.num_sum_parameters), zeros("input_flows", flow_plan.host.num_statistics),
          zeros("input_node_flows", flow_plan.host.num_input_nodes)};
}

template <class Value, class ExecutionSpace>
void backward(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
              FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan,
              DeviceParameters<Value, typename ExecutionSpace::memory_space> const& parameters,
              State<Value, typename ExecutionSpace::memory_space> const& state,
              FlowState<Value, typename ExecutionSpace::memory_space> const& flows) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  Kokkos::Profiling::ScopedRegion region("hornbill::circuit::backward");
  auto const of = detail::term_flows(plan, flow_plan, parameters, state, flows);
  Kokkos::parallel_for("hornbill::circuit::start_flows", detail::Items<ExecutionSpace>(exec, 0, state.num_samples),
                       detail::StartFlows<Value, MemorySpace>{of.flows, flow_plan.unused_rows, state.log_likelihood,
                                                              state.is_certain, plan.host.row_of_node.back()});
  constexpr int width = detail::samples_of_thread<ExecutionSpace>;
  detail::SampleBlocks<width> const blocks{state.num_samples};
  for (auto const& step : flow_plan.host.steps) {
    if (plan.host.layers[static_cast<std::size_t>(step.layer)].kind == NodeKind::sum)
      detail::pass_layer(exec, plan, flow_plan, parameters, of, flows, step);
    Kokkos::parallel_for(
        "hornbill::circuit::gather_flows",
        detail::Items<ExecutionSpace>(exec, 0, Offset{step.gathers_end - step.gathers_begin} * blocks.count()),
        detail::GatherFlows<Value, MemorySpace, width>{flow_plan.gathers, flow_plan.sources, of.flows, blocks,
                                                       step.gathers_begin});
  }
}

template <class Value, class ExecutionSpace>
void add_flows(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
               FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan,
               DeviceParameters<Value, typename ExecutionSpace::memory_space> const& parameters,
               State<Value, typename ExecutionSpace::memory_space> const& state,
               FlowState<Value, typename ExecutionSpace::memory_space> const& of_batch,
               std::vector<double> const& weights, Flows<typename ExecutionSpace::memory_space> const& sums) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  Kokkos::Profiling::ScopedRegion region("hornbill::circuit::add_flows");
  auto const [relative, unit] = detail::unit_weights(weights, state.num_samples);
  auto const on_device = hornbill::detail::to_view<Value, MemorySpace>(exec, "hornbill::circuit::weights", relative);
  auto const of = detail::term_flows(plan, flow_plan, parameters, state, of_batch);
  Offset plain = std::ssize(flow_plan.host.parameter_tiles);
  if constexpr (detail::may_be_dense<Value, ExecutionSpace>)
    if (!plan.host.dense.layers.empty()) {
      plain = flow_plan.host.num_plain_parameters;
      detail::add_by_matrix_units(exec, plan, flow_plan, of, of_batch.dense, on_device, unit, sums.sum);
    }
  detail::add_parameter_flows(exec,
                              detail::ParameterFlows<Value, MemorySpace>{
                                  of, flow_plan.parameter_tiles, flow_plan.parameter_uses, on_device, unit, sums.sum},
                              plain);
  detail::add_input_flows(
      exec, plan.host.inputs,
      detail::InputFlows<Value, MemorySpace>{plan.tiles,
                                             plan.inputs,
                                             plan.input_tiles,
                                             flow_plan.input_statistics,
                                             flow_plan.input_uses,
                                             {parameters.categorical, parameters.scalars},
                                             {state.samples, state.soft_offsets, state.soft, state.stride},
                                             of.flows,
                                             on_device,
                                             unit,
                                             sums.input,
                                             sums.input_nodes,
                                             state.num_samples});
}

template <class Value, class ExecutionSpace>
std::vector<double> add_exact_flows(ExecutionSpace const& exec, Circuit const& circuit,
                                    Plan<typename ExecutionSpace::memory_space> const& plan,
                                    Parameters const& parameters,
                                    State<Value, typename ExecutionSpace::memory_space> const& state,
                                    FlowState<Value, typename ExecutionSpace::memory_space> const& of_batch,
                                    Samples const& samples, std::vector<Offset> const& which,
                                    std::vector<Index> const& places, std::vector<double> const& weights,
                                    Flows<typename ExecutionSpace::memory_space> const& sums) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using hornbill::detail::to_view;
  if (which.empty()) return {};
  detail::ExactPass<ExecutionSpace> pass(
      exec, circuit, plan.host, parameters,
      std::min(which.size(), static_cast<std::size_t>(detail::exact_share(state.batch_size))));
  detail::ExactFlows flows(circuit, parameters);
  auto const inputs = detail::input_nodes(circuit, plan.host);
  auto const rows = to_view<Index, MemorySpace>(exec, "hornbill::circuit::input_rows", inputs.rows);
  std::vector<double> logs;
  for (std::size_t first = 0; first < which.size(); first += pass.most_samples()) {
    auto const now = detail::part_of(which, first, pass.most_samples());
    auto const of_now = pass.log_likelihoods(samples, now);
    auto const values = pass.values(0, circuit.num_nodes());
    std::vector<Index> known;
    std::vector<double> of_inputs;
    for (std::size_t i = 0; i < now.size(); ++i) {
      if (std::isinf(of_now[i])) continue;
      known.push_back(places[first + i]);
      flows.run(values, now.size(), i, weights.empty() ? 1 : weights[static_cast<std::size_t>(known.back())]);
      for (Index node : inputs.nodes) of_inputs.push_back(flows.nodes()[static_cast<std::size_t>(node)]);
    }
    logs.insert(logs.end(), of_now.begin(), of_now.end());
    Kokkos::parallel_for("hornbill::circuit::place_input_flows",
                         detail::Items<ExecutionSpace>(exec, 0, std::ssize(of_inputs)),
                         detail::PlaceInputFlows<Value, MemorySpace>{
                             detail::flow_rows(state, of_batch), rows,
                             to_view<Index, MemorySpace>(exec, "hornbill::circuit::places", known),
                             to_view<double, MemorySpace>(exec, "hornbill::circuit::exact_input_flows", of_inputs)});
    exec.fence("hornbill: flows are placed before their source goes");
  }
  for (std::size_t first = 0; first < flows.sum().size(); first += detail::exact_flows_at_a_time) {
    auto const part = detail::part_of(flows.sum(), first, detail::exact_flows_at_a_time);
    Kokkos::parallel_for(
        "hornbill::circuit::add_exact_flows", detail::Items<ExecutionSpace>(exec, 0, std::ssize(part)),
        detail::AddTo<MemorySpace>{sums.sum, static_cast<Offset>(first),
                                   to_view<double, MemorySpace>(exec, "hornbill::circuit::exact_flows", part)});
    exec.fence("hornbill: flows are added before their source goes");
  }
  return logs;
}

}  // namespace hornbill::circuit

#define HORNBILL_INSTANTIATE_FLOW_PLANS(PREFIX, SPACE)                                                         \
  PREFIX template FlowPlan<SPACE::memory_space> make_flow_plan<SPACE>(SPACE const&, HostFlowPlan);             \
  PREFIX template Flows<SPACE::memory_space> make_flows<SPACE>(SPACE const&, Plan<SPACE::memory_space> const&, \
                                                               FlowPlan<SPACE::memory_space> const&);
#define HORNBILL_INSTANTIATE_FLOWS(PREFIX, SPACE, VALUE)                                                            \
  PREFIX template FlowState<VALUE, SPACE::memory_space> make_flow_state<VALUE, SPACE>(                              \
      SPACE const&, Plan<SPACE::memory_space> const&, FlowPlan<SPACE::memory_space> const&,                         \
      State<VALUE, SPACE::memory_space> const&);                                                                    \
  PREFIX template void backward<VALUE, SPACE>(                                                                      \
      SPACE const&, Plan<SPACE::memory_space> const&, FlowPlan<SPACE::memory_space> const&,                         \
      DeviceParameters<VALUE, SPACE::memory_space> const&, State<VALUE, SPACE::memory_space> const&,                \
      FlowState<VALUE, SPACE::memory_space> const&);                                                                \
  PREFIX template void add_flows<VALUE, SPACE>(                                                                     \
      SPACE const&, Plan<SPACE::memory_space> const&, FlowPlan<SPACE::memory_space> const&,                         \
      DeviceParameters<VALUE, SPACE::memory_space> const&, State<VALUE, SPACE::memory_space> const&,                \
      FlowState<VALUE, SPACE::memory_space> const&, std::vector<double> const&, Flows<SPACE::memory_space> const&); \
  PREFIX template std::vector<double> add_exact_flows<VALUE, SPACE>(                                                \
      SPACE const&, Circuit const&, Plan<SPACE::memory_space> const&, Parameters const&,                            \
      State<VALUE, SPACE::memory_space> const&, FlowState<VALUE, SPACE::memory_space> const&, Samples const&,       \
      std::vector<Offset> const&, std::vector<Index> const&, std::vector<double> const&,                            \
      Flows<SPACE::memory_space> const&);

namespace hornbill::circuit {
HORNBILL_EXTERN(HORNBILL_FOR_PLANS, HORNBILL_INSTANTIATE_FLOW_PLANS)
HORNBILL_EXTERN(HORNBILL_FOR_REALS, HORNBILL_INSTANTIATE_FLOWS)
}  // namespace hornbill::circuit
