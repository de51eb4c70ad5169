// Which observations contradict each other, where exact inference finds that nothing is possible.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

#include "exact.hpp"

namespace hornbill::cli {

/// Observations that cannot all be, though any fewer of them could; none where the model itself is impossible.
struct Conflict {
  std::string where;                        ///< file, and evidence set of --each
  std::vector<std::string> sources;         ///< of the evidence
  std::optional<HostEvidence> observations; ///< unknown where to find out would take long
};

/// Finds a conflict in evidence under which nothing is possible, by eliminating under parts of it. Needs Kokkos.
/// \param evidence  one observation of each variable
Conflict find_conflict(ExactArguments const& a, HostFactorGraph const& graph, HostEvidence const& evidence, std::string where, std::vector<std::string> sources);

/// "road.bif: nothing is possible under the evidence of dry.txt: grass = dry, rain = yes cannot all be".
/// \param what  that is not possible, e.g. "no assignment"
std::string to_text(Conflict const& conflict, HostFactorGraph const& graph, std::string const& what);

/// The keys `stop`, which is "contradiction", and `contradiction`, the observations, as far as they are known.
nlohmann::json to_json(Conflict const& conflict, HostFactorGraph const& graph);

/// Whether anything is possible. Needs Kokkos.   \throws CapacityError where to find out would take long, or more memory than there is
bool is_possible(ExactArguments const& a, tables::TableNetwork<double> const& network);

}  // namespace hornbill::cli
