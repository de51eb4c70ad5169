// Sets of objects by number: equal sets are stored once, and operations on them are looked up. Internal to
// src/points_to.
//
// A program has millions of facts but few distinct sets, and most unions were formed before: a union costs a look-up.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <utility>
#include <vector>

#include <hornbill/detail/huge_pages.hpp>
#include <hornbill/types.hpp>

namespace hornbill::points_to {

/// A set by its number. Equal sets have equal numbers.
using SetId = std::uint32_t;
inline constexpr SetId empty_set = 0;

/// A number for each pair of numbers that was asked for: a hash table with open addressing.
class PairMap {
 public:
  static constexpr std::uint32_t none = 0xffffffffu;

  PairMap() : slots_(std::size_t{1} << (64 - shift_), Slot{unused, none}) {}
  /// Where the number of a pair stands: `none` if it was not known. Valid until the next call.
  std::uint32_t& operator()(std::uint32_t first, std::uint32_t second) {
    if (2 * (size_ + 1) > slots_.size()) grow();
    auto const key = std::uint64_t{first} << 32 | second;
    auto& slot = slot_of(key);
    if (slot.key == unused) {
      slot.key = key;
      ++size_;
    }
    return slot.value;
  }
  /// Forgets pairs that something does not hold of: keeps(first, second, number).
  template <class Keeps>
  void keep_if(Keeps const& keeps) {
    auto const old = std::exchange(slots_, {});
    auto const is_kept = [&](Slot const& slot) {
      return slot.key != unused &&
             keeps(static_cast<std::uint32_t>(slot.key >> 32), static_cast<std::uint32_t>(slot.key), slot.value);
    };
    size_ = static_cast<std::size_t>(std::ranges::count_if(old, is_kept));
    // Slots come in the order of their hashes, which would crowd the beginning of a table that grows.
    for (shift_ = 54; std::size_t{1} << (64 - shift_) < 2 * (size_ + 1);) --shift_;
    slots_.assign(std::size_t{1} << (64 - shift_), Slot{unused, none});
    for (auto const& slot : old)
      if (is_kept(slot)) slot_of(slot.key) = slot;
  }
  std::size_t bytes() const { return slots_.size() * sizeof(Slot); }

 private:
  static constexpr std::uint64_t unused = ~std::uint64_t{0};
  struct Slot {
    std::uint64_t key;
    std::uint32_t value;
  };
  Slot& slot_of(std::uint64_t key) {
    auto const mask = slots_.size() - 1;
    auto at = static_cast<std::size_t>(((key ^ key >> 32) * 0x9e3779b97f4a7c15u) >> shift_);
    while (slots_[at].key != key && slots_[at].key != unused) at = (at + 1) & mask;
    return slots_[at];
  }
  void grow() {
    hornbill::detail::HugePageVector<Slot> old(2 * slots_.size(), Slot{unused, none});
    old.swap(slots_);
    --shift_;
    for (auto const& slot : old)
      if (slot.key != unused) slot_of(slot.key) = slot;
  }

  unsigned shift_ = 54;  // 64 less the bits of a slot's number
  hornbill::detail::HugePageVector<Slot> slots_;
  std::size_t size_ = 0;
};

/// A set is the words of 64 bits in which it has elements: their positions, ascending, and their bits.
struct Words {
  std::uint64_t const* bits = nullptr;
  std::uint32_t const* positions = nullptr;
  std::uint32_t count = 0;
};

/// All sets, each stored once.
class SetPool {
 public:
  SetPool();
  SetPool(SetPool const&) = delete;
  SetPool& operator=(SetPool const&) = delete;

  /// The set of all elements of some sets.
  SetId unite(SetId a, SetId b) {
    if (a == b || b == empty_set) return a;
    if (a == empty_set) return b;
    return unite_different(a < b ? a : b, a < b ? b : a);
  }
  /// The list is used up.
  SetId unite_all(std::vector<SetId>& sets);
  /// The elements of a that are not in b.
  SetId subtract(SetId a, SetId b) {
    if (a == b || a == empty_set) return empty_set;
    if (b == empty_set) return a;
    return subtract_different(a, b);
  }
  /// Elements that a mask has, each plus an offset. Not looked up: who asks again remembers.
  SetId shift(SetId set, std::uint32_t offset, std::span<std::uint64_t const> mask);
  /// A set of these elements, in ascending order.
  SetId of(std::span<Index const> elements);

  Words words(SetId set) const { return sets_[set]; }
  template <class Function>
  void for_each(SetId set, Function const& function) const {
    for_each_while(set, [&](Index element) {
      function(element);
      return true;
    });
  }
  /// The same, until it returns false.
  template <class Function>
  void for_each_while(SetId set, Function const& function) const {
    auto const words = sets_[set];
    for (std::uint32_t i = 0; i < words.count; ++i)
      for (auto bits = words.bits[i]; bits != 0; bits &= bits - 1)
        if (!function(static_cast<Index>(words.positions[i] * 64 + static_cast<std::uint32_t>(std::countr_zero(bits)))))
          return;
  }
  bool contains(SetId set, Index element) const {
    auto const words = sets_[set];
    auto const position = static_cast<std::uint32_t>(element) / 64;
    auto const* const end = words.positions + words.count;
    auto const* const at = std::lower_bound(words.positions, end, position);
    return at != end && *at == position && (words.bits[at - words.positions] >> element % 64 & 1) != 0;
  }
  std::size_t num_elements(SetId set) const;
  std::size_t num_sets() const { return sets_.size() - free_.size(); }
  /// Numbers of sets are below.
  std::size_t num_ids() const { return sets_.size(); }
  /// How many unions were formed.
  std::size_t num_unions() const { return num_unions_; }
  /// Whether sets take more than twice the memory of those that were kept last, and so much more, or memory comes to an
  /// end.   \units bytes
  bool has_grown(std::size_t by) const {
    return num_words_ > 2 * num_words_kept_ + std::min(by, max_bytes_ / 4) / sizeof(std::uint64_t) ||
           bytes() > max_bytes_ / 2;
  }
  /// Forgets other sets, whose numbers will be those of new ones, and what is known of them. Meanwhile those that are
  /// kept are there twice.   \shape [num_ids]
  void keep(std::vector<bool> const& is_used);
  /// From now on sets may take so much memory.   \param max_bytes  0: as much as the machine has
  void set_limit(std::size_t max_bytes);
  std::size_t bytes() const;

 private:
  SetId unite_different(SetId a, SetId b);
  SetId subtract_different(SetId a, SetId b);
  /// The set whose words are those of the scratch memory, of which so many are used.
  SetId intern(std::uint32_t count);
  void reserve_scratch(std::size_t count);
  SetId free_id();
  Words stored(Words const& words);
  void fill_index(std::size_t size);

  std::vector<Words> sets_;                               // [num_ids]
  std::vector<std::uint64_t> hashes_;                     // [num_ids]
  std::vector<SetId> free_;                               // numbers of no set
  hornbill::detail::HugePageVector<SetId> index_;         // by hash; empty_set where there is none
  std::vector<std::unique_ptr<std::uint64_t[]>> chunks_;  // of the words of all sets
  std::size_t chunk_used_ = 0, chunk_size_ = 0, bytes_ = 0, max_bytes_ = SIZE_MAX;
  std::size_t num_words_ = 0, num_words_kept_ = 0;  // of sets
  std::size_t num_unions_ = 0;
  std::vector<std::uint64_t> scratch_bits_;
  std::vector<std::uint32_t> scratch_positions_;
  PairMap unions_, differences_;
};

}  // namespace hornbill::points_to
