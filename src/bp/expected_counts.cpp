#include <hornbill/bp/expected_counts.hpp>

#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include <hornbill/detail/log_odds.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>

namespace hornbill::bp {
namespace {

void require_messages(HostFactorGraph const& graph, std::span<double const> to_variables,
                      std::span<double const> to_factors) {
  auto const edges = static_cast<std::size_t>(graph.num_edges());
  if (to_variables.size() < edges) throw ShapeError("messages to variables", edges, to_variables.size());
  if (to_factors.size() < edges) throw ShapeError("messages to factors", edges, to_factors.size());
}

}  // namespace

ExpectedCounts expected_counts(HostFactorGraph const& graph, std::span<double const> to_variables,
                               std::span<double const> to_factors) {
  require_messages(graph, to_variables, to_factors);
  ExpectedCounts counts{std::vector<double>(graph.num_factors()), std::vector<double>(graph.num_factors())};
  for (Index a = 0; a < graph.num_factors(); ++a) {
    double const p = graph.p1[a];
    if (!is_rule_instance(graph.factor_type[a])) continue;
    if (graph.p2[a] > 0 && graph.variables_of(a).size() > 1)
      throw InputError(fmt::format("factor {} may be true though its body is not (p2 = {}): it has no expected counts",
                                   a, graph.p2[a]));
    if (p == 0) continue;
    double const to_head = to_variables[graph.factor_offsets[a]], both = to_head + to_factors[graph.factor_offsets[a]];
    // Messages that have not quite converged may say that the body is more than certain.
    double const body_if_not_fired = p == 1 ? 0 : std::min(1.0, std::exp(to_head) * (1 - p) / p);
    counts.fired[a] = hornbill::detail::probability(both);
    counts.tried[a] = counts.fired[a] + hornbill::detail::probability(-both) * body_if_not_fired;
  }
  return counts;
}

}  // namespace hornbill::bp
