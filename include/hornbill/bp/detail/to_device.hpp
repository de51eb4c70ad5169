// to_device(): narrowing to 32-bit ids, complementing disjunctions, laying out states of non-binary variables.
#pragma once

#include <algorithm>
#include <limits>
#include <string>
#include <vector>

#include <hornbill/backend/instantiate.hpp>
#include <hornbill/bp/factor_graph.hpp>
#include <hornbill/detail/copy.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>

namespace hornbill::bp::detail {

/// Rounds to Value, but what is positive stays positive: improbable must not become impossible.
template <class Value>
Value round_positive(double x) {
  auto const rounded = static_cast<Value>(x);
  return x > 0 && rounded == 0 ? std::numeric_limits<Value>::denorm_min() : rounded;
}

template <class Value>
std::vector<HornParameters<Value>> horn_parameters(HostFactorGraph const& host) {
  std::vector<HornParameters<Value>> parameters;
  parameters.reserve(host.factor_type.size());
  for (Index a = 0; a < host.num_factors(); ++a) {
    HornParameters<Value> const p{round_positive<Value>(host.p1[a]), round_positive<Value>(1 - host.p1[a]),
                                  round_positive<Value>(host.p2[a]), round_positive<Value>(1 - host.p2[a])};
    parameters.push_back(is_complemented(host.factor_type[a]) ? negated(p) : p);
  }
  return parameters;
}

/// Tables scaled by their largest entry, which changes no message.
template <class Value>
std::vector<Value> scaled_tables(HostFactorGraph const& host) {
  std::vector<Value> values;
  values.reserve(host.table_values.size());
  for (Index a = 0; a < host.num_factors(); ++a) {
    auto const table = host.table_of(a);
    double const largest = table.empty() ? 1 : *std::max_element(table.begin(), table.end());
    for (double x : table) values.push_back(round_positive<Value>(x > 0 ? std::max(x / largest, 1e-300) : 0));
  }
  return values;
}

inline void require_device_index(Offset count, char const* what) {
  if (count > std::numeric_limits<Index>::max())
    throw CapacityError(std::to_string(count) + " " + what +
                        " are more than the 2^31 - 1 that a device graph can hold");
}

template <class Value, class MemorySpace, class ExecutionSpace>
TableFactors<Value, MemorySpace> tables_to_device(ExecutionSpace const& exec, HostFactorGraph const& host) {
  TableFactors<Value, MemorySpace> tables;
  if (!host.has_tables() && host.cardinality.empty()) return tables;
  std::vector<Offset> state_offsets{0}, message_offsets{0}, weight_offsets{0};
  std::vector<Index> cardinality;
  for (Index v = 0; v < host.num_variables; ++v) {
    cardinality.push_back(host.states(v));
    state_offsets.push_back(state_offsets.back() + (host.states(v) == 2 ? 0 : host.states(v)));
  }
  for (Index a = 0; a < host.num_factors(); ++a)
    for (Index v : host.variables_of(a)) {
      message_offsets.push_back(message_offsets.back() + (host.states(v) == 2 ? 0 : host.states(v)));
      weight_offsets.push_back(weight_offsets.back() + (is_table(host.factor_type[a]) ? host.states(v) : 0));
    }
  require_device_index(host.num_variables + state_offsets.back(), "states");
  require_device_index(host.num_edges() + message_offsets.back(), "message entries");
  require_device_index(weight_offsets.back(), "states of table edges");
  require_device_index(static_cast<Offset>(host.table_values.size()), "table entries");
  tables.cardinality = hornbill::detail::to_view<Index, MemorySpace>(exec, "hornbill::graph::cardinality", cardinality);
  tables.state_offsets =
      hornbill::detail::to_view<Index, MemorySpace>(exec, "hornbill::graph::state_offsets", state_offsets);
  tables.message_offsets =
      hornbill::detail::to_view<Index, MemorySpace>(exec, "hornbill::graph::message_offsets", message_offsets);
  tables.weight_offsets =
      hornbill::detail::to_view<Index, MemorySpace>(exec, "hornbill::graph::weight_offsets", weight_offsets);
  tables.values =
      hornbill::detail::to_view<Value, MemorySpace>(exec, "hornbill::graph::table_values", scaled_tables<Value>(host));
  auto const offsets = host.has_tables() ? host.table_offsets : std::vector<Offset>(host.num_factors() + 1, 0);
  tables.offsets = hornbill::detail::to_view<Index, MemorySpace>(exec, "hornbill::graph::table_offsets", offsets);
  tables.num_states = static_cast<Index>(state_offsets.back());
  tables.num_state_messages = static_cast<Index>(message_offsets.back());
  tables.num_weights = static_cast<Index>(weight_offsets.back());
  return tables;
}

}  // namespace hornbill::bp::detail

namespace hornbill::bp {

template <class Value, class ExecutionSpace>
FactorGraph<Value, typename ExecutionSpace::memory_space> to_device(ExecutionSpace const& exec,
                                                                    HostFactorGraph const& host) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  detail::require_device_index(host.num_edges(), "edges");
  FactorGraph<Value, MemorySpace> graph;
  auto const variable_edges = edges_of_variables(host);
  graph.factor_offsets =
      hornbill::detail::to_view<Index, MemorySpace>(exec, "hornbill::graph::factor_offsets", host.factor_offsets);
  graph.factor_variables =
      hornbill::detail::to_view<Index, MemorySpace>(exec, "hornbill::graph::factor_variables", host.factor_variables);
  graph.variable_offsets =
      hornbill::detail::to_view<Index, MemorySpace>(exec, "hornbill::graph::variable_offsets", variable_edges.offsets);
  graph.variable_edges =
      hornbill::detail::to_view<Index, MemorySpace>(exec, "hornbill::graph::variable_edges", variable_edges.edges);
  graph.parameters = hornbill::detail::to_view<detail::HornParameters<Value>, MemorySpace>(
      exec, "hornbill::graph::parameters", detail::horn_parameters<Value>(host));
  graph.tables = detail::tables_to_device<Value, MemorySpace>(exec, host);
  return graph;
}

}  // namespace hornbill::bp

#define HORNBILL_INSTANTIATE_BP_GRAPH(PREFIX, SPACE, VALUE) \
  PREFIX template FactorGraph<VALUE, SPACE::memory_space> to_device<VALUE, SPACE>(SPACE const&, HostFactorGraph const&);

namespace hornbill::bp {
HORNBILL_EXTERN(HORNBILL_FOR_REALS, HORNBILL_INSTANTIATE_BP_GRAPH)
}  // namespace hornbill::bp
