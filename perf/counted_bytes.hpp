// Bytes that an iteration of PARALL must move, kernel by kernel: what it reads and writes, each entry once.
#pragma once

#include <cstddef>
#include <vector>

#include <nlohmann/json.hpp>

#include <hornbill/hornbill.hpp>

namespace hornbill::perf {

template <class T>
std::size_t bytes_of(std::vector<T> const& list) {
  return list.size() * sizeof(T);
}

/// Distinct variables among the edges [chunk.first_edge, + count) of a list of chunks, and how many edges these are.
inline std::pair<std::size_t, std::size_t> edges_and_variables(HostFactorGraph const& graph, std::vector<bp::Chunk> const& chunks) {
  std::vector<char> seen(graph.num_variables, 0);
  std::size_t edges = 0, variables = 0;
  for (auto const& chunk : chunks)
    for (Index i = 0; i < chunk.count; ++i, ++edges) variables += !std::exchange(seen[graph.factor_variables[chunk.first_edge + i]], 1);
  return {edges, variables};
}

/// Of a plan of PARALL that uses lanes, over binary variables.
template <class Value>
nlohmann::json counted_bytes(HostFactorGraph const& graph, bp::HostPlan const& plan) {
  constexpr std::size_t value = sizeof(Value), sum = sizeof(detail::Accumulator<Value>), node = sizeof(detail::Node<Value>);
  auto const all = static_cast<std::size_t>(graph.num_edges()), variables = static_cast<std::size_t>(graph.num_variables);
  auto const [wide_edges, wide_variables] = edges_and_variables(graph, plan.parts);
  std::size_t const narrow_edges = all - wide_edges, factors = graph.factor_type.size();
  std::size_t listed = 0;  // edges named by Row, which reads variable_edges
  for (auto const* rows : {&plan.medium_rows, &plan.large_rows})
    for (auto const& row : *rows) listed += static_cast<std::size_t>(row.count);
  nlohmann::json bytes;
  bytes["narrow_to_variable"] = bytes_of(plan.lanes) + 2 * value * narrow_edges + sizeof(detail::HornParameters<Value>) * factors + sum * variables;
  bytes["wide_to_variable"] = bytes_of(plan.wide) + bytes_of(plan.parts) + bytes_of(plan.chunks) + (2 * value + sizeof(Index)) * wide_edges +
                              sum * wide_variables + 2 * node * static_cast<std::size_t>(plan.num_nodes);
  bytes["sum_rows"] = bytes_of(plan.small_rows) + bytes_of(plan.medium_rows) + bytes_of(plan.large_rows) + sizeof(Index) * listed + value * all +
                      2 * sum * (variables - plan.hubs.size()) + sum * static_cast<std::size_t>(plan.num_part_sums);
  bytes["sum_hubs"] = bytes_of(plan.hubs) + sum * static_cast<std::size_t>(plan.num_part_sums) + 2 * sum * plan.hubs.size();
  bytes["beliefs"] = (sum + 2 * value) * variables;
  return bytes;
}

}  // namespace hornbill::perf
