// Most probable derivations against all ways to derive a tuple.
#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>

#include <hornbill/analysis/explain.hpp>
#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>
#include <hornbill/io/names.hpp>

#include "reference/reference.hpp"
#include "support/clauses.hpp"
#include "support/forest_network.hpp"

using namespace hornbill;
using test::clauses_of;

namespace {

std::map<std::string, double> const of_rules{{"R0", 0.9}, {"R1", 0.6}, {"R2", 0.75}};

Model model_of(analysis::ClauseSet const& set) {
  return analysis::build_model(set, of_rules, {}, {}, "c.txt", "p.txt");
}

std::vector<double> logs_of(std::vector<double> values) {
  for (double& value : values) value = std::log(value);
  return values;
}

/// The largest product of a derivation of a tuple, from all choices of a clause for each tuple.
double best_of_all(analysis::ClauseSet const& set, Index target) {
  std::vector<std::vector<Index>> derivers(set.num_tuples());
  for (Index c = 0; c < set.num_clauses(); ++c) derivers[set.heads[c]].push_back(c);
  std::vector<std::size_t> choice(set.num_tuples());
  std::function<double(Index)> const product = [&](Index t) {
    if (derivers[t].empty()) return 1.0;  // inputs hold
    Index const c = derivers[t][choice[t]];
    double p = 1;
    for (Index r : set.rules_of(c)) p *= of_rules.at(set.rule_names[r]);
    for (Index premise : set.body_of(c)) p *= product(premise);
    return p;
  };
  double best = 0;
  for (bool more = true; more;) {
    best = std::max(best, product(target));
    more = false;
    for (Index t = 0; t < set.num_tuples() && !more; ++t) {
      if (derivers[t].empty()) continue;
      choice[t] = (choice[t] + 1) % derivers[t].size();
      more = choice[t] != 0;
    }
  }
  return best;
}

/// All derivations of a variable, of a graph whose factors are in their heads' order: the variables that must be true.
std::vector<std::set<Index>> derivations_of(HostFactorGraph const& graph, Index v) {
  Index const a = v;
  REQUIRE(graph.variables_of(a)[0] == v);
  std::vector<std::set<Index>> result;
  if (graph.factor_type[a] == FactorType::conjunction) result.push_back({v});
  for (Index premise : graph.variables_of(a).subspan(1)) {
    auto const of_premise = derivations_of(graph, premise);
    if (graph.factor_type[a] == FactorType::disjunction) {
      for (auto with_head : of_premise) result.push_back((with_head.insert(v), with_head));
      continue;
    }
    std::vector<std::set<Index>> both;
    for (auto const& one : result)
      for (auto other : of_premise) both.push_back((other.insert(one.begin(), one.end()), other));
    result = both;
  }
  return result;
}

/// P(all of the variables are true | labels)
double probability_of_all(HostFactorGraph const& graph, std::set<Index> const& variables, HostEvidence const& labels) {
  FactorGraphBuilder builder(graph.num_variables);
  for (Index a = 0; a < graph.num_factors(); ++a) {
    auto const of_factor = graph.variables_of(a);
    std::vector<Index> const body(of_factor.begin() + 1, of_factor.end());
    if (graph.factor_type[a] == FactorType::conjunction)
      builder.add_conjunction(of_factor[0], body, graph.p1[a]);
    else
      builder.add_disjunction(of_factor[0], body, graph.p1[a]);
  }
  Index const all = builder.add_variable();
  builder.add_conjunction(all, std::vector<Index>(variables.begin(), variables.end()));
  return static_cast<double>(reference::enumerate_marginals(std::move(builder).build(), labels)[all][1]);
}

}  // namespace

TEST_CASE("explain: given labels, the derivation that most probably holds, where there are no cycles") {
  int with_choice = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto const graph = test::random_forest_network(seed, 10);
    auto const world = sample_world(graph, seed);
    HostEvidence labels;
    for (Index v = 8; v > 8 - static_cast<Index>(seed % 4); --v)
      labels.push_back(v == 7 ? Observation::soft(v, 0.7, 0.2) : Observation::hard(v, world[v]));
    using Exec = Kokkos::DefaultHostExecutionSpace;
    auto const plan = bp::lay_out<Exec>(graph, bp::make_batches(graph, bp::SeqFix{}));
    bp::InferenceOn<Exec, double> inference(Exec(), graph, plan);
    for (auto const& label : labels) inference.observe(label);
    REQUIRE(inference.run({.tolerance = 1e-12}).stop == bp::Stop::converged);
    auto const weights =
        analysis::log_derivation_weights(graph, inference.factor_messages(), inference.variable_messages());
    for (Index tuple = 0; tuple < graph.num_variables; ++tuple) {
      CAPTURE(seed);
      CAPTURE(tuple);
      double best = 0;
      auto const all = derivations_of(graph, tuple);
      with_choice += all.size() > 1;
      for (auto const& one : all) best = std::max(best, probability_of_all(graph, one, labels));
      auto const derivation = analysis::most_probable_derivation(graph, tuple, weights);
      CHECK(std::abs((derivation ? std::exp(derivation->log_weight) : 0) - best) < 1e-9);
    }
  }
  CHECK(with_choice > 50);
}

TEST_CASE("explain: labels that make a tuple less probable than a number can be") {
  Index const labels = 400;  // of clauses of 0.999 each, said to be false: odds of 1e-1200
  FactorGraphBuilder builder(labels + 2);
  builder.add_prior(0, 0.999).add_conjunction(1, std::vector<Index>{0}, 0.5);
  for (Index v = 2; v < labels + 2; ++v) builder.add_conjunction(v, std::vector<Index>{0}, 0.999);
  auto const graph = std::move(builder).build();
  using Exec = Kokkos::DefaultHostExecutionSpace;
  bp::InferenceOn<Exec, double> inference(Exec(), graph,
                                          bp::lay_out<Exec>(graph, bp::make_batches(graph, bp::SeqFix{})));
  for (Index v = 2; v < labels + 2; ++v) inference.observe(Observation::hard(v, 0));
  REQUIRE(inference.run({}).stop == bp::Stop::converged);
  CHECK(inference.marginals()[1] == 0);
  double const expected = std::log(0.999 / 0.001) + labels * std::log(0.001) + std::log(0.5);
  CHECK(inference.log_odds()[1] == doctest::Approx(expected));
  auto const derivation = analysis::most_probable_derivation(
      graph, 1, analysis::log_derivation_weights(graph, inference.factor_messages(), inference.variable_messages()));
  REQUIRE(derivation);
  CHECK(derivation->log_weight == doctest::Approx(expected));
}

TEST_CASE("explain: a clause that several tuples follow from counts once") {
  auto const graph = std::move(FactorGraphBuilder(5)
                                   .add_prior(0, 0.3)
                                   .add_disjunction(1, std::vector<Index>{0})
                                   .add_disjunction(2, std::vector<Index>{0}, 0.5)
                                   .add_conjunction(3, std::vector<Index>{1, 2}, 0.9)
                                   .add_conjunction(4, std::vector<Index>{3, 1}, 0.8))
                         .build();
  auto const derivation = analysis::most_probable_derivation(graph, 4, logs_of(graph.p1));
  REQUIRE(derivation);
  CHECK(derivation->steps.size() == 4);  // 1, 2, 3 and 4
  CHECK(std::exp(derivation->log_weight) == doctest::Approx(0.3 * 0.5 * 0.9 * 0.8));
}

TEST_CASE("explain: the derivation of the largest product") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    auto const set = test::random_clauses(seed, 9, 14, true, 3);
    auto const model = model_of(set);
    for (Index t = 0; t < set.num_tuples(); ++t) {
      if (std::ranges::count(set.heads, t) == 0) continue;
      auto const derivation = analysis::most_probable_derivation(
          model.graph, *io::VariableNames(model.graph).find(set.tuple_names[t]), logs_of(model.graph.p1));
      REQUIRE(derivation);
      std::map<Index, double> product;  // counted as often as used, from steps in order
      double once = 1;
      for (auto const& step : derivation->steps) {
        product[step.tuple] = model.graph.p1[step.clause];
        for (Index premise : step.premises) product[step.tuple] *= product.at(premise);
        once *= model.graph.p1[step.clause];
      }
      CHECK(product.size() == derivation->steps.size());  // each tuple once
      CHECK(product.at(derivation->steps.back().tuple) == doctest::Approx(best_of_all(set, t)));
      CHECK(model.graph.name_of(derivation->steps.back().tuple) == set.tuple_names[t]);
      CHECK(std::exp(derivation->log_weight) == doctest::Approx(once));
    }
  }
}

TEST_CASE("explain: what is ruled out derives nothing") {
  auto const model = model_of(clauses_of("R0: NOT in, a\nR1: NOT in, b\nR1: NOT a, t\nR2: NOT b, t\n"));
  auto const& graph = model.graph;
  auto const find = [&](char const* name) { return *io::VariableNames(graph).find(std::string(name)); };
  auto weights = graph.p1;
  auto const through = [&](char const* name) {
    auto const derivation = analysis::most_probable_derivation(graph, find("t"), logs_of(weights));
    return derivation &&
           std::ranges::any_of(derivation->steps, [&](auto const& step) { return step.tuple == find(name); });
  };
  CHECK(through("a"));  // 0.9 * 0.6, rather than 0.6 * 0.75
  weights[0] = 0;
  REQUIRE(graph.variables_of(0)[0] == find("a") - 1);
  CHECK(through("b"));
  std::fill(weights.begin(), weights.end(), 0);
  CHECK(!analysis::most_probable_derivation(graph, find("t"), logs_of(weights)));
}

TEST_CASE("explain: disjunctions of disjunctions are one tuple") {
  auto const graph = std::move(FactorGraphBuilder(5)
                                   .add_prior(0, 0.3)
                                   .add_prior(1, 0.8)
                                   .add_disjunction(2, std::vector<Index>{0, 1})
                                   .add_disjunction(3, std::vector<Index>{2})
                                   .add_conjunction(4, std::vector<Index>{3}, 0.5))
                         .build();
  auto const derivation = analysis::most_probable_derivation(graph, 4, logs_of(graph.p1));
  REQUIRE(derivation);
  REQUIRE(derivation->steps.size() == 2);
  CHECK(derivation->steps[0].tuple == 3);
  CHECK(derivation->steps[0].clause == 1);
  CHECK(derivation->steps[1].premises == std::vector<Index>{3});
  CHECK(std::exp(derivation->log_weight) == doctest::Approx(0.4));
}

TEST_CASE("explain: what is no Bayesian network") {
  std::vector<double> const one{1};
  auto const table =
      std::move(FactorGraphBuilder(1).add_table(std::vector<Index>{0}, std::vector<double>{1, 2})).build();
  CHECK_THROWS_WITH_AS(analysis::most_probable_derivation(table, 0, one, "t.fg"),
                       doctest::Contains("t.fg: factor 0 is a table"), InputError);
  auto const leaky =
      std::move(FactorGraphBuilder(2).add_prior(0, 0.5).add_disjunction(1, std::vector<Index>{0}, 0.9, 0.1)).build();
  CHECK_THROWS_WITH_AS(analysis::require_derivations(leaky, "l.fg"),
                       doctest::Contains("l.fg: factor 1: variable 1 may be true though its body is not (p2 = 0.1)"),
                       InputError);
  auto const prior = std::move(FactorGraphBuilder(1).add_prior(0, 0.5)).build();
  CHECK_THROWS_AS(analysis::log_derivation_weights(prior, one, {}), ShapeError);
  CHECK_THROWS_AS(analysis::most_probable_derivation(prior, 0, {}), ShapeError);
}
