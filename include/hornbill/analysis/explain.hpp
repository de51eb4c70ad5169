/// \file
/// Why a tuple is probable: its most probable derivation.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::analysis {

/// One step of a derivation: a clause holds, and with it the tuple.
struct DerivationStep {
  Index tuple = 0;              ///< variable
  Index clause = 0;             ///< the conjunction, a factor
  std::vector<Index> premises;  ///< tuples, variables
  Index num_derivations = 1;    ///< by which the tuple may follow, this one among them
};

/// Steps to a tuple, those of premises before those that use them. Each tuple is derived once, however often it is
/// used.
struct Derivation {
  std::vector<DerivationStep> steps;
  /// the sum of those of its factors, each once: without labels the log-probability that all of its clauses hold
  double log_weight = 0;
};

/// Checks that tuples follow by derivations.
/// \param source  how messages begin, e.g. the file's name
/// \throws InputError where the graph is no Bayesian network, see network_order(), or a head may be true though its
/// body is not
void require_derivations(HostFactorGraph const& graph, std::string const& source = "factor graph");

/// The logarithm of what each factor contributes to the probability of the derivations that use it, given the labels of
/// a run:
///
///     conjunction   P(head, body) / prod of P(premise)   over its premises; 0 where one of them cannot be true
///     disjunction   P(head | one of its body)
///
/// where P(head, body) is P(head): without its body it cannot be true. Where the graph has no cycles, the product of a
/// derivation's weights is P(all of its clauses hold | labels). Without labels the weights are p1. With labels one may
/// be above 1: of premises that the labels make improbable but for this clause.
/// \param to_variables, to_factors  messages of a run that has converged, as bp::factor_messages and
/// bp::variable_messages have them
/// \shape [E]
/// \return \shape [F]   \throws ShapeError   \throws InputError as require_derivations()
/// \source Bethe's factorisation of the joint probability: Yedidia, Freeman and Weiss, 2005
std::vector<double> log_derivation_weights(HostFactorGraph const& graph, std::span<double const> to_variables,
                                           std::span<double const> to_factors);

/// The derivation of a tuple whose product of factors' weights, counted as often as they are used, is largest; none if
/// that is 0. Of each disjunction, such as a tuple's, the best of its body is taken, and disjunctions of disjunctions
/// are passed through.
/// \param log_weights  of each factor: log p1, or given labels log_derivation_weights(). So what the labels rule out
/// derives nothing
/// \shape [F]
/// \throws InputError as require_derivations()   \throws ShapeError
std::optional<Derivation> most_probable_derivation(HostFactorGraph const& graph, Index tuple,
                                                   std::span<double const> log_weights,
                                                   std::string const& source = "factor graph");

}  // namespace hornbill::analysis
