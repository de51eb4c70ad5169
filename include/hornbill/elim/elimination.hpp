/// \file
/// Bucket elimination: one variable after another, exactly.
#pragma once

#include <vector>

#include <hornbill/elim/order.hpp>
#include <hornbill/tables/reduction.hpp>

namespace hornbill::elim {

/// What is combined and reduced, in which order. Each variable's bucket holds the tables that have it when its turn comes.
///
/// All tables list their variables in the order of elimination, so that the one that is eliminated is the slowest: rows of the output lie as
/// rows of the inputs do, and what threads read is contiguous.
/// \source Dechter: Bucket elimination: a unifying framework for reasoning, 1999; layout: Fioretto et al., Constraints 2018, section 5
struct HostPlan {
  Order order;
  tables::HostReductions reductions{{}};
  std::vector<std::vector<Index>> buckets;   ///< [V], tables, by place in the order
  std::vector<std::vector<Index>> given;     ///< variables of each given table, in the order of elimination
  Index result = 0;                          ///< the table without variables that is left
};

/// Plans elimination.   \param scopes  of the given tables, as the order was made for
/// \throws InputError   \throws CapacityError naming the width to blame
HostPlan make_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes, Order order);

/// Variables of each table of a network.
template <class Value>
std::vector<std::span<Index const>> scopes_of(tables::TableNetwork<Value> const& network) {
  std::vector<std::span<Index const>> scopes;
  for (auto const& table : network.tables) scopes.emplace_back(table.scope);
  return scopes;
}

/// Bytes of device memory that elimination needs.   \units bytes
template <class Value>
std::size_t bytes_needed(HostPlan const& plan) {
  return static_cast<std::size_t>(plan.reductions.num_cells()) * sizeof(Value);
}

/// What came out.
template <class Value>
struct Elimination {
  Value value = 0;                ///< times 2^exponent
  double exponent = 0;            ///< 0 of semirings that do not scale
  std::vector<Index> assignment;  ///< [V], a best one, of semirings that select: of several best states of a variable the first
};

/// Eliminates all variables of a network.
/// \param plan  of its cardinality and scopes   \throws ShapeError
template <class Semiring, class ExecutionSpace>
Elimination<typename Semiring::Value> eliminate(ExecutionSpace const& exec, tables::TableNetwork<typename Semiring::Value> const& network, HostPlan const& plan);

/// What an assignment costs, or how probable it is, in the semiring's multiplication.
template <class Semiring>
typename Semiring::Value value_of(tables::TableNetwork<typename Semiring::Value> const& network, std::vector<Index> const& assignment) {
  auto value = Semiring::one();
  for (auto const& table : network.tables) {
    std::size_t cell = 0;
    for (Index v : table.scope) cell = cell * static_cast<std::size_t>(network.cardinality[v]) + static_cast<std::size_t>(assignment[v]);
    value = Semiring::multiply(value, table.values[cell]);
  }
  return value;
}

}  // namespace hornbill::elim

#include <hornbill/detail/elim/eliminate.hpp>
