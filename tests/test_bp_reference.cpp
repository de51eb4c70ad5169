// The oracle against hand-computed values and enumeration.
#include <doctest/doctest.h>

#include <hornbill/bp/schedule.hpp>

#include "support/compare.hpp"
#include "support/random_graphs.hpp"

using namespace hornbill;

TEST_CASE("reference: the example of FastLBP's Fig. 2, by hand") {
  FactorGraphBuilder builder(3);
  builder.add_prior(0, 0.9).add_prior(1, 0.8).add_conjunction(2, std::vector<Index>{0, 1}, 0.7);
  auto const graph = std::move(builder).build();
  auto const exact = reference::enumerate_marginals(graph, {});
  CHECK(exact[2][1] == doctest::Approx(0.9 * 0.8 * 0.7));
  reference::BeliefPropagation bp(graph, {});
  bp.run_parall(2);
  CHECK(bp.marginals()[2][1] == doctest::Approx(0.504));
  auto const given = reference::enumerate_marginals(graph, {Observation::hard(2, 0)});
  CHECK(given[0][1] == doctest::Approx((0.9 - 0.504) / (1 - 0.504)));
}

TEST_CASE("reference: belief propagation is exact on forests, with hard and soft evidence") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    auto const graph = test::random_forest(seed, 8);
    HostEvidence evidence{Observation::soft(0, 0.2, 0.7)};
    if (graph.num_variables > 2) evidence.push_back(Observation::hard(graph.num_variables - 1, seed % 2));
    auto const exact = test::p_true(reference::enumerate_marginals(graph, evidence));
    reference::BeliefPropagation parall(graph, evidence), sequence(graph, evidence);
    parall.run_parall(20);
    sequence.run_sequence(bp::topological_order(graph), 1);  // one sweep is exact on a forest
    test::check_close(test::p_true(parall.marginals()), exact, 1e-15, fmt::format("PARALL, seed {}", seed));
    test::check_close(test::p_true(sequence.marginals()), exact, 1e-15, fmt::format("TOPO, seed {}", seed));
  }
}

TEST_CASE("reference: AND and OR equal their tables") {
  FactorGraphBuilder builder(4);
  builder.add_prior(1, 0.3).add_prior(2, 0.6).add_prior(3, 0.5).add_disjunction(0, std::vector<Index>{1, 2, 3}, 0.9,
                                                                                0.05);
  auto const horn = std::move(builder).build();
  FactorGraphBuilder tables(4);
  tables.add_prior(1, 0.3).add_prior(2, 0.6).add_prior(3, 0.5);
  std::vector<double> table(16);
  for (int i = 0; i < 16; ++i) table[i] = (i & 7) ? (i & 8 ? 0.9 : 1 - 0.9) : (i & 8 ? 0.05 : 1 - 0.05);
  tables.add_table(std::vector<Index>{0, 1, 2, 3}, table);
  auto const dense = std::move(tables).build();
  HostEvidence const evidence{Observation::hard(0, 1)};
  test::check_close(test::p_true(reference::enumerate_marginals(dense, evidence)),
                    test::p_true(reference::enumerate_marginals(horn, evidence)), 1e-16, "marginals");
}
