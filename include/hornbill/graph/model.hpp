/// \file
/// A factor graph and all that belongs to it by name: what a model file holds.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/graph/stored_schedule.hpp>

namespace hornbill {

/// Marginals as stored in a file, with the words that say how they were computed.
struct StoredMarginals {
  std::vector<double> p_true;  ///< [V], P(variable = 1)
  /// [sum of cardinalities], P(variable = state), one variable's after another's; empty where all variables are binary,
  /// and where a file has none
  std::vector<double> p_states;
  std::map<std::string, std::string> attributes;  ///< e.g. schedule, iterations, residual
};

/// Messages as stored in a file, for warm starts.
struct StoredMessages {
  /// [num_messages], of factor-to-variable messages, as bp::factor_messages has them
  std::vector<double> log_odds;
  std::optional<HostEvidence> evidence;  ///< of the run that they are from, where the file says so
};

/// Which rules the factors of a model are instances of. R rules.
struct RuleInstances {
  std::vector<std::string> names;     ///< [R]
  std::vector<double> probabilities;  ///< [R]
  std::vector<Offset> offsets{0};     ///< [F+1], into of_factors; {0} where nothing is known of rules
  /// of a conjunction those whose probabilities multiply to its p1; a rule may be there twice
  std::vector<Index> of_factors;

  bool empty() const { return offsets.size() == 1; }
  std::span<Index const> of(Index factor) const {
    return std::span(of_factors).subspan(offsets[factor], offsets[factor + 1] - offsets[factor]);
  }
};

/// One model: a factor graph and what belongs to it, by name.
struct Model {
  HostFactorGraph graph;
  std::map<std::string, StoredSchedule> schedules;
  std::map<std::string, HostEvidence> evidence;
  std::map<std::string, std::vector<Index>> queries;
  std::map<std::string, StoredMarginals> marginals;
  std::map<std::string, StoredMessages> messages;
  RuleInstances rules;
  std::vector<std::string> warnings;  ///< of the reader: what it put right, each with its file and line
};

}  // namespace hornbill
