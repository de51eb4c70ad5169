// Sums of log-odds that do not depend on the order of their terms.
//
// The belief of a variable is the sum of its incoming log-odds, and a message leaves one term out. If that sum were
// rounded at every step it would depend on the order of updates, and keeping it up to date by adding differences would
// let it drift. So each term is first rounded to a fixed grid, on which addition in double is exact: sums may be formed
// in any order, in parallel, by atomics, or kept up to date for ever, with the same bits; leaving one out is exact too.
// Exact zeros and ones (infinite log-odds) are counted beside the finite sum.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>

namespace hornbill::bp::detail {

/// Rounds to a multiple of 2^-bits, for |x| well below 2^(51 - bits).
template <int bits>
KOKKOS_INLINE_FUNCTION double round_to_grid(double x) {
  constexpr double shift = 1.5 * static_cast<double>(std::uint64_t{1} << (52 - bits));
  return (x + shift) - shift;
}

/// One term of a sum, on the grid.
template <class Value>
struct GridTerm;

/// Two grids, 2^-16 and 2^-51: a term keeps an absolute precision of 2^-52, and sums of up to 2^19 terms are exact.
template <>
struct GridTerm<double> {
  double high = 0, low = 0;
  static constexpr double largest = 0x1p18;  ///< finite log-odds beyond this are taken as this

  static KOKKOS_FUNCTION GridTerm of(double l) {
    GridTerm t;
    t.high = round_to_grid<16>(l);
    t.low = round_to_grid<51>(l - t.high);
    return t;
  }
};

/// One grid, 2^-24, summed in double: sums up to 2^29 are exact.
template <>
struct GridTerm<float> {
  double high = 0;
  static constexpr float largest = 0x1p17f;

  static KOKKOS_FUNCTION GridTerm of(float l) { return {round_to_grid<24>(static_cast<double>(l))}; }
};

/// A sum of log-odds. 32 bytes in double: one memory sector on the GPU.
template <class Value>
struct Accumulator;
template <>
struct alignas(32) Accumulator<double> {
  double high = 0, low = 0;
  std::int32_t plus = 0, minus = 0;  ///< terms that are +infinity, -infinity
};
template <>
struct alignas(16) Accumulator<float> {
  double high = 0;
  std::int32_t plus = 0, minus = 0;
};

/// Writes a sum to memory, 16 bytes at a time on a GPU.
KOKKOS_INLINE_FUNCTION void store(Accumulator<double>& to, Accumulator<double> const& sum) {
  KOKKOS_IF_ON_DEVICE((backend::store_16_bytes(&to.high, sum.high, sum.low);
                       backend::store_16_bytes(&to.plus, backend::double_of_bits(sum.plus, sum.minus), 0);))
  KOKKOS_IF_ON_HOST((to = sum;))
}
KOKKOS_INLINE_FUNCTION void store(Accumulator<float>& to, Accumulator<float> const& sum) {
  KOKKOS_IF_ON_DEVICE((backend::store_16_bytes(&to.high, sum.high, backend::double_of_bits(sum.plus, sum.minus));))
  KOKKOS_IF_ON_HOST((to = sum;))
}

KOKKOS_INLINE_FUNCTION void add_finite(Accumulator<double>& sum, GridTerm<double> t) {
  sum.high += t.high;
  sum.low += t.low;
}
KOKKOS_INLINE_FUNCTION void add_finite(Accumulator<float>& sum, GridTerm<float> t) { sum.high += t.high; }
KOKKOS_INLINE_FUNCTION double finite_part(Accumulator<double> const& sum) { return sum.high + sum.low; }
KOKKOS_INLINE_FUNCTION float finite_part(Accumulator<float> const& sum) { return static_cast<float>(sum.high); }
KOKKOS_INLINE_FUNCTION double finite_part_without(Accumulator<double> const& sum, GridTerm<double> t) {
  return (sum.high - t.high) + (sum.low - t.low);
}
KOKKOS_INLINE_FUNCTION float finite_part_without(Accumulator<float> const& sum, GridTerm<float> t) {
  return static_cast<float>(sum.high - t.high);
}

template <class Value>
KOKKOS_INLINE_FUNCTION void add_term(Accumulator<Value>& sum, Value l) {
  if (Kokkos::isinf(l))
    ++(l > 0 ? sum.plus : sum.minus);
  else
    add_finite(sum, GridTerm<Value>::of(l));
}

template <class Value>
KOKKOS_INLINE_FUNCTION void add_sum(Accumulator<Value>& sum, Accumulator<Value> const& other) {
  sum.high += other.high;
  if constexpr (sizeof(Value) == 8) sum.low += other.low;
  sum.plus += other.plus;
  sum.minus += other.minus;
}

/// What replaces term `before` by term `after` when added to a sum.
template <class Value>
KOKKOS_INLINE_FUNCTION Accumulator<Value> difference(Value before, Value after) {
  Accumulator<Value> sum;
  if (Kokkos::isinf(before)) {
    --(before > 0 ? sum.plus : sum.minus);
  } else {
    auto const t = GridTerm<Value>::of(before);
    sum.high = -t.high;
    if constexpr (sizeof(Value) == 8) sum.low = -t.low;
  }
  add_term(sum, after);
  return sum;
}

template <class Value>
KOKKOS_INLINE_FUNCTION void atomic_add_sum(Accumulator<Value>& sum, Accumulator<Value> const& other) {
  if (other.high != 0) Kokkos::atomic_add(&sum.high, other.high);
  if constexpr (sizeof(Value) == 8)
    if (other.low != 0) Kokkos::atomic_add(&sum.low, other.low);
  if (other.plus != 0) Kokkos::atomic_add(&sum.plus, other.plus);
  if (other.minus != 0) Kokkos::atomic_add(&sum.minus, other.minus);
}

/// Log-odds of a sum. Infinite terms of both signs contradict each other; they give 0 here and are reported by
/// the belief kernel.
template <class Value>
KOKKOS_INLINE_FUNCTION Value log_odds(Accumulator<Value> const& sum) {
  constexpr Value infinity = Kokkos::Experimental::infinity_v<Value>;
  if (sum.plus > 0) return sum.minus > 0 ? Value(0) : infinity;
  return sum.minus > 0 ? -infinity : finite_part(sum);
}

/// The probability that log-odds give.
template <class Value>
KOKKOS_INLINE_FUNCTION Value probability(Value log_odds) {
  Value const small = Kokkos::exp(-Kokkos::abs(log_odds));  // 0 for infinite ones
  return (log_odds > 0 ? Value(1) : small) / (1 + small);
}

/// Log-odds of a sum without one of its terms: a variable-to-factor message.
template <class Value>
KOKKOS_INLINE_FUNCTION Value log_odds_without(Accumulator<Value> const& sum, Value term) {
  constexpr Value infinity = Kokkos::Experimental::infinity_v<Value>;
  bool const infinite = Kokkos::isinf(term);
  std::int32_t const plus = sum.plus - (infinite && term > 0), minus = sum.minus - (infinite && term < 0);
  if (plus > 0) return minus > 0 ? Value(0) : infinity;
  if (minus > 0) return -infinity;
  return infinite ? finite_part(sum) : finite_part_without(sum, GridTerm<Value>::of(term));
}

/// Keeps finite log-odds on the range of the grid.
template <class Value>
KOKKOS_INLINE_FUNCTION Value limit_to_grid(Value l) {
  constexpr Value largest = GridTerm<Value>::largest;
  if (Kokkos::isinf(l)) return l;
  // NaN is taken as it was by fmin and fmax, which are calls
  return !(l <= largest) ? largest : l < -largest ? -largest : l;
}

}  // namespace hornbill::bp::detail
