/// \file
/// Instructions of a GPU that Kokkos has no name for: exchange among the lanes of a warp, and how memory is read and
/// written. On the host each does what a lane by itself would. A backend for other GPUs gets its instructions here.
#pragma once

#include <atomic>
#include <cstdint>
#include <thread>
#include <type_traits>

#include <Kokkos_Core.hpp>

namespace hornbill::backend {

/// Lanes that exchange values. Plans pack work into warps of this many lanes; the hardware's width must be a multiple.
inline constexpr int warp_size = 32;

/// The caller's lane.   \return 0 to warp_size - 1; 0 on the host
KOKKOS_INLINE_FUNCTION int lane_id() {
  int lane = 0;
  KOKKOS_IF_ON_DEVICE((lane = static_cast<int>(threadIdx.x) % warp_size;))
  return lane;
}

/// The value of lane `source`. All lanes of the warp must call it.
template <class T>
KOKKOS_INLINE_FUNCTION T shuffle(T const& value, [[maybe_unused]] int source) {
  KOKKOS_IF_ON_DEVICE((return __shfl_sync(0xffffffffu, value, source);))
  KOKKOS_IF_ON_HOST((return value;))
}

/// True for all lanes if it is for each. All lanes of the warp must call it.
KOKKOS_INLINE_FUNCTION bool all_lanes(bool condition) {
  KOKKOS_IF_ON_DEVICE((return __all_sync(0xffffffffu, condition);))
  KOKKOS_IF_ON_HOST((return condition;))
}

/// How many lanes work together: warp_size on a GPU, 1 on the host.
KOKKOS_INLINE_FUNCTION int lanes_together() {
  KOKKOS_IF_ON_DEVICE((return warp_size;))
  KOKKOS_IF_ON_HOST((return 1;))
}

/// A bit for each lane of the warp, set where the lane's condition holds. All lanes of the warp must call it.
KOKKOS_INLINE_FUNCTION unsigned lanes_where(bool condition) {
  KOKKOS_IF_ON_DEVICE((return __ballot_sync(0xffffffffu, condition);))
  KOKKOS_IF_ON_HOST((return condition ? 1u : 0u;))
}

/// What the lanes of the warp wrote before it, all of them see behind it. All lanes of the warp must call it.
KOKKOS_INLINE_FUNCTION void sync_lanes() { KOKKOS_IF_ON_DEVICE((__syncwarp();)) }

/// Reads, or writes, what other threads write at the same time. Kokkos::atomic_load() and atomic_store() exchange
/// values, so that all threads that look at a place wait for each other.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T read_shared(T const& place) {
  KOKKOS_IF_ON_DEVICE((return *static_cast<T const volatile*>(&place);))
  KOKKOS_IF_ON_HOST((return std::atomic_ref<T>(const_cast<T&>(place)).load(std::memory_order_relaxed);))
}
template <class T>
KOKKOS_FORCEINLINE_FUNCTION void write_shared(T& place, std::type_identity_t<T> value) {
  KOKKOS_IF_ON_DEVICE((*static_cast<T volatile*>(&place) = value;))
  KOKKOS_IF_ON_HOST((std::atomic_ref<T>(place).store(value, std::memory_order_relaxed);))
}

/// Reads a place; what the thread reads behind it is not older than what the writer of the value wrote before.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T read_acquire(T const& place) {
  static_assert(sizeof(T) == 4 || sizeof(T) == 8);
#ifdef __CUDA_ARCH__
  T value;
  if constexpr (sizeof(T) == 4)
    asm volatile("ld.acquire.gpu.u32 %0, [%1];" : "=r"(value) : "l"(&place) : "memory");
  else
    asm volatile("ld.acquire.gpu.u64 %0, [%1];" : "=l"(value) : "l"(&place) : "memory");
  return value;
#else
  return std::atomic_ref<T>(const_cast<T&>(place)).load(std::memory_order_acquire);
#endif
}

/// Who sees what this thread writes or changes behind it sees what it wrote before; and what the thread reads behind it
/// is not older than what it read before. But the thread may read one place before others see what it wrote to another:
/// where two threads each write a place and then read the other's, and one of them must see what the other wrote, both
/// need Kokkos::memory_fence(), which takes several times as long.
KOKKOS_INLINE_FUNCTION void order_memory() {
  KOKKOS_IF_ON_DEVICE((asm volatile("fence.acq_rel.gpu;" ::: "memory");))
  KOKKOS_IF_ON_HOST((std::atomic_thread_fence(std::memory_order_acq_rel);))
}

/// Called while waiting for another thread: on the host the one that is waited for may have no core to run on, and
/// thousands of warps that look at one place of memory hinder those that write to it.
KOKKOS_INLINE_FUNCTION void let_others_run() {
  KOKKOS_IF_ON_DEVICE((__nanosleep(100);))
  KOKKOS_IF_ON_HOST((std::this_thread::yield();))
}

/// Writes two numbers at once, to a place that is aligned to 16 bytes. nvcc 13 copies an aggregate with padding a byte
/// at a time, so it is told how.
KOKKOS_INLINE_FUNCTION void store_16_bytes(void* place, double first, double second) {
  KOKKOS_IF_ON_DEVICE((*static_cast<double2*>(place) = double2{first, second};))
  KOKKOS_IF_ON_HOST((static_cast<double*>(place)[0] = first; static_cast<double*>(place)[1] = second;))
}
/// A number whose bits are those of two integers.
KOKKOS_INLINE_FUNCTION double double_of_bits(std::int32_t low, std::int32_t high) {
  KOKKOS_IF_ON_DEVICE((return __hiloint2double(high, low);))
  KOKKOS_IF_ON_HOST(
      (return Kokkos::bit_cast<double>(static_cast<std::uint64_t>(static_cast<std::uint32_t>(high)) << 32 |
                                       static_cast<std::uint32_t>(low));))
}

/// Reads what no thread of the kernel writes: on a GPU it may then be read before values that are written earlier.
template <class T>
KOKKOS_FORCEINLINE_FUNCTION T load_read_only(T const* place) {
#ifdef __CUDA_ARCH__
  if constexpr (std::is_arithmetic_v<T>) return __ldg(place);
#endif
  return *place;
}

/// Makes a number of at least 0 at least `value`, which is too, or with `largest` false at most. The bits of such
/// numbers are ordered as they are, and a GPU takes the larger of them in one instruction that nothing waits for; for
/// numbers it would try again and again.
template <bool largest, class Value>
KOKKOS_FORCEINLINE_FUNCTION void atomic_extreme_of_positive(Value& place, Value value) {
#ifdef __CUDA_ARCH__
  using Bits = std::conditional_t<sizeof(Value) == sizeof(unsigned), unsigned, unsigned long long>;
  auto* const bits = reinterpret_cast<Bits*>(&place);
  if constexpr (largest)
    Kokkos::atomic_max(bits, Kokkos::bit_cast<Bits>(value));
  else
    Kokkos::atomic_min(bits, Kokkos::bit_cast<Bits>(value));
#else
  Value const now = read_shared(place);
  if constexpr (largest) {
    if (now < value) Kokkos::atomic_max(&place, value);
  } else {
    if (now > value) Kokkos::atomic_min(&place, value);
  }
#endif
}

}  // namespace hornbill::backend
