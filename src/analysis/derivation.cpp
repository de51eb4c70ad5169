// Depths of derivations, and what follows from them: clauses without cycles, and those that matter.
#include <hornbill/analysis/prune.hpp>

#include "incidence.hpp"

namespace hornbill::analysis {

std::vector<Index> derivation_depths(ClauseSet const& clauses) {
  std::vector<Index> depth(clauses.num_tuples(), underivable), reached, missing(clauses.num_clauses());
  // Tuples are reached in the order of their depths, so the last premise of a clause to be reached is its deepest.
  auto const reach = [&](Index t, Index at) {
    if (depth[t] != underivable) return;
    depth[t] = at;
    reached.push_back(t);
  };
  std::vector<bool> derived(clauses.num_tuples());
  for (Index head : clauses.heads) derived[head] = true;
  for (Index t = 0; t < clauses.num_tuples(); ++t)
    if (!derived[t]) reach(t, 0);
  auto const users = by_premise(clauses, all_clauses(clauses));
  for (Index c = 0; c < clauses.num_clauses(); ++c)
    if ((missing[c] = static_cast<Index>(clauses.body_of(c).size())) == 0) reach(clauses.heads[c], 0);
  for (std::size_t i = 0; i < reached.size(); ++i)
    for (Index c : users.of(reached[i]))
      if (--missing[c] == 0) reach(clauses.heads[c], depth[reached[i]] + 1);
  return depth;
}

std::vector<Index> forward_clauses(ClauseSet const& clauses, std::span<Index const> depths) {
  std::vector<Index> forward;
  for (Index c = 0; c < clauses.num_clauses(); ++c)
    if (clauses.body_of(c).empty() || depth_of_body(clauses, depths, c) < depths[clauses.heads[c]])
      forward.push_back(c);
  return forward;
}

std::vector<Index> coreachable_clauses(ClauseSet const& clauses, std::span<Index const> listed,
                                       std::span<Index const> alarms) {
  auto const deriving = by_head(clauses, listed);
  std::vector<bool> wanted(clauses.num_tuples());
  std::vector<Index> stack, coreachable;
  auto const want = [&](Index t) {
    if (!wanted[t]) stack.push_back(t);
    wanted[t] = true;
  };
  for (Index t : alarms) want(t);
  while (!stack.empty()) {
    Index const t = stack.back();
    stack.pop_back();
    for (Index c : deriving.of(t))
      for (Index premise : clauses.body_of(c)) want(premise);
  }
  for (Index c : listed)
    if (wanted[clauses.heads[c]]) coreachable.push_back(c);
  return coreachable;
}

}  // namespace hornbill::analysis
