// Distributions of sum nodes: which are tied, and whether their parameters are sound.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include <fmt/format.h>

#include <hornbill/circuit/circuit.hpp>
#include <hornbill/circuit/distributions.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace {

/// A row of a block: parameters in a row of a sum node.
struct ParameterRow {
  Offset parameter;
  Index sum, columns;
};

/// Calls function(row) for all rows of a vector's blocks.
template <class Function>
void for_each_row(Circuit const& circuit, NodeVector const& vector, Function const& function) {
  for (auto const& block : circuit.blocks_of(vector)) {
    for (Index r = 0; r < block.rows; ++r)
      function(ParameterRow{block.parameter + Offset{r} * block.columns, block.sum + r, block.columns});
  }
}

/// Rows by node: those of each in ascending order of parameters.
struct ParameterRows {
  std::vector<Offset> offsets;  ///< [size of the vector + 1]
  std::vector<ParameterRow> of_node;
};
ParameterRows rows_of_parameters(Circuit const& circuit, NodeVector const& vector) {
  ParameterRows result{std::vector<Offset>(static_cast<std::size_t>(vector.size) + 1), {}};
  for_each_row(circuit, vector, [&](ParameterRow const& s) { ++result.offsets[s.sum - vector.first + 1]; });
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  result.of_node.resize(static_cast<std::size_t>(result.offsets.back()));
  auto next = result.offsets;
  for_each_row(circuit, vector, [&](ParameterRow const& s) { result.of_node[next[s.sum - vector.first]++] = s; });
  for (Index i = 0; i < vector.size; ++i)
    std::sort(result.of_node.begin() + result.offsets[i], result.of_node.begin() + result.offsets[i + 1],
              [](ParameterRow const& a, ParameterRow const& b) { return a.parameter < b.parameter; });
  return result;
}

/// Finds distributions that are tied, from the first node to the last.
class OwnerFinder {
 public:
  OwnerFinder(Circuit const& circuit, std::string const& where) : circuit_(circuit), where_(where) {}

  std::vector<Index> find() && {
    std::vector<Index> owners(static_cast<std::size_t>(circuit_.num_nodes()), -1);
    node_of_parameter_.assign(static_cast<std::size_t>(circuit_.num_sum_parameters), -1);
    for (auto const& vector : circuit_.vectors) {
      if (vector.kind != NodeKind::sum) continue;
      auto const rows = rows_of_parameters(circuit_, vector);
      for (Index i = 0; i < vector.size; ++i)
        owners[static_cast<std::size_t>(vector.first + i)] =
            owner_of(vector.first + i, std::span(rows.of_node)
                                           .subspan(static_cast<std::size_t>(rows.offsets[i]),
                                                    static_cast<std::size_t>(rows.offsets[i + 1] - rows.offsets[i])));
    }
    return owners;
  }

 private:
  Index owner_of(Index node, std::span<ParameterRow const> rows) {
    for (std::size_t s = 1; s < rows.size(); ++s)
      if (rows[s].parameter < rows[s - 1].parameter + rows[s - 1].columns)
        fail(fmt::format("sum node {} has the parameter {} for two of its edges; each edge of a node needs its own",
                         node, rows[s].parameter));
    Index const owner = node_of(rows.front().parameter);
    Offset count = 0;
    for (auto const& row : rows)
      for (Index c = 0; c < row.columns; ++c, ++count) {
        Index& known = node_of(row.parameter + c);
        if (known != owner) fail_on_part(node, std::max(known, owner), row.parameter + c);
        if (owner < 0) known = node;
      }
    if (owner < 0) {
      if (static_cast<std::size_t>(node) >= counts_.size()) counts_.resize(static_cast<std::size_t>(node) + 1);
      counts_[static_cast<std::size_t>(node)] = count;
      return node;
    }
    if (counts_[static_cast<std::size_t>(owner)] != count) fail_on_part(node, owner, rows.front().parameter);
    return owner;
  }

  Index& node_of(Offset parameter) { return node_of_parameter_[static_cast<std::size_t>(parameter)]; }

  [[noreturn]] void fail_on_part(Index node, Index other, Offset parameter) const {
    fail(
        fmt::format("the sum nodes {} and {} have some parameters in common, such as {}, but not all: whole "
                    "distributions can be tied",
                    other, node, parameter));
  }
  [[noreturn]] void fail(std::string const& message) const { throw InputError(where_, "", message); }

  Circuit const& circuit_;
  std::string const& where_;
  std::vector<Index> node_of_parameter_;  ///< the first that has it, or -1
  std::vector<Offset> counts_;            ///< parameters of a node that ties none before it
};

/// Checks parameters of distributions.
class ParameterCheck {
 public:
  ParameterCheck(Circuit const& circuit, Parameters const& parameters, std::string const& where)
      : circuit_(circuit), parameters_(parameters), where_(where) {}

  void run() {
    require_size("sum", circuit_.num_sum_parameters, parameters_.sum.size());
    require_size("input", circuit_.num_input_parameters, parameters_.input.size());
    for (auto const& vector : circuit_.vectors)
      if (vector.kind == NodeKind::sum)
        check_sums(vector);
      else if (vector.kind == NodeKind::input)
        check_inputs(vector, circuit_.input_of(vector));
  }

 private:
  void require_size(char const* kind, Offset expected, std::size_t actual) {
    if (static_cast<std::size_t>(expected) != actual)
      fail(fmt::format("the circuit has {} parameters of {}s; {} are given", expected, kind, actual));
  }

  void check_sums(NodeVector const& vector) {
    std::vector<double> sums(static_cast<std::size_t>(vector.size));
    for_each_row(circuit_, vector, [&](ParameterRow const& row) {
      double sum = 0;
      for (Index c = 0; c < row.columns; ++c) sum += weight("sum", row.sum, row.parameter + c, parameters_.sum);
      sums[static_cast<std::size_t>(row.sum - vector.first)] += sum;
    });
    for (Index i = 0; i < vector.size; ++i)
      require_normalised("sum", vector.first + i, sums[static_cast<std::size_t>(i)]);
  }

  void check_inputs(NodeVector const& vector, InputDistributions const& input) {
    Index const count = num_parameters(input.kind, input.num_categories);
    for (Index i = 0; i < vector.size; ++i) {
      Index const node = vector.first + i;
      Offset const first = input.parameter + Offset{i} * count;
      if (input.kind == InputKind::categorical) {
        double sum = 0;
        for (Index c = 0; c < count; ++c) sum += weight("input", node, first + c, parameters_.input);
        require_normalised("input", node, sum);
      } else if (has_scale(input.kind)) {
        check_scale(node, input, first);
      } else if (count == 1 && weight("input", node, first, parameters_.input) > 1) {
        fail(fmt::format("parameter {} of input node {} is {}; a probability is at most 1", first, node,
                         parameters_.input[static_cast<std::size_t>(first)]));
      }
    }
  }

  void check_scale(Index node, InputDistributions const& input, Offset first) {
    double const mean = parameters_.input[static_cast<std::size_t>(first)];
    double const scale = parameters_.input[static_cast<std::size_t>(first) + 1];
    if (!std::isfinite(mean)) fail(fmt::format("the mean of input node {}, parameter {}, is {}", node, first, mean));
    if (!std::isfinite(scale) || scale <= 0 || scale < input.min_scale)
      fail(fmt::format("the {} of input node {}, parameter {}, is {}; it must be more than 0, and at least {}",
                       input.kind == InputKind::gaussian ? "sigma" : "scale", node, first + 1, scale, input.min_scale));
  }

  double weight(char const* kind, Index node, Offset parameter, std::vector<double> const& of) const {
    double const value = of[static_cast<std::size_t>(parameter)];
    if (!std::isfinite(value) || value < 0)
      fail(fmt::format("parameter {} of {} node {} is {}; it must be a number of at least 0", parameter, kind, node,
                       value));
    return value;
  }

  void require_normalised(char const* kind, Index node, double sum) const {
    if (sum == 0) fail(fmt::format("the parameters of {} node {} are all 0", kind, node));
    if (std::abs(sum - 1) > normalisation_tolerance)
      fail(fmt::format("the parameters of {} node {} add to {}, not to 1; divide them by their sum", kind, node, sum));
  }
  [[noreturn]] void fail(std::string const& message) const { throw InputError(where_, "", message); }

  Circuit const& circuit_;
  Parameters const& parameters_;
  std::string const& where_;
};

void check_tied_inputs(Circuit const& circuit, std::string const& where) {
  std::vector<NodeVector const*> by_parameter;
  auto const of = [&](NodeVector const* v) -> InputDistributions const& { return circuit.input_of(*v); };
  for (auto const& vector : circuit.vectors)
    if (vector.kind == NodeKind::input && num_parameters(of(&vector).kind, of(&vector).num_categories) > 0)
      by_parameter.push_back(&vector);
  std::stable_sort(by_parameter.begin(), by_parameter.end(),
                   [&](auto const* a, auto const* b) { return of(a).parameter < of(b).parameter; });
  for (std::size_t i = 1; i < by_parameter.size(); ++i) {
    auto const &a = *by_parameter[i - 1], &b = *by_parameter[i];
    auto const &of_a = of(&a), &of_b = of(&b);
    bool const is_tied = of_a.parameter == of_b.parameter;
    if (is_tied && (of_a.kind != of_b.kind || of_a.num_categories != of_b.num_categories || a.size != b.size ||
                    of_a.min_scale != of_b.min_scale))
      throw InputError(
          where, "",
          fmt::format("the input nodes from {} and from {} on are tied, but are not of one kind, number of "
                      "categories and size",
                      a.first, b.first));
    if (!is_tied && of_b.parameter < of_a.parameter + Offset{a.size} * num_parameters(of_a.kind, of_a.num_categories))
      throw InputError(
          where, "",
          fmt::format("the input nodes from {} and from {} on have some parameters in common, such as {}, but "
                      "not all: whole vectors of inputs can be tied",
                      a.first, b.first, of_b.parameter));
  }
}

}  // namespace

std::vector<Index> distribution_owners(Circuit const& circuit, std::string const& where) {
  check_tied_inputs(circuit, where);
  return OwnerFinder(circuit, where).find();
}

void validate(Circuit const& circuit, Parameters const& parameters, std::string const& where) {
  ParameterCheck(circuit, parameters, where).run();
}

HostDistributions sum_distributions(Circuit const& circuit) {
  auto const owners = distribution_owners(circuit, "the circuit");
  HostDistributions result;
  for (auto const& vector : circuit.vectors) {
    if (vector.kind != NodeKind::sum) continue;
    auto const rows = rows_of_parameters(circuit, vector);
    for (Index i = 0; i < vector.size; ++i) {
      if (owners[static_cast<std::size_t>(vector.first + i)] != vector.first + i) continue;
      auto const begin = std::ssize(result.ranges);
      for (auto r = rows.offsets[i]; r < rows.offsets[i + 1]; ++r) {
        auto const& row = rows.of_node[r];
        bool const is_behind = std::ssize(result.ranges) > begin &&
                               result.ranges.back().first + result.ranges.back().count == row.parameter;
        if (is_behind)
          result.ranges.back().count += row.columns;
        else
          result.ranges.push_back({row.parameter, row.columns});
      }
      result.distributions.push_back({begin, std::ssize(result.ranges)});
    }
  }
  return result;
}

}  // namespace hornbill::circuit
