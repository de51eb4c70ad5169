// Discretised logistics fitted to counts.
#pragma once

#include <hornbill/circuit/detail/scaled.hpp>

namespace hornbill::circuit::detail {

/// Maximises the likelihood of counts of categories 0 to last under a discretised logistic.
///
/// In u = 1 / scale and w = mean / scale the logarithm of each category's probability is concave, so that Newton's
/// method, with steps halved until the likelihood rises, finds the maximum.          \source Pratt 1981
/// \tparam Counts  a function of a category
template <class Counts>
class LogisticFit {
 public:
  KOKKOS_FUNCTION LogisticFit(Counts const& counts, Index last, double min_scale)
      : counts_(counts), last_(last), min_scale_(larger(min_scale, smallest_scale)), largest_u_(1 / min_scale_) {}

  /// Starts from parameters, and changes them.
  KOKKOS_FUNCTION void improve(double& mean, double& scale) const {
    constexpr int most_steps = 30;
    Point at{smaller(1 / scale, largest_u_), 0};
    at.w = mean * at.u;
    double likelihood = log_likelihood(at);
    for (int i = 0; i < most_steps; ++i) {
      Slope const slope = slope_at(at);
      Point const step = newton_step(at, slope);
      if (is_small(step, at)) {  // too small for the likelihood to say whether it is better
        at = within_bounds({at.u + step.u, at.w + step.w}, at);
        break;
      }
      if (!climb(step, at, likelihood) && !climb(step_of_scale(at, slope), at, likelihood)) break;
    }
    mean = at.w / at.u;
    scale = larger(1 / at.u, min_scale_);
  }

 private:
  static constexpr double smallest_scale = 1e-4;

  struct Point {
    double u, w;
  };
  /// Gradient and second derivatives.
  struct Slope {
    double u = 0, w = 0, uu = 0, uw = 0, ww = 0;
  };

  KOKKOS_FUNCTION static double logistic(double t) {
    return t < 0 ? Kokkos::exp(t) / (1 + Kokkos::exp(t)) : 1 / (1 + Kokkos::exp(-t));
  }

  KOKKOS_FUNCTION double log_likelihood(Point const& at) const {
    double result = 0;
    for (Index k = 0; k <= last_; ++k) {
      double const count = counts_(k);
      if (count == 0) continue;
      double log = 0;
      if (k < last_) log += log_logistic((k + 0.5) * at.u - at.w);
      if (k > 0) log += log_logistic(at.w - (k - 0.5) * at.u);
      if (k > 0 && k < last_) log += Kokkos::log(-Kokkos::expm1(-at.u));
      result += count * log;
    }
    return result;
  }

  KOKKOS_FUNCTION Slope slope_at(Point const& at) const {
    Slope slope;
    double const of_width = 1 / Kokkos::expm1(at.u);
    for (Index k = 0; k <= last_; ++k) {
      double const count = counts_(k);
      if (count == 0) continue;
      if (k < last_) add_edge(slope, count, k + 0.5, 1, logistic(at.w - (k + 0.5) * at.u));
      if (k > 0) add_edge(slope, count, k - 0.5, -1, logistic((k - 0.5) * at.u - at.w));
      if (k > 0 && k < last_) {
        slope.u += count * of_width;
        slope.uu -= count * of_width * (1 + of_width);
      }
    }
    return slope;
  }

  /// Derivatives of count * ln F(sign * (edge * u - w)), where F(-that) is `rest`.
  KOKKOS_FUNCTION static void add_edge(Slope& slope, double count, double edge, double sign, double rest) {
    double const density = count * rest * (1 - rest);
    slope.u += count * sign * edge * rest;
    slope.w -= count * sign * rest;
    slope.uu -= edge * edge * density;
    slope.uw += edge * density;
    slope.ww -= density;
  }

  KOKKOS_FUNCTION static bool is_small(Point const& step, Point const& at) {
    constexpr double share = 1e-6;
    return Kokkos::abs(step.u) <= share * at.u && Kokkos::abs(step.w) <= share * (at.u + Kokkos::abs(at.w));
  }

  /// Goes along a step, or a part of it, if that is better.
  KOKKOS_FUNCTION bool climb(Point const& step, Point& at, double& likelihood) const {
    for (double part = 1; part > 1e-6; part /= 2) {
      Point const next = within_bounds({at.u + part * step.u, at.w + part * step.w}, at);
      double const of_next = log_likelihood(next);
      if (!(of_next > likelihood)) continue;
      at = next;
      likelihood = of_next;
      return true;
    }
    return false;
  }

  /// With the mean as it is: for where that may go no further.
  KOKKOS_FUNCTION static Point step_of_scale(Point const& at, Slope const& slope) {
    double const mean = at.w / at.u;
    double const curvature = slope.uu + mean * (2 * slope.uw + mean * slope.ww);
    double const step = -(slope.u + mean * slope.w) / smaller(curvature, -1e-12);
    return {step, mean * step};
  }

  /// Along w alone where u is as large as it may be, and would grow.
  KOKKOS_FUNCTION Point newton_step(Point const& at, Slope const& slope) const {
    constexpr double least = 1e-12;  // where the likelihood is flat, a step along the gradient
    double const ww = smaller(slope.ww, -least), uu = smaller(slope.uu, -least);
    if (at.u >= largest_u_ && slope.u > 0) return {0, -slope.w / ww};
    double const determinant = uu * ww - slope.uw * slope.uw;
    if (!(determinant > least * uu * ww)) return {-slope.u / uu, -slope.w / ww};
    return {(slope.uw * slope.w - ww * slope.u) / determinant, (slope.uw * slope.u - uu * slope.w) / determinant};
  }

  /// The mean stays near the categories, where all samples may have the first or the last one.
  KOKKOS_FUNCTION Point within_bounds(Point const& wanted, Point const& from) const {
    double const smallest_u = 0.1 / (last_ + 1.0);
    Point result{larger(smaller(wanted.u, largest_u_), smaller(smallest_u, from.u)), wanted.w};
    double const room = 2 * (last_ + 1.0), mean = from.w / from.u;
    double const lowest = smaller(-room, mean) * result.u, highest = larger(last_ + room, mean) * result.u;
    result.w = larger(smaller(result.w, highest), lowest);
    return result;
  }

  Counts const& counts_;
  Index last_;
  double min_scale_, largest_u_;
};

}  // namespace hornbill::circuit::detail
