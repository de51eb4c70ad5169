// Plans, parameters and states on a device, and forward().
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <hornbill/backend/instantiate.hpp>
#include <hornbill/circuit/detail/batch.hpp>
#include <hornbill/circuit/detail/exact_pass.hpp>
#include <hornbill/circuit/detail/input_tiles.hpp>
#include <hornbill/circuit/detail/matrix_units.hpp>
#include <hornbill/circuit/detail/product_tiles.hpp>
#include <hornbill/circuit/detail/sum_tiles.hpp>
#include <hornbill/circuit/forward.hpp>
#include <hornbill/circuit/properties.hpp>
#include <hornbill/detail/allocate.hpp>
#include <hornbill/detail/copy.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit::detail {

/// The smallest entry that is not 0, or 1.
inline double smallest_of(std::vector<double> const& values) {
  double smallest = 1;
  for (double value : values)
    if (value > 0) smallest = std::min(smallest, value);
  return smallest;
}

template <class Value, class ExecutionSpace, class MemorySpace>
void evaluate_inputs(ExecutionSpace const& exec, Plan<MemorySpace> const& plan,
                     DeviceParameters<Value, MemorySpace> const& parameters, State<Value, MemorySpace> const& state) {
  constexpr char const* label = "hornbill::circuit::evaluate_inputs";
  Offset const tiles = std::ssize(plan.host.input_tiles);
  EvaluateInputs<Value, MemorySpace> const of{plan.tiles,
                                              plan.inputs,
                                              plan.input_tiles,
                                              {parameters.categorical, parameters.scalars},
                                              {state.samples, state.soft_offsets, state.soft, state.stride},
                                              tile_values(state),
                                              state.num_samples,
                                              parameters.smallest_categorical < static_cast<double>(tiny<Value>)};
  if constexpr (runs_on_host<ExecutionSpace>) {
    using Functor = EvaluateInputsOnHost<Value, MemorySpace>;
    Offset const blocks = (state.num_samples + Functor::width - 1) / Functor::width;
    Kokkos::parallel_for(label, Items<ExecutionSpace>(exec, 0, tiles * blocks), Functor{of});
  } else {
    for_each_tile(exec, label, tiles, state.num_samples, EvaluateInputsByTeam<Value, MemorySpace>{of});
  }
}

template <class Value, class ExecutionSpace, class MemorySpace>
void multiply_tiles(ExecutionSpace const& exec, Plan<MemorySpace> const& plan, State<Value, MemorySpace> const& state,
                    Layer const& layer) {
  constexpr char const* label = "hornbill::circuit::multiply_tiles";
  Offset const tiles = layer.end - layer.begin;
  MultiplyTiles<Value, MemorySpace> const of{plan.tiles,       plan.tile_of_row,   plan.product_tiles, plan.row_factors,
                                             plan.factor_rows, tile_values(state), state.num_samples,  layer.begin};
  if constexpr (runs_on_host<ExecutionSpace>) {
    using Functor = MultiplyTilesOnHost<Value, MemorySpace>;
    Offset const blocks = (state.num_samples + Functor::width - 1) / Functor::width;
    Kokkos::parallel_for(label, Items<ExecutionSpace>(exec, 0, tiles * blocks), Functor{of});
  } else {
    for_each_tile(exec, label, tiles, state.num_samples, MultiplyTilesByTeam<Value, MemorySpace>{of});
  }
}

template <class Value, class ExecutionSpace, class MemorySpace>
void sum_tiles(ExecutionSpace const& exec, Plan<MemorySpace> const& plan,
               DeviceParameters<Value, MemorySpace> const& parameters, State<Value, MemorySpace> const& state,
               Layer const& layer) {
  auto const in = sum_inputs(plan, parameters, state);
  constexpr char const* label = "hornbill::circuit::sum_tiles";
  auto const items = [&](int width) {
    return Offset{layer.end - layer.begin} * ((state.num_samples + width - 1) / width);
  };
  if constexpr (runs_on_host<ExecutionSpace>) {
    using Functor = SumOnHost<Value, MemorySpace>;
    Kokkos::parallel_for(label, Items<ExecutionSpace>(exec, 0, items(Functor::width)),
                         Functor{in, state.num_samples, layer.begin});
  } else {
    using Functor = SumByTeam<Value, MemorySpace>;
    Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<Functor::team_size>> policy(
        exec, static_cast<int>(items(Functor::width)), Functor::team_size);
    policy.set_scratch_size(0, Kokkos::PerTeam(Functor::scratch_bytes()));
    Kokkos::parallel_for(label, policy, Functor{in, state.num_samples, layer.begin});
  }
}

template <class Value, class ExecutionSpace, class MemorySpace>
void sum_layer(ExecutionSpace const& exec, Plan<MemorySpace> const& plan,
               DeviceParameters<Value, MemorySpace> const& parameters, State<Value, MemorySpace> const& state,
               Index layer) {
  if constexpr (may_be_dense<Value, ExecutionSpace>)
    if (plan.host.dense.is_dense(layer)) return sum_by_matrix_units(exec, plan, parameters, state, layer);
  sum_tiles(exec, plan, parameters, state, plan.host.layers[static_cast<std::size_t>(layer)]);
}

/// Adds a batch's likelihoods to a list.   \return samples of the batch that are not certain
template <class Value, class ExecutionSpace>
std::vector<Offset> append_likelihoods(ExecutionSpace const& exec,
                                       State<Value, typename ExecutionSpace::memory_space> const& state,
                                       std::vector<double>& to) {
  auto const of_batch = hornbill::detail::to_vector(exec, state.log_likelihood);
  auto const certain = hornbill::detail::to_vector(exec, state.is_certain);
  to.insert(to.end(), of_batch.begin(), of_batch.begin() + state.num_samples);
  std::vector<Offset> uncertain;
  for (Offset i = 0; i < state.num_samples; ++i)
    if (certain[static_cast<std::size_t>(i)] == 0) uncertain.push_back(i);
  return uncertain;
}

/// Puts a batch's likelihoods, computed anew, in the place of those that were not certain.
/// \param first  sample of the batch   \param at  its place in `to`
/// \param[in,out] uncertain  samples, those of the batch last
template <class Value, class ExecutionSpace>
void replace_likelihoods(ExecutionSpace const& exec, State<Value, typename ExecutionSpace::memory_space> const& state,
                         Offset first, std::size_t at, std::vector<double>& to, std::vector<Offset>& uncertain) {
  std::vector<double> again;
  auto const still = append_likelihoods(exec, state, again);
  auto const of_batch = std::ranges::lower_bound(uncertain, first);
  for (auto sample = of_batch; sample != uncertain.end(); ++sample)
    to[at + static_cast<std::size_t>(*sample - first)] = again[static_cast<std::size_t>(*sample - first)];
  auto const is_certain = [&](Offset sample) { return !std::ranges::binary_search(still, sample - first); };
  uncertain.erase(std::remove_if(of_batch, uncertain.end(), is_certain), uncertain.end());
}

}  // namespace hornbill::circuit::detail

namespace hornbill::circuit {

template <class ExecutionSpace>
HostPlan lay_out(HostPlan plan) {
  if (detail::uses_matrix_units<ExecutionSpace>(plan)) add_dense_plan(plan);
  return plan;
}

template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostPlan host) {
  host = lay_out<ExecutionSpace>(std::move(host));
  using MemorySpace = typename ExecutionSpace::memory_space;
  Plan<MemorySpace> plan;
  auto const copy = [&]<class T>(Kokkos::View<T const*, MemorySpace>& to, std::string const& name,
                                 std::vector<T> const& from) {
    to = hornbill::detail::to_view<T, MemorySpace>(exec, "hornbill::circuit::" + name, from);
  };
  copy(plan.tiles, "tiles", host.tiles);
  copy(plan.tile_of_row, "tile_of_row", host.tile_of_row);
  copy(plan.inputs, "inputs", host.inputs);
  copy(plan.input_tiles, "input_tiles", host.input_tiles);
  copy(plan.product_tiles, "product_tiles", host.product_tiles);
  copy(plan.row_factors, "row_factors", host.row_factors);
  copy(plan.factor_rows, "factor_rows", host.factor_rows);
  copy(plan.terms, "terms", host.terms);
  copy(plan.term_factors, "term_factors", host.term_factors);
  copy(plan.sum_tiles, "sum_tiles", host.sum_tiles);
  copy(plan.segment_offsets, "segment_offsets", host.segment_offsets);
  copy(plan.segments, "segments", host.segments);
  copy(plan.dense.weight_tiles, "weight_tiles", host.dense.weight_tiles);
  copy(plan.dense.terms, "dense_terms", host.dense.terms);
  copy(plan.dense.product_offsets, "product_offsets", host.dense.product_offsets);
  copy(plan.dense.products, "products", host.dense.products);
  plan.host = std::move(host);
  return plan;
}

template <class Value, class ExecutionSpace>
DeviceParameters<Value, typename ExecutionSpace::memory_space> to_device(
    ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan, Parameters const& parameters) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using hornbill::detail::to_view;
  auto const& host = plan.host;
  if (std::ssize(parameters.sum) != host.num_sum_parameters)
    throw ShapeError("parameters of sums", static_cast<std::size_t>(host.num_sum_parameters), parameters.sum.size());
  if (std::ssize(parameters.input) != host.num_input_parameters)
    throw ShapeError("parameters of inputs", static_cast<std::size_t>(host.num_input_parameters),
                     parameters.input.size());
  auto const [categorical, scalars] = to_device_order(host, parameters.input);
  DeviceParameters<Value, MemorySpace> result{
      to_view<Value, MemorySpace>(exec, "hornbill::circuit::sum_parameters", parameters.sum),
      to_view<Value, MemorySpace>(exec, "hornbill::circuit::categorical_parameters", categorical),
      to_view<double, MemorySpace>(exec, "hornbill::circuit::scalar_parameters", scalars),
      detail::smallest_of(parameters.sum),
      detail::smallest_of(categorical),
      {}};
  if constexpr (std::is_same_v<Value, float>) {
    result.planes = detail::make_weight_planes(exec, host);
    detail::form_weights(exec, plan, result);
  }
  return result;
}

template <class Value, class ExecutionSpace>
State<Value, typename ExecutionSpace::memory_space> make_state(ExecutionSpace const& exec,
                                                               Plan<typename ExecutionSpace::memory_space> const& plan,
                                                               Index batch_size, std::size_t max_bytes) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Values = Kokkos::View<Value*, MemorySpace>;
  using hornbill::detail::allocate, hornbill::detail::allocate_initialised;
  if (batch_size < 1) throw ShapeError("batch_size", 1, 0);
  require_fit<Value>(plan.host, batch_size, max_bytes);
  State<Value, MemorySpace> state;
  state.batch_size = batch_size;
  state.stride = detail::stride_of(batch_size);
  auto const entries = [&](auto count) {
    return static_cast<std::size_t>(count) * static_cast<std::size_t>(state.stride);
  };
  auto const tiles = entries(plan.host.tiles.size());
  // whole vectors of samples are read, some of them behind the last sample
  state.values = allocate_initialised<Values>(exec, "hornbill::circuit::values", entries(plan.host.num_rows));
  state.exponents = allocate<Kokkos::View<Exponent*, MemorySpace>>(exec, "hornbill::circuit::exponents", tiles);
  state.smallest = allocate<Values>(exec, "hornbill::circuit::smallest", tiles);
  state.errors = allocate<Values>(exec, "hornbill::circuit::errors", tiles);
  using Numbers = Kokkos::View<double*, MemorySpace>;
  state.samples = allocate<Numbers>(exec, "hornbill::circuit::samples", entries(plan.host.num_variables));
  state.soft_offsets = allocate_initialised<Kokkos::View<Offset*, MemorySpace>>(
      exec, "hornbill::circuit::soft_offsets", static_cast<std::size_t>(plan.host.num_variables));
  state.log_likelihood = allocate<Numbers>(exec, "hornbill::circuit::log_likelihood", entries(1));
  state.is_certain =
      allocate<Kokkos::View<std::uint8_t*, MemorySpace>>(exec, "hornbill::circuit::is_certain", entries(1));
  if constexpr (std::is_same_v<Value, float>)
    state.terms = detail::make_columns(exec, plan.host, plan.host.dense.max_terms, batch_size, true);
  return state;
}

template <class Value, class ExecutionSpace>
Parameters to_host(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                   DeviceParameters<Value, typename ExecutionSpace::memory_space> const& parameters) {
  auto const doubles = [&](auto const& view) {
    auto const values = hornbill::detail::to_vector(exec, view);
    return std::vector<double>(values.begin(), values.end());
  };
  return {doubles(parameters.sum),
          from_device_order(plan.host, {doubles(parameters.categorical), doubles(parameters.scalars)})};
}

template <class Value, class ExecutionSpace>
void observe(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
             State<Value, typename ExecutionSpace::memory_space>& state, Samples const& samples,
             std::vector<Offset> const& which) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  if (samples.num_variables != plan.host.num_variables)
    throw ShapeError("variables of samples", static_cast<std::size_t>(plan.host.num_variables),
                     static_cast<std::size_t>(samples.num_variables));
  if (std::ssize(which) > state.batch_size)
    throw ShapeError("samples of a batch", static_cast<std::size_t>(state.batch_size), which.size());
  for (Offset sample : which)
    if (sample < 0 || sample >= samples.size())
      throw ShapeError("samples", static_cast<std::size_t>(sample) + 1, static_cast<std::size_t>(samples.size()));
  auto const [rows, offsets, likelihoods] = detail::by_variable(plan.host, samples, which, state.stride);
  state.num_samples = static_cast<Index>(which.size());
  hornbill::detail::copy_to_view(exec, rows, state.samples);
  hornbill::detail::copy_to_view(exec, offsets, state.soft_offsets);
  if (state.soft.extent(0) < likelihoods.size())
    state.soft = hornbill::detail::allocate<Kokkos::View<double*, MemorySpace>>(exec, "hornbill::circuit::soft",
                                                                                likelihoods.size());
  hornbill::detail::copy_to_view(exec, likelihoods, state.soft);
}

template <class Value, class ExecutionSpace>
void observe(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
             State<Value, typename ExecutionSpace::memory_space>& state, Samples const& samples, Offset first,
             Index count) {
  if (count < 0 || count > state.batch_size)
    throw ShapeError("samples of a batch", static_cast<std::size_t>(state.batch_size), static_cast<std::size_t>(count));
  std::vector<Offset> which(static_cast<std::size_t>(count));
  std::iota(which.begin(), which.end(), first);
  observe(exec, plan, state, samples, which);
}

template <class Value, class ExecutionSpace>
void forward(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
             DeviceParameters<Value, typename ExecutionSpace::memory_space> const& parameters,
             State<Value, typename ExecutionSpace::memory_space>& state) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  Kokkos::Profiling::ScopedRegion region("hornbill::circuit::forward");
  detail::evaluate_inputs(exec, plan, parameters, state);
  for (Index l = 0; l < std::ssize(plan.host.layers); ++l) {
    auto const& layer = plan.host.layers[static_cast<std::size_t>(l)];
    if (layer.kind == NodeKind::product)
      detail::multiply_tiles(exec, plan, state, layer);
    else
      detail::sum_layer(exec, plan, parameters, state, l);
  }
  Index const root = plan.host.row_of_node.back();
  Kokkos::parallel_for("hornbill::circuit::read_root", detail::Items<ExecutionSpace>(exec, 0, state.num_samples),
                       detail::ReadRoot<Value, MemorySpace>{detail::tile_values(state), root,
                                                            plan.host.tile_of_row[static_cast<std::size_t>(root)],
                                                            state.log_likelihood, state.is_certain});
}

}  // namespace hornbill::circuit

namespace hornbill::circuit {

template <class ExecutionSpace>
std::vector<double> exact_log_likelihoods(ExecutionSpace const& exec, Circuit const& circuit, HostPlan const& plan,
                                          Parameters const& parameters, Samples const& samples,
                                          std::vector<Offset> const& which, Index at_most) {
  if (which.empty()) return {};
  detail::ExactPass<ExecutionSpace> pass(exec, circuit, plan, parameters,
                                         std::min(which.size(), static_cast<std::size_t>(at_most)));
  std::vector<double> result;
  for (std::size_t first = 0; first < which.size(); first += pass.most_samples())
    for (double log : pass.log_likelihoods(samples, detail::part_of(which, first, pass.most_samples())))
      result.push_back(log);
  return result;
}

namespace detail {

/// Adds the likelihoods of all samples to a list.   \return samples that are not certain
template <class Value, class ExecutionSpace>
std::vector<Offset> likelihoods_by_batch(ExecutionSpace const& exec, HostPlan const& host_plan,
                                         Parameters const& parameters, Samples const& samples,
                                         EvaluateOptions const& options, std::vector<double>& to) {
  auto const plan = make_plan(exec, host_plan);
  auto const on_device = to_device<Value>(exec, plan, parameters);
  auto state = make_state<Value>(exec, plan, options.batch_size);
  std::vector<Offset> uncertain;
  std::optional<Plan<typename ExecutionSpace::memory_space>> plain;
  for (Offset first = 0; first < samples.size(); first += state.batch_size) {
    auto const count = static_cast<Index>(std::min<Offset>(state.batch_size, samples.size() - first));
    observe(exec, plan, state, samples, first, count);
    forward(exec, plan, on_device, state);
    auto const at = to.size();
    for (Offset sample : append_likelihoods(exec, state, to)) uncertain.push_back(first + sample);
    bool const is_any = !uncertain.empty() && uncertain.back() >= first;
    if (std::is_same_v<Value, float> && is_any && !plan.host.dense.layers.empty()) {
      if (!plain) plain = without_matrix_units(plan);
      forward(exec, *plain, on_device, state);
      replace_likelihoods(exec, state, first, at, to, uncertain);
    }
    if (options.progress) options.progress(first + count);
  }
  return uncertain;
}

}  // namespace detail

template <class Value, class ExecutionSpace>
Likelihoods log_likelihoods(ExecutionSpace const& exec, Circuit const& circuit, HostPlan const& plan,
                            Parameters const& parameters, Samples const& samples, EvaluateOptions const& options) {
  if (options.batch_size < 1) throw ShapeError("batch_size", 1, 0);
  auto now = options;
  now.batch_size = static_cast<Index>(std::clamp<Offset>(samples.size(), 1, options.batch_size));
  auto const laid_out = lay_out<ExecutionSpace>(plan);
  require_fit<Value>(circuit, laid_out, now.batch_size, options.max_bytes, soft_categories(plan, samples));
  Likelihoods result;
  auto const uncertain =
      detail::likelihoods_by_batch<Value>(exec, laid_out, parameters, samples, now, result.log_likelihood);
  auto const exact =
      exact_log_likelihoods(exec, circuit, plan, parameters, samples, uncertain, detail::exact_share(now.batch_size));
  for (std::size_t i = 0; i < uncertain.size(); ++i)
    result.log_likelihood[static_cast<std::size_t>(uncertain[i])] = exact[i];
  result.recomputed = std::ssize(uncertain);
  return result;
}

}  // namespace hornbill::circuit

#define HORNBILL_INSTANTIATE_CIRCUIT_PLANS(PREFIX, SPACE)                                                         \
  PREFIX template HostPlan lay_out<SPACE>(HostPlan);                                                              \
  PREFIX template Plan<SPACE::memory_space> make_plan<SPACE>(SPACE const&, HostPlan);                             \
  PREFIX template std::vector<double> exact_log_likelihoods<SPACE>(SPACE const&, Circuit const&, HostPlan const&, \
                                                                   Parameters const&, Samples const&,             \
                                                                   std::vector<Offset> const&, Index);
#define HORNBILL_INSTANTIATE_CIRCUIT(PREFIX, SPACE, VALUE)                                                       \
  PREFIX template DeviceParameters<VALUE, SPACE::memory_space> to_device<VALUE, SPACE>(                          \
      SPACE const&, Plan<SPACE::memory_space> const&, Parameters const&);                                        \
  PREFIX template State<VALUE, SPACE::memory_space> make_state<VALUE, SPACE>(                                    \
      SPACE const&, Plan<SPACE::memory_space> const&, Index, std::size_t);                                       \
  PREFIX template void observe<VALUE, SPACE>(SPACE const&, Plan<SPACE::memory_space> const&,                     \
                                             State<VALUE, SPACE::memory_space>&, Samples const&, Offset, Index); \
  PREFIX template void observe<VALUE, SPACE>(SPACE const&, Plan<SPACE::memory_space> const&,                     \
                                             State<VALUE, SPACE::memory_space>&, Samples const&,                 \
                                             std::vector<Offset> const&);                                        \
  PREFIX template Parameters to_host<VALUE, SPACE>(SPACE const&, Plan<SPACE::memory_space> const&,               \
                                                   DeviceParameters<VALUE, SPACE::memory_space> const&);         \
  PREFIX template void forward<VALUE, SPACE>(SPACE const&, Plan<SPACE::memory_space> const&,                     \
                                             DeviceParameters<VALUE, SPACE::memory_space> const&,                \
                                             State<VALUE, SPACE::memory_space>&);                                \
  PREFIX template Likelihoods log_likelihoods<VALUE, SPACE>(                                                     \
      SPACE const&, Circuit const&, HostPlan const&, Parameters const&, Samples const&, EvaluateOptions const&);

namespace hornbill::circuit {
HORNBILL_EXTERN(HORNBILL_FOR_PLANS, HORNBILL_INSTANTIATE_CIRCUIT_PLANS)
HORNBILL_EXTERN(HORNBILL_FOR_REALS, HORNBILL_INSTANTIATE_CIRCUIT)
}  // namespace hornbill::circuit
