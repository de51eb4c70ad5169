/// \file
/// Sets of objects by number, formed by many warps at once: what src/points_to/set_pool.hpp is for one thread.
///
/// A worker is a warp of a GPU, or a thread of a CPU. Equal sets have equal numbers, and an operation on numbered sets
/// is done once: who asks first claims a slot of a hash table and does it, who asks later waits for its result. Nobody
/// waits while doing an operation, so somebody always gets on. Numbers depend on who comes first, sets do not.
///
/// A set is the blocks in which it has objects, with their positions. Where more than half of the blocks from its first
/// to its last would be there, it is a run of all of these: then the block at a position is found at once, and not by
/// search. Which of the two follows from the objects alone.
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
  std::uint64_t entries = 1 << 18;     ///< blocks of all sets together
  std::uint32_t blocks = 1 << 16;      ///< different ones
  std::uint32_t operations = 1 << 18;  ///< that are remembered; a power of two
  std::uint32_t workers = 1;
  std::uint32_t blocks_of_set = 1;  ///< that have room for all objects

  std::size_t bytes() const {
    return std::size_t{sets} * 36 + entries * 8 + std::size_t{blocks} * 160 + std::size_t{operations} * 12 +
           std::size_t{workers} * (blocks_of_set * (8 + sizeof(Block)) + max_list_of_sets * sizeof(SharedSetId));
  }
};

/// Numbers that all workers change.
struct SharedSetCounters {
  std::uint64_t entries = 0;
  std::uint32_t sets = 1, operations = 0, between[32] = {};
  std::uint32_t is_full = 0;  ///< in another line of a cache: who waits looks at it all the time
};

/// Where a set's entries are.
struct SharedSetHeader {
  std::uint64_t begin;
  std::uint32_t count;  ///< of entries
  std::uint32_t first;  ///< position of a run's first block; `no_run` of others

  static constexpr std::uint32_t no_run = 0xffffffffu;
};

template <class MemorySpace>
struct SharedSets {
  SharedSetSizes sizes;
  SharedBlocks<MemorySpace> blocks;
  Kokkos::View<BlockId*, MemorySpace> entries;          // [entries]; only runs have some without a block
  Kokkos::View<std::uint32_t*, MemorySpace> positions;  // [entries], of blocks
  Kokkos::View<SharedSetHeader*, MemorySpace> headers;  // [sets]
  Kokkos::View<std::uint32_t*, MemorySpace> filled;     // [sets], entries with a block
  Kokkos::View<std::uint64_t*, MemorySpace> hashes;     // [sets]
  Kokkos::View<std::uint32_t*, MemorySpace> index;      // [a power of two above 2 sets], by hash: a set, 0 or `claimed`
  Kokkos::View<std::uint64_t*, MemorySpace> keys;       // [operations]
  Kokkos::View<std::uint32_t*, MemorySpace> results;    // [operations]
  Kokkos::View<BlockId*, MemorySpace> made_entries;     // [workers * blocks_of_set], of the set that a worker forms
  Kokkos::View<std::uint32_t*, MemorySpace> made_positions;
  Kokkos::View<std::uint64_t*, MemorySpace> rows;  // [workers * words_of_row()], 0 while no worker adds up objects
  Kokkos::View<SharedSetId*, MemorySpace> lists;   // [workers * max_list_of_sets], that a worker unites at once
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
  s.filled = allocate_initialised<decltype(s.filled)>(exec, "hornbill::points_to::filled", sizes.sets);
  s.hashes = allocate<decltype(s.hashes)>(exec, "hornbill::points_to::hashes", sizes.sets);
  s.index = allocate_initialised<decltype(s.index)>(exec, "hornbill::points_to::index", index_size_for(sizes.sets));
  s.keys = allocate_initialised<decltype(s.keys)>(exec, "hornbill::points_to::keys", sizes.operations);
  s.results = allocate_initialised<decltype(s.results)>(exec, "hornbill::points_to::results", sizes.operations);
  s.made_entries = allocate<decltype(s.made_entries)>(exec, "hornbill::points_to::made_entries", made);
  s.made_positions = allocate<decltype(s.made_positions)>(exec, "hornbill::points_to::made_positions", made);
  s.rows = allocate_initialised<decltype(s.rows)>(exec, "hornbill::points_to::rows", sizes.workers * s.words_of_row());
  s.lists =
      allocate<decltype(s.lists)>(exec, "hornbill::points_to::lists", std::size_t{sizes.workers} * max_list_of_sets);
  s.counters =
      decltype(s.counters)(Kokkos::view_alloc(exec, "hornbill::points_to::counters", Kokkos::WithoutInitializing));
  Kokkos::deep_copy(exec, s.counters, SharedSetCounters{});
  return s;
}

/// Finds all sets by their hashes, in an index that has none.
template <class MemorySpace>
struct IndexSets {
  Kokkos::View<std::uint64_t*, MemorySpace> hashes;
  Kokkos::View<std::uint32_t*, MemorySpace> filled, index;

  KOKKOS_FUNCTION void operator()(std::size_t set) const {
    if (filled(set) == 0) return;
    auto const mask = index.extent(0) - 1;
    auto at = hashes(set) & mask;
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
  copy(larger.filled, s.filled, used.sets);
  copy(larger.hashes, s.hashes, used.sets);
  Kokkos::deep_copy(exec, larger.counters, SharedSetCounters{.entries = used.entries, .sets = used.sets});
  Kokkos::parallel_for("hornbill::points_to::index_sets",
                       Kokkos::RangePolicy<ExecutionSpace>(exec, 1, static_cast<std::int64_t>(used.sets)),
                       IndexSets<Memory>{larger.hashes, larger.filled, larger.index});
  exec.fence("hornbill::points_to: sets have moved");
  s = larger;
}

}  // namespace hornbill::points_to::detail
