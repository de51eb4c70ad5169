// Expected counts and the evidence's probability against enumeration, where there are no cycles and both are exact.
#include <cmath>
#include <numeric>
#include <random>

#include <doctest/doctest.h>

#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>

#include "reference/reference.hpp"
#include "support/cells.hpp"

using namespace hornbill;

namespace {

/// A Bayesian network in which every variable is used at most once.
HostFactorGraph random_forest(unsigned seed, Index num_variables) {
  std::mt19937 random(seed);
  auto const below = [&](std::size_t n) { return random() % n; };
  auto const uniform = [&] { return static_cast<double>(random() % 1000 + 1) / 1002; };
  FactorGraphBuilder builder(num_variables);
  std::vector<Index> unused;
  for (Index v = 0; v < num_variables; ++v) {
    std::vector<Index> body;
    for (std::size_t wanted = below(4); wanted > 0 && !unused.empty(); --wanted) {
      auto const chosen = unused.begin() + static_cast<std::ptrdiff_t>(below(unused.size()));
      body.push_back(*chosen);
      unused.erase(chosen);
    }
    if (body.empty() || below(2)) builder.add_conjunction(v, body, below(5) ? uniform() : 1);
    else builder.add_disjunction(v, body);
    unused.push_back(v);
  }
  return std::move(builder).build();
}

/// Labels of a world, so that they do not contradict each other.
HostEvidence labels_of(HostFactorGraph const& graph, unsigned seed, Index count) {
  auto const world = sample_world(graph, seed);
  HostEvidence labels;
  for (Index i = 0; i < count; ++i) {
    Index const v = graph.num_variables - 1 - 2 * i;
    if (i == 1) labels.push_back(Observation::soft(v, 0.3, 0.9));
    else labels.push_back(Observation::hard(v, world[v]));
  }
  return labels;
}

/// The graph, and for each conjunction a variable that is its body.
HostFactorGraph with_bodies(HostFactorGraph const& graph) {
  FactorGraphBuilder builder(graph.num_variables);
  std::vector<std::vector<Index>> bodies;
  for (Index a = 0; a < graph.num_factors(); ++a) {
    auto const variables = graph.variables_of(a);
    std::vector<Index> const body(variables.begin() + 1, variables.end());
    if (graph.factor_type[a] == FactorType::conjunction) builder.add_conjunction(variables[0], body, graph.p1[a]);
    else builder.add_disjunction(variables[0], body);
    if (graph.factor_type[a] == FactorType::conjunction) bodies.push_back(body);
  }
  for (auto const& body : bodies) builder.add_conjunction(builder.add_variable(), body);
  return std::move(builder).build();
}

template <class Cell>
struct Messages {
  std::vector<double> to_variables, to_factors;

  Messages(HostFactorGraph const& graph, HostEvidence const& evidence) {
    using Exec = typename Cell::Exec;
    auto const plan = bp::lay_out<Exec>(graph, bp::make_batches(graph, bp::Parall{}));
    bp::InferenceOn<Exec, typename Cell::Value> inference(Exec(), graph, plan);
    for (auto const& o : evidence) inference.observe(o);
    REQUIRE(inference.run({.max_iterations = 100, .tolerance = 0}).stop == bp::Stop::iteration_limit);  // longer than any path: see log_evidence()
    to_variables = inference.factor_messages();
    to_factors = inference.variable_messages();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("expected counts: those of all worlds, where there are no cycles", Cell, HORNBILL_TEST_CELLS) {
  double const tolerance = sizeof(typename Cell::Value) == 4 ? 2e-5 : 1e-9;
  for (unsigned seed = 0; seed < 30; ++seed) {
    auto const graph = random_forest(seed, 11);
    auto const evidence = labels_of(graph, seed, static_cast<Index>(seed % 5));
    Messages<Cell> const messages(graph, evidence);
    auto const counts = bp::expected_counts(graph, messages.to_variables, messages.to_factors);
    auto const exact = reference::enumerate_marginals(with_bodies(graph), evidence);
    auto body = static_cast<std::size_t>(graph.num_variables);
    for (Index a = 0; a < graph.num_factors(); ++a) {
      CAPTURE(a);
      if (graph.factor_type[a] != FactorType::conjunction) {
        CHECK(counts.tried[a] == 0);
        continue;
      }
      CHECK(std::abs(counts.fired[a] - static_cast<double>(exact[graph.variables_of(a)[0]][1])) <= tolerance);
      CHECK(std::abs(counts.tried[a] - static_cast<double>(exact[body++][1])) <= tolerance);
    }
  }
}

TEST_CASE_TEMPLATE("log evidence: that of all worlds, where there are no cycles", Cell, HORNBILL_DOUBLE_CELLS) {
  for (unsigned seed = 0; seed < 30; ++seed) {
    auto const graph = random_forest(seed, 13);
    auto const evidence = labels_of(graph, seed, static_cast<Index>(seed % 6));
    double expected = 0;  // P(a, b, ...) = P(a) P(b | a) ...
    HostEvidence before;
    for (auto const& o : evidence) {
      auto const p = static_cast<double>(reference::enumerate_marginals(graph, before)[o.variable][1]);
      expected += std::log(o.is_hard() ? (o.value == 1 ? p : 1 - p) : p * o.likelihood[1] + (1 - p) * o.likelihood[0]);
      before.push_back(o);
    }
    Messages<Cell> const messages(graph, evidence);
    CAPTURE(seed);
    CHECK(bp::log_evidence(graph, evidence, messages.to_variables, messages.to_factors) == doctest::Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE("expected counts: what does not fit") {
  auto const graph = std::move(FactorGraphBuilder(2).add_prior(0, 0.5).add_conjunction(1, std::vector<Index>{0}, 0.9, 0.1)).build();
  std::vector<double> const messages(3);
  CHECK_THROWS_WITH_AS(bp::expected_counts(graph, messages, messages), doctest::Contains("factor 1 may be true though its body is not (p2 = 0.1)"), InputError);
  CHECK_THROWS_AS(bp::expected_counts(graph, messages, std::vector<double>(2)), ShapeError);
  CHECK_THROWS_AS(bp::log_evidence(graph, {}, std::vector<double>(2), messages), ShapeError);
  auto const table = std::move(FactorGraphBuilder(1).add_table(std::vector<Index>{0}, std::vector<double>{1, 2})).build();
  CHECK_THROWS_AS(bp::log_evidence(table, {}, std::vector<double>(1), std::vector<double>(1)), InputError);
}

TEST_CASE_TEMPLATE("inference: other probabilities are as if they had been there from the start", Cell, HORNBILL_TEST_CELLS) {
  using Exec = typename Cell::Exec;
  auto graph = random_forest(3, 60);
  auto const plan = bp::lay_out<Exec>(graph, bp::make_batches(graph, bp::Parall{}));
  auto const inference_over = [&](HostFactorGraph const& of) { return bp::InferenceOn<Exec, typename Cell::Value>(Exec(), of, plan); };
  auto inference = inference_over(graph);
  inference.observe(Observation::hard(59, 1));
  inference.run({});
  auto const before = inference.marginals();
  for (double& p : graph.p1)
    if (p < 1) p = 0.25 + p / 2;
  inference.set_probabilities(graph);
  CHECK(inference.run({}).stop == bp::Stop::converged);
  auto anew = inference_over(graph);
  anew.observe(Observation::hard(59, 1));
  anew.run({});
  double largest = 0;
  for (std::size_t v = 0; v < before.size(); ++v) {
    CHECK(std::abs(inference.marginals()[v] - anew.marginals()[v]) < 1e-5);
    largest = std::max(largest, std::abs(before[v] - anew.marginals()[v]));
  }
  CHECK(largest > 0.05);
  auto const uncertain = std::find_if(graph.p1.begin(), graph.p1.end(), [](double p) { return p < 1; });
  for (double p : {0.0, 1.0, 1e-13}) {
    *uncertain = p;
    CHECK_THROWS_AS(inference.set_probabilities(graph), InputError);
  }
}
