#include <hornbill/circuit/structures.hpp>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "../graph/random.hpp"
#include "structure_parts.hpp"

namespace hornbill::circuit {

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

}  // namespace hornbill::circuit
