// Inputs as facts, and chains of clauses folded into one.
#include <hornbill/analysis/simplify.hpp>

#include <algorithm>

#include "incidence.hpp"

namespace hornbill::analysis {
namespace {

std::vector<bool> derived_tuples(ClauseSet const& clauses) {
  std::vector<bool> derived(clauses.num_tuples());
  for (Index head : clauses.heads) derived[head] = true;
  return derived;
}

/// Only the tuples that clauses use, and alarms, with the numbers that they then have.
Simplified without_unused_tuples(ClauseSet const& clauses, std::span<Index const> alarms) {
  auto selection = select(clauses, all_clauses(clauses));
  Simplified result;
  result.removed = clauses.num_tuples() - selection.clauses.num_tuples();
  for (Index alarm : alarms) result.alarms.push_back(selection.tuple_of[alarm]);
  result.clauses = std::move(selection.clauses);
  return result;
}

ClauseSet same_names(ClauseSet const& clauses) {
  ClauseSet result;
  result.tuple_names = clauses.tuple_names;
  result.rule_names = clauses.rule_names;
  return result;
}

/// Which clauses become part of which.
class Folding {
 public:
  Folding(ClauseSet const& clauses, std::span<Index const> alarms, std::vector<Index> const& order)
      : clauses_(clauses),
        into_(clauses.num_clauses(), -1),
        folded_(clauses.num_tuples()),
        listed_in_(clauses.num_tuples(), -1) {
    auto const derivers = by_head(clauses, all_clauses(clauses)), users = by_premise(clauses, all_clauses(clauses));
    std::vector<bool> is_alarm(clauses.num_tuples());
    for (Index alarm : alarms) is_alarm[alarm] = true;
    // From the last heads on: what a tuple's users have become part of is known when the tuple's turn comes.
    for (auto t = order.rbegin(); t != order.rend(); ++t) {
      auto const deriving = derivers.of(*t), using_it = users.of(*t);
      if (deriving.size() != 1 || using_it.empty() || is_alarm[*t]) continue;
      Index const into = whole_of(using_it[0]);
      if (!std::all_of(using_it.begin(), using_it.end(), [&](Index c) { return whole_of(c) == into; })) continue;
      into_[deriving[0]] = into;
      folded_[*t] = true;
      parts_.push_back(deriving[0]);
    }
  }

  ClauseSet fold() {
    // Parts in the order of the clauses that they are part of, those from the head on first.
    std::vector<Index> count(clauses_.num_clauses() + 1);
    for (Index part : parts_) ++count[into_[part] + 1];
    for (Index c = 0; c < clauses_.num_clauses(); ++c) count[c + 1] += count[c];
    std::vector<Index> sorted(parts_.size()), next = count;
    for (Index part : parts_) sorted[next[into_[part]]++] = part;
    auto result = same_names(clauses_);
    for (Index c = 0; c < clauses_.num_clauses(); ++c) {
      if (into_[c] >= 0) continue;
      body_.clear();
      rules_.clear();
      take(c, c);
      for (Index i = count[c]; i < count[c + 1]; ++i) take(sorted[i], c);
      std::sort(body_.begin(), body_.end());
      result.add(clauses_.heads[c], body_, rules_);
    }
    return result;
  }

 private:
  Index whole_of(Index clause) const { return into_[clause] >= 0 ? into_[clause] : clause; }
  void take(Index part, Index whole) {
    auto const rules = clauses_.rules_of(part);
    rules_.insert(rules_.end(), rules.begin(), rules.end());
    for (Index t : clauses_.body_of(part))
      if (!folded_[t] && listed_in_[t] != whole) {
        listed_in_[t] = whole;
        body_.push_back(t);
      }
  }

  ClauseSet const& clauses_;
  std::vector<Index> into_;       ///< by clause: the whole that it becomes part of, or -1
  std::vector<bool> folded_;      ///< by tuple
  std::vector<Index> listed_in_;  ///< by tuple: the last whole that has it as a premise
  std::vector<Index> parts_, body_, rules_;
};

}  // namespace

Simplified drop_inputs(ClauseSet const& clauses, std::span<Index const> alarms) {
  auto const derived = derived_tuples(clauses);
  auto result = same_names(clauses);
  std::vector<Index> body;
  for (Index c = 0; c < clauses.num_clauses(); ++c) {
    body.clear();
    std::ranges::copy_if(clauses.body_of(c), std::back_inserter(body), [&](Index t) { return derived[t]; });
    result.add(clauses.heads[c], body, clauses.rules_of(c));
  }
  return without_unused_tuples(result, alarms);
}

ClauseSet state_inputs(ClauseSet const& clauses, std::string const& rule) {
  auto const derived = derived_tuples(clauses);
  auto result = clauses;
  auto const known = std::ranges::find(result.rule_names, rule);
  auto const number = static_cast<Index>(known - result.rule_names.begin());
  if (known == result.rule_names.end()) result.rule_names.push_back(rule);
  for (Index t = 0; t < clauses.num_tuples(); ++t)
    if (!derived[t]) result.add(t, {}, {&number, 1});
  return result;
}

Simplified compress(ClauseSet const& clauses, std::span<Index const> alarms, std::string const& source) {
  return without_unused_tuples(Folding(clauses, alarms, topological_order(clauses, source)).fold(), alarms);
}

}  // namespace hornbill::analysis
