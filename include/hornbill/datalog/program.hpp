/// \file
/// Datalog programs in Souffle's syntax (hornbill/datalog/README.md).
#pragma once

#include <cstdint>
#include <deque>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::datalog {

/// A constant: a number, or the number of a symbol.
using Value = std::int32_t;

/// A bit for each column of a relation.
using Columns = std::uint64_t;

/// Texts, numbered as they come.
class Symbols {
 public:
  Symbols() = default;
  Symbols(Symbols const&) = delete;
  Symbols& operator=(Symbols const&) = delete;
  Symbols(Symbols&&) = default;
  Symbols& operator=(Symbols&&) = default;
  ~Symbols() = default;

  Value number_of(std::string_view text);
  /// \throws std::out_of_range for a number that number_of() has not returned
  std::string const& text(Value number) const { return texts_.at(static_cast<std::size_t>(number)); }

 private:
  std::deque<std::string> texts_;  // which stay where they are
  std::unordered_map<std::string_view, Value> numbers_;
};

enum class Type : std::uint8_t { symbol, number };

/// Where something begins in a text, counted from 1.
struct Place {
  int line = 1, column = 1;
};

struct Attribute {
  std::string name;
  Type type = Type::symbol;
};

/// A relation, from its `.decl`.
struct Relation {
  std::string name;
  std::vector<Attribute> attributes;
  bool is_input = false, is_output = false;
  bool is_derived = false;       ///< the head of a rule or a fact
  std::string sentence;          ///< a tuple in words, `{x} may point to {y}` with names of columns; or none
  std::string input_file;        ///< `NAME.facts` unless `.input` says another one
  std::string delimiter = "\t";  ///< of columns in that file
  Place place;

  std::size_t arity() const { return attributes.size(); }
};

/// A variable of its rule, a constant, or `_`.
struct Term {
  enum class Kind : std::uint8_t { variable, constant, any } kind = Kind::any;
  Value value = 0;  ///< the variable's number, or the constant
};

struct Atom {
  Index relation = 0;
  std::vector<Term> terms;
};

/// Between two numbers, or = and != between two symbols.
struct Comparison {
  enum class Kind : std::uint8_t { equal, different, less, at_most, greater, at_least } kind = Kind::equal;
  Term left, right;
};

/// `head :- body, !negated, left < right.` A fact has nothing but its head.
struct Rule {
  std::string name;  ///< R and the number of the clause in the text, from 0
  Atom head;
  std::vector<Atom> body, negated;
  std::vector<Comparison> comparisons;
  std::vector<std::string> variables;  ///< their names, by number
  Place place;
};

/// A checked program: each variable of a rule is bound by a premise, and no derived relation is negated.
struct Program {
  std::vector<Relation> relations;
  std::vector<Rule> rules;  ///< one for each head and each way in which a body with `;` holds
  Symbols symbols;
};

/// Reads a program.   \param file  that errors name
/// \throws InputError naming the line and column, for what is not Datalog as the README has it, an undeclared relation,
/// a wrong arity or type, a variable that no premise binds, and a derived relation that is negated
Program parse(std::string_view text, std::string const& file);

}  // namespace hornbill::datalog
