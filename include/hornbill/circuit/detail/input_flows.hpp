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

/// The form for a GPU: a team has 16 nodes of a tile, and some of their categories, whose sums are in scratch memory. A
/// thread has a node, and every sixteenth category: no two threads add to a place, and each goes through samples in
/// order.
template <class Value, class MemorySpace>
struct InputFlowsByTeam {
  static constexpr int nodes = 16, groups = 16, team_size = nodes * groups, parts_of_tile = tile_size / nodes;
  static constexpr Index categories = 256;
  static constexpr int samples = sizeof(Value) == sizeof(float) ? 128 : 64, words = samples / 32;  ///< at a time
  struct Scratch {
    double sums[categories][nodes];
    Value flows[nodes][samples + 1];  // so that a sample's are in different banks
    double weights[samples];
    Index category[samples];             ///< among the team's
    unsigned samples_of[groups][words];  ///< a bit for each that has a category of the group
    double of_nodes[groups][nodes];
  };
  /// Inputs of one variable.
  struct Use {
    Index row, variable;
  };
  /// What a team does.
  struct Part {
    Index first_node, num_nodes, first_category, num_categories;
  };
  InputFlows<Value, MemorySpace> of;
  int slices = 1;  ///< of the categories
  static_assert(scratch_bytes_of<Scratch> <= 46 * 1024, "Kokkos gives a team 48 KiB, some of which it needs itself");

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    int const rank = member.league_rank(), thread = member.team_rank(), slice = rank % slices;
    auto const& group = of.input_statistics(rank / slices / parts_of_tile);
    auto const& input = of.inputs(group.distributions);
    if (!of.is_simple(group)) {
      if (rank % (slices * parts_of_tile) == 0 && thread < group.size) of.add_node(group, thread);
      return;
    }
    Index const first_node = rank / slices % parts_of_tile * nodes, first_category = slice * categories;
    Part const part{first_node, smaller<Index>(group.size - first_node, nodes), first_category,
                    smaller(input.num_categories - first_category, categories)};
    if (part.num_nodes <= 0 || part.num_categories <= 0) return;
    add(member, group, input, part);
  }

 private:
  template <class Member>
  KOKKOS_FUNCTION void add(Member const& member, InputStatistics const& group, InputPlan const& input,
                           Part const& part) const {
    auto& scratch = *scratch_of<Scratch>(member);
    int const node = member.team_rank() % nodes, of_group = member.team_rank() / nodes;
    for (Index c = of_group; c < part.num_categories; c += groups) scratch.sums[c][node] = 0;
    double of_node = 0;
    for (Offset u = group.uses_begin; u < group.uses_end; ++u) {
      Use const use{of.tiles(of.input_tiles(of.uses(u)).tile).row + part.first_node, of.input_of(u).variable};
      for (Offset first = 0; first < of.num_samples; first += samples) {
        load(member, use, part, first, scratch);
        for (int w = 0; w < words; ++w)
          for (unsigned left = scratch.samples_of[of_group][w]; left != 0; left &= left - 1) {
            int const b = w * 32 + Kokkos::countr_zero(left);
            scratch.sums[scratch.category[b]][node] += flow(scratch, node, b);
          }
        for (int b = of_group; part.first_category == 0 && b < samples; b += groups) of_node += flow(scratch, node, b);
        member.team_barrier();
      }
    }
    Offset const first = group.statistics + group.first + part.first_node + node;
    for (Index c = of_group; c < part.num_categories && node < part.num_nodes; c += groups)
      if (double const sum = scratch.sums[c][node]; sum > 0)
        of.sums(first + Offset{part.first_category + c} * input.size) += sum;
    scratch.of_nodes[of_group][node] = of_node;
    member.team_barrier();
    if (part.first_category > 0 || member.team_rank() >= part.num_nodes) return;
    for (int g = 1; g < groups; ++g) of_node += scratch.of_nodes[g][node];
    of.node_sums(group.weights + group.first + part.first_node + node) += of_node;
  }

  KOKKOS_FUNCTION static double flow(Scratch const& scratch, int node, int b) {
    return scratch.weights[b] * static_cast<double>(scratch.flows[node][b]);
  }

  /// All flows are read at a time, also of nodes and samples that are not there, so that no read waits for another.
  template <class Member>
  KOKKOS_FUNCTION void load(Member const& member, Use const& use, Part const& part, Offset first,
                            Scratch& scratch) const {
    constexpr int at_a_time = 32, rows = team_size / at_a_time, row_steps = nodes / rows;
    int const lane = member.team_rank() % at_a_time, row = member.team_rank() / at_a_time;
    Value values[row_steps][words];
    for (int r = 0; r < row_steps; ++r)
      for (int w = 0; w < words; ++w)
        values[r][w] = of.flows.flow(use.row + smaller<Index>(row + r * rows, part.num_nodes - 1),
                                     smaller<Offset>(first + w * at_a_time + lane, of.num_samples - 1));
    for (int i = member.team_rank(); i < groups * words; i += team_size) scratch.samples_of[i / words][i % words] = 0;
    member.team_barrier();
    for (int b = member.team_rank(); b < samples; b += team_size) set_sample(use, part, first + b, b, scratch);
    member.team_barrier();
    for (int r = 0; r < row_steps; ++r)
      for (int w = 0; w < words; ++w) {
        int const b = w * at_a_time + lane;
        scratch.flows[row + r * rows][b] = scratch.weights[b] > 0 ? values[r][w] : Value(0);
      }
    member.team_barrier();
  }

  KOKKOS_FUNCTION void set_sample(Use const& use, Part const& part, Offset sample, int b, Scratch& scratch) const {
    bool const is_there = sample < of.num_samples && of.flows.is_known(sample) != 0;
    double const x = is_there ? of.observed.samples(use.variable * of.observed.stride + sample) : missing;
    scratch.weights[b] = is_there ? of.unit * static_cast<double>(of.weights(sample)) : 0.0;
    if (!(x == x)) return;
    Index const category = static_cast<Index>(x) - part.first_category;
    scratch.category[b] = category;
    if (category >= 0 && category < part.num_categories)
      Kokkos::atomic_or(&scratch.samples_of[category % groups][b / 32], 1U << (b % 32));
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
