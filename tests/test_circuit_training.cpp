// Parameters learnt from samples, on every backend.
#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <limits>
#include <numeric>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/circuit.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/circuit_file.hpp>
#include <reference/circuit.hpp>

#include "support/cells.hpp"
#include "support/compare.hpp"
#include "support/random_circuits.hpp"

#if __has_include(<nlohmann/json.hpp>)
#include <nlohmann/json.hpp>
#endif

using namespace hornbill;
using circuit::CircuitBuilder, circuit::InputKind, circuit::NodeKind, circuit::Samples, circuit::TrainingOptions,
    circuit::TrainingState, circuit::Update;

namespace {

template <class T>
using TrainerOf = circuit::Trainer<typename T::Value, typename T::Exec>;

template <class T>
TrainerOf<T> trainer_of(test::RandomCircuit const& made, Samples const& samples, TrainingOptions const& options,
                        std::vector<double> const& weights = {}) {
  return {typename T::Exec(),
          made.circuit,
          circuit::make_plan(made.circuit),
          samples,
          weights,
          options,
          TrainingState{made.parameters}};
}

/// Runs epochs, and returns the mean ln p before each, and that after the last.
template <class T>
std::vector<double> train(test::RandomCircuit const& made, Samples const& samples, TrainingOptions const& options) {
  auto trainer = trainer_of<T>(made, samples, options);
  std::vector<double> means;
  for (Offset epoch = 0; epoch < options.epochs + 1; ++epoch) {
    while (!trainer.update()) {
    }
    means.push_back(trainer.finished().mean_log_likelihood());
  }
  return means;
}

void check_close(circuit::Parameters const& actual, circuit::Parameters const& expected, double tolerance,
                 std::string const& what) {
  test::check_close(actual.sum, expected.sum, tolerance, what + ", sums");
  test::check_close(actual.input, expected.input, tolerance, what + ", inputs");
}

/// Samples drawn one variable at a time, from one of a few patterns, so that there is something to learn.
Samples patterned_samples(circuit::Circuit const& circuit, unsigned seed, Offset count) {
  std::mt19937 random(seed);
  auto const categories = circuit::variable_categories(circuit, "a circuit");
  Samples samples{circuit.num_variables, {}};
  for (Offset s = 0; s < count; ++s) {
    auto const pattern = random() % 3;
    for (std::size_t v = 0; v < categories.size(); ++v) {
      double const noise = static_cast<double>(random() % 1000) / 1000;
      if (random() % 8 == 0)
        samples.values.push_back(circuit::missing);
      else if (categories[v] == 0)
        samples.values.push_back(static_cast<double>(pattern) + 0.5 * noise);
      else
        samples.values.push_back(
            static_cast<double>((pattern * (v + 1) + (noise > 0.8 ? 1 : 0)) % static_cast<std::size_t>(categories[v])));
    }
  }
  return samples;
}

}  // namespace

TEST_CASE_TEMPLATE("circuit training: a step is the oracle's", T, HORNBILL_TEST_CELLS) {
  bool const is_float = std::is_same_v<typename T::Value, float>;
  for (unsigned seed = 0; seed < 30; ++seed) {
    auto const made =
        test::random_circuit(seed, 2 + static_cast<Index>(seed % 6),
                             {.zeros = seed % 4 == 1 ? 0.4 : 0, .largest_vector = seed % 5 == 4 ? 100 : 5});
    auto const samples = test::random_samples(made.circuit, seed, 9, seed % 2 == 0);
    double const pseudocount = seed % 3 == 0 ? 0 : 0.5;
    reference::CircuitFlows flows;
    for (Offset s = 0; s < samples.size(); ++s) {
      auto const log_values = reference::circuit_log_values(made.circuit, made.parameters, samples, s);
      if (!std::isinf(log_values.back()))
        flows.add(reference::circuit_flows(made.circuit, made.parameters, samples, s, log_values));
    }
    if (flows.sum.empty() && flows.input.empty()) continue;  // all are impossible
    auto const expected = reference::circuit_em_step(made.circuit, made.parameters, flows, 1, pseudocount);
    auto trainer =
        trainer_of<T>(made, samples, {.batch_size = static_cast<Index>(1 + seed % 5), .pseudocount = pseudocount});
    CHECK(trainer.update());
    auto const learnt = trainer.state().parameters;
    test::check_close(learnt.sum, expected.sum, is_float ? 2e-5 : 1e-12, fmt::format("seed {}, sums", seed));
    for (auto const& vector : made.circuit.vectors) {  // the oracle has no others
      if (vector.kind != NodeKind::input) continue;
      auto const& input = made.circuit.input_of(vector);
      auto const end = static_cast<std::size_t>(input.parameter + Offset{vector.size} * input.num_categories);
      for (auto i = static_cast<std::size_t>(input.parameter); input.kind == InputKind::categorical && i < end; ++i)
        CHECK(learnt.input[i] == doctest::Approx(expected.input[i]).epsilon(is_float ? 2e-5 : 1e-12));
    }
  }
}

namespace {

/// Whether all samples are possible.
bool are_possible(test::RandomCircuit const& made, Samples const& samples) {
  for (Offset s = 0; s < samples.size(); ++s)
    if (std::isinf(reference::circuit_log_values(made.circuit, made.parameters, samples, s).back())) return false;
  return true;
}

/// Flows of all samples, by the oracle.
reference::CircuitFlows oracle_flows(test::RandomCircuit const& made, Samples const& samples) {
  reference::CircuitFlows flows;
  for (Offset s = 0; s < samples.size(); ++s)
    flows.add(reference::circuit_flows(made.circuit, made.parameters, samples, s,
                                       reference::circuit_log_values(made.circuit, made.parameters, samples, s)));
  return flows;
}

}  // namespace

TEST_CASE_TEMPLATE("circuit training: parts of a step are the oracle's", T, HORNBILL_DOUBLE_CELLS) {
  int compared = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    auto made = test::random_circuit(seed, 4);
    auto const samples = patterned_samples(made.circuit, seed, 20);
    if (!are_possible(made, samples)) continue;
    ++compared;
    auto trainer = trainer_of<T>(
        made, samples, {.update = Update::mini_batch, .step_size = 0.4, .final_step_size = 0.4, .pseudocount = 0.5});
    for (int i = 0; i < 3; ++i) {
      made.parameters =
          reference::circuit_em_step(made.circuit, made.parameters, oracle_flows(made, samples), 0.4, 0.5);
      trainer.update();
      auto const learnt = trainer.state().parameters;
      test::check_close(learnt.sum, made.parameters.sum, 1e-11, fmt::format("seed {}, step {}", seed, i));
      made.parameters.input = learnt.input;  // the oracle learns categoricals alone
    }
  }
  CHECK(compared > 5);
}

TEST_CASE_TEMPLATE("circuit training: anemone by its equation", T, HORNBILL_DOUBLE_CELLS) {
  constexpr double step = 0.4, momentum = 0.7, pseudocount = 0.5;
  int compared = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    auto made = test::random_circuit(seed, 4);
    auto const samples = patterned_samples(made.circuit, seed, 20);
    if (!are_possible(made, samples)) continue;
    ++compared;
    Samples const nothing{4, std::vector<double>(4, circuit::missing)};
    auto const [distributions, ranges] = circuit::sum_distributions(made.circuit);
    auto trainer = trainer_of<T>(made, samples,
                                 {.update = Update::anemone,
                                  .step_size = step,
                                  .final_step_size = step,
                                  .momentum = momentum,
                                  .pseudocount = pseudocount});
    std::vector<long double> average(made.parameters.sum.size());
    for (int update = 1; update <= 3; ++update) {
      auto const flows = oracle_flows(made, samples).sum, expected = oracle_flows(made, nothing).sum;
      for (std::size_t i = 0; i < average.size(); ++i)
        average[i] = momentum * average[i] + (1 - momentum) * flows[i] / 20;
      for (auto const& distribution : distributions) {
        std::vector<std::size_t> all;
        for (Offset r = distribution.ranges_begin; r < distribution.ranges_end; ++r)
          for (Offset p = 0; p < ranges[static_cast<std::size_t>(r)].count; ++p)
            all.push_back(static_cast<std::size_t>(ranges[static_cast<std::size_t>(r)].first + p));
        long double total = 0;
        std::vector<long double> learnt;
        for (std::size_t i : all) {
          learnt.push_back(step * (average[i] / (1 - std::pow(momentum, update)) +
                                   pseudocount / 20 / static_cast<double>(all.size())) +
                           (1 - step) * expected[i]);
          total += learnt.back();
        }
        for (std::size_t k = 0; k < all.size(); ++k)
          made.parameters.sum[all[k]] = static_cast<double>(learnt[k] / total);
      }
      trainer.update();
      auto const actual = trainer.state().parameters;
      test::check_close(actual.sum, made.parameters.sum, 1e-11, fmt::format("seed {}, update {}", seed, update));
      made.parameters.input = actual.input;  // these have no oracle here
    }
  }
  CHECK(compared > 5);
}

TEST_CASE_TEMPLATE("circuit training: steps of any size have one fixed point", T, HORNBILL_DOUBLE_CELLS) {
  // 90 ones, 10 zeros and 100 samples of either: 0.7
  CircuitBuilder builder(1);
  builder.add_sums(1, {builder.add_indicators(0, InputKind::indicator, 2, 0, 2)});
  test::RandomCircuit const made{std::move(builder).build(), {{0.5, 0.5}, {}}};
  Samples samples{1, std::vector<double>(100, 1)};
  std::fill_n(samples.values.begin(), 10, 0);
  for (auto update : {Update::mini_batch, Update::anemone})
    for (double step : {1.0, 0.4, 0.1}) {
      TrainingOptions const options{
          .update = update, .step_size = step, .final_step_size = step, .epochs = 200, .pseudocount = 100};
      auto trainer = trainer_of<T>(made, samples, options);
      while (trainer.epoch() < options.epochs) trainer.update();
      CHECK(trainer.state().parameters.sum[1] == doctest::Approx(0.7).epsilon(1e-6));
    }
}

TEST_CASE_TEMPLATE("circuit training: states that nothing can go on from", T, HORNBILL_DOUBLE_CELLS) {
  auto const made = test::random_circuit(5, 4);
  auto const samples = patterned_samples(made.circuit, 1, 100);
  TrainingOptions const options{.update = Update::anemone, .batch_size = 10, .batches_per_update = 3, .momentum = 0.5};
  auto trainer = trainer_of<T>(made, samples, options);
  trainer.update();
  auto const good = trainer.state();
  auto const plan = circuit::make_plan(made.circuit);
  auto const refuse = [&](char const* member, auto const& spoil) {
    auto state = good;
    spoil(state);
    CHECK_THROWS_WITH_AS(TrainerOf<T>({}, made.circuit, plan, samples, {}, options, state), doctest::Contains(member),
                         InputError);
  };
  CHECK_NOTHROW(TrainerOf<T>({}, made.circuit, plan, samples, {}, options, good));
  refuse("epoch", [](TrainingState& s) { s.epoch = std::numeric_limits<Offset>::max(); });
  refuse("updates", [](TrainingState& s) { s.updates = -1; });
  refuse("batch", [](TrainingState& s) { s.batch = 4; });
  refuse("batch", [](TrainingState& s) { s.batch = 12; });
  refuse("sums", [](TrainingState& s) { s.sums.weight = -5; });
  refuse("sums", [](TrainingState& s) { s.sums.impossible = 1000; });
  refuse("sum_momentum", [](TrainingState& s) { s.sum_momentum.pop_back(); });
  refuse("sum_momentum", [](TrainingState& s) { s.sum_momentum[0] = -1; });
  refuse("sum_momentum", [](TrainingState& s) { s.sum_momentum.clear(); });
  refuse("input_momentum", [](TrainingState& s) { s.input_momentum.push_back(0); });
  std::vector<double> const huge(100, 1e308);
  CHECK_THROWS_WITH_AS(TrainerOf<T>({}, made.circuit, plan, samples, huge, options, {made.parameters}),
                       doctest::Contains("weights"), InputError);
}

TEST_CASE_TEMPLATE("circuit training: full batches never make samples less likely", T, HORNBILL_TEST_CELLS) {
  double const rounding = std::is_same_v<typename T::Value, float> ? 1e-6 : 1e-13;
  for (unsigned seed = 0; seed < 24; ++seed) {
    auto const made = test::random_circuit(seed, 3 + static_cast<Index>(seed % 4), {.real_values = true});
    auto samples = patterned_samples(made.circuit, seed, 60);
    if (seed % 3 == 0) samples.soft = test::random_samples(made.circuit, seed, 60, true).soft;
    auto const means = train<T>(made, samples, {.batch_size = 17, .epochs = 12});
    for (std::size_t i = 1; i < means.size(); ++i)
      CHECK_MESSAGE(means[i] >= means[i - 1] - rounding * (1 + std::abs(means[i])), "seed ", seed, ", step ", i, ": ",
                    means[i - 1], " to ", means[i]);
  }
}

TEST_CASE_TEMPLATE("circuit training: one distribution is fitted by its moments", T, HORNBILL_DOUBLE_CELLS) {
  // a root over one variable each: what is learnt is known in closed form, or by its likelihood's slope
  std::vector<double> const counts{3, 10, 25, 8, 4};
  Samples samples{1, {}};
  for (std::size_t c = 0; c < counts.size(); ++c)
    samples.values.insert(samples.values.end(), static_cast<std::size_t>(counts[c]), static_cast<double>(c));
  double const n = std::accumulate(counts.begin(), counts.end(), 0.0);
  double mean = 0, variance = 0;
  for (double x : samples.values) mean += x / n;
  for (double x : samples.values) variance += (x - mean) * (x - mean) / n;
  auto const fitted = [&](InputKind kind, double min_scale) {
    CircuitBuilder builder(1);
    builder.add_sums(1, {builder.add_inputs(0, kind, kind == InputKind::gaussian ? 0 : 5, 1, min_scale)});
    test::RandomCircuit made{std::move(builder).build(), {}};
    made.parameters = circuit::initial_parameters(made.circuit, 3);
    auto trainer = trainer_of<T>(made, samples, {.epochs = 20});
    while (trainer.epoch() < 20) trainer.update();
    return trainer.state().parameters.input;
  };
  CHECK(fitted(InputKind::binomial, 0)[0] == doctest::Approx(mean / 4).epsilon(1e-12));
  auto const gaussian = fitted(InputKind::gaussian, 0.1);
  CHECK(gaussian[0] == doctest::Approx(mean).epsilon(1e-12));
  CHECK(gaussian[1] == doctest::Approx(std::sqrt(variance)).epsilon(1e-12));
  CHECK(fitted(InputKind::gaussian, 3)[1] == 3);
  auto const log_likelihood = [&](double at, double scale) {
    auto const below = [&](double t) { return 1 / (1 + std::exp(-(t - at) / scale)); };
    double sum = 0;
    for (std::size_t c = 0; c < counts.size(); ++c) {
      double const k = static_cast<double>(c);
      sum += counts[c] * std::log((c == 4 ? 1 : below(k + 0.5)) - (c == 0 ? 0 : below(k - 0.5)));
    }
    return sum;
  };
  auto const logistic = fitted(InputKind::discretised_logistic, 0.01);
  double const best = log_likelihood(logistic[0], logistic[1]);
  for (double step : {1e-3, -1e-3}) {
    CHECK(log_likelihood(logistic[0] + step, logistic[1]) < best);
    CHECK(log_likelihood(logistic[0], logistic[1] + step) < best);
  }
  for (double least : {2.0, 2.2, 1.9}) {  // 1 / (1 / least) may be less
    double const scale = fitted(InputKind::discretised_logistic, least)[1];
    CHECK(scale >= least);
    CHECK(scale == doctest::Approx(least).epsilon(1e-12));
  }
}

TEST_CASE_TEMPLATE("circuit training: a logistic of one category", T, HORNBILL_DOUBLE_CELLS) {
  for (double only : {0.0, 3.0, 7.0}) {
    CircuitBuilder builder(1);
    builder.add_sums(1, {builder.add_inputs(0, InputKind::discretised_logistic, 8, 1, 0.05)});
    test::RandomCircuit made{std::move(builder).build(), {}};
    made.parameters = circuit::initial_parameters(made.circuit, 3);
    auto const means = train<T>(made, {1, {only, only}}, {.epochs = 30});
    CHECK_MESSAGE(means.back() > -0.01, only);
    CHECK(std::isfinite(means.back()));
  }
}

TEST_CASE_TEMPLATE("circuit training: weights are as many samples", T, HORNBILL_DOUBLE_CELLS) {
  auto const made = test::random_circuit(5, 5, {.real_values = true});
  auto const samples = patterned_samples(made.circuit, 2, 30);
  std::vector<double> weights;
  Samples repeated{samples.num_variables, {}};
  for (Offset s = 0; s < samples.size(); ++s) {
    weights.push_back(static_cast<double>(s % 4));
    for (Offset i = 0; i < s % 4; ++i)
      for (Index v = 0; v < samples.num_variables; ++v) repeated.values.push_back(samples.value(s, v));
  }
  auto of_weights = trainer_of<T>(made, samples, {.batch_size = 7, .pseudocount = 0.1}, weights);
  auto of_repeats = trainer_of<T>(made, repeated, {.batch_size = 11, .pseudocount = 0.1});
  of_weights.update();
  of_repeats.update();
  CHECK(of_weights.finished().mean_log_likelihood() ==
        doctest::Approx(of_repeats.finished().mean_log_likelihood()).epsilon(1e-12));
  check_close(of_weights.state().parameters, of_repeats.state().parameters, 1e-12, "weights");
}

TEST_CASE_TEMPLATE("circuit training: zeros stay, if they are to", T, HORNBILL_TEST_CELLS) {
  auto const made = test::random_circuit(9, 6, {.zeros = 0.5});
  auto const samples = test::random_samples(made.circuit, 3, 40, false);
  for (bool keep : {true, false}) {
    TrainingOptions options{.pseudocount = 1, .keep_zeros = keep};
    auto trainer = trainer_of<T>(made, samples, options);
    trainer.update();
    auto const learnt = trainer.state().parameters;
    Offset zeros = 0;
    for (std::size_t i = 0; i < learnt.sum.size(); ++i) {
      if (made.parameters.sum[i] != 0) continue;
      ++zeros;
      CHECK((learnt.sum[i] == 0) == keep);
    }
    CHECK(zeros > 5);
    CHECK_NOTHROW(validate(made.circuit, learnt, "learnt"));
  }
}

TEST_CASE_TEMPLATE("circuit training: batches learn too, and go on where they stopped", T, HORNBILL_TEST_CELLS) {
  auto const made = test::random_circuit(21, 6, {.real_values = true});
  auto const samples = patterned_samples(made.circuit, 5, 200);
  auto const plan = circuit::make_plan(made.circuit);
  for (auto const& options : {TrainingOptions{.update = Update::mini_batch,
                             .batch_size = 32,
                             .step_size = 0.5,
                             .final_step_size = 0.1,
                             .epochs = 6,
                             .pseudocount = 0.1},
                              TrainingOptions{.update = Update::anemone,
                              .batch_size = 16,
                              .batches_per_update = 3,
                              .step_size = 0.5,
                              .final_step_size = 0.5,
                              .epochs = 6,
                              .momentum = 0.7,
                              .pseudocount = 0.1,
                              .seed = 4}}) {
    auto const means = train<T>(made, samples, options);
    CHECK_MESSAGE(means.back() > means.front() + 0.3, name_of(options.update), ": ", means.front(), " to ",
                  means.back());

    auto whole = trainer_of<T>(made, samples, options);
    for (int i = 0; i < 12; ++i) whole.update();
    auto first = trainer_of<T>(made, samples, options);
    for (int i = 0; i < 7; ++i) first.update();
    TrainerOf<T> second({}, made.circuit, plan, samples, {}, options, first.state());
    for (int i = 0; i < 5; ++i) second.update();
    auto const a = whole.state(), b = second.state();
    CHECK(a.parameters.sum == b.parameters.sum);
    CHECK(a.parameters.input == b.parameters.input);
    CHECK(a.sum_momentum == b.sum_momentum);
    CHECK(a.input_momentum == b.input_momentum);
    CHECK(a.sums == b.sums);
    CHECK(std::tuple(a.epoch, a.batch, a.updates) == std::tuple(b.epoch, b.batch, b.updates));
  }
}

TEST_CASE_TEMPLATE("circuit training: anemone is full batches where it sees all at once", T, HORNBILL_DOUBLE_CELLS) {
  auto const made = test::random_circuit(21, 6, {.real_values = true});
  auto const samples = patterned_samples(made.circuit, 5, 50);
  auto full = trainer_of<T>(made, samples, {.pseudocount = 0.5});
  auto anemone = trainer_of<T>(made, samples, {.update = Update::anemone, .pseudocount = 0.5});
  full.update();
  anemone.update();
  check_close(anemone.state().parameters, full.state().parameters, 1e-12, "anemone");
}

TEST_CASE_TEMPLATE("circuit training: impossible samples are skipped, and small ones learnt from", T,
                   HORNBILL_TEST_CELLS) {
  // x0 and x1 are equal; 1 is improbable under both, by more than a float holds
  CircuitBuilder builder(2);
  auto const product = builder.add_products({builder.add_indicators(0, InputKind::indicator, 2, 0, 2),
                                             builder.add_indicators(1, InputKind::indicator, 2, 0, 2)});
  builder.add_sums(1, {product});
  test::RandomCircuit const made{std::move(builder).build(), {{1 - 1e-60, 1e-60}, {}}};
  Samples const samples{2, {1, 1, 0, 1, 1, 1, 0, 0, 1, 0, 1, 1}};
  auto trainer = trainer_of<T>(made, samples, {});
  trainer.update();
  auto const& seen = trainer.finished();
  CHECK(seen.impossible == 2);
  CHECK(seen.samples == 6);
  CHECK(seen.weight == 4);
  CHECK((seen.recomputed > 0) == std::is_same_v<typename T::Value, float>);
  CHECK(trainer.state().parameters.sum[1] == doctest::Approx(0.75));
}

TEST_CASE_TEMPLATE("circuit training: values too small for a tile are learnt from exactly", T, HORNBILL_TEST_CELLS) {
  bool const is_float = std::is_same_v<typename T::Value, float>;
  Offset recomputed = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    std::mt19937 random(seed);
    auto const power = [&] { return std::pow(10.0, -static_cast<double>(random() % 30)); };
    constexpr Index steps = 20, states = 4;
    test::RandomCircuit made{make_circuit(circuit::HiddenMarkovModel{steps, states, {InputKind::categorical, 2}}), {}};
    made.parameters = circuit::initial_parameters(made.circuit, seed);
    auto const set_row = [&](double* row, Index size) {
      for (Index i = 0; i < size; ++i) row[i] = static_cast<float>(random() % 3 == 0 ? 0 : power());
      row[random() % static_cast<unsigned>(size)] = 0;
      double rest = 1;
      for (Index i = 1; i < size; ++i) rest -= row[i] = 0.2 * row[i];
      row[0] = rest;
    };
    for (Index i = 0; i < states; ++i) {
      set_row(made.parameters.sum.data() + Offset{i} * states, states);
      set_row(made.parameters.input.data() + Offset{i} * 2, 2);
    }
    auto const samples = test::random_samples(made.circuit, seed, 12, false);
    reference::CircuitFlows flows;
    for (Offset s = 0; s < samples.size(); ++s) {
      auto const log_values = reference::circuit_log_values(made.circuit, made.parameters, samples, s);
      if (!std::isinf(log_values.back()))
        flows.add(reference::circuit_flows(made.circuit, made.parameters, samples, s, log_values));
    }
    if (flows.sum.empty()) continue;  // all are impossible
    auto const expected = reference::circuit_em_step(made.circuit, made.parameters, flows, 1, 0.1);
    auto trainer = trainer_of<T>(made, samples, {.pseudocount = 0.1});
    trainer.update();
    recomputed += trainer.finished().recomputed;
    check_close(trainer.state().parameters, expected, is_float ? 1e-4 : 1e-11, fmt::format("seed {}", seed));
  }
  CHECK((recomputed > 0) == is_float);
}

TEST_CASE("circuit training: options out of range") {
  auto const refuse = [](TrainingOptions const& options, char const* name) {
    CHECK_THROWS_WITH_AS(validate(options), doctest::Contains(name), InputError);
  };
  refuse({.batch_size = 0}, "batch_size");
  refuse({.update = Update::mini_batch, .batches_per_update = 0}, "batches_per_update");
  refuse({.step_size = 0.5}, "step_size");
  refuse({.update = Update::mini_batch, .step_size = 0}, "step_size");
  refuse({.update = Update::mini_batch, .step_size = std::nan("")}, "step_size");
  refuse({.update = Update::anemone, .final_step_size = 1.5}, "final_step_size");
  refuse({.update = Update::anemone, .momentum = 1}, "momentum");
  refuse({.update = Update::mini_batch, .momentum = 0.5}, "momentum");
  refuse({.pseudocount = -1}, "pseudocount");
}

TEST_CASE("circuit training: a batch that does not fit is refused") {
  auto const made = test::random_circuit(5, 40, {.largest_vector = 100});
  auto const samples = test::random_samples(made.circuit, 1, 500, false);
  auto const plan = circuit::make_plan(made.circuit);
  TrainingOptions options{.batch_size = 128};
  options.max_bytes = circuit::estimate<float>(made.circuit, plan, circuit::make_flow_plan(plan), options).peak;
  using Trainer = circuit::Trainer<float, test::AnyHost>;
  CHECK_NOTHROW(Trainer({}, made.circuit, plan, samples, {}, options, {made.parameters}));
  options.batch_size = 300;
  CHECK_THROWS_WITH_AS(Trainer({}, made.circuit, plan, samples, {}, options, {made.parameters}),
                       doctest::Contains("a batch size of 128 fits"), CapacityError);
  options.max_bytes = 100;
  CHECK_THROWS_AS(Trainer({}, made.circuit, plan, samples, {}, options, {made.parameters}), CapacityError);
  std::vector<double> const nothing(500, 0);
  CHECK_THROWS_WITH_AS(Trainer({}, made.circuit, plan, samples, nothing, {}, {made.parameters}),
                       doctest::Contains("weight"), InputError);
}

#if __has_include(<nlohmann/json.hpp>)
namespace {

std::string const density = HORNBILL_SOURCE_DIR "/../shared/data/density/";

/// A data set of nltcs.
Samples nltcs(circuit::Circuit const& circuit, std::string const& part) {
  auto const file = (std::filesystem::temp_directory_path() / fmt::format("hornbill_test_nltcs_{}.csv", part)).string();
  REQUIRE(std::system(fmt::format("gzip -dc '{}nltcs.{}.data.gz' > '{}'", density, part, file).c_str()) == 0);
  auto samples = io::read_samples(file, circuit);
  std::filesystem::remove(file);
  return samples;
}

/// The parameters that another program began with.
test::RandomCircuit nltcs_hclt(nlohmann::json const& initial) {
  circuit::HiddenTree hidden{
      .tree = {initial["parent"].get<std::vector<Index>>()}, .num_latents = 8, .inputs = {}, .has_latent_leaves = true};
  hidden.inputs.resize(hidden.tree.parents.size(), {InputKind::categorical, 2});
  test::RandomCircuit made{make_circuit(hidden), {}};
  made.parameters = circuit::initial_parameters(made.circuit, 1);
  for (auto const& vector : made.circuit.vectors) {
    if (vector.kind == NodeKind::input) {
      auto const& input = made.circuit.input_of(vector);
      for (Index i = 0; i < 8; ++i) {
        double const p = initial["p_x1_given_latent"][static_cast<std::size_t>(input.variable)][i];
        made.parameters.input[static_cast<std::size_t>(input.parameter + 2 * i)] = 1 - p;
        made.parameters.input[static_cast<std::size_t>(input.parameter + 2 * i + 1)] = p;
      }
    }
    if (vector.kind != NodeKind::sum) continue;
    auto const& block = made.circuit.blocks_of(vector)[0];
    auto const& product = made.circuit.vectors[static_cast<std::size_t>(made.circuit.vector_of(block.child))];
    auto const& own = made.circuit.factors_of(product)[0];
    auto const variable = static_cast<std::size_t>(
        made.circuit.input_of(made.circuit.vectors[static_cast<std::size_t>(made.circuit.vector_of(own.child))])
            .variable);
    for (Index r = 0; r < block.rows; ++r)
      for (Index c = 0; c < 8; ++c)
        made.parameters.sum[static_cast<std::size_t>(block.parameter + 8 * r + c)] =
            block.rows == 1 ? initial["latent_prior"][static_cast<std::size_t>(c)].get<double>()
                            : initial["p_latent_given_parent"][variable][r][c].get<double>();
  }
  return made;
}

}  // namespace

TEST_CASE_TEMPLATE("extra: expectation maximisation of another program, step by step" *
                       doctest::skip(!std::filesystem::exists(density)),
                   T, HORNBILL_DOUBLE_CELLS) {
  std::ifstream file(density + "nltcs_hclt8_em.json");
  auto const oracle = nlohmann::json::parse(file);
  auto made = nltcs_hclt(oracle["initial"]);
  auto const samples = nltcs(made.circuit, "train"), valid = nltcs(made.circuit, "valid");
  auto trainer = trainer_of<T>(made, samples, {.pseudocount = oracle["pseudocount"]});
  for (auto const& step : oracle["mean_log_likelihood"]) {
    auto const now = trainer.state().parameters;
    auto const of_valid =
        circuit::log_likelihoods<double>(typename T::Exec(), made.circuit, make_plan(made.circuit), now, valid);
    double const mean = std::accumulate(of_valid.log_likelihood.begin(), of_valid.log_likelihood.end(), 0.0) /
                        static_cast<double>(valid.size());
    CHECK(std::abs(mean - step["valid"].get<double>()) <= 1e-9);
    trainer.update();
    CHECK(std::abs(trainer.finished().mean_log_likelihood() - step["train"].get<double>()) <= 1e-9);
  }
}
#endif
