/// \file
/// Operations on shared sets, by a worker: a warp of a GPU, or a thread of a CPU.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/points_to/detail/chunks.hpp>
#include <hornbill/points_to/detail/fields.hpp>
#include <hornbill/points_to/detail/hash.hpp>
#include <hornbill/points_to/detail/shared_sets.hpp>
#include <hornbill/types.hpp>

namespace hornbill::points_to::detail {

/// The hands of one worker; all lanes of its warp call its functions together, with the same arguments. A lane forms
/// whole blocks.
template <class MemorySpace>
class SetWorker {
 public:
  KOKKOS_FUNCTION SetWorker(SharedSets<MemorySpace> const& sets, std::uint32_t worker, SharedSetId* list)
      : s_(sets),
        lane_(static_cast<std::uint32_t>(backend::lane_id())),
        lanes_(static_cast<std::uint32_t>(backend::lanes_together())),
        made_entries_(sets.made_entries.data() + std::size_t{worker} * sets.sizes.blocks_of_set),
        made_positions_(sets.made_positions.data() + std::size_t{worker} * sets.sizes.blocks_of_set),
        row_(sets.rows.data() + worker * sets.words_of_row()),
        list_(list) {}

  // --- operations, which are called in many places, and would be too much code if each had its own ---

  /// All elements of both.
  [[gnu::noinline]] KOKKOS_FUNCTION SharedSetId unite(SharedSetId a, SharedSetId b) const {
    if (a == b || b == shared_empty_set) return a;
    if (a == shared_empty_set) return b;
    auto const first = a < b ? a : b, second = a < b ? b : a;
    return done_once(key_of(united, first, second), [&] {
      SharedSetId const both[] = {first, second};
      return form_union(both, 2);
    });
  }
  /// The same for a list that this worker has written. Not looked up.
  KOKKOS_FUNCTION SharedSetId unite_all(SharedSetId const* list, std::uint32_t count) const {
    backend::sync_lanes();
    return form_union(list, count);
  }
  /// The elements of a that are not in b.
  [[gnu::noinline]] KOKKOS_FUNCTION SharedSetId subtract(SharedSetId a, SharedSetId b) const {
    if (a == b || a == shared_empty_set) return shared_empty_set;
    if (b == shared_empty_set) return a;
    return done_once(key_of(subtracted, a, b), [&] { return form_difference(a, b); });
  }
  /// The elements that a mask of bits has, each plus an offset.
  [[gnu::noinline]] KOKKOS_FUNCTION SharedSetId shift(SharedSetId a, std::uint32_t offset,
                                                      std::uint64_t const* mask) const {
    if (a == shared_empty_set) return a;
    return done_once(key_of(shifted, a, offset), [&] { return form_shifted(a, offset, mask); });
  }
  /// Fields of the functions among its objects, by their number.
  [[gnu::noinline]] KOKKOS_FUNCTION SharedSetId function_fields(SharedSetId a, std::uint32_t number,
                                                                ObjectFields const& of) const {
    if (a == shared_empty_set) return a;
    return done_once(key_of(shifted, a, number | end_bit | step_bit), [&] {
      Row row;
      for_each_by_lanes(a, [&](std::uint32_t object) {
        if (of.is_function[object] == 0) return;
        auto const found = of.at_number(static_cast<Index>(object), static_cast<Index>(number));
        if (found.first >= 0) add_element(row, static_cast<std::uint32_t>(found.first));
      });
      return take(row);
    });
  }
  /// The fields at an offset, where fields are more than a byte; else of those objects alone that have a period and no
  /// more fields than the offset, since others are shifted.
  [[gnu::noinline]] KOKKOS_FUNCTION SharedSetId at_offset(SharedSetId a, std::uint32_t offset,
                                                          ObjectFields const& of) const {
    if (a == shared_empty_set) return a;
    return done_once(key_of(shifted, a, offset | end_bit), [&] {
      Row row;
      for_each_by_lanes(a, [&](std::uint32_t object) {
        if (!of.bytes_to_end && of.sizes[object] > static_cast<Index>(offset)) return;
        auto const found = of.at_offset(static_cast<Index>(object), static_cast<Index>(offset));
        if (found.first >= 0) add_element(row, static_cast<std::uint32_t>(found.first));
        if (found.second >= 0) add_element(row, static_cast<std::uint32_t>(found.second));
      });
      return take(row);
    });
  }
  /// The fields that steps of a stride lead to from the objects of a set; all fields if it is 0.
  [[gnu::noinline]] KOKKOS_FUNCTION SharedSetId fields(SharedSetId a, std::uint32_t stride,
                                                       ObjectFields const& of) const {
    if (a == shared_empty_set) return a;
    return done_once(key_of(shifted, a, stride | step_bit), [&] {
      Row row;
      for_each_by_lanes(a, [&](std::uint32_t object) {
        auto const from = static_cast<Index>(object), first = of.first[object];
        auto const step = of.step_of(from, static_cast<Index>(stride));
        // one of those at this distance from each other is enough
        if (!of.bytes_to_end && from - first >= step && has(a, object - static_cast<std::uint32_t>(step))) return;
        if (step == 1 && from > first && has(a, object - 1)) return;
        for (Index field = first; field < first + of.sizes[first]; ++field)
          if (of.is_met(field, from, step)) add_element(row, static_cast<std::uint32_t>(field));
      });
      return take(row);
    });
  }

  /// Room for the list of unite_all.
  KOKKOS_FUNCTION SharedSetId* list() const { return list_; }

  /// A set that is added up from elements, a bit each. A worker has one at a time.
  struct Row {
    std::uint32_t low = 0xffffffffu, high = 0;  ///< positions of blocks that this lane knows of
  };
  /// Each lane may have an element of its own.
  KOKKOS_FUNCTION void add_element(Row& row, std::uint32_t element) const {
    auto const bit = std::uint64_t{1} << element % 64;
    KOKKOS_IF_ON_DEVICE((Kokkos::atomic_or(&row_[element / 64], bit);))
    KOKKOS_IF_ON_HOST((row_[element / 64] |= bit;))
    auto const position = element / Block::num_bits;
    if (position < row.low) row.low = position;
    if (position > row.high) row.high = position;
  }
  /// The number of the set that was added up; the row is empty then.
  [[gnu::noinline]] KOKKOS_FUNCTION SharedSetId take(Row const& row) const {
    auto const low = least_of_lanes(row.low), high = largest_of_lanes(row.high);
    if (low > high) return shared_empty_set;
    backend::order_memory();
    backend::sync_lanes();
    Made made;
    for (auto base = low; base <= high; base += lanes_) {
      auto const position = base + lane_;
      append(made, position, position <= high ? number_of(taken_from_row(position)) : no_block);
    }
    return intern(made);
  }

  // --- elements ---

  /// Calls function(element); lanes divide the elements.
  template <class Function>
  KOKKOS_FUNCTION void for_each_by_lanes(SharedSetId set, Function&& function) const {
    auto const end = s_.headers(set).count * static_cast<std::uint32_t>(Block::num_words);
    for (auto i = lane_; i < end; i += lanes_) for_each_in_word(set, i, function);
  }
  /// Calls function(element) for a part of the set: the words from one on, as many as there are in a part. Lanes divide
  /// the bits of each word.
  static constexpr std::uint32_t words_of_part = 8;
  template <class Function>
  KOKKOS_FUNCTION void for_each_in_part(SharedSetId set, std::uint32_t part, Function&& function) const {
    auto const last = s_.headers(set).count * static_cast<std::uint32_t>(Block::num_words);
    for (auto i = part * words_of_part; i < (part + 1) * words_of_part && i < last; ++i) {
      if (lanes_ == 1) {
        for_each_in_word(set, i, function);
        continue;
      }
      auto const word = word_of(set, i);
      for (auto bit = lane_; bit < 64; bit += lanes_)
        if (word.bits >> bit & 1) function(word.first + bit);
    }
  }
  KOKKOS_FUNCTION std::uint32_t parts_of_set() const {
    return s_.sizes.blocks_of_set * static_cast<std::uint32_t>(Block::num_words) / words_of_part;
  }
  /// The objects of a set, in ascending order.
  KOKKOS_FUNCTION void write_elements(SharedSetId set, Index* to) const {
    auto const end = s_.headers(set).count * static_cast<std::uint32_t>(Block::num_words);
    for (std::uint32_t base = 0; base < end; base += lanes_) {
      auto const word = base + lane_ < end ? word_of(set, base + lane_) : Word{0, 0};
      auto const size = static_cast<std::uint32_t>(Kokkos::popcount(word.bits));
      auto const sum = sum_of_lanes_up_to_this(size);
      auto* at = to + sum - size;
      for (auto bits = word.bits; bits != 0; bits &= bits - 1)
        *at++ = static_cast<Index>(word.first + static_cast<std::uint32_t>(Kokkos::countr_zero(bits)));
      to += backend::shuffle(sum, static_cast<int>(lanes_ - 1));
    }
  }
  KOKKOS_FUNCTION std::uint32_t num_elements(SharedSetId set) const {
    auto const end = s_.headers(set).count * static_cast<std::uint32_t>(Block::num_words);
    std::uint32_t size = 0;
    for (auto i = lane_; i < end; i += lanes_)
      size += static_cast<std::uint32_t>(Kokkos::popcount(word_of(set, i).bits));
    return sum_of_lanes(size);
  }

  // --- lanes ---

  KOKKOS_FUNCTION std::uint32_t lane() const { return lane_; }
  /// What lanes have together, the same for all of them.
  template <class T, class Join>
  KOKKOS_FUNCTION T joined_by_lanes(T value, Join const& join) const {
    for (auto distance = lanes_ / 2; distance > 0; distance /= 2)
      value = join(value, backend::shuffle(value, static_cast<int>(lane_ ^ distance)));
    return value;
  }
  template <class T>
  KOKKOS_FUNCTION T sum_of_lanes(T value) const {
    return joined_by_lanes(value, [](T x, T y) { return x + y; });
  }
  KOKKOS_FUNCTION std::uint32_t least_of_lanes(std::uint32_t value) const {
    return joined_by_lanes(value, [](std::uint32_t x, std::uint32_t y) { return x < y ? x : y; });
  }
  KOKKOS_FUNCTION std::uint32_t largest_of_lanes(std::uint32_t value) const {
    return joined_by_lanes(value, [](std::uint32_t x, std::uint32_t y) { return x > y ? x : y; });
  }
  /// Of this lane and those before it.
  KOKKOS_FUNCTION std::uint32_t sum_of_lanes_up_to_this(std::uint32_t value) const {
    for (std::uint32_t distance = 1; distance < lanes_; distance *= 2) {
      auto const before = backend::shuffle(value, static_cast<int>(lane_ >= distance ? lane_ - distance : 0));
      if (lane_ >= distance) value += before;
    }
    return value;
  }
  /// The same for all lanes. Results of operations may be wrong then, and are not to be kept.
  KOKKOS_FUNCTION bool is_full_for_all() const { return backend::shuffle(is_full() ? 1 : 0, 0) != 0; }

 private:
  enum Operation : std::uint64_t { united = 1, subtracted = 2, shifted = 3 };
  static constexpr std::uint32_t sets_at_once = 4;
  static constexpr std::uint32_t claimed = 0xffffffffu, pending = 0;
  static constexpr std::uint32_t end_bit = 1u << 29, step_bit = 1u << 30;  // above largest_offset

  KOKKOS_FUNCTION bool is_full() const { return backend::read_shared(s_.counters().is_full) != 0; }
  KOKKOS_FUNCTION void set_full() const { backend::write_shared(s_.counters().is_full, 1u); }
  KOKKOS_FUNCTION static std::uint32_t popcount(unsigned x) { return static_cast<std::uint32_t>(Kokkos::popcount(x)); }
  KOKKOS_FUNCTION unsigned lanes_below() const { return (1u << lane_) - 1; }

  // --- entries of sets ---

  /// The block at a position.
  KOKKOS_FUNCTION BlockId block_at(SharedSetHeader const& x, std::uint32_t position) const {
    if (x.count == 0 || position < x.first || position > x.last) return no_block;
    auto const place = x.begin + position / positions_of_mask - x.first / positions_of_mask;
    auto const mask = s_.entries(place), rank = s_.positions(place), bit = 1u << position % positions_of_mask;
    return mask & bit ? s_.entries(x.first_block() + rank + popcount(mask & (bit - 1))) : no_block;
  }
  KOKKOS_FUNCTION bool has(SharedSetId set, std::uint32_t element) const {
    auto const block = block_at(s_.headers(set), element / Block::num_bits);
    return block != no_block && (s_.blocks.words(block)[element % Block::num_bits / 64] >> element % 64 & 1) != 0;
  }
  struct Word {
    std::uint64_t bits;
    std::uint32_t first;  ///< element
  };
  KOKKOS_FUNCTION Word word_of(SharedSetId set, std::uint32_t i) const {
    constexpr auto n = static_cast<std::uint32_t>(Block::num_words);
    auto const entry = s_.headers(set).first_block() + i / n;
    return {s_.blocks.words(s_.entries(entry))[i % n], (s_.positions(entry) * n + i % n) * 64};
  }
  template <class Function>
  KOKKOS_FUNCTION void for_each_in_word(SharedSetId set, std::uint32_t i, Function&& function) const {
    auto const word = word_of(set, i);
    for (auto bits = word.bits; bits != 0; bits &= bits - 1)
      function(word.first + static_cast<std::uint32_t>(Kokkos::countr_zero(bits)));
  }

  // --- forming sets ---

  KOKKOS_FUNCTION BlockId number_of(Block const& block) const {
    bool is_full = false;
    auto const number = s_.blocks.number_of(block, is_full);
    if (is_full) set_full();
    return number;
  }
  /// A set that this worker forms: how many entries it has put, and this lane's part of the hash.
  struct Made {
    std::uint32_t count = 0;
    std::uint64_t hash = 0;
  };
  /// Each lane has an entry, at ascending positions; those without a block are left out. All lanes call it together.
  KOKKOS_FUNCTION void append(Made& made, std::uint32_t position, BlockId block) const {
    auto const lanes = backend::lanes_where(block != no_block);
    if (block != no_block) {
      auto const at = made.count + popcount(lanes & lanes_below());
      made_entries_[at] = block;
      made_positions_[at] = position;
      made.hash += mixed((std::uint64_t{position} << 32 | block) * 0x9e3779b97f4a7c15u);
    }
    made.count += popcount(lanes);
  }

  /// The union of the sets of a list: each lane forms the blocks of some positions.
  [[gnu::noinline]] KOKKOS_FUNCTION SharedSetId form_union(SharedSetId const* list, std::uint32_t count) const {
    std::uint32_t low = 0xffffffffu, high = 0;
    for (auto i = lane_; i < count; i += lanes_) {
      auto const x = s_.headers(list[i]);
      if (x.count == 0) continue;
      if (x.first < low) low = x.first;
      if (x.last > high) high = x.last;
    }
    low = least_of_lanes(low);
    high = largest_of_lanes(high);
    if (low > high) return shared_empty_set;
    if constexpr (is_host_memory<MemorySpace>) return form_union_by_sets(list, count, low, high);
    Made made;
    bool is_first = true, is_last = true;  // whether the union is one of those two
    for (auto base = low - low % lanes_; base <= high; base += lanes_) {
      auto const position = base + lane_;
      BlockId first = no_block, last = no_block;
      auto const block = united_block(position, list, count, first, last);
      is_first = is_first && block == first;
      is_last = is_last && block == last;
      append(made, position, block);
    }
    if (backend::all_lanes(is_first)) return list[0];
    if (backend::all_lanes(is_last)) return list[count - 1];
    return intern(made);
  }
  /// The same by a thread of a CPU, which goes through the blocks of one set after another. By position `made_entries_`
  /// has the block that came last, and `made_positions_`, where there is one, whether there are several, whose sum is
  /// in the row.
  KOKKOS_FUNCTION SharedSetId form_union_by_sets(SharedSetId const* list, std::uint32_t count, std::uint32_t low,
                                                 std::uint32_t high) const {
    for (auto position = low; position <= high; ++position) made_entries_[position] = no_block;
    for (std::uint32_t k = 0; k < count; ++k) {
      auto const x = s_.headers(list[k]);
      for (auto i = x.count > 0 ? x.first_block() : x.end(); i < x.end(); ++i)
        add_block(s_.positions(i), s_.entries(i));
    }
    Made made;
    for (auto position = low; position <= high; ++position) {
      auto block = made_entries_[position];
      if (block == no_block) continue;
      if (made_positions_[position] != 0) block = number_of(taken_from_row(position));
      append(made, position, block);
    }
    return intern(made);
  }
  KOKKOS_FUNCTION void add_block(std::uint32_t position, BlockId block) const {
    auto& one = made_entries_[position];
    if (one == block) return;
    auto& are_several = made_positions_[position];
    if (one == no_block) {
      are_several = 0;
    } else {
      auto* const sum = row_ + std::size_t{position} * Block::num_words;
      if (are_several == 0) s_.blocks.add_to(sum, one);
      s_.blocks.add_to(sum, block);
      are_several = 1;
    }
    one = block;
  }
  /// The bits of the row at a position, which are 0 then.
  KOKKOS_FUNCTION Block taken_from_row(std::uint32_t position) const {
    Block block;
    for (int w = 0; w < Block::num_words; ++w) {
      auto& word = row_[std::size_t{position} * Block::num_words + w];
      block.words[w] = word;
      word = 0;
    }
    return block;
  }
  /// The union's block at a position. Several sets are read at once, each step for all of them before the next step,
  /// since answers of the memory take long.
  /// \param first, last  get the blocks of the first set and the last one
  KOKKOS_FUNCTION BlockId united_block(std::uint32_t position, SharedSetId const* list, std::uint32_t count,
                                       BlockId& first, BlockId& last) const {
    constexpr auto at_once = sets_at_once;
    BlockId one = no_block;  // the block that came last
    bool are_several = false;
    Block sum;
    for (std::uint32_t begin = 0; begin < count; begin += at_once) {
      BlockId blocks[at_once + 1];
      blocks_at<at_once>(position, list + begin, count - begin, blocks);
      if (begin == 0) first = blocks[0];
      blocks[at_once] = no_block;
      bool are_more = false;  // blocks that differ; what the sum has already becomes `no_block`
      for (std::uint32_t i = 0; i < at_once; ++i) {
        auto const block = blocks[i];
        if (begin + i + 1 == count) last = block;
        blocks[i] = no_block;
        if (block == no_block || block == one) continue;
        if (one != no_block) {
          blocks[i] = block;
          if (!are_several && !are_more) blocks[at_once] = one;
          are_more = true;
        }
        one = block;
      }
      if (!are_more) continue;
      are_several = true;
      for (std::uint32_t i = 0; i <= at_once; ++i) s_.blocks.add_to(sum.words, blocks[i]);
    }
    backend::sync_lanes();
    return are_several ? number_of(sum) : one;
  }
  /// The blocks of the first sets of a list at a position; `no_block` behind the last.
  template <std::uint32_t at_once>
  KOKKOS_FUNCTION void blocks_at(std::uint32_t position, SharedSetId const* list, std::uint32_t count,
                                 BlockId* blocks) const {
    SharedSetHeader x[at_once];
    std::uint32_t masks[at_once], ranks[at_once];
    for (std::uint32_t i = 0; i < at_once; ++i) x[i] = s_.headers(list[i < count ? i : 0]);
    for (std::uint32_t i = 0; i < at_once; ++i) {
      bool const is_inside = i < count && x[i].count > 0 && position >= x[i].first && position <= x[i].last;
      auto const place = x[i].begin + (is_inside ? position / positions_of_mask - x[i].first / positions_of_mask : 0);
      masks[i] = is_inside ? s_.entries(place) : 0;
      ranks[i] = s_.positions(place);
    }
    auto const bit = 1u << position % positions_of_mask;
    for (std::uint32_t i = 0; i < at_once; ++i)
      blocks[i] =
          masks[i] & bit ? s_.entries(x[i].first_block() + ranks[i] + popcount(masks[i] & (bit - 1))) : no_block;
  }

  KOKKOS_FUNCTION SharedSetId form_difference(SharedSetId a, SharedSetId b) const {
    auto const x = s_.headers(a), y = s_.headers(b);
    Made made;
    for (std::uint32_t base = 0; base < x.count; base += lanes_) {
      auto const i = x.first_block() + base + lane_;
      std::uint32_t position = 0;
      BlockId block = no_block;
      if (i < x.end()) {
        position = s_.positions(i);
        block = s_.entries(i);
        if (auto const other = block_at(y, position); other != no_block) {
          auto left = s_.blocks.load(block);
          auto const* const words = s_.blocks.words(other);
          for (int w = 0; w < Block::num_words; ++w) left.words[w] &= ~words[w];
          block = block == other ? no_block : number_of(left);
        }
      }
      append(made, position, block);
    }
    return intern(made);
  }

  KOKKOS_FUNCTION SharedSetId form_shifted(SharedSetId a, std::uint32_t offset, std::uint64_t const* mask) const {
    auto const x = s_.headers(a);
    auto const low = x.first + offset / Block::num_bits,
               high = x.last + (offset + Block::num_bits - 1) / Block::num_bits;
    Made made;
    for (auto base = low; base <= high; base += lanes_) {
      auto const position = base + lane_;
      append(made, position, position <= high ? shifted_block(x, position, offset, mask) : no_block);
    }
    return intern(made);
  }
  /// The block at a position after the shift. Its bits come from one word below the place, and from the next one.
  KOKKOS_FUNCTION BlockId shifted_block(SharedSetHeader const& x, std::uint32_t position, std::uint32_t offset,
                                        std::uint64_t const* mask) const {
    constexpr auto n = static_cast<std::uint32_t>(Block::num_words);
    auto const by_words = offset / 64, by_bits = offset % 64;
    std::uint32_t last = 0xffffffffu;  // the position of the block that was looked for last
    BlockId from = no_block;
    auto const source = [&](std::uint32_t word) {  // counted from the first object, less those that go beyond objects
      if (word < by_words) return std::uint64_t{0};
      word -= by_words;
      if (word / n != last) from = block_at(x, last = word / n);
      return from == no_block ? 0 : s_.blocks.words(from)[word % n] & mask[word];
    };
    Block block;
    auto below = by_bits == 0 || position == 0 ? 0 : source(position * n - 1);
    for (std::uint32_t w = 0; w < n; ++w) {
      auto const here = source(position * n + w);
      block.words[w] = by_bits == 0 ? here : here << by_bits | below >> (64 - by_bits);
      below = here;
    }
    return number_of(block);
  }

  // --- numbers ---

  /// Never 0, which is an unused slot. Sets have 31 bits, so that the operation has two.
  KOKKOS_FUNCTION static std::uint64_t key_of(Operation operation, std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint64_t>(operation) << 62 | std::uint64_t{a} << 31 | b;
  }
  /// The result of an operation, which this worker or another one forms.
  template <class Form>
  KOKKOS_FUNCTION SharedSetId done_once(std::uint64_t key, Form const& form) const {
    std::uint32_t at = 0, number = 0;
    bool const is_first = claim(key, at, number);
    if (is_full_for_all()) return shared_empty_set;
    if (!is_first) return wait_for(at);
    auto const result = form();  // is one of the two, or memory was put in order after it was stored or found
    backend::sync_lanes();
    // Where memory came to an end the result may be wrong, and who gets it need not know of the end yet.
    if (lane_ == 0 && !is_full()) {
      backend::write_shared(s_.results(at), result + 1);
      if (number > s_.sizes.operations / 2) set_full();
    }
    return result;
  }
  /// \param number  of operations before this one, for the first lane, if the key was not there: asked for, not used
  /// \return whether the key was not there
  KOKKOS_FUNCTION bool claim(std::uint64_t key, std::uint32_t& at, std::uint32_t& number) const {
    int is_first = 0;
    if (lane_ == 0) {
      auto const mask = s_.sizes.operations - 1;
      at = static_cast<std::uint32_t>(mixed(key * 0x9e3779b97f4a7c15u)) & mask;
      for (auto found = backend::read_shared(s_.keys(at)); found != key; found = backend::read_shared(s_.keys(at))) {
        if (found == 0) {
          found = Kokkos::atomic_compare_exchange(&s_.keys(at), std::uint64_t{0}, key);
          if (found == 0) {
            is_first = 1;
            number = Kokkos::atomic_fetch_add(&s_.counters().operations, 1u);
            break;
          }
          if (found == key) break;
        }
        if (is_full()) break;  // there may be no slot
        at = (at + 1) & mask;
      }
    }
    at = backend::shuffle(at, 0);
    return backend::shuffle(is_first, 0) != 0;
  }
  KOKKOS_FUNCTION SharedSetId wait_for(std::uint32_t at) const {
    std::uint32_t result = pending;
    if (lane_ == 0)
      while ((result = backend::read_shared(s_.results(at))) == pending && !is_full()) backend::let_others_run();
    if (lane_ == 0) result = backend::read_acquire(s_.results(at));
    result = backend::shuffle(result, 0);
    backend::sync_lanes();
    return result == pending ? shared_empty_set : result - 1;
  }

  /// The number of the set that this worker has made.
  [[gnu::noinline]] KOKKOS_FUNCTION SharedSetId intern(Made const& made) const {
    if (made.count == 0) return shared_empty_set;
    backend::sync_lanes();
    auto const hash = static_cast<std::uint32_t>(mixed(sum_of_lanes(made.hash)));
    auto const mask = static_cast<std::uint32_t>(s_.index.extent(0) - 1);
    for (auto at = hash & mask;; at = (at + 1) & mask) {
      std::uint32_t found = 0;
      if (lane_ == 0) found = set_or_claim(at);
      found = backend::shuffle(found, 0);
      if (found == claimed) return store(at, hash, made.count);
      if (found == shared_empty_set) return shared_empty_set;  // full
      backend::sync_lanes();
      if (is_made(found, hash, made.count)) return found;
    }
  }
  /// The set at a place of the index; `claimed` if the place is this worker's from now on; 0 if all is full.
  KOKKOS_FUNCTION std::uint32_t set_or_claim(std::uint32_t at) const {
    for (;;) {
      auto const found = backend::read_acquire(s_.index(at));
      if (found != 0 && found != claimed) return found;
      if (is_full()) return 0;
      if (found == claimed) backend::let_others_run();
      if (found == 0 && Kokkos::atomic_compare_exchange(&s_.index(at), 0u, claimed) == 0) return claimed;
    }
  }
  KOKKOS_FUNCTION bool is_made(SharedSetId set, std::uint32_t hash, std::uint32_t count) const {
    auto const x = s_.headers(set);
    if (x.hash != hash || x.count != count) return false;
    bool is_same = true;
    for (auto i = lane_; i < count; i += lanes_) {
      auto const at = x.first_block() + i;
      is_same = is_same && s_.positions(at) == made_positions_[i] && s_.entries(at) == made_entries_[i];
    }
    return backend::all_lanes(is_same);
  }
  KOKKOS_FUNCTION SharedSetId store(std::uint32_t at, std::uint32_t hash, std::uint32_t count) const {
    SharedSetHeader x{0, count, made_positions_[0], made_positions_[count - 1], hash};
    std::uint32_t set = 0;
    if (lane_ == 0) {
      set = Kokkos::atomic_fetch_add(&s_.counters().sets, 1u);
      x.begin = Kokkos::atomic_fetch_add(&s_.counters().entries, x.end());
      if (set >= s_.sizes.sets || x.end() > s_.sizes.entries || is_full()) {
        set_full();
        backend::write_shared(s_.index(at), 0u);
        set = 0;
      }
    }
    set = backend::shuffle(set, 0);
    x.begin = backend::shuffle(x.begin, 0);
    if (set == 0) return shared_empty_set;
    write_entries(x);
    if (lane_ == 0) s_.headers(set) = x;
    backend::sync_lanes();
    backend::order_memory();
    if (lane_ == 0) backend::write_shared(s_.index(at), set);
    return set;
  }
  /// Masks, and the blocks that this worker has made.
  KOKKOS_FUNCTION void write_entries(SharedSetHeader const& x) const {
    for (auto i = lane_; i < x.num_masks(); i += lanes_) s_.entries(x.begin + i) = 0;
    backend::sync_lanes();
    for (auto i = lane_; i < x.count; i += lanes_) {
      auto const position = made_positions_[i], number = position / positions_of_mask;
      auto const mask = x.begin + number - x.first / positions_of_mask;
      auto const bit = 1u << position % positions_of_mask;
      KOKKOS_IF_ON_DEVICE((Kokkos::atomic_or(&s_.entries(mask), bit);))
      KOKKOS_IF_ON_HOST((s_.entries(mask) |= bit;))
      if (i == 0 || made_positions_[i - 1] / positions_of_mask != number) s_.positions(mask) = i;
      s_.entries(x.first_block() + i) = made_entries_[i];
      s_.positions(x.first_block() + i) = position;
    }
  }

  SharedSets<MemorySpace> const& s_;
  std::uint32_t lane_, lanes_;
  BlockId* made_entries_;
  std::uint32_t* made_positions_;
  std::uint64_t* row_;
  SharedSetId* list_;
};

inline constexpr int bytes_of_list = max_list_of_sets * sizeof(SharedSetId);

/// A kernel whose workers call function(worker, i) for each i below a count, or below function.num_items(worker) where
/// the function knows it better.
template <class MemorySpace, class Function>
struct ByWorkers {
  SharedSets<MemorySpace> sets;
  Function function;
  std::uint64_t count;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& team) const {
    auto const worker = static_cast<std::uint32_t>(team.league_rank() * team.team_size() + team.team_rank());
    auto* const list = static_cast<SharedSetId*>(team.thread_scratch(0).get_shmem(int{bytes_of_list}));
    SetWorker<MemorySpace> const hands(sets, worker, list);
    auto end = count;
    if constexpr (requires { function.num_items(hands); }) end = function.num_items(hands);
    for (std::uint64_t i = worker; i < end; i += sets.sizes.workers) function(hands, i);
  }
};

/// About as many as a device runs at once; each has memory of its own for the set that it forms.
template <class ExecutionSpace>
std::uint32_t workers_of(ExecutionSpace const& exec) {
  if constexpr (is_host_memory<typename ExecutionSpace::memory_space>)
    return static_cast<std::uint32_t>(exec.concurrency());
  else
    return static_cast<std::uint32_t>(exec.concurrency() / backend::warp_size / 4);
}

/// Runs function(worker, i) for each i below a count; asynchronous in `exec`.
template <class ExecutionSpace, class Function>
void for_each_by_workers(ExecutionSpace const& exec, std::string const& label,
                         SharedSets<typename ExecutionSpace::memory_space> const& sets, std::uint64_t count,
                         Function const& function) {
  using Memory = typename ExecutionSpace::memory_space;
  constexpr bool on_host = is_host_memory<Memory>;
  // A worker is a thread of a team, and its lanes are those of the thread's vector.
  constexpr int workers_of_team = on_host ? 1 : 8, lanes = on_host ? 1 : backend::warp_size;
  auto const num_teams = static_cast<int>(sets.sizes.workers) / workers_of_team;
  auto policy = Kokkos::TeamPolicy<ExecutionSpace>(exec, num_teams, workers_of_team, lanes);
  policy.set_scratch_size(0, Kokkos::PerThread(bytes_of_list));
  Kokkos::parallel_for(label, policy, ByWorkers<Memory, Function>{sets, function, count});
}

}  // namespace hornbill::points_to::detail
