// The order in which premises of a rule are looked for. Internal to src/datalog.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <hornbill/datalog/program.hpp>

#include "table.hpp"

namespace hornbill::datalog {

/// A premise, and what can be decided as soon as it is there.
struct JoinStep {
  Index premise = -1;                   ///< its number in the rule's body; -1 in a step before the first one
  Columns columns = 0;                  ///< that are known by then
  std::vector<Comparison> assignments;  ///< equalities whose left side becomes known
  std::vector<Comparison> comparisons;
  std::vector<Index> negated;  ///< numbers in the rule's list
};

/// \param needed  [relations], columns that must be known before a relation is asked, where its tuples are not stored
/// \param first  the premise that others follow, as in the round in which its tuples are new; -1 where there is none
/// \return nothing if no order makes them known
std::optional<std::vector<JoinStep>> join_steps(Rule const& rule, std::span<Columns const> needed, Index first);

}  // namespace hornbill::datalog
