/// \file
/// What messages say of conjunctions, and of the evidence as a whole: the expectation step of learning.
#pragma once

#include <span>
#include <vector>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::bp {

/// How often each conjunction is expected to have been tried, its body true, and to have fired, its head true as well:
/// probabilities given the evidence, since a factor is one trial.
struct ExpectedCounts {
  std::vector<double> tried, fired;  ///< [F]; 0 of factors that are no conjunctions
};

/// Expected counts from the messages at each conjunction's head, whatever the width of its body: with p2 = 0, the
/// message to the head says m(1) = p1 P(body), so P(body) needs no other.
///
///     fired = m(1) h(1) / (m(1) h(1) + m(0) h(0)),   tried = fired + (1 - fired) (1 - p1) m(1) / (p1 m(0))
///
/// where h is the message from the head. Of a conjunction with p1 = 0, which tells nothing of its body, both are 0.
/// \param to_variables, to_factors  messages of a run that has converged, as bp::factor_messages and
/// bp::variable_messages have them
/// \throws ShapeError if they are not the graph's   \throws InputError for a conjunction with a body and p2 > 0
ExpectedCounts expected_counts(HostFactorGraph const& graph, std::span<double const> to_variables,
                               std::span<double const> to_factors);

/// The logarithm of the probability of the evidence in a Bayesian network, in Bethe's approximation: exact where the
/// graph has no cycles.
///
/// Messages to heads are formed anew, in order: a run may stop before those between variables that the evidence makes
/// certain have settled, since they change no marginal. All others count as they are.
/// \param order  of the graph's factors, as network_order() has it
/// \param to_variables  messages of a run that has converged, as bp::factor_messages has them
/// \throws ShapeError if the order or the messages are not the graph's
/// \throws InputError for evidence on variables that it does not have
/// \source Yedidia, Freeman and Weiss: Constructing free-energy approximations and generalized belief propagation
/// algorithms, 2005
double log_evidence(HostFactorGraph const& graph, std::span<Index const> order, HostEvidence const& evidence,
                    std::span<double const> to_variables);

}  // namespace hornbill::bp
