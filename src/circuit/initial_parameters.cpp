#include <hornbill/circuit/initial_parameters.hpp>

#include <algorithm>
#include <vector>

namespace hornbill::circuit {
namespace {

/// Bits that depend on all bits of a seed and a number.   \source Steele, Lea and Flood 2014 (SplitMix)
std::uint64_t hashed(std::uint64_t seed, std::uint64_t number) {
  std::uint64_t z = seed * 0xd1342543de82ef95u + (number + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
  z = (z ^ z >> 27) * 0x94d049bb133111ebu;
  return z ^ z >> 31;
}

/// From 2^21 to 2^24 - 1.
std::uint64_t weight_of(std::uint64_t seed, Offset parameter) {
  constexpr std::uint64_t least = std::uint64_t{1} << 21, range = (std::uint64_t{1} << 24) - least;
  return least + (hashed(seed, static_cast<std::uint64_t>(parameter)) >> 32) % range;
}

/// From 0 to 1, without 1.
double uniform(std::uint64_t seed, Offset parameter) {
  return static_cast<double>(hashed(seed, static_cast<std::uint64_t>(parameter)) >> 11) * 0x1p-53;
}

void fill_sums(Circuit const& circuit, NodeVector const& vector, std::uint64_t seed, std::vector<double>& values) {
  std::vector<std::uint64_t> totals(static_cast<std::size_t>(vector.size));
  auto const for_each_row = [&](auto const& function) {
    for (auto const& block : circuit.blocks_of(vector)) {
      for (Index r = 0; r < block.rows; ++r)
        function(totals[static_cast<std::size_t>(block.sum - vector.first + r)],
                 block.parameter + Offset{r} * block.columns, block.columns);
    }
  };
  for_each_row([&](std::uint64_t& total, Offset first, Index columns) {
    for (Index c = 0; c < columns; ++c) total += weight_of(seed, first + c);
  });
  for_each_row([&](std::uint64_t total, Offset first, Index columns) {
    for (Index c = 0; c < columns; ++c)
      values[static_cast<std::size_t>(first + c)] =
          static_cast<double>(weight_of(seed, first + c)) / static_cast<double>(total);
  });
}

void fill_input(InputDistributions const& input, Offset first, std::uint64_t seed, std::vector<double>& values) {
  auto const at = [&](Offset k) -> double& { return values[static_cast<std::size_t>(first + k)]; };
  auto const categories = static_cast<double>(input.num_categories);
  switch (input.kind) {
    case InputKind::categorical: {
      std::uint64_t total = 0;
      for (Index c = 0; c < input.num_categories; ++c) total += weight_of(seed, first + c);
      for (Index c = 0; c < input.num_categories; ++c)
        at(c) = static_cast<double>(weight_of(seed, first + c)) / static_cast<double>(total);
      return;
    }
    case InputKind::bernoulli:
    case InputKind::binomial: at(0) = 0.125 + 0.75 * uniform(seed, first); return;
    case InputKind::gaussian:
      at(0) = 2 * uniform(seed, first) - 1;
      at(1) = std::max(1.0, input.min_scale);
      return;
    case InputKind::discretised_logistic:
      at(0) = categories * uniform(seed, first) - 0.5;
      at(1) = std::max(categories / 8, input.min_scale);
      return;
    case InputKind::indicator:
    case InputKind::literal: return;
  }
}

}  // namespace

Parameters initial_parameters(Circuit const& circuit, std::uint64_t seed) {
  Parameters parameters{std::vector<double>(static_cast<std::size_t>(circuit.num_sum_parameters)),
                        std::vector<double>(static_cast<std::size_t>(circuit.num_input_parameters))};
  std::uint64_t const seed_of_inputs = hashed(seed, ~std::uint64_t{0});
  for (auto const& vector : circuit.vectors) {
    if (vector.kind == NodeKind::sum) fill_sums(circuit, vector, seed, parameters.sum);
    if (vector.kind != NodeKind::input) continue;
    auto const& input = circuit.input_of(vector);
    for (Index i = 0; i < vector.size; ++i)
      fill_input(input, input.parameter + Offset{i} * num_parameters(input.kind, input.num_categories), seed_of_inputs,
                 parameters.input);
  }
  return parameters;
}

}  // namespace hornbill::circuit
