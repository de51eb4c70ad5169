#include <hornbill/graph/bayesian_network.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>

#include "cycle.hpp"

namespace hornbill {
namespace {

/// The factor that each variable is the head of.
std::vector<Index> factors_of_heads(HostFactorGraph const& graph, std::string const& source) {
  auto const fail = [&](std::string const& message) {
    throw InputError(source, "", message + ": as a Bayesian network, each variable is the head of one Horn factor");
  };
  std::vector<Index> factor_of(graph.num_variables, -1);
  for (Index a = 0; a < graph.num_factors(); ++a) {
    if (is_table(graph.factor_type[a])) fail(fmt::format("factor {} is a table", a));
    Index const head = graph.variables_of(a)[0];
    if (factor_of[head] >= 0)
      fail(fmt::format("{} is the head of factors {} and {}", graph.name_of(head), factor_of[head], a));
    factor_of[head] = a;
  }
  auto const headless = std::find(factor_of.begin(), factor_of.end(), -1);
  if (headless != factor_of.end())
    fail(fmt::format("{} is the head of no factor", graph.name_of(static_cast<Index>(headless - factor_of.begin()))));
  return factor_of;
}

/// Variables that depend on each other, in words.   \param missing  of each factor how many of its body do not come
/// before it
std::string describe_cycle(HostFactorGraph const& graph, std::vector<Index> const& factor_of,
                           std::vector<Index> const& missing) {
  std::vector<Index> cause(graph.num_variables, -1);
  for (Index a = 0; a < graph.num_factors(); ++a)
    for (Index v : graph.variables_of(a).subspan(1))
      if (missing[factor_of[v]] > 0) cause[graph.variables_of(a)[0]] = v;
  auto const stuck = std::find_if(missing.begin(), missing.end(), [](Index m) { return m > 0; });
  auto const cycle = cycle_of_causes(cause, graph.variables_of(static_cast<Index>(stuck - missing.begin()))[0]);
  return hornbill::describe_cycle(cycle, [&](Index v) { return graph.name_of(v); });
}

}  // namespace

std::vector<Index> network_order(HostFactorGraph const& graph, std::string const& source) {
  auto const factor_of = factors_of_heads(graph, source);
  auto const users = edges_of_variables(graph);
  auto const factor_of_edge = factors_of_edges(graph);
  std::vector<Index> missing(graph.num_factors()), ready;
  for (Index v = 0; v < graph.num_variables; ++v)
    if ((missing[factor_of[v]] = static_cast<Index>(graph.variables_of(factor_of[v]).size()) - 1) == 0)
      ready.push_back(factor_of[v]);
  for (std::size_t next = 0; next < ready.size(); ++next) {
    Index const head = graph.variables_of(ready[next])[0];
    for (Offset k = users.offsets[head]; k < users.offsets[head + 1]; ++k)
      if (Index const a = factor_of_edge[users.edges[k]]; a != ready[next] && --missing[a] == 0) ready.push_back(a);
  }
  if (ready.size() < missing.size())
    throw InputError(source, "",
                     fmt::format("{}: a Bayesian network has no cycle", describe_cycle(graph, factor_of, missing)));
  return ready;
}

}  // namespace hornbill
