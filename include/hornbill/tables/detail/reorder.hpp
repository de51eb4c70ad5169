// Tables in the layout that a plan wants.
#pragma once

#include <vector>

#include <hornbill/error.hpp>
#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables::detail {

/// The values of a table whose variables are put into another order.
template <class Value>
std::vector<Value> reordered(HostTable<Value> const& table, std::vector<Index> const& cardinality,
                             std::vector<Index> const& scope) {
  if (table.scope == scope) return table.values;
  std::vector<std::size_t> stride(scope.size());  // in the table, of the new order's variables
  for (std::size_t i = 0; i < scope.size(); ++i) {
    stride[i] = 1;
    for (std::size_t j = table.scope.size(); table.scope[--j] != scope[i];)
      stride[i] *= static_cast<std::size_t>(cardinality[table.scope[j]]);
  }
  std::vector<Value> values(table.values.size());
  std::vector<Index> state(scope.size());
  std::size_t from = 0;
  for (auto& value : values) {
    value = table.values[from];
    for (std::size_t i = scope.size(); i-- > 0;) {
      from += stride[i];
      if (++state[i] < cardinality[scope[i]]) break;
      from -= stride[i] * static_cast<std::size_t>(cardinality[scope[i]]);
      state[i] = 0;
    }
  }
  return values;
}

/// All of a network's tables, as the first that are given to reductions.   \throws ShapeError unless there are so many
template <class Value>
std::vector<std::vector<Value>> reordered(TableNetwork<Value> const& network, HostReductions const& reductions,
                                          Index expected) {
  if (network.tables.size() != static_cast<std::size_t>(expected))
    throw ShapeError("tables of the plan", static_cast<std::size_t>(expected), network.tables.size());
  std::vector<std::vector<Value>> result;
  for (std::size_t t = 0; t < network.tables.size(); ++t)
    result.push_back(reordered(network.tables[t], network.cardinality, reductions.tables()[t].scope));
  return result;
}

}  // namespace hornbill::tables::detail
