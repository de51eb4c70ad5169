// Batches of samples, and the memory that they take.
#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <hornbill/circuit/detail/batch.hpp>
#include <hornbill/circuit/training.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace detail {

BatchRows by_variable(HostPlan const& plan, Samples const& samples, std::vector<Offset> const& which, Offset stride) {
  auto const variables = static_cast<std::size_t>(plan.num_variables), width = static_cast<std::size_t>(stride);
  BatchRows rows{std::vector<double>(variables * width), std::vector<Offset>(variables, -1), {}};
  for (std::size_t s = 0; s < which.size(); ++s)
    for (std::size_t v = 0; v < variables; ++v)
      rows.values[v * width + s] = samples.value(which[s], static_cast<Index>(v));
  for (auto const& [variable, likelihoods] : samples.soft) {
    auto const categories = static_cast<std::size_t>(plan.variable_categories[static_cast<std::size_t>(variable)]);
    auto const first = rows.soft.size();
    rows.soft_offsets[static_cast<std::size_t>(variable)] = static_cast<Offset>(first / width);
    rows.soft.resize(first + categories * width);
    for (std::size_t s = 0; s < which.size(); ++s)
      for (std::size_t c = 0; c < categories; ++c)
        rows.soft[first + c * width + s] = likelihoods[static_cast<std::size_t>(which[s]) * categories + c];
  }
  return rows;
}

std::size_t exact_batch(Circuit const& circuit, std::size_t wanted) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30, bytes_of_value = 16;
  auto const fitting = most_bytes / bytes_of_value / static_cast<std::size_t>(circuit.num_nodes());
  return std::max<std::size_t>(1, std::min(wanted, fitting));
}

UnitWeights unit_weights(std::vector<double> const& weights, Index num_samples) {
  auto const count = static_cast<std::size_t>(num_samples);
  if (weights.empty()) return {std::vector<double>(count, 1), 1};
  if (weights.size() != count) throw ShapeError("weights of samples", count, weights.size());
  double const largest = std::ranges::max(weights);
  if (largest == 0) return {weights, 1};
  UnitWeights result{weights, largest};
  for (double& weight : result.weights) weight /= largest;
  return result;
}

}  // namespace detail

namespace {

template <class T>
std::size_t bytes_of(std::vector<T> const& values) {
  return values.size() * sizeof(T);
}

/// Of a tile's planes.
std::size_t bytes_of_planes(HostPlan const& plan) {
  return sizeof(std::uint16_t) * static_cast<std::size_t>(detail::num_planes(plan)) * tile_size * tile_size;
}

/// Of columns for matrix units.   \param of_sample  beside planes and exponents
std::size_t bytes_of_columns(HostPlan const& plan, Index count, Index batch_size, std::size_t of_sample) {
  return static_cast<std::size_t>(count) *
         (bytes_of_planes(plan) * static_cast<std::size_t>(detail::blocks_of(batch_size)) +
          (sizeof(Exponent) + of_sample) * static_cast<std::size_t>(detail::stride_of(batch_size)));
}

/// Whether they do Values.
template <class Value>
constexpr bool has_planes = std::is_same_v<Value, float>;

/// Of each of a state's samples.
template <class Value>
std::size_t bytes_of_sample(HostPlan const& plan) {
  auto const tiles = plan.tiles.size();
  return sizeof(Value) * (static_cast<std::size_t>(plan.num_rows) + 2 * tiles) + sizeof(Exponent) * tiles +
         sizeof(double) * (static_cast<std::size_t>(plan.num_variables) + 1) + 1;
}

}  // namespace

template <class Value>
std::size_t bytes_of_state(HostPlan const& plan, Index batch_size) {
  return bytes_of_sample<Value>(plan) * static_cast<std::size_t>(detail::stride_of(batch_size)) +
         sizeof(Offset) * static_cast<std::size_t>(plan.num_variables) +
         (has_planes<Value> ? bytes_of_columns(plan, plan.dense.max_terms, batch_size, 2 * sizeof(float)) : 0);
}
template std::size_t bytes_of_state<float>(HostPlan const&, Index);
template std::size_t bytes_of_state<double>(HostPlan const&, Index);

std::size_t bytes_of_plan(HostPlan const& plan) {
  return bytes_of(plan.tiles) + bytes_of(plan.tile_of_row) + bytes_of(plan.inputs) + bytes_of(plan.input_tiles) +
         bytes_of(plan.product_tiles) + bytes_of(plan.row_factors) + bytes_of(plan.factor_rows) + bytes_of(plan.terms) +
         bytes_of(plan.term_factors) + bytes_of(plan.sum_tiles) + bytes_of(plan.segment_offsets) +
         bytes_of(plan.segments) + bytes_of(plan.dense.weight_tiles) + bytes_of(plan.dense.terms) +
         bytes_of(plan.dense.product_offsets) + bytes_of(plan.dense.products);
}

namespace {
std::size_t bytes_of_weight_tile(HostPlan const& plan) {
  return bytes_of_planes(plan) + sizeof(Exponent) + sizeof(float);
}
}  // namespace

template <class Value>
std::size_t bytes_of_parameters(HostPlan const& plan) {
  return sizeof(Value) * static_cast<std::size_t>(plan.num_sum_parameters + plan.num_categorical) +
         sizeof(double) * static_cast<std::size_t>(plan.num_scalars) +
         (has_planes<Value> ? plan.dense.weight_tiles.size() * bytes_of_weight_tile(plan) : 0);
}
template std::size_t bytes_of_parameters<float>(HostPlan const&);
template std::size_t bytes_of_parameters<double>(HostPlan const&);

template <class Value>
std::size_t bytes_of_flow_state(HostPlan const& plan, HostFlowPlan const& flow_plan, Index batch_size) {
  auto const rows = static_cast<std::size_t>(plan.num_rows) + static_cast<std::size_t>(flow_plan.num_own_rows);
  auto const bytes = (sizeof(Value) * rows + sizeof(Index)) * static_cast<std::size_t>(detail::stride_of(batch_size));
  if (!has_planes<Value>) return bytes;
  auto const& dense = flow_plan.dense;
  auto const of_output = sizeof(float) * tile_size + sizeof(Exponent);
  return bytes + bytes_of_columns(plan, dense.max_sums, batch_size, 0) +
         bytes_of_columns(plan, dense.max_terms, batch_size, 0) +
         of_output * static_cast<std::size_t>(dense.max_outputs) *
             static_cast<std::size_t>(detail::stride_of(batch_size));
}
template std::size_t bytes_of_flow_state<float>(HostPlan const&, HostFlowPlan const&, Index);
template std::size_t bytes_of_flow_state<double>(HostPlan const&, HostFlowPlan const&, Index);

std::size_t bytes_of_plan(HostFlowPlan const& plan) {
  return bytes_of(plan.terms) + bytes_of(plan.term_offsets) + bytes_of(plan.term_segments) + bytes_of(plan.own_rows) +
         bytes_of(plan.writes) + bytes_of(plan.gathers) + bytes_of(plan.sources) + bytes_of(plan.unused_rows) +
         bytes_of(plan.parameter_tiles) + bytes_of(plan.parameter_uses) + bytes_of(plan.input_statistics) +
         bytes_of(plan.input_uses) + bytes_of(plan.dense.product_offsets) + bytes_of(plan.dense.products) +
         bytes_of(plan.dense.sums) + bytes_of(plan.dense.terms) + bytes_of(plan.dense.parameters) +
         bytes_of(plan.dense.uses);
}

std::size_t bytes_of_flows(HostPlan const& plan, HostFlowPlan const& flow_plan) {
  return sizeof(double) *
         static_cast<std::size_t>(plan.num_sum_parameters + flow_plan.num_statistics + flow_plan.num_input_nodes);
}

template <class Value>
std::size_t bytes_of_training(HostPlan const& plan, HostFlowPlan const& flow_plan, TrainingOptions const& options) {
  auto const momentum = static_cast<std::size_t>(plan.num_sum_parameters + flow_plan.num_statistics) * sizeof(double);
  return bytes_of_state<Value>(plan, options.batch_size) +
         bytes_of_flow_state<Value>(plan, flow_plan, options.batch_size) + bytes_of_flows(plan, flow_plan) +
         bytes_of_plan(flow_plan) + (options.update == Update::anemone ? momentum : 0);
}
template std::size_t bytes_of_training<float>(HostPlan const&, HostFlowPlan const&, TrainingOptions const&);
template std::size_t bytes_of_training<double>(HostPlan const&, HostFlowPlan const&, TrainingOptions const&);

namespace {

/// \param bytes_of  a function of the batch size
template <class BytesOf>
void require_room(Index batch_size, std::size_t available, BytesOf const& bytes_of) {
  auto const needed = bytes_of(batch_size);
  if (needed <= available) return;
  auto const smallest = bytes_of(1);
  auto const message =
      fmt::format("a batch of {} samples needs {} bytes, and {} are there", batch_size, needed, available);
  if (smallest > available) throw CapacityError(fmt::format("{}; even one sample needs {}", message, smallest));
  Offset fitting = detail::stride_unit;
  while (bytes_of(static_cast<Index>(fitting + detail::stride_unit)) <= available) fitting += detail::stride_unit;
  throw CapacityError(fmt::format("{}; a batch size of {} fits", message, fitting));
}

}  // namespace

template <class Value>
void require_fit(HostPlan const& plan, Index batch_size, std::size_t available) {
  require_room(batch_size, available, [&](Index size) { return bytes_of_state<Value>(plan, size); });
}
template void require_fit<float>(HostPlan const&, Index, std::size_t);
template void require_fit<double>(HostPlan const&, Index, std::size_t);

template <class Value>
void require_fit(HostPlan const& plan, HostFlowPlan const& flow_plan, TrainingOptions const& options) {
  require_room(options.batch_size, options.max_bytes, [&](Index size) {
    auto of_size = options;
    of_size.batch_size = size;
    return bytes_of_training<Value>(plan, flow_plan, of_size);
  });
}
template void require_fit<float>(HostPlan const&, HostFlowPlan const&, TrainingOptions const&);
template void require_fit<double>(HostPlan const&, HostFlowPlan const&, TrainingOptions const&);

namespace {

[[noreturn]] void refuse_state(char const* member, std::string const& why) {
  throw InputError("training", member, why);
}

void require_momentum(char const* name, std::vector<double> const& momentum, Offset size, bool is_wanted) {
  auto const wanted = is_wanted ? static_cast<std::size_t>(size) : 0;
  if (momentum.size() != wanted)
    refuse_state(name, fmt::format("has {} entries; {} are needed", momentum.size(), wanted));
}

void require_positive(char const* name, std::vector<double> const& values, std::size_t i) {
  if (!(values[i] >= 0)) refuse_state(name, fmt::format("entry {} is {}; it must be at least 0", i, values[i]));
}

}  // namespace

void validate(TrainingState const& state, TrainingOptions const& options, Offset num_batches, HostPlan const& plan,
              HostFlowPlan const& flow_plan) {
  constexpr Offset most = Offset{1} << 52;
  for (auto const& [name, count] : {std::pair("epoch", state.epoch), std::pair("updates", state.updates)})
    if (count < 0 || count > most) refuse_state(name, fmt::format("is {}; it must be from 0 to {}", count, most));
  Offset const at_a_time = options.update == Update::full_batch ? num_batches : options.batches_per_update;
  if (state.batch < 0 || state.batch >= num_batches || state.batch % at_a_time != 0)
    refuse_state("batch", fmt::format("is {}; an epoch has {}, and updates are behind {} of them", state.batch,
                                      num_batches, at_a_time));
  auto const& sums = state.sums;
  bool const is_sound = sums.weight >= 0 && sums.impossible >= 0 && sums.recomputed >= 0 &&
                        sums.impossible <= sums.samples && sums.recomputed <= sums.samples && sums.samples <= most;
  if (!is_sound) refuse_state("sums", "are of no samples that can be");
  bool const has_momentum = options.update == Update::anemone && !state.sum_momentum.empty();
  if (options.update == Update::anemone && state.updates > 0 && state.sum_momentum.empty() &&
      plan.num_sum_parameters > 0)
    refuse_state("sum_momentum", fmt::format("has no entries after {} updates", state.updates));
  require_momentum("sum_momentum", state.sum_momentum, plan.num_sum_parameters, has_momentum);
  require_momentum("input_momentum", state.input_momentum, flow_plan.num_statistics, has_momentum);
  for (std::size_t i = 0; i < state.sum_momentum.size(); ++i) require_positive("sum_momentum", state.sum_momentum, i);
  for (auto const& group : flow_plan.input_statistics) {
    auto const& input = plan.inputs[static_cast<std::size_t>(group.distributions)];
    for (Index c = 0; has_momentum && c < num_statistics(input.kind, input.num_categories); ++c)
      for (Index i = group.first; i < group.first + group.size; ++i)
        if (input.kind != InputKind::gaussian || c != 1)  // a first moment may be negative
          require_positive("input_momentum", state.input_momentum,
                           static_cast<std::size_t>(group.statistics + Offset{c} * input.size + i));
  }
}

}  // namespace hornbill::circuit
