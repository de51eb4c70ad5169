// Beliefs of factors against the products that define them.
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include <hornbill/bp/factor_belief.hpp>
#include <hornbill/bp/joint_beliefs.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/horn_factor.hpp>

#include "support/random_graphs.hpp"

using namespace hornbill;

TEST_CASE("factor beliefs: the factor times its messages, normalised") {
  std::mt19937 random(3);
  auto const uniform = [&] { return std::uniform_real_distribution<double>(0, 1)(random); };
  for (int trial = 0; trial < 200; ++trial) {
    int const arity = 1 + trial % 6;
    FactorGraphBuilder builder(arity);
    std::vector<Index> body;
    for (Index v = 1; v < arity; ++v) body.push_back(v);
    double const p1 = trial % 5 ? uniform() : 1, p2 = trial % 3 ? uniform() : 0;
    if (trial % 2)
      builder.add_conjunction(0, body, p1, p2);
    else
      builder.add_disjunction(0, body, p1, p2);
    auto const graph = std::move(builder).build();
    std::vector<double> log_odds;
    for (int i = 0; i < arity; ++i)
      log_odds.push_back(trial % 7 == 0 && i == 1 ? std::numeric_limits<double>::infinity() : 6 * uniform() - 3);
    auto const table = table_of_horn_factor(graph.factor_type[0], p1, p2, arity);
    std::vector<double> products;
    double total = 0;
    for (std::size_t entry = 0; entry < table.size(); ++entry) {
      double product = table[entry];
      for (int i = 0; i < arity; ++i) {
        bool const one = entry >> (arity - 1 - i) & 1;  // the last variable changes fastest
        product *= 1 / (1 + std::exp(one ? -log_odds[i] : log_odds[i]));
      }
      products.push_back(product);
      total += product;
    }
    auto const joint = bp::JointBeliefs(graph).of(0, log_odds);
    REQUIRE(joint.size() == table.size());
    for (std::size_t entry = 0; entry < table.size(); ++entry) {
      std::vector<bool> values;
      for (int i = 0; i < arity; ++i) values.push_back(entry >> (arity - 1 - i) & 1);
      CHECK(joint[entry] == doctest::Approx(products[entry] / total).epsilon(1e-12));
      CHECK(bp::factor_belief(graph, 0, values, log_odds) == doctest::Approx(products[entry] / total).epsilon(1e-12));
    }
  }
}

TEST_CASE("factor beliefs: what does not fit") {
  auto const graph = std::move(FactorGraphBuilder(2)
                                   .add_conjunction(0, std::vector<Index>{1})
                                   .add_table(std::vector<Index>{0}, std::vector<double>{1, 2}))
                         .build();
  std::vector<double> const messages(3);
  CHECK_THROWS_AS(bp::factor_belief(graph, 0, {true}, messages), ShapeError);
  CHECK_THROWS_AS(bp::factor_belief(graph, 1, {true}, messages), InputError);
}

TEST_CASE("joint beliefs: of tables whose variables have several states") {
  FactorGraphBuilder builder(1);
  Index const three = builder.add_variable("three", 3);
  std::vector<double> const table{1, 2, 3, 4, 5, 0};
  auto const graph = std::move(builder.add_prior(0, 0.25).add_table(std::vector<Index>{0, three}, table)).build();
  // of edges 0 and 1 log-odds; of edge 2 log-values, behind all edges
  std::vector<double> const messages{0, std::log(0.3 / 0.7), 0, std::log(2), std::log(1), std::log(4)};
  std::vector<double> products;
  for (std::size_t entry = 0; entry < table.size(); ++entry)
    products.push_back(table[entry] * (entry < 3 ? 0.7 : 0.3) * std::exp(messages[3 + entry % 3]));
  double total = 0;
  for (double product : products) total += product;
  auto const joint = bp::JointBeliefs(graph).of(1, messages);
  REQUIRE(joint.size() == table.size());
  for (std::size_t entry = 0; entry < table.size(); ++entry)
    CHECK(joint[entry] == doctest::Approx(products[entry] / total).epsilon(1e-14));
}

TEST_CASE("joint beliefs: how far they move") {
  auto const graph = test::random_graph(3, {.tables = 0.5, .max_states = 3});
  bp::JointBeliefs const beliefs(graph);
  std::mt19937 random(5);
  std::vector<double> const before(graph.num_messages());
  auto after = before;
  for (double& message : after) message = std::normal_distribution<double>()(random);
  std::vector<double> moves;
  for (Index a = 0; a < graph.num_factors(); ++a) {
    auto const x = beliefs.of(a, before), y = beliefs.of(a, after);
    double move = 0;
    for (std::size_t i = 0; i < x.size(); ++i) move = std::max(move, std::abs(x[i] - y[i]));
    moves.push_back(move);
  }
  auto sorted = moves;
  std::sort(sorted.begin(), sorted.end());
  for (std::size_t below : {std::size_t{0}, sorted.size() / 2, sorted.size() - 1}) {
    auto const moved = beliefs.movement(before, after, sorted[below]);  // more than the tolerance, not as much
    CHECK(moved.factors == std::count_if(moves.begin(), moves.end(), [&](double x) { return x > sorted[below]; }));
    CHECK(moved.largest == sorted.back());
  }
  CHECK(beliefs.movement(after, after, 0).factors == 0);
}

TEST_CASE("joint beliefs: certainty, contradiction and what does not fit") {
  double const infinity = std::numeric_limits<double>::infinity();
  auto const graph = std::move(FactorGraphBuilder(2).add_disjunction(0, std::vector<Index>{1})).build();  // head = body
  bp::JointBeliefs const beliefs(graph);
  CHECK(beliefs.of(0, std::vector{infinity, 0.0}) == std::vector<double>{0, 0, 0, 1});
  CHECK(beliefs.of(0, std::vector{infinity, -infinity}) == std::vector<double>{0, 0, 0, 0});
  CHECK(beliefs.of(0, std::vector{900.0, -900.0}) == std::vector<double>{0.5, 0, 0, 0.5});  // nothing underflows
  CHECK_THROWS_AS(beliefs.of(0, std::vector<double>(3)), ShapeError);
  CHECK_THROWS_AS(beliefs.movement(std::vector<double>(2), std::vector<double>(1), 0), ShapeError);
  FactorGraphBuilder wide(22);
  std::vector<Index> body(21);
  for (Index i = 0; i < 21; ++i) body[i] = i + 1;
  auto const too_wide = std::move(wide.add_disjunction(0, body)).build();
  CHECK_THROWS_AS(bp::JointBeliefs(too_wide).of(0, std::vector<double>(22)), CapacityError);
}
