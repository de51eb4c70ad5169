/// \file
/// Text formats of other systems: libDAI's `.fg`, and `.causal_fg` of its extension for Horn factors.
#pragma once

#include <string>

#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::io {

/// Reads libDAI's `.fg`. Tables that are conjunctions or disjunctions become Horn factors; the head is moved to the
/// front. Variables are the labels 0 to the largest; those in no factor are binary.
/// \throws InputError naming the line
HostFactorGraph read_fg(std::string const& file);

/// Writes `.fg`; Horn factors become tables.
/// \throws InputError if a factor's table would exceed max_table_entries (`.causal_fg` and `.h5` hold it)
void write_fg(HostFactorGraph const& graph, std::string const& file);

/// Reads `.causal_fg`: blocks of a head, `I`, `*p;q` (AND) or `+p;q` (OR), and a body. The parameters of an OR speak of
/// head = 0 there: p1 = 1 - q, p2 = 1 - p. A body variable that is repeated counts once.
/// \throws InputError naming the line
HostFactorGraph read_causal_fg(std::string const& file);

/// Writes `.causal_fg`.   \throws InputError if there are tables, which the format cannot express
void write_causal_fg(HostFactorGraph const& graph, std::string const& file);

}  // namespace hornbill::io
