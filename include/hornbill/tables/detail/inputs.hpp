// How a kernel reads the inputs of reductions.
#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/backend/tuning.hpp>
#include <hornbill/tables/detail/layout.hpp>
#include <hornbill/tables/table_values.hpp>

namespace hornbill::tables::detail {

template <class ExecutionSpace>
inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;

/// Lanes of a team.
template <class ExecutionSpace>
inline constexpr int team_size_of = backend::TuningOf<ExecutionSpace>::value.tables.team_size;

/// 2^exponent, exactly.
KOKKOS_INLINE_FUNCTION double power_of_two(int exponent) {
  return Kokkos::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52);
}

/// The power of two that a table's values are divided by where they are read, so that the largest is between 1 and 2.
template <class Value>
KOKKOS_INLINE_FUNCTION int exponent_of(Value largest) {
  constexpr int most = sizeof(Value) == 4 ? 120 : 1000;  // a normal number, also its inverse
  return largest > 0 && !Kokkos::isinf(largest) ? Kokkos::clamp(static_cast<int>(Kokkos::logb(largest)), -most, most)
                                                : 0;
}

/// Between which numbers the positive cells are that a lane wrote; of semirings that do not scale nothing is kept.
template <class Semiring, bool scales = Semiring::scales>
struct Extent {
  KOKKOS_FORCEINLINE_FUNCTION void include(typename Semiring::Value) {}
};
template <class Semiring>
struct Extent<Semiring, true> {
  using Value = typename Semiring::Value;
  Value largest = 0, smallest = Kokkos::Experimental::infinity_v<Value>;

  KOKKOS_FORCEINLINE_FUNCTION void include(Value value) {
    largest = Kokkos::max(largest, value);
    if (value > 0) smallest = Kokkos::min(smallest, value);
  }
};

/// Makes a table's extent include a block's.
template <class Value>
KOKKOS_FORCEINLINE_FUNCTION void atomic_include(Value& largest, Value& smallest,
                                                Kokkos::MinMaxScalar<Value> const& of_block) {
  backend::atomic_extreme_of_positive<true>(largest, of_block.max_val);
  backend::atomic_extreme_of_positive<false>(smallest, of_block.min_val);
}

/// Reads the inputs of reductions.
template <class Semiring, class MemorySpace>
struct Inputs {
  using Value = typename Semiring::Value;

  Kokkos::View<ReductionTask const*, MemorySpace> tasks;
  Kokkos::View<ReductionInput const*, MemorySpace> inputs;
  Kokkos::View<Index const*, MemorySpace> steps;
  TableValues<Value, MemorySpace> values;

  KOKKOS_FUNCTION Value scale_of(ReductionInput const& input) const {
    if constexpr (Semiring::scales)
      return static_cast<Value>(power_of_two(-exponent_of(values.largest(input.table))));
    else
      return Semiring::one();
  }
  KOKKOS_FUNCTION static Value scaled(Value value, Value scale) {
    if constexpr (Semiring::scales)
      return value * scale;
    else
      return value;
  }
  /// How far a row is into an input, within the low digit.
  KOKKOS_FUNCTION Index row_step(ReductionInput const& input, Index low) const {
    return input.has_rows_in_order ? low : steps(input.row_low + low);
  }
  /// How far a state of what is eliminated is into an input, within the high digit.
  KOKKOS_FUNCTION Offset over_step(ReductionTask const& task, ReductionInput const& input, Index low) const {
    return task.is_strided ? Offset{low} * input.over_low : Offset{steps(input.over_low + low)};
  }
  KOKKOS_FUNCTION Value const* begin_of(ReductionInput const& input, Index row_high, Index over_high) const {
    return values.cells.data() + input.begin + steps(input.row_high + row_high) + steps(input.over_high + over_high);
  }
};

}  // namespace hornbill::tables::detail
