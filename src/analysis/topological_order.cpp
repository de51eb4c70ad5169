// An order of tuples from premises to heads, or a cycle where there is none.
#include <algorithm>
#include <functional>
#include <queue>

#include <fmt/format.h>

#include <hornbill/analysis/simplify.hpp>
#include <hornbill/error.hpp>

#include "../graph/cycle.hpp"
#include "incidence.hpp"

namespace hornbill::analysis {
namespace {

/// Of tuples that could not be placed, some that derive one another, in words.
std::string describe_cycle(ClauseSet const& clauses, std::vector<bool> const& placed) {
  // Every tuple that is not placed has a clause with a premise that is not: going back from premise to premise must
  // return.
  std::vector<Index> cause(clauses.num_tuples(), -1);
  for (Index c = 0; c < clauses.num_clauses(); ++c)
    for (Index t : clauses.body_of(c))
      if (!placed[t]) cause[clauses.heads[c]] = t;
  auto const cycle =
      cycle_of_causes(cause, static_cast<Index>(std::find(placed.begin(), placed.end(), false) - placed.begin()));
  return hornbill::describe_cycle(cycle, [&](Index t) { return clauses.tuple_names[t]; });
}

}  // namespace

std::vector<Index> topological_order(ClauseSet const& clauses, std::string const& source) {
  auto const users = by_premise(clauses, all_clauses(clauses));
  std::vector<Index> missing_premises(clauses.num_clauses()), missing_clauses(clauses.num_tuples()), order;
  for (Index c = 0; c < clauses.num_clauses(); ++c) ++missing_clauses[clauses.heads[c]];
  std::priority_queue<Index, std::vector<Index>, std::greater<>> ready;
  auto const finish = [&](Index clause) {
    if (--missing_clauses[clauses.heads[clause]] == 0) ready.push(clauses.heads[clause]);
  };
  for (Index t = 0; t < clauses.num_tuples(); ++t)
    if (missing_clauses[t] == 0) ready.push(t);
  for (Index c = 0; c < clauses.num_clauses(); ++c)
    if ((missing_premises[c] = static_cast<Index>(clauses.body_of(c).size())) == 0) finish(c);
  std::vector<bool> placed(clauses.num_tuples());
  while (!ready.empty()) {
    Index const t = ready.top();
    ready.pop();
    placed[t] = true;
    order.push_back(t);
    for (Index c : users.of(t))
      if (--missing_premises[c] == 0) finish(c);
  }
  if (order.size() < placed.size())
    throw InputError(source, "",
                     fmt::format("the clauses have a cycle: {}. `hornbill clauses prune` keeps clauses without cycles",
                                 describe_cycle(clauses, placed)));
  return order;
}

}  // namespace hornbill::analysis
