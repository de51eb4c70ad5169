#include <hornbill/circuit/structures.hpp>

#include <algorithm>
#include <numeric>
#include <string>

#include <fmt/format.h>

#include <hornbill/circuit/builder.hpp>
#include <hornbill/error.hpp>

#include "../graph/random.hpp"

namespace hornbill::circuit {
namespace {

void require_positive(char const* name, std::int64_t value) {
  if (value < 1) throw InputError(fmt::format("{} is {}; it must be at least 1", name, value));
}

Index add_inputs(CircuitBuilder& builder, Index variable, InputChoice const& choice, Index size) {
  return is_indicator(choice.kind)
             ? builder.add_indicators(variable, choice.kind, choice.num_categories, 0, choice.num_categories)
             : builder.add_inputs(variable, choice.kind, choice.num_categories, size, choice.min_scale);
}

void refuse_indicators(InputChoice const& choice) {
  if (is_indicator(choice.kind))
    throw InputError(fmt::format("inputs of this structure are distributions, not of kind {}", name_of(choice.kind)));
}

}  // namespace

Circuit make_circuit(HiddenMarkovModel const& model) {
  require_positive("the number of steps", model.num_steps);
  require_positive("the number of states", model.num_states);
  refuse_indicators(model.emission);
  CircuitBuilder builder(model.num_steps);
  Index last = -1, transitions = -1, emissions = -1;
  for (Index t = model.num_steps - 1; t >= 0; --t) {
    bool const is_tied = model.is_homogeneous && emissions >= 0;
    emissions =
        is_tied ? builder.add_tied_inputs(t, emissions) : add_inputs(builder, t, model.emission, model.num_states);
    if (last < 0) {
      last = builder.add_products({emissions});
      continue;
    }
    transitions = model.is_homogeneous && transitions >= 0 ? builder.add_tied_sums(transitions, {last})
                                                           : builder.add_sums(model.num_states, {last});
    last = builder.add_products({emissions, transitions});
  }
  builder.add_sums(1, {last});
  return std::move(builder).build();
}

namespace {

class RandomTensorBuilder {
 public:
  explicit RandomTensorBuilder(RandomTensorNetwork const& network)
      : network_(network), builder_(network.num_variables), random_(network.seed) {}

  Circuit build() && {
    for (Index v = 0; v < network_.num_variables; ++v)
      inputs_.push_back(add_inputs(builder_, v, network_.input, network_.num_latents));
    std::vector<Index> roots;
    for (Index r = 0; r < network_.num_repetitions; ++r) roots.push_back(product_over(inputs_, 0));
    builder_.add_sums(1, roots);
    return std::move(builder_).build();
  }

 private:
  /// \param inputs  of the variables
  Index product_over(std::vector<Index> inputs, Index depth) {
    auto const parts = static_cast<std::size_t>(network_.num_parts);
    if (depth >= network_.depth || inputs.size() < parts || inputs.size() < 2) return builder_.add_products(inputs);
    random_.shuffle(inputs);
    std::vector<Index> factors;
    for (std::size_t p = 0, begin = 0; p < parts; ++p) {
      auto const size = inputs.size() / parts + (p < inputs.size() % parts ? 1 : 0);
      auto const first = inputs.begin() + static_cast<std::ptrdiff_t>(begin);
      factors.push_back(builder_.add_sums(
          network_.num_latents, {product_over({first, first + static_cast<std::ptrdiff_t>(size)}, depth + 1)}));
      begin += size;
    }
    return builder_.add_products(factors);
  }

  RandomTensorNetwork const& network_;
  CircuitBuilder builder_;
  Random random_;
  std::vector<Index> inputs_;
};

}  // namespace

Circuit make_circuit(RandomTensorNetwork const& network) {
  require_positive("the number of variables", network.num_variables);
  require_positive("the number of latent states", network.num_latents);
  require_positive("the number of repetitions", network.num_repetitions);
  if (network.depth < 0) throw InputError(fmt::format("the depth is {}; it must be at least 0", network.depth));
  if (network.num_parts < 2)
    throw InputError(fmt::format("variables are divided into {} parts; it must be at least 2", network.num_parts));
  refuse_indicators(network.input);
  return RandomTensorBuilder(network).build();
}

namespace {

/// Variables, each behind all of its children.   \throws InputError where parents are not a tree
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

}  // namespace

Circuit make_circuit(HiddenTree const& hidden) {
  auto const& parents = hidden.tree.parents;
  require_positive("the number of latent states", hidden.num_latents);
  if (hidden.inputs.size() != parents.size()) throw ShapeError("inputs", parents.size(), hidden.inputs.size());
  CircuitBuilder builder(static_cast<Index>(parents.size()));
  std::vector<std::vector<Index>> factors(parents.size());  // of each variable, besides its own input
  for (Index v : from_leaves_to_root(hidden.tree)) {
    auto& of_variable = factors[static_cast<std::size_t>(v)];
    Index const parent = parents[static_cast<std::size_t>(v)];
    bool const is_leaf = of_variable.empty();
    refuse_indicators(hidden.inputs[static_cast<std::size_t>(v)]);
    of_variable.insert(of_variable.begin(),
                       add_inputs(builder, v, hidden.inputs[static_cast<std::size_t>(v)], hidden.num_latents));
    if (parent >= 0 && is_leaf && !hidden.has_latent_leaves) {
      factors[static_cast<std::size_t>(parent)].push_back(of_variable.front());
      continue;
    }
    Index const product = builder.add_products(of_variable);
    Index const sums = builder.add_sums(parent < 0 ? 1 : hidden.num_latents, {product});
    if (parent >= 0) factors[static_cast<std::size_t>(parent)].push_back(sums);
  }
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
