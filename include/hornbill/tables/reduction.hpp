/// \file
/// The one operation on tables: combine several, and reduce over some of their variables, without writing the combined table out.
#pragma once

#include <span>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/tables/semiring.hpp>
#include <hornbill/tables/table_network.hpp>

namespace hornbill::tables {

/// Where a table lies in the array that holds all.
struct TablePlace {
  std::vector<Index> scope;  ///< variables, the last fastest
  Offset offset = 0;         ///< of its first value
  Offset cells = 1;
  int level = 0;             ///< 0: given; else one more than those that it is made of
};

/// out(x) = add over y of multiply over inputs t of t(x, y), where x are the output's variables and y those that are eliminated.
struct HostReduction {
  std::vector<Index> inputs;      ///< tables; of each, all variables are the output's or eliminated
  std::vector<Index> eliminated;  ///< slowest first; with the output's, all of the inputs'
  Index output = 0;               ///< a table of no other reduction
};

/// Tables and the reductions among them, on the host.
class HostReductions {
 public:
  explicit HostReductions(std::vector<Index> cardinality) : cardinality_(std::move(cardinality)) {}

  /// A table whose values are given.   \return its number   \throws CapacityError for one of 2^31 cells or more, naming its first variable
  Index add_table(std::vector<Index> scope);
  /// A table that is made of others.   \param rows_wanted  where the output has fewer cells, and much is reduced to each, two reductions share
  /// the work: as many threads can take part   \throws CapacityError, InputError for a variable of inputs that is in neither list
  Index add_reduction(std::vector<Index> inputs, std::vector<Index> scope, std::vector<Index> eliminated, Offset rows_wanted = 1);

  std::vector<Index> const& cardinality() const { return cardinality_; }
  std::vector<TablePlace> const& tables() const { return tables_; }
  std::vector<HostReduction> const& reductions() const { return reductions_; }
  Offset num_cells() const { return num_cells_; }
  int num_levels() const { return num_levels_; }
  /// The step of a variable in a table: by how far its next state is away; 0 if it is not in it.
  Offset stride(Index table, Index variable) const;

 private:
  Offset cells_of(std::span<Index const> scope) const;
  Index append(std::vector<Index> scope, int level);

  std::vector<Index> cardinality_;
  std::vector<TablePlace> tables_;
  std::vector<HostReduction> reductions_;
  Offset num_cells_ = 0;
  int num_levels_ = 0;  ///< of reductions
};

namespace detail {

/// A reduction on the device. Its rows, and what is eliminated, are each in two digits, so that a place in an input is a sum of four entries.
struct ReductionTask {
  Offset output = 0;              ///< of its first value
  Index table = 0;                ///< which the output is
  Index first_input = 0, num_inputs = 0;
  Index rows_low = 1, rows_high = 1;  ///< rows are rows_high * rows_low
  Index over_low = 1, over_high = 1;  ///< states of what is eliminated, likewise
  Index blocks_of_row = 1;        ///< blocks of the low digit
  Offset first_block = 0;         ///< within the level
};
struct ReductionInput {
  Offset begin = 0;               ///< of its table
  Index table = 0;
  Offset row_low = 0, row_high = 0, over_low = 0, over_high = 0;  ///< where its steps begin, by digit
};

}  // namespace detail

/// Reductions on a device.
template <class MemorySpace>
struct Reductions {
  Kokkos::View<detail::ReductionTask const*, MemorySpace> tasks;    ///< level after level
  Kokkos::View<detail::ReductionInput const*, MemorySpace> inputs;
  Kokkos::View<Offset const*, MemorySpace> steps;                   ///< how far each digit goes in each input
  std::vector<Index> first_task;                                    ///< [levels + 1]
  std::vector<Offset> num_blocks;                                   ///< [levels]
  Offset num_cells = 0;
  Index num_tables = 0;
};

/// Copies reductions to where they will run; waits for `exec`.
template <class ExecutionSpace>
Reductions<typename ExecutionSpace::memory_space> make_reductions(ExecutionSpace const& exec, HostReductions const& host);

/// Values of all tables.
template <class Value, class MemorySpace>
struct TableValues {
  Kokkos::View<Value*, MemorySpace> cells;     ///< [num_cells]
  Kokkos::View<Value*, MemorySpace> largest;   ///< [num_tables], of semirings that scale
  Kokkos::View<Value*, MemorySpace> scales;    ///< [num_tables], 2^-exponent, by which a table's values are multiplied where it is read
  Kokkos::View<int*, MemorySpace> exponents;   ///< [num_tables]
};

/// Values of given tables, in their order and layout, with room for all others.   \throws ShapeError
template <class ExecutionSpace, class Value>
TableValues<Value, typename ExecutionSpace::memory_space> make_values(ExecutionSpace const& exec, HostReductions const& host, std::vector<std::vector<Value>> const& given);

/// Runs all reductions, level by level. The values are those of the product up to 2^exponent, the sum of the exponents of all that went in.
template <class Semiring, class ExecutionSpace>
void reduce(ExecutionSpace const& exec, Reductions<typename ExecutionSpace::memory_space> const& reductions,
            TableValues<typename Semiring::Value, typename ExecutionSpace::memory_space> const& values);

}  // namespace hornbill::tables

#include <hornbill/detail/tables/reduce.hpp>
