/// \file
/// Worlds sampled from models, as stand-ins for a truth that nobody knows.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill {

/// Draws every variable from its factor, given the variables of the factor's body: the graph as a Bayesian network. The
/// same seed gives the same world on every machine.
/// \shape [V]
/// \param p1  in place of the p1 of all conjunctions that are uncertain, where it is given
/// \param source  how messages begin, e.g. the file's name
/// \throws InputError naming a variable that is the head of no factor or of several, a table, or a cycle
std::vector<bool> sample_world(HostFactorGraph const& graph, std::uint64_t seed,
                               std::optional<double> p1 = std::nullopt, std::string const& source = "factor graph");

}  // namespace hornbill
