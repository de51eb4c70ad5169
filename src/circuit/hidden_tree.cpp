// Circuits of trees of variables.
#include <numeric>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "structure_parts.hpp"

namespace hornbill::circuit {

std::vector<Index> from_leaves_to_root(VariableTree const& tree) {
  auto const count = tree.parents.size();
  std::vector<Index> children(count), order;
  std::size_t roots = 0;
  for (std::size_t v = 0; v < count; ++v) {
    Index const parent = tree.parents[v];
    if (parent < -1 || parent >= static_cast<Index>(count))
      throw InputError(fmt::format("the parent of variable {} is {}; variables are 0 to {}", v, parent, count - 1));
    if (parent < 0)
      ++roots;
    else
      ++children[static_cast<std::size_t>(parent)];
  }
  if (roots != 1) throw InputError(fmt::format("a tree has one root; {} variables have no parent", roots));
  for (std::size_t v = 0; v < count; ++v)
    if (children[v] == 0) order.push_back(static_cast<Index>(v));
  for (std::size_t i = 0; i < order.size(); ++i)
    if (Index const parent = tree.parents[static_cast<std::size_t>(order[i])];
        parent >= 0 && --children[static_cast<std::size_t>(parent)] == 0)
      order.push_back(parent);
  if (order.size() != count) throw InputError("parents of variables go in a circle; they must be a tree");
  return order;
}

Index add_hidden_tree(CircuitBuilder& builder, HiddenTree const& hidden, std::span<Index const> variables,
                      Index num_roots) {
  auto const& parents = hidden.tree.parents;
  require_positive("the number of latent states", hidden.num_latents);
  if (hidden.inputs.size() != parents.size()) throw ShapeError("inputs", parents.size(), hidden.inputs.size());
  std::vector<std::vector<Index>> factors(parents.size());  // of each variable, besides its own input
  Index sums = -1;
  for (Index v : from_leaves_to_root(hidden.tree)) {
    auto& of_variable = factors[static_cast<std::size_t>(v)];
    Index const parent = parents[static_cast<std::size_t>(v)];
    bool const is_leaf = of_variable.empty();
    auto const& input = hidden.inputs[static_cast<std::size_t>(v)];
    refuse_indicators(input);
    of_variable.insert(of_variable.begin(),
                       add_inputs(builder, variables[static_cast<std::size_t>(v)], input, hidden.num_latents));
    if (parent >= 0 && is_leaf && !hidden.has_latent_leaves) {
      factors[static_cast<std::size_t>(parent)].push_back(of_variable.front());
      continue;
    }
    Index const product = builder.add_products(of_variable);
    sums = builder.add_sums(parent < 0 ? num_roots : hidden.num_latents, {product});
    if (parent >= 0) factors[static_cast<std::size_t>(parent)].push_back(sums);
  }
  return sums;  // of the root, which is last
}

Circuit make_circuit(HiddenTree const& hidden) {
  std::vector<Index> variables(hidden.tree.parents.size());
  std::iota(variables.begin(), variables.end(), 0);
  CircuitBuilder builder(static_cast<Index>(variables.size()));
  add_hidden_tree(builder, hidden, variables, 1);
  return std::move(builder).build();
}

namespace {

/// How often each two values of a variable and its parent occur; of the root, how often each value does.
std::vector<double> joint_counts(Samples const& samples, Index variable, Index parent, std::size_t states,
                                 std::size_t parent_states) {
  std::vector<double> counts(states * parent_states);
  for (Offset s = 0; s < samples.size(); ++s) {
    double const x = samples.value(s, variable), y = parent < 0 ? 0 : samples.value(s, parent);
    if (x == x && y == y) ++counts[static_cast<std::size_t>(y) * states + static_cast<std::size_t>(x)];
  }
  return counts;
}

}  // namespace

FittedTree fit_tree(VariableTree const& tree, Samples const& samples, std::vector<Index> const& num_categories,
                    double alpha) {
  auto const& parents = tree.parents;
  if (num_categories.size() != parents.size())
    throw ShapeError("num_categories", parents.size(), num_categories.size());
  FittedTree result;
  CircuitBuilder builder(static_cast<Index>(parents.size()));
  std::vector<std::vector<Index>> factors(parents.size());
  for (Index v : from_leaves_to_root(tree)) {
    auto& of_variable = factors[static_cast<std::size_t>(v)];
    Index const parent = parents[static_cast<std::size_t>(v)], states = num_categories[static_cast<std::size_t>(v)];
    if (states < 2)
      throw InputError(
          fmt::format("variable {} has {} values; a tree without latent variables is of discrete ones with two or more",
                      v, states));
    Index const parent_states = parent < 0 ? 1 : num_categories[static_cast<std::size_t>(parent)];
    of_variable.insert(of_variable.begin(), builder.add_indicators(v, InputKind::indicator, states, 0, states));
    Index const sums = builder.add_sums(parent_states, {builder.add_products(of_variable)});
    if (parent >= 0) factors[static_cast<std::size_t>(parent)].push_back(sums);
    auto const counts =
        joint_counts(samples, v, parent, static_cast<std::size_t>(states), static_cast<std::size_t>(parent_states));
    for (auto row = counts.begin(); row != counts.end(); row += states) {
      double const total = std::accumulate(row, row + states, 0.0) + alpha * states;
      for (Index x = 0; x < states; ++x)
        result.parameters.sum.push_back(total > 0 ? (row[x] + alpha) / total : 1.0 / states);
    }
  }
  result.circuit = std::move(builder).build();
  return result;
}

}  // namespace hornbill::circuit
