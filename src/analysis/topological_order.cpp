// An order of tuples from premises to heads, or a cycle where there is none.
#include <algorithm>
#include <functional>
#include <queue>

#include <fmt/format.h>

#include <hornbill/analysis/simplify.hpp>
#include <hornbill/error.hpp>

#include "incidence.hpp"

namespace hornbill::analysis {
namespace {

/// Of tuples that could not be placed, some that derive one another: each from the one before it, the first from the last.
std::vector<Index> find_cycle(ClauseSet const& clauses, std::vector<bool> const& placed) {
  // Every tuple that is not placed has a clause with a premise that is not: going back from premise to premise must return.
  std::vector<Index> cause(clauses.num_tuples(), -1), path;
  for (Index c = 0; c < clauses.num_clauses(); ++c)
    for (Index t : clauses.body_of(c))
      if (!placed[t]) cause[clauses.heads[c]] = t;
  std::vector<bool> seen(clauses.num_tuples());
  Index t = static_cast<Index>(std::find(placed.begin(), placed.end(), false) - placed.begin());
  for (; !seen[t]; t = cause[t]) {
    seen[t] = true;
    path.push_back(t);
  }
  path.erase(path.begin(), std::find(path.begin(), path.end(), t));
  std::reverse(path.begin(), path.end());
  return path;
}

std::string describe(ClauseSet const& clauses, std::vector<Index> const& cycle) {
  constexpr std::size_t most_shown = 8;
  std::string text = clauses.tuple_names[cycle.back()];
  for (std::size_t i = 0; i < cycle.size(); ++i) {
    if (i == most_shown && cycle.size() > most_shown + 1) {
      text += fmt::format(" -> ... ({} more)", cycle.size() - 1 - i);
      i = cycle.size() - 1;
    }
    text += " -> " + clauses.tuple_names[cycle[i]];
  }
  return text;
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
    throw InputError(source, "", fmt::format("the clauses have a cycle: {}. `hornbill clauses prune` keeps clauses without cycles", describe(clauses, find_cycle(clauses, placed))));
  return order;
}

}  // namespace hornbill::analysis
