// Non-negative numbers of practically unlimited range.
//
// Odds of messages leave the range of double (10^+-308) where hubs and wide disjunctions saturate, and that of float
// (10^+-38) soon after the start; rounding them to 0 or infinity would turn improbable into impossible. So a number is
// m * 2^(block * k): arithmetic on m is the machine's own, and k changes only when m leaves its middle range.
#pragma once

#include <Kokkos_Core.hpp>

namespace hornbill::bp::detail {

/// Bits in a block: products and aligned sums of numbers within [2^(-block/2), 2^(block/2)) stay representable.
template <class Value>
struct ExtendedRange;
template <>
struct ExtendedRange<double> {
  static constexpr double up = 0x1p256, down = 0x1p-256, high = 0x1p128, low = 0x1p-128;
  static constexpr double log_block = 177.44567822334599921;  // 256 ln 2 ...
  static constexpr double log_block_high = 0x1.62e42p+7, log_block_low = log_block - 0x1.62e42p+7;
  static constexpr double plain = 0x1p480, log_plain = 332.7;  // see is_ordinary()
  // whose numbers fit in a double with room
  static constexpr float plain_blocks = 1.f, log_blocks = 3.f;
};
template <>
struct ExtendedRange<float> {
  static constexpr float up = 0x1p64f, down = 0x1p-64f, high = 0x1p32f, low = 0x1p-32f;
  static constexpr float log_block = 44.3614195558364998f;  // 64 ln 2 = high + low, high with few bits
  static constexpr float log_block_high = 0x1.62ep+5f, log_block_low = 44.3614195558364998 - 0x1.62ep+5;
  static constexpr float plain = 0x1p55f, log_plain = 38.12f;
  static constexpr float plain_blocks = 0.f, log_blocks = 1.f;
};

template <class Value>
struct Extended {
  Value m = 0;           ///< 0, or in [low, high) of ExtendedRange
  float k = zero_block;  ///< whole number of blocks; exact to 2^24, beyond any finite message

  static constexpr float zero_block = -1e30f, infinite_block = 1e30f, infinite_from = 1e29f;
  using Range = ExtendedRange<Value>;

  static KOKKOS_FUNCTION Extended zero() { return {}; }
  static KOKKOS_FUNCTION Extended infinity() { return {Value(1), infinite_block}; }

  /// Any value >= 0, finite.
  static KOKKOS_FUNCTION Extended from(Value value) {
    Extended x{value, 0.f};
    if (value == 0) return zero();
    while (x.m >= Range::high) {
      x.m *= Range::down;
      x.k += 1.f;
    }
    while (x.m < Range::low) {
      x.m *= Range::up;
      x.k -= 1.f;
    }
    return x;
  }
  /// exp(l), for l from -infinity to infinity. Near the middle it is the machine's exp.
  static KOKKOS_FUNCTION Extended exp(Value l) {
    if (Kokkos::abs(l) < Range::log_plain) return from(Kokkos::exp(l));
    if (Kokkos::isinf(l)) return l > 0 ? infinity() : zero();
    Value const blocks = Kokkos::round(l / Range::log_block);
    return normalised(Kokkos::exp((l - blocks * Range::log_block_high) - blocks * Range::log_block_low),
                      static_cast<float>(blocks));
  }

  KOKKOS_FUNCTION bool is_zero() const { return m == 0; }
  /// 0 or so near the middle that plain arithmetic gives the same bits.
  KOKKOS_FUNCTION bool is_ordinary() const { return Kokkos::abs(k) <= Range::plain_blocks || is_zero(); }
  /// The same number, if that does not leave the range of Value.
  KOKKOS_FUNCTION Value plain() const {
    Value x = m;
    if (!is_zero()) {
      for (float block = k; block > 0.f; block -= 1.f) x *= Range::up;
      for (float block = k; block < 0.f; block += 1.f) x *= Range::down;
    }
    return x;
  }
  KOKKOS_FUNCTION bool is_infinite() const { return k >= infinite_from; }
  /// Natural logarithm; -infinity for 0. Near the middle it is the machine's log.
  KOKKOS_FUNCTION Value log() const {
    if (is_zero() || k <= -infinite_from) return -Kokkos::Experimental::infinity_v<Value>;  // 0, or finite / infinite
    if (is_infinite()) return Kokkos::Experimental::infinity_v<Value>;
    if (Kokkos::abs(k) <= Range::log_blocks) return Kokkos::log(plain());
    return Value(k) * Range::log_block + Kokkos::log(m);
  }

  friend KOKKOS_FUNCTION bool operator<(Extended a, Extended b) { return a.k < b.k || (a.k == b.k && a.m < b.m); }

  // Selections instead of branches: lanes of a warp meet all cases at once.
  friend KOKKOS_FUNCTION Extended operator+(Extended a, Extended b) {
    bool const swap = a.k < b.k;
    Extended const large{swap ? b.m : a.m, swap ? b.k : a.k}, small{swap ? a.m : b.m, swap ? a.k : b.k};
    float const apart = large.k - small.k;  // two blocks apart is beyond rounding
    return normalised(large.m + small.m * (apart == 0.f ? Value(1) : apart == 1.f ? Range::down : Value(0)), large.k);
  }
  friend KOKKOS_FUNCTION Extended operator*(Extended a, Extended b) { return normalised(a.m * b.m, a.k + b.k); }
  /// a / b, for b not 0 and not both infinite: infinities are told by their block alone, their factor means nothing.
  friend KOKKOS_FUNCTION Extended operator/(Extended a, Extended b) { return normalised(a.m / b.m, a.k - b.k); }

 private:
  static KOKKOS_FUNCTION Extended normalised(Value m, float k) {
    bool const up = m < Range::low, down = m >= Range::high;
    k += down ? 1.f : up ? -1.f : 0.f;
    return {m * (down ? Range::down : up ? Range::up : Value(1)), m == 0 ? zero_block : k};
  }
};

/// Writes a number to memory. Field by field: nvcc 13 copies the whole of an aggregate with padding a byte at a time.
template <class Value>
KOKKOS_INLINE_FUNCTION void store(Extended<Value>& to, Extended<Value> const& x) {
  to.m = x.m;
  to.k = x.k;
}

}  // namespace hornbill::bp::detail
