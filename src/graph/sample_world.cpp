#include <hornbill/graph/sample_world.hpp>

#include <algorithm>

#include <hornbill/graph/bayesian_network.hpp>
#include <hornbill/graph/factor_traits.hpp>

#include "random.hpp"

namespace hornbill {
namespace {

class Sampler {
 public:
  Sampler(HostFactorGraph const& graph, std::uint64_t seed, std::optional<double> p1)
      : graph_(graph), random_(seed), p1_(p1), world_(graph.num_variables) {}

  std::vector<bool> sample(std::string const& source) {
    for (Index a : network_order(graph_, source)) draw(a);
    return std::move(world_);
  }

 private:
  void draw(Index a) {
    auto const variables = graph_.variables_of(a);
    auto const type = graph_.factor_type[a];
    auto const holds = [&](Index v) { return world_[v]; };
    bool const all = std::all_of(variables.begin() + 1, variables.end(), holds),
               some = std::any_of(variables.begin() + 1, variables.end(), holds);
    double const p1 = is_rule_instance(type) && p1_ && graph_.p1[a] < 1 ? *p1_ : graph_.p1[a];
    world_[variables[0]] = random_.uniform() < (fires(type, all, some) ? p1 : graph_.p2[a]);
  }

  HostFactorGraph const& graph_;
  Random random_;
  std::optional<double> p1_;
  std::vector<bool> world_;
};

}  // namespace

std::vector<bool> sample_world(HostFactorGraph const& graph, std::uint64_t seed, std::optional<double> p1,
                               std::string const& source) {
  return Sampler(graph, seed, p1).sample(source);
}

}  // namespace hornbill
