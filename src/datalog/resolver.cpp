// Names of a Datalog program are looked up, and rules checked.
#include <algorithm>
#include <array>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include <hornbill/datalog/program.hpp>

#include "parser.hpp"

namespace hornbill::datalog {
namespace {

char const* name_of(Type type) { return type == Type::number ? "number" : "symbol"; }

class Resolver {
 public:
  Resolver(ParsedProgram const& parsed, std::string const& file) : parsed_(parsed), file_(file) {}

  Program run() {
    add_types();
    for (auto const& relation : parsed_.relations) add_relation(relation);
    for (auto const& listing : parsed_.listings) add_listing(listing);
    for (auto const& clause : parsed_.clauses)
      for (auto const& head : clause.heads) derived(head);
    for (std::size_t i = 0; i < parsed_.clauses.size(); ++i) add_clause(parsed_.clauses[i], i);
    return std::move(program_);
  }

 private:
  // --- declarations ---

  void add_types() {
    types_ = {{"symbol", Type::symbol}, {"number", Type::number}, {"unsigned", Type::number}};
    std::set<std::string> declared{"symbol", "number", "unsigned"};
    for (auto const& [name, bases] : parsed_.types)
      if (!declared.insert(name.text).second)
        fail(file_, name.place, fmt::format("type {} is there a second time", name.text));
    for (std::size_t before = 0; before != types_.size();) {  // a type may stand above its bases
      before = types_.size();
      for (auto const& [name, bases] : parsed_.types)
        if (types_.contains(bases.front().text)) types_.emplace(name.text, types_.at(bases.front().text));
    }
    for (auto const& [name, bases] : parsed_.types)
      for (auto const& base : bases)
        if (type_of(base) != type_of(name))
          fail(file_, base.place, fmt::format("{} is a union of symbols and numbers", name.text));
  }
  Type type_of(Token const& name) const {
    auto const found = types_.find(name.text);
    if (found != types_.end()) return found->second;
    bool const is_float = name.text == "float";
    fail(file_, name.place,
         is_float ? std::string("type float is not supported; symbol and number are")
                  : fmt::format("type {} is not declared, or of itself; declare it: .type {} <: symbol", name.text,
                                name.text));
  }
  void add_relation(ParsedRelation const& parsed) {
    auto const number = static_cast<Index>(program_.relations.size());
    if (!relations_.emplace(parsed.name.text, number).second)
      fail(file_, parsed.name.place, fmt::format("relation {} is declared a second time", parsed.name.text));
    Relation relation;
    relation.name = parsed.name.text;
    relation.input_file = relation.name + ".facts";
    relation.place = parsed.name.place;
    for (auto const& [name, type] : parsed.attributes) relation.attributes.push_back({name.text, type_of(type)});
    if (constexpr std::size_t most = 64; relation.arity() > most)
      fail(file_, parsed.name.place,
           fmt::format("relation {} has {} columns; {} are possible", relation.name, relation.arity(), most));
    for (auto const& qualifier : parsed.qualifiers) {
      static std::set<std::string> const without_effect{"printsize", "brie",      "btree",
                                                        "inline",    "no_inline", "overridable"};
      relation.is_input = relation.is_input || qualifier.text == "input";
      relation.is_output = relation.is_output || qualifier.text == "output";
      if (qualifier.text != "input" && qualifier.text != "output" && !without_effect.contains(qualifier.text))
        fail(file_, qualifier.place, fmt::format("qualifier {} of a relation is not supported", qualifier.text));
    }
    if (parsed.sentence) relation.sentence = sentence(*parsed.sentence, relation);
    program_.relations.push_back(std::move(relation));
  }
  /// All columns are in it, so that sentences of different tuples differ.
  std::string const& sentence(Token const& token, Relation const& relation) const {
    for (auto const& attribute : relation.attributes)
      if (token.text.find("{" + attribute.name + "}") == std::string::npos)
        fail(file_, token.place,
             fmt::format("the sentence of relation {} leaves out column {}; it needs {{{}}}", relation.name,
                         attribute.name, attribute.name));
    return token.text;
  }
  void add_listing(ParsedListing const& listing) {
    auto& relation = program_.relations[relation_of(listing.name)];
    (listing.is_input ? relation.is_input : relation.is_output) = true;
    for (auto const& [name, value] : listing.parameters) {
      if (name.text == "IO" && value.text == "file") continue;
      if (listing.is_input && name.text == "filename") {
        relation.input_file = value.text;
      } else if (listing.is_input && name.text == "delimiter" && !value.text.empty()) {
        relation.delimiter = value.text;
      } else if (listing.is_input) {
        fail(file_, name.place,
             fmt::format("parameter {} is not supported; IO=file, filename and delimiter are", name.text));
      }
    }
  }
  Index relation_of(Token const& name) const {
    auto const found = relations_.find(name.text);
    if (found == relations_.end())
      fail(file_, name.place,
           fmt::format("relation {} is not declared; declare it: .decl {}(x: symbol)", name.text, name.text));
    return found->second;
  }
  void derived(ParsedAtom const& head) {
    auto& relation = program_.relations[relation_of(head.name)];
    if (relation.is_input)
      fail(file_, head.name.place,
           fmt::format("relation {} is an input, and cannot be derived as well; derive another one", relation.name));
    relation.is_derived = true;
  }

  // --- rules ---

  void add_clause(ParsedClause const& clause, std::size_t number) {
    constexpr std::size_t most_rules = 1000;
    if (clause.heads.size() * clause.bodies.size() > most_rules)
      fail(file_, clause.place,
           fmt::format("{} heads and {} ways in which the body holds are more than {} rules; divide it",
                       clause.heads.size(), clause.bodies.size(), most_rules));
    for (auto const& body : clause.bodies)
      for (auto const& head : clause.heads) {
        Rule rule;
        rule.name = fmt::format("R{}", number);
        rule.place = clause.place;
        variables_.clear();
        is_bound_.clear();
        for (auto const& literal : body)
          if (literal.atom) add_atom(rule, literal);
        add_comparisons(rule, body);
        bind_by_equality(rule);
        rule.head = atom(rule, head, Use::head);
        require_bound(rule);
        program_.rules.push_back(std::move(rule));
      }
  }
  enum class Use { premise, negated, head };

  void add_atom(Rule& rule, ParsedLiteral const& literal) {
    auto& atoms = literal.is_negated ? rule.negated : rule.body;
    atoms.push_back(atom(rule, *literal.atom, literal.is_negated ? Use::negated : Use::premise));
    auto const& relation = program_.relations[atoms.back().relation];
    if (literal.is_negated && relation.is_derived)
      fail(file_, literal.atom->name.place,
           fmt::format("relation {} is derived, and only relations that are not may be negated", relation.name));
  }
  Atom atom(Rule& rule, ParsedAtom const& parsed, Use use) {
    Atom atom{relation_of(parsed.name), {}};
    auto const& relation = program_.relations[atom.relation];
    if (parsed.terms.size() != relation.arity())
      fail(file_, parsed.name.place,
           fmt::format("relation {} has {} here, and {} where it is declared", relation.name, parsed.terms.size(),
                       relation.arity()));
    for (std::size_t i = 0; i < parsed.terms.size(); ++i) {
      atom.terms.push_back(term(rule, parsed.terms[i], relation.attributes[i].type));
      if (use == Use::head && atom.terms.back().kind == Term::Kind::any)
        fail(file_, parsed.terms[i].token.place, "_ in a head stands for no value");
      if (use == Use::premise && atom.terms.back().kind == Term::Kind::variable) bind(atom.terms.back().value);
    }
    return atom;
  }
  Term term(Rule& rule, ParsedTerm const& parsed, Type type) {
    auto const& token = parsed.token;
    auto const require = [&](Type actual) {
      if (actual != type)
        fail(file_, token.place,
             fmt::format("{} is a {} where a {} is needed", token.text, name_of(actual), name_of(type)));
    };
    if (parsed.number) {
      require(Type::number);
      return {Term::Kind::constant, *parsed.number};
    }
    if (token.kind == Token::Kind::string) {
      require(Type::symbol);
      return {Term::Kind::constant, program_.symbols.number_of(token.text)};
    }
    if (token.text == "_") return {};
    auto const [at, is_new] =
        variables_.try_emplace(token.text, Variable{static_cast<Value>(variables_.size()), type, token.place});
    if (is_new) {
      rule.variables.push_back(token.text);
      is_bound_.push_back(false);
    }
    require(at->second.type);
    return {Term::Kind::variable, at->second.number};
  }
  /// Those first of which a side's type is known, so that it is that of the other side, whatever their order is.
  void add_comparisons(Rule& rule, ParsedBody const& body) {
    std::vector<ParsedLiteral const*> left;
    for (auto const& literal : body)
      if (!literal.atom) left.push_back(&literal);
    while (!left.empty()) {
      auto found = std::ranges::find_if(
          left, [&](auto const* literal) { return type_of(literal->left) || type_of(literal->right); });
      if (found == left.end()) found = left.begin();
      add_comparison(rule, **found);
      left.erase(found);
    }
  }
  void add_comparison(Rule& rule, ParsedLiteral const& literal) {
    auto const known = type_of(literal.left) ? type_of(literal.left) : type_of(literal.right);
    auto const type = known.value_or(Type::number);
    bool const is_order = literal.comparison > Comparison::Kind::different;
    if (is_order && type == Type::symbol)
      fail(file_, literal.left.token.place, "symbols have no order; they are compared with = and !=");
    Comparison const comparison{literal.comparison, term(rule, literal.left, type), term(rule, literal.right, type)};
    for (auto const* side : {&literal.left, &literal.right})
      if (side->token.text == "_" && !side->number && side->token.kind == Token::Kind::name)
        fail(file_, side->token.place, "_ cannot be compared");
    rule.comparisons.push_back(comparison);
  }
  /// As far as it is known by now.
  std::optional<Type> type_of(ParsedTerm const& term) const {
    if (term.number) return Type::number;
    if (term.token.kind == Token::Kind::string) return Type::symbol;
    auto const found = variables_.find(term.token.text);
    return found == variables_.end() ? std::nullopt : std::optional(found->second.type);
  }

  /// `x = "constant"` and `x = y` bind x too.
  void bind_by_equality(Rule const& rule) {
    for (bool changes = true; changes;) {
      changes = false;
      for (auto const& [kind, left, right] : rule.comparisons) {
        if (kind != Comparison::Kind::equal) continue;
        changes = bind_if(left, right) || changes;
        changes = bind_if(right, left) || changes;
      }
    }
  }
  bool bind_if(Term const& term, Term const& other) {
    bool const is_known = other.kind == Term::Kind::constant || is_bound(other.value);
    if (term.kind != Term::Kind::variable || is_bound(term.value) || !is_known) return false;
    bind(term.value);
    return true;
  }
  void bind(Value variable) { is_bound_[variable] = true; }
  bool is_bound(Value variable) const { return is_bound_[variable]; }
  void require_bound(Rule const& rule) const {
    for (auto const& name : rule.variables)
      if (auto const& variable = variables_.at(name); !is_bound(variable.number))
        fail(file_, variable.place,
             fmt::format("variable {} is in no premise that is not negated, so it may be anything", name));
  }

  struct Variable {
    Value number;
    Type type;
    Place place;
  };
  ParsedProgram const& parsed_;
  std::string const& file_;
  Program program_;
  std::map<std::string, Type> types_;
  std::map<std::string, Index> relations_;
  // of a rule
  std::map<std::string, Variable> variables_;
  std::vector<bool> is_bound_;  // by number
};

}  // namespace

Value Symbols::number_of(std::string_view text) {
  if (auto const found = numbers_.find(text); found != numbers_.end()) return found->second;
  auto const number = static_cast<Value>(texts_.size());
  texts_.emplace_back(text);
  numbers_.emplace(texts_.back(), number);
  return number;
}

Program parse(std::string_view text, std::string const& file) {
  return Resolver(parse_tokens(tokens_of(text, file), file), file).run();
}

}  // namespace hornbill::datalog
