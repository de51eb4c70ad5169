// Generated derivation graphs.
#include <algorithm>
#include <cmath>
#include <vector>

#include <doctest/doctest.h>

#include <hornbill/bp/schedule.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/generate.hpp>
#include <hornbill/graph/sample_world.hpp>

using namespace hornbill;

namespace {

/// Whether premises can be derived before conclusions: tuples and clauses form no cycle.
bool is_acyclic(HostFactorGraph const& graph) {
  std::vector<Index> waiting(graph.num_variables, 0), ready;
  std::vector<std::vector<Index>> uses(graph.num_variables);
  for (Index a = 0; a < graph.num_factors(); ++a) {
    auto const variables = graph.variables_of(a);
    for (Index v : variables.subspan(1)) uses[v].push_back(variables[0]);
    waiting[variables[0]] += static_cast<Index>(variables.size()) - 1;
  }
  for (Index v = 0; v < graph.num_variables; ++v)
    if (waiting[v] == 0) ready.push_back(v);
  for (std::size_t i = 0; i < ready.size(); ++i)
    for (Index head : uses[ready[i]])
      if (--waiting[head] == 0) ready.push_back(head);
  return ready.size() == static_cast<std::size_t>(graph.num_variables);
}

}  // namespace

TEST_CASE("generate: sizes of the benchmarks, in both readings of the paper's table") {
  CHECK(known_benchmarks().size() == 8);
  struct Sizes {
    char const* name;
    Index variables;
    Offset edges, edges_fg;
  };
  for (auto [name, variables, edges, edges_fg] :
       {Sizes{"weblech", 696, 2351, 1655}, Sizes{"hedc", 5347, 19578, 14231}, Sizes{"xalan", 51820, 198154, 146334}}) {
    auto const bn = generate(options_like(name));
    auto const fg = generate(options_like(name, EdgeReading::factor_graph));
    CHECK_NOTHROW(validate(bn.graph));
    CHECK(bn.graph.num_variables == variables);
    CHECK(bn.graph.num_edges() == edges);
    CHECK(fg.graph.num_edges() == edges_fg);
    CHECK(is_acyclic(bn.graph));
    CHECK(is_acyclic(fg.graph));
  }
  CHECK_THROWS_WITH_AS(options_like("weblech2"), doctest::Contains("known are weblech, hedc"), InputError);
}

TEST_CASE("generate: heavy tails, alarms that are no premises, a truth that follows from the clauses") {
  auto const g = generate(options_like("xalan"));
  std::vector<int> degree(g.graph.num_variables, 0);
  for (Index v : g.graph.factor_variables) ++degree[v];
  Offset widest = 0;
  for (Index a = 0; a < g.graph.num_factors(); ++a)
    widest = std::max<Offset>(widest, static_cast<Offset>(g.graph.variables_of(a).size()));
  CHECK(widest > 100);
  CHECK(*std::max_element(degree.begin(), degree.end()) > 500);
  CHECK(g.alarms.size() == 1870);
  for (Index alarm : g.alarms)
    CHECK_MESSAGE(degree[alarm] == 1, "alarm ", alarm, " is only the head of its disjunction");
  CHECK(g.true_alarms.size() >= 1);
  CHECK(g.true_alarms.size() < 100);
  for (auto const& label : g.labels(50))
    CHECK((label.value == 1) ==
          (std::find(g.true_alarms.begin(), g.true_alarms.end(), label.variable) != g.true_alarms.end()));
}

TEST_CASE("generate: the seed decides; sizes that do not fit are refused") {
  GeneratorOptions options;
  CHECK(generate(options).graph.factor_variables == generate(options).graph.factor_variables);
  // the same on every machine: a change here changes every published figure
  CHECK(generate(options).graph.factor_variables[100] == 968);
  auto other = options;
  other.seed = 2;
  CHECK(generate(options).graph.factor_variables != generate(other).graph.factor_variables);
  options.num_edges = 1000;
  CHECK_THROWS_WITH_AS(generate(options), doctest::Contains("need at least"), InputError);
  options.num_edges = 10000000;
  CHECK_THROWS_WITH_AS(generate(options), doctest::Contains("too many"), InputError);
  CHECK_NOTHROW(generate({.num_variables = 30, .num_edges = 90, .num_alarms = 0}));
}

TEST_CASE("generate: worlds are drawn from their model") {
  // 0 -> 1 -> 2, and 3 from 1 or 0: written from the conclusions on.
  FactorGraphBuilder builder(4);
  builder.add_disjunction(3, std::vector<Index>{1, 0}, 0.9, 0.1)
      .add_conjunction(2, std::vector<Index>{1}, 0.5, 0.25)
      .add_conjunction(1, std::vector<Index>{0}, 0.8)
      .add_prior(0, 0.6);
  auto const graph = std::move(builder).build();
  double counts[4] = {0, 0, 0, 0};
  int const worlds = 20000;
  int impossible = 0;
  for (int seed = 0; seed < worlds; ++seed) {
    auto const world = sample_world(graph, static_cast<std::uint64_t>(seed));
    impossible += world[1] && !world[0];
    for (Index v = 0; v < 4; ++v) counts[v] += world[v];
  }
  CHECK(impossible == 0);
  double const expected[] = {0.6, 0.48, 0.48 * 0.5 + 0.52 * 0.25, 0.6 * 0.9 + 0.4 * 0.1};
  for (Index v = 0; v < 4; ++v) CHECK(std::abs(counts[v] / worlds - expected[v]) < 0.02);  // five standard deviations
  CHECK(sample_world(graph, 7) == sample_world(graph, 7));
  CHECK(sample_world(graph, 7, 1e-9)[0] == false);
  auto const fails = [](HostFactorGraph const& bad, char const* message) {
    CHECK_THROWS_WITH_AS(sample_world(bad, 1), doctest::Contains(message), InputError);
  };
  fails(std::move(FactorGraphBuilder(1)).build(), "variable 0 is the head of no factor");
  fails(std::move(FactorGraphBuilder(1).add_prior(0, 0.5).add_prior(0, 0.5)).build(), "is the head of factors 0 and 1");
  fails(std::move(
            FactorGraphBuilder(2).add_conjunction(0, std::vector<Index>{1}).add_conjunction(1, std::vector<Index>{0}))
            .build(),
        "variable 0 -> variable 1 -> variable 0: a Bayesian network has no cycle");
  fails(std::move(FactorGraphBuilder(1).add_table(std::vector<Index>{0}, std::vector<double>{1, 2})).build(),
        "factor 0 is a table");
}
