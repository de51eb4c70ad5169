// New parameters from flows.
#pragma once

#include <hornbill/circuit/detail/input_value.hpp>
#include <hornbill/circuit/detail/logistic_fit.hpp>
#include <hornbill/circuit/detail/tile_values.hpp>
#include <hornbill/circuit/em_options.hpp>
#include <hornbill/circuit/flow_plan.hpp>

namespace hornbill::circuit::detail {

/// (1 - a) theta + a (flow + q / k) / (total + q).
struct Mixture {
  double step_size, pseudocount, total;
  Offset count;

  KOKKOS_FUNCTION double operator()(double old, double flow) const {
    double const target = (flow + pseudocount / static_cast<double>(count)) / (total + pseudocount);
    return (1 - step_size) * old + step_size * target;
  }
};

/// A thread for each distribution of a sum. Reduces to the smallest parameter that is not 0.
template <class Value, class MemorySpace>
struct LearnSums {
  Kokkos::View<SumDistribution const*, MemorySpace> distributions;
  Kokkos::View<ParameterRange const*, MemorySpace> ranges;
  Kokkos::View<double const*, MemorySpace> flows;
  Kokkos::View<Value*, MemorySpace> parameters;
  EmOptions options;

  KOKKOS_FUNCTION void operator()(Offset d, double& smallest) const {
    Mixture mixture{options.step_size, options.pseudocount, 0, 0};
    for_each(d, [&](Offset p) {
      mixture.total += flows(p);
      if (!stays_zero(p)) ++mixture.count;
    });
    bool const stays = mixture.total < static_cast<double>(tiny<Value>) && options.pseudocount == 0;
    for_each(d, [&](Offset p) {
      if (!stays && !stays_zero(p)) parameters(p) = rounded_parameter<Value>(mixture(parameters(p), flows(p)));
      if (parameters(p) > 0) smallest = smaller(smallest, static_cast<double>(parameters(p)));
    });
  }

 private:
  template <class Function>
  KOKKOS_FUNCTION void for_each(Offset d, Function const& function) const {
    for (Offset r = distributions(d).ranges_begin; r < distributions(d).ranges_end; ++r)
      for (Offset p = ranges(r).first; p < ranges(r).first + ranges(r).count; ++p) function(p);
  }
  KOKKOS_FUNCTION bool stays_zero(Offset p) const { return options.keep_zeros && parameters(p) == 0; }
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
    double total = 0;
    Index const sums = input.kind == InputKind::gaussian ? 1 : input.num_categories;
    for (Index c = 0; c < sums; ++c) total += statistic(node, c);
    // what is less has lost its digits
    if (total < static_cast<double>(tiny<Value>) && options.pseudocount == 0 && input.kind != InputKind::categorical)
      return;
    // the old distribution's share, in samples
    double const old = prior.extent(0) > 0     ? prior(group.weights + node.i)
                       : options.step_size < 1 ? (1 / options.step_size - 1) * (total + options.pseudocount)
                                               : 0.0;
    switch (input.kind) {
      case InputKind::categorical: learn_categories(node, total, old, smallest); break;
      case InputKind::bernoulli:
      case InputKind::binomial: learn_trials(node, total, old); break;
      case InputKind::gaussian: learn_gaussian(node, total, old); break;
      case InputKind::discretised_logistic: learn_logistic(node, total, old); break;
      case InputKind::indicator:
      case InputKind::literal: break;
    }
  }

 private:
  struct Node {
    InputPlan const& input;
    InputStatistics const& group;
    Index i;  ///< within its vector
  };

  KOKKOS_FUNCTION Offset place(Node const& node, Index c) const {
    return node.group.statistics + Offset{c} * node.input.size + node.i;
  }
  KOKKOS_FUNCTION double statistic(Node const& node, Index c) const { return statistics(place(node, c)); }

  KOKKOS_FUNCTION void learn_categories(Node const& node, double total, double old, double& smallest) const {
    double const q = options.pseudocount, all = total + old + q;
    Index count = 0;
    for (Index c = 0; c < node.input.num_categories; ++c)
      if (!(options.keep_zeros && parameter(node, c) == 0)) ++count;
    for (Index c = 0; c < node.input.num_categories; ++c) {
      Value& theta = parameter(node, c);
      if (all >= static_cast<double>(tiny<Value>) && !(options.keep_zeros && theta == 0))
        theta = rounded_parameter<Value>((statistic(node, c) + old * static_cast<double>(theta) + q / count) / all);
      if (theta > 0) smallest = smaller(smallest, static_cast<double>(theta));
    }
  }

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

}  // namespace hornbill::circuit::detail
