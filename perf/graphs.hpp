// The graphs that benchmarks know by name.
#pragma once

#include <cctype>
#include <numeric>
#include <random>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include <hornbill/graph/generate.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::perf {

/// A disjunction of n premises and a premise of n clauses: what no kernel's cost may depend on.
inline HostFactorGraph make_hub(Index n) {
  FactorGraphBuilder builder(2 * n + 2);
  std::vector<Index> body(n);
  std::iota(body.begin(), body.end(), 0);
  for (Index v = 0; v < n; ++v) builder.add_prior(v, 0.001 + 0.9 * v / n);
  builder.add_disjunction(2 * n, body).add_prior(2 * n + 1, 0.9);
  for (Index v = n; v < 2 * n; ++v) builder.add_conjunction(v, std::vector<Index>{2 * n + 1}, 0.9, 0.05);
  return std::move(builder).build();
}

/// n tables over three of n / 2 variables of four states, and a table of its own for each variable.
inline HostFactorGraph make_tables(Index n) {
  FactorGraphBuilder builder;
  std::mt19937 random(1);
  auto const table = [&](std::vector<Index> const& variables) {
    std::vector<double> values(std::size_t{1} << 2 * variables.size());
    for (auto& value : values) value = 1 + random() * 0x1p-32;
    builder.add_table(variables, values);
  };
  for (Index v = 0; v < n / 2; ++v) builder.add_variable({}, 4);
  for (Index v = 0; v < n / 2; ++v) table({v});
  for (Index t = 0; t < n; ++t) {
    std::set<Index> scope;
    while (scope.size() < 3) scope.insert(static_cast<Index>(random() % (n / 2)));
    table({scope.begin(), scope.end()});
  }
  return std::move(builder).build();
}

/// A graph that hub, tables or a benchmark of the FastLBP paper names, or a number of edges. A size may follow the
/// first two: `hub:5000`.
inline HostFactorGraph graph_named(std::string const& name) {
  auto const colon = name.find(':');
  auto const size = [&] {
    return colon == std::string::npos ? 100000 : static_cast<Index>(std::stol(name.substr(colon + 1)));
  };
  if (name.substr(0, colon) == "hub") return make_hub(size());
  if (name.substr(0, colon) == "tables") return make_tables(size());
  if (!std::isdigit(static_cast<unsigned char>(name[0]))) return generate(options_like(name)).graph;
  auto const edges = std::stoll(name);
  return generate({.num_variables = static_cast<Index>(edges / 3.6), .num_edges = edges}).graph;
}

}  // namespace hornbill::perf
