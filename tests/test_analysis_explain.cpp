// Most probable derivations against all ways to derive a tuple.
#include <algorithm>
#include <functional>
#include <map>

#include <doctest/doctest.h>

#include <hornbill/analysis/explain.hpp>
#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>

#include "support/clauses.hpp"

using namespace hornbill;
using test::clauses_of;

namespace {

std::map<std::string, double> const probabilities{{"R0", 0.9}, {"R1", 0.6}, {"R2", 0.75}};

io::Model model_of(analysis::ClauseSet const& set) { return analysis::build_model(set, probabilities, {}, {}, "c.txt", "p.txt"); }

/// The largest product of a derivation of a tuple, from all choices of a clause for each tuple.
double best_of_all(analysis::ClauseSet const& set, Index target) {
  std::vector<std::vector<Index>> derivers(set.num_tuples());
  for (Index c = 0; c < set.num_clauses(); ++c) derivers[set.heads[c]].push_back(c);
  std::vector<std::size_t> choice(set.num_tuples());
  std::function<double(Index)> const product = [&](Index t) {
    if (derivers[t].empty()) return 1.0;  // inputs hold
    Index const c = derivers[t][choice[t]];
    double p = 1;
    for (Index r : set.rules_of(c)) p *= probabilities.at(set.rule_names[r]);
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

}  // namespace

TEST_CASE("explain: the derivation of the largest product") {
  for (unsigned seed = 1; seed <= 40; ++seed) {
    CAPTURE(seed);
    auto const set = test::random_clauses(seed, 9, 14, true, 3);
    auto const model = model_of(set);
    for (Index t = 0; t < set.num_tuples(); ++t) {
      if (std::ranges::count(set.heads, t) == 0) continue;
      auto const derivation = analysis::most_probable_derivation(model.graph, *io::find_variable(model.graph, set.tuple_names[t]), model.graph.p1);
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
      CHECK(derivation->probability == doctest::Approx(once));
    }
  }
}

TEST_CASE("explain: what is ruled out derives nothing") {
  auto const model = model_of(clauses_of("R0: NOT in, a\nR1: NOT in, b\nR1: NOT a, t\nR2: NOT b, t\n"));
  auto const& graph = model.graph;
  auto const find = [&](char const* name) { return *io::find_variable(graph, name); };
  auto holds = graph.p1;
  auto const through = [&](char const* name) {
    auto const derivation = analysis::most_probable_derivation(graph, find("t"), holds);
    return derivation && std::ranges::any_of(derivation->steps, [&](auto const& step) { return step.tuple == find(name); });
  };
  CHECK(through("a"));  // 0.9 * 0.6, rather than 0.6 * 0.75
  holds[0] = 0;
  REQUIRE(graph.variables_of(0)[0] == find("a") - 1);
  CHECK(through("b"));
  std::fill(holds.begin(), holds.end(), 0);
  CHECK(!analysis::most_probable_derivation(graph, find("t"), holds));
}

TEST_CASE("explain: disjunctions of disjunctions are one tuple") {
  auto const graph = std::move(FactorGraphBuilder(5)
                                   .add_prior(0, 0.3)
                                   .add_prior(1, 0.8)
                                   .add_disjunction(2, std::vector<Index>{0, 1})
                                   .add_disjunction(3, std::vector<Index>{2})
                                   .add_conjunction(4, std::vector<Index>{3}, 0.5))
                         .build();
  auto const derivation = analysis::most_probable_derivation(graph, 4, graph.p1);
  REQUIRE(derivation);
  REQUIRE(derivation->steps.size() == 2);
  CHECK(derivation->steps[0].tuple == 3);
  CHECK(derivation->steps[0].clause == 1);
  CHECK(derivation->steps[1].premises == std::vector<Index>{3});
  CHECK(derivation->probability == doctest::Approx(0.4));
}

TEST_CASE("explain: what is no Bayesian network") {
  std::vector<double> const one{1};
  auto const table = std::move(FactorGraphBuilder(1).add_table(std::vector<Index>{0}, std::vector<double>{1, 2})).build();
  CHECK_THROWS_WITH_AS(analysis::most_probable_derivation(table, 0, one, "t.fg"), doctest::Contains("t.fg: factor 0 is a table"), InputError);
  auto const prior = std::move(FactorGraphBuilder(1).add_prior(0, 0.5)).build();
  CHECK_THROWS_AS(analysis::most_probable_derivation(prior, 0, {}), ShapeError);
}
