/// \file
/// Beliefs of factors, from the messages into them.
#pragma once

#include <span>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::bp {

/// The probability that the variables of a Horn factor have these values: the factor times the messages into it,
/// normalised.
/// \param values  of its variables, the head first
/// \param log_odds  variable-to-factor messages, as bp::variable_messages has them   \shape [E]
/// \throws InputError for a table   \throws ShapeError if there is not one value for each variable
double factor_belief(HostFactorGraph const& graph, Index factor, std::vector<bool> const& values,
                     std::span<double const> log_odds);

}  // namespace hornbill::bp
