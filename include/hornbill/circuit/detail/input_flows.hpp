// What inputs learn from.
#pragma once

#include <hornbill/circuit/detail/flow_rows.hpp>
#include <hornbill/circuit/detail/host_product.hpp>
#include <hornbill/circuit/detail/input_value.hpp>
#include <hornbill/circuit/detail/tile_team.hpp>

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

  KOKKOS_FUNCTION InputPlan const& input_of(Offset use) const { return inputs(input_tiles(uses(use)).distributions); }

  /// Whether each sample adds to one category of a node.
  KOKKOS_FUNCTION bool is_simple(InputStatistics const& group) const {
    if (inputs(group.distributions).kind == InputKind::gaussian) return false;
    for (Offset u = group.uses_begin; u < group.uses_end; ++u)
      if (observed.soft_offsets(input_of(u).variable) >= 0) return false;
    return true;
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

/// The form for a GPU: some teams have a tile, and each thread of them a node and some categories. So no two threads
/// add to a place, and each goes through samples in their order.
template <class Value, class MemorySpace>
struct InputFlowsByTeam {
  static constexpr int samples = sizeof(Value) == sizeof(float) ? 128 : 64;  ///< at a time
  static constexpr int team_size = TileTeam::parts, groups = team_size / tile_size;
  struct Scratch {
    Value flows[tile_size][samples + 1];  // so that a sample's are in different banks
    double weights[samples];
    Offset sums[samples];  ///< where the category's begin
    Index parts[samples];  ///< which part adds to them; -1 where a value is missing
    double of_nodes[groups][tile_size];
  };
  /// Inputs of one variable.
  struct Use {
    Index row, variable, size;
  };
  InputFlows<Value, MemorySpace> of;
  int teams = 1;  ///< of a tile

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const& group = of.input_statistics(member.league_rank() / teams);
    int const team = member.league_rank() % teams, thread = member.team_rank();
    if (!of.is_simple(group)) {
      if (team == 0 && thread < group.size) of.add_node(group, thread);
      return;
    }
    auto& scratch = *scratch_of<Scratch>(member);
    Index const i = thread % tile_size, part = team * groups + thread / tile_size;
    double of_node = 0;
    for (Offset u = group.uses_begin; u < group.uses_end; ++u) {
      auto const& input = of.input_of(u);
      Use const use{of.tiles(of.input_tiles(of.uses(u)).tile).row, input.variable, input.size};
      for (Offset first = 0; first < of.num_samples; first += samples) {
        load(member, group, use, first, scratch);
        for (int b = 0; b < samples && i < group.size; ++b)
          if (scratch.parts[b] == part) of.sums(scratch.sums[b] + i) += flow(scratch, i, b);
        for (int b = thread / tile_size; team == 0 && b < samples && i < group.size; b += groups)
          of_node += flow(scratch, i, b);
        member.team_barrier();
      }
    }
    scratch.of_nodes[thread / tile_size][i] = of_node;
    member.team_barrier();
    if (team != 0 || thread >= group.size) return;
    for (int g = 1; g < groups; ++g) of_node += scratch.of_nodes[g][i];
    of.node_sums(group.weights + group.first + i) += of_node;
  }

 private:
  KOKKOS_FUNCTION static double flow(Scratch const& scratch, Index i, int b) {
    return scratch.weights[b] * static_cast<double>(scratch.flows[i][b]);
  }

  template <class Member>
  KOKKOS_FUNCTION void load(Member const& member, InputStatistics const& group, Use const& use, Offset first,
                            Scratch& scratch) const {
    for (int b = member.team_rank(); b < samples; b += team_size) {
      bool const is_there = first + b < of.num_samples && of.flows.is_known(first + b) != 0;
      double const x = is_there ? of.observed.samples(use.variable * of.observed.stride + first + b) : missing;
      auto const category = static_cast<Index>(x == x ? x : 0);
      scratch.weights[b] = is_there ? of.unit * static_cast<double>(of.weights(first + b)) : 0.0;
      scratch.sums[b] = group.statistics + Offset{category} * use.size + group.first;
      scratch.parts[b] = x == x ? category % (teams * groups) : -1;
    }
    member.team_barrier();
    // some at a time are read, also of samples that are not there, so that no read waits for another
    constexpr int at_once = 8;
    for (int e = member.team_rank(); e < group.size * samples; e += at_once * team_size) {
      Value values[at_once];
      for (int k = 0; k < at_once; ++k) {
        int const now = smaller(e + k * team_size, group.size * samples - 1);
        values[k] = of.flows.flow(use.row + now / samples, smaller<Offset>(first + now % samples, of.num_samples - 1));
      }
      for (int k = 0; k < at_once; ++k)
        if (int const now = e + k * team_size; now < group.size * samples)
          scratch.flows[now / samples][now % samples] = scratch.weights[now % samples] > 0 ? values[k] : Value(0);
    }
    member.team_barrier();
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
    bool const is_simple = of.is_simple(group);
    for (Index i = 0; i < group.size && !is_simple; ++i) of.add_node(group, i);
    if (!is_simple) return;
    double of_nodes[tile_size] = {};
    for (Offset u = group.uses_begin; u < group.uses_end; ++u)
      for (Offset first = 0; first < of.num_samples; first += width) add_samples(group, u, first, of_nodes);
    for (Index i = 0; i < group.size; ++i) of.node_sums(group.weights + group.first + i) += of_nodes[i];
  }

 private:
  void add_samples(InputStatistics const& group, Offset u, Offset first, double* of_nodes) const {
    alignas(64) Columns flows[width];
    load(of.tiles(of.input_tiles(of.uses(u)).tile), first, flows);
    auto const& input = of.input_of(u);
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
