/// \file
/// All that a model file holds, and reading and writing it in any format.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include <hornbill/bp/schedule.hpp>
#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::io {

/// Marginals as stored in a file, with the words that say how they were computed.
struct StoredMarginals {
  std::vector<double> p_true;                     ///< [V], P(variable = 1)
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
  std::map<std::string, bp::StoredSchedule> schedules;
  std::map<std::string, HostEvidence> evidence;
  std::map<std::string, std::vector<Index>> queries;
  std::map<std::string, StoredMarginals> marginals;
  std::map<std::string, StoredMessages> messages;
  RuleInstances rules;
  std::vector<std::string> warnings;  ///< of the reader: what it put right, each with its file and line
};

/// Whether a file has the ending of a model that read_model() knows.
bool is_model(std::string const& file);

/// Reads a model; the format follows from the ending: `.h5`, `.fg`, `.causal_fg`, `.uai`, `.bif`.
/// \throws InputError, CapacityError
Model read_model(std::string const& file);

/// Writes a model; the format follows from the ending. Text formats hold the graph alone.
///
/// The file is written beside its target and then renamed, so that `file` is never half-written.
/// \throws InputError if the format cannot express the model or the file cannot be written
void write_model(Model const& model, std::string const& file);

/// Checks a name under which something is to be stored: not empty, not `.` or `..`, no `/`.   \throws InputError
void validate_name(std::string const& name, std::string const& what);

/// The variable of a name, or of a number. Of several of one name the last: a tuple stands behind the clauses that
/// derive it, and one without premises may be called as it is.
std::optional<Index> find_variable(HostFactorGraph const& graph, std::string const& text);

/// Reads variables by number or by name, one a line; blank lines, and those that begin with `#`, are skipped.
/// \throws InputError naming the line
/// \return each with its line
std::vector<std::pair<Index, int>> read_variables_text(std::string const& file, HostFactorGraph const& graph);

/// Reads `variable value` lines; `#` begins a comment. A variable is given by number or by name. A value is a number,
/// true, false, or the name of a state. Three columns, `variable l0 l1`, are soft evidence.
/// \throws InputError naming the line
HostEvidence read_evidence_text(std::string const& file, HostFactorGraph const& graph);

}  // namespace hornbill::io
