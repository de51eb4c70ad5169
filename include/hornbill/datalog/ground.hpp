/// \file
/// All instances of a program's rules that hold (hornbill/datalog/README.md).
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <span>
#include <string>
#include <unordered_set>
#include <vector>

#include <hornbill/analysis/clauses.hpp>
#include <hornbill/datalog/program.hpp>

namespace hornbill::datalog {

/// A tuple of a relation, by its number there.
struct Tuple {
  Index relation = 0;
  Index number = 0;

  bool operator==(Tuple const&) const = default;
};

/// A rule's instance: its premises in the order of the rule's body, and what follows.
struct Grounding {
  Index rule = 0;
  std::span<Tuple const> premises;
  Tuple conclusion;
};

/// Tuples that are not stored, but found when a rule asks for them.
struct Lookup {
  using Found = std::function<void(std::span<Value const>)>;

  Columns needed = 0;  ///< columns whose values must be known before it is asked
  /// Calls `found` once for each tuple that has the values of `key` in the columns of `known`, `needed` among these. It
  /// says the same whenever it is asked.   \shape key, tuples: [arity]
  std::function<void(Columns known, std::span<Value const> key, Found const& found)> find;
};

/// Which instances are of use.
struct DeriveLimits {
  /// Of a tuple, those of the round in which it is first derived, and so from tuples of earlier rounds: they have no
  /// cycle, and each tuple that follows has one.
  bool is_forward = false;
  Index per_tuple = std::numeric_limits<Index>::max();  ///< at most so many; further ones are passed over
  Offset all = std::numeric_limits<Offset>::max();      ///< where there are more, deriving ends
};

/// Tuples of a program's relations: facts that are added, and what rules derive from them.
class Database {
 public:
  explicit Database(Program const& program);
  Database(Database&&) noexcept;
  Database& operator=(Database&&) noexcept;
  ~Database();

  /// Adds a tuple to a relation that no rule derives; a second time it changes nothing.   \shape values: [arity]
  /// \throws ShapeError for another number of values; InputError for a derived relation
  void add(Index relation, std::span<Value const> values);

  /// Has the tuples of a relation that no rule derives looked up. They have numbers only where they are premises.
  /// \throws InputError for a derived relation
  void look_up(Index relation, Lookup lookup);

  /// Derives all that follows, and calls `function` once for each instance of a rule that holds, as soon as its
  /// premises are there. Negated premises and comparisons are not among these.
  /// \return whether that is all: `limits.all` was enough
  /// \throws CapacityError for more tuples of a relation than an Index counts
  /// \throws InputError naming a rule in which columns that a Lookup needs are not known by other premises
  /// \cost semi-naive: an instance is found in one round, by a join along indexes over the columns that are bound
  bool derive(std::function<void(Grounding const&)> const& function, DeriveLimits const& limits = {});

  Index num_tuples(Index relation) const;
  std::span<Value const> values(Tuple const& tuple) const;
  /// The relation's sentence, or `Relation(a,b)`. There, a symbol that is empty or holds a comma, parenthesis, quote,
  /// backslash or blank is in quotes, so that names of different tuples differ.
  std::string name(Tuple const& tuple) const;
  std::string formal_name(Tuple const& tuple) const;  ///< `Relation(a,b)`

 private:
  std::vector<std::string> texts(Tuple const& tuple) const;

  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Reads the facts of all `.input` relations from files in a folder: a tuple a line, columns divided by tabs.
/// \throws InputError naming the file and line
void read_facts(Program& program, std::string const& folder, Database& database);

/// Names of tuples, each of one tuple: those of one sentence have their relations behind it, `sentence
/// [Relation(a,b)]`, but for the first one.
class TupleNames {
 public:
  explicit TupleNames(Database const& database) : database_(database) {}
  /// A tuple's name, which is asked for once.
  std::string of(Tuple const& tuple);

 private:
  Database const& database_;
  std::unordered_set<std::string> known_;
};

/// All instances as clauses, and the tuples of `.output` relations that are derived: others have no clause.
struct Grounded {
  analysis::ClauseSet clauses;
  std::vector<Index> outputs;  ///< of the clauses' tuples, in the order of relations and their tuples
  std::vector<Tuple> tuples;   ///< [clauses.num_tuples()]
  bool is_complete = true;     ///< as Database::derive() says
};
/// \param are_named  or else a tuple's name is its number among the clauses' tuples, for who names those that are left
/// \throws InputError, CapacityError as Database::derive() does
Grounded ground(Program const& program, Database& database, DeriveLimits const& limits = {}, bool are_named = true);

}  // namespace hornbill::datalog
