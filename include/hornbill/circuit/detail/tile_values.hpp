// Values of a tile with a common exponent, and how wrong they may be.
#pragma once

#include <hornbill/circuit/detail/scaled.hpp>

namespace hornbill::circuit::detail {

/// Errors below this share of the smallest value are dropped: all tiles of a path together then change a likelihood by
/// less than its rounding does.
inline constexpr double negligible_error = 0x1p-40;
/// Errors of a likelihood, as a share of it, with which it is certain.
inline constexpr double certain_error = 0x1p-20;

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

/// Makes an error larger or smaller; one that is not 0 stays so.
template <class Value>
KOKKOS_INLINE_FUNCTION Value scaled_error(Value error, Value scale) {
  return error > 0 ? larger(error * scale, tiny<Value>) : Value(0);
}

/// Where tiles are, of a batch.
template <class Value, class MemorySpace>
struct TileValues {
  Kokkos::View<Value*, MemorySpace> values;
  Kokkos::View<Index*, MemorySpace> exponents;
  Kokkos::View<Value*, MemorySpace> smallest, errors;
  Offset stride = 0;

  KOKKOS_FUNCTION Value& value(Index row, Offset sample) const { return values(row * stride + sample); }
  KOKKOS_FUNCTION Index exponent(Index tile, Offset sample) const { return exponents(tile * stride + sample); }

  /// Stores a tile's exponent, and so on.
  /// \param exponent  of the values that the summary is of   \param error  of each of them
  /// \return the factor by which values are to be multiplied when they are stored
  KOKKOS_FUNCTION Value finish(Index tile, Offset sample, TileSummary<Value> const& summary, Index exponent,
                               Value error) const {
    Offset const at = tile * stride + sample;
    if (summary.largest == 0) {
      exponents(at) = error > 0 ? exponent : no_exponent;
      smallest(at) = 0;
      errors(at) = error;
      return 0;
    }
    Index const shift = exponent_of(summary.largest);
    Value const scale = power_of_two<Value>(smaller(-shift, Bits<Value>::bias));
    bool const is_negligible = !summary.has_zero && error <= static_cast<Value>(negligible_error) * summary.smallest;
    exponents(at) = exponent - exponent_of(scale) + 1;
    smallest(at) = summary.smallest * scale;
    errors(at) = is_negligible ? Value(0) : scaled_error(error, scale);
    return scale;
  }
};

}  // namespace hornbill::circuit::detail
