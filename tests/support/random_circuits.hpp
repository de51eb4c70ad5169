// Random circuits of all kinds of inputs and edges, and samples of them.
#pragma once

#include <algorithm>
#include <cmath>
#include <map>
#include <random>
#include <utility>
#include <vector>

#include <hornbill/circuit.hpp>

namespace hornbill::test {

struct RandomCircuit {
  circuit::Circuit circuit;
  circuit::Parameters parameters;
};

/// What random circuits are made of.
struct CircuitOptions {
  bool real_values = false;  ///< Gaussians too
  double zeros = 0;          ///< share of the parameters that are 0
  Index largest_vector = 4;
};

/// Divides the variables again and again; each set of variables has one or two sums, which share products.
class CircuitGenerator {
 public:
  CircuitGenerator(unsigned seed, Index num_variables, CircuitOptions options)
      : random_(seed), options_(options), builder_(num_variables) {
    for (Index v = 0; v < num_variables; ++v) {
      auto const kind = static_cast<circuit::InputKind>(below(static_cast<Index>(circuit::num_input_kinds)));
      kinds_.push_back(kind == circuit::InputKind::gaussian && !options.real_values ? circuit::InputKind::categorical
                                                                                    : kind);
      bool const is_boolean =
          kinds_.back() == circuit::InputKind::bernoulli || kinds_.back() == circuit::InputKind::literal;
      categories_.push_back(kinds_.back() == circuit::InputKind::gaussian ? 0 : is_boolean ? 2 : 2 + below(3));
    }
  }

  RandomCircuit make() && {
    std::vector<Index> all;
    for (std::size_t v = 0; v < kinds_.size(); ++v) all.push_back(static_cast<Index>(v));
    auto const children = products_over(all);
    builder_.add_sums(1, children);
    RandomCircuit result{std::move(builder_).build(), {}};
    result.parameters = circuit::initial_parameters(result.circuit, random_());
    set_zeros(result);
    return result;
  }

 private:
  Index below(Index n) { return static_cast<Index>(random_() % static_cast<unsigned>(n)); }
  Index a_size() { return 1 + below(options_.largest_vector); }

  /// Vectors that sums over these variables may have as children.
  std::vector<Index> products_over(std::vector<Index> variables) {
    std::vector<Index> result;
    if (variables.size() == 1) {
      result.push_back(input(variables.front()));
      if (below(2) == 0) result.push_back(input(variables.front()));
      return result;
    }
    for (Index division = 0; division < 1 + below(2); ++division) {
      std::shuffle(variables.begin(), variables.end(), random_);
      auto const parts = std::min<std::size_t>(variables.size(), 2 + static_cast<std::size_t>(below(2)));
      std::vector<Index> factors;
      for (std::size_t p = 0; p < parts; ++p) {
        auto const begin = variables.size() * p / parts, end = variables.size() * (p + 1) / parts;
        factors.push_back(sum_over({variables.begin() + static_cast<std::ptrdiff_t>(begin),
                                    variables.begin() + static_cast<std::ptrdiff_t>(end)}));
      }
      result.push_back(product_of(factors));
      if (below(3) == 0) result.push_back(builder_.add_products({result.back()}));  // a product of products
    }
    return result;
  }

  Index product_of(std::vector<Index> const& factors) {
    Index const size = a_size();
    std::vector<std::vector<Index>> lists;
    for (Index f : factors) {
      auto& list = lists.emplace_back();
      for (Index i = 0; i < size; ++i) list.push_back(builder_.first_of(f) + below(builder_.size_of(f)));
    }
    bool const is_aligned =
        std::ranges::all_of(factors, [&](Index f) { return builder_.size_of(f) == builder_.size_of(factors.front()); });
    return is_aligned && below(3) > 0 ? builder_.add_products(factors) : builder_.add_listed_products(size, lists);
  }

  Index sum_over(std::vector<Index> const& variables) {
    auto const children = products_over(variables);
    if (variables.size() == 1 && children.size() == 1 && below(2) == 0) return children.front();
    Index const size = a_size();
    if (below(3) > 0) {
      Index const sums = builder_.add_sums(size, children);
      return below(4) > 0 ? sums : builder_.add_tied_sums(sums, children);
    }
    std::vector<circuit::CircuitBuilder::Pattern> patterns;
    for (Index child : children) {
      auto& pattern = patterns.emplace_back(child, std::vector<circuit::EdgeBlock>{});
      for (Index i = 0; i < size; ++i)
        for (Index c = 0; c < builder_.size_of(child); ++c)
          if (below(3) > 0 || c == 0) pattern.blocks.push_back({i, c, 1, 1, 0});
    }
    return builder_.add_sparse_sums(size, patterns);
  }

  Index input(Index variable) {
    auto const v = static_cast<std::size_t>(variable);
    if (circuit::is_indicator(kinds_[v]))
      return builder_.add_indicators(variable, kinds_[v], categories_[v], 0, categories_[v]);
    if (auto const& known = inputs_[{kinds_[v], categories_[v]}]; !known.empty() && below(3) == 0)
      return builder_.add_tied_inputs(variable, known.front());
    Index const made = builder_.add_inputs(variable, kinds_[v], categories_[v], a_size(), 0.01);
    inputs_[{kinds_[v], categories_[v]}].push_back(made);
    return made;
  }

  /// Makes some parameters 0, but leaves each distribution one that is not.
  void set_zeros(RandomCircuit& made) {
    if (options_.zeros == 0) return;
    auto const is_zero = [&] { return static_cast<double>(random_() % 1000) < 1000 * options_.zeros; };
    auto const owners = circuit::distribution_owners(made.circuit, "a random circuit");
    for (auto const& vector : made.circuit.vectors)
      for (Index i = 0; vector.kind == circuit::NodeKind::sum && i < vector.size; ++i) {
        if (owners[static_cast<std::size_t>(vector.first + i)] != vector.first + i) continue;
        std::vector<double*> weights;
        for (auto b = vector.begin; b < vector.end; ++b) {
          auto const& block = made.circuit.blocks[static_cast<std::size_t>(b)];
          Index const row = vector.first + i - block.sum;
          for (Index c = 0; row >= 0 && row < block.rows && c < block.columns; ++c)
            weights.push_back(
                &made.parameters.sum[static_cast<std::size_t>(block.parameter + row * block.columns + c)]);
        }
        double sum = 0;
        for (auto* w : weights) sum += * w = w != weights.front() && is_zero() ? 0 : *w;
        for (auto* w : weights) *w /= sum;
      }
  }

  std::mt19937 random_;
  CircuitOptions options_;
  circuit::CircuitBuilder builder_;
  std::vector<circuit::InputKind> kinds_;
  std::vector<Index> categories_;
  std::map<std::pair<circuit::InputKind, Index>, std::vector<Index>> inputs_;
};

inline RandomCircuit random_circuit(unsigned seed, Index num_variables, CircuitOptions options = {}) {
  return CircuitGenerator(seed, num_variables, options).make();
}

/// All values that the variables can have together; all must be discrete.
inline circuit::Samples all_samples(circuit::Circuit const& circuit) {
  circuit::Samples samples{circuit.num_variables, {}};
  auto const categories = circuit::variable_categories(circuit, "a circuit");
  std::vector<Index> values(categories.size());
  for (std::size_t v = 0; v < values.size();) {
    samples.values.insert(samples.values.end(), values.begin(), values.end());
    for (v = 0; v < values.size() && ++values[v] == categories[v]; ++v) values[v] = 0;
  }
  return samples;
}

/// Random values, some of them missing, and some variables with likelihoods.
inline circuit::Samples random_samples(circuit::Circuit const& circuit, unsigned seed, Offset count, bool soft) {
  std::mt19937 random(seed);
  auto const uniform = [&] { return static_cast<double>(random() % 1024) / 1024; };
  auto const categories = circuit::variable_categories(circuit, "a circuit");
  circuit::Samples samples{circuit.num_variables, {}};
  for (Offset s = 0; s < count; ++s)
    for (Index c : categories)
      samples.values.push_back(random() % 5 == 0 ? circuit::missing
                               : c == 0          ? 4 * uniform() - 2
                                                 : std::floor(uniform() * c));
  for (Index v = 0; soft && v < circuit.num_variables; ++v)
    if (Index const c = categories[static_cast<std::size_t>(v)]; c > 0 && random() % 3 == 0) {
      auto& evidence = samples.soft.emplace_back(v, std::vector<double>{});
      for (Offset i = 0; i < count * c; ++i) evidence.likelihoods.push_back(uniform());
    }
  return samples;
}

}  // namespace hornbill::test
