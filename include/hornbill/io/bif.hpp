/// \file
/// The Bayesian interchange format (BIF, version 0.15), in which the BN repository keeps its networks.
#pragma once

#include <string>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::io {

/// Reads a Bayesian network: a factor for each variable, its parents first, then itself; conjunctions and disjunctions
/// are recognised. Rows of probabilities are divided by their sums, which printing has rounded.
/// \param warnings  if there, gets a line for each row that does not add to one within 1e-5
/// \throws InputError naming the line and the word, CapacityError for tables that do not fit into memory
HostFactorGraph read_bif(std::string const& file, std::vector<std::string>* warnings = nullptr);

}  // namespace hornbill::io
