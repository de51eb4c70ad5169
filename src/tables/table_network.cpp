#include <hornbill/tables/table_network.hpp>

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include <hornbill/graph/factor_traits.hpp>
#include <hornbill/graph/horn_factor.hpp>

namespace hornbill::tables {
namespace {

/// Adds the chain of a wide Horn factor: after each of its body's variables, an auxiliary one says whether the factor
/// is undecided.
void add_chain(TableNetwork<double>& network, HostFactorGraph const& graph, Index factor) {
  auto const variables = graph.variables_of(factor);
  std::vector<double> joins;  // by (before, next, fires): 1 where the body up to `next` fires as it should
  for (bool const so_far : {false, true})
    for (bool const next : {false, true})
      for (bool const value : {false, true})
        joins.push_back(fires(graph.factor_type[factor], so_far && next, so_far || next) == value);
  Index before = variables[1];
  for (std::size_t i = 2; i < variables.size(); ++i) {
    Index const joined = network.num_variables();
    network.variable_names.resize(network.cardinality.size());
    network.variable_names.push_back("part of the body of " + graph.name_of(variables[0]));
    network.cardinality.push_back(2);
    if (!network.state_names.empty()) network.state_names.push_back({"false", "true"});
    network.tables.push_back({{before, variables[i], joined}, joins});
    before = joined;
  }
  double const p1 = graph.p1[factor], p2 = graph.p2[factor];
  network.tables.push_back({{before, variables[0]}, {1 - p2, p2, 1 - p1, p1}});
}

/// The table with one variable in one state alone, so that the variable is no longer in it.
template <class Value>
HostTable<Value> cut(HostTable<Value> const& table, std::vector<Index> const& cardinality, std::size_t position,
                     Index state) {
  HostTable<Value> result;
  std::size_t inner = 1;  // states of the variables behind
  for (std::size_t i = 0; i < table.scope.size(); ++i) {
    if (i != position) result.scope.push_back(table.scope[i]);
    if (i > position) inner *= static_cast<std::size_t>(cardinality[table.scope[i]]);
  }
  std::size_t const block = inner * static_cast<std::size_t>(cardinality[table.scope[position]]);
  for (std::size_t begin = static_cast<std::size_t>(state) * inner; begin < table.values.size(); begin += block)
    result.values.insert(result.values.end(), table.values.begin() + static_cast<std::ptrdiff_t>(begin),
                         table.values.begin() + static_cast<std::ptrdiff_t>(begin + inner));
  return result;
}

/// Leaves out the variables that are observed for certain.   \param cardinality  as it was
template <class Value>
void cut_observed(TableNetwork<Value>& network, std::vector<Index> const& cardinality, HostEvidence const& evidence) {
  std::vector<Index> state(cardinality.size(), -1);
  for (auto const& o : last_of_each_variable(evidence))
    if (o.is_hard()) {
      state[o.variable] = o.value;
      network.cardinality[o.variable] = 1;
    }
  for (auto& table : network.tables)
    for (std::size_t i = table.scope.size(); i-- > 0;)
      if (Index const s = state[table.scope[i]]; s >= 0) table = cut(table, cardinality, i, s);
}

}  // namespace

void detail::fail_to_narrow(std::string const& variable, double value) {
  auto const table = variable.empty() ? std::string("a table of no variable") : fmt::format("a table of {}", variable);
  throw InputError(fmt::format("{} has the entry {:g}, which single precision cannot hold; double can", table, value));
}

std::optional<TableNetwork<NarrowCost>> narrowed(TableNetwork<Cost> const& network) {
  TableNetwork<NarrowCost> result{network.cardinality, {}, network.variable_names, network.state_names};
  Cost most = 0;  // of any sum
  for (auto const& table : network.tables) {
    Cost largest = 0;
    auto& values = result.tables.emplace_back(HostTable<NarrowCost>{table.scope, {}}).values;
    values.reserve(table.values.size());
    for (Cost cost : table.values) {
      bool const is_infinite = cost >= infinite_cost;
      if (!is_infinite && (cost > infinite_narrow_cost || cost < -infinite_narrow_cost)) return std::nullopt;
      if (!is_infinite) largest = std::max(largest, std::abs(cost));
      values.push_back(is_infinite ? infinite_narrow_cost : static_cast<NarrowCost>(cost));
    }
    most += largest;
    if (most >= infinite_narrow_cost / 2) return std::nullopt;
  }
  return result;
}

std::string CostNetwork::objective(Cost sum) const {
  Cost const value = is_maximised ? -(sum + offset) : sum + offset;
  Cost const magnitude = value < 0 ? -value : value;
  auto const sign = value < 0 ? "-" : "";
  if (decimals == 0) return fmt::format("{}{}", sign, magnitude);
  Cost unit = 1;
  for (int i = 0; i < decimals; ++i) unit *= 10;
  return fmt::format("{}{}.{:0{}}", sign, magnitude / unit, magnitude % unit, decimals);
}

TableNetwork<double> to_tables(HostFactorGraph const& graph, int widest) {
  TableNetwork<double> network;
  for (Index v = 0; v < graph.num_variables; ++v) network.cardinality.push_back(graph.states(v));
  network.variable_names = graph.variable_names;
  network.state_names = graph.state_names;
  for (Index a = 0; a < graph.num_factors(); ++a) {
    auto const variables = graph.variables_of(a);
    HostTable<double> table{{variables.begin(), variables.end()}, {}};
    if (is_table(graph.factor_type[a])) {
      table.values.assign(graph.table_of(a).begin(), graph.table_of(a).end());
    } else if (std::ssize(variables) <= widest) {
      table.values =
          table_of_horn_factor(graph.factor_type[a], graph.p1[a], graph.p2[a], static_cast<int>(variables.size()));
    } else {
      add_chain(network, graph, a);
      continue;
    }
    network.tables.push_back(std::move(table));
  }
  return network;
}

TableNetwork<double> condition(TableNetwork<double> const& network, HostEvidence const& evidence) {
  auto result = network;
  cut_observed(result, network.cardinality, evidence);
  for (auto const& o : last_of_each_variable(evidence))
    if (!o.is_hard()) result.tables.push_back({{o.variable}, o.likelihoods});
  return result;
}

CostNetwork condition(CostNetwork const& network, HostEvidence const& evidence) {
  for (auto const& o : last_of_each_variable(evidence))
    if (!o.is_hard())
      throw InputError(fmt::format("{} is observed by likelihoods, which costs have not: observe a value",
                                   network.name_of(o.variable)));
  auto result = network;
  cut_observed(result, network.cardinality, evidence);
  return result;
}

}  // namespace hornbill::tables
