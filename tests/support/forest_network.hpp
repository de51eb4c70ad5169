// Bayesian networks without cycles, for which belief propagation is exact.
#pragma once

#include <random>
#include <utility>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::test {

/// A Bayesian network in which every variable is used at most once.
inline HostFactorGraph random_forest_network(unsigned seed, Index num_variables) {
  std::mt19937 random(seed);
  auto const below = [&](std::size_t n) { return random() % n; };
  auto const uniform = [&] { return static_cast<double>(random() % 1000 + 1) / 1002; };
  FactorGraphBuilder builder(num_variables);
  std::vector<Index> unused;
  for (Index v = 0; v < num_variables; ++v) {
    std::vector<Index> body;
    for (std::size_t wanted = below(4); wanted > 0 && !unused.empty(); --wanted) {
      auto const chosen = unused.begin() + static_cast<std::ptrdiff_t>(below(unused.size()));
      body.push_back(*chosen);
      unused.erase(chosen);
    }
    if (body.empty() || below(2))
      builder.add_conjunction(v, body, below(5) ? uniform() : 1);
    else
      builder.add_disjunction(v, body, below(3) ? 1 : uniform());
    unused.push_back(v);
  }
  return std::move(builder).build();
}

}  // namespace hornbill::test
