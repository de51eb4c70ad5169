/// \file
/// What tables are combined by, and what is done over the variables that are eliminated.
#pragma once

#include <type_traits>

#include <Kokkos_Core.hpp>

#include <hornbill/tables/table_network.hpp>

namespace hornbill::tables {

/// Least sum: of costs (Cost, or NarrowCost), or of negated logarithms of probabilities. What is infinite stays so.
template <class T>
struct MinSum {
  using Value = T;
  static constexpr bool selects = true;  ///< add() gives one of its arguments, so that there is a best state
  static constexpr bool scales = false;  ///< tables are kept near 1 by powers of two

  KOKKOS_FUNCTION static T infinite() {
    if constexpr (std::is_integral_v<T>)
      return infinite_cost_of<T>;
    else
      return Kokkos::Experimental::infinity_v<T>;
  }
  KOKKOS_FUNCTION static T zero() { return infinite(); }  ///< of add()
  KOKKOS_FUNCTION static T one() { return 0; }            ///< of multiply()
  KOKKOS_FUNCTION static T multiply(T a, T b) {
    // both at most that, which is a quarter of the largest
    if constexpr (std::is_integral_v<T>)
      return Kokkos::min(a + b, infinite());
    else
      return a + b;
  }
  /// Of up to four values, whose sum is below the largest number; add() with zero() then makes infinite what is more.
  KOKKOS_FUNCTION static T multiply_few(T a, T b) { return a + b; }
  KOKKOS_FUNCTION static T add(T a, T b) { return Kokkos::min(a, b); }
  /// whether add() would rather give a than b, and they differ
  KOKKOS_FUNCTION static bool is_better(T a, T b) { return a < b; }
  using BestState = Kokkos::MinFirstLoc<T, Offset>;  ///< reducer

  /// Whether nothing is possible. A cost that was shifted may be somewhat below infinite.
  KOKKOS_FUNCTION static bool is_zero(T a) {
    if constexpr (std::is_integral_v<T>)
      return a >= infinite() / 2;
    else
      return a == infinite();
  }
  /// What makes each of several values their mean; all of these together change nothing.   \param value  by number,
  /// below count
  template <class ValueOf>
  KOKKOS_FUNCTION static T shift_to_mean(ValueOf const& value, Index count, Index which) {
    T sum = 0;
    for (Index k = 0; k < count; ++k) {
      if (is_zero(value(k))) return infinite();
      sum += value(k);
    }
    if constexpr (std::is_integral_v<T>) {  // the first have what a division leaves over
      T const mean = sum / count, left = sum % count;
      return mean + (which < Kokkos::abs(left) ? (left < 0 ? -1 : 1) : 0) - value(which);
    } else {
      return sum / count - value(which);
    }
  }
};

/// A cost, and how many assignments have it: exactly below 2^53, then to rounding; infinitely many above 1.7e308.
template <class T>
struct Counted {
  T cost;
  double count;
};

/// Least sum, and how many assignments have it; of what is infinite, none.
template <class T>
struct CountedMinSum {
  using Value = Counted<T>;
  static constexpr bool selects = false;
  static constexpr bool scales = false;
  KOKKOS_FUNCTION static Value zero() { return {MinSum<T>::infinite(), 0}; }
  KOKKOS_FUNCTION static Value one() { return {0, 1}; }
  KOKKOS_FUNCTION static Value multiply(Value a, Value b) {
    return {MinSum<T>::multiply(a.cost, b.cost), a.count * b.count};
  }
  KOKKOS_FUNCTION static Value multiply_few(Value a, Value b) { return {a.cost + b.cost, a.count * b.count}; }
  KOKKOS_FUNCTION static Value add(Value a, Value b) {
    if (a.cost != b.cost) return a.cost < b.cost ? a : b;
    return {a.cost, a.count + b.count};
  }
  /// A given cost.
  KOKKOS_FUNCTION static Value counted(T cost) { return {cost, cost == MinSum<T>::infinite() ? 0.0 : 1.0}; }
};

template <class T>
struct MaxSum;
template <class T>
struct LogSumExp;

/// What semirings of probabilities share. Junction trees ask for the last three.
template <class T>
struct Products {
  using Value = T;
  static constexpr bool scales = true;
  KOKKOS_FUNCTION static T zero() { return 0; }
  KOKKOS_FUNCTION static T one() { return 1; }
  KOKKOS_FUNCTION static T multiply(T a, T b) { return a * b; }
  KOKKOS_FUNCTION static T multiply_few(T a, T b) { return a * b; }
  /// A probability as this semiring has it.
  KOKKOS_FUNCTION static T of_probability(T p) { return p; }
  /// How much of b, which is not zero, a is.
  KOKKOS_FUNCTION static T ratio(T a, T b) { return a / b; }
  /// ln of the probability that a stands for; -infinity of zero().
  KOKKOS_FUNCTION static double log_of(T a) { return Kokkos::log(static_cast<double>(a)); }
};

/// What semirings of their natural logarithms share, in which no product is too small to be told from zero.
template <class T>
struct Logarithms {
  using Value = T;
  static constexpr bool scales = false;
  KOKKOS_FUNCTION static T zero() { return -Kokkos::Experimental::infinity_v<T>; }
  KOKKOS_FUNCTION static T one() { return 0; }
  KOKKOS_FUNCTION static T multiply(T a, T b) { return a + b; }
  KOKKOS_FUNCTION static T multiply_few(T a, T b) { return a + b; }
  KOKKOS_FUNCTION static T of_probability(T p) { return Kokkos::log(p); }
  KOKKOS_FUNCTION static T ratio(T a, T b) { return Kokkos::exp(a - b); }
  KOKKOS_FUNCTION static double log_of(T a) { return a; }
};

/// Largest product: of probabilities.
template <class T>
struct MaxProduct : Products<T> {
  static constexpr bool selects = true;
  /// What elimination is repeated in where products leave the range of numbers.
  using OfLogarithms = MaxSum<double>;
  KOKKOS_FUNCTION static T add(T a, T b) { return Kokkos::max(a, b); }
  KOKKOS_FUNCTION static bool is_better(T a, T b) { return a > b; }
  using BestState = Kokkos::MaxFirstLoc<T, Offset>;

  KOKKOS_FUNCTION static bool is_zero(T a) { return a == 0; }
  /// What makes each of several values their geometric mean.
  template <class ValueOf>
  KOKKOS_FUNCTION static T shift_to_mean(ValueOf const& value, Index count, Index which) {
    auto const log_of_value = [&](Index k) { return Kokkos::log(value(k)); };
    return Kokkos::exp(MaxSum<T>::shift_to_mean(log_of_value, count, which));
  }
};

/// Largest sum: of logarithms of probabilities. Elimination takes these, as elim::logarithms_of() makes them; junction
/// trees take probabilities and make them.
template <class T>
struct MaxSum : Logarithms<T> {
  static constexpr bool selects = true;
  KOKKOS_FUNCTION static T add(T a, T b) { return Kokkos::max(a, b); }
  KOKKOS_FUNCTION static bool is_better(T a, T b) { return a > b; }
  using BestState = Kokkos::MaxFirstLoc<T, Offset>;

  KOKKOS_FUNCTION static bool is_zero(T a) { return a == MaxSum::zero(); }
  /// What makes each of several values their mean.
  template <class ValueOf>
  KOKKOS_FUNCTION static T shift_to_mean(ValueOf const& value, Index count, Index which) {
    T sum = 0;
    for (Index k = 0; k < count; ++k) {
      if (is_zero(value(k))) return MaxSum::zero();
      sum += value(k);
    }
    return sum / static_cast<T>(count) - value(which);
  }
};

/// Sum of products: of probabilities.
template <class T>
struct SumProduct : Products<T> {
  static constexpr bool selects = false;
  using OfLogarithms = LogSumExp<double>;
  KOKKOS_FUNCTION static T add(T a, T b) { return a + b; }
};

/// The same of logarithms: slower, for what no power of two keeps in range. Elimination and junction trees are given
/// the same as for MaxSum.
template <class T>
struct LogSumExp : Logarithms<T> {
  static constexpr bool selects = false;
  KOKKOS_FUNCTION static T add(T a, T b) {
    T const larger = Kokkos::max(a, b), smaller = Kokkos::min(a, b);
    return smaller == LogSumExp::zero() ? larger : larger + Kokkos::log1p(Kokkos::exp(smaller - larger));
  }
};

}  // namespace hornbill::tables
