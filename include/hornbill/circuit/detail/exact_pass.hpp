// Exact values of all nodes, some samples at a time.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include <hornbill/circuit/detail/batch.hpp>
#include <hornbill/circuit/detail/exact.hpp>
#include <hornbill/circuit/detail/items.hpp>
#include <hornbill/circuit/properties.hpp>
#include <hornbill/detail/copy.hpp>

namespace hornbill::circuit::detail {

/// Entries from `first` on, at most so many.
template <class T>
std::vector<T> part_of(std::vector<T> const& values, std::size_t first, std::size_t most) {
  auto const begin = values.begin() + static_cast<std::ptrdiff_t>(first);
  return {begin, begin + static_cast<std::ptrdiff_t>(std::min(most, values.size() - first))};
}

/// Memory of a pass, and of a circuit for it.
template <class ExecutionSpace>
class ExactPass {
 public:
  using MemorySpace = typename ExecutionSpace::memory_space;

  /// \param wanted  samples
  ExactPass(ExecutionSpace const& exec, Circuit const& circuit, HostPlan const& plan, Parameters const& parameters,
            std::size_t wanted)
      : exec_(exec), circuit_(circuit), plan_(plan), most_samples_(exact_batch(circuit, wanted)) {
    auto const of_nodes = blocks_by_node(circuit);
    auto const [categorical, scalars] = to_device_order(plan, parameters.input);
    nodes_ = {
        view("inputs", plan.inputs),
        view("factors", circuit.factors),
        view("factor_children", circuit.factor_children),
        view("blocks", circuit.blocks),
        view("block_offsets", of_nodes.offsets),
        view("block_list", of_nodes.blocks),
        view("sum_parameters", parameters.sum),
        {view("categorical_parameters", categorical), view("scalar_parameters", scalars)},
        {},
        hornbill::detail::allocate<Kokkos::View<Scaled*, MemorySpace>>(
            exec, "hornbill::circuit::exact_values", static_cast<std::size_t>(circuit.num_nodes()) * most_samples_)};
  }

  std::size_t most_samples() const { return most_samples_; }

  /// Computes values of samples `now`, at most most_samples().   \note waits for `exec`
  void run(Samples const& samples, std::vector<Offset> const& now) {
    nodes_.num_samples = std::ssize(now);
    auto const [rows, offsets, likelihoods] = by_variable(plan_, samples, now, nodes_.num_samples);
    nodes_.observed = {};  // its memory goes before there is other
    nodes_.observed = {view("samples", rows), view("soft_offsets", offsets), view("soft", likelihoods),
                       nodes_.num_samples};
    for (auto const& vector : circuit_.vectors) {
      nodes_.nodes = vector;
      Kokkos::parallel_for("hornbill::circuit::exact_nodes",
                           Items<ExecutionSpace>(exec_, 0, vector.size * nodes_.num_samples), nodes_);
    }
  }

  /// Values of nodes [first, end).   \shape [end - first, samples]
  std::vector<Scaled> values(Index first, Index end) const {
    auto const width = static_cast<std::size_t>(nodes_.num_samples);
    return hornbill::detail::to_vector(
        exec_, Kokkos::subview(nodes_.values, std::pair(static_cast<std::size_t>(first) * width,
                                                        static_cast<std::size_t>(end) * width)));
  }

  /// ln p of samples `now`; -infinity where one is impossible.
  std::vector<double> log_likelihoods(Samples const& samples, std::vector<Offset> const& now) {
    constexpr double ln2 = 0.6931471805599453;
    run(samples, now);
    std::vector<double> result;
    for (auto const& [mantissa, exponent] : values(circuit_.num_nodes() - 1, circuit_.num_nodes()))
      result.push_back(mantissa == 0 ? -std::numeric_limits<double>::infinity()
                                     : std::log(mantissa) + static_cast<double>(exponent) * ln2);
    return result;
  }

 private:
  template <class T>
  Kokkos::View<T*, MemorySpace> view(std::string const& name, std::vector<T> const& values) const {
    return hornbill::detail::to_view<T, MemorySpace>(exec_, "hornbill::circuit::" + name, values);
  }

  ExecutionSpace exec_;
  Circuit const& circuit_;
  HostPlan const& plan_;
  std::size_t most_samples_;
  ExactNodes<MemorySpace> nodes_;
};

}  // namespace hornbill::circuit::detail
