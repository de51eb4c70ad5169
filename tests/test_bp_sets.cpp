// Several evidence sets at once against one after another.
#include <cmath>
#include <limits>

#include <doctest/doctest.h>

#include <fmt/format.h>

#include "support/cells.hpp"
#include "support/compare.hpp"
#include "support/random_graphs.hpp"
#include "support/solver.hpp"

using namespace hornbill;
using test::Solver;

namespace {

/// A run of all sets, as tests use it.
template <class T>
struct SetsSolver {
  using Value = typename T::Value;
  typename T::Exec exec;
  HostFactorGraph host;
  bp::FactorGraph<Value, typename T::Memory> device = bp::to_device<Value>(exec, host);
  bp::EvidenceSets<Value, typename T::Memory> evidence;
  bp::Plan<typename T::Memory> plan;
  bp::State<Value, typename T::Memory> state;

  SetsSolver(HostFactorGraph const& graph, bp::Strategy const& strategy, std::vector<HostEvidence> const& sets,
             bp::Execution execution = bp::Execution::automatic)
      : host(graph),
        evidence(exec, graph, device, sets),
        plan(bp::make_plan(exec, graph, strategy, {execution, static_cast<Index>(sets.size())})),
        state(bp::make_state(exec, device, plan)) {}
  std::vector<bp::Report> run(bp::Options const& options = {}) {
    return bp::run(exec, device, evidence, plan, state, options);
  }
};

/// Nothing, one label, two, ...; of variables whose labels do not contradict what is certain.
std::vector<HostEvidence> growing_sets(HostFactorGraph const& graph, std::size_t count) {
  std::vector<HostEvidence> sets(1);
  for (std::size_t s = 1; s < count; ++s) {
    sets.push_back(sets.back());
    auto const v = static_cast<Index>(s * 7919 % graph.num_variables);
    std::vector<double> likelihoods{0.2, 0.7, 0.4};
    likelihoods.resize(static_cast<std::size_t>(graph.states(v)));
    sets.back().push_back(s % 2 == 0 ? Observation::soft(v, likelihoods)
                                     : Observation::hard(v, static_cast<Index>(s % 3 == 0)));
  }
  return sets;
}

}  // namespace

TEST_CASE_TEMPLATE("sets: each has the bits of a run of its own", T, HORNBILL_TEST_CELLS) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    auto const graph = test::random_graph(
        seed, {.num_variables = 120, .largest_body = 70, .deterministic = false, .tables = 0.2, .max_states = 3});
    auto const sets = growing_sets(graph, 5);
    for (auto const& [strategy, execution] :
         {std::pair<bp::Strategy, bp::Execution>{bp::Parall{}, bp::Execution::automatic},
          {bp::SeqFix{}, bp::Execution::batched},
          {bp::SeqFix{}, bp::Execution::sequential},
          {bp::SeqRnd{}, bp::Execution::batched}}) {
      SetsSolver<T> together(graph, strategy, sets, execution);
      auto const reports = together.run({.max_iterations = 7, .tolerance = 0});
      REQUIRE(reports.size() == sets.size());
      for (std::size_t s = 0; s < sets.size(); ++s) {
        Solver<T> alone(graph, strategy, sets[s], {execution});
        auto const report = alone.iterate(7);
        auto const what = fmt::format("seed {} set {} schedule {}", seed, s, strategy.index());
        CHECK(reports[s].iterations == 7);
        CHECK(reports[s].residual == report.residual);
        test::check_identical(
            bp::factor_messages(together.exec, together.device, together.state, static_cast<Index>(s)),
            alone.messages(), what);
        test::check_identical(bp::marginals(together.exec, together.device, together.state, static_cast<Index>(s)),
                              alone.marginals(), what);
      }
    }
  }
}

TEST_CASE_TEMPLATE("sets: hubs and wide factors too", T, HORNBILL_TEST_CELLS) {
  // premises of a disjunction, and conclusions of a premise: several levels, several parts
  Index const n = 2 * bp::long_row + 500;
  // conclusions of further premises, rows of each kind
  Index const others[] = {bp::medium_row, bp::large_row, bp::large_row + 300};
  FactorGraphBuilder builder(2 * n + 5);
  std::vector<Index> body(n);
  for (Index v = 0; v < n; ++v) {
    body[v] = v;
    builder.add_prior(v, 0.001 + 0.3 * v / n);
  }
  builder.add_disjunction(2 * n, body).add_prior(2 * n + 1, 0.9);
  for (Index v = n; v < 2 * n; ++v) builder.add_conjunction(v, std::vector<Index>{2 * n + 1}, 0.9, 0.05);
  for (Index i = 0; i < 3; ++i)
    for (Index v = n; v < n + others[i]; ++v)
      builder.add_conjunction(v, std::vector<Index>{2 * n + 2 + i}, 0.7, 0.1 + 0.1 * i);
  auto const graph = std::move(builder).build();
  std::vector<HostEvidence> sets{
      {Observation::hard(2 * n, 0)}, {}, {Observation::hard(2 * n, 1), Observation::hard(n, 0)}};
  for (Index v : {n + 1, n + 40, n + 300}) sets.push_back({Observation::hard(v, 1)});
  SetsSolver<T> together(graph, bp::Parall{}, sets);
  together.run({.max_iterations = 4, .tolerance = 0});
  for (std::size_t s = 0; s < sets.size(); ++s) {
    Solver<T> alone(graph, bp::Parall{}, sets[s]);
    alone.iterate(4);
    test::check_identical(bp::marginals(together.exec, together.device, together.state, static_cast<Index>(s)),
                          alone.marginals(), fmt::format("set {}", s));
  }
}

TEST_CASE_TEMPLATE("sets: each stops when it has converged, accelerated where it must be", T, HORNBILL_DOUBLE_CELLS) {
  auto const generated =
      generate({.num_variables = 400, .num_edges = 1400, .num_alarms = 20, .rule_probability = 0.95});
  std::vector<HostEvidence> sets;
  for (std::size_t labels : {0, 1, 5, 12}) sets.push_back(generated.labels(labels));
  bp::Options const options{.max_iterations = 3000};
  SetsSolver<T> together(generated.graph, bp::SeqFix{}, sets);
  auto const reports = together.run(options);
  for (std::size_t s = 0; s < sets.size(); ++s) {
    Solver<T> alone(generated.graph, bp::SeqFix{}, sets[s]);
    auto const report = alone.run(options);
    CHECK(reports[s].stop == bp::Stop::converged);
    CHECK(reports[s].iterations == report.iterations);
    test::check_identical(bp::marginals(together.exec, together.device, together.state, static_cast<Index>(s)),
                          alone.marginals(), fmt::format("set {}", s));
    for (Index v : {0, 399}) {
      double const log_odds = bp::log_odds_of_variable(together.exec, together.device, together.state, v)[s];
      CHECK(log_odds == bp::log_odds(together.exec, together.device, together.state, static_cast<Index>(s))[v]);
      CHECK(1 / (1 + std::exp(-log_odds)) == doctest::Approx(alone.marginals()[v]).epsilon(1e-12));
    }
  }
  CHECK_THROWS_AS(bp::log_odds_of_variable(together.exec, together.device, together.state, 400), InputError);
  CHECK(reports[0].iterations < reports[3].iterations);
  auto const warm = together.run(options);
  for (auto const& report : warm) CHECK(report.iterations <= 20);
}

TEST_CASE_TEMPLATE("sets: one that contradicts itself does not disturb the others", T, HORNBILL_TEST_CELLS) {
  FactorGraphBuilder builder(2);
  builder.add_prior(0, 0.3).add_conjunction(1, std::vector<Index>{0}, 1.0, 0.0);
  auto const graph = std::move(builder).build();
  SetsSolver<T> solver(graph, bp::Parall{},
                       {{Observation::hard(0, 1)}, {Observation::hard(0, 0), Observation::hard(1, 1)}, {}});
  auto const reports = solver.run();
  CHECK(reports[0].stop == bp::Stop::converged);
  CHECK(reports[1].stop == bp::Stop::contradiction);
  CHECK(reports[1].contradiction >= 0);
  CHECK(reports[2].stop == bp::Stop::converged);
  CHECK(bp::marginals(solver.exec, solver.device, solver.state, 0)[1] == 1);
  CHECK(bp::marginals(solver.exec, solver.device, solver.state, 2)[1] == doctest::Approx(0.3).epsilon(1e-6));
}

TEST_CASE_TEMPLATE("sets: what does not fit is refused", T, HORNBILL_TEST_CELLS) {
  using Value = typename T::Value;
  auto const graph = test::random_graph(1);
  typename T::Exec exec;
  auto const device = bp::to_device<Value>(exec, graph);
  using Sets = bp::EvidenceSets<Value, typename T::Memory>;
  CHECK_THROWS_AS(Sets(exec, graph, device, {}), InputError);
  CHECK_THROWS_AS(Sets(exec, graph, device, {{}, {Observation::hard(graph.num_variables, 1)}}), InputError);
  CHECK_THROWS_AS(bp::make_plan(exec, graph, bp::Residual{}, {.sets = 2}), InputError);
  CHECK_THROWS_AS(bp::make_plan(exec, graph, bp::Parall{}, {.sets = 0}), InputError);
  auto const plan = bp::make_plan(exec, graph, bp::Parall{}, {.sets = 2});
  auto state = bp::make_state(exec, device, plan);
  bp::Evidence evidence(exec, graph, device);
  CHECK_THROWS_AS(bp::run(exec, device, evidence, plan, state), ShapeError);
  CHECK_THROWS_AS(bp::run(exec, device, Sets(exec, graph, device, {{}, {}, {}}), plan, state), ShapeError);
  CHECK_THROWS_AS(bp::marginals(exec, device, state, 2), InputError);
  auto many_lanes = plan, many_sets = plan;
  many_lanes.offsets.back().warps = 1 << 25;  // a set's lanes have an index each, those of two have not
  CHECK_THROWS_WITH_AS(bp::make_state(exec, device, many_lanes), doctest::Contains("run fewer at once"), CapacityError);
  many_sets.sets = std::numeric_limits<Index>::max() / 2;
  CHECK_THROWS_WITH_AS(bp::make_state(exec, device, many_sets), doctest::Contains("run fewer at once"), CapacityError);
}
