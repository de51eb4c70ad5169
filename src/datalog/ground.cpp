// Semi-naive evaluation: in each round a rule's instances of which some premise is new. The first new premise divides
// them, so that each is found once.
#include <hornbill/datalog/ground.hpp>

#include <algorithm>
#include <limits>
#include <memory>
#include <set>
#include <unordered_map>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/names.hpp>

#include "join.hpp"
#include "table.hpp"

namespace hornbill::datalog {

class Database::Implementation {
 public:
  explicit Implementation(Program const& program) : program_(program) {
    for (auto const& relation : program.relations) tables_.emplace_back(relation.arity());
  }

  Program const& program() const { return program_; }
  Table& table(Index relation) { return tables_[relation]; }

  void derive(std::function<void(Grounding const&)> const& function) {
    emit_ = &function;
    for (auto& table : tables_) table.old_end = table.end = 0;
    for (std::size_t r = 0; r < program_.rules.size(); ++r)
      if (program_.rules[r].body.empty()) find(static_cast<Index>(r), -1);
    while (begin_round())
      for (std::size_t r = 0; r < program_.rules.size(); ++r)
        for (std::size_t i = 0; i < program_.rules[r].body.size(); ++i)
          if (may_have_instances(program_.rules[r], i)) find(static_cast<Index>(r), static_cast<Index>(i));
  }

 private:
  /// \return whether there are new tuples
  bool begin_round() {
    bool is_any_new = false;
    for (auto& table : tables_) {
      table.old_end = table.end;
      table.end = table.size();
      is_any_new = is_any_new || table.old_end < table.end;
    }
    return is_any_new;
  }

  /// Whether there are tuples for all premises, of which one is new, and those before it are old.
  bool may_have_instances(Rule const& rule, std::size_t new_premise) const {
    for (std::size_t i = 0; i < rule.body.size(); ++i) {
      auto const& table = tables_[rule.body[i].relation];
      bool const has_some = i < new_premise    ? table.old_end > 0
                            : i == new_premise ? table.old_end < table.end
                                               : table.end > 0;
      if (!has_some) return false;
    }
    return true;
  }
  /// Instances of a rule in which a premise is new, and those before it in the body are not.
  void find(Index rule, Index new_premise) {
    rule_ = &program_.rules[rule];
    number_ = rule;
    new_premise_ = new_premise;
    auto& steps = steps_[{rule, new_premise}];
    if (steps.empty()) steps = join_steps(*rule_, new_premise);
    join_ = &steps;
    values_.assign(rule_->variables.size(), 0);
    premises_.assign(rule_->body.size(), {});
    if (decide(steps.front())) follow(1);
  }
  void follow(std::size_t at) {
    if (at == join_->size()) return conclude();
    auto const& step = (*join_)[at];
    auto const& atom = rule_->body[step.premise];
    auto& table = tables_[atom.relation];
    std::vector<Value> key(atom.terms.size());
    for (std::size_t i = 0; i < key.size(); ++i)
      if (step.columns >> i & 1) key[i] = value_of(atom.terms[i]);
    Index const begin = step.premise == new_premise_ ? table.old_end : 0;
    Index const end = step.premise < new_premise_ ? table.old_end : table.end;
    table.for_each(step.columns, key, begin, end, [&](Index row) {
      if (!bind(atom, step.columns, row)) return;
      premises_[step.premise] = {atom.relation, row};
      if (decide(step)) follow(at + 1);
    });
  }
  /// Gives variables the values of a row.   \return whether a variable that is there twice has one value
  bool bind(Atom const& atom, Columns known, Index row) {
    auto const values = tables_[atom.relation][row];
    Columns bound = 0;
    for (std::size_t i = 0; i < atom.terms.size(); ++i) {
      auto const& term = atom.terms[i];
      if (term.kind != Term::Kind::variable || known >> i & 1) continue;
      bool is_again = false;
      for (std::size_t k = 0; k < i; ++k)
        is_again = is_again || ((bound >> k & 1) && atom.terms[k].value == term.value);
      if (is_again && values_[term.value] != values[i]) return false;
      values_[term.value] = values[i];
      bound |= Columns{1} << i;
    }
    return true;
  }
  Value value_of(Term const& term) const {
    return term.kind == Term::Kind::constant ? term.value : values_[term.value];
  }
  bool decide(JoinStep const& step) {
    for (auto const& [kind, left, right] : step.assignments) values_[left.value] = value_of(right);
    return std::ranges::all_of(step.comparisons, [&](Comparison const& c) { return holds(c); }) &&
           std::ranges::none_of(step.negated, [&](Index i) { return is_there(rule_->negated[i]); });
  }
  bool holds(Comparison const& comparison) const {
    auto const left = value_of(comparison.left), right = value_of(comparison.right);
    switch (comparison.kind) {
      case Comparison::Kind::equal: return left == right;
      case Comparison::Kind::different: return left != right;
      case Comparison::Kind::less: return left < right;
      case Comparison::Kind::at_most: return left <= right;
      case Comparison::Kind::greater: return left > right;
      case Comparison::Kind::at_least: return left >= right;
    }
    return false;
  }
  bool is_there(Atom const& atom) {
    std::vector<Value> key(atom.terms.size());
    Columns columns = 0;
    for (std::size_t i = 0; i < key.size(); ++i) {
      if (atom.terms[i].kind == Term::Kind::any) continue;
      key[i] = value_of(atom.terms[i]);
      columns |= Columns{1} << i;
    }
    return tables_[atom.relation].has(columns, key);
  }
  void conclude() {
    std::vector<Value> values;
    for (auto const& term : rule_->head.terms) values.push_back(value_of(term));
    auto const row = tables_[rule_->head.relation].insert(values).first;
    (*emit_)({number_, premises_, {rule_->head.relation, row}});
  }

  Program const& program_;
  std::vector<Table> tables_;
  std::map<std::pair<Index, Index>, std::vector<JoinStep>> steps_;  // by rule and new premise
  // of the instances that are being looked for
  std::function<void(Grounding const&)> const* emit_ = nullptr;
  Rule const* rule_ = nullptr;
  std::vector<JoinStep> const* join_ = nullptr;
  Index number_ = 0, new_premise_ = -1;
  std::vector<Value> values_;  // of variables
  std::vector<Tuple> premises_;
};

Database::Database(Program const& program) : implementation_(std::make_unique<Implementation>(program)) {}
Database::Database(Database&&) noexcept = default;
Database& Database::operator=(Database&&) noexcept = default;
Database::~Database() = default;

void Database::add(Index relation, std::span<Value const> values) {
  auto const& declared = implementation_->program().relations.at(static_cast<std::size_t>(relation));
  if (values.size() != declared.arity()) throw ShapeError(declared.name, declared.arity(), values.size());
  if (declared.is_derived) throw InputError(fmt::format("relation {} is derived, and gets no facts", declared.name));
  implementation_->table(relation).insert(values);
}

void Database::derive(std::function<void(Grounding const&)> const& function) { implementation_->derive(function); }

Index Database::num_tuples(Index relation) const { return implementation_->table(relation).size(); }

std::span<Value const> Database::values(Tuple const& tuple) const {
  return implementation_->table(tuple.relation)[tuple.number];
}

std::string Database::name(Tuple const& tuple) const {
  auto const& program = implementation_->program();
  auto const& relation = program.relations[tuple.relation];
  auto const tuple_values = values(tuple);
  std::string name = relation.name + "(";
  for (std::size_t i = 0; i < tuple_values.size(); ++i) {
    if (i > 0) name += ',';
    if (relation.attributes[i].type == Type::number) {
      fmt::format_to(std::back_inserter(name), "{}", tuple_values[i]);
      continue;
    }
    auto const& text = program.symbols.text(tuple_values[i]);
    bool const is_plain = !text.empty() && text.find_first_of(",()\"\\ \t\n\r") == std::string::npos;
    name += is_plain ? text : io::in_quotes(text);
  }
  return name + ")";
}

Grounded ground(Program const& program, Database& database) {
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
  std::vector<std::vector<Index>> numbers(program.relations.size());  // of tuples, by relation
  auto const number_of = [&](Tuple const& tuple) {
    auto& of_relation = numbers[tuple.relation];
    if (static_cast<std::size_t>(tuple.number) >= of_relation.size())
      of_relation.resize(static_cast<std::size_t>(tuple.number) + 1, -1);
    auto& number = of_relation[tuple.number];
    if (number < 0) {
      number = clauses.num_tuples();
      clauses.tuple_names.push_back(database.name(tuple));
    }
    return number;
  };
  std::set<std::vector<Index>> known;  // instances of such rules
  std::vector<Index> body;
  database.derive([&](Grounding const& grounding) {
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
  });
  for (std::size_t r = 0; r < program.relations.size(); ++r)
    if (program.relations[r].is_output && program.relations[r].is_derived)
      for (Index t = 0; t < database.num_tuples(static_cast<Index>(r)); ++t)
        grounded.outputs.push_back(database.name({static_cast<Index>(r), t}));
  return grounded;
}

}  // namespace hornbill::datalog
