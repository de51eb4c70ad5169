#include <hornbill/graph/sample_world.hpp>

#include <algorithm>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "random.hpp"

namespace hornbill {
namespace {

/// The factor that each variable is the head of.
std::vector<Index> factors_of_heads(HostFactorGraph const& graph, std::string const& source) {
  std::vector<Index> factor_of(graph.num_variables, -1);
  for (Index a = 0; a < graph.num_factors(); ++a) {
    if (graph.factor_type[a] == FactorType::table) throw InputError(source, "", fmt::format("factor {} is a table: worlds are sampled from Horn factors alone", a));
    Index const head = graph.variables_of(a)[0];
    if (factor_of[head] >= 0)
      throw InputError(source, "", fmt::format("{} is the head of factors {} and {}; to sample a world, each variable must be the head of one", graph.name_of(head), factor_of[head], a));
    factor_of[head] = a;
  }
  auto const headless = std::find(factor_of.begin(), factor_of.end(), -1);
  if (headless != factor_of.end())
    throw InputError(source, "", fmt::format("{} is the head of no factor; to sample a world, each variable must be the head of one", graph.name_of(static_cast<Index>(headless - factor_of.begin()))));
  return factor_of;
}

class Sampler {
 public:
  Sampler(HostFactorGraph const& graph, std::uint64_t seed, std::optional<double> p1) : graph_(graph), random_(seed), p1_(p1), world_(graph.num_variables) {}

  std::vector<bool> sample(std::string const& source) {
    auto const factor_of = factors_of_heads(graph_, source);
    auto const users = edges_of_variables(graph_);
    auto const factor_of_edge = factors_of_edges(graph_);
    std::vector<Index> missing(graph_.num_factors()), ready;
    for (Index v = 0; v < graph_.num_variables; ++v)  // in the order of variables, whatever that of factors
      if ((missing[factor_of[v]] = static_cast<Index>(graph_.variables_of(factor_of[v]).size()) - 1) == 0) ready.push_back(factor_of[v]);
    for (std::size_t next = 0; next < ready.size(); ++next) {
      Index const head = graph_.variables_of(ready[next])[0];
      draw(ready[next]);
      for (Offset k = users.offsets[head]; k < users.offsets[head + 1]; ++k)
        if (Index const a = factor_of_edge[users.edges[k]]; a != ready[next] && --missing[a] == 0) ready.push_back(a);
    }
    if (ready.size() < missing.size()) {
      auto const stuck = std::find_if(missing.begin(), missing.end(), [](Index m) { return m > 0; });
      throw InputError(source, "", fmt::format("{} depends on a cycle: worlds are sampled from graphs without", graph_.name_of(graph_.variables_of(static_cast<Index>(stuck - missing.begin()))[0])));
    }
    return std::move(world_);
  }

 private:
  void draw(Index a) {
    auto const variables = graph_.variables_of(a);
    bool const is_and = graph_.factor_type[a] == FactorType::conjunction;
    auto const holds = [&](Index v) { return world_[v]; };
    bool const fires = is_and ? std::all_of(variables.begin() + 1, variables.end(), holds) : std::any_of(variables.begin() + 1, variables.end(), holds);
    double const p1 = is_and && p1_ && graph_.p1[a] < 1 ? *p1_ : graph_.p1[a];
    world_[variables[0]] = random_.uniform() < (fires ? p1 : graph_.p2[a]);
  }

  HostFactorGraph const& graph_;
  Random random_;
  std::optional<double> p1_;
  std::vector<bool> world_;
};

}  // namespace

std::vector<bool> sample_world(HostFactorGraph const& graph, std::uint64_t seed, std::optional<double> p1, std::string const& source) {
  return Sampler(graph, seed, p1).sample(source);
}

}  // namespace hornbill
