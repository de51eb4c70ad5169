// Epochs, batches and updates.
#pragma once

#include <algorithm>
#include <numeric>

#include <hornbill/circuit/detail/matrix_units.hpp>
#include <hornbill/circuit/training.hpp>

namespace hornbill::circuit::detail {

/// momentum <- m momentum + (1 - m) flow / weight;  flow <- step momentum / (1 - m^updates).
template <class MemorySpace>
struct FollowMomentum {
  Kokkos::View<double*, MemorySpace> flows, momentum;
  double kept, added, step;

  KOKKOS_FUNCTION void operator()(Offset i) const {
    momentum(i) = kept * momentum(i) + added * flows(i);
    flows(i) = step * momentum(i);
  }
};

/// Parameters that Values can hold.
template <class Value>
Parameters rounded_parameters(HostPlan const& plan, Parameters parameters) {
  for (double& parameter : parameters.sum) parameter = static_cast<double>(rounded_parameter<Value>(parameter));
  for (auto const& of : plan.input_parameters) {
    auto const first = parameters.input.begin() + of.host;
    for (auto p = first; of.is_categorical && p != first + Offset{of.nodes} * of.each; ++p)
      *p = static_cast<double>(rounded_parameter<Value>(*p));
  }
  return parameters;
}

}  // namespace hornbill::circuit::detail

namespace hornbill::circuit {

template <class Value, class ExecutionSpace>
Trainer<Value, ExecutionSpace>::Trainer(ExecutionSpace const& exec, Circuit const& circuit, HostPlan const& plan,
                                        Samples const& samples, std::vector<double> weights,
                                        TrainingOptions const& options, TrainingState start)
    : exec_(exec),
      circuit_(circuit),
      samples_(samples),
      weights_(std::move(weights)),
      options_(options),
      state_(std::move(start)),
      nothing_{circuit.num_variables, std::vector<double>(static_cast<std::size_t>(circuit.num_variables), missing)} {
  using hornbill::detail::to_view;
  validate(options);
  options_.batch_size = static_cast<Index>(std::clamp<Offset>(samples.size(), 1, options.batch_size));
  if (!weights_.empty() && std::ssize(weights_) != samples.size())
    throw ShapeError("weights of samples", static_cast<std::size_t>(samples.size()), weights_.size());
  total_weight_ =
      weights_.empty() ? static_cast<double>(samples.size()) : std::accumulate(weights_.begin(), weights_.end(), 0.0);
  if (!(total_weight_ > 0)) throw InputError("training", "samples", "there are none with a weight");
  if (std::isinf(total_weight_)) throw InputError("training", "weights", "add to more than a number can hold");
  auto laid_out = lay_out<ExecutionSpace>(plan);
  auto host_flow_plan = make_flow_plan(laid_out);
  validate(state_, options_, num_batches(), plan, host_flow_plan);
  require_fit<Value>(circuit, laid_out, host_flow_plan, options_, soft_categories(plan, samples));
  plan_ = make_plan(exec, std::move(laid_out));
  flow_plan_ = make_flow_plan(exec, std::move(host_flow_plan));
  distributions_ = make_distributions(exec, sum_distributions(circuit));
  parameters_ = to_device<Value>(exec, plan_, detail::rounded_parameters<Value>(plan, std::move(state_.parameters)));
  state_.parameters = {};
  batch_ = make_state<Value>(exec, plan_, options_.batch_size);
  batch_flows_ = make_flow_state(exec, plan_, flow_plan_, batch_);
  flows_ = make_flows(exec, plan_, flow_plan_);
  if (options.update != Update::anemone) return;
  auto const momentum = [&](char const* name, std::vector<double>& known, std::size_t count) {
    known.resize(count);
    auto view = to_view<double, MemorySpace>(exec, name, known);
    known = {};
    return view;
  };
  sum_momentum_ = momentum("hornbill::circuit::sum_momentum", state_.sum_momentum, flows_.sum.extent(0));
  input_momentum_ = momentum("hornbill::circuit::input_momentum", state_.input_momentum, flows_.input.extent(0));
}

template <class Value, class ExecutionSpace>
bool Trainer<Value, ExecutionSpace>::update(std::function<void()> const& after_batch) {
  Kokkos::deep_copy(exec_, flows_.sum, 0);
  Kokkos::deep_copy(exec_, flows_.input, 0);
  Kokkos::deep_copy(exec_, flows_.input_nodes, 0);
  if (order_.empty()) order_ = order_of(options_, samples_.size(), state_.epoch);
  Offset const batches = num_batches();
  Offset const last =
      options_.update == Update::full_batch ? batches : std::min(batches, state_.batch + options_.batches_per_update);
  double const weight_before = state_.sums.weight;
  for (; state_.batch < last; ++state_.batch) {
    add_batch(detail::part_of(order_, static_cast<std::size_t>(state_.batch * options_.batch_size),
                              static_cast<std::size_t>(options_.batch_size)));
    if (after_batch) after_batch();
  }
  learn(state_.sums.weight - weight_before);
  if (state_.batch < batches) return false;
  finished_ = std::exchange(state_.sums, {});
  state_.batch = 0;
  ++state_.epoch;
  order_.clear();
  return true;
}

/// Values and flows of the batch, without matrix units where these are not certain of a sample.
/// \return the plan to go on with
template <class Value, class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> const& Trainer<Value, ExecutionSpace>::pass_both_ways() {
  auto const* plan = &plan_;
  forward(exec_, plan_, parameters_, batch_);
  if (std::is_same_v<Value, float> && !plan_.host.dense.layers.empty()) {
    auto const is_certain = hornbill::detail::to_vector(exec_, batch_.is_certain);
    auto const end = is_certain.begin() + batch_.num_samples;
    if (std::find(is_certain.begin(), end, 0) != end) {
      if (!plain_plan_) plain_plan_ = detail::without_matrix_units(plan_);
      plan = &*plain_plan_;
      forward(exec_, *plan, parameters_, batch_);
    }
  }
  backward(exec_, *plan, flow_plan_, parameters_, batch_, batch_flows_);
  return *plan;
}

template <class Value, class ExecutionSpace>
void Trainer<Value, ExecutionSpace>::add_batch(std::vector<Offset> const& which) {
  observe(exec_, plan_, batch_, samples_, which);
  auto const& plan = pass_both_ways();
  auto const is_certain = hornbill::detail::to_vector(exec_, batch_.is_certain);
  auto logs = hornbill::detail::to_vector(exec_, batch_.log_likelihood);
  auto const is_known = hornbill::detail::to_vector(exec_, batch_flows_.is_known);
  std::vector<double> weights;
  std::vector<Offset> unknown;
  std::vector<Index> places;
  for (std::size_t i = 0; i < which.size(); ++i) {
    if (!weights_.empty()) weights.push_back(weights_[static_cast<std::size_t>(which[i])]);
    if (is_known[i] != 0 || (is_certain[i] != 0 && std::isinf(logs[i]))) continue;
    unknown.push_back(which[i]);
    places.push_back(static_cast<Index>(i));
  }
  if (!unknown.empty()) {
    auto const exact = add_exact_flows(exec_, circuit_, plan_, to_host(exec_, plan_, parameters_), batch_, batch_flows_,
                                       samples_, unknown, places, weights, flows_);
    for (std::size_t i = 0; i < places.size(); ++i) logs[static_cast<std::size_t>(places[i])] = exact[i];
  }
  add_flows(exec_, plan, flow_plan_, parameters_, batch_, batch_flows_, weights, flows_);
  for (std::size_t i = 0; i < which.size(); ++i) {
    double const weight = weights.empty() ? 1 : weights[i];
    if (std::isinf(logs[i])) ++state_.sums.impossible;
    if (std::isinf(logs[i]) || weight == 0) continue;
    state_.sums.log_likelihood += weight * logs[i];
    state_.sums.weight += weight;
  }
  state_.sums.samples += std::ssize(which);
  state_.sums.recomputed += std::ssize(unknown);
}

template <class Value, class ExecutionSpace>
void Trainer<Value, ExecutionSpace>::learn(double weight) {
  if (weight == 0) return;  // nothing was seen
  ++state_.updates;
  double const step_size = step_size_of(options_, state_.epoch), share = options_.pseudocount / total_weight_;
  EmOptions options{step_size, share * weight, options_.keep_zeros};
  if (options_.update == Update::anemone) {
    follow_momentum(weight);
    options.step_size = 1;
    options.pseudocount = share * step_size;
    em_step(exec_, plan_, flow_plan_, distributions_, flows_, flows_.input_nodes, input_momentum_, options,
            parameters_);
    return;
  }
  if (options_.update == Update::full_batch) options.pseudocount = options_.pseudocount;
  em_step<Value>(exec_, plan_, flow_plan_, distributions_, flows_, {}, {}, options, parameters_);
}

/// Makes flows those of all updates so far, and adds what circuits expect without evidence.
template <class Value, class ExecutionSpace>
void Trainer<Value, ExecutionSpace>::follow_momentum(double weight) {
  double const step = step_size_of(options_, state_.epoch), kept = options_.momentum;
  double const corrected = step / (1 - std::pow(kept, static_cast<double>(state_.updates)));
  auto const follow = [&](Kokkos::View<double*, MemorySpace> const& flows,
                          Kokkos::View<double*, MemorySpace> const& momentum) {
    Kokkos::parallel_for("hornbill::circuit::follow_momentum",
                         detail::Items<ExecutionSpace>(exec_, 0, std::ssize(flows)),
                         detail::FollowMomentum<MemorySpace>{flows, momentum, kept, (1 - kept) / weight, corrected});
  };
  follow(flows_.sum, sum_momentum_);
  follow(flows_.input, input_momentum_);
  Kokkos::deep_copy(exec_, flows_.input_nodes, 0);
  observe(exec_, plan_, batch_, nothing_, 0, 1);
  auto const& plan = pass_both_ways();
  add_flows(exec_, plan, flow_plan_, parameters_, batch_, batch_flows_, {1 - step}, flows_);
}

template <class Value, class ExecutionSpace>
TrainingState Trainer<Value, ExecutionSpace>::state() const {
  auto result = state_;
  result.parameters = to_host(exec_, plan_, parameters_);
  result.sum_momentum = hornbill::detail::to_vector(exec_, sum_momentum_);
  result.input_momentum = hornbill::detail::to_vector(exec_, input_momentum_);
  return result;
}

}  // namespace hornbill::circuit

#define HORNBILL_INSTANTIATE_TRAINER(PREFIX, SPACE, VALUE) PREFIX template class Trainer<VALUE, SPACE>;

namespace hornbill::circuit {
HORNBILL_EXTERN(HORNBILL_FOR_REALS, HORNBILL_INSTANTIATE_TRAINER)
}  // namespace hornbill::circuit
