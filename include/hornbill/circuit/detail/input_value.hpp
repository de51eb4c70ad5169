// Values of input nodes.
#pragma once

#include <hornbill/circuit/detail/scaled.hpp>

namespace hornbill::circuit::detail {

/// Where a categorical's parameter is.
KOKKOS_INLINE_FUNCTION Offset parameter_of(InputPlan const& input, Index node, Index category) {
  return input.parameter + Offset{category} * input.size + node;
}

/// Probabilities of a variable's values, and densities, with parameters where the device keeps them.
template <class Value, class MemorySpace>
struct InputValues {
  Kokkos::View<Value const*, MemorySpace> categorical;
  Kokkos::View<double const*, MemorySpace> scalars;

  /// Of node i of a vector at a value.   \param x  a category, or a real number of a Gaussian
  KOKKOS_FUNCTION Scaled at(InputPlan const& input, Index i, double x) const {
    switch (input.kind) {
      case InputKind::categorical:
        return scaled(static_cast<double>(categorical(parameter_of(input, i, static_cast<Index>(x)))));
      case InputKind::bernoulli: {
        double const p = scalars(input.parameter + i);
        return scaled(x == 1 ? p : 1 - p);
      }
      case InputKind::binomial:
        return binomial(input.num_categories - 1, static_cast<Index>(x), scalars(input.parameter + i));
      case InputKind::gaussian: {
        constexpr double half_log_of_two_pi = 0.9189385332046728;
        double const mean = scalars(input.parameter + 2 * Offset{i}),
                     sigma = scalars(input.parameter + 2 * Offset{i} + 1);
        double const z = (x - mean) / sigma;
        return scaled_exp(-0.5 * z * z - Kokkos::log(sigma) - half_log_of_two_pi);
      }
      case InputKind::discretised_logistic:
        return logistic_bin(static_cast<Index>(x), input.num_categories - 1, scalars(input.parameter + 2 * Offset{i}),
                            scalars(input.parameter + 2 * Offset{i} + 1));
      case InputKind::indicator:
      case InputKind::literal: break;
    }
    return static_cast<Index>(x) == input.first_value + i ? scaled(1) : Scaled{};
  }

 private:
  KOKKOS_FUNCTION static Scaled binomial(Index n, Index k, double p) {
    if ((k > 0 && p == 0) || (k < n && p == 1)) return {};
    double const log_coefficient = Kokkos::lgamma(n + 1.0) - Kokkos::lgamma(k + 1.0) - Kokkos::lgamma(n - k + 1.0);
    return scaled_exp(log_coefficient + (k > 0 ? k * Kokkos::log(p) : 0) + (k < n ? (n - k) * Kokkos::log1p(-p) : 0));
  }

  /// F(b) - F(a) = F(b) F(-a) (1 - e^(a - b)), in which nothing cancels.
  KOKKOS_FUNCTION static Scaled logistic_bin(Index k, Index last, double mean, double scale) {
    double const low = (k - 0.5 - mean) / scale, high = (k + 0.5 - mean) / scale;
    if (k == 0) return scaled_exp(log_logistic(high));
    if (k == last) return scaled_exp(log_logistic(-low));
    return scaled_exp(log_logistic(high) + log_logistic(-low) + Kokkos::log(-Kokkos::expm1(-1 / scale)));
  }
};

/// What is known of a batch's variables.
template <class MemorySpace>
struct Observed {
  Kokkos::View<double const*, MemorySpace> samples;
  Kokkos::View<Offset const*, MemorySpace> soft_offsets;
  Kokkos::View<double const*, MemorySpace> soft;
  Offset stride = 0;

  /// The value of node i for a sample: of the variable's value, 1 where it is missing, and the mean of its likelihoods
  /// where these are given.
  template <class Value>
  KOKKOS_FUNCTION Scaled value(InputValues<Value, MemorySpace> const& of, InputPlan const& input, Index i,
                               Offset sample) const {
    if (Offset const offset = soft_offsets(input.variable); offset >= 0) {
      Scaled mean;
      for (Index c = 0; c < input.num_categories; ++c)
        mean = sum(mean, product(scaled(soft((offset + c) * stride + sample)), of.at(input, i, c)));
      return mean;
    }
    double const x = samples(input.variable * stride + sample);
    return x == x ? of.at(input, i, x) : scaled(1);
  }
};

}  // namespace hornbill::circuit::detail
