// Factors as text formats give them, by their tables. Internal to src/io.
#pragma once

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>

#include "token_reader.hpp"

namespace hornbill::io {

/// A table larger than we run may still be a conjunction or disjunction, so more is read than is kept.
inline constexpr std::int64_t largest_table_read = std::int64_t{1} << 24;

/// Bytes that a table's entry takes while a graph is read: the factor's own, and the graph's as their arrays grow.
inline constexpr std::size_t bytes_of_entry = 5 * sizeof(double);

/// Throws an InputError with the place that a reader has come to.
using Fail = std::function<void(std::string const&)>;

struct TableFactor {
  std::vector<Index> variables, states;  ///< a number of states for each variable
  std::vector<double> table;             ///< last variable fastest
};

/// Reads the variables of a factor, each below `num_variables`.   \throws InputError also for one that is there twice
std::vector<Index> read_scope(TokenReader& in, std::int64_t arity, std::int64_t num_variables);

/// Counts the entries of a file's tables, which may be many more than it lists: those that it does not list are 0, or a
/// default.
class TableRoom {
 public:
  /// \param bytes_of_entry  that a reader needs for each, at most
  TableRoom(std::string file, std::size_t bytes_of_entry) : file_(std::move(file)), bytes_of_entry_(bytes_of_entry) {}

  /// Entries of a table over variables of so many states, which is added to those before.
  /// \throws InputError if they are more than largest_table_read   \throws CapacityError if all together do not fit
  std::int64_t take(std::vector<Index> const& states, Fail const& fail);
  /// Gives the entries of a table back, which is not kept.
  void give_back(std::int64_t entries) { taken_ -= static_cast<std::size_t>(entries) * bytes_of_entry_; }

 private:
  std::string file_;
  std::size_t bytes_of_entry_, taken_ = 0;
};

/// Reads an entry.   \throws InputError unless it is a finite number of at least 0
double read_entry(TokenReader& in);

/// Adds a factor, a conjunction or disjunction where the table is one.
/// \throws InputError if it is neither and too large to keep, or all 0
void append(HostFactorGraph& graph, TableFactor factor, Fail const& fail);

/// The table of any factor, in the order of its variables.
/// \throws InputError if that of a Horn factor would be larger than max_table_entries
std::vector<double> dense_table(HostFactorGraph const& graph, Index factor, std::string const& file);

/// Takes variables' numbers of states, which are left out where all are 2; leaves out tables where there are none;
/// validates.
void finish(HostFactorGraph& graph, std::vector<Index> cardinality, std::string const& file);

}  // namespace hornbill::io
