// Values of a tile with a common exponent, and how wrong they may be.
#pragma once

#include <hornbill/circuit/detail/scaled.hpp>

namespace hornbill::circuit::detail {

/// Errors below this share of the smallest value are dropped: all tiles of a path together then change a likelihood by
/// less than its rounding does.
template <class Value>
inline constexpr Value negligible_error = sizeof(Value) == sizeof(float) ? Value(0x1p-40) : Value(0x1p-68);
/// Errors of a likelihood, as a share of it, with which it is certain.
template <class Value>
inline constexpr Value certain_error = sizeof(Value) == sizeof(float) ? Value(0x1p-20) : Value(0x1p-44);
/// A tile's unit is so large that no error is more than about 2^-error_room. So errors of factors, which add, are a
/// bound of their product's: what they multiply to is nothing beside them.
inline constexpr Index error_room = 40;

/// What is known of a tile's values for one sample before they are scaled: value i is true to `error`, in units of
/// 2^exponent.
template <class Value>
struct TileSummary {
  Value largest = 0;
  Value smallest = Kokkos::Experimental::finite_max_v<Value>;  ///< of values that are not 0
  bool has_zero = false;

  KOKKOS_FUNCTION void add(Value value) {
    largest = larger(largest, value);
    if (value > 0)
      smallest = smaller(smallest, value);
    else
      has_zero = true;
  }
};

/// Makes an error smaller; one that is not 0 stays so.   \param scale  at most 1; 0 if it is less than tiny
template <class Value>
KOKKOS_INLINE_FUNCTION Value scaled_error(Value error, Value scale) {
  return error > 0 ? larger(error * scale, tiny<Value>) : Value(0);
}

/// A parameter that is learnt, as a Value: one that is not 0 stays so.
template <class Value>
KOKKOS_INLINE_FUNCTION Value rounded_parameter(double parameter) {
  return parameter > 0 ? larger(static_cast<Value>(parameter), tiny<Value>) : Value(0);
}

/// Where tiles are, of a batch.
template <class Value, class MemorySpace>
struct TileValues {
  Kokkos::View<Value*, MemorySpace> values;
  Kokkos::View<Exponent*, MemorySpace> exponents;
  Kokkos::View<Value*, MemorySpace> smallest, errors;
  Offset stride = 0;

  KOKKOS_FUNCTION Value& value(Index row, Offset sample) const { return values(row * stride + sample); }
  KOKKOS_FUNCTION Exponent exponent(Index tile, Offset sample) const { return exponents(tile * stride + sample); }

  /// Stores a tile's exponent, and so on.
  /// \param exponent  of the values that the summary is of   \param error  of each of them, at most 1
  /// \return the factor by which values are to be multiplied when they are stored
  KOKKOS_FUNCTION Value finish(Index tile, Offset sample, TileSummary<Value> const& summary, Exponent exponent,
                               Value error) const {
    Offset const at = tile * stride + sample;
    bool const is_negligible = !summary.has_zero && error <= negligible_error<Value> * summary.smallest;
    if (is_negligible) error = 0;
    if (summary.largest == 0 && error == 0) {
      exponents(at) = no_exponent;
      smallest(at) = errors(at) = 0;
      return 0;
    }
    Index shift = summary.largest > 0 ? exponent_of(summary.largest) : -Bits<Value>::bias;
    if (error > 0) shift = larger(shift, exponent_of(error) + error_room);
    shift = larger(shift, -Bits<Value>::bias);
    Value const scale = power_of_two<Value>(-shift);
    exponents(at) = exponent + shift;
    smallest(at) = summary.largest > 0 ? summary.smallest * scale : Value(0);
    errors(at) = error > 0 ? larger(error * scale, tiny<Value>) : Value(0);
    return scale;
  }
};

}  // namespace hornbill::circuit::detail
