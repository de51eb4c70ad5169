// Likelihoods on every backend, against the oracle.
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/circuit.hpp>
#include <hornbill/error.hpp>
#include <reference/circuit.hpp>

#include "support/cells.hpp"
#include "support/random_circuits.hpp"

using namespace hornbill;
using circuit::CircuitBuilder, circuit::InputKind, circuit::Samples;

namespace {

/// What Hornbill promises of a likelihood, in nats.
template <class Value>
double promised(double log_likelihood) {
  return std::is_same_v<Value, float> ? 2e-5 : 1e-12 * (1 + std::abs(log_likelihood));
}

template <class Value>
void check_likelihoods(test::RandomCircuit const& made, Samples const& samples, circuit::Likelihoods const& actual,
                       std::string const& what) {
  REQUIRE(std::ssize(actual.log_likelihood) == samples.size());
  for (Offset s = 0; s < samples.size(); ++s) {
    auto const expected =
        static_cast<double>(reference::circuit_log_values(made.circuit, made.parameters, samples, s).back());
    double const found = actual.log_likelihood[static_cast<std::size_t>(s)];
    if (found == expected || std::abs(found - expected) <= promised<Value>(expected)) continue;
    FAIL_CHECK(fmt::format("{}: sample {} has {:.17g}, expected {:.17g}", what, s, found, expected));
    return;
  }
  CHECK(true);
}

/// Checks that forward() is right about whatever it says it is certain of.   \return how many samples it is not certain
/// of
template <class T>
Offset count_uncertain(test::RandomCircuit const& made, Samples const& samples, std::string const& what) {
  typename T::Exec exec;
  auto const plan = make_plan(exec, circuit::make_plan(made.circuit));
  auto const parameters = circuit::to_device<typename T::Value>(exec, plan, made.parameters);
  auto state = circuit::make_state<typename T::Value>(exec, plan, static_cast<Index>(samples.size()));
  observe(exec, plan, state, samples, 0, static_cast<Index>(samples.size()));
  forward(exec, plan, parameters, state);
  auto const certain = detail::to_vector(exec, state.is_certain);
  auto const found = detail::to_vector(exec, state.log_likelihood);
  for (Offset s = 0; s < samples.size(); ++s) {
    if (!certain[static_cast<std::size_t>(s)]) continue;
    auto const expected =
        static_cast<double>(reference::circuit_log_values(made.circuit, made.parameters, samples, s).back());
    double const actual = found[static_cast<std::size_t>(s)];
    if (actual == expected || std::abs(actual - expected) <= promised<typename T::Value>(expected)) continue;
    FAIL_CHECK(
        fmt::format("{}: sample {} is said to be {:.17g} for certain, and is {:.17g}", what, s, actual, expected));
  }
  return std::count(certain.begin(), certain.begin() + samples.size(), 0);
}

/// A chain of hidden states with transitions that are given; each step emits a Bernoulli's value.
test::RandomCircuit chain(Index steps, Index states, std::function<double(Index, Index)> const& transition,
                          std::function<double(Index)> const& emission, std::function<double(Index)> const& initial) {
  test::RandomCircuit made{make_circuit(circuit::HiddenMarkovModel{steps, states, {InputKind::bernoulli, 2}}), {}};
  for (Index i = 0; i < states; ++i)
    for (Index j = 0; j < states; ++j) made.parameters.sum.push_back(transition(i, j));
  for (Index i = 0; i < states; ++i) made.parameters.sum.push_back(initial(i));
  for (Index i = 0; i < states; ++i) made.parameters.input.push_back(emission(i));
  validate(made.circuit, made.parameters, "a chain");
  return made;
}

}  // namespace

TEST_CASE_TEMPLATE("circuit: likelihoods of random circuits", T, HORNBILL_TEST_CELLS) {
  for (unsigned seed = 0; seed < 40; ++seed) {
    auto const made = test::random_circuit(
        seed, 2 + static_cast<Index>(seed % 6),
        {.real_values = seed % 3 == 0, .zeros = seed % 4 == 1 ? 0.4 : 0, .largest_vector = seed % 5 == 4 ? 150 : 5});
    auto const samples = test::random_samples(made.circuit, seed, 1 + seed % 7, seed % 2 == 0);
    auto const actual = circuit::log_likelihoods<typename T::Value>(typename T::Exec(), made.circuit,
                                                                    make_plan(made.circuit), made.parameters, samples);
    check_likelihoods<typename T::Value>(made, samples, actual, fmt::format("seed {}", seed));
    CHECK_MESSAGE(actual.recomputed == 0, "seed ", seed);
  }
}

TEST_CASE_TEMPLATE("circuit: a sample's likelihood does not depend on those beside it", T, HORNBILL_TEST_CELLS) {
  auto const made = test::random_circuit(7, 10, {.largest_vector = 80});
  auto const samples = test::random_samples(made.circuit, 3, 70, true);
  auto const all = circuit::log_likelihoods<typename T::Value>(typename T::Exec(), made.circuit,
                                                               make_plan(made.circuit), made.parameters, samples);
  check_likelihoods<typename T::Value>(made, samples, all, "batches of 70");
  for (Index batch_size : {1, 7, 64, 65}) {
    auto const again =
        circuit::log_likelihoods<typename T::Value>(typename T::Exec(), made.circuit, make_plan(made.circuit),
                                                    made.parameters, samples, {.batch_size = batch_size});
    CHECK_MESSAGE(again.log_likelihood == all.log_likelihood, "batches of ", batch_size);
  }
}

TEST_CASE_TEMPLATE("circuit: long products leave no range of numbers", T, HORNBILL_TEST_CELLS) {
  // Each of 2,000 variables is improbable under all nodes, by 1e-3 or less. The probabilities are floats: rounding them
  // would be most of the error.
  CircuitBuilder builder(2000);
  std::vector<Index> children;
  for (Index v = 0; v < 2000; ++v) children.push_back(builder.add_inputs(v, InputKind::categorical, 3, 3));
  builder.add_sums(1, {builder.add_products(children)});
  test::RandomCircuit made{std::move(builder).build(), {}};
  made.parameters.sum = {0.25, 0.25, 0.5};
  for (Index i = 0; i < 6000; ++i)
    for (double p : {0x1p-10 / (1 + i % 8), 1e-300, 0.0})
      made.parameters.input.push_back(static_cast<float>(p) > 0 ? static_cast<float>(p) : p);
  for (std::size_t i = 0; i < 6000; ++i)
    made.parameters.input[3 * i + 2] = 1 - made.parameters.input[3 * i] - made.parameters.input[3 * i + 1];
  Samples samples{2000, std::vector<double>(4000, 0)};
  std::fill(samples.values.begin() + 2000, samples.values.end(), 1);
  auto const actual = circuit::log_likelihoods<typename T::Value>(typename T::Exec(), made.circuit,
                                                                  make_plan(made.circuit), made.parameters, samples);
  check_likelihoods<typename T::Value>(made, samples, actual, "a long product");
  CHECK(actual.log_likelihood[1] < -1e6);
  CHECK((actual.recomputed > 0) == std::is_same_v<typename T::Value, float>);  // 1e-300 is no float
}

TEST_CASE_TEMPLATE("circuit: small values count where large ones have no weight", T, HORNBILL_TEST_CELLS) {
  using Value = typename T::Value;
  // From left to right: only a path of improbable steps reaches the states that explain what comes at the end.
  Index const states = 80;
  auto const left_to_right = chain(
      60, states,
      [&](Index i, Index j) {
        return i == states - 1 ? j == i : j == i ? 1 - 1e-6 : j == i + 1 ? 1e-6 : 0;
      },
      [&](Index i) { return i > 40 ? 1.0 : 0.0; }, [](Index i) { return i == 0 ? 1.0 : 0.0; });
  Samples samples{60, std::vector<double>(120, 0)};
  for (Index t = 50; t < 60; ++t) samples.values[static_cast<std::size_t>(t)] = 1;
  samples.values[60] = 1;  // impossible: the first state emits 0
  auto const actual = circuit::log_likelihoods<Value>(
      typename T::Exec(), left_to_right.circuit, make_plan(left_to_right.circuit), left_to_right.parameters, samples);
  check_likelihoods<Value>(left_to_right, samples, actual, "from left to right");
  CHECK(actual.log_likelihood[0] < -500);
  CHECK(std::isinf(actual.log_likelihood[1]));

  // Two states that know nothing of each other; what one explains well, the other cannot.
  auto const apart = chain(
      400, 2, [](Index i, Index j) { return i == j; }, [](Index i) { return i == 0 ? 0.999 : 0.5; },
      [](Index i) { return i == 0 ? 1e-290 : 1 - 1e-290; });
  Samples const ones{400, std::vector<double>(400, 1)};
  check_likelihoods<Value>(apart, ones,
                           circuit::log_likelihoods<Value>(typename T::Exec(), apart.circuit, make_plan(apart.circuit),
                                                           apart.parameters, ones),
                           "apart");
}

TEST_CASE_TEMPLATE("circuit: what is certain is right", T, HORNBILL_TEST_CELLS) {
  using Value = typename T::Value;
  Offset uncertain = 0, all = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    std::mt19937 random(seed);
    auto const power = [&] { return std::pow(10.0, -static_cast<double>(random() % 40)); };
    Index const states = 3 + static_cast<Index>(seed % 4);
    std::vector<double> weights(static_cast<std::size_t>(states * states));
    for (auto& w : weights) w = random() % 3 == 0 ? 0 : power();
    for (Index i = 0; i < states; ++i) {
      auto* const row = weights.data() + i * states;
      row[random() % static_cast<unsigned>(states)] += power();
      double const sum = std::accumulate(row, row + states, 0.0);
      for (Index j = 0; j < states; ++j) row[j] /= sum;
    }
    std::vector<double> emissions;
    for (Index i = 0; i < states; ++i) emissions.push_back(random() % 2 == 0 ? power() : 1 - power());
    auto const made = chain(
        30, states, [&](Index i, Index j) { return weights[static_cast<std::size_t>(i * states + j)]; },
        [&](Index i) { return emissions[static_cast<std::size_t>(i)]; }, [&](Index) { return 1.0 / states; });
    auto const samples = test::random_samples(made.circuit, seed, 16, false);
    all += samples.size();
    uncertain += count_uncertain<T>(made, samples, fmt::format("seed {}", seed));
    auto const actual = circuit::log_likelihoods<Value>(typename T::Exec(), made.circuit, make_plan(made.circuit),
                                                        made.parameters, samples);
    check_likelihoods<Value>(made, samples, actual, fmt::format("seed {}", seed));
  }
  CHECK(uncertain < all / 2);
  CHECK((uncertain > 0) == std::is_same_v<Value, float>);  // so that a float's fall-back has been seen
}

TEST_CASE_TEMPLATE("circuit: likelihoods and parameters of any size", T, HORNBILL_TEST_CELLS) {
  Offset uncertain = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto made = test::random_circuit(seed, 4, {.real_values = seed % 2 == 0, .zeros = seed % 3 == 0 ? 0.3 : 0});
    std::mt19937 random(seed);
    auto const power = [&](int most) {
      return std::pow(10.0, -static_cast<double>(random() % static_cast<unsigned>(most)));
    };
    for (auto const& vector : made.circuit.vectors) {
      if (vector.kind != circuit::NodeKind::input) continue;
      auto const& input = made.circuit.inputs[static_cast<std::size_t>(vector.begin)];
      if (input.kind != InputKind::categorical) continue;
      for (Index i = 0; i < vector.size; ++i) {  // all but one value are improbable
        auto* const p = made.parameters.input.data() + input.parameter + Offset{i} * input.num_categories;
        double rest = 1;
        for (Index c = 1; c < input.num_categories; ++c) rest -= p[c] = 0.1 * power(60);
        p[0] = rest;
      }
    }
    auto samples = test::random_samples(made.circuit, seed, 6, true);
    for (auto& soft : samples.soft)
      for (double& l : soft.likelihoods) l = random() % 4 == 0 ? 0 : power(150) / power(150);
    if (seed % 4 == 0)
      for (double& x : samples.values) x = x == std::floor(x) ? x : 1e4 * x;  // of Gaussians
    auto const what = fmt::format("seed {}", seed);
    validate(made.circuit, made.parameters, what);
    uncertain += count_uncertain<T>(made, samples, what);
    check_likelihoods<typename T::Value>(
        made, samples,
        circuit::log_likelihoods<typename T::Value>(typename T::Exec(), made.circuit, make_plan(made.circuit),
                                                    made.parameters, samples),
        what);
  }
  CHECK((uncertain > 0) == std::is_same_v<typename T::Value, float>);
}

TEST_CASE_TEMPLATE("circuit: densities far from all means", T, HORNBILL_TEST_CELLS) {
  CircuitBuilder builder(20);
  std::vector<Index> children;
  for (Index v = 0; v < 20; ++v) children.push_back(builder.add_inputs(v, InputKind::gaussian, 0, 2));
  builder.add_sums(1, {builder.add_products(children)});
  test::RandomCircuit made{std::move(builder).build(), {{0.5, 0.5}, {}}};
  for (Index i = 0; i < 40; ++i)
    made.parameters.input.insert(made.parameters.input.end(), {i % 2 == 0 ? 0.0 : 0.5, 1.0});
  Samples const samples{20, std::vector<double>(20, 14000)};
  auto const actual = circuit::log_likelihoods<typename T::Value>(typename T::Exec(), made.circuit,
                                                                  make_plan(made.circuit), made.parameters, samples);
  auto const expected =
      static_cast<double>(reference::circuit_log_values(made.circuit, made.parameters, samples, 0).back());
  CHECK(expected < -1e9);
  CHECK(actual.log_likelihood[0] == doctest::Approx(expected).epsilon(1e-12));
}

TEST_CASE_TEMPLATE("circuit: single edges, and values too small", T, HORNBILL_TEST_CELLS) {
  // More than a tile of sums of two single edges each; all of x0's values are too small for a float.
  constexpr Index size = 200;
  CircuitBuilder builder(2);
  auto const a = builder.add_inputs(0, InputKind::categorical, 2, size),
             b = builder.add_inputs(1, InputKind::bernoulli, 2, size);
  auto const products = builder.add_products({a, b});
  CircuitBuilder::Pattern edges{products, {}};
  for (Index i = 0; i < size; ++i)
    for (Index c : {i, (i + 77) % size}) edges.blocks.push_back({i, c, 1, 1, 0});
  builder.add_sums(1, {builder.add_sparse_sums(size, {edges})});
  test::RandomCircuit made{std::move(builder).build(), {}};
  made.parameters = circuit::initial_parameters(made.circuit, 3);
  for (Index i = 0; i < size; ++i) {
    made.parameters.input[static_cast<std::size_t>(2 * i)] = 1;
    made.parameters.input[static_cast<std::size_t>(2 * i + 1)] = 1e-200 / (1 + i);
  }
  validate(made.circuit, made.parameters, "single edges");
  Samples const samples{2, {0, 1, 1, 1, 1, 0, circuit::missing, 0}};
  auto const actual = circuit::log_likelihoods<typename T::Value>(typename T::Exec(), made.circuit,
                                                                  make_plan(made.circuit), made.parameters, samples);
  check_likelihoods<typename T::Value>(made, samples, actual, "single edges");
  CHECK(actual.recomputed == (std::is_same_v<typename T::Value, float> ? 2 : 0));
}

TEST_CASE_TEMPLATE("circuit: impossible samples are certain to be", T, HORNBILL_TEST_CELLS) {
  CircuitBuilder builder(2);
  auto const a = builder.add_indicators(0, InputKind::indicator, 3, 0, 3),
             b = builder.add_indicators(1, InputKind::literal, 2, 0, 2);
  auto const product = builder.add_listed_products(
      2, {{builder.first_of(a), builder.first_of(a) + 2}, {builder.first_of(b), builder.first_of(b) + 1}});
  builder.add_sums(1, {product});
  test::RandomCircuit const made{std::move(builder).build(), {{0.25, 0.75}, {}}};
  Samples const samples{2, {0, 0, 2, 1, 1, 0, 0, 1, circuit::missing, 1, circuit::missing, circuit::missing}};
  auto const actual = circuit::log_likelihoods<typename T::Value>(typename T::Exec(), made.circuit,
                                                                  make_plan(made.circuit), made.parameters, samples);
  CHECK(actual.recomputed == 0);
  check_likelihoods<typename T::Value>(made, samples, actual, "indicators");
}

TEST_CASE("circuit: a batch that does not fit is refused before anything is allocated") {
  auto const made = test::random_circuit(5, 40, {.largest_vector = 100});
  auto const plan = circuit::make_plan(made.circuit);
  auto const room = circuit::bytes_of_state<float>(plan, 128);
  CHECK(room < circuit::bytes_of_state<double>(plan, 128));
  test::AnyHost exec;
  auto const on_device = circuit::make_plan(exec, plan);
  CHECK_NOTHROW(circuit::make_state<float>(exec, on_device, 128, room));
  try {
    circuit::make_state<float>(exec, on_device, 1000, room);
    FAIL_CHECK("not refused");
  } catch (CapacityError const& e) {
    CHECK_MESSAGE(std::string(e.what()).find("a batch size of 128 fits") != std::string::npos, std::string(e.what()));
  }
  CHECK_THROWS_AS(circuit::make_state<float>(exec, on_device, 1, 100), CapacityError);
}
