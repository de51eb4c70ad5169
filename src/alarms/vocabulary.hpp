// Symbols of rules for things of a program. Internal to src/alarms.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <vector>

#include <fmt/format.h>

#include <hornbill/datalog/program.hpp>
#include <hornbill/points_to/constraints.hpp>

#include "expressions.hpp"
#include "memory_effects.hpp"
#include "tracker.hpp"

namespace hornbill::alarms {

/// Where a function gets a pointer: a parameter, a call's result or a load; or, with an operand, a null constant there.
/// Of a branch that compares a pointer with null, the successor where it is null; or a comparison of that kind.
struct Origin {
  llvm::Value const* value = nullptr;
  int operand = -1;

  auto operator<=>(Origin const&) const = default;
};

/// Memory in a function once a call in it returns: so many bytes behind where an argument is to.
struct PlaceBehind {
  llvm::CallBase const* call = nullptr;
  llvm::Value const* base = nullptr;
  std::int64_t bytes = 0;
  bool is_left = true;  ///< what the call left there; or what was there before, and is freed
  int returns = 1;      ///< of how many functions, for the first of them that was found; no part of what it is

  auto operator<=>(PlaceBehind const& other) const {
    return std::tie(call, base, bytes, is_left) <=> std::tie(other.call, other.base, other.bytes, other.is_left);
  }
  bool operator==(PlaceBehind const& other) const { return (*this <=> other) == 0; }
};

/// Texts of things, and the things of texts. Things with the same text are numbered.
template <class Thing>
class Terms {
 public:
  explicit Terms(datalog::Symbols& symbols) : symbols_(symbols) {}

  /// \param text  makes the text of a thing that is not known yet
  template <class Text>
  datalog::Value number_of(Thing const& thing, Text const& text) {
    auto const known = numbers_.find(thing);
    if (known != numbers_.end()) return known->second;
    std::string const own = text();
    auto number = symbols_.number_of(own);
    while (things_.contains(number)) number = symbols_.number_of(fmt::format("{} ({})", own, ++repeats_[own] + 1));
    numbers_.emplace(thing, number);
    things_.emplace(number, thing);
    return number;
  }
  Thing const& operator[](datalog::Value number) const { return things_.at(number); }

 private:
  datalog::Symbols& symbols_;
  std::map<Thing, datalog::Value> numbers_;
  std::unordered_map<datalog::Value, Thing> things_;
  std::unordered_map<std::string, int> repeats_;
};

/// Names variables and objects of a points-to system, also those that have none there.
class PointsToNames {
 public:
  PointsToNames(points_to::ConstraintSystem const& system, extract::Program::Bitcode const& bitcode,
                Expressions& expressions);

  std::string variable(Index variable);
  /// Whether a variable is of the analysis alone: no variable or value of the program.
  bool is_anonymous(Index variable) const;
  /// Objects with one name, such as variables of several scopes, are numbered.
  std::string object(Index object) const;

 private:
  std::string name_of_object(Index object) const;

  points_to::ConstraintSystem const& system_;
  Expressions& expressions_;
  std::vector<Index> first_;
  std::unordered_map<Index, int> repeat_of_;  // of objects whose name is that of an earlier one
  std::unordered_map<Index, llvm::Value const*> value_of_;
  std::unordered_map<Index, Index> place_of_;  // of a constraint into a variable
};

class Vocabulary {
 public:
  Vocabulary(datalog::Symbols& symbols, PointsToNames& names, Expressions& expressions)
      : names_(names),
        expressions_(expressions),
        origins(symbols),
        uses(symbols),
        places(symbols),
        variables(symbols),
        objects(symbols) {}

  datalog::Value of(Origin const& origin);
  datalog::Value of(Use const& use);
  datalog::Value of(PlaceBehind const& place);
  datalog::Value of_variable(Index variable);
  datalog::Value of_object(Index object);

 private:
  PointsToNames& names_;
  Expressions& expressions_;
  std::vector<datalog::Value> of_variable_, of_object_;  // -1 where it has none yet

 public:
  Terms<Origin> origins;
  Terms<Use> uses;
  Terms<PlaceBehind> places;
  Terms<Index> variables, objects;
};

/// The pointer that a branch or a comparison compares with null; none if it does not.
llvm::Value const* tested_by(llvm::Value const& value);

/// "file.c:12:3", or the function where that is not known.
std::string place_or_function(llvm::Instruction const& instruction);

}  // namespace hornbill::alarms
