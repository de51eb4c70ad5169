// Which observations contradict each other, where exact inference finds that nothing is possible.
#pragma once

#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/tables/table_network.hpp>

#include "exact.hpp"

namespace hornbill::cli {

/// Observations that cannot all be, though any fewer of them could, in words.
struct Conflict {
  std::vector<std::string> sources;  ///< of the evidence
  /// none: nothing is possible whatever is observed; unknown where to find out would take long
  std::optional<std::vector<std::string>> observations;
  nlohmann::json json =
      nlohmann::json::object();  ///< the keys `stop`, which is "contradiction", and `contradiction`, the observations
  bool can_soften = false;       ///< one of them
};

/// Until when a command that has its answer may look for what is to blame.
inline Clock::time_point conflict_deadline() { return Clock::now() + std::chrono::seconds(5); }

/// Looks for a conflict by the fewest questions.
/// \param evidence  under which nothing is possible   \param is_possible  whether anything is, under part of it; may
/// throw where it cannot tell
/// \return the conflict, in the order of the evidence; none where there was no time, or memory, to find it
/// \source Junker: QuickXplain, 2004; here with a binary search for each observation of the conflict, as there are few
std::optional<HostEvidence> find_conflict(HostEvidence evidence,
                                          std::function<bool(HostEvidence const&)> const& is_possible,
                                          Clock::time_point deadline);

/// ", whatever is observed", or " under the evidence of dry.txt: grass = dry, rain = yes cannot all be; withdraw one of
/// them".
std::string to_text(Conflict const& conflict);

/// Whether anything is possible. Needs Kokkos.
/// \throws CapacityError where to find out would take long, or more memory than there is
bool is_possible(ExactArguments const& a, tables::TableNetwork<double> const& network);
bool is_possible(ExactArguments const& a, tables::CostNetwork const& network);

/// Finds a conflict and puts it in words. Needs Kokkos.
/// \param network  without evidence: TableNetwork<double> or CostNetwork
template <class Network>
Conflict explain_conflict(ExactArguments const& a, Network const& network, HostEvidence const& evidence,
                          std::vector<std::string> sources, Clock::time_point deadline) {
  Conflict conflict;
  conflict.sources = std::move(sources);
  conflict.json["stop"] = "contradiction";
  auto const found = find_conflict(
      evidence, [&](HostEvidence const& part) { return is_possible(a, tables::condition(network, part)); }, deadline);
  if (!found) return conflict;
  conflict.observations.emplace();
  conflict.json["contradiction"] = nlohmann::json::array();
  for (auto const& o : *found) {
    nlohmann::json json{{"variable", o.variable}, {"name", network.name_of(o.variable)}};
    if (o.is_hard())
      json.update({{"value", o.value}, {"state", network.state_name(o.variable, o.value)}});
    else
      json["likelihoods"] = o.likelihoods;
    conflict.json["contradiction"].push_back(std::move(json));
    auto const what = o.is_hard() ? fmt::format("= {}", network.state_name(o.variable, o.value))
                                  : fmt::format("with likelihoods {}", fmt::join(o.likelihoods, ", "));
    conflict.observations->push_back(fmt::format("{} {}", network.name_of(o.variable), what));
    if constexpr (std::is_same_v<Network, tables::TableNetwork<double>>)
      conflict.can_soften = conflict.can_soften || o.is_hard();
  }
  return conflict;
}

}  // namespace hornbill::cli
