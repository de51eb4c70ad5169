/// \file
/// Fewer clauses of the same meaning: what becomes of inputs, and chains folded into one clause.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <hornbill/analysis/clauses.hpp>

namespace hornbill::analysis {

/// A set of clauses and the alarms' tuples in it.
struct Simplified {
  ClauseSet clauses;
  std::vector<Index> alarms;
  Index removed = 0;  ///< tuples that are gone: inputs dropped, or tuples folded away
};

/// Tuples in an order in which the premises of every clause come before its head; otherwise that of their numbers.
/// \shape [T]
/// \param source  how messages begin, e.g. the file's name
/// \throws InputError naming the tuples of a cycle
std::vector<Index> topological_order(ClauseSet const& clauses, std::string const& source);

/// Inputs as certain facts: they are dropped from bodies.   \source hornbill/analysis/README.md, step 4
Simplified drop_inputs(ClauseSet const& clauses, std::span<Index const> alarms);

/// Inputs as uncertain facts: each becomes the head of a clause without premises, of this rule, which need not be known
/// before.
ClauseSet state_inputs(ClauseSet const& clauses, std::string const& rule);

/// Folds away each tuple that one clause derives, one clause uses, and that is no alarm: the two become one clause of
/// both their premises and rules, so that probabilities multiply. Clauses become longer and fewer; marginals of those
/// that are left stay what they were. In time and memory proportional to the clauses.
/// \source hornbill/analysis/README.md, step 5
/// \throws InputError naming the tuples of a cycle
Simplified compress(ClauseSet const& clauses, std::span<Index const> alarms, std::string const& source);

}  // namespace hornbill::analysis
