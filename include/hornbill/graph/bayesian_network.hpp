/// \file
/// Factor graphs read as Bayesian networks: each variable depends on those in the body of the one factor whose head it
/// is.
#pragma once

#include <string>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill {

/// The factors in an order in which those of a body come before the factor; otherwise that of the variables that they
/// are the heads of.
/// \shape [F]
/// \param source  how messages begin, e.g. the file's name
/// \throws InputError naming a variable that is the head of no factor or of several, a table, or a cycle
std::vector<Index> network_order(HostFactorGraph const& graph, std::string const& source = "factor graph");

}  // namespace hornbill
