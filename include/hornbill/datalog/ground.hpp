/// \file
/// All instances of a program's rules that hold (hornbill/datalog/README.md).
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <span>
#include <string>
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

  /// Derives all that follows, and calls `function` once for each instance of a rule that holds, as soon as its
  /// premises are there. Negated premises and comparisons are not among these.
  /// \throws CapacityError for more tuples of a relation than an Index counts
  /// \cost semi-naive: an instance is found in one round, by a join along indexes over the columns that are bound
  void derive(std::function<void(Grounding const&)> const& function);

  Index num_tuples(Index relation) const;
  std::span<Value const> values(Tuple const& tuple) const;
  /// `Relation(a,b)`. A symbol that is empty or holds a comma, parenthesis, quote, backslash or blank is in quotes, so
  /// that names of different tuples differ.
  std::string name(Tuple const& tuple) const;

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// Reads the facts of all `.input` relations from files in a folder: a tuple a line, columns divided by tabs.
/// \throws InputError naming the file and line
void read_facts(Program& program, std::string const& folder, Database& database);

/// All instances as clauses, and the tuples of `.output` relations that are derived: others have no clause.
struct Grounded {
  analysis::ClauseSet clauses;
  std::vector<std::string> outputs;  ///< names, in the order of relations and their tuples
};
/// \throws InputError, CapacityError as Database::derive() does
Grounded ground(Program const& program, Database& database);

}  // namespace hornbill::datalog
