// What inputs learn from.
#pragma once

#include <hornbill/circuit/detail/flow_rows.hpp>
#include <hornbill/circuit/detail/input_value.hpp>

namespace hornbill::circuit::detail {

/// A thread for each place of a tile, with all inputs that share the parameters there, one sample after the other.
template <class Value, class MemorySpace>
struct InputFlows {
  Kokkos::View<Tile const*, MemorySpace> tiles;
  Kokkos::View<InputPlan const*, MemorySpace> inputs;
  Kokkos::View<InputTile const*, MemorySpace> input_tiles;
  Kokkos::View<InputStatistics const*, MemorySpace> input_statistics;
  Kokkos::View<Index const*, MemorySpace> uses;
  InputValues<Value, MemorySpace> of;
  Observed<MemorySpace> observed;
  FlowRows<Value, MemorySpace> flows;
  Kokkos::View<Value const*, MemorySpace> weights;
  double unit = 1;
  Kokkos::View<double*, MemorySpace> sums, node_sums;
  Offset num_samples = 0;

  KOKKOS_FUNCTION void operator()(Offset item) const {
    auto const& group = input_statistics(item / tile_size);
    auto const i = static_cast<Index>(item % tile_size);
    if (i >= group.size) return;
    for (Offset u = group.uses_begin; u < group.uses_end; ++u) {
      auto const& [tile, distributions, first] = input_tiles(uses(u));
      Index const row = tiles(tile).row + i;
      double of_node = 0;
      for (Offset sample = 0; sample < num_samples; ++sample) {
        if (flows.is_known(sample) == 0) continue;
        double const flow = unit * static_cast<double>(weights(sample)) * static_cast<double>(flows.flow(row, sample));
        of_node += flow;
        if (flow > 0) add(inputs(distributions), group.statistics, first + i, sample, flow);
      }
      node_sums(group.weights + first + i) += of_node;
    }
  }

 private:
  /// Adds a sample's flow to the node's statistics.
  KOKKOS_FUNCTION void add(InputPlan const& input, Offset statistics, Index node, Offset sample, double flow) const {
    auto const sum = [&](Index c) -> double& { return sums(statistics + Offset{c} * input.size + node); };
    if (Offset const offset = observed.soft_offsets(input.variable); offset >= 0) {
      Scaled const mean = observed.value(of, input, node, sample);
      for (Index c = 0; c < input.num_categories; ++c) sum(c) += flow * posterior(input, node, offset, c, sample, mean);
      return;
    }
    double const x = observed.samples(input.variable * observed.stride + sample);
    if (!(x == x)) return;
    if (input.kind != InputKind::gaussian) {
      sum(static_cast<Index>(x)) += flow;
      return;
    }
    double const from_mean = x - of.scalars(input.parameter + 2 * Offset{node});
    sum(0) += flow;
    sum(1) += flow * from_mean;
    sum(2) += flow * from_mean * from_mean;
  }

  /// How probable a category is, after a sample's likelihoods.
  KOKKOS_FUNCTION double posterior(InputPlan const& input, Index node, Offset offset, Index c, Offset sample,
                                   Scaled const& mean) const {
    Scaled const joint = product(scaled(observed.soft((offset + c) * observed.stride + sample)), of.at(input, node, c));
    if (joint.mantissa == 0 || mean.mantissa == 0) return 0;
    return joint.mantissa / mean.mantissa * power_of_two<double>(joint.exponent - mean.exponent);
  }
};

}  // namespace hornbill::circuit::detail
