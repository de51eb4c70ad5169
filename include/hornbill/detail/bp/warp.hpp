// Exchange among the lanes of a warp. Only called in kernels of backends whose tuning asks for lanes.
#pragma once

#include <Kokkos_Core.hpp>

#include <hornbill/detail/bp/accumulator.hpp>
#include <hornbill/detail/bp/extended.hpp>

namespace hornbill::detail {

/// The value of lane `source`, of 32. All lanes of the warp must call it.
template <class T>
KOKKOS_INLINE_FUNCTION T from_lane(T const& value, [[maybe_unused]] int source) {
  KOKKOS_IF_ON_DEVICE((return __shfl_sync(0xffffffffu, value, source);))
  KOKKOS_IF_ON_HOST((return value;))
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
  int lane = 0;
  KOKKOS_IF_ON_DEVICE((lane = static_cast<int>(threadIdx.x) % 32;))
  return from_lane(value, lane ^ distance);
}

/// True for all lanes if it is for each. All lanes of the warp must call it.
KOKKOS_INLINE_FUNCTION bool all_lanes(bool condition) {
  KOKKOS_IF_ON_DEVICE((return __all_sync(0xffffffffu, condition);))
  KOKKOS_IF_ON_HOST((return condition;))
}

}  // namespace hornbill::detail
