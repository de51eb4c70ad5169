// Random factor graphs with the nasty rows put in on purpose.
#pragma once

#include <algorithm>
#include <numeric>
#include <random>
#include <vector>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::test {

struct RandomGraphOptions {
  Index num_variables = 60;
  Index num_factors = 80;
  int largest_body = 6;
  bool deterministic = true;  ///< some probabilities are 0 or 1
  double tables = 0;          ///< share of factors that are tables
  Index max_states = 2;       ///< of variables, where there are tables
  Index largest_table = 3;    ///< in variables
  double min_entry = 0;       ///< of tables: some are this, where it is not 0
};

/// A random graph of AND, OR and table factors, not necessarily acyclic; isolated variables, priors and empty bodies
/// included. The world in which everything is 0 stays possible, so evidence of zeros never contradicts.
inline HostFactorGraph random_graph(unsigned seed, RandomGraphOptions const& o = {}) {
  std::mt19937 rng(seed);
  auto below = [&](Index n) { return static_cast<Index>(rng() % static_cast<unsigned>(n)); };
  auto uniform = [&] { return static_cast<double>(rng() % 10000 + 1) / 10002.0; };
  FactorGraphBuilder builder;
  std::vector<Index> binary;
  for (Index v = 0; v < o.num_variables; ++v) {
    Index const states = o.tables > 0 && v % 3 == 2 ? 1 + below(o.max_states) : 2;
    builder.add_variable({}, states);
    if (states == 2) binary.push_back(v);
  }
  std::vector<Index> states_of(o.num_variables, 2);
  auto pick = [&](std::vector<Index> pool, Index count) {
    std::shuffle(pool.begin(), pool.end(), rng);
    pool.resize(std::min<std::size_t>(pool.size(), count));
    return pool;
  };
  std::vector<Index> all(o.num_variables - 1);  // the last variable stays isolated
  std::iota(all.begin(), all.end(), 0);
  if (binary.back() == o.num_variables - 1) binary.pop_back();
  auto const shape = FactorGraphBuilder(builder).build();
  for (Index a = 0; a < o.num_factors; ++a) {
    if (uniform() < o.tables) {
      auto const variables = pick(all, 1 + below(o.largest_table));
      std::size_t size = 1;
      for (Index v : variables) size *= shape.states(v);
      std::vector<double> table(size);
      for (auto& x : table)
        x = o.deterministic && below(12) == 0 ? 0 : o.min_entry > 0 && below(2) ? o.min_entry : uniform();
      table[0] = 0.5;
      builder.add_table(variables, table);
      continue;
    }
    auto variables = pick(binary, 1 + below(o.largest_body + 1));
    std::vector<Index> const body(variables.begin() + 1, variables.end());
    double p1 = uniform(), p2 = uniform();
    if (o.deterministic && below(3) == 0) p2 = 0;
    if (o.deterministic && below(6) == 0 && !body.empty()) p1 = 1;
    if (below(2))
      builder.add_conjunction(variables[0], body, p1, p2);
    else
      builder.add_disjunction(variables[0], body, p1, p2);
  }
  return std::move(builder).build();
}

/// A forest: every new factor hangs on at most one variable that is already in use.
inline HostFactorGraph random_forest(unsigned seed, Index num_factors) {
  std::mt19937 rng(seed);
  auto uniform = [&] { return static_cast<double>(rng() % 999 + 1) / 1001.0; };
  FactorGraphBuilder builder(1);
  for (Index a = 0; a < num_factors; ++a) {
    std::vector<Index> variables{static_cast<Index>(rng() % static_cast<unsigned>(builder.num_variables()))};
    if (rng() % 8 == 0) variables[0] = builder.add_variable();  // a new tree
    for (unsigned i = 0, n = rng() % 3; i < n; ++i) variables.push_back(builder.add_variable());
    std::swap(variables[0], variables[rng() % variables.size()]);
    std::vector<Index> const body(variables.begin() + 1, variables.end());
    if (rng() % 2)
      builder.add_conjunction(variables[0], body, uniform(), uniform());
    else
      builder.add_disjunction(variables[0], body, uniform(), uniform());
  }
  return std::move(builder).build();
}

}  // namespace hornbill::test
