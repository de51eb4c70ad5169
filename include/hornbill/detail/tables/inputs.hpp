// How a kernel reads the inputs of reductions.
#pragma once

#include <cstdint>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include <hornbill/detail/tables/layout.hpp>
#include <hornbill/tables/table_values.hpp>

namespace hornbill::tables::detail {

template <class ExecutionSpace>
inline constexpr bool runs_on_host =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;

/// Lanes of a team.
template <class ExecutionSpace>
inline constexpr int team_size_of = runs_on_host<ExecutionSpace> ? 1 : 256;

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

/// Makes a table's extent include a block's. Numbers of at least 0 are ordered as their bits are, of which a GPU takes
/// the larger in one instruction that nothing waits for; for numbers it would try again and again.
template <class Value>
KOKKOS_FORCEINLINE_FUNCTION void atomic_include(Value& largest, Value& smallest,
                                                Kokkos::MinMaxScalar<Value> const& of_block) {
#ifdef __CUDA_ARCH__
  using Bits = std::conditional_t<sizeof(Value) == sizeof(unsigned), unsigned, unsigned long long>;
  Kokkos::atomic_max(reinterpret_cast<Bits*>(&largest), Kokkos::bit_cast<Bits>(of_block.max_val));
  Kokkos::atomic_min(reinterpret_cast<Bits*>(&smallest), Kokkos::bit_cast<Bits>(of_block.min_val));
#else
  if (Kokkos::atomic_load(&largest) < of_block.max_val) Kokkos::atomic_max(&largest, of_block.max_val);
  if (Kokkos::atomic_load(&smallest) > of_block.min_val) Kokkos::atomic_min(&smallest, of_block.min_val);
#endif
}

/// Reads what no thread of the kernel writes: on a GPU it may then be read before values that are written earlier.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T load(T const* place) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_arithmetic_v<T>) return __ldg(place);
#endif
  return *place;
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
    return task.is_strided ? Offset{low} * input.stride : Offset{steps(input.over_low + low)};
  }
  KOKKOS_FUNCTION Value const* begin_of(ReductionInput const& input, Index row_high, Index over_high) const {
    return values.cells.data() + input.begin + steps(input.row_high + row_high) + steps(input.over_high + over_high);
  }
};

}  // namespace hornbill::tables::detail
