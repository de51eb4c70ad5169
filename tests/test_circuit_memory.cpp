// The memory that circuit::estimate() promises is the memory that a run takes.
#include <cmath>
#include <string>

#include <doctest/doctest.h>

#include <hornbill/circuit.hpp>
#include <hornbill/error.hpp>

#include "support/allocations.hpp"
#include "support/cells.hpp"
#include "support/random_circuits.hpp"

using namespace hornbill;
using circuit::InputKind, circuit::MatrixUnits, circuit::MemoryEstimate, circuit::Samples, circuit::Update;

namespace {

constexpr Index steps = 8, states = 128;

test::RandomCircuit chain() {
  test::RandomCircuit made{make_circuit(circuit::HiddenMarkovModel{steps, states, {InputKind::categorical, 2}}), {}};
  made.parameters = circuit::initial_parameters(made.circuit, 1);
  return made;
}

/// Samples of ones are likely in the first state, which the chain never is in, and all but impossible in others: values
/// too small for a number count.
template <class Value>
test::RandomCircuit chain_of_small_values() {
  auto made = chain();
  double const small = std::is_same_v<Value, float> ? 2e-37 : 2e-307;
  for (std::size_t i = 0; i < made.parameters.sum.size(); i += states) {
    auto const row = made.parameters.sum.begin() + static_cast<std::ptrdiff_t>(i);
    double const rest = 1 - *row;
    *row = 0;
    for (Index j = 1; j < states; ++j) row[j] /= rest;
  }
  for (std::size_t i = 0; i < made.parameters.input.size(); i += 2) {
    made.parameters.input[i] = i == 0 ? 0 : 1;
    made.parameters.input[i + 1] = i == 0 ? 1 : small;
  }
  return made;
}

Samples ones(Index count) { return {steps, std::vector<double>(static_cast<std::size_t>(count) * steps, 1.0)}; }

std::size_t bytes_without_exact_pass(MemoryEstimate const& of) {
  return of.plan + of.parameters + of.values + of.flows;
}

Samples with_likelihoods(Samples samples) {
  samples.soft.push_back({3, std::vector<double>(static_cast<std::size_t>(samples.size()) * 2, 0.5)});
  return samples;
}

}  // namespace

TEST_CASE_TEMPLATE("circuit memory: an evaluation takes what was promised", T, HORNBILL_TEST_CELLS) {
  using Value = typename T::Value;
  constexpr Index batch = 130;
  for (auto const units : {MatrixUnits::never, MatrixUnits::always})
    for (auto const planes : {circuit::Planes::one, circuit::Planes::two})
      for (bool const is_small : {false, true}) {
        auto const made = is_small ? chain_of_small_values<Value>() : chain();
        auto const plan = circuit::make_plan(made.circuit, {.matrix_units = units, .planes = planes});
        auto const samples = is_small ? ones(batch + 40) : with_likelihoods(ones(batch + 40));
        auto const bytes = circuit::estimate<Value>(made.circuit, circuit::lay_out<typename T::Exec>(plan), batch,
                                                    circuit::soft_categories(plan, samples));
        INFO("small values: ", is_small);
        circuit::EvaluateOptions options{.batch_size = batch, .max_bytes = bytes.peak};
        circuit::Likelihoods found;
        auto const promised = is_small ? bytes.peak : bytes_without_exact_pass(bytes);
        test::check_promise<typename T::Memory>(static_cast<double>(promised), [&] {
          found = circuit::log_likelihoods<Value>(typename T::Exec(), made.circuit, plan, made.parameters, samples,
                                                  options);
        });
        CHECK(found.recomputed == (is_small ? batch + 40 : 0));
        options.max_bytes = bytes.peak - 1;
        CHECK_THROWS_WITH_AS(
            circuit::log_likelihoods<Value>(typename T::Exec(), made.circuit, plan, made.parameters, samples, options),
            doctest::Contains("a batch size of 128 fits"), CapacityError);
      }
}

TEST_CASE_TEMPLATE("circuit memory: a training takes what was promised", T, HORNBILL_TEST_CELLS) {
  using Value = typename T::Value;
  for (auto const update : {Update::full_batch, Update::anemone})
    for (auto const units : {MatrixUnits::never, MatrixUnits::always})
      for (bool const is_small : {false, true}) {
        constexpr Index batch = 70;
        auto const made = is_small ? chain_of_small_values<Value>() : chain();
        auto const samples = ones(batch);
        auto const plan = circuit::make_plan(made.circuit, {.matrix_units = units});
        circuit::TrainingOptions options{.update = update, .batch_size = batch, .pseudocount = 0.1};
        if (update == Update::anemone) options.momentum = 0.5;
        auto const laid_out = circuit::lay_out<typename T::Exec>(plan);
        auto const bytes = circuit::estimate<Value>(made.circuit, laid_out, circuit::make_flow_plan(laid_out), options);
        options.max_bytes = bytes.peak;
        INFO("small values: ", is_small);
        Offset recomputed = 0;
        auto const promised = is_small ? bytes.peak : bytes_without_exact_pass(bytes);
        test::check_promise<typename T::Memory>(static_cast<double>(promised), [&] {
          circuit::Trainer<Value, typename T::Exec> trainer({}, made.circuit, plan, samples, {}, options,
                                                            {made.parameters});
          trainer.update();
          recomputed = trainer.finished().recomputed;
        });
        CHECK(recomputed == (is_small ? batch : 0));
      }
}
