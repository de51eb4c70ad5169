// What inputs learn from.
#pragma once

#include <hornbill/circuit/detail/flow_rows.hpp>
#include <hornbill/circuit/detail/host_product.hpp>
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
    if (auto const i = static_cast<Index>(item % tile_size); i < group.size) add_node(group, i);
  }

  /// Node i of a tile.
  KOKKOS_FUNCTION void add_node(InputStatistics const& group, Index i) const {
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

/// The form for the threads of a CPU: each has a tile. Of discrete variables it adds all nodes of a sample at a time,
/// since a category's statistics are one behind the other.
template <class Value, class MemorySpace>
struct InputFlowsOnHost {
  static constexpr int width = VectorTranspose<Value>::lanes;  ///< samples at a time
  InputFlows<Value, MemorySpace> of;

  using Columns = Value[tile_size];

  void operator()(Offset item) const {
    auto const& group = of.input_statistics(item);
    bool is_simple = of.inputs(group.distributions).kind != InputKind::gaussian;
    for (Offset u = group.uses_begin; u < group.uses_end; ++u)
      is_simple = is_simple && of.observed.soft_offsets(use(u).variable) < 0;
    for (Index i = 0; i < group.size && !is_simple; ++i) of.add_node(group, i);
    if (!is_simple) return;
    double of_nodes[tile_size] = {};
    for (Offset u = group.uses_begin; u < group.uses_end; ++u)
      for (Offset first = 0; first < of.num_samples; first += width) add_samples(group, u, first, of_nodes);
    for (Index i = 0; i < group.size; ++i) of.node_sums(group.weights + group.first + i) += of_nodes[i];
  }

 private:
  InputPlan const& use(Offset u) const { return of.inputs(of.input_tiles(of.uses(u)).distributions); }

  void add_samples(InputStatistics const& group, Offset u, Offset first, double* of_nodes) const {
    alignas(64) Columns flows[width];
    load(of.tiles(of.input_tiles(of.uses(u)).tile), first, flows);
    auto const& input = use(u);
    for (Offset s = first; s < smaller(first + width, of.num_samples); ++s) {
      if (of.flows.is_known(s) == 0) continue;
      double const weight = of.unit * static_cast<double>(of.weights(s));
      double const x = of.observed.samples(input.variable * of.observed.stride + s);
      Value const* const of_sample = flows[s - first];
      for (Index i = 0; i < group.size; ++i) of_nodes[i] += weight * static_cast<double>(of_sample[i]);
      if (!(x == x)) continue;
      double* const sums = &of.sums(group.statistics + static_cast<Offset>(x) * input.size + group.first);
      for (Index i = 0; i < group.size; ++i) sums[i] += weight * static_cast<double>(of_sample[i]);
    }
  }

  /// Flows of a tile, sample by sample; rows are long enough for whole vectors.
  void load(Tile const& tile, Offset first, Columns* flows) const {
    using Transpose = VectorTranspose<Value>;
    for (Index i = 0; i < tile.size; i += width) {
      typename Transpose::Vector rows[width];
      for (Index k = 0; k < width; ++k)
        rows[k] = *reinterpret_cast<typename Transpose::Vector const*>(
            &of.flows.flow(tile.row + smaller(i + k, tile.size - 1), first));
      Transpose::run(rows, flows[0] + i, tile_size);
    }
  }
};

}  // namespace hornbill::circuit::detail
