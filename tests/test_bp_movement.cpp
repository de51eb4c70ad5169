// How far beliefs and messages into factors move, against their definition.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include "support/cells.hpp"
#include "support/random_graphs.hpp"
#include "support/solver.hpp"

using namespace hornbill;
using test::Solver;

namespace {

/// Of one iteration, what movement() looks at.
struct Seen {
  std::vector<double> states, messages;  // P(v = state) by variable; P(1) by edge

  template <class Cell>
  static Seen of(Solver<Cell>& s) {
    Seen seen{bp::state_marginals(s.exec, s.host, s.device, s.state),
              bp::variable_messages(s.exec, s.device, s.evidence, s.state)};
    for (double& m : seen.messages) m = 1 / (1 + std::exp(-m));
    return seen;
  }
  static Seen uniform(HostFactorGraph const& graph) {
    Seen seen{{}, std::vector<double>(graph.num_edges(), 0.5)};
    for (Index v = 0; v < graph.num_variables; ++v)
      seen.states.insert(seen.states.end(), graph.states(v), 1.0 / graph.states(v));
    return seen;
  }
};

/// Moves of variables, then of factors.
std::vector<double> moves(HostFactorGraph const& graph, Seen const& before, Seen const& after) {
  std::vector<double> result;
  for (std::size_t v = 0, i = 0; v < static_cast<std::size_t>(graph.num_variables); ++v) {
    double largest = 0;
    for (Index s = 0; s < graph.states(static_cast<Index>(v)); ++s, ++i)
      largest = std::max(largest, std::abs(after.states[i] - before.states[i]));
    result.push_back(largest);
  }
  for (Index a = 0, e = 0; a < graph.num_factors(); ++a) {
    double sum = 0;
    for (Index v : graph.variables_of(a)) {
      if (graph.states(v) == 2) sum += std::abs(after.messages[e] - before.messages[e]) / 2;
      ++e;
    }
    result.push_back(sum / static_cast<double>(graph.variables_of(a).size()));
  }
  return result;
}

}  // namespace

TEST_CASE_TEMPLATE("movement: of variables and factors, from one look to the next", Cell, HORNBILL_TEST_CELLS) {
  double const precision = sizeof(typename Cell::Value) == 4 ? 1e-5 : 1e-12;
  for (double tables : {0.0, 0.4})
    for (unsigned seed = 1; seed <= 5; ++seed) {
      CAPTURE(tables);
      CAPTURE(seed);
      auto const graph = test::random_graph(seed, {.tables = tables, .max_states = 4});
      Solver<Cell> solver(graph, bp::Parall{}, {Observation::hard(3, 0), Observation::soft(6, 0.2, 0.6)});
      bp::Look<typename Cell::Value, typename Cell::Memory> look;
      auto before = Seen::uniform(graph);
      for (int iteration = 1; iteration <= 4; ++iteration) {
        CAPTURE(iteration);
        solver.run({.max_iterations = 1, .tolerance = 0, .warm_start = iteration > 1});
        double const tolerance = 0.01 / iteration;
        auto const moved = bp::movement(solver.exec, solver.device, solver.evidence, solver.state, tolerance, look);
        auto const after = Seen::of(solver);
        auto const expected = moves(graph, before, after);
        auto const first_factor = expected.begin() + graph.num_variables;
        auto const count = [&](auto first, auto last, double limit) {
          return std::count_if(first, last, [&](double move) { return move > limit; });
        };
        CHECK(moved.variables >= count(expected.begin(), first_factor, tolerance + precision));
        CHECK(moved.variables <= count(expected.begin(), first_factor, tolerance - precision));
        CHECK(moved.factors >= count(first_factor, expected.end(), tolerance + precision));
        CHECK(moved.factors <= count(first_factor, expected.end(), tolerance - precision));
        CHECK(std::abs(moved.largest - *std::max_element(expected.begin(), expected.end())) <= precision);
        before = after;
      }
      CHECK(bp::movement(solver.exec, solver.device, solver.evidence, solver.state, 0, look).largest == 0);
    }
}

TEST_CASE("movement: of a graph without factors, and of several evidence sets") {
  using Cell = test::Cell<test::AnyHost, double>;
  Solver<Cell> empty(FactorGraphBuilder(3).build(), bp::Parall{});
  empty.iterate(1);
  bp::Look<double, Cell::Memory> look;
  auto const moved = bp::movement(empty.exec, empty.device, empty.evidence, empty.state, 1e-6, look);
  CHECK(moved.variables == 0);
  CHECK(moved.factors == 0);
  CHECK(moved.largest == 0);
  Solver<Cell> two(test::random_graph(1), bp::Parall{}, {}, {.sets = 2});
  CHECK_THROWS_AS(bp::movement(two.exec, two.device, two.evidence, two.state, 1e-6, look), ShapeError);
}
