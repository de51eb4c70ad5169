// Batches of samples.
#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include <hornbill/circuit/detail/batch.hpp>
#include <hornbill/circuit/training.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace detail {

BatchRows by_variable(HostPlan const& plan, Samples const& samples, std::vector<Offset> const& which, Offset stride) {
  auto const variables = static_cast<std::size_t>(plan.num_variables), width = static_cast<std::size_t>(stride);
  BatchRows rows{std::vector<double>(variables * width), std::vector<Offset>(variables, -1), {}};
  for (std::size_t s = 0; s < which.size(); ++s)
    for (std::size_t v = 0; v < variables; ++v)
      rows.values[v * width + s] = samples.value(which[s], static_cast<Index>(v));
  for (auto const& [variable, likelihoods] : samples.soft) {
    auto const categories = static_cast<std::size_t>(plan.variable_categories[static_cast<std::size_t>(variable)]);
    auto const first = rows.soft.size();
    rows.soft_offsets[static_cast<std::size_t>(variable)] = static_cast<Offset>(first / width);
    rows.soft.resize(first + categories * width);
    for (std::size_t s = 0; s < which.size(); ++s)
      for (std::size_t c = 0; c < categories; ++c)
        rows.soft[first + c * width + s] = likelihoods[static_cast<std::size_t>(which[s]) * categories + c];
  }
  return rows;
}

std::size_t exact_batch(Circuit const& circuit, std::size_t wanted) {
  constexpr std::size_t most_bytes = std::size_t{1} << 30, bytes_of_value = 16;
  auto const fitting = most_bytes / bytes_of_value / static_cast<std::size_t>(circuit.num_nodes());
  return std::max<std::size_t>(1, std::min(wanted, fitting));
}

UnitWeights unit_weights(std::vector<double> const& weights, Index num_samples) {
  auto const count = static_cast<std::size_t>(num_samples);
  if (weights.empty()) return {std::vector<double>(count, 1), 1};
  if (weights.size() != count) throw ShapeError("weights of samples", count, weights.size());
  double const largest = std::ranges::max(weights);
  if (largest == 0) return {weights, 1};
  UnitWeights result{weights, largest};
  for (double& weight : result.weights) weight /= largest;
  return result;
}

}  // namespace detail

}  // namespace hornbill::circuit
