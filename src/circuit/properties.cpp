#include <hornbill/circuit/properties.hpp>

#include <algorithm>
#include <map>
#include <numeric>
#include <optional>
#include <span>
#include <unordered_map>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace {

/// Children of a sum node that have a weight.
std::vector<Index> weighted_children(Circuit const& circuit, Parameters const& parameters,
                                     BlocksOfNodes const& of_nodes, Index node) {
  std::vector<Index> children;
  auto const n = static_cast<std::size_t>(node);
  for (auto b = of_nodes.offsets[n]; b < of_nodes.offsets[n + 1]; ++b) {
    auto const& block = circuit.blocks[static_cast<std::size_t>(of_nodes.blocks[static_cast<std::size_t>(b)])];
    for (Index c = 0; c < block.columns; ++c)
      if (parameters.sum[static_cast<std::size_t>(block.parameter + Offset{node - block.sum} * block.columns + c)] > 0)
        children.push_back(block.child + c);
  }
  return children;
}

/// Values that nodes are not 0 for, a bit for each value of each variable.
class Supports {
 public:
  Supports(Circuit const& circuit, Parameters const& parameters, BlocksOfNodes const& of_nodes)
      : circuit_(circuit), parameters_(parameters), of_nodes_(of_nodes) {
    first_.push_back(0);
    for (Index categories : variable_categories(circuit, "the circuit"))
      first_.push_back(first_.back() + words_of_values(categories));
    words_.resize(static_cast<std::size_t>(circuit.num_nodes()) * words_of_node());
    for (auto const& vector : circuit.vectors)
      for (Index i = 0; i < vector.size; ++i) fill(vector, i);
  }

  /// How many bytes it takes.
  static double bytes(Circuit const& circuit) {
    double words = 0;
    for (Index categories : variable_categories(circuit, "the circuit"))
      words += static_cast<double>(words_of_values(categories));
    return 8 * words * circuit.num_nodes();
  }

  /// Whether some variable has no value that both nodes allow.
  bool are_exclusive(Index a, Index b) const {
    auto const of_a = of(a), of_b = of(b);
    for (std::size_t v = 0; v + 1 < first_.size(); ++v) {
      std::uint64_t common = 0, some = 0;
      for (auto w = first_[v]; w < first_[v + 1]; ++w) {
        common |= of_a[w] & of_b[w];
        some |= of_a[w] | of_b[w];
      }
      if (some != 0 && common == 0) return true;
    }
    return false;
  }

  std::size_t words_of_node() const { return first_.back(); }

 private:
  static std::size_t words_of_values(Index categories) {
    return (static_cast<std::size_t>(std::max(categories, 1)) + 63) / 64;
  }
  std::span<std::uint64_t> of(Index node) {
    return std::span(words_).subspan(static_cast<std::size_t>(node) * words_of_node(), words_of_node());
  }
  std::span<std::uint64_t const> of(Index node) const {
    return std::span(words_).subspan(static_cast<std::size_t>(node) * words_of_node(), words_of_node());
  }

  void fill(NodeVector const& vector, Index i) {
    auto const support = of(vector.first + i);
    auto const add = [&](Index child) {
      auto const of_child = of(child);
      for (std::size_t w = 0; w < support.size(); ++w) support[w] |= of_child[w];
    };
    switch (vector.kind) {
      case NodeKind::input: return fill_input(circuit_.input_of(vector), i, support);
      case NodeKind::product:
        for (auto const& factor : circuit_.factors_of(vector)) add(circuit_.factor_of(factor, i));
        return;
      case NodeKind::sum:
        for (Index child : weighted_children(circuit_, parameters_, of_nodes_, vector.first + i)) add(child);
        return;
    }
  }

  void fill_input(InputDistributions const& input, Index i, std::span<std::uint64_t> support) const {
    auto const first = first_[static_cast<std::size_t>(input.variable)];
    auto const allow = [&](Index c) {
      support[first + static_cast<std::size_t>(c) / 64] |= std::uint64_t{1} << (c % 64);
    };
    auto const parameter = [&](Index k) {
      return parameters_.input[static_cast<std::size_t>(
          input.parameter + Offset{i} * num_parameters(input.kind, input.num_categories) + k)];
    };
    if (is_indicator(input.kind)) return allow(input.first_value + i);
    if (!is_discrete(input.kind)) return allow(0);
    for (Index c = 0; c < input.num_categories; ++c) {
      bool const is_first = c == 0, is_last = c == input.num_categories - 1;
      bool const is_possible = input.kind == InputKind::categorical ? parameter(c) > 0
                               : input.kind == InputKind::discretised_logistic
                                   ? true
                                   : (parameter(0) > 0 || is_first) && (parameter(0) < 1 || is_last);
      if (is_possible) allow(c);
    }
  }

  Circuit const& circuit_;
  Parameters const& parameters_;
  BlocksOfNodes const& of_nodes_;
  std::vector<std::size_t> first_;  ///< [num_variables + 1] word of each variable
  std::vector<std::uint64_t> words_;
};

/// Whether an input of the circuit is 0 for some value.
bool has_zeros(Circuit const& circuit, Parameters const& parameters) {
  return std::ranges::any_of(circuit.inputs, [](auto const& input) { return is_indicator(input.kind); }) ||
         std::ranges::any_of(parameters.input, [](double p) { return p == 0 || p == 1; });
}

}  // namespace

std::optional<Index> first_unstructured_product(Circuit const& circuit, Scopes const& scopes) {
  std::unordered_map<Index, std::vector<Index>> division_of;  // of a scope, into those of factors
  for (std::size_t v = 0; v < circuit.vectors.size(); ++v) {
    auto const& vector = circuit.vectors[v];
    if (vector.kind != NodeKind::product || vector.end - vector.begin == 1) continue;
    std::vector<Index> division;
    for (auto const& factor : circuit.factors_of(vector))
      division.push_back(scopes.of_vector[static_cast<std::size_t>(circuit.vector_of(circuit.factor_of(factor, 0)))]);
    std::sort(division.begin(), division.end());
    auto const [known, is_new] = division_of.try_emplace(scopes.of_vector[v], division);
    if (!is_new && known->second != division) return vector.first;
  }
  return std::nullopt;
}

BlocksOfNodes blocks_by_node(Circuit const& circuit) {
  BlocksOfNodes result{std::vector<Offset>(static_cast<std::size_t>(circuit.num_nodes()) + 1), {}};
  for (auto const& block : circuit.blocks)
    for (Index r = 0; r < block.rows; ++r)
      ++result.offsets[static_cast<std::size_t>(block.sum) + static_cast<std::size_t>(r) + 1];
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  result.blocks.resize(static_cast<std::size_t>(result.offsets.back()));
  auto next = result.offsets;
  for (std::size_t b = 0; b < circuit.blocks.size(); ++b)
    for (Index r = 0; r < circuit.blocks[b].rows; ++r) {
      auto const node = static_cast<std::size_t>(circuit.blocks[b].sum) + static_cast<std::size_t>(r);
      result.blocks[static_cast<std::size_t>(next[node]++)] = static_cast<Index>(b);
    }
  return result;
}

Determinism find_determinism(Circuit const& circuit, Parameters const& parameters, std::size_t max_bytes) {
  using State = Determinism::State;
  constexpr double max_work = 0x1p32;  // words that are compared
  double work = 0;
  auto const of_nodes = blocks_by_node(circuit);
  std::optional<Supports> supports;
  bool const some_zeros = has_zeros(circuit, parameters);
  for (auto const& vector : circuit.vectors)
    for (Index i = 0; vector.kind == NodeKind::sum && i < vector.size; ++i) {
      Index const node = vector.first + i;
      auto const children = weighted_children(circuit, parameters, of_nodes, node);
      if (children.size() < 2) continue;
      if (!some_zeros) return {State::not_shown, node};
      if (!supports) {
        if (Supports::bytes(circuit) > static_cast<double>(max_bytes)) return {State::not_examined, -1};
        supports.emplace(circuit, parameters, of_nodes);
      }
      auto const count = static_cast<double>(children.size());
      work += count * count / 2 * static_cast<double>(supports->words_of_node());
      if (work > max_work) return {State::not_examined, -1};
      for (std::size_t a = 0; a < children.size(); ++a)
        for (std::size_t b = 0; b < a; ++b)
          if (!supports->are_exclusive(children[a], children[b])) return {State::not_shown, node};
    }
  return {};
}

std::vector<Index> variable_categories(Circuit const& circuit, std::string const& where) {
  std::vector<Index> categories(static_cast<std::size_t>(circuit.num_variables), -1);
  for (auto const& input : circuit.inputs) {
    Index& known = categories[static_cast<std::size_t>(input.variable)];
    if (known >= 0 && known != input.num_categories)
      throw InputError(where, "",
                       fmt::format("two inputs of variable {} have {} and {} categories (0: real numbers)",
                                   circuit.name_of_variable(input.variable), known, input.num_categories));
    known = input.num_categories;
  }
  return categories;
}

namespace {

Index count_unreachable(Circuit const& circuit) {
  std::vector<bool> is_reached(static_cast<std::size_t>(circuit.num_nodes()));
  is_reached.back() = true;
  for (auto v = circuit.vectors.rbegin(); v != circuit.vectors.rend(); ++v) {
    auto const is_any_reached = [&](Index first, Index count) {
      return std::any_of(is_reached.begin() + first, is_reached.begin() + first + count, [](bool b) { return b; });
    };
    if (v->kind == NodeKind::product)
      for (Index i = 0; i < v->size; ++i)
        for (auto const& factor : circuit.factors_of(*v))
          if (is_reached[static_cast<std::size_t>(v->first + i)])
            is_reached[static_cast<std::size_t>(circuit.factor_of(factor, i))] = true;
    if (v->kind == NodeKind::sum)
      for (auto const& block : circuit.blocks_of(*v))
        if (is_any_reached(block.sum, block.rows)) std::fill_n(is_reached.begin() + block.child, block.columns, true);
  }
  return static_cast<Index>(std::count(is_reached.begin(), is_reached.end(), false));
}

Offset count_input_parameters(Circuit const& circuit) {
  std::map<Offset, Offset> by_first;
  for (auto const& vector : circuit.vectors)
    if (vector.kind == NodeKind::input) {
      auto const& input = circuit.input_of(vector);
      if (Index const count = num_parameters(input.kind, input.num_categories); count > 0)
        by_first[input.parameter] = Offset{vector.size} * count;
    }
  Offset sum = 0;
  for (auto const& [first, count] : by_first) sum += count;
  return sum;
}

}  // namespace

Statistics statistics_of(Circuit const& circuit) {
  Statistics result;
  std::vector<Index> depth;  // of vectors
  auto const depth_of = [&](Index node) { return depth[static_cast<std::size_t>(circuit.vector_of(node))]; };
  auto const owners = distribution_owners(circuit, "the circuit");
  for (auto const& vector : circuit.vectors) {
    Index below = -1;
    switch (vector.kind) {
      case NodeKind::input: result.inputs += vector.size; break;
      case NodeKind::product:
        result.products += vector.size;
        result.product_edges += (vector.end - vector.begin) * vector.size;
        for (auto const& factor : circuit.factors_of(vector))
          below = std::max(below, depth_of(circuit.factor_of(factor, 0)));
        break;
      case NodeKind::sum:
        result.sums += vector.size;
        for (auto const& block : circuit.blocks_of(vector)) {
          auto const edges = Offset{block.rows} * block.columns;
          result.sum_edges += edges;
          below = std::max(below, depth_of(block.child));
          for (Index r = 0; r < block.rows; ++r)
            if (owners[static_cast<std::size_t>(block.sum + r)] == block.sum + r) result.parameters += block.columns;
        }
        for (Index i = 0; i < vector.size; ++i)
          result.distributions += owners[static_cast<std::size_t>(vector.first + i)] == vector.first + i;
        break;
    }
    depth.push_back(below + 1);
  }
  result.parameters += count_input_parameters(circuit);
  result.depth = depth.back();
  result.unreachable = count_unreachable(circuit);
  return result;
}

}  // namespace hornbill::circuit
