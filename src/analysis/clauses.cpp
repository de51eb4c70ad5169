#include <hornbill/analysis/clauses.hpp>

#include <algorithm>

namespace hornbill::analysis {

void ClauseSet::add(Index head, std::span<Index const> body, std::span<Index const> of_rules) {
  heads.push_back(head);
  bodies.insert(bodies.end(), body.begin(), body.end());
  body_offsets.push_back(static_cast<Offset>(bodies.size()));
  rules.insert(rules.end(), of_rules.begin(), of_rules.end());
  rule_offsets.push_back(static_cast<Offset>(rules.size()));
}

Selection select(ClauseSet const& clauses, std::span<Index const> listed) {
  Selection selection;
  selection.tuple_of.assign(clauses.num_tuples(), -1);
  for (Index c : listed) {
    selection.tuple_of[clauses.heads[c]] = 0;
    for (Index t : clauses.body_of(c)) selection.tuple_of[t] = 0;
  }
  auto& chosen = selection.clauses;
  chosen.rule_names = clauses.rule_names;
  for (Index t = 0; t < clauses.num_tuples(); ++t)
    if (selection.tuple_of[t] == 0) {
      selection.tuple_of[t] = chosen.num_tuples();
      chosen.tuple_names.push_back(clauses.tuple_names[t]);
    }
  std::vector<Index> body;
  for (Index c : listed) {
    body.clear();
    for (Index t : clauses.body_of(c)) body.push_back(selection.tuple_of[t]);
    chosen.add(selection.tuple_of[clauses.heads[c]], body, clauses.rules_of(c));
  }
  return selection;
}

}  // namespace hornbill::analysis
