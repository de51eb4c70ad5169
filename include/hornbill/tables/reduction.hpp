/// \file
/// The one operation on tables: combine several, and reduce over some of their variables, without writing the combined
/// table out.
#pragma once

#include <span>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/tables/detail/layout.hpp>
#include <hornbill/tables/semiring.hpp>
#include <hornbill/tables/table_network.hpp>
#include <hornbill/tables/table_values.hpp>

namespace hornbill::tables {

/// Where a table lies in the array that holds all.
struct TablePlace {
  std::vector<Index> scope;  ///< variables, the last fastest
  Offset offset = 0;         ///< of its first value
  Offset cells = 1;
  int level = 0;  ///< 0: given; else one more than those that it is made of
};

/// out(x) = add over y of multiply over inputs t of t(x, y), where x are the output's variables and y those that are
/// eliminated.
struct HostReduction {
  std::vector<Index> inputs;      ///< tables; of each, all variables are the output's or eliminated
  std::vector<Index> eliminated;  ///< slowest first; with the output's, all of the inputs'
  Index output = 0;               ///< a table of no other reduction
  /// not -1: in place of the above, out(x) is what makes this one of the inputs their mean
  Index shifts = -1;
};

/// Tables and the reductions among them, on the host.
class HostReductions {
 public:
  explicit HostReductions(std::vector<Index> cardinality) : cardinality_(std::move(cardinality)) {}

  /// Makes room for so many tables, given ones too, and reductions; more may follow.
  void reserve(std::size_t num_tables, std::size_t num_reductions) {
    tables_.reserve(num_tables);
    reductions_.reserve(num_reductions);
  }
  /// A table whose values are given; those come before all others.   \return its number
  /// \throws CapacityError for one of more than max_table_cells, naming its first variable
  /// \throws ShapeError behind a reduction
  Index add_table(std::vector<Index> scope);
  /// A table that is made of others. Where it has few cells, and very much is reduced to each, two reductions share the
  /// work, so that many threads can take part.
  /// \throws CapacityError, InputError for a variable of inputs that is in neither list
  Index add_reduction(std::vector<Index> inputs, std::vector<Index> scope, std::vector<Index> eliminated);
  /// The same in one reduction, however few cells it has.   \throws the same
  Index add_undivided(std::vector<Index> inputs, std::vector<Index> scope, std::vector<Index> eliminated);
  /// Of each of several tables of one scope, what makes it their mean (of costs; of probabilities the geometric mean);
  /// together these tables change nothing. Of semirings that select.
  /// \throws ShapeError for other scopes
  std::vector<Index> add_shifts(std::vector<Index> const& inputs);
  /// One of these.   \param scope  of all inputs   \param which  input is to become the mean
  /// \throws ShapeError for other scopes
  Index add_shift(std::vector<Index> inputs, std::vector<Index> const& scope, Index which);

  std::vector<Index> const& cardinality() const { return cardinality_; }
  std::vector<TablePlace> const& tables() const { return tables_; }
  std::vector<HostReduction> const& reductions() const { return reductions_; }
  Index num_given() const { return num_given_; }
  Offset num_cells() const { return num_cells_; }
  int num_levels() const { return num_levels_; }
  /// The reduction that makes a table; -1 of a given one.
  Index maker_of(Index table) const { return table < num_given_ ? -1 : table - num_given_; }
  /// The step of a variable in a table: by how far its next state is away; 0 if it is not in it.
  Offset stride(Index table, Index variable) const;
  /// Joint states of some variables, as a number that may be too large for any table.
  double states_of(std::span<Index const> variables) const;

 private:
  Offset cells_of(std::span<Index const> scope) const;
  Index append(std::vector<Index> scope, int level);

  std::vector<Index> cardinality_;
  std::vector<TablePlace> tables_;
  std::vector<HostReduction> reductions_;
  Index num_given_ = 0;
  Offset num_cells_ = 0;
  int num_levels_ = 0;  ///< of reductions
};

/// Tables of the same product, fewer: some that are small together become one, at most eight at a time, so that factors
/// far below 1 do not make 0.   \param max_cells  of a table that is made   \param place  of each variable in the order
/// that all tables list them in
/// \shape [V]
std::vector<Index> merge_small(HostReductions& reductions, std::vector<Index> inputs, double max_cells,
                               std::span<Index const> place);

/// Merges inputs of a reduction where that is less work than what it saves: few are then read for each combined cell.
/// \param combined_cells  of the table that the reduction does not write out   \param output_cells  of that which it
/// does: none that is made has more, and more than every input
std::vector<Index> merge_for(HostReductions& reductions, std::vector<Index> inputs, double combined_cells,
                             double output_cells, std::span<Index const> place);

/// Reductions on a device.
template <class MemorySpace>
struct Reductions {
  Kokkos::View<detail::ReductionTask const*, MemorySpace> tasks;  ///< one a reduction
  Kokkos::View<detail::ReductionInput const*, MemorySpace> inputs;
  Kokkos::View<Index const*, MemorySpace> steps;
  Kokkos::View<detail::ReductionTask const*, Kokkos::HostSpace> host_tasks;  ///< the same, or on the host `tasks`
};

/// Some reductions, in the order in which they can be run.
template <class MemorySpace>
struct Schedule {
  Kokkos::View<detail::BlockPlace const*, MemorySpace> blocks;  ///< level after level
  Kokkos::View<Index const*, MemorySpace> reductions;           ///< likewise
  std::vector<Launch> launches;                                 ///< of blocks, in order
};

/// Copies reductions to where they will run; waits for `exec`.
template <class ExecutionSpace>
Reductions<typename ExecutionSpace::memory_space> make_reductions(ExecutionSpace const& exec,
                                                                  HostReductions const& host);

/// \param wanted  numbers of reductions, none twice   \note waits for `exec`
template <class ExecutionSpace>
Schedule<typename ExecutionSpace::memory_space> make_schedule(
    ExecutionSpace const& exec, HostReductions const& host,
    Reductions<typename ExecutionSpace::memory_space> const& reductions, std::vector<Index> const& wanted);
/// The same of all.
template <class ExecutionSpace>
Schedule<typename ExecutionSpace::memory_space> make_schedule(
    ExecutionSpace const& exec, HostReductions const& host,
    Reductions<typename ExecutionSpace::memory_space> const& reductions);

/// Room for the values of all tables.
template <class Value, class ExecutionSpace>
TableValues<Value, typename ExecutionSpace::memory_space> make_values(ExecutionSpace const& exec,
                                                                      HostReductions const& host);

/// Sets given tables, in their order and layout, from one on.   \throws ShapeError   \note waits for `exec`
template <class Value, class ExecutionSpace>
void set_given(ExecutionSpace const& exec, HostReductions const& host,
               TableValues<Value, typename ExecutionSpace::memory_space> const& values,
               std::span<std::vector<Value> const> given, Index first = 0);

/// The cells of one table; waits for `exec`.
/// \return [cells], as they are stored: of semirings that scale, not yet multiplied by their power of two
template <class Value, class ExecutionSpace>
std::vector<Value> cells_of(ExecutionSpace const& exec, HostReductions const& host,
                            TableValues<Value, typename ExecutionSpace::memory_space> const& values, Index table);

/// Bytes on the device: of tables, and of what tells how to reduce them.   \units bytes
template <class Value>
std::size_t bytes_needed(HostReductions const& host) {
  return static_cast<std::size_t>(host.num_cells()) * sizeof(Value) + host.tables().size() * 2 * sizeof(Value) +
         detail::layout_bytes(host, detail::max_team_size);
}

/// Runs reductions, level by level.   \async yes
template <class Semiring, class ExecutionSpace>
void reduce(ExecutionSpace const& exec, Reductions<typename ExecutionSpace::memory_space> const& reductions,
            Schedule<typename ExecutionSpace::memory_space> const& schedule,
            TableValues<typename Semiring::Value, typename ExecutionSpace::memory_space> const& values);

/// Copies extents to the host; of semirings that scale.   \note waits for `exec`
template <class Value, class ExecutionSpace>
HostExtents<Value> extents_of(ExecutionSpace const& exec,
                              TableValues<Value, typename ExecutionSpace::memory_space> const& values);

/// By which power of two each table's cells are to be multiplied.   \param largest  of each table   \shape [num_tables]
template <class Value>
std::vector<double> exponents_of(HostReductions const& host, std::vector<Value> const& largest);

/// Whether all that some reductions multiplied and added is sure to have been normal numbers, or zeros because of
/// zeros: else what they made may lack states whose products were too small to be held, and the semiring of logarithms
/// tells what it should be.
/// \param run  numbers of reductions, whose inputs are up to date
template <class Value>
bool are_in_range(HostReductions const& host, HostExtents<Value> const& extents, std::span<Index const> run);
/// The same of all.
template <class Value>
bool are_in_range(HostReductions const& host, HostExtents<Value> const& extents);

}  // namespace hornbill::tables

#include <hornbill/tables/detail/reduce.hpp>
