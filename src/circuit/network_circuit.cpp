#include <hornbill/circuit/network_circuit.hpp>

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <utility>

#include <fmt/format.h>

#include <hornbill/circuit/builder.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace {

using tables::TableNetwork;

/// A table of numbers, each times the value of a node if there are nodes.
struct Part {
  std::vector<Index> scope;
  std::vector<double> values;  ///< that of the last variable fastest
  Index first_node = -1;       ///< of the first cell; -1 where there are none

  bool has_nodes() const { return first_node >= 0; }
};

/// Variables of a table, and where a cell of it is in the tables that it is made of.
class Cells {
 public:
  Cells(std::vector<Index> variables, std::vector<Index> const& cardinality) : variables_(std::move(variables)) {
    for (Index v : variables_) sizes_.push_back(cardinality[static_cast<std::size_t>(v)]);
  }

  Offset count() const {
    Offset count = 1;
    for (Index size : sizes_) {
      count *= size;
      if (count > tables::max_table_cells)
        throw CapacityError(fmt::format("a table of the circuit has more than {} cells", tables::max_table_cells));
    }
    return count;
  }

  /// By cell, the cell of a table over some of the variables.
  std::vector<Offset> places_in(std::vector<Index> const& scope, std::vector<Index> const& cardinality) const {
    std::vector<Offset> strides(variables_.size());
    Offset stride = 1;
    for (auto v = scope.rbegin(); v != scope.rend(); ++v) {
      auto const at = std::ranges::find(variables_, *v) - variables_.begin();
      strides[static_cast<std::size_t>(at)] = stride;
      stride *= cardinality[static_cast<std::size_t>(*v)];
    }
    std::vector<Offset> places{0};
    for (std::size_t d = 0; d < sizes_.size(); ++d) {
      std::vector<Offset> longer;
      longer.reserve(places.size() * static_cast<std::size_t>(sizes_[d]));
      for (Offset place : places)
        for (Index x = 0; x < sizes_[d]; ++x) longer.push_back(place + x * strides[d]);
      places = std::move(longer);
    }
    return places;
  }

 private:
  std::vector<Index> variables_, sizes_;
};

class NetworkCompiler {
 public:
  NetworkCompiler(TableNetwork<double> const& network, Index num_observed)
      : network_(network),
        num_observed_(num_observed),
        builder_(num_observed),
        parts_of_variable_(network.cardinality.size()) {
    for (auto const& [scope, values] : network.tables) {
      for (double value : values)
        if (!(value >= 0) || std::isinf(value))
          throw InputError(fmt::format("a table has the entry {}; it must be a number of at least 0", value));
      add({scope, values});
    }
  }

  NetworkCircuit compile(std::vector<Index> const& order) && {
    for (Index v : order) eliminate(v);
    std::vector<Index> roots;
    for (std::size_t i = 0; i < parts_.size(); ++i) {
      if (is_taken_[i]) continue;
      scale(parts_[i].values.front());
      if (parts_[i].has_nodes()) roots.push_back(builder_.circuit().vector_of(parts_[i].first_node));
    }
    if (roots.empty()) throw InputError("no variable of the network is observed");
    if (roots.size() > 1) builder_.add_products(roots);
    NetworkCircuit result{std::move(builder_).build(), std::move(parameters_), log_partition_};
    auto const& names = network_.variable_names;
    if (!names.empty()) result.circuit.variable_names.assign(names.begin(), names.begin() + num_observed_);
    return result;
  }

 private:
  void add(Part part) {
    for (Index v : part.scope) parts_of_variable_[static_cast<std::size_t>(v)].push_back(parts_.size());
    parts_.push_back(std::move(part));
    is_taken_.push_back(false);
  }

  /// Those whose scope has a variable, which are no longer there.
  std::vector<Part> take_parts_of(Index variable) {
    std::vector<Part> result;
    for (std::size_t i : parts_of_variable_[static_cast<std::size_t>(variable)]) {
      if (is_taken_[i]) continue;
      is_taken_[i] = true;
      result.push_back(std::exchange(parts_[i], {}));
    }
    return result;
  }

  /// The other variables of some parts, each once.
  static std::vector<Index> others(std::vector<Part> const& parts, bool with_nodes, Index variable,
                                   std::vector<Index> const& known) {
    std::vector<Index> result;
    for (auto const& part : parts)
      for (Index v : part.scope)
        if (part.has_nodes() == with_nodes && v != variable && std::ranges::find(known, v) == known.end() &&
            std::ranges::find(result, v) == result.end())
          result.push_back(v);
    return result;
  }

  void eliminate(Index variable) {
    auto const parts = take_parts_of(variable);
    // children depend on the variables of nodes alone: sums that differ in the others share them
    auto const of_nodes = others(parts, true, variable, {});
    auto const of_numbers = others(parts, false, variable, of_nodes);
    Part made{of_nodes, {}};
    made.scope.insert(made.scope.end(), of_numbers.begin(), of_numbers.end());
    auto rows = products_of(parts, made.scope, variable);
    auto& weights = rows.values;
    made.values = normalise(rows, network_.cardinality[static_cast<std::size_t>(variable)]);
    bool const has_children = variable < num_observed_ || !of_nodes.empty() ||
                              std::ranges::any_of(parts, [](Part const& part) { return part.has_nodes(); });
    if (has_children) {
      parameters_.sum.insert(parameters_.sum.end(), weights.begin(), weights.end());
      made.first_node = add_sums(parts, of_nodes, of_numbers, variable);
    }
    double const largest = std::ranges::max(made.values);
    scale(largest);
    for (double& value : made.values) value /= largest;
    add(std::move(made));
  }

  /// Takes a factor out of all that follows.
  void scale(double factor) {
    if (!(factor > 0)) throw ImpossibleNetworkError("all assignments of the network are impossible");
    log_partition_ += std::log(factor);
  }

  /// Products of numbers, by cell of a scope and state of the variable: a row of states times a power of 2, so that
  /// many numbers leave no range.
  struct Rows {
    std::vector<double> values;
    std::vector<std::int64_t> exponents;
  };

  Rows products_of(std::vector<Part> const& parts, std::vector<Index> variables, Index variable) const {
    auto const columns = static_cast<std::size_t>(network_.cardinality[static_cast<std::size_t>(variable)]);
    variables.push_back(variable);
    Cells const cells(variables, network_.cardinality);
    Rows rows;
    rows.values.assign(static_cast<std::size_t>(cells.count()), 1);
    rows.exponents.assign(rows.values.size() / columns, 0);
    for (auto const& part : parts) {
      auto const places = cells.places_in(part.scope, network_.cardinality);
      auto const value = [&](std::size_t i) { return part.values[static_cast<std::size_t>(places[i])]; };
      for (std::size_t r = 0; r < rows.exponents.size(); ++r) {
        double largest = 0;  // of the part: products stay below 1
        for (std::size_t i = r * columns; i < (r + 1) * columns; ++i) largest = std::max(largest, value(i));
        int const of_part = largest > 0 ? std::ilogb(largest) + 1 : 0;
        double largest_product = 0;
        for (std::size_t i = r * columns; i < (r + 1) * columns; ++i)
          largest_product = std::max(largest_product, rows.values[i] *= std::ldexp(value(i), -of_part));
        int const of_row = largest_product > 0 ? std::ilogb(largest_product) + 1 : 0;
        for (std::size_t i = r * columns; i < (r + 1) * columns; ++i)
          rows.values[i] = std::ldexp(rows.values[i], -of_row);
        rows.exponents[r] += of_part + of_row;
      }
    }
    return rows;
  }

  /// Divides rows by their sums, which it returns but for a power of 2 that is taken out; a row of zeros becomes any
  /// distribution.
  std::vector<double> normalise(Rows& rows, Index columns) {
    std::vector<double> sums;
    for (auto row = rows.values.begin(); row != rows.values.end(); row += columns) {
      double sum = 0;
      for (Index x = 0; x < columns; ++x) sum += row[x];
      for (Index x = 0; x < columns; ++x) row[x] = sum > 0 ? row[x] / sum : 1.0 / columns;
      sums.push_back(sum);
    }
    std::int64_t largest = std::numeric_limits<std::int64_t>::min();
    for (std::size_t r = 0; r < sums.size(); ++r)
      if (sums[r] > 0) largest = std::max(largest, rows.exponents[r]);
    if (largest == std::numeric_limits<std::int64_t>::min()) return sums;  // all are 0
    for (std::size_t r = 0; r < sums.size(); ++r)
      sums[r] = std::ldexp(sums[r], static_cast<int>(std::max<std::int64_t>(rows.exponents[r] - largest, -4000)));
    log_partition_ += static_cast<double>(largest) * std::numbers::ln2;
    return sums;
  }

  /// \return the first sum: one for each cell over the variables of nodes and of numbers
  Index add_sums(std::vector<Part> const& parts, std::vector<Index> const& of_nodes,
                 std::vector<Index> const& of_numbers, Index variable) {
    auto const rows = static_cast<Index>(Cells(of_numbers, network_.cardinality).count());
    auto const groups = static_cast<Index>(Cells(of_nodes, network_.cardinality).count());
    Index const states = network_.cardinality[static_cast<std::size_t>(variable)];
    CircuitBuilder::Pattern pattern{add_children(parts, of_nodes, variable), {}};
    for (Index g = 0; g < groups; ++g) pattern.blocks.push_back({g * rows, g * states, rows, states, 0});
    return builder_.first_of(builder_.add_sparse_sums(groups * rows, {pattern}));
  }

  /// The variable's inputs, or products of these and of nodes: by cell of the variables of nodes, and state.
  Index add_children(std::vector<Part> const& parts, std::vector<Index> variables, Index variable) {
    variables.push_back(variable);
    Cells const cells(variables, network_.cardinality);
    auto const count = cells.count();
    std::vector<std::vector<Index>> factors;
    for (auto const& part : parts) {
      if (!part.has_nodes()) continue;
      auto& factor = factors.emplace_back();
      for (Offset place : cells.places_in(part.scope, network_.cardinality))
        factor.push_back(part.first_node + static_cast<Index>(place));
    }
    if (variable < num_observed_) {
      Index const inputs = add_inputs(variable);
      if (factors.empty()) return inputs;
      auto& factor = factors.emplace_back();
      Index const states = network_.cardinality[static_cast<std::size_t>(variable)];
      for (Offset i = 0; i < count; ++i) factor.push_back(builder_.first_of(inputs) + static_cast<Index>(i % states));
    }
    return builder_.add_listed_products(static_cast<Index>(count), factors);
  }

  Index add_inputs(Index variable) {
    Index const states = network_.cardinality[static_cast<std::size_t>(variable)];
    if (states > 1) return builder_.add_indicators(variable, InputKind::indicator, states, 0, states);
    parameters_.input.push_back(1);
    return builder_.add_inputs(variable, InputKind::categorical, 1, 1);
  }

  TableNetwork<double> const& network_;
  Index num_observed_;
  CircuitBuilder builder_;
  Parameters parameters_;
  std::vector<Part> parts_;
  std::vector<bool> is_taken_;                               ///< [parts]
  std::vector<std::vector<std::size_t>> parts_of_variable_;  ///< [V]
  double log_partition_ = 0;
};

void require_permutation(std::vector<Index> const& order, Index num_variables) {
  auto sorted = order;
  std::ranges::sort(sorted);
  bool is_permutation = std::ssize(order) == num_variables;
  for (Index v = 0; is_permutation && v < num_variables; ++v) is_permutation = sorted[static_cast<std::size_t>(v)] == v;
  if (!is_permutation)
    throw InputError(fmt::format("an elimination order must have each of {} variables once", num_variables));
}

}  // namespace

NetworkCircuit make_circuit(TableNetwork<double> const& network, std::vector<Index> const& order, Index num_observed) {
  require_permutation(order, network.num_variables());
  if (num_observed < 0 || num_observed > network.num_variables())
    throw InputError(
        fmt::format("{} variables are to be observed; the network has {}", num_observed, network.num_variables()));
  return NetworkCompiler(network, num_observed).compile(order);
}

}  // namespace hornbill::circuit
