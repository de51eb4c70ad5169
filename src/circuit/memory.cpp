#include <algorithm>
#include <type_traits>

#include <fmt/format.h>

#include <hornbill/circuit/detail/batch.hpp>
#include <hornbill/circuit/detail/scaled.hpp>
#include <hornbill/circuit/distributions.hpp>
#include <hornbill/circuit/memory.hpp>
#include <hornbill/circuit/properties.hpp>
#include <hornbill/circuit/training.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace {

template <class T>
std::size_t bytes_of(std::vector<T> const& values) {
  return values.size() * sizeof(T);
}

std::size_t entries_of(Offset rows, Index batch_size) {
  return static_cast<std::size_t>(rows) * static_cast<std::size_t>(detail::stride_of(batch_size));
}

/// Of a tile's planes.
std::size_t bytes_of_planes(HostPlan const& plan) {
  return sizeof(std::uint16_t) * static_cast<std::size_t>(detail::num_planes(plan)) * tile_size * tile_size;
}

/// Of columns for matrix units.   \param of_sample  beside planes and exponents
std::size_t bytes_of_columns(HostPlan const& plan, Index count, Index batch_size, std::size_t of_sample) {
  auto const blocks = static_cast<std::size_t>(count) * static_cast<std::size_t>(detail::blocks_of(batch_size));
  return bytes_of_planes(plan) * blocks + (sizeof(Exponent) + of_sample) * entries_of(count, batch_size);
}

std::size_t bytes_of_weight_tile(HostPlan const& plan) {
  return bytes_of_planes(plan) + sizeof(Exponent) + sizeof(float);
}

/// Whether they do Values.
template <class Value>
constexpr bool has_planes = std::is_same_v<Value, float>;

std::size_t bytes_of_soft(Offset soft_categories, Index batch_size) {
  return sizeof(double) * entries_of(soft_categories, batch_size);
}

}  // namespace

template <class Value>
std::size_t bytes_of_state(HostPlan const& plan, Index batch_size) {
  auto const tiles = std::ssize(plan.tiles);
  return sizeof(Value) * entries_of(plan.num_rows + 2 * tiles, batch_size) +
         sizeof(Exponent) * entries_of(tiles, batch_size) +
         sizeof(double) * entries_of(Offset{plan.num_variables} + 1, batch_size) + entries_of(1, batch_size) +
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

std::size_t bytes_of_plan(HostFlowPlan const& plan) {
  return bytes_of(plan.terms) + bytes_of(plan.term_offsets) + bytes_of(plan.term_segments) + bytes_of(plan.own_rows) +
         bytes_of(plan.writes) + bytes_of(plan.gathers) + bytes_of(plan.sources) + bytes_of(plan.unused_rows) +
         bytes_of(plan.parameter_tiles) + bytes_of(plan.parameter_uses) + bytes_of(plan.input_statistics) +
         bytes_of(plan.input_uses) + bytes_of(plan.dense.product_offsets) + bytes_of(plan.dense.products) +
         bytes_of(plan.dense.sums) + bytes_of(plan.dense.terms) + bytes_of(plan.dense.parameters) +
         bytes_of(plan.dense.uses) + bytes_of(plan.dense.strips);
}

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
  auto const bytes = sizeof(Value) * entries_of(Offset{plan.num_rows} + flow_plan.num_own_rows, batch_size) +
                     sizeof(Index) * entries_of(1, batch_size);
  if (!has_planes<Value>) return bytes;
  auto const& dense = flow_plan.dense;
  return bytes + bytes_of_columns(plan, dense.max_sums, batch_size, 0) +
         bytes_of_columns(plan, dense.max_terms, batch_size, 0) +
         (sizeof(float) * tile_size + sizeof(Exponent)) * entries_of(dense.max_outputs, batch_size) +
         sizeof(unsigned) * static_cast<std::size_t>(dense.max_parameters);
}
template std::size_t bytes_of_flow_state<float>(HostPlan const&, HostFlowPlan const&, Index);
template std::size_t bytes_of_flow_state<double>(HostPlan const&, HostFlowPlan const&, Index);

std::size_t bytes_of_flows(HostPlan const& plan, HostFlowPlan const& flow_plan) {
  return sizeof(double) *
         static_cast<std::size_t>(plan.num_sum_parameters + flow_plan.num_statistics + flow_plan.num_input_nodes);
}

Offset soft_categories(HostPlan const& plan, Samples const& samples) {
  if (samples.num_variables != plan.num_variables)
    throw ShapeError("variables of samples", static_cast<std::size_t>(plan.num_variables),
                     static_cast<std::size_t>(samples.num_variables));
  Offset result = 0;
  for (auto const& soft : samples.soft) result += plan.variable_categories[static_cast<std::size_t>(soft.variable)];
  return result;
}

namespace {

std::size_t samples_of_exact_pass(Circuit const& circuit, Index batch_size) {
  return detail::exact_batch(circuit, static_cast<std::size_t>(detail::exact_share(batch_size)));
}

/// Of an ExactPass: a circuit as it is, and an exponent for each of its nodes.
std::size_t bytes_of_exact_pass(Circuit const& circuit, HostPlan const& plan, Index batch_size,
                                Offset soft_categories) {
  auto const samples = samples_of_exact_pass(circuit, batch_size);
  auto const nodes = static_cast<std::size_t>(circuit.num_nodes());
  std::size_t rows = 0;
  for (auto const& block : circuit.blocks) rows += static_cast<std::size_t>(block.rows);
  auto const of_sample = sizeof(detail::Scaled) * nodes +
                         sizeof(double) * static_cast<std::size_t>(Offset{plan.num_variables} + soft_categories);
  return bytes_of(plan.inputs) + bytes_of(circuit.factors) + bytes_of(circuit.factor_children) +
         bytes_of(circuit.blocks) + sizeof(Offset) * (nodes + 1) + sizeof(Index) * rows +
         sizeof(double) * static_cast<std::size_t>(plan.num_sum_parameters + plan.num_categorical + plan.num_scalars) +
         sizeof(Offset) * static_cast<std::size_t>(plan.num_variables) + of_sample * samples;
}

/// Of add_exact_flows() beside that.
std::size_t bytes_of_exact_flows(Circuit const& circuit, HostPlan const& plan, Index batch_size) {
  auto const samples = samples_of_exact_pass(circuit, batch_size);
  std::size_t inputs = 0;
  for (auto const& nodes : circuit.vectors)
    if (nodes.kind == NodeKind::input) inputs += static_cast<std::size_t>(nodes.size);
  return sizeof(Index) * (inputs + samples) + sizeof(double) * inputs * samples +
         sizeof(double) * std::min(detail::exact_flows_at_a_time, static_cast<std::size_t>(plan.num_sum_parameters));
}

std::size_t bytes_of_distributions(Circuit const& circuit) {
  auto const [distributions, ranges] = sum_distributions(circuit);
  return bytes_of(distributions) + bytes_of(ranges);
}

template <class Value>
std::size_t bytes_of_training_flows(HostPlan const& plan, HostFlowPlan const& flow_plan,
                                    TrainingOptions const& options) {
  auto const momentum = sizeof(double) * static_cast<std::size_t>(plan.num_sum_parameters + flow_plan.num_statistics);
  return bytes_of_flow_state<Value>(plan, flow_plan, options.batch_size) + bytes_of_flows(plan, flow_plan) +
         sizeof(Value) * static_cast<std::size_t>(options.batch_size) +  // weights of samples
         (options.update == Update::anemone ? momentum : 0);
}

}  // namespace

template <class Value>
MemoryEstimate estimate(Circuit const& circuit, HostPlan const& plan, Index batch_size, Offset soft_categories) {
  MemoryEstimate result{.plan = bytes_of_plan(plan),
                        .parameters = bytes_of_parameters<Value>(plan),
                        .values = bytes_of_state<Value>(plan, batch_size) + bytes_of_soft(soft_categories, batch_size),
                        .exact = bytes_of_exact_pass(circuit, plan, batch_size, soft_categories)};
  result.peak = std::max(result.plan + result.parameters + result.values, result.exact);
  return result;
}
template MemoryEstimate estimate<float>(Circuit const&, HostPlan const&, Index, Offset);
template MemoryEstimate estimate<double>(Circuit const&, HostPlan const&, Index, Offset);

namespace {

template <class Value>
MemoryEstimate estimate_training(Circuit const& circuit, HostPlan const& plan, HostFlowPlan const& flow_plan,
                                 TrainingOptions const& options, Offset soft_categories, std::size_t distributions) {
  auto result = estimate<Value>(circuit, plan, options.batch_size, soft_categories);
  result.plan += bytes_of_plan(flow_plan);
  result.flows = bytes_of_training_flows<Value>(plan, flow_plan, options) + distributions;
  result.exact += bytes_of_exact_flows(circuit, plan, options.batch_size);
  result.peak = result.plan + result.parameters + result.values + result.flows + result.exact;
  return result;
}

}  // namespace

template <class Value>
MemoryEstimate estimate(Circuit const& circuit, HostPlan const& plan, HostFlowPlan const& flow_plan,
                        TrainingOptions const& options, Offset soft_categories) {
  return estimate_training<Value>(circuit, plan, flow_plan, options, soft_categories, bytes_of_distributions(circuit));
}
template MemoryEstimate estimate<float>(Circuit const&, HostPlan const&, HostFlowPlan const&, TrainingOptions const&,
                                        Offset);
template MemoryEstimate estimate<double>(Circuit const&, HostPlan const&, HostFlowPlan const&, TrainingOptions const&,
                                         Offset);

namespace {

/// \param bytes_of  a function of the batch size, which does not fall
template <class BytesOf>
void require_room(Index batch_size, std::size_t available, BytesOf const& bytes_of) {
  auto const needed = bytes_of(batch_size);
  if (needed <= available) return;
  auto const smallest = bytes_of(1);
  auto const message = fmt::format("a batch of {} {} needs {} bytes, and {} are there", batch_size,
                                   batch_size == 1 ? "sample" : "samples", needed, available);
  if (smallest > available) throw CapacityError(fmt::format("{}; even one sample needs {}", message, smallest));
  Index fitting = 1, refused = batch_size;
  while (refused - fitting > 1) {
    Index const middle = fitting + (refused - fitting) / 2;
    (bytes_of(middle) <= available ? fitting : refused) = middle;
  }
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
void require_fit(Circuit const& circuit, HostPlan const& plan, Index batch_size, std::size_t available,
                 Offset soft_categories) {
  require_room(batch_size, available,
               [&](Index size) { return estimate<Value>(circuit, plan, size, soft_categories).peak; });
}
template void require_fit<float>(Circuit const&, HostPlan const&, Index, std::size_t, Offset);
template void require_fit<double>(Circuit const&, HostPlan const&, Index, std::size_t, Offset);

template <class Value>
void require_fit(Circuit const& circuit, HostPlan const& plan, HostFlowPlan const& flow_plan,
                 TrainingOptions const& options, Offset soft_categories) {
  auto const distributions = bytes_of_distributions(circuit);
  require_room(options.batch_size, options.max_bytes, [&](Index size) {
    auto of_size = options;
    of_size.batch_size = size;
    return estimate_training<Value>(circuit, plan, flow_plan, of_size, soft_categories, distributions).peak;
  });
}
template void require_fit<float>(Circuit const&, HostPlan const&, HostFlowPlan const&, TrainingOptions const&, Offset);
template void require_fit<double>(Circuit const&, HostPlan const&, HostFlowPlan const&, TrainingOptions const&, Offset);

}  // namespace hornbill::circuit
