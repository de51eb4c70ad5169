// Exchange of what messages are made of among the lanes of a warp. Only called in kernels of backends whose tuning
// asks for lanes.
#pragma once

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/bp/detail/accumulator.hpp>
#include <hornbill/bp/detail/extended.hpp>

namespace hornbill::bp::detail {

/// The value of lane `source`, of 32. All lanes of the warp must call it.
template <class T>
KOKKOS_INLINE_FUNCTION T from_lane(T const& value, int source) {
  return backend::shuffle(value, source);
}
template <class Value>
KOKKOS_INLINE_FUNCTION Extended<Value> from_lane(Extended<Value> const& value, int source) {
  return {from_lane(value.m, source), from_lane(value.k, source)};
}

template <class Value>
KOKKOS_INLINE_FUNCTION Accumulator<Value> from_lane(Accumulator<Value> const& sum, int source) {
  Accumulator<Value> result;
  result.high = from_lane(sum.high, source);
  if constexpr (sizeof(Value) == 8) result.low = from_lane(sum.low, source);
  result.plus = from_lane(sum.plus, source);
  result.minus = from_lane(sum.minus, source);
  return result;
}
/// The value of the lane whose number differs from the caller's in the bits of `distance`. All lanes of the warp must
/// call it.
template <class T>
KOKKOS_INLINE_FUNCTION T from_lane_beside(T const& value, int distance) {
  return from_lane(value, backend::lane_id() ^ distance);
}

using backend::all_lanes;

}  // namespace hornbill::bp::detail
