// Flows on every backend, against the oracle.
#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <numeric>
#include <stdexcept>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/circuit.hpp>
#include <reference/circuit.hpp>

#include "support/cells.hpp"
#include "support/compare.hpp"
#include "support/random_circuits.hpp"

using namespace hornbill;
using circuit::CircuitBuilder, circuit::InputKind, circuit::NodeKind, circuit::Samples;

namespace {

/// Sums of flows, in the order of Parameters; statistics of inputs node by node.
struct SumsOfFlows {
  std::vector<double> sum, input, input_nodes;

  void operator+=(SumsOfFlows const& other) {
    for (auto part : {&SumsOfFlows::sum, &SumsOfFlows::input, &SumsOfFlows::input_nodes}) {
      (this->*part).resize((other.*part).size());
      for (std::size_t i = 0; i < (other.*part).size(); ++i) (this->*part)[i] += (other.*part)[i];
    }
  }
};

/// Probabilities of input nodes' categories.
class InputProbabilities {
 public:
  explicit InputProbabilities(test::RandomCircuit const& made) : made_(made) {}

  double operator()(Index variable, Index node, Index category) {
    auto& log_values = known_[{variable, category}];
    if (log_values.empty()) {
      auto const variables = static_cast<std::size_t>(made_.circuit.num_variables);
      Samples sample{made_.circuit.num_variables, std::vector<double>(variables, circuit::missing)};
      sample.values[static_cast<std::size_t>(variable)] = category;
      log_values = reference::circuit_log_values(made_.circuit, made_.parameters, sample, 0);
    }
    return static_cast<double>(std::exp(log_values[static_cast<std::size_t>(node)]));
  }

 private:
  test::RandomCircuit const& made_;
  std::map<std::pair<Index, Index>, std::vector<long double>> known_;
};

/// How probable the categories of a node's variable are after a sample, or the moments of its value; 0 where it is
/// missing.
std::vector<double> statistics_of(test::RandomCircuit const& made, InputProbabilities& probabilities,
                                  circuit::InputDistributions const& input, Index node, Index first,
                                  Samples const& samples, Offset sample) {
  std::vector<double> result(static_cast<std::size_t>(circuit::num_statistics(input.kind, input.num_categories)));
  auto const categories = static_cast<std::size_t>(input.num_categories);
  for (auto const& soft : samples.soft) {
    if (soft.variable != input.variable) continue;
    double sum = 0;
    for (std::size_t c = 0; c < categories; ++c)
      sum += result[c] = soft.likelihoods[static_cast<std::size_t>(sample) * categories + c] *
                         probabilities(input.variable, node, static_cast<Index>(c));
    for (double& p : result) p /= sum > 0 ? sum : 1;
    return result;
  }
  double const x = samples.value(sample, input.variable);
  if (std::isnan(x)) return result;
  if (input.kind == InputKind::gaussian) {
    double const z = x - made.parameters.input[static_cast<std::size_t>(input.parameter + 2 * (node - first))];
    return {1, z, z * z};
  }
  result[static_cast<std::size_t>(x)] = 1;
  return result;
}

/// Where statistics of an input vector's nodes are, and where their weights are.
circuit::InputStatistics const& place_of(circuit::HostPlan const& plan, circuit::HostFlowPlan const& flow_plan,
                                         std::size_t distributions) {
  auto const& input = plan.inputs[distributions];
  for (auto const& group : flow_plan.input_statistics) {
    auto const& other = plan.inputs[static_cast<std::size_t>(group.distributions)];
    bool const is_categorical = input.kind == InputKind::categorical;
    if (group.first == 0 && other.parameter == input.parameter &&
        is_categorical == (other.kind == InputKind::categorical))
      return group;
  }
  throw std::logic_error("no statistics");
}

SumsOfFlows expected_flows(test::RandomCircuit const& made, InputProbabilities& probabilities,
                           circuit::HostPlan const& plan, circuit::HostFlowPlan const& flow_plan,
                           Samples const& samples, Offset sample, double weight) {
  SumsOfFlows result{std::vector<double>(made.parameters.sum.size()),
                     std::vector<double>(static_cast<std::size_t>(flow_plan.num_statistics)),
                     std::vector<double>(static_cast<std::size_t>(flow_plan.num_input_nodes))};
  auto const log_values = reference::circuit_log_values(made.circuit, made.parameters, samples, sample);
  if (std::isinf(log_values.back())) return result;
  auto const flows = reference::circuit_flows(made.circuit, made.parameters, samples, sample, log_values);
  for (std::size_t i = 0; i < result.sum.size(); ++i) result.sum[i] = weight * static_cast<double>(flows.sum[i]);
  for (auto const& vector : made.circuit.vectors) {
    if (vector.kind != NodeKind::input) continue;
    auto const& input = made.circuit.input_of(vector);
    if (circuit::is_indicator(input.kind)) continue;
    auto const& place = place_of(plan, flow_plan, static_cast<std::size_t>(vector.begin));
    for (Index i = 0; i < vector.size; ++i) {
      double const flow = weight * static_cast<double>(flows.nodes[static_cast<std::size_t>(vector.first + i)]);
      result.input_nodes[static_cast<std::size_t>(place.weights + i)] += flow;
      auto const statistics =
          statistics_of(made, probabilities, input, vector.first + i, vector.first, samples, sample);
      for (std::size_t c = 0; c < statistics.size(); ++c)
        result.input[static_cast<std::size_t>(place.statistics + static_cast<Offset>(c) * vector.size + i)] +=
            flow * statistics[c];
    }
  }
  return result;
}

/// A plan, and memory of batches.
template <class T>
struct Machine {
  using Value = typename T::Value;
  using Memory = typename T::Memory;
  typename T::Exec exec;
  circuit::Plan<Memory> plan;
  circuit::FlowPlan<Memory> flow_plan;
  circuit::DeviceParameters<Value, Memory> parameters;
  circuit::State<Value, Memory> state;
  circuit::FlowState<Value, Memory> flows;

  Machine(test::RandomCircuit const& made, Index batch_size, circuit::PlanOptions options = {})
      : plan(circuit::make_plan(exec, circuit::make_plan(made.circuit, options))),
        flow_plan(circuit::make_flow_plan(exec, circuit::make_flow_plan(plan.host))),
        parameters(circuit::to_device<Value>(exec, plan, made.parameters)),
        state(circuit::make_state<Value>(exec, plan, batch_size)),
        flows(circuit::make_flow_state(exec, plan, flow_plan, state)) {}

  void run(Samples const& samples, Offset first, Index count) {
    Kokkos::deep_copy(exec, flows.rows, std::numeric_limits<Value>::quiet_NaN());  // nothing is to be left from before
    circuit::observe(exec, plan, state, samples, first, count);
    circuit::forward(exec, plan, parameters, state);
    circuit::backward(exec, plan, flow_plan, parameters, state, flows);
  }

  /// Flows of all samples, which must be known if they are not impossible.
  SumsOfFlows sums(Samples const& samples, std::vector<double> const& weights) {
    auto const sums = circuit::make_flows(exec, plan, flow_plan);
    for (Offset first = 0; first < samples.size(); first += state.batch_size) {
      auto const count = static_cast<Index>(std::min<Offset>(state.batch_size, samples.size() - first));
      run(samples, first, count);
      std::vector<double> of_batch;
      if (!weights.empty()) of_batch.assign(weights.begin() + first, weights.begin() + first + count);
      circuit::add_flows(exec, plan, flow_plan, parameters, state, flows, of_batch, sums);
      auto const known = detail::to_vector(exec, flows.is_known);
      auto const logs = detail::to_vector(exec, state.log_likelihood);
      for (std::size_t s = 0; s < static_cast<std::size_t>(count); ++s) CHECK((known[s] == 1) == !std::isinf(logs[s]));
    }
    return {detail::to_vector(exec, sums.sum), detail::to_vector(exec, sums.input),
            detail::to_vector(exec, sums.input_nodes)};
  }
};

std::vector<double> some_weights(Offset count) {
  std::vector<double> weights;
  for (Offset s = 0; s < count; ++s) weights.push_back(s % 4 == 3 ? 0 : 0.25 * static_cast<double>(1 + s % 5));
  return weights;
}

template <class Value>
void check_flows(SumsOfFlows const& actual, SumsOfFlows const& expected, std::string const& what) {
  double const tolerance = std::is_same_v<Value, float> ? 3e-5 : 1e-12;
  test::check_close(actual.sum, expected.sum, tolerance, what + ", sums");
  test::check_close(actual.input, expected.input, tolerance, what + ", inputs");
  test::check_close(actual.input_nodes, expected.input_nodes, tolerance, what + ", input nodes");
}

}  // namespace

TEST_CASE_TEMPLATE("circuit flows: of random circuits", T, HORNBILL_TEST_CELLS) {
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto const made = test::random_circuit(
        seed, 2 + static_cast<Index>(seed % 6),
        {.real_values = seed % 3 == 0, .zeros = seed % 4 == 1 ? 0.4 : 0, .largest_vector = seed % 5 == 4 ? 150 : 5});
    auto const samples = test::random_samples(made.circuit, seed, 1 + seed % 7, seed % 2 == 0);
    auto const weights = seed % 3 == 1 ? some_weights(samples.size()) : std::vector<double>{};
    Machine<T> machine(made, 4, {.max_fused_factors = static_cast<Index>(seed % 4)});
    SumsOfFlows expected;
    InputProbabilities probabilities(made);
    for (Offset s = 0; s < samples.size(); ++s)
      expected += expected_flows(made, probabilities, machine.plan.host, machine.flow_plan.host, samples, s,
                                 weights.empty() ? 1 : weights[static_cast<std::size_t>(s)]);
    check_flows<typename T::Value>(machine.sums(samples, weights), expected, fmt::format("seed {}", seed));
  }
}

TEST_CASE_TEMPLATE("circuit flows: of nodes that nothing uses", T, HORNBILL_TEST_CELLS) {
  // the root has edges to the first tile of the sums alone, and these share their inputs with the others
  CircuitBuilder builder(1);
  auto const inputs = builder.add_inputs(0, InputKind::categorical, 3, 2);
  auto const sums = builder.add_sums(130, {inputs});
  builder.add_sparse_sums(1, {{sums, {{0, 0, 1, 64, 0}}}});
  test::RandomCircuit made{std::move(builder).build(), {}};
  made.parameters = circuit::initial_parameters(made.circuit, 7);
  auto const samples = test::random_samples(made.circuit, 2, 5, false);
  Machine<T> machine(made, 64);
  CHECK(std::ssize(machine.flow_plan.host.unused_rows) == 66);
  SumsOfFlows expected;
  InputProbabilities probabilities(made);
  for (Offset s = 0; s < samples.size(); ++s)
    expected += expected_flows(made, probabilities, machine.plan.host, machine.flow_plan.host, samples, s, 1);
  check_flows<typename T::Value>(machine.sums(samples, {}), expected, "unused nodes");
}

TEST_CASE_TEMPLATE("circuit flows: of tied sums whose children are cut in other places", T, HORNBILL_TEST_CELLS) {
  // Children of the first sums are cut after 64 nodes, those of the second after 44, since that is where a tile of
  // their factors ends; the third have some of the parameters one by one, and the fourth are tied to them.
  constexpr Index size = 80;
  CircuitBuilder builder(2);
  auto const of_first = builder.add_inputs(0, InputKind::categorical, 2, size),
             of_second = builder.add_inputs(1, InputKind::bernoulli, 2, size + 20);
  std::vector<Index> from_first(size), from_twentieth(size);
  std::iota(from_first.begin(), from_first.end(), builder.first_of(of_second));
  std::iota(from_twentieth.begin(), from_twentieth.end(), builder.first_of(of_second) + 20);
  auto const whole = builder.add_listed_products(size, {from_first}),
             part = builder.add_listed_products(size, {from_twentieth});
  auto const sums = builder.add_sums(size, {whole}), tied = builder.add_tied_sums(sums, {part});
  CircuitBuilder::Pattern edges{part, {}};
  for (Index i = 0; i < 3; ++i)
    for (Index c = 0; c < size; ++c) edges.blocks.push_back({i, c, 1, 1, 0});
  auto const single = builder.add_sparse_sums(3, {edges});
  auto const of_some = builder.add_inputs(0, InputKind::categorical, 2, 3);
  builder.add_sums(1, {builder.add_products({of_first, sums}), builder.add_products({of_first, tied}),
                       builder.add_products({of_some, single})});
  test::RandomCircuit made{std::move(builder).build(), {}};
  auto& circuit = made.circuit;
  circuit.factors[0] = {circuit.factor_of(circuit.factors[0], 0)};  // a range, so that it is not stored
  circuit.factors[1] = {circuit.factor_of(circuit.factors[1], 0)};
  auto const of_singles = circuit.vectors[static_cast<std::size_t>(single)];
  for (Offset b = of_singles.begin; b < of_singles.end; ++b)  // the same parameters as of the dense blocks
    circuit.blocks[static_cast<std::size_t>(b)].parameter = b - of_singles.begin;
  validate(circuit, "ties");
  made.parameters = circuit::initial_parameters(circuit, 4);
  auto const samples = test::random_samples(circuit, 2, 5, false);
  Machine<T> machine(made, 64);
  auto const& terms = machine.plan.host.terms;
  CHECK(std::ranges::count(terms, 44, &circuit::Term::size) == 1);
  SumsOfFlows expected;
  InputProbabilities probabilities(made);
  for (Offset s = 0; s < samples.size(); ++s)
    expected += expected_flows(made, probabilities, machine.plan.host, machine.flow_plan.host, samples, s, 1);
  check_flows<typename T::Value>(machine.sums(samples, {}), expected, "ties");
}
