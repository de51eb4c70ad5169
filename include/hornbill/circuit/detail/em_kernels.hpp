// New parameters from flows.
#pragma once

#include <hornbill/circuit/detail/input_value.hpp>
#include <hornbill/circuit/detail/logistic_fit.hpp>
#include <hornbill/circuit/detail/tile_team.hpp>
#include <hornbill/circuit/em_options.hpp>
#include <hornbill/circuit/flow_plan.hpp>

namespace hornbill::circuit::detail {

/// (1 - a) theta + a (flow + q / k) / (total + q), without a division for each parameter.
struct Mixture {
  double step_size, share, scale;

  /// \param total  of flows   \param count  of parameters that may be other than 0
  KOKKOS_FUNCTION Mixture(EmOptions const& options, double total, Offset count)
      : step_size(options.step_size),
        share(count > 0 ? options.pseudocount / static_cast<double>(count) : 0),
        scale(1 / larger(total + options.pseudocount, tiny<double>)) {}

  KOKKOS_FUNCTION double operator()(double old, double flow) const {
    return (1 - step_size) * old + step_size * ((flow + share) * scale);
  }
};

/// A distribution of a sum at a time. Reduces to the smallest parameter that is not 0.
template <class Value, class MemorySpace>
struct LearnSums {
  Kokkos::View<SumDistribution const*, MemorySpace> distributions;
  Kokkos::View<ParameterRange const*, MemorySpace> ranges;
  Kokkos::View<double const*, MemorySpace> flows;
  Kokkos::View<Value*, MemorySpace> parameters;
  EmOptions options;

  KOKKOS_FUNCTION void operator()(Offset d, double& smallest) const {
    double total = 0;
    Offset count = 0;
    for_each(d, [&](Offset p) {
      total += flows(p);
      if (!stays_zero(parameters(p))) ++count;
    });
    Mixture const mixture(options, total, count);
    for_each(d, [&](Offset p) { learn(p, parameters(p), flows(p), total, mixture, smallest); });
  }

  /// \param old  the parameter   \param total  of the distribution's flows
  KOKKOS_FUNCTION void learn(Offset p, Value old, double flow, double total, Mixture const& mixture,
                             double& smallest) const {
    bool const stays = (total < static_cast<double>(tiny<Value>) && options.pseudocount == 0) || stays_zero(old);
    Value const learnt = stays ? old : rounded_parameter<Value>(mixture(static_cast<double>(old), flow));
    parameters(p) = learnt;
    if (learnt > 0) smallest = smaller(smallest, static_cast<double>(learnt));
  }
  KOKKOS_FUNCTION bool stays_zero(Value parameter) const { return options.keep_zeros && parameter == 0; }

 private:
  template <class Function>
  KOKKOS_FUNCTION void for_each(Offset d, Function const& function) const {
    for (Offset r = distributions(d).ranges_begin; r < distributions(d).ranges_end; ++r)
      for (Offset p = ranges(r).first; p < ranges(r).first + ranges(r).count; ++p) function(p);
  }
};

/// The form for a GPU: a warp has a distribution. Its lanes read many flows at a time, since each takes long, and keep
/// those that they read last.
template <class Value, class ExecutionSpace>
struct LearnSumsByWarp {
  static constexpr int warps = 8, lanes = 32;  ///< of a team
  static constexpr int kept = 16, at_a_time = lanes * kept;
  using Member = typename Kokkos::TeamPolicy<ExecutionSpace>::member_type;
  LearnSums<Value, typename ExecutionSpace::memory_space> of;

  KOKKOS_FUNCTION void operator()(Member const& member, double& smallest) const {
    Offset const d = Offset{member.league_rank()} * warps + member.team_rank();
    if (d >= static_cast<Offset>(of.distributions.extent(0))) return;
    auto const [begin, end] = of.distributions(d);
    double flows[kept], total = 0;
    Offset count = 0;
    for (Offset r = begin; r < end; ++r)
      for_each_part(of.ranges(r), [&](ParameterRange const& part) {
        total += read_flows(member, part, flows);
        count += of.options.keep_zeros ? count_learnt(member, part) : part.count;
      });
    Mixture const mixture(of.options, total, count);
    bool const has_flows = end - begin == 1 && of.ranges(begin).count <= at_a_time;
    for (Offset r = begin; r < end; ++r)
      for_each_part(of.ranges(r), [&](ParameterRange const& part) {
        if (!has_flows) read_flows(member, part, flows);
        learn(member, part, flows, total, mixture, smallest);
      });
  }

 private:
  template <class Function>
  KOKKOS_FUNCTION static void for_each_part(ParameterRange const& range, Function const& function) {
    for (Offset first = 0; first < range.count; first += at_a_time)
      function(ParameterRange{range.first + first, smaller<Offset>(range.count - first, at_a_time)});
  }

  /// \return their sum
  KOKKOS_FUNCTION double read_flows(Member const& member, ParameterRange const& part, double (&flows)[kept]) const {
    double total = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, lanes),
        [&](int lane, double& sum) {
          for (int k = 0; k < kept; ++k) {
            Offset const i = lane + k * lanes;
            flows[k] = i < part.count ? of.flows(part.first + i) : 0;
          }
          for (int k = 0; k < kept; ++k) sum += flows[k];
        },
        total);
    return total;
  }

  /// Of parameters that are not kept at 0.
  KOKKOS_FUNCTION Offset count_learnt(Member const& member, ParameterRange const& part) const {
    Offset count = 0;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, part.count),
        [&](Offset i, Offset& number) { number += of.stays_zero(of.parameters(part.first + i)) ? 0 : 1; }, count);
    return count;
  }

  KOKKOS_FUNCTION void learn(Member const& member, ParameterRange const& part, double const (&flows)[kept],
                             double total, Mixture const& mixture, double& smallest) const {
    double of_part = 1;
    Kokkos::parallel_reduce(
        Kokkos::ThreadVectorRange(member, lanes),
        [&](int lane, double& least) {
          Value old[kept];
          for (int k = 0; k < kept; ++k) {
            Offset const i = lane + k * lanes;
            old[k] = i < part.count ? of.parameters(part.first + i) : Value(0);
          }
          for (int k = 0; k < kept; ++k)
            if (Offset const i = lane + k * lanes; i < part.count)
              of.learn(part.first + i, old[k], flows[k], total, mixture, least);
        },
        Kokkos::Min<double>(of_part));
    smallest = smaller(smallest, of_part);
  }
};

/// A thread for each input node with parameters of its own. Reduces to the smallest parameter of categoricals that is
/// not 0.
template <class Value, class MemorySpace>
struct LearnInputs {
  Kokkos::View<InputPlan const*, MemorySpace> inputs;
  Kokkos::View<InputStatistics const*, MemorySpace> groups;
  Kokkos::View<double const*, MemorySpace> statistics;
  Kokkos::View<double const*, MemorySpace> prior;
  Kokkos::View<double*, MemorySpace> moments;
  Kokkos::View<Value*, MemorySpace> categorical;
  Kokkos::View<double*, MemorySpace> scalars;
  EmOptions options;

  KOKKOS_FUNCTION void operator()(Offset item, double& smallest) const {
    auto const& group = groups(item / tile_size);
    auto const i = static_cast<Index>(item % tile_size);
    if (i >= group.size) return;
    auto const& input = inputs(group.distributions);
    Node const node{input, group, group.first + i};
    if (input.kind == InputKind::categorical) {
      auto const counts = counts_of(node, 0, 1);
      learn_categories(node, 0, 1, counts, smallest);
      return;
    }
    double total = 0;
    Index const sums = input.kind == InputKind::gaussian ? 1 : input.num_categories;
    for (Index c = 0; c < sums; ++c) total += statistic(node, c);
    // what is less has lost its digits
    if (total < static_cast<double>(tiny<Value>) && options.pseudocount == 0) return;
    double const old = share_of_old(node, total);
    switch (input.kind) {
      case InputKind::categorical: break;
      case InputKind::bernoulli:
      case InputKind::binomial: learn_trials(node, total, old); break;
      case InputKind::gaussian: learn_gaussian(node, total, old); break;
      case InputKind::discretised_logistic: learn_logistic(node, total, old); break;
      case InputKind::indicator:
      case InputKind::literal: break;
    }
  }

  struct Node {
    InputPlan const& input;
    InputStatistics const& group;
    Index i;  ///< within its vector
  };

  /// Of some of a node's categories: their flows, and how many can be other than 0.
  struct Counts {
    double total = 0;
    Index categories = 0;
  };
  /// Categories first, first + step, and so on.
  KOKKOS_FUNCTION Counts counts_of(Node const& node, Index first, Index step) const {
    Counts counts;
    for (Index c = first; c < node.input.num_categories; c += step) {
      counts.total += statistic(node, c);
      if (!(options.keep_zeros && parameter(node, c) == 0)) ++counts.categories;
    }
    return counts;
  }
  /// \param counts  of all categories
  KOKKOS_FUNCTION void learn_categories(Node const& node, Index first, Index step, Counts const& counts,
                                        double& smallest) const {
    double const q = options.pseudocount, old = share_of_old(node, counts.total), all = counts.total + old + q;
    for (Index c = first; c < node.input.num_categories; c += step) {
      Value& theta = parameter(node, c);
      if (all >= static_cast<double>(tiny<Value>) && !(options.keep_zeros && theta == 0))
        theta = rounded_parameter<Value>(
            (statistic(node, c) + old * static_cast<double>(theta) + q / counts.categories) / all);
      if (theta > 0) smallest = smaller(smallest, static_cast<double>(theta));
    }
  }

 private:
  /// The old distribution's share, in samples.
  KOKKOS_FUNCTION double share_of_old(Node const& node, double total) const {
    if (prior.extent(0) > 0) return prior(node.group.weights + node.i);
    return options.step_size < 1 ? (1 / options.step_size - 1) * (total + options.pseudocount) : 0.0;
  }

  KOKKOS_FUNCTION Offset place(Node const& node, Index c) const {
    return node.group.statistics + Offset{c} * node.input.size + node.i;
  }
  KOKKOS_FUNCTION double statistic(Node const& node, Index c) const { return statistics(place(node, c)); }

  KOKKOS_FUNCTION Value& parameter(Node const& node, Index c) const {
    return categorical(parameter_of(node.input, node.i, c));
  }

  KOKKOS_FUNCTION void learn_trials(Node const& node, double total, double old) const {
    double const q = options.pseudocount, all = total + old + q;
    Index const trials = node.input.num_categories - 1;
    double& p = scalars(node.input.parameter + node.i);
    if (all == 0 || (options.keep_zeros && (p == 0 || p == 1))) return;
    double successes = 0;
    for (Index k = 1; k <= trials; ++k) successes += k * statistic(node, k);
    p = smaller((successes / trials + old * p + q / 2) / all, 1.0);
  }

  KOKKOS_FUNCTION void learn_gaussian(Node const& node, double total, double old) const {
    if (total < static_cast<double>(tiny<Value>)) return;
    double const like_old = old + options.pseudocount, all = total + like_old;
    double& mean = scalars(node.input.parameter + 2 * Offset{node.i});
    double& sigma = scalars(node.input.parameter + 2 * Offset{node.i} + 1);
    double const shift = statistic(node, 1) / all;
    double const variance = (statistic(node, 2) + like_old * sigma * sigma) / all - shift * shift;
    double const learnt = larger(Kokkos::sqrt(larger(variance, 0.0)), node.input.min_scale);
    mean += shift;
    if (learnt > 0) sigma = learnt;
    if (moments.extent(0) == 0) return;
    double const zeroth = moments(place(node, 0)), first = moments(place(node, 1));
    moments(place(node, 1)) = first - shift * zeroth;
    moments(place(node, 2)) += shift * (shift * zeroth - 2 * first);
  }

  KOKKOS_FUNCTION void learn_logistic(Node const& node, double total, double old) const {
    if (total < static_cast<double>(tiny<Value>)) return;
    double const like_old = old + options.pseudocount;
    Offset const first = node.input.parameter + 2 * Offset{node.i};
    InputValues<Value, MemorySpace> const values{categorical, scalars};
    // while it is fitted, the old distribution is still there
    auto const counts = [&](Index k) {
      double result = statistic(node, k);
      if (like_old > 0) {
        Scaled const p = values.at(node.input, node.i, k);
        result += like_old * p.mantissa * power_of_two<double>(p.exponent);
      }
      return result;
    };
    double mean = scalars(first), scale = scalars(first + 1);
    LogisticFit(counts, node.input.num_categories - 1, node.input.min_scale).improve(mean, scale);
    scalars(first) = mean;
    scalars(first + 1) = scale;
  }
};

/// The form for a GPU: a team has a tile, and of categoricals each thread a node and some categories.
template <class Value, class ExecutionSpace>
struct LearnInputsByTeam {
  using Inputs = LearnInputs<Value, typename ExecutionSpace::memory_space>;
  static constexpr int parts = 4, team_size = parts * tile_size;
  struct Scratch {
    typename Inputs::Counts counts[parts][tile_size];
  };
  Inputs of;

  KOKKOS_FUNCTION void operator()(typename Kokkos::TeamPolicy<ExecutionSpace>::member_type const& member,
                                  double& smallest) const {
    auto const& group = of.groups(member.league_rank());
    auto const& input = of.inputs(group.distributions);
    auto const i = static_cast<Index>(member.team_rank() % tile_size),
               part = static_cast<Index>(member.team_rank() / tile_size);
    if (input.kind != InputKind::categorical) {
      if (part == 0) of(Offset{member.league_rank()} * tile_size + i, smallest);
      return;
    }
    auto& scratch = *scratch_of<Scratch>(member);
    typename Inputs::Node const node{input, group, group.first + i};
    if (i < group.size) scratch.counts[part][i] = of.counts_of(node, part, parts);
    member.team_barrier();
    if (i >= group.size) return;
    typename Inputs::Counts all;
    for (int p = 0; p < parts; ++p) {
      all.total += scratch.counts[p][i].total;
      all.categories += scratch.counts[p][i].categories;
    }
    of.learn_categories(node, part, parts, all, smallest);
  }
};

}  // namespace hornbill::circuit::detail
