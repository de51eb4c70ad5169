// Probabilistic circuits: structure, what is wrong with one, properties; and the oracle, against enumeration.
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/circuit.hpp>
#include <hornbill/error.hpp>
#include <reference/circuit.hpp>

#include "support/random_circuits.hpp"

using namespace hornbill;
using circuit::Circuit, circuit::CircuitBuilder, circuit::InputKind, circuit::NodeKind, circuit::Parameters;

namespace {

/// Two variables, of three and two values; two products and their mixture.
struct Small {
  Circuit circuit;
  Parameters parameters{{0.25, 0.75}, {0.1, 0.2, 0.7, 0.5, 0.25, 0.25, 0.9, 0.4}};
};
Small small() {
  CircuitBuilder builder(2);
  auto const a = builder.add_inputs(0, InputKind::categorical, 3, 2);
  auto const b = builder.add_inputs(1, InputKind::bernoulli, 2, 2);
  builder.add_sums(1, {builder.add_products({a, b})});
  return {std::move(builder).build()};
}

/// A change of a sound circuit, and part of the message that refuses it.
void refuse(std::function<void(Circuit&)> const& change, std::string const& message) {
  auto changed = small().circuit;
  change(changed);
  try {
    validate(changed, "c.h5");
    FAIL_CHECK("not refused: " << message);
  } catch (InputError const& e) {
    CHECK_MESSAGE(std::string(e.what()).find(message) != std::string::npos, std::string(e.what()));
  }
}
void refuse(std::vector<double> Parameters::*which, std::size_t i, double value, std::string const& message) {
  auto made = small();
  (made.parameters.*which)[i] = value;
  try {
    validate(made.circuit, made.parameters, "c.h5");
    FAIL_CHECK("not refused: " << message);
  } catch (InputError const& e) {
    CHECK_MESSAGE(std::string(e.what()).find(message) != std::string::npos, std::string(e.what()));
  }
}

long double log_likelihood(test::RandomCircuit const& made, circuit::Samples const& samples, Offset sample) {
  return reference::circuit_log_values(made.circuit, made.parameters, samples, sample).back();
}

/// A hidden Markov model of `steps` steps, all with the same transitions and emissions.
Circuit hidden_markov_model(Index steps, Index states, Index values) {
  CircuitBuilder builder(steps);
  Index emissions = builder.add_inputs(steps - 1, InputKind::categorical, values, states);
  Index const first_emissions = emissions;
  Index chain = builder.add_products({emissions}), transitions = -1;
  for (Index t = steps - 2; t >= 0; --t) {
    transitions = transitions < 0 ? builder.add_sums(states, {chain}) : builder.add_tied_sums(transitions, {chain});
    emissions = builder.add_tied_inputs(t, first_emissions);
    chain = builder.add_products({emissions, transitions});
  }
  builder.add_sums(1, {chain});
  return std::move(builder).build();
}

}  // namespace

TEST_CASE("circuit: the oracle, by hand") {
  auto const [circuit, parameters] = small();
  circuit::Samples const samples{2, {2, 1, circuit::missing, 0, circuit::missing, circuit::missing}};
  auto const of = [&](Offset s) {
    return static_cast<double>(std::exp(reference::circuit_log_values(circuit, parameters, samples, s).back()));
  };
  CHECK(of(0) == doctest::Approx(0.25 * 0.7 * 0.9 + 0.75 * 0.25 * 0.4));
  CHECK(of(1) == doctest::Approx(0.25 * 0.1 + 0.75 * 0.6));
  CHECK(of(2) == doctest::Approx(1));
}

TEST_CASE("circuit: what is wrong with a structure is named by its node") {
  refuse([](Circuit& c) { c.vectors.clear(); }, "c.h5: the circuit has no nodes");
  refuse([](Circuit& c) { c.vectors[1].size = 3; },
         "a vector of 2 product nodes begins at node 4; the vector before it ends at node 5");
  refuse(
      [](Circuit& c) {
        c.blocks.clear();
        c.vectors[3].begin = c.vectors[3].end = 0;
      },
      "sum node 6 has no children");
  refuse(
      [](Circuit& c) {
        c.factors.clear();
        c.vectors[2].begin = c.vectors[2].end = 0;
      },
      "product node 4 has no children");
  refuse([](Circuit& c) { c.blocks[0].child = 6; },
         "node 6 has the child 6, which is not before it: a circuit has no cycle");
  refuse([](Circuit& c) { c.factors[0].child = 4; }, "node 4 has the child 4, which is not before it");
  refuse([](Circuit& c) { c.factors[0].child = -1; }, "node 4 has the child -1; nodes are 0 to 6");
  refuse([](Circuit& c) { c.factors[0].child = 1; }, "the children 1 to 2 of product node 4 are in several vectors");
  refuse([](Circuit& c) { c.factors[0].step = 2; }, "a factor of product node 4 has a step of 2");
  refuse([](Circuit& c) { c.factors[0].list = 0; }, "has its factors from entry 0 on; there are 0 entries for 2 nodes");
  refuse(
      [](Circuit& c) {
        c.factor_children = {0, 2};
        c.factors[0].list = 0;
      },
      "the factors 0 and 2 of product nodes 4 and 5 are in two vectors");
  refuse([](Circuit& c) { c.blocks[0].columns = 0; }, "a block of 1 by 0 edges begins at sum node 6");
  refuse([](Circuit& c) { c.blocks[0].rows = 2; },
         "a block of 2 by 2 edges begins at sum node 6; nodes of its vector are 6 to 6");
  refuse([](Circuit& c) { c.blocks[0].parameter = 1; },
         "sum node 6 have their parameters from 1 on, 2 of them; there are 2");
  refuse([](Circuit& c) { c.inputs[1].variable = 2; }, "input node 2 is of variable 2; variables are 0 to 1");
  refuse([](Circuit& c) { c.inputs[1].num_categories = 3; },
         "input node 2 is bernoulli over 3 categories; bernoulli needs 2");
  refuse([](Circuit& c) { c.inputs[0].parameter = 3; },
         "input node 0 has its parameters from 3 on, 6 of them; there are 8");
  refuse([](Circuit& c) { c.inputs[0].parameter = 1; }, "have some parameters in common, such as 6, but not all");
  refuse(
      [](Circuit& c) {
        c.inputs[0] = {0, InputKind::indicator, 3, 2};
      },
      "1 for the values 2 to 3; the variable's are 0 to 2");
  refuse(
      [](Circuit& c) {
        c.inputs[1] = {0, InputKind::categorical, 1, 0, 6};
      },
      "product node 4 is not decomposable: its child 2 of scope {x0} has {x0} in common with the children before it");
  refuse([](Circuit& c) { c.num_variables = 3; },
         "there are 3 variables and 2 vectors of inputs; each variable needs one");
  refuse(
      [](Circuit& c) {
        c.variable_names = {"rain", "wet"};
        c.inputs[1] = {0, InputKind::categorical, 1, 0, 6};
      },
      "scope {rain}");
}

TEST_CASE("circuit: a sum over children of two scopes is not smooth") {
  CircuitBuilder builder(2);
  auto const a = builder.add_inputs(0, InputKind::bernoulli, 2, 1),
             b = builder.add_inputs(1, InputKind::bernoulli, 2, 1);
  builder.add_sums(1, {builder.add_products({a, b}), a});
  try {
    std::move(builder).build();
    FAIL_CHECK("not refused");
  } catch (InputError const& e) {
    CHECK(std::string(e.what()).find(
              "sum node 3 is not smooth: its child 0 has the scope {x0}, and child 2 the scope {x0, "
              "x1}; child 0 lacks {x1}, which child 2 has") != std::string::npos);
  }
}

TEST_CASE("circuit: distributions are tied whole") {
  CircuitBuilder builder(1);
  auto const a = builder.add_inputs(0, InputKind::bernoulli, 2, 3);
  auto const sums = builder.add_sums(2, {a});
  builder.add_sums(1, {builder.add_tied_sums(sums, {a}), sums});
  auto circuit = std::move(builder).build();
  CHECK(distribution_owners(circuit, "c") == std::vector<Index>{-1, -1, -1, 3, 4, 3, 4, 7});
  circuit.blocks[1].parameter = 1;
  CHECK_THROWS_WITH_AS(validate(circuit, "c"),
                       "c: the sum nodes 4 and 5 have some parameters in common, such as 3, but not all: whole "
                       "distributions can be tied",
                       InputError);
}

TEST_CASE("circuit: what is wrong with parameters is named by its node") {
  auto const nan = std::numeric_limits<double>::quiet_NaN();
  refuse(&Parameters::sum, 0, -0.25, "c.h5: parameter 0 of sum node 6 is -0.25; it must be a number of at least 0");
  refuse(&Parameters::sum, 1, nan, "parameter 1 of sum node 6 is nan");
  refuse(&Parameters::sum, 1, 0.5, "the parameters of sum node 6 add to 0.75, not to 1; divide them by their sum");
  refuse(&Parameters::input, 4, 0.5, "the parameters of input node 1 add to 1.25, not to 1");
  refuse(&Parameters::input, 6, 1.5, "parameter 6 of input node 2 is 1.5; a probability is at most 1");
  refuse(&Parameters::input, 7, -0.5, "parameter 7 of input node 3 is -0.5");
  auto made = small();
  made.parameters.sum = {0, 0};
  CHECK_THROWS_WITH_AS(validate(made.circuit, made.parameters, "c"), "c: the parameters of sum node 6 are all 0",
                       InputError);
  made.parameters.sum = {1};
  CHECK_THROWS_WITH_AS(validate(made.circuit, made.parameters, "c"),
                       "c: the circuit has 2 parameters of sums; 1 are given", InputError);
  CircuitBuilder builder(1);
  builder.add_inputs(0, InputKind::gaussian, 0, 1, 0.1);
  auto const gaussian = std::move(builder).build();
  CHECK_THROWS_WITH_AS(validate(gaussian, Parameters{{}, {0, 0.01}}, "c"),
                       "c: the sigma of input node 0, parameter 1, is 0.01; it must be more than 0, and at least 0.1",
                       InputError);
}

TEST_CASE("circuit: samples must have values of their variables") {
  auto const circuit = small().circuit;
  auto const refuse_samples = [&](circuit::Samples const& samples, std::string const& message) {
    try {
      validate(circuit, samples, "x.csv");
      FAIL_CHECK("not refused: " << message);
    } catch (InputError const& e) {
      CHECK_MESSAGE(std::string(e.what()).find(message) != std::string::npos, std::string(e.what()));
    }
  };
  refuse_samples({2, {0, 0, 3, 0}}, "x.csv: sample 1: the value of x0 is 3; it must be a whole number from 0 to 2");
  refuse_samples({2, {0, -1}}, "sample 0: the value of x1 is -1; it must be a whole number from 0 to 1");
  refuse_samples({2, {0.5, 1}}, "sample 0: the value of x0 is 0.5");
  refuse_samples({3, {0, 0, 0}}, "samples have 3 values; the circuit has 2 variables");
  refuse_samples({2, {0, 0}, {{1, {0.5}}}}, "variable x1 has 1 likelihoods for 1 samples of 2 categories");
  refuse_samples({2, {0, 0}, {{1, {0.5, -1}}}}, "sample 0: the likelihood of x1 = 1 is -1");
  refuse_samples({2, {0, 0}, {{1, {0.5, 1}}, {1, {0.5, 1}}}}, "the likelihoods of variable x1 are given twice");
  refuse_samples({2, {0, 0}, {{2, {0.5, 1}}}}, "likelihoods of variable 2; variables are 0 to 1");
}

TEST_CASE("circuit: probabilities of all values add to 1, whatever the inputs") {
  for (unsigned seed = 0; seed < 40; ++seed) {
    auto const made = test::random_circuit(seed, 2 + static_cast<Index>(seed % 5), {.zeros = seed % 2 ? 0.3 : 0});
    validate(made.circuit, made.parameters, "a random circuit");
    auto const samples = test::all_samples(made.circuit);
    long double sum = 0;
    for (Offset s = 0; s < samples.size(); ++s) sum += std::exp(log_likelihood(made, samples, s));
    bool const has_indicators =
        std::ranges::any_of(made.circuit.inputs, [](auto const& i) { return is_indicator(i.kind); });
    CHECK_MESSAGE(static_cast<double>(sum) == doctest::Approx(1).epsilon(1e-12), "seed ", seed, " ", has_indicators);
    // A missing value is the sum over all.
    circuit::Samples const none{
        made.circuit.num_variables,
        std::vector<double>(static_cast<std::size_t>(made.circuit.num_variables), circuit::missing)};
    CHECK(static_cast<double>(log_likelihood(made, none, 0)) == doctest::Approx(0).epsilon(1e-12));
  }
}

TEST_CASE("circuit: likelihoods of a variable's values weigh them") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    auto const made = test::random_circuit(seed, 3);
    auto const soft = test::random_samples(made.circuit, seed, 3, true);
    auto const all = test::all_samples(made.circuit);
    for (Offset s = 0; s < soft.size(); ++s) {
      long double expected = 0;
      for (Offset i = 0; i < all.size(); ++i) {
        long double weight = 1;
        for (Index v = 0; v < 3; ++v) {
          auto const evidence = std::ranges::find(soft.soft, v, &circuit::SoftEvidence::variable);
          double const x = all.value(i, v), wanted = soft.value(s, v);
          if (evidence != soft.soft.end()) {
            auto const categories = std::ssize(evidence->likelihoods) / soft.size();
            weight *= evidence->likelihoods[static_cast<std::size_t>(s * categories + static_cast<Offset>(x))];
          } else if (wanted == wanted) {
            weight *= x == wanted;
          }
        }
        if (weight > 0) expected += weight * std::exp(log_likelihood(made, all, i));
      }
      auto const actual = std::exp(log_likelihood(made, soft, s));
      CHECK_MESSAGE(static_cast<double>(actual) == doctest::Approx(static_cast<double>(expected)).epsilon(1e-12),
                    "seed ", seed);
    }
  }
}

TEST_CASE("circuit: a hidden Markov model has the likelihood of the forward recursion") {
  constexpr Index steps = 6, states = 4, values = 3;
  auto const circuit = hidden_markov_model(steps, states, values);
  CHECK(circuit.num_sum_parameters == states * states + states);
  CHECK(circuit.num_input_parameters == states * values);
  auto const parameters = circuit::initial_parameters(circuit, 7);
  auto const* transition = parameters.sum.data();
  auto const* initial = parameters.sum.data() + states * states;
  std::vector<double> const x{0, 2, 1, 1, 0, 2};
  std::vector<double> alpha(initial, initial + states);
  for (Index t = 0; t < steps; ++t) {
    std::vector<double> next(states);
    for (Index i = 0; i < states; ++i)
      alpha[i] *= parameters.input[static_cast<std::size_t>(i * values + static_cast<Index>(x[t]))];
    for (Index i = 0; i < states; ++i)
      for (Index j = 0; j < states; ++j) next[j] += alpha[i] * transition[i * states + j];
    if (t + 1 < steps) alpha = next;
  }
  circuit::Samples const samples{steps, x};
  auto const log_values = reference::circuit_log_values(circuit, parameters, samples, 0);
  CHECK(static_cast<double>(std::exp(log_values.back())) ==
        doctest::Approx(std::accumulate(alpha.begin(), alpha.end(), 0.0)).epsilon(1e-13));
}

TEST_CASE("circuit: flows are derivatives of the log-likelihood") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    auto made = test::random_circuit(seed, 4, {.real_values = true});
    auto const samples = test::random_samples(made.circuit, seed, 1, seed % 2 == 0);
    auto const log_values = reference::circuit_log_values(made.circuit, made.parameters, samples, 0);
    if (std::isinf(log_values.back())) continue;
    auto const flows = reference::circuit_flows(made.circuit, made.parameters, samples, 0, log_values);
    CHECK(static_cast<double>(flows.nodes.back()) == 1);
    auto const check = [&](double& parameter, long double flow, std::string const& what) {
      double const old = parameter, step = 1e-5;  // of the logarithm
      parameter = old * std::exp(step);
      auto const above = log_likelihood(made, samples, 0);
      parameter = old * std::exp(-step);
      auto const below = log_likelihood(made, samples, 0);
      parameter = old;
      CHECK_MESSAGE(
          static_cast<double>((above - below) / (2 * step)) == doctest::Approx(static_cast<double>(flow)).epsilon(1e-6),
          what, " of seed ", seed);
    };
    for (std::size_t p = 0; p < made.parameters.sum.size(); ++p)
      check(made.parameters.sum[p], flows.sum[p], fmt::format("sum parameter {}", p));
    for (std::size_t v = 0; v < made.circuit.vectors.size(); ++v) {
      auto const& vector = made.circuit.vectors[v];
      if (vector.kind != NodeKind::input ||
          made.circuit.inputs[static_cast<std::size_t>(vector.begin)].kind != InputKind::categorical)
        continue;
      auto const& input = made.circuit.inputs[static_cast<std::size_t>(vector.begin)];
      for (Offset p = input.parameter; p < input.parameter + Offset{vector.size} * input.num_categories; ++p)
        check(made.parameters.input[static_cast<std::size_t>(p)], flows.input[static_cast<std::size_t>(p)],
              fmt::format("input parameter {}", p));
    }
  }
}

TEST_CASE("circuit: expectation maximisation never lowers the likelihood") {
  for (unsigned seed = 0; seed < 10; ++seed) {
    auto made = test::random_circuit(seed, 4);
    for (auto const& input : made.circuit.inputs) CHECK(input.kind != InputKind::gaussian);
    auto const samples = test::random_samples(made.circuit, seed, 12, false);
    long double last = -std::numeric_limits<long double>::infinity();
    for (int step = 0; step < 6; ++step) {
      reference::CircuitFlows flows;
      long double total = 0;
      for (Offset s = 0; s < samples.size(); ++s) {
        auto const log_values = reference::circuit_log_values(made.circuit, made.parameters, samples, s);
        if (std::isinf(log_values.back())) continue;
        total += log_values.back();
        flows.add(reference::circuit_flows(made.circuit, made.parameters, samples, s, log_values));
      }
      CHECK_MESSAGE(static_cast<double>(total - last) >= -1e-12, "seed ", seed, " step ", step);
      last = total;
      made.parameters = reference::circuit_em_step(made.circuit, made.parameters, flows, 1, 0);
      validate(made.circuit, made.parameters, "after a step");
    }
  }
}

TEST_CASE("circuit: initial parameters follow from the seed") {
  auto const circuit = test::random_circuit(3, 6, {.real_values = true}).circuit;
  auto const a = circuit::initial_parameters(circuit, 1), b = circuit::initial_parameters(circuit, 1);
  CHECK(a.sum == b.sum);
  CHECK(a.input == b.input);
  CHECK(a.sum != circuit::initial_parameters(circuit, 2).sum);
  CHECK_NOTHROW(validate(circuit, a, "initial parameters"));
  auto const tiny = circuit::initial_parameters(small().circuit, 42);
  CHECK(tiny.sum[0] == 0x1.1c991657327c3p-2);
}

TEST_CASE("circuit: properties") {
  auto const [circuit, parameters] = small();
  auto const scopes = circuit::find_scopes(circuit, "c");
  CHECK(scopes.table.num_scopes() == 3);
  CHECK(scopes.table.variables(scopes.of_vector.back()) == std::vector<Index>{0, 1});
  CHECK_FALSE(first_unstructured_product(circuit, scopes));
  auto const determinism = find_determinism(circuit, parameters);
  CHECK(determinism.state == circuit::Determinism::State::not_shown);
  CHECK(determinism.sum == 6);
  // The second child allows no value of x0 that the first one does.
  CHECK(find_determinism(circuit, {parameters.sum, {1, 0, 0, 0, 0.25, 0.75, 0.9, 0.4}}).state ==
        circuit::Determinism::State::shown);
  CHECK(find_determinism(circuit, {parameters.sum, {1, 0, 0, 0.5, 0.25, 0.25, 0.9, 0.4}}).state ==
        circuit::Determinism::State::not_shown);
  CHECK(find_determinism(circuit, {parameters.sum, {1, 0, 0, 0.5, 0.25, 0.25, 0, 1}}).state ==
        circuit::Determinism::State::shown);
  CHECK(find_determinism(circuit, {{0, 1}, {1, 0, 0, 0.5, 0.25, 0.25, 0.9, 0.4}}).state ==
        circuit::Determinism::State::shown);
  CHECK(find_determinism(circuit, {parameters.sum, {1, 0, 0, 0, 0.25, 0.75, 0.9, 0.4}}, 1).state ==
        circuit::Determinism::State::not_examined);
  auto const statistics = circuit::statistics_of(circuit);
  CHECK(statistics.inputs == 4);
  CHECK(statistics.products == 2);
  CHECK(statistics.sums == 1);
  CHECK(statistics.product_edges == 4);
  CHECK(statistics.sum_edges == 2);
  CHECK(statistics.depth == 2);
  CHECK(statistics.distributions == 1);
  CHECK(statistics.parameters == 10);
  CHECK(statistics.unreachable == 0);
}

TEST_CASE("circuit: products that divide a scope in two ways are not structured") {
  CircuitBuilder builder(3);
  std::vector<Index> in;
  for (Index v = 0; v < 3; ++v) in.push_back(builder.add_inputs(v, InputKind::bernoulli, 2, 1));
  auto const a = builder.add_products({builder.add_products({in[0], in[1]}), in[2]});
  auto const b = builder.add_products({in[0], builder.add_products({in[1], in[2]})});
  builder.add_sums(1, {a, b});
  auto const circuit = std::move(builder).build();
  CHECK(first_unstructured_product(circuit, circuit::find_scopes(circuit, "c")) == std::optional<Index>(6));
}
