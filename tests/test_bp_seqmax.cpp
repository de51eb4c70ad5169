// SEQMAX: one message at a time, that of the largest residual.
#include "support/cells.hpp"
#include "support/compare.hpp"
#include "support/random_graphs.hpp"
#include "support/solver.hpp"

using namespace hornbill;
using test::Solver;

TEST_CASE_TEMPLATE("seqmax: updates come in the oracle's order", T, HORNBILL_DOUBLE_CELLS) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    auto const graph = test::random_graph(
        seed, {.num_variables = 100, .num_factors = seed == 6 ? 15 : 120, .largest_body = seed == 6 ? 60 : 5});
    HostEvidence const evidence{Observation::soft(static_cast<Index>(seed), 0.3, 0.6),
                                Observation::hard(static_cast<Index>(50 + seed), 0)};
    Solver<T> solver(graph, bp::SeqMax{}, evidence);
    reference::BeliefPropagation oracle(graph, evidence);
    oracle.run_largest_first(graph.num_edges());
    REQUIRE(solver.iterate(1).contradiction == -1);
    test::check_close(solver.marginals(), test::p_true(oracle.marginals()), 1e-12, fmt::format("seed {}", seed));
    reference::BeliefPropagation other_order(graph, evidence);
    std::vector<Offset> order(graph.num_edges());
    std::iota(order.begin(), order.end(), 0);
    other_order.run_sequence(order, 1);
    // so it is the order that tells
    CHECK(test::largest_difference(solver.marginals(), test::p_true(other_order.marginals())) > 1e-6);
  }
}

TEST_CASE_TEMPLATE("seqmax: ends where SEQFIX does; tables, damping and acceleration included", T,
                   HORNBILL_TEST_CELLS) {
  bool const is_double = sizeof(typename T::Value) == 8;
  auto const horn = test::random_graph(21, {.num_variables = 120, .num_factors = 100, .largest_body = 3});
  auto const tables = test::random_graph(
      2, {.num_variables = 40, .num_factors = 36, .largest_body = 2, .tables = 0.5, .max_states = 3});
  for (auto const* graph : {&horn, &tables}) {
    HostEvidence const evidence{Observation::hard(3, 0)};
    bp::Options options{.max_iterations = 3000, .tolerance = is_double ? 1e-11 : 1e-5};
    Solver<T> expected(*graph, bp::SeqFix{}, evidence);
    REQUIRE(expected.run(options).stop == bp::Stop::converged);
    for (auto const& [damping, after] : {std::pair{0.0, -1}, std::pair{0.4, -1}, std::pair{0.0, 0}}) {
      options.damping = damping;
      options.acceleration.after = after;
      Solver<T> solver(*graph, bp::SeqMax{}, evidence);
      INFO("damping ", damping, ", acceleration after ", after);
      CHECK(solver.run(options).stop == bp::Stop::converged);
      test::check_close(solver.marginals(), expected.marginals(), is_double ? 1e-8 : 1e-3, "marginals");
    }
  }
}

TEST_CASE_TEMPLATE("seqmax: on a chain one iteration brings news from one end to the other, against file order", T,
                   HORNBILL_TEST_CELLS) {
  Index const length = 200;
  FactorGraphBuilder builder(length);
  for (Index v = length - 1; v > 0; --v) builder.add_conjunction(v, std::vector<Index>{v - 1}, 0.999, 0.001);
  auto const graph = std::move(builder).build();
  HostEvidence const evidence{Observation::hard(0, 1)};
  Solver<T> largest_first(graph, bp::SeqMax{}, evidence), file_order(graph, bp::SeqFix{}, evidence);
  largest_first.iterate(1);
  file_order.iterate(1);
  CHECK(largest_first.marginals()[length - 1] > 0.9 * 0.5 * (1 + std::pow(0.998, length - 1)));
  CHECK(file_order.marginals()[length - 1] == doctest::Approx(0.5));
}

TEST_CASE_TEMPLATE("seqmax: has not converged while a message waits that would change much", T, HORNBILL_TEST_CELLS) {
  if (backend::TuningOf<typename T::Exec>::value.bp.lanes) return;  // one thread of a GPU would take minutes
  // In float all updates of an iteration go where marginals no longer move, and all the others wait.
  auto const generated = generate(options_like("weblech"));
  auto const labels = generated.labels(10);
  Solver<T> largest_first(generated.graph, bp::SeqMax{}, labels), expected(generated.graph, bp::SeqFix{}, labels);
  REQUIRE(largest_first.run({.tolerance = 1e-5}).stop == bp::Stop::converged);
  REQUIRE(expected.run({.tolerance = 1e-5}).stop == bp::Stop::converged);
  test::check_close(largest_first.marginals(), expected.marginals(), 1e-2, "marginals");
}

TEST_CASE("seqmax: of several evidence sets it is refused; a graph without factors is at rest") {
  auto const graph = test::random_graph(1, {.num_variables = 20, .num_factors = 20});
  CHECK_THROWS_AS(bp::lay_out<test::AnyHost>(graph, bp::make_batches(graph, bp::SeqMax{}), {.sets = 2}), InputError);
  Solver<test::Cell<test::AnyHost, double>> empty(FactorGraphBuilder(3).build(), bp::SeqMax{});
  CHECK(empty.run().stop == bp::Stop::converged);
  CHECK(empty.run().local_work == 0);
}
