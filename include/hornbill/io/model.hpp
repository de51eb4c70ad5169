/// \file
/// Reading and writing models in any format.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/graph/model.hpp>

namespace hornbill::io {

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

/// Reads variables as VariableNames finds them, one a line (word_of_line()).
/// \throws InputError naming the line
/// \return each with its line
std::vector<std::pair<Index, int>> read_variables_text(std::string const& file, HostFactorGraph const& graph);

/// Reads `variable value` lines of words (words_of()). A variable is found as VariableNames finds it. A value is the
/// name of a state, in any case where that is said of one and not quoted; a number; or, where states have no names,
/// true or false in any case. More columns, `variable l0 l1 ...`, are soft evidence: a likelihood for each state.
/// \throws InputError naming the line
HostEvidence read_evidence_text(std::string const& file, HostFactorGraph const& graph);
/// The same of a text that was read from a file.
HostEvidence parse_evidence(std::string const& text, std::string const& file, HostFactorGraph const& graph);

}  // namespace hornbill::io
