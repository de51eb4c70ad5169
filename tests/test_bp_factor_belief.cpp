// Beliefs of factors against the products that define them.
#include <cmath>
#include <limits>
#include <random>

#include <doctest/doctest.h>

#include <hornbill/bp/factor_belief.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/horn_factor.hpp>

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
    for (std::size_t entry = 0; entry < table.size(); ++entry) {
      std::vector<bool> values;
      for (int i = 0; i < arity; ++i) values.push_back(entry >> (arity - 1 - i) & 1);
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
