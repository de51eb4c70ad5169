/// \file
/// Bucket elimination: one variable after another, exactly.
#pragma once

#include <cmath>
#include <vector>

#include <hornbill/elim/order.hpp>
#include <hornbill/tables/decode.hpp>
#include <hornbill/tables/reduction.hpp>
#include <hornbill/tables/slices.hpp>

namespace hornbill::elim {

/// What is combined and reduced, in which order. Each variable's bucket holds the tables that have it when its turn
/// comes.
///
/// All tables list their variables in the order of elimination, so that the one that is eliminated is the slowest: rows
/// of the output lie as rows of the inputs do, and what threads read is contiguous.
/// \source Dechter: Bucket elimination: a unifying framework for reasoning, 1999; layout: Fioretto et al., Constraints
/// 2018, section 5
struct HostPlan {
  Order order;
  tables::HostReductions reductions{{}};
  std::vector<tables::HostDecodeStep> decode;  ///< in the order of elimination
  Index result = 0;                            ///< the table without variables that is left
  std::vector<Index> left;                     ///< tables of variables that are not eliminated; of a partial plan
  bool is_exact = true;                        ///< else that of mini-buckets: the result is a bound
};

/// Plans elimination. In a bucket of many tables, small ones are multiplied before the large ones are read.
/// \param scopes  of the given tables, as the order was made for   \throws InputError, CapacityError
HostPlan make_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                   Order order);

/// Variables of each table of a network.
template <class Value>
std::vector<std::span<Index const>> scopes_of(tables::TableNetwork<Value> const& network) {
  std::vector<std::span<Index const>> scopes;
  for (auto const& table : network.tables) scopes.emplace_back(table.scope);
  return scopes;
}

/// A plan where it will run; of any values.
template <class MemorySpace>
struct Plan {
  HostPlan host;
  tables::Reductions<MemorySpace> reductions;
  tables::Schedule<MemorySpace> schedule;
  tables::DecodePlan<MemorySpace> decode;
};

/// Tables and the assignment, of one run at a time.
template <class Value, class MemorySpace>
struct State {
  tables::TableValues<Value, MemorySpace> values;
  Kokkos::View<Offset*, MemorySpace> known;      ///< scratch of decode()
  Kokkos::View<Index*, MemorySpace> assignment;  ///< [V]
};

/// Copies a plan to where it will run; waits for `exec`.
template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostPlan host);

/// Room for a run: tables::bytes_needed() and the assignment.
template <class Value, class ExecutionSpace>
State<Value, typename ExecutionSpace::memory_space> make_state(ExecutionSpace const& exec,
                                                               Plan<typename ExecutionSpace::memory_space> const& plan);

/// Copies a network's tables into the state.   \param plan  of its cardinality and scopes
/// \throws ShapeError
/// \note waits for `exec`
template <class Value, class ExecutionSpace>
void load(ExecutionSpace const& exec, tables::TableNetwork<Value> const& network,
          Plan<typename ExecutionSpace::memory_space> const& plan,
          State<Value, typename ExecutionSpace::memory_space> const& state);

/// Eliminates all variables, and finds a best assignment where the semiring selects.   \async yes
/// \throws Error for a plan of mini-buckets and a semiring that does not select, or one that matches moments and costs
/// of 32 bits
template <class Semiring, class ExecutionSpace>
void run(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
         State<typename Semiring::Value, typename ExecutionSpace::memory_space> const& state);

/// What came out.
template <class Value>
struct Elimination {
  Value value{};        ///< times 2^exponent
  double exponent = 0;  ///< 0 of semirings that do not scale
  double slices = 0;    ///< of eliminate_in_slices(): that went through the device
  /// of run(): else products may have been too small or large to be held, and value and assignment lack states that
  /// they belong to
  bool is_in_range = true;
  bool took_logarithms = false;  ///< of eliminate(): so it was repeated with these
  /// [V], a best one, of semirings that select: of several best states of a variable (probabilities: to rounding) the
  /// first
  std::vector<Index> assignment;
};

/// Decimal logarithm of what came out, of MaxProduct and SumProduct; -infinity of 0.
template <class Value>
double log10_of(Elimination<Value> const& result) {
  return std::log10(static_cast<double>(result.value)) + result.exponent * std::log10(2.0);
}

/// Fetches it after a run; waits for `exec`.
template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> result_of(
    ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
    State<typename Semiring::Value, typename ExecutionSpace::memory_space> const& state);

/// All of the above, for one network once; where products of probabilities leave the range of numbers, again of
/// logarithms: in double, so with single precision twice bytes_needed() may be taken.
template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> eliminate(ExecutionSpace const& exec,
                                                tables::TableNetwork<typename Semiring::Value> const& network,
                                                HostPlan const& plan);

/// The same where tables are larger than the device's memory: they stay in the host's, and go through in slices.
/// \param max_bytes  on the device   \throws CapacityError where even one row of a table needs more
template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> eliminate_in_slices(ExecutionSpace const& exec,
                                                          tables::TableNetwork<typename Semiring::Value> const& network,
                                                          HostPlan const& plan, std::size_t max_bytes);

/// The network in which elimination by CountedMinSum also counts the best assignments.
/// \return tables of the same shapes
inline tables::TableNetwork<tables::Counted<tables::Cost>> counted(tables::TableNetwork<tables::Cost> const& network) {
  return tables::transformed(network, tables::CountedMinSum<tables::Cost>::counted);
}

/// The network that elimination by MaxSum and LogSumExp takes: logarithms of probabilities. (Junction trees in these
/// take probabilities themselves.)
/// \return tables of the same shapes
template <class Value>
tables::TableNetwork<double> logarithms_of(tables::TableNetwork<Value> const& network) {
  return tables::transformed(network, [](Value value) { return std::log(static_cast<double>(value)); });
}

/// What an assignment costs, or how probable it is, in the semiring's multiplication.
template <class Semiring>
typename Semiring::Value value_of(tables::TableNetwork<typename Semiring::Value> const& network,
                                  std::vector<Index> const& assignment) {
  auto value = Semiring::one();
  for (auto const& table : network.tables) value = Semiring::multiply(value, network.entry(table, assignment));
  return value;
}

}  // namespace hornbill::elim

#include <hornbill/elim/detail/eliminate.hpp>
