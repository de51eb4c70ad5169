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
