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
};

/// Steps to a tuple, those of premises before those that use them. Each tuple is derived once, however often it is used.
struct Derivation {
  std::vector<DerivationStep> steps;
  double probability = 1;  ///< that all of its clauses hold: the product of theirs
};

/// The derivation of a tuple whose product of clauses' probabilities, counted as often as they are used, is largest; none if no derivation is
/// possible. Of each disjunction, such as a tuple's, the best of its body is taken, and disjunctions of disjunctions are passed through.
///
/// Given the labels of a run, the probability of a clause is that of its head given its body and the labels: fired / tried of
/// bp::expected_counts. So what the labels rule out derives nothing. Without labels it is p1.
/// \param holds  of each conjunction, its probability where its body is true   \shape [F]
/// \param source  how messages begin, e.g. the file's name
/// \throws InputError where the graph is no Bayesian network: see network_order()   \throws ShapeError
/// \source Knuth: A generalization of Dijkstra's algorithm, 1977; here over a graph without cycles
std::optional<Derivation> most_probable_derivation(HostFactorGraph const& graph, Index tuple, std::span<double const> holds, std::string const& source = "factor graph");

}  // namespace hornbill::analysis
