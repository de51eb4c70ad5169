// Circuits of known structures.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <sstream>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/circuit.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/circuit_file.hpp>

#include "support/cells.hpp"

using namespace hornbill;
using circuit::InputKind;

namespace {

/// The circuits of table 1 of Liu et al. 2024 have so many nodes that are not products, and edges.
void check_size(circuit::Circuit const& circuit, Index nodes, Offset edges) {
  auto const statistics = circuit::statistics_of(circuit);
  CHECK(statistics.inputs + statistics.sums == nodes);
  CHECK(statistics.sum_edges + statistics.product_edges == edges);
  CHECK(statistics.unreachable == 0);
}

/// Samples of a chain of variables, each as the one before it but for one time in five.
circuit::Samples samples_of_chain(std::vector<Index> const& order, Offset count) {
  circuit::Samples samples{static_cast<Index>(order.size()),
                           std::vector<double>(order.size() * static_cast<std::size_t>(count))};
  std::uint64_t state = 7;
  for (Offset s = 0; s < count; ++s) {
    double last = 0;
    for (Index v : order) {
      state = state * 6364136223846793005u + 1442695040888963407u;
      last = (state >> 33) % 5 == 0 ? 1 - last : last;
      samples.values[static_cast<std::size_t>(s * samples.num_variables + v)] = last;
    }
  }
  return samples;
}

double mean(std::vector<double> const& values) {
  double sum = 0;
  for (double v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

}  // namespace

TEST_CASE("structures: hidden Markov models") {
  auto const circuit = make_circuit(circuit::HiddenMarkovModel{32, 512, {InputKind::categorical, 50}});
  check_size(circuit, 32 * 512 + 31 * 512 + 1, 31 * 512 * 512 + 512 + 63 * 512);
  CHECK(circuit.num_sum_parameters == 512 * 512 + 512);
  CHECK(circuit.num_input_parameters == 512 * 50);
  auto const free = make_circuit(circuit::HiddenMarkovModel{3, 4, {InputKind::gaussian, 0, 0.1}, false});
  CHECK(free.num_sum_parameters == 2 * 16 + 4);
  CHECK(free.num_input_parameters == 3 * 4 * 2);
  CHECK(make_circuit(circuit::HiddenMarkovModel{1, 3}).num_nodes() == 7);
  CHECK_THROWS_WITH_AS(make_circuit(circuit::HiddenMarkovModel{0, 3}),
                       "the number of steps is 0; it must be at least 1", InputError);
}

TEST_CASE("structures: random tensor networks have the sizes of RAT-SPNs") {
  auto const make = [](Index latents, std::uint64_t seed) {
    return make_circuit(circuit::RandomTensorNetwork{784, latents, 5, 2, 2, {InputKind::categorical, 256}, seed});
  };
  auto const circuit = make(64, 1);
  // 784 input vectors, and 2 x (2 + 4 + ... + 32) vectors of sums
  check_size(circuit, (784 + 124) * 64 + 1, 124 * 64 * 64 + 2 * 64 + 2 * 64 * (784 + 2 * 31));
  CHECK(make(64, 1) == circuit);
  CHECK_FALSE(make(64, 2) == circuit);
  auto const scopes = circuit::find_scopes(circuit, "c");
  CHECK(first_unstructured_product(circuit, scopes));  // the second division is another
  auto const few = make_circuit(circuit::RandomTensorNetwork{3, 2, 9, 1, 3, {InputKind::bernoulli, 2}});
  CHECK(circuit::statistics_of(few).sums == 3 * 2 + 1);
  CHECK_THROWS_AS(make_circuit(circuit::RandomTensorNetwork{3, 2, 1, 1, 1}), InputError);
  CHECK_THROWS_AS(make_circuit(circuit::RandomTensorNetwork{3, 2, 1, 1, 2, {InputKind::literal, 2}}), InputError);
}

TEST_CASE("structures: a Chow-Liu tree finds the chain that samples are of, and begins in its middle") {
  auto const samples = samples_of_chain({4, 2, 0, 1, 3}, 4000);
  auto const tree = circuit::chow_liu_tree(samples, {2, 2, 2, 2, 2});
  CHECK(tree.parents == std::vector<Index>{-1, 0, 0, 1, 2});
  auto scaled = samples;  // of which each bin is one of the two values
  for (auto& x : scaled.values) x = 200 * x + 17;
  CHECK(circuit::chow_liu_tree(scaled, std::vector<Index>(5, 256), {.num_bins = 8}).parents == tree.parents);
  CHECK(circuit::chow_liu_tree(scaled, std::vector<Index>(5, 0), {.num_bins = 4}).parents == tree.parents);
  auto missing = samples;
  for (std::size_t i = 0; i < missing.values.size(); i += 7) missing.values[i] = circuit::missing;
  CHECK(circuit::chow_liu_tree(missing, {2, 2, 2, 2, 2}).parents == tree.parents);
  CHECK_THROWS_AS(circuit::chow_liu_tree({5, {}}, {2, 2, 2, 2, 2}), InputError);
  CHECK_THROWS_AS(circuit::chow_liu_tree(samples, {2, 2}), ShapeError);
}

TEST_CASE("structures: latent variables in a tree") {
  circuit::HiddenTree hidden{{{-1, 0, 0, 1, 2}}, 4, std::vector<circuit::InputChoice>(5, {InputKind::categorical, 3})};
  auto const circuit = make_circuit(hidden);
  // 1 and 2 have latent variables, 3 and 4 are leaves
  check_size(circuit, 5 * 4 + 2 * 4 + 1, 2 * 16 + 4 + 4 * (2 + 2 + 3));
  hidden.has_latent_leaves = true;
  check_size(make_circuit(hidden), 5 * 4 + 4 * 4 + 1, 4 * 16 + 4 + 4 * (1 + 1 + 2 + 2 + 3));
  hidden.inputs[2] = {InputKind::gaussian, 0, 0.01};
  CHECK_NOTHROW(make_circuit(hidden));
  hidden.tree.parents = {1, 0, 0, 1, 2};
  CHECK_THROWS_WITH_AS(make_circuit(hidden), "a tree has one root; 0 variables have no parent", InputError);
  hidden.tree.parents = {-1, 2, 1, 0, 0};
  CHECK_THROWS_WITH_AS(make_circuit(hidden), "parents of variables go in a circle; they must be a tree", InputError);
}

TEST_CASE("structures: a tree that is fitted is deterministic, and the best there is") {
  auto const samples = samples_of_chain({4, 2, 0, 1, 3}, 500);
  std::vector<Index> const categories(5, 2);
  auto const [circuit, parameters] =
      circuit::fit_tree(circuit::chow_liu_tree(samples, categories), samples, categories, 0);
  validate(circuit, parameters, "a tree");
  CHECK(find_determinism(circuit, parameters).state == circuit::Determinism::State::shown);
  auto const log_likelihood = [&](circuit::VariableTree const& tree) {
    auto const fitted = circuit::fit_tree(tree, samples, categories, 0);
    return mean(circuit::log_likelihoods<double>(test::AnyHost(), fitted.circuit, make_plan(fitted.circuit),
                                                 fitted.parameters, samples)
                    .log_likelihood);
  };
  double const best = log_likelihood(circuit::chow_liu_tree(samples, categories));
  CHECK(best > log_likelihood({{-1, 0, 1, 2, 3}}) + 0.1);
  CHECK_THROWS_AS(circuit::fit_tree({{-1, 0}}, {2, {0, 0}}, {2, 0}, 0.1), InputError);
}
