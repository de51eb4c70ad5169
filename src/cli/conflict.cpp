#include "conflict.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

namespace hornbill::cli {
namespace {

/// Looks for a conflict by the fewest eliminations.
class Search {
 public:
  Search(ExactArguments const& a, HostFactorGraph const& graph) : a_(a), network_(tables::to_tables(graph)) {}

  /// \param evidence  under which nothing is possible   \return part of it, in the same order
  /// \source Junker: QuickXplain, 2004; here with a binary search for each observation of the conflict, as there are few
  HostEvidence conflict(HostEvidence evidence) const {
    HostEvidence found;
    while (is_possible_under(found, {})) {
      // The shortest beginning that is impossible together with what was found: its last observation is one more.
      std::size_t possible = 0, impossible = evidence.size();
      while (impossible - possible > 1) {
        auto const middle = possible + (impossible - possible) / 2;
        (is_possible_under(found, std::span(evidence).first(middle)) ? possible : impossible) = middle;
      }
      found.push_back(evidence[impossible - 1]);
      evidence.resize(impossible - 1);
    }
    std::reverse(found.begin(), found.end());
    return found;
  }

 private:
  bool is_possible_under(HostEvidence evidence, std::span<Observation const> more) const {
    evidence.insert(evidence.end(), more.begin(), more.end());
    return is_possible(a_, tables::condition(network_, evidence));
  }

  ExactArguments const& a_;
  tables::TableNetwork<double> network_;
};

std::string describe(Observation const& o, HostFactorGraph const& graph) {
  if (o.is_hard()) return fmt::format("{} = {}", graph.name_of(o.variable), graph.state_name(o.variable, o.value));
  return fmt::format("{} with likelihoods {} and {}", graph.name_of(o.variable), o.likelihood[0], o.likelihood[1]);
}

}  // namespace

Conflict find_conflict(ExactArguments const& a, HostFactorGraph const& graph, HostEvidence const& evidence, std::string where, std::vector<std::string> sources) {
  Conflict conflict{std::move(where), std::move(sources), std::nullopt};
  try {
    conflict.observations = Search(a, graph).conflict(evidence);
  } catch (CapacityError const&) {
    // With less evidence tables are larger; that something is impossible is known all the same.
  }
  return conflict;
}

std::string to_text(Conflict const& conflict, HostFactorGraph const& graph, std::string const& what) {
  auto text = fmt::format("{}: {} is possible", conflict.where, what);
  auto const& observations = conflict.observations;
  if (observations && observations->empty()) return text + ", whatever is observed: the model's tables contradict each other";
  if (conflict.sources.empty()) return text;
  text += fmt::format(" under the evidence of {}", fmt::join(conflict.sources, ", "));
  if (!observations) return text;
  constexpr std::size_t most = 8;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < std::min(most, observations->size()); ++i) words.push_back(describe((*observations)[i], graph));
  auto const more = observations->size() > most ? fmt::format(" and {} more", observations->size() - most) : "";
  return text + fmt::format(": {}{} {}; withdraw or soften {}", fmt::join(words, ", "), more, observations->size() == 1 ? "cannot be" : "cannot all be", observations->size() == 1 ? "it" : "one of them");
}

nlohmann::json to_json(Conflict const& conflict, HostFactorGraph const& graph) {
  nlohmann::json json{{"stop", "contradiction"}};
  if (!conflict.observations) return json;
  json["contradiction"] = nlohmann::json::array();
  for (auto const& o : *conflict.observations) {
    nlohmann::json observation{{"variable", o.variable}, {"name", graph.name_of(o.variable)}};
    if (o.is_hard()) observation.update({{"value", o.value}, {"state", graph.state_name(o.variable, o.value)}});
    else observation["likelihoods"] = o.likelihood;
    json["contradiction"].push_back(std::move(observation));
  }
  return json;
}

}  // namespace hornbill::cli
