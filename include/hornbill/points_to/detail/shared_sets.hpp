/// \file
/// Sets of objects by number, formed by many warps at once: what src/points_to/set_pool.hpp is for one thread.
///
/// A worker is a warp of a GPU, or a thread of a CPU. Equal sets have equal numbers, and an operation on numbered sets
/// is done once: who asks first claims a slot of a hash table and does it, who asks later waits for its result. Who
/// does an operation waits at most for a set that another worker stores, which waits for nobody: somebody always gets
/// on. Numbers depend on who comes first, sets do not.
///
/// A set is the blocks in which it has objects, with their positions. Before them is a mask for each 32 positions, so
/// that the block at a position is found without a search.
///
/// Memory has a limit that kernels cannot move. Where it is met, `is_full` is set, and operations return the empty set:
/// what was formed before stays right, so that the host may make room and go on.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/detail/allocate.hpp>
#include <hornbill/points_to/detail/shared_blocks.hpp>
#include <hornbill/types.hpp>

namespace hornbill::points_to::detail {

using SharedSetId = std::uint32_t;
inline constexpr SharedSetId shared_empty_set = 0;

inline constexpr std::uint32_t max_list_of_sets = 64;

/// How much there may be of what.
struct SharedSetSizes {
  std::uint32_t sets = 1 << 16;
  std::uint64_t entries = 1 << 18;     ///< blocks of all sets together, and masks
  std::uint32_t blocks = 1 << 16;      ///< different ones
  std::uint32_t operations = 1 << 18;  ///< that are remembered; a power of two
  std::uint32_t workers = 1;
  std::uint32_t blocks_of_set = 1;  ///< that have room for all objects

  std::size_t bytes() const {
    return std::size_t{sets} * 32 + entries * 8 + std::size_t{blocks} * 160 + std::size_t{operations} * 12 +
           std::size_t{workers} * blocks_of_set * (8 + sizeof(Block));
  }
};

/// Numbers that all workers change.
struct SharedSetCounters {
  std::uint64_t entries = 0;
  std::uint32_t sets = 1, operations = 0, between[32] = {};
  std::uint32_t is_full = 0;  ///< in another line of a cache: who waits looks at it all the time
};

/// Positions that a mask is for.
inline constexpr std::uint32_t positions_of_mask = 32;

/// Where a set's entries are: from `begin` on a mask for each 32 positions, from that of the first block to that of the
/// last, then `count` blocks.
struct SharedSetHeader {
  std::uint64_t begin;
  std::uint32_t count, first, last;  ///< blocks, and positions of the first and the last
  std::uint32_t hash;                ///< its lower half

  KOKKOS_FUNCTION std::uint32_t num_masks() const { return last / positions_of_mask - first / positions_of_mask + 1; }
  KOKKOS_FUNCTION std::uint64_t first_block() const { return begin + num_masks(); }
  KOKKOS_FUNCTION std::uint64_t end() const { return first_block() + count; }
};

template <class MemorySpace>
struct SharedSets {
  SharedSetSizes sizes;
  SharedBlocks<MemorySpace> blocks;
  Kokkos::View<BlockId*, MemorySpace> entries;          // [entries], or masks
  Kokkos::View<std::uint32_t*, MemorySpace> positions;  // [entries], of blocks; how many blocks come before a mask's
  Kokkos::View<SharedSetHeader*, MemorySpace> headers;  // [sets]
  Kokkos::View<std::uint32_t*, MemorySpace> index;      // [a power of two above 2 sets], by hash: a set, 0 or `claimed`
  Kokkos::View<std::uint64_t*, MemorySpace> keys;       // [operations]
  Kokkos::View<std::uint32_t*, MemorySpace> results;    // [operations]
  Kokkos::View<BlockId*, MemorySpace> made_entries;     // [workers * blocks_of_set], of the set that a worker forms
  Kokkos::View<std::uint32_t*, MemorySpace> made_positions;
  Kokkos::View<std::uint64_t*, MemorySpace> rows;  // [workers * words_of_row()], 0 while no worker adds up objects
  Kokkos::View<SharedSetCounters, MemorySpace> counters;

  KOKKOS_FUNCTION std::size_t words_of_row() const { return std::size_t{sizes.blocks_of_set} * Block::num_words; }
};

template <class ExecutionSpace>
SharedSets<typename ExecutionSpace::memory_space> make_shared_sets(ExecutionSpace const& exec,
                                                                   SharedSetSizes const& sizes) {
  using Memory = typename ExecutionSpace::memory_space;
  using hornbill::detail::allocate, hornbill::detail::allocate_initialised;
  SharedSets<Memory> s;
  s.sizes = sizes;
  auto const made = std::size_t{sizes.workers} * sizes.blocks_of_set;
  s.blocks = make_shared_blocks(exec, sizes.blocks);
  s.entries = allocate<decltype(s.entries)>(exec, "hornbill::points_to::entries", sizes.entries);
  s.positions = allocate<decltype(s.positions)>(exec, "hornbill::points_to::positions", sizes.entries);
  s.headers = allocate_initialised<decltype(s.headers)>(exec, "hornbill::points_to::headers", sizes.sets);
  s.index = allocate_initialised<decltype(s.index)>(exec, "hornbill::points_to::index", index_size_for(sizes.sets));
  s.keys = allocate_initialised<decltype(s.keys)>(exec, "hornbill::points_to::keys", sizes.operations);
  s.results = allocate_initialised<decltype(s.results)>(exec, "hornbill::points_to::results", sizes.operations);
  s.made_entries = allocate<decltype(s.made_entries)>(exec, "hornbill::points_to::made_entries", made);
  s.made_positions = allocate<decltype(s.made_positions)>(exec, "hornbill::points_to::made_positions", made);
  s.rows = allocate_initialised<decltype(s.rows)>(exec, "hornbill::points_to::rows", sizes.workers * s.words_of_row());
  s.counters =
      decltype(s.counters)(Kokkos::view_alloc(exec, "hornbill::points_to::counters", Kokkos::WithoutInitializing));
  Kokkos::deep_copy(exec, s.counters, SharedSetCounters{});
  return s;
}

/// Finds all sets by their hashes, in an index that has none.
template <class MemorySpace>
struct IndexSets {
  Kokkos::View<SharedSetHeader*, MemorySpace> headers;
  Kokkos::View<std::uint32_t*, MemorySpace> index;

  KOKKOS_FUNCTION void operator()(std::size_t set) const {
    if (headers(set).count == 0) return;
    auto const mask = index.extent(0) - 1;
    auto at = headers(set).hash & mask;
    while (Kokkos::atomic_compare_exchange(&index(at), 0u, static_cast<std::uint32_t>(set)) != 0) at = (at + 1) & mask;
  }
};

/// How much of it is used, without what workers have of their own.
template <class ExecutionSpace>
SharedSetSizes used_sizes(ExecutionSpace const& exec, SharedSets<typename ExecutionSpace::memory_space> const& s) {
  SharedSetCounters counters;
  std::uint32_t num_blocks = 0;
  Kokkos::deep_copy(exec, Kokkos::View<SharedSetCounters, Kokkos::HostSpace>(&counters), s.counters);
  Kokkos::deep_copy(exec, Kokkos::View<std::uint32_t, Kokkos::HostSpace>(&num_blocks), s.blocks.count);
  exec.fence("hornbill::points_to: sets are counted");
  auto used = s.sizes;  // those that met the end counted on
  used.workers = 0;
  used.sets = std::min(counters.sets, used.sets);
  used.entries = std::min(counters.entries, used.entries);
  used.blocks = std::min(num_blocks, used.blocks);
  used.operations = std::min(counters.operations, used.operations);
  return used;
}

/// Moves sets to where there is more room, and forgets operations: some may have had no result.
template <class ExecutionSpace>
void grow_shared_sets(ExecutionSpace const& exec, SharedSets<typename ExecutionSpace::memory_space>& s,
                      SharedSetSizes const& sizes) {
  using Memory = typename ExecutionSpace::memory_space;
  auto const used = used_sizes(exec, s);
  auto larger = make_shared_sets(exec, sizes);
  larger.blocks = s.blocks;
  grow_shared_blocks(exec, larger.blocks, used.blocks, sizes.blocks);
  auto const copy = [&](auto const& to, auto const& from, std::size_t count) {
    auto const all = Kokkos::pair<std::size_t, std::size_t>(0, count);
    Kokkos::deep_copy(exec, Kokkos::subview(to, all), Kokkos::subview(from, all));
  };
  copy(larger.entries, s.entries, used.entries);
  copy(larger.positions, s.positions, used.entries);
  copy(larger.headers, s.headers, used.sets);
  Kokkos::deep_copy(exec, larger.counters, SharedSetCounters{.entries = used.entries, .sets = used.sets});
  Kokkos::parallel_for("hornbill::points_to::index_sets",
                       Kokkos::RangePolicy<ExecutionSpace>(exec, 1, static_cast<std::int64_t>(used.sets)),
                       IndexSets<Memory>{larger.headers, larger.index});
  exec.fence("hornbill::points_to: sets have moved");
  s = larger;
}

}  // namespace hornbill::points_to::detail
