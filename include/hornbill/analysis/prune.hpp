/// \file
/// From all clauses that an analysis derived to an acyclic set of those that matter to its alarms.
#pragma once

#include <limits>
#include <span>
#include <string>
#include <vector>

#include <hornbill/analysis/clauses.hpp>

namespace hornbill::analysis {

/// Of a tuple that does not follow from inputs.
inline constexpr Index underivable = std::numeric_limits<Index>::max();

/// Depth of each tuple's shortest derivation: 0 for inputs and for facts (heads of clauses without premises), else 1 +
/// the least, over its clauses, of the largest depth in the body. In time and memory proportional to the clauses.
/// \shape [T]
/// \source hornbill/analysis/README.md, equation 1
std::vector<Index> derivation_depths(ClauseSet const& clauses);

/// Clauses whose premises are all less deep than their head: they have no cycle, and derive what all clauses do.
/// \shape [at most C], ascending
std::vector<Index> forward_clauses(ClauseSet const& clauses, std::span<Index const> depths);

/// Adds to an acyclic set further derivable clauses as long as there is no cycle; no other can be added after that.
/// First come those that fit an order of the tuples in which few clauses do not, then the others in order of their
/// depth.
/// \param kept  forward_clauses()   \return a larger set, ascending
/// \cost linear where few clauses go against the order: each that does walks what lies between its head and its
/// premises; quadratic at worst
/// \source Pearce and Kelly: A dynamic topological sort algorithm for directed acyclic graphs, 2006: an order of the
/// tuples is kept up to date, and only what lies between a clause's head and its premises is searched; here from both,
/// until either search is exhausted
std::vector<Index> augmented_clauses(ClauseSet const& clauses, std::span<Index const> depths,
                                     std::span<Index const> kept);

/// Those of a list of clauses from which some alarm can be reached.
std::vector<Index> coreachable_clauses(ClauseSet const& clauses, std::span<Index const> listed,
                                       std::span<Index const> alarms);

/// What was left out, and why.
struct PruneReport {
  Index clauses = 0, tuples = 0;  ///< there were
  Index underivable = 0;          ///< clauses with a premise that does not follow from inputs
  Index cyclic = 0;               ///< further clauses against the order of depths, and not added again
  Index irrelevant = 0;           ///< further clauses from which no alarm can be reached
};

struct PruneOptions {
  bool augment = false;  ///< also keep clauses against the order of depths that make no cycle
};

/// An acyclic set of clauses that lead to alarms, and the alarms' tuples in it.
struct Pruned {
  ClauseSet clauses;
  std::vector<Index> alarms;
  PruneReport report;
};

/// All of the above.   \param source  how messages begin, e.g. the name of the file of alarms
/// \throws InputError naming an alarm that no clause derives
Pruned prune(ClauseSet const& clauses, std::span<Index const> alarms, PruneOptions const& options,
             std::string const& source);

}  // namespace hornbill::analysis
