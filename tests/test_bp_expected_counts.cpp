// Expected counts and the evidence's probability against enumeration, where there are no cycles and both are exact.
#include <cmath>
#include <limits>
#include <numeric>

#include <doctest/doctest.h>

#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>

#include "reference/reference.hpp"
#include "support/cells.hpp"
#include "support/forest_network.hpp"

using namespace hornbill;
using test::random_forest_network;

namespace {

/// Labels of a world, so that they do not contradict each other.
HostEvidence labels_of(HostFactorGraph const& graph, unsigned seed, Index count) {
  auto const world = sample_world(graph, seed);
  HostEvidence labels;
  for (Index i = 0; i < count; ++i) {
    Index const v = graph.num_variables - 1 - 2 * i;
    if (i == 1)
      labels.push_back(Observation::soft(v, 0.3, 0.9));
    else
      labels.push_back(Observation::hard(v, world[v]));
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
    if (graph.factor_type[a] == FactorType::conjunction)
      builder.add_conjunction(variables[0], body, graph.p1[a]);
    else
      builder.add_disjunction(variables[0], body, graph.p1[a]);
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
    REQUIRE(inference.run({.tolerance = 1e-12}).stop == bp::Stop::converged);
    to_variables = inference.factor_messages();
    to_factors = inference.variable_messages();
  }
};

}  // namespace

TEST_CASE_TEMPLATE("expected counts: those of all worlds, where there are no cycles", Cell, HORNBILL_TEST_CELLS) {
  double const tolerance = sizeof(typename Cell::Value) == 4 ? 2e-5 : 1e-9;
  for (unsigned seed = 0; seed < 30; ++seed) {
    auto const graph = random_forest_network(seed, 11);
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
    auto const graph = random_forest_network(seed, 13);
    auto const evidence = labels_of(graph, seed, static_cast<Index>(seed % 6));
    double expected = 0;  // P(a, b, ...) = P(a) P(b | a) ...
    HostEvidence before;
    for (auto const& o : evidence) {
      auto const p = static_cast<double>(reference::enumerate_marginals(graph, before)[o.variable][1]);
      expected +=
          std::log(o.is_hard() ? (o.value == 1 ? p : 1 - p) : p * o.likelihoods[1] + (1 - p) * o.likelihoods[0]);
      before.push_back(o);
    }
    Messages<Cell> const messages(graph, evidence);
    CAPTURE(seed);
    CHECK(bp::log_evidence(graph, network_order(graph), evidence, messages.to_variables) ==
          doctest::Approx(expected).epsilon(1e-9));
  }
}

TEST_CASE_TEMPLATE("log evidence: that of a long path, all of which the last label makes certain", Cell,
                   HORNBILL_DOUBLE_CELLS) {
  Index const length = 40;  // marginals have converged before messages have come so far
  FactorGraphBuilder builder(length);
  builder.add_prior(0, 0.3);
  for (Index v = 1; v < length; ++v) builder.add_conjunction(v, std::vector<Index>{v - 1}, 0.5);
  auto const graph = std::move(builder).build();
  // the last counts
  HostEvidence const said{Observation::hard(length - 1, 0), Observation::soft(3, 0.2, 0.4),
                          Observation::hard(length - 1, 1)};
  Messages<Cell> const messages(graph, said);
  CHECK(bp::log_evidence(graph, network_order(graph), said, messages.to_variables) ==
        doctest::Approx(std::log(0.3) + std::log(0.4) + (length - 1) * std::log(0.5)));
}

TEST_CASE_TEMPLATE("log evidence: heads that may be true though their bodies are not", Cell, HORNBILL_DOUBLE_CELLS) {
  auto const graph = std::move(FactorGraphBuilder(3)
                                   .add_prior(0, 0.25)
                                   .add_conjunction(1, std::vector<Index>{0}, 0.9, 0.1)
                                   .add_disjunction(2, std::vector<Index>{1}, 0.8, 0.3))
                         .build();
  HostEvidence const seen{Observation::hard(2, 1)};
  double const p = 0.25 * 0.9 + 0.75 * 0.1;
  CHECK(bp::log_evidence(graph, network_order(graph), seen, Messages<Cell>(graph, seen).to_variables) ==
        doctest::Approx(std::log(p * 0.8 + (1 - p) * 0.3)));
}

TEST_CASE_TEMPLATE("log evidence: a nearly certain premise of several clauses, observed against", Cell,
                   HORNBILL_DOUBLE_CELLS) {
  Index const causes = 8;  // the tuple fails with 0.001^8
  FactorGraphBuilder builder(causes + 3);
  std::vector<Index> body;
  for (Index c = 0; c < causes; ++c) {
    builder.add_prior(c, 0.999);
    body.push_back(c);
  }
  builder.add_disjunction(causes, body);
  for (Index head : {causes + 1, causes + 2}) builder.add_conjunction(head, std::vector<Index>{causes});
  auto const graph = std::move(builder).build();
  HostEvidence const seen{Observation::hard(causes + 1, 0)};
  CHECK(bp::log_evidence(graph, network_order(graph), seen, Messages<Cell>(graph, seen).to_variables) ==
        doctest::Approx(causes * std::log1p(-0.999)).epsilon(1e-12));
}

TEST_CASE("log evidence: of what cannot be") {
  auto const graph =
      std::move(FactorGraphBuilder(2).add_prior(0, 1).add_conjunction(1, std::vector<Index>{0}, 0.5)).build();
  std::vector<double> const nothing_said(3);
  CHECK(bp::log_evidence(graph, network_order(graph), {Observation::hard(0, 0)}, nothing_said) ==
        -std::numeric_limits<double>::infinity());
}

TEST_CASE("expected counts: what does not fit") {
  auto const graph =
      std::move(FactorGraphBuilder(2).add_prior(0, 0.5).add_conjunction(1, std::vector<Index>{0}, 0.9, 0.1)).build();
  std::vector<double> const messages(3);
  CHECK_THROWS_WITH_AS(bp::expected_counts(graph, messages, messages),
                       doctest::Contains("factor 1 may be true though its body is not (p2 = 0.1)"), InputError);
  CHECK_THROWS_AS(bp::expected_counts(graph, messages, std::vector<double>(2)), ShapeError);
  CHECK_THROWS_AS(bp::log_evidence(graph, network_order(graph), {}, std::vector<double>(2)), ShapeError);
  CHECK_THROWS_AS(bp::log_evidence(graph, std::vector<Index>(1), {}, messages), ShapeError);
  CHECK_THROWS_AS(bp::log_evidence(graph, network_order(graph), {Observation::hard(2, 1)}, messages), InputError);
}

TEST_CASE_TEMPLATE("inference: other probabilities are as if they had been there from the start", Cell,
                   HORNBILL_TEST_CELLS) {
  using Exec = typename Cell::Exec;
  auto graph = random_forest_network(3, 60);
  auto const plan = bp::lay_out<Exec>(graph, bp::make_batches(graph, bp::Parall{}));
  auto const inference_over = [&](HostFactorGraph const& of) {
    return bp::InferenceOn<Exec, typename Cell::Value>(Exec(), of, plan);
  };
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
  for (double p : {std::numeric_limits<double>::quiet_NaN(), 1.5}) {
    auto bad = graph;
    bad.p1[0] = p;
    CHECK_THROWS_WITH_AS(inference.set_probabilities(bad), doctest::Contains("which is not in [0, 1]"), InputError);
  }
  auto const uncertain = std::find_if(graph.p1.begin(), graph.p1.end(), [](double p) { return p < 1; });
  for (double p : {0.0, 1.0, 1e-13}) {
    *uncertain = p;
    CHECK_THROWS_AS(inference.set_probabilities(graph), InputError);
  }
}

TEST_CASE_TEMPLATE("run: graphs that differ in their probabilities alone, in one state", Cell, HORNBILL_DOUBLE_CELLS) {
  using Exec = typename Cell::Exec;
  Exec const exec;
  auto const host = random_forest_network(5, 40);
  auto changed = host;
  for (double& p : changed.p1)
    if (p < 1) p = 0.25 + p / 2;
  auto const plan = bp::make_plan(exec, host, bp::Parall{});
  auto const graph = bp::to_device<double>(exec, host), other = bp::to_device<double>(exec, changed);
  auto with_other_probabilities = graph;
  with_other_probabilities.parameters = other.parameters;
  bp::Evidence const evidence(exec, host, graph);
  auto state = bp::make_state(exec, graph, plan), anew = bp::make_state(exec, other, plan);
  bp::run(exec, graph, evidence, plan, state, {});
  bp::run(exec, with_other_probabilities, evidence, plan, state, {.warm_start = false});
  bp::run(exec, other, evidence, plan, anew, {});
  auto const expected = bp::marginals(exec, other, anew), result = bp::marginals(exec, graph, state);
  for (std::size_t v = 0; v < expected.size(); ++v) CHECK(result[v] == doctest::Approx(expected[v]).epsilon(1e-5));
}
