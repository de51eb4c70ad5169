/// \file
/// What messages say of conjunctions, and of the evidence as a whole: the expectation step of learning.
#pragma once

#include <span>
#include <vector>

#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::bp {

/// How often each conjunction is expected to have been tried, its body true, and to have fired, its head true as well: probabilities given
/// the evidence, since a factor is one trial.
struct ExpectedCounts {
  std::vector<double> tried, fired;  ///< [F]; 0 of factors that are no conjunctions
};

/// Expected counts from the messages at each conjunction's head, whatever the width of its body: with p2 = 0, the message to the head says
/// m(1) = p1 P(body), so P(body) needs no other.
///
///     fired = m(1) h(1) / (m(1) h(1) + m(0) h(0)),   tried = fired + (1 - fired) (1 - p1) m(1) / (p1 m(0))
///
/// where h is the message from the head. Of a conjunction with p1 = 0, which tells nothing of its body, both are 0.
/// \param to_variables, to_factors  messages of a run that has converged, as bp::factor_messages and bp::variable_messages have them
/// \throws ShapeError if they are not the graph's   \throws InputError for a conjunction with a body and p2 > 0
ExpectedCounts expected_counts(HostFactorGraph const& graph, std::span<double const> to_variables, std::span<double const> to_factors);

/// The logarithm of the probability of the evidence in Bethe's approximation: that of the partition function, exact where the graph has no
/// cycles. Of a Bayesian network, in which every variable is the head of one factor, it is the log-likelihood of the evidence.
///
/// Of fixed points of belief propagation alone: there a factor's own sum is that over its head's edge, and the two cancel. Messages between
/// variables of which the evidence has made certain what they are change no marginal, so a run may stop before these have settled; it
/// takes an iteration for each such variable on a path.
/// \param to_variables, to_factors  as for expected_counts()
/// \throws ShapeError   \throws InputError for a table
double log_evidence(HostFactorGraph const& graph, HostEvidence const& evidence, std::span<double const> to_variables, std::span<double const> to_factors);

}  // namespace hornbill::bp
