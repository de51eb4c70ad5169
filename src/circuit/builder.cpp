#include <hornbill/circuit/builder.hpp>

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace {

Offset count_of(auto const& entries) { return std::ssize(entries); }

}  // namespace

Index CircuitBuilder::add_vector(NodeKind kind, Index size, Offset begin, Offset end) {
  if (size < 1) throw ShapeError("nodes of a vector", 1, 0);
  if (size > std::numeric_limits<Index>::max() - circuit_.num_nodes())
    throw CapacityError(fmt::format("the circuit needs more than {} nodes", std::numeric_limits<Index>::max()));
  circuit_.vectors.push_back({kind, circuit_.num_nodes(), size, begin, end});
  return circuit_.num_vectors() - 1;
}

Index CircuitBuilder::add_inputs(Index variable, InputKind kind, Index num_categories, Index size, double min_scale) {
  circuit_.inputs.push_back(
      {variable, kind, num_categories, 0, circuit_.num_input_parameters, has_scale(kind) ? min_scale : 0});
  circuit_.num_input_parameters += Offset{size} * num_parameters(kind, num_categories);
  return add_vector(NodeKind::input, size, count_of(circuit_.inputs) - 1, count_of(circuit_.inputs));
}

Index CircuitBuilder::add_tied_inputs(Index variable, Index like) {
  auto const& vector = circuit_.vectors.at(static_cast<std::size_t>(like));
  if (vector.kind != NodeKind::input) throw InputError(fmt::format("vector {} is not one of inputs", like));
  auto input = circuit_.input_of(vector);
  input.variable = variable;
  circuit_.inputs.push_back(input);
  return add_vector(NodeKind::input, vector.size, count_of(circuit_.inputs) - 1, count_of(circuit_.inputs));
}

Index CircuitBuilder::add_indicators(Index variable, InputKind kind, Index num_categories, Index first_value,
                                     Index size) {
  if (!is_indicator(kind)) throw InputError(fmt::format("{} is not an indicator", name_of(kind)));
  circuit_.inputs.push_back({variable, kind, num_categories, first_value, circuit_.num_input_parameters});
  return add_vector(NodeKind::input, size, count_of(circuit_.inputs) - 1, count_of(circuit_.inputs));
}

Index CircuitBuilder::add_products(std::span<Index const> children) {
  Index size = 1;
  for (Index child : children) size = std::max(size, size_of(child));
  auto const begin = count_of(circuit_.factors);
  for (Index child : children) {
    if (size_of(child) != size && size_of(child) != 1)
      throw ShapeError(fmt::format("nodes of vector {}, a factor", child), static_cast<std::size_t>(size),
                       static_cast<std::size_t>(size_of(child)));
    circuit_.factors.push_back({first_of(child), size_of(child) == size ? 1 : 0});
  }
  return add_vector(NodeKind::product, size, begin, count_of(circuit_.factors));
}

Index CircuitBuilder::add_listed_products(Index size, std::vector<std::vector<Index>> const& factors) {
  if (size < 1) throw ShapeError("nodes of a vector", 1, 0);
  auto const begin = count_of(circuit_.factors);
  for (auto const& factor : factors) {
    if (std::ssize(factor) != size)
      throw ShapeError("nodes of a factor", static_cast<std::size_t>(size), factor.size());
    circuit_.factors.push_back({factor.front(), 1, count_of(circuit_.factor_children)});
    circuit_.factor_children.insert(circuit_.factor_children.end(), factor.begin(), factor.end());
  }
  return add_vector(NodeKind::product, size, begin, count_of(circuit_.factors));
}

Index CircuitBuilder::add_sums(Index size, std::span<Index const> children) {
  std::vector<Pattern> patterns;
  for (Index child : children) patterns.push_back({child, {{0, 0, size, size_of(child), 0}}});
  return add_sparse_sums(size, patterns);
}

Index CircuitBuilder::add_tied_sums(Index like, std::span<Index const> children) {
  auto const& vector = circuit_.vectors.at(static_cast<std::size_t>(like));
  if (vector.kind != NodeKind::sum) throw InputError(fmt::format("vector {} is not one of sums", like));
  auto const first = circuit_.num_nodes(), size = vector.size, old_first = vector.first;
  auto const begin = count_of(circuit_.blocks), old_begin = vector.begin, old_end = vector.end;
  std::vector<Index> old_children;  // in order of their first use
  for (auto b = old_begin; b < old_end; ++b)
    if (Index const child = circuit_.vector_of(circuit_.blocks[static_cast<std::size_t>(b)].child);
        std::find(old_children.begin(), old_children.end(), child) == old_children.end())
      old_children.push_back(child);
  if (old_children.size() != children.size())
    throw ShapeError("children of tied sums", old_children.size(), children.size());
  for (auto b = old_begin; b < old_end; ++b) {
    auto block = circuit_.blocks[static_cast<std::size_t>(b)];
    auto const old_child = circuit_.vector_of(block.child);
    auto const child = children[static_cast<std::size_t>(
        std::find(old_children.begin(), old_children.end(), old_child) - old_children.begin())];
    if (size_of(child) != size_of(old_child))
      throw ShapeError(fmt::format("nodes of vector {}, a child of tied sums", child),
                       static_cast<std::size_t>(size_of(old_child)), static_cast<std::size_t>(size_of(child)));
    block.sum += first - old_first;
    block.child += first_of(child) - first_of(old_child);
    circuit_.blocks.push_back(block);
  }
  return add_vector(NodeKind::sum, size, begin, count_of(circuit_.blocks));
}

Index CircuitBuilder::add_sparse_sums(Index size, std::vector<Pattern> const& patterns) {
  auto const begin = count_of(circuit_.blocks);
  for (auto const& [child, blocks] : patterns)
    for (auto block : blocks) {
      block.sum += circuit_.num_nodes();
      block.child += first_of(child);
      block.parameter = circuit_.num_sum_parameters;
      circuit_.num_sum_parameters += Offset{block.rows} * block.columns;
      circuit_.blocks.push_back(block);
    }
  return add_vector(NodeKind::sum, size, begin, count_of(circuit_.blocks));
}

Circuit CircuitBuilder::build() && {
  validate(circuit_, "the circuit");
  return std::move(circuit_);
}

}  // namespace hornbill::circuit
