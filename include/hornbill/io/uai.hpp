/// \file
/// The formats of the UAI competitions: models, evidence and results.
#pragma once

#include <string>
#include <vector>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::io {

/// Reads a model: BAYES or MARKOV, numbers of states, factors' variables, and tables with the last variable fastest.
/// Tables that are conjunctions or disjunctions become Horn factors; a factor without variables multiplies the first
/// that has some.
/// \param[out] warnings  the first row of each of a BAYES network's factors whose sum is off one by more than 1e-5;
/// rows are used as they are
/// \throws InputError naming the line and the token, CapacityError for tables that do not fit into memory
HostFactorGraph read_uai(std::string const& file, std::vector<std::string>* warnings = nullptr);

/// Writes a model as MARKOV; Horn factors become tables. Names are left out.
/// \throws InputError if a factor's table would exceed max_table_entries, or the file cannot be written
void write_uai(HostFactorGraph const& graph, std::string const& file);

/// Reads evidence: how many variables are observed, and each with its value; perhaps after the number of samples, 1.
/// \throws InputError
HostEvidence read_uai_evidence(std::string const& file, HostFactorGraph const& graph);

// Files of results hold one solution or, of solvers that improve on what they have, several, each behind `-BEGIN-`: the
// last counts. Some put the number of samples, which is 1, before each.

/// Reads marginals (MAR).   \return P(variable = state), by variable and state
/// \throws InputError also for what is no probability
std::vector<std::vector<double>> read_uai_marginals(std::string const& file);

/// Writes marginals (MAR), by variable and state.   \throws InputError if the file cannot be written
void write_uai_marginals(std::vector<std::vector<double>> const& marginals, std::string const& file);

/// Reads the decimal logarithm of the partition function (PR), with evidence of the probability of it; -infinity where
/// that is impossible.   \throws InputError
double read_uai_log10_z(std::string const& file);

/// Reads an assignment (MPE).   \return a value for each variable   \throws InputError
std::vector<Index> read_uai_assignment(std::string const& file);

}  // namespace hornbill::io
