// Numbers with an exponent of their own, and powers of 2.
#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <hornbill/circuit/state.hpp>

namespace hornbill::circuit::detail {

template <class Value>
struct Bits;
template <>
struct Bits<float> {
  using Integer = std::uint32_t;
  static constexpr int mantissa = 23, bias = 127;
};
template <>
struct Bits<double> {
  using Integer = std::uint64_t;
  static constexpr int mantissa = 52, bias = 1023;
};

/// By value: those of Kokkos take references, which device code cannot have to constants.
template <class T>
KOKKOS_INLINE_FUNCTION T larger(T a, std::type_identity_t<T> b) {
  return a < b ? b : a;
}
template <class T>
KOKKOS_INLINE_FUNCTION T smaller(T a, std::type_identity_t<T> b) {
  return b < a ? b : a;
}

/// The smallest number with all its digits: below it some are lost, or all.
template <class Value>
inline constexpr Value tiny = Kokkos::Experimental::norm_min_v<Value>;

/// 2^exponent; 0 where that is less than tiny.   \param exponent  at most that of the largest number
template <class Value>
KOKKOS_INLINE_FUNCTION Value power_of_two(Exponent exponent) {
  using B = Bits<Value>;
  if (exponent <= -B::bias) return 0;
  return Kokkos::bit_cast<Value>(static_cast<typename B::Integer>(exponent + B::bias) << B::mantissa);
}

/// The exponent e with which value = m 2^e and 1/2 <= m < 1.   \param value  more than 0
template <class Value>
KOKKOS_INLINE_FUNCTION Index exponent_of(Value value) {
  using B = Bits<Value>;
  Index shift = 0;
  if (value < tiny<Value>) {
    shift = B::mantissa + 1;
    value *= power_of_two<Value>(B::mantissa + 1);
  }
  return static_cast<Index>(Kokkos::bit_cast<typename B::Integer>(value) >> B::mantissa) - B::bias + 1 - shift;
}

/// mantissa * 2^exponent: a number of at least 0, of which the mantissa is from 1/2 to 1, or 0 with no_exponent.
struct Scaled {
  double mantissa = 0;
  Exponent exponent = no_exponent;
};

/// \param value  at least 0
KOKKOS_INLINE_FUNCTION Scaled scaled(double value, Exponent exponent = 0) {
  if (!(value > 0)) return {};
  Index const shift = exponent_of(value);
  // in two steps: a power of 2 alone may be too large
  double const half = value * power_of_two<double>(-(shift / 2));
  return {half * power_of_two<double>(-(shift - shift / 2)), exponent + shift};
}

/// e^log, where that may be too small or too large for a double.
KOKKOS_INLINE_FUNCTION Scaled scaled_exp(double log) {
  constexpr double ln2 = 0.6931471805599453, lost_of_ln2 = 2.3190468138462996e-17;
  constexpr double most = 1e15;
  if (!(log > -most)) return {};
  double const exponent = Kokkos::floor(log / ln2) + 1;
  double const rest = Kokkos::fma(-exponent, lost_of_ln2, Kokkos::fma(-exponent, ln2, log));
  return scaled(Kokkos::exp(rest), static_cast<Exponent>(exponent));
}

/// ln of the logistic function.
KOKKOS_INLINE_FUNCTION double log_logistic(double t) {
  return t < 0 ? t - Kokkos::log1p(Kokkos::exp(t)) : -Kokkos::log1p(Kokkos::exp(-t));
}

KOKKOS_INLINE_FUNCTION Scaled product(Scaled const& a, Scaled const& b) {
  if (a.mantissa == 0 || b.mantissa == 0) return {};
  return scaled(a.mantissa * b.mantissa, a.exponent + b.exponent);
}

KOKKOS_INLINE_FUNCTION Scaled sum(Scaled const& a, Scaled const& b) {
  if (a.mantissa == 0) return b;
  if (b.mantissa == 0) return a;
  Exponent const exponent = larger(a.exponent, b.exponent);
  return scaled(a.mantissa * power_of_two<double>(a.exponent - exponent) +
                    b.mantissa * power_of_two<double>(b.exponent - exponent),
                exponent);
}

}  // namespace hornbill::circuit::detail
