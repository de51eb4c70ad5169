// Schedules and their division into batches.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <random>
#include <set>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/bp/schedule.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/generate.hpp>

#include "support/hygiene.hpp"
#include "support/random_graphs.hpp"

using namespace hornbill;

namespace {

/// N_E(e), by its definition.
std::set<Offset> read_by(HostFactorGraph const& graph, Offset e) {
  auto const factor_of = factors_of_edges(graph);
  std::set<Offset> result;
  for (Offset i = graph.factor_offsets[factor_of[e]]; i < graph.factor_offsets[factor_of[e] + 1]; ++i)
    for (Offset other = 0; other < graph.num_edges(); ++other)
      if (i != e && factor_of[other] != factor_of[e] && graph.factor_variables[other] == graph.factor_variables[i])
        result.insert(other);
  return result;
}

/// Levels straight from the formula, in quadratic time.
std::vector<Index> levels_by_definition(HostFactorGraph const& graph, std::vector<Offset> const& order) {
  std::vector<std::set<Offset>> reads(graph.num_edges());
  for (Offset e = 0; e < graph.num_edges(); ++e) reads[e] = read_by(graph, e);
  std::vector<Index> level(graph.num_edges(), -1);
  for (std::size_t i = 0; i < order.size(); ++i) {
    Index l = 0;
    for (std::size_t k = 0; k < i; ++k) {
      if (reads[order[i]].contains(order[k])) l = std::max(l, level[order[k]] + 1);
      if (reads[order[k]].contains(order[i])) l = std::max(l, level[order[k]]);
    }
    level[order[i]] = l;
  }
  return level;
}

std::vector<Offset> file_order(HostFactorGraph const& graph) {
  std::vector<Offset> order(graph.num_edges());
  std::iota(order.begin(), order.end(), 0);
  return order;
}

}  // namespace

TEST_CASE("schedule: levels of total orders are those of the definition") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    auto const graph = test::random_graph(seed, {.num_variables = 25, .num_factors = 30, .largest_body = 5});
    auto order = file_order(graph);
    CHECK(bp::levels_of_order(graph, order) == levels_by_definition(graph, order));
    std::mt19937 rng(seed);
    std::shuffle(order.begin(), order.end(), rng);
    order.resize(order.size() - order.size() / 5);  // some edges are never updated
    CHECK(bp::levels_of_order(graph, order) == levels_by_definition(graph, order));
  }
}

TEST_CASE("schedule: levels of partial orders bind true dependences only, also through other edges") {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    auto const graph = test::random_graph(seed, {.num_variables = 20, .num_factors = 22, .largest_body = 4});
    Offset const n = graph.num_edges();
    std::mt19937 rng(seed);
    std::vector<Offset> before, after;
    for (int i = 0; i < 3 * n / 2; ++i) {  // pairs that go up in a random order: no cycles
      Offset const a = static_cast<Offset>(rng() % n), b = static_cast<Offset>(rng() % n);
      if (a == b) continue;
      before.push_back(std::min(a, b));
      after.push_back(std::max(a, b));
    }
    std::vector<std::vector<char>> precedes(n, std::vector<char>(n, 0));
    for (std::size_t i = 0; i < before.size(); ++i) precedes[before[i]][after[i]] = 1;
    for (Offset k = 0; k < n; ++k)
      for (Offset i = 0; i < n; ++i)
        for (Offset j = 0; j < n; ++j) precedes[i][j] |= precedes[i][k] && precedes[k][j];
    std::vector<Index> expected(n, 0);
    for (Offset e = 0; e < n; ++e) {
      auto const reads = read_by(graph, e);
      for (Offset p = 0; p < e; ++p)
        if (precedes[p][e] && reads.contains(p)) expected[e] = std::max(expected[e], expected[p] + 1);
    }
    CHECK(bp::levels_of_partial_order(graph, before, after) == expected);
  }
}

TEST_CASE("schedule: an empty partial order is PARALL; a cyclic one is refused, naming an edge on the cycle") {
  auto const graph = test::random_graph(1);
  auto const batches = bp::make_batches(graph, bp::Custom{{ScheduleKind::partial_order, {}, {}, {}, {}}});
  CHECK(batches.num_batches() == 1);
  CHECK(batches.edges == bp::make_batches(graph, bp::Parall{}).edges);
  CHECK_THROWS_WITH_AS(bp::levels_of_partial_order(graph, {0, 1, 2, 3, 7}, {1, 2, 0, 0, 3}, "f.h5:/schedules/mine"),
                       doctest::Contains("lies on a cycle"), InputError);
  CHECK_THROWS_WITH_AS(bp::levels_of_partial_order(graph, {5}, {5}), doctest::Contains("edge 5 before edge 5"),
                       InputError);
}

TEST_CASE("schedule: TOPO holds every edge once, on cyclic graphs and on forests") {
  for (unsigned seed = 1; seed <= 5; ++seed) {
    auto const graph = test::random_graph(seed);  // cyclic
    auto order = bp::topological_order(graph);
    std::sort(order.begin(), order.end());
    CHECK(order == file_order(graph));
  }
  auto const forest = test::random_forest(4, 200);
  auto order = bp::topological_order(forest);
  std::sort(order.begin(), order.end());
  CHECK(order == file_order(forest));
}

TEST_CASE(
    "schedule: CHROMATIC holds every edge once; who concludes and who uses a variable differ in colour, but at hubs") {
  test::LabelsUnwatched const unwatched;  // Kokkos Kernels has names of its own
  FactorGraphBuilder builder(82);         // variable 0 is concluded by 40 and used by 40
  for (Index v = 1; v <= 40; ++v)
    builder.add_conjunction(0, std::vector<Index>{v}).add_conjunction(v + 40, std::vector<Index>{0});
  builder.add_conjunction(81, std::vector<Index>{1, 80});
  auto const star = std::move(builder).build();
  FactorGraphBuilder two(2);
  two.add_conjunction(0, std::vector<Index>{1}).add_prior(1, 0.5);
  auto const tiny = std::move(two).build();
  auto const tables = test::random_graph(5, {.num_factors = 60, .tables = 0.3});
  int hubs = 0;
  for (auto const& graph : {test::random_graph(3), test::random_forest(4, 200), star, tables}) {
    auto const colours = bp::colours_of_factors(graph);
    auto const factor_of = factors_of_edges(graph);
    auto const at = edges_of_variables(graph);
    for (Index v = 0; v < graph.num_variables; ++v) {
      std::vector<Index> concluding, using_it;
      for (Offset k = at.offsets[v]; k < at.offsets[v + 1]; ++k) {
        Index const a = factor_of[at.edges[k]];
        bool const table = graph.factor_type[a] == FactorType::table, head = at.edges[k] == graph.factor_offsets[a];
        if (head || table) concluding.push_back(a);
        if (!head || table) using_it.push_back(a);
      }
      if (concluding.size() * using_it.size() > 16 * (concluding.size() + using_it.size())) {
        ++hubs;
        continue;
      }
      for (Index a : concluding)
        for (Index b : using_it) CHECK((a == b || colours[a] != colours[b]));
    }
    auto edges = bp::make_batches(graph, bp::Chromatic{}).edges;
    std::sort(edges.begin(), edges.end());
    CHECK(edges == file_order(graph));
  }
  CHECK(hubs == 1);
  CHECK(bp::make_batches(star, bp::Chromatic{}).num_batches() <= 6);
  auto const batches = bp::make_batches(tiny, bp::Chromatic{});  // its priors' colour has no bodies
  for (Offset b = 0; b < batches.num_batches(); ++b) CHECK(batches.offsets[b] < batches.offsets[b + 1]);
  CHECK(bp::make_batches(generate(options_like("hedc")).graph, bp::Chromatic{}).num_batches() == 4);
  CHECK(bp::make_batches(HostFactorGraph{}, bp::Chromatic{}).num_batches() == 0);
}

TEST_CASE("schedule: SEQRND's orders are the same in every run, each iteration's its own, and keep factors together") {
  auto const graph = test::random_graph(2);
  auto const factor_of = factors_of_edges(graph);
  auto const first = bp::random_order(graph, {.seed = 7}, 0);
  CHECK(first == bp::random_order(graph, {.seed = 7}, 0));
  CHECK(first != bp::random_order(graph, {.seed = 7}, 1));
  CHECK(first != bp::random_order(graph, {.seed = 8}, 0));
  int changes = 0;
  for (std::size_t i = 1; i < first.size(); ++i) changes += factor_of[first[i]] != factor_of[first[i - 1]];
  CHECK(changes < graph.num_factors());
  auto sorted = first;
  std::sort(sorted.begin(), sorted.end());
  CHECK(sorted == file_order(graph));
}

TEST_CASE("schedule: RESIDUAL without a share between 0 and 1 is refused") {
  for (double share : {0.0, -1.0, 1.5, std::nan("")})
    CHECK_THROWS_WITH_AS(bp::make_batches(test::random_graph(1), bp::Residual{.share = share}),
                         doctest::Contains("must be in (0, 1]"), InputError);
}

TEST_CASE("schedule: every built-in strategy has a name") {
  for (auto const name : bp::strategy_names()) CHECK(bp::strategy_named(name).has_value());
  CHECK(!bp::strategy_named("SEQFIX"));
}

TEST_CASE("schedule: statistics") {
  bp::Batches batches;
  batches.edges = {0, 1, 2, 3, 4, 5};
  batches.offsets = {0, 1, 4, 6};
  auto const s = bp::statistics(batches);
  CHECK(s.num_batches == 3);
  CHECK(s.smallest == 1);
  CHECK(s.median == 2);
  CHECK(s.largest == 3);
  CHECK(bp::statistics({}).num_batches == 0);
}

TEST_CASE("schedule: what does not fit the graph is refused with the entry") {
  FactorGraphBuilder builder(3);
  builder.add_prior(0, 0.5).add_conjunction(1, std::vector<Index>{0}).add_conjunction(2, std::vector<Index>{1});
  auto const graph = std::move(builder).build();  // edges: 0 | 1 2 | 3 4
  using Kind = ScheduleKind;
  auto refuse = [&](StoredSchedule const& schedule, char const* message) {
    CHECK_THROWS_WITH_AS(bp::validate(schedule, graph, "m.h5:/schedules/s"), doctest::Contains(message), InputError);
  };
  refuse({Kind::order, {0, 7}, {}, {}, {}}, "m.h5:/schedules/s:edges: entry 1 is edge 7, but edges are 0 to 4");
  refuse({Kind::order, {0, 1, 0}, {}, {}, {}}, "entry 2: edge 0 is there twice");
  refuse({Kind::batches, {0, 1}, {0, 2, 1}, {}, {}}, "entry 2 decreases");
  refuse({Kind::batches, {0, 1}, {0, 1}, {}, {}}, "entry 1 is 1, but there are 2 edges");
  refuse({Kind::partial_order, {}, {}, {0, 1}, {1}}, "1 entries, but `before` has 2");
  // The message to variable 1 (edge 1) reads the prior (edge 0): it may not share its batch if it must come after.
  refuse({Kind::batches, {0, 1}, {0, 2}, {0}, {1}},
         "batch 0 violates the order: by before/after, edge 0 precedes edge 1, which reads it");
  // through edge 4
  refuse({Kind::batches, {0, 1, 4}, {0, 3}, {0, 4}, {4, 1}}, "edge 0 precedes edge 1, which reads it");
  // which may be in no batch
  refuse({Kind::batches, {0, 1}, {0, 2}, {0, 4}, {4, 1}}, "edge 0 precedes edge 1, which reads it");
  refuse({Kind::batches, {1, 0}, {0, 1, 2}, {0}, {1}}, "violates the order");
  CHECK_NOTHROW(bp::validate({Kind::batches, {0, 1}, {0, 1, 2}, {0}, {1}}, graph, "s"));
}
