// Generated derivation graphs.
#include <algorithm>

#include <doctest/doctest.h>

#include <hornbill/bp/schedule.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/generate.hpp>

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
  for (Index a = 0; a < g.graph.num_factors(); ++a) widest = std::max<Offset>(widest, static_cast<Offset>(g.graph.variables_of(a).size()));
  CHECK(widest > 100);
  CHECK(*std::max_element(degree.begin(), degree.end()) > 500);
  CHECK(g.alarms.size() == 1870);
  for (Index alarm : g.alarms) CHECK_MESSAGE(degree[alarm] == 1, "alarm ", alarm, " is only the head of its disjunction");
  CHECK(g.true_alarms.size() >= 1);
  CHECK(g.true_alarms.size() < 100);
  for (auto const& label : g.labels(50))
    CHECK((label.value == 1) == (std::find(g.true_alarms.begin(), g.true_alarms.end(), label.variable) != g.true_alarms.end()));
}

TEST_CASE("generate: the seed decides; sizes that do not fit are refused") {
  GeneratorOptions options;
  CHECK(generate(options).graph.factor_variables == generate(options).graph.factor_variables);
  CHECK(generate(options).graph.factor_variables[100] == 968);  // the same on every machine: a change here changes every published figure
  auto other = options;
  other.seed = 2;
  CHECK(generate(options).graph.factor_variables != generate(other).graph.factor_variables);
  options.num_edges = 1000;
  CHECK_THROWS_WITH_AS(generate(options), doctest::Contains("need at least"), InputError);
  options.num_edges = 10000000;
  CHECK_THROWS_WITH_AS(generate(options), doctest::Contains("too many"), InputError);
  CHECK_NOTHROW(generate({.num_variables = 30, .num_edges = 90, .num_alarms = 0}));
}
