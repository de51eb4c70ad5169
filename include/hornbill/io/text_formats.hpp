/// \file
/// Text formats of other systems: libDAI's `.fg`, and `.causal_fg` of its extension for Horn factors.
#pragma once

#include <string>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::io {

// Both formats give variables labels. Variables are those that occur, numbered in the order of their labels; where that
// leaves gaps, the labels are the names. Names that are all labels, in order, are written as such. Entries that are too
// small for a number round to 0; where somebody wants warnings, one says so.

/// Whether all variables have names, and these are labels in the order of the variables.
bool has_labels_for_names(HostFactorGraph const& graph);

/// Reads libDAI's `.fg`. Tables that are conjunctions or disjunctions become Horn factors; the head is moved to the
/// front.
/// \throws InputError naming the line, CapacityError for tables that do not fit into memory
HostFactorGraph read_fg(std::string const& file, std::vector<std::string>* warnings = nullptr);

/// Writes `.fg`; Horn factors become tables.
/// \throws InputError if a factor's table would exceed max_table_entries (`.causal_fg` and `.h5` hold it)
void write_fg(HostFactorGraph const& graph, std::string const& file);

/// Reads `.causal_fg`: blocks of a head, `I`, `*p;q` (AND) or `+p;q` (OR), and a body. The parameters of an OR speak of
/// head = 0 there: p1 = 1 - q, p2 = 1 - p. A body variable that is repeated counts once.
/// \throws InputError naming the line
HostFactorGraph read_causal_fg(std::string const& file, std::vector<std::string>* warnings = nullptr);

/// Writes `.causal_fg`.   \throws InputError if there are tables, which the format cannot express
void write_causal_fg(HostFactorGraph const& graph, std::string const& file);

}  // namespace hornbill::io
