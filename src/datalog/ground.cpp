// From a program's instances to clauses.
#include <hornbill/datalog/ground.hpp>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include <fmt/format.h>

namespace hornbill::datalog {
std::string TupleNames::of(Tuple const& tuple) {
  auto name = database_.name(tuple);
  if (!known_.insert(name).second) name += fmt::format(" [{}]", database_.formal_name(tuple));
  return name;
}

Grounded ground(Program const& program, Database& database, DeriveLimits const& limits, bool are_named) {
  Grounded grounded;
  auto& clauses = grounded.clauses;
  std::map<std::string, Index> rules;
  std::map<std::string, bool> may_repeat;  // in several ways, or with its premises in another order
  for (auto const& rule : program.rules) {
    if (rules.try_emplace(rule.name, static_cast<Index>(rules.size())).second)
      clauses.rule_names.push_back(rule.name);
    else
      may_repeat[rule.name] = true;
    std::set<Index> relations;
    for (auto const& atom : rule.body)
      if (!relations.insert(atom.relation).second) may_repeat[rule.name] = true;
  }
  TupleNames names(database);
  std::vector<std::vector<Index>> numbers(program.relations.size());  // of tuples, by relation
  auto const number_of = [&](Tuple const& tuple) {
    auto& of_relation = numbers[tuple.relation];
    if (static_cast<std::size_t>(tuple.number) >= of_relation.size())
      of_relation.resize(static_cast<std::size_t>(tuple.number) + 1, -1);
    auto& number = of_relation[tuple.number];
    if (number < 0) {
      number = clauses.num_tuples();
      clauses.tuple_names.push_back(are_named ? names.of(tuple) : std::to_string(number));
      grounded.tuples.push_back(tuple);
    }
    return number;
  };
  std::set<std::vector<Index>> known;  // instances of such rules
  std::vector<Index> body;
  auto const add = [&](Grounding const& grounding) {
    auto const& rule = program.rules[grounding.rule];
    body.clear();
    for (auto const& premise : grounding.premises)
      if (Index const number = number_of(premise); std::ranges::find(body, number) == body.end())
        body.push_back(number);
    Index const head = number_of(grounding.conclusion), of_rule = rules.at(rule.name);
    if (may_repeat[rule.name]) {
      auto key = body;
      std::ranges::sort(key);
      key.insert(key.end(), {head, of_rule});
      if (!known.insert(std::move(key)).second) return;
    }
    clauses.add(head, body, std::span(&of_rule, 1));
  };
  grounded.is_complete = database.derive(add, limits);
  for (std::size_t r = 0; r < program.relations.size(); ++r)
    if (program.relations[r].is_output && program.relations[r].is_derived)
      for (Index const number : numbers[r])
        if (number >= 0) grounded.outputs.push_back(number);
  return grounded;
}

}  // namespace hornbill::datalog
