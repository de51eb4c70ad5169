#include "state_marginals.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "output.hpp"

namespace hornbill::cli {

StateMarginals::StateMarginals(HostFactorGraph const& graph, StoredMarginals const& stored)
    : graph_(graph), stored_(stored) {
  if (stored.p_states.empty()) return;
  offsets_.push_back(0);
  for (Index v = 0; v < graph.num_variables; ++v) offsets_.push_back(offsets_.back() + graph.states(v));
}

std::vector<double> StateMarginals::of(Index v) const {
  if (offsets_.empty()) return {1 - stored_.p_true[v], stored_.p_true[v]};
  return {stored_.p_states.begin() + offsets_[v], stored_.p_states.begin() + offsets_[v + 1]};
}

std::vector<std::vector<double>> StateMarginals::by_variable() const {
  std::vector<std::vector<double>> result;
  for (Index v = 0; v < graph_.num_variables; ++v) result.push_back(of(v));
  return result;
}

std::vector<std::string> state_names(HostFactorGraph const& graph, Index variable) {
  std::vector<std::string> names;
  for (Index s = 0; s < graph.states(variable); ++s) names.push_back(graph.state_name(variable, s));
  return names;
}

nlohmann::json names_json(HostFactorGraph const& graph) {
  auto json = nlohmann::json::object();
  for (Index v = 0; v < graph.num_variables; ++v) {
    if (!graph.variable_names.empty()) json["names"].push_back(graph.name_of(v));
    if (!graph.state_names.empty()) json["states"].push_back(state_names(graph, v));
  }
  return json;
}

void print_first_marginals(HostFactorGraph const& graph, MarginalOf const& marginal_of, char const* options) {
  constexpr Index most_variables = 10;
  constexpr std::size_t most_states = 20;
  for (Index v = 0; v < std::min(most_variables, graph.num_variables); ++v) {
    auto const p = marginal_of(v);
    std::vector<std::string> words;
    for (std::size_t s = 0; s < std::min(most_states, p.size()); ++s)
      words.push_back(fmt::format("{} {:.6f}", graph.state_name(v, static_cast<Index>(s)), p[s]));
    if (p.size() > most_states) words.push_back(fmt::format("and {} more states", p.size() - most_states));
    write_out("    {}: {}\n", graph.name_of(v), fmt::join(words, ", "));
  }
  if (graph.num_variables > most_variables)
    write_out("    and {} more variables; {}\n", graph.num_variables - most_variables, options);
}

}  // namespace hornbill::cli
