#include <hornbill/analysis/prune.hpp>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "incidence.hpp"

namespace hornbill::analysis {
namespace {

void require_derived(ClauseSet const& clauses, std::span<Index const> depths, std::span<Index const> alarms,
                     std::string const& source) {
  std::vector<bool> derived(clauses.num_tuples());
  for (Index head : clauses.heads) derived[head] = true;
  for (Index alarm : alarms)
    if (!derived[alarm] || depths[alarm] == underivable)
      throw InputError(source, "",
                       fmt::format("no clause derives the alarm {} from inputs", clauses.tuple_names[alarm]));
}

Index count_underivable(ClauseSet const& clauses, std::span<Index const> depths) {
  Index count = 0;
  for (Index c = 0; c < clauses.num_clauses(); ++c) count += depth_of_body(clauses, depths, c) == underivable;
  return count;
}

}  // namespace

Pruned prune(ClauseSet const& clauses, std::span<Index const> alarms, PruneOptions const& options,
             std::string const& source) {
  auto const depths = derivation_depths(clauses);
  require_derived(clauses, depths, alarms, source);
  auto acyclic = forward_clauses(clauses, depths);
  if (options.augment) acyclic = augmented_clauses(clauses, depths, acyclic);
  auto const coreachable = coreachable_clauses(clauses, acyclic, alarms);
  auto selection = select(clauses, coreachable);
  Pruned pruned;
  pruned.report = {.clauses = clauses.num_clauses(),
                   .tuples = clauses.num_tuples(),
                   .underivable = count_underivable(clauses, depths)};
  pruned.report.cyclic = clauses.num_clauses() - pruned.report.underivable - static_cast<Index>(acyclic.size());
  pruned.report.irrelevant = static_cast<Index>(acyclic.size() - coreachable.size());
  for (Index alarm : alarms) pruned.alarms.push_back(selection.tuple_of[alarm]);
  pruned.clauses = std::move(selection.clauses);
  return pruned;
}

}  // namespace hornbill::analysis
