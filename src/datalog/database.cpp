// Semi-naive evaluation: in each round a rule's instances of which some premise is new. The first new premise divides
// them, so that each is found once.
#include <hornbill/datalog/ground.hpp>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/names.hpp>

#include "join.hpp"
#include "table.hpp"

namespace hornbill::datalog {

class Database::Implementation {
 public:
  explicit Implementation(Program const& program)
      : program_(program), lookups_(program.relations.size()), needed_(program.relations.size()) {
    for (auto const& relation : program.relations) tables_.emplace_back(relation.arity());
  }

  Program const& program() const { return program_; }
  Table& table(Index relation) { return tables_[relation]; }
  void look_up(Index relation, Lookup lookup) {
    needed_[relation] = lookup.needed;
    lookups_[relation] = std::move(lookup.find);
    steps_.clear();
  }

  bool derive(std::function<void(Grounding const&)> const& function, DeriveLimits const& limits) {
    emit_ = &function;
    limits_ = limits;
    left_ = limits.all;
    counts_.assign(program_.relations.size(), {});
    for (auto& table : tables_) table.old_end = table.end = 0;
    for (std::size_t r = 0; r < program_.rules.size(); ++r)
      if (is_started_at_once(program_.rules[r])) find(static_cast<Index>(r), -1);
    while (left_ >= 0 && begin_round())
      for (std::size_t r = 0; r < program_.rules.size(); ++r)
        for (std::size_t i = 0; i < program_.rules[r].body.size(); ++i)
          if (may_have_instances(program_.rules[r], i)) find(static_cast<Index>(r), static_cast<Index>(i));
    return left_ >= 0;
  }

 private:
  bool is_looked_up(Index relation) const { return static_cast<bool>(lookups_[relation]); }
  bool is_started_at_once(Rule const& rule) const {
    return std::ranges::all_of(rule.body, [&](Atom const& atom) { return is_looked_up(atom.relation); });
  }
  /// \return whether there are new tuples
  bool begin_round() {
    bool is_any_new = false;
    for (std::size_t r = 0; r < tables_.size(); ++r) {
      auto& table = tables_[r];
      table.old_end = table.end;
      table.end = table.size();
      is_any_new = is_any_new || (table.old_end < table.end && !lookups_[r]);
    }
    return is_any_new;
  }

  /// Whether there are tuples for all premises, of which one is new, and those before it are old. What is looked up was
  /// always there.
  bool may_have_instances(Rule const& rule, std::size_t new_premise) const {
    if (is_looked_up(rule.body[new_premise].relation)) return false;
    for (std::size_t i = 0; i < rule.body.size(); ++i) {
      if (is_looked_up(rule.body[i].relation)) continue;
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
    if (steps.empty()) steps = steps_of(*rule_, new_premise);
    join_ = &steps;
    values_.assign(rule_->variables.size(), 0);
    premises_.assign(rule_->body.size(), {});
    looked_up_.assign(rule_->body.size(), {});
    if (decide(steps.front())) follow(1);
  }
  /// The columns by which a relation is looked up.
  std::string needs_of(Index number) const {
    auto const& relation = program_.relations[number];
    std::vector<std::string> columns;
    for (std::size_t i = 0; i < relation.arity(); ++i)
      if ((needed_[number] >> i & 1) != 0) columns.push_back(relation.attributes[i].name);
    return fmt::format("{} of {}", fmt::join(columns, " and "), relation.name);
  }
  std::vector<JoinStep> steps_of(Rule const& rule, Index new_premise) const {
    bool const can_negate = std::ranges::all_of(rule.negated, [&](Atom const& atom) {
      Columns known = 0;
      for (std::size_t i = 0; i < atom.terms.size(); ++i)
        if (atom.terms[i].kind != Term::Kind::any) known |= Columns{1} << i;
      return (known & needed_[atom.relation]) == needed_[atom.relation];
    });
    if (auto steps = join_steps(rule, needed_, new_premise); steps && can_negate) return std::move(*steps);
    std::set<std::string> needs;
    for (auto const* atoms : {&rule.body, &rule.negated})
      for (auto const& atom : *atoms)
        if (needed_[atom.relation] != 0) needs.insert(needs_of(atom.relation));
    throw InputError(fmt::format("line {}: a relation cannot be looked up; other premises must have {}",
                                 rule.place.line, fmt::join(needs, ", ")));
  }
  void follow(std::size_t at) {
    if (left_ < 0) return;
    if (at == join_->size()) return conclude();
    auto const& step = (*join_)[at];
    auto const& atom = rule_->body[step.premise];
    std::vector<Value> key(atom.terms.size());
    for (std::size_t i = 0; i < key.size(); ++i)
      if (step.columns >> i & 1) key[i] = value_of(atom.terms[i]);
    if (is_looked_up(atom.relation)) {
      lookups_[atom.relation](step.columns, key, [&](std::span<Value const> tuple) {
        if (!bind(atom, step.columns, tuple)) return;
        looked_up_[step.premise].assign(tuple.begin(), tuple.end());
        if (decide(step)) follow(at + 1);
      });
      return;
    }
    auto& table = tables_[atom.relation];
    Index const begin = step.premise == new_premise_ ? table.old_end : 0;
    Index const end = step.premise < new_premise_ ? table.old_end : table.end;
    table.for_each(step.columns, key, begin, end, [&](Index row) {
      if (!bind(atom, step.columns, table[row])) return;
      premises_[step.premise] = {atom.relation, row};
      if (decide(step)) follow(at + 1);
    });
  }
  /// Gives variables the values of a tuple.   \return whether a variable that is there twice has one value
  bool bind(Atom const& atom, Columns known, std::span<Value const> values) {
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
    if (!is_looked_up(atom.relation)) return tables_[atom.relation].has(columns, key);
    bool is_found = false;
    lookups_[atom.relation](columns, key, [&](std::span<Value const>) { is_found = true; });
    return is_found;
  }
  void conclude() {
    std::vector<Value> values;
    for (auto const& term : rule_->head.terms) values.push_back(value_of(term));
    Index const relation = rule_->head.relation;
    auto& table = tables_[relation];
    auto const row = table.insert(values).first;
    if (limits_.is_forward && row < table.end) return;
    auto& counts = counts_[relation];
    if (static_cast<std::size_t>(row) >= counts.size()) counts.resize(static_cast<std::size_t>(row) + 1);
    if (counts[row] >= limits_.per_tuple || --left_ < 0) return;
    ++counts[row];
    for (std::size_t i = 0; i < premises_.size(); ++i)
      if (Index const of = rule_->body[i].relation; is_looked_up(of))
        premises_[i] = {of, tables_[of].insert(looked_up_[i]).first};
    (*emit_)({number_, premises_, {relation, row}});
  }

  Program const& program_;
  std::vector<Table> tables_;  // of relations that are looked up, the tuples that are premises
  std::vector<decltype(Lookup::find)> lookups_;
  std::vector<Columns> needed_;
  std::map<std::pair<Index, Index>, std::vector<JoinStep>> steps_;  // by rule and new premise
  // of the instances that are being looked for
  std::function<void(Grounding const&)> const* emit_ = nullptr;
  DeriveLimits limits_;
  Offset left_ = 0;                         // instances; below 0 where there was one too many
  std::vector<std::vector<Index>> counts_;  // of instances, by relation and tuple
  Rule const* rule_ = nullptr;
  std::vector<JoinStep> const* join_ = nullptr;
  Index number_ = 0, new_premise_ = -1;
  std::vector<Value> values_;  // of variables
  std::vector<Tuple> premises_;
  std::vector<std::vector<Value>> looked_up_;  // premises
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

void Database::look_up(Index relation, Lookup lookup) {
  auto const& declared = implementation_->program().relations.at(static_cast<std::size_t>(relation));
  if (declared.is_derived) throw InputError(fmt::format("relation {} is derived, and not looked up", declared.name));
  implementation_->look_up(relation, std::move(lookup));
}

bool Database::derive(std::function<void(Grounding const&)> const& function, DeriveLimits const& limits) {
  return implementation_->derive(function, limits);
}

Index Database::num_tuples(Index relation) const { return implementation_->table(relation).size(); }

std::span<Value const> Database::values(Tuple const& tuple) const {
  return implementation_->table(tuple.relation)[tuple.number];
}

namespace {

bool is_plain(std::string const& text) {
  return !text.empty() && text.find_first_of(",()\"\\ \t\n\r") == std::string::npos;
}

/// Texts of a tuple's values put into the relation's sentence.
std::string filled(Relation const& relation, std::vector<std::string> const& texts) {
  std::string filled;
  std::string_view left = relation.sentence;
  while (!left.empty()) {
    auto const begin = std::min(left.find('{'), left.size()), end = std::min(left.find('}', begin), left.size());
    auto const column = std::ranges::find(relation.attributes, left.substr(std::min(begin + 1, end), end - begin - 1),
                                          &Attribute::name);
    bool const is_column = begin < end && column != relation.attributes.end();
    filled += left.substr(0, is_column ? begin : end);
    if (is_column) filled += texts[static_cast<std::size_t>(column - relation.attributes.begin())];
    if (!is_column && end < left.size()) filled += '}';
    left.remove_prefix(std::min(end + 1, left.size()));
  }
  return filled;
}

std::string in_parentheses(Relation const& relation, std::vector<std::string> const& texts) {
  std::string name = relation.name + "(";
  for (std::size_t i = 0; i < texts.size(); ++i) {
    if (i > 0) name += ',';
    bool const is_bare = relation.attributes[i].type == Type::number || is_plain(texts[i]);
    name += is_bare ? texts[i] : io::in_quotes(texts[i]);
  }
  return name + ")";
}

}  // namespace

std::string Database::name(Tuple const& tuple) const {
  auto const& relation = implementation_->program().relations[tuple.relation];
  return relation.sentence.empty() ? formal_name(tuple) : filled(relation, texts(tuple));
}

std::string Database::formal_name(Tuple const& tuple) const {
  return in_parentheses(implementation_->program().relations[tuple.relation], texts(tuple));
}

std::vector<std::string> Database::texts(Tuple const& tuple) const {
  auto const& program = implementation_->program();
  auto const& attributes = program.relations[tuple.relation].attributes;
  auto const tuple_values = values(tuple);
  std::vector<std::string> texts;
  for (std::size_t i = 0; i < tuple_values.size(); ++i)
    texts.push_back(attributes[i].type == Type::number ? fmt::format("{}", tuple_values[i])
                                                       : program.symbols.text(tuple_values[i]));
  return texts;
}

}  // namespace hornbill::datalog
