/// \file
/// Models made of dense tables alone: probabilities, or costs.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <type_traits>
#include <vector>

#include <hornbill/error.hpp>
#include <hornbill/graph/host_evidence.hpp>
#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/types.hpp>

namespace hornbill::tables {

/// A cost. Sums of costs stay below half of infinite_cost, which is that of what is forbidden: what is shifted may be
/// somewhat below it.
using Cost = std::int64_t;
/// A cost in half the memory: of networks in which sums stay below half of infinite_narrow_cost.
using NarrowCost = std::int32_t;

/// Of any type of costs: so that four of them may be added.
template <class T>
inline constexpr T infinite_cost_of = std::numeric_limits<T>::max() / 4;
inline constexpr Cost infinite_cost = infinite_cost_of<Cost>;
inline constexpr NarrowCost infinite_narrow_cost = infinite_cost_of<NarrowCost>;

/// The most cells that a table may have: a place in it, and what is a block of rows behind it, is a number of 32 bits.
inline constexpr Offset max_table_cells = (Offset{1} << 31) - (1 << 12);

/// A function of some variables, as a dense table.
template <class Value>
struct HostTable {
  std::vector<Index> scope;   ///< variables, none twice
  std::vector<Value> values;  ///< one for each joint state, that of the last variable fastest
};

/// Variables and tables over them: their product (probabilities) or sum (costs) is what is asked about. V variables.
template <class Value>
struct TableNetwork {
  std::vector<Index> cardinality;  ///< [V], states
  std::vector<HostTable<Value>> tables;
  std::vector<std::string> variable_names;            ///< [V], or empty
  std::vector<std::vector<std::string>> state_names;  ///< [V], one for each state, or empty

  Index num_variables() const { return static_cast<Index>(cardinality.size()); }
  /// A table's value under an assignment of all variables.
  Value entry(HostTable<Value> const& table, std::vector<Index> const& assignment) const {
    std::size_t cell = 0;
    for (Index v : table.scope)
      cell = cell * static_cast<std::size_t>(cardinality[v]) + static_cast<std::size_t>(assignment[v]);
    return table.values[cell];
  }
  /// As of a HostFactorGraph.
  std::string name_of(Index variable) const {
    return variable_names.empty() || variable_names[variable].empty() ? "variable " + std::to_string(variable)
                                                                      : variable_names[variable];
  }
  std::string state_name(Index variable, Index state) const {
    return state_names.empty() || state_names[variable].empty() ? std::to_string(state) : state_names[variable][state];
  }
};

/// The network whose entries are what `convert` makes of another's.
template <class Value, class Convert>
auto transformed(TableNetwork<Value> const& network, Convert const& convert) {
  using To = std::decay_t<decltype(convert(Value{}))>;
  TableNetwork<To> result{network.cardinality, {}, network.variable_names, network.state_names};
  for (auto const& table : network.tables) {
    auto& values = result.tables.emplace_back(HostTable<To>{table.scope, {}}).values;
    values.reserve(table.values.size());
    for (Value value : table.values) values.push_back(convert(value));
  }
  return result;
}

namespace detail {
[[noreturn]] void fail_to_narrow(std::string const& variable, double value);
}

/// Whether a number of at least 0 is neither lost nor infinite in another precision.
template <class Value>
constexpr bool can_hold(double value) {
  return sizeof(Value) == sizeof(double) || value == 0 ||
         (value >= std::numeric_limits<Value>::min() && value <= std::numeric_limits<Value>::max());
}

/// The same network in another precision.   \throws InputError for an entry that it cannot hold
template <class Value>
TableNetwork<Value> converted(TableNetwork<double> const& network) {
  if constexpr (sizeof(Value) < sizeof(double))
    for (auto const& table : network.tables)
      for (double value : table.values)
        if (!can_hold<Value>(value))
          detail::fail_to_narrow(table.scope.empty() ? "" : network.name_of(table.scope.front()), value);
  return transformed(network, [](double value) { return static_cast<Value>(value); });
}

/// The same costs in half the memory, and less time to eliminate; not for plans that match moments, as shifts may add
/// up.
/// \return none where a sum of finite costs might come to half of what is infinite
std::optional<TableNetwork<NarrowCost>> narrowed(TableNetwork<Cost> const& network);
/// A sum of narrow costs; of what is infinite, infinite_cost.
constexpr Cost widened(Cost cost) { return cost; }
constexpr Cost widened(NarrowCost cost) { return cost == infinite_narrow_cost ? infinite_cost : cost; }

/// Costs to be minimised: whole numbers, whatever units a file has them in. What its objective is follows from them.
struct CostNetwork : TableNetwork<Cost> {
  std::string name;
  Cost upper_bound = infinite_cost;  ///< assignments that cost so much or more are forbidden
  Cost offset = 0;                   ///< to be added to all sums
  int decimals = 0;                  ///< a cost of 1 stands for 10^-decimals
  bool is_maximised = false;         ///< costs are those of an objective that is to be large, negated

  /// A sum of costs in the file's terms, all digits of it, e.g. "-12.10".
  std::string objective(Cost sum) const;
};

/// The tables of a factor graph. Horn factors become tables; those of more than `widest` variables become chains of
/// tables of three, over auxiliary variables that say whether the body so far is all true (or has some true); these
/// come behind the graph's own.
/// \source hornbill/bp/README.md, equation 10: pairs that keep a factor undecided compose
TableNetwork<double> to_tables(HostFactorGraph const& graph, int widest = 4);

/// The network under evidence: what is observed for certain has one state, the observed one, and is in no table any
/// more; soft evidence is one more table. Variables keep their numbers.
TableNetwork<double> condition(TableNetwork<double> const& network, HostEvidence const& evidence);
/// The same of costs.   \throws InputError for soft evidence, which is of probabilities
CostNetwork condition(CostNetwork const& network, HostEvidence const& evidence);

}  // namespace hornbill::tables
