/// \file
/// Blocks of 1,024 bits by number: equal ones are stored once, whichever of many threads forms them.
///
/// Sets of one program are alike: where two differ, they differ in a few blocks. So a set is made of numbers of blocks,
/// and its union with another one looks at a block's bits only where the two have different numbers.
#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/detail/allocate.hpp>
#include <hornbill/points_to/detail/hash.hpp>

namespace hornbill::points_to::detail {

using BlockId = std::uint32_t;
inline constexpr BlockId no_block = 0;  ///< all bits are 0

/// A block in registers of one thread.
struct Block {
  static constexpr int num_words = 16, num_bits = 64 * num_words;
  std::uint64_t words[num_words] = {};

  KOKKOS_FUNCTION bool is_empty() const {
    std::uint64_t all = 0;
    for (int w = 0; w < num_words; ++w) all |= words[w];
    return all == 0;
  }
  KOKKOS_FUNCTION std::uint64_t hash() const {
    std::uint64_t sum = 0;
    for (int w = 0; w < num_words; ++w) sum += hash_of_word(words[w], static_cast<std::uint64_t>(w));
    return mixed(sum);
  }
};

template <class MemorySpace>
struct SharedBlocks {
  Kokkos::View<std::uint64_t*, MemorySpace> bits;   // [blocks * Block::num_words]
  Kokkos::View<std::uint64_t*, MemorySpace> index;  // [a power of two above 2 blocks]: half of a hash, and a block
  Kokkos::View<std::uint32_t, MemorySpace> count;

  KOKKOS_FUNCTION std::size_t capacity() const { return bits.extent(0) / Block::num_words; }
  KOKKOS_FUNCTION std::uint64_t const* words(BlockId block) const {
    return bits.data() + std::size_t{block} * Block::num_words;
  }
  KOKKOS_FUNCTION Block load(BlockId block) const {
    Block copy;
    auto const* const from = words(block);
    for (int w = 0; w < Block::num_words; ++w) copy.words[w] = from[w];
    return copy;
  }
  /// Adds the bits of a block, or nothing.
  KOKKOS_FUNCTION void add_to(std::uint64_t* sum, BlockId block) const {
    KOKKOS_IF_ON_HOST((if (block == no_block) return;))
    auto const* const from = words(block);  // a GPU reads several blocks at once if nothing is decided in between
    for (int w = 0; w < Block::num_words; ++w) sum[w] |= block == no_block ? 0 : from[w];
  }
  /// The number of a block, by one thread, which waits for no other.
  /// \param is_full  set if there is no room for it
  KOKKOS_FUNCTION BlockId number_of(Block const& block, bool& is_full) const {
    if (block.is_empty()) return no_block;
    auto const hash = block.hash();
    auto const tag = hash >> 32 << 32;
    auto const mask = index.extent(0) - 1;
    BlockId mine = no_block;
    for (auto at = hash & mask;; at = (at + 1) & mask) {
      auto found = backend::read_acquire(index(at));
      if (found == 0) {
        if (mine == no_block) mine = store(block);
        if (mine == no_block) {
          is_full = true;
          return no_block;
        }
        found = Kokkos::atomic_compare_exchange(&index(at), std::uint64_t{0}, tag | mine);
        if (found == 0) return mine;
        backend::order_memory();
      }
      if (found >> 32 != tag >> 32) continue;
      auto const other = static_cast<BlockId>(found);
      if (is_equal(other, block)) return other;  // one of the same that was stored at the same time is left unused
    }
  }

 private:
  KOKKOS_FUNCTION bool is_equal(BlockId other, Block const& block) const {
    auto const* const from = words(other);
    std::uint64_t differences = 0;
    for (int w = 0; w < Block::num_words; ++w) differences |= from[w] ^ block.words[w];
    return differences == 0;
  }
  KOKKOS_FUNCTION BlockId store(Block const& block) const {
    auto const id = Kokkos::atomic_fetch_add(&count(), 1u);
    if (id >= capacity()) return no_block;
    auto* const to = bits.data() + std::size_t{id} * Block::num_words;
    for (int w = 0; w < Block::num_words; ++w) to[w] = block.words[w];
    backend::order_memory();
    return id;
  }
};

/// Enters blocks of an index into another one, which is empty. Blocks that no index has are not used: an equal one was
/// stored at the same time.
template <class MemorySpace>
struct IndexBlocks {
  Kokkos::View<std::uint64_t*, MemorySpace> from;
  SharedBlocks<MemorySpace> to;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    if (from(i) == 0) return;
    auto const mask = to.index.extent(0) - 1;
    auto at = to.load(static_cast<BlockId>(from(i))).hash() & mask;
    while (Kokkos::atomic_compare_exchange(&to.index(at), std::uint64_t{0}, from(i)) != 0) at = (at + 1) & mask;
  }
};

template <class ExecutionSpace>
SharedBlocks<typename ExecutionSpace::memory_space> make_shared_blocks(ExecutionSpace const& exec, std::size_t count) {
  using hornbill::detail::allocate, hornbill::detail::allocate_initialised;
  SharedBlocks<typename ExecutionSpace::memory_space> b;
  b.bits = allocate<decltype(b.bits)>(exec, "hornbill::points_to::block_bits", count * Block::num_words);
  b.index = allocate_initialised<decltype(b.index)>(exec, "hornbill::points_to::block_index", index_size_for(count));
  b.count =
      decltype(b.count)(Kokkos::view_alloc(exec, "hornbill::points_to::block_count", Kokkos::WithoutInitializing));
  Kokkos::deep_copy(exec, b.count, 1u);  // block 0 is not stored
  return b;
}

/// Moves so many blocks to where there is more room.
template <class ExecutionSpace>
void grow_shared_blocks(ExecutionSpace const& exec, SharedBlocks<typename ExecutionSpace::memory_space>& blocks,
                        std::uint32_t used, std::size_t count) {
  using Memory = typename ExecutionSpace::memory_space;
  auto larger = make_shared_blocks(exec, count);
  auto const all = Kokkos::pair<std::size_t, std::size_t>(0, std::size_t{used} * Block::num_words);
  Kokkos::deep_copy(exec, Kokkos::subview(larger.bits, all), Kokkos::subview(blocks.bits, all));
  Kokkos::deep_copy(exec, larger.count, used);
  Kokkos::parallel_for("hornbill::points_to::index_blocks",
                       Kokkos::RangePolicy<ExecutionSpace>(exec, 0, static_cast<std::int64_t>(blocks.index.extent(0))),
                       IndexBlocks<Memory>{blocks.index, larger});
  blocks = larger;
}

}  // namespace hornbill::points_to::detail
