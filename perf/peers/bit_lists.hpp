/// \file
/// Sets as lists of elements of 128 bytes: thirty words of bits, a base and the number of the next element. A warp
/// holds an element at a time, a word in each lane.
/// \source Mendez-Lojo, Burtscher and Pingali, PPoPP 2012, section 4
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>

namespace hornbill::perf {

inline constexpr std::uint32_t words_of_element = 32, words_of_bits = 30, bits_of_element = 32 * words_of_bits;
inline constexpr std::uint32_t base_word = 30, next_word = 31;

/// Elements, from the first free one on. Lists are given back all at once.
template <class MemorySpace>
struct ElementPool {
  Kokkos::View<std::uint32_t*, MemorySpace> words;  // [elements * words_of_element]; element 0 is not used
  Kokkos::View<std::uint32_t, MemorySpace> used;

  KOKKOS_FUNCTION std::uint32_t capacity() const {
    return static_cast<std::uint32_t>(words.extent(0) / words_of_element);
  }
};

/// The hands of a warp on lists; all lanes call its functions together. A lane reads and writes its own words alone.
template <class MemorySpace>
class ListWorker {
 public:
  static constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible;
  static constexpr std::uint32_t lanes = on_host ? 1 : 32, words_of_lane = words_of_element / lanes;

  /// An element in registers.
  struct Held {
    std::uint32_t words[words_of_lane];
  };

  KOKKOS_FUNCTION ListWorker(ElementPool<MemorySpace> const& pool)
      : pool_(pool), lane_(static_cast<std::uint32_t>(backend::lane_id())) {}

  KOKKOS_FUNCTION std::uint32_t lane() const { return lane_; }
  /// Which word of an element is the lane's k-th.
  KOKKOS_FUNCTION std::uint32_t word_of(std::uint32_t k) const { return k * lanes + lane_; }
  KOKKOS_FUNCTION bool is_bits(std::uint32_t k) const { return word_of(k) < words_of_bits; }
  /// A word of the element, for all lanes.
  KOKKOS_FUNCTION static std::uint32_t get(Held const& held, std::uint32_t word) {
    return backend::shuffle(held.words[word / lanes], static_cast<int>(word % lanes));
  }

  KOKKOS_FUNCTION Held load(std::uint32_t element) const {
    Held held;
    for (std::uint32_t k = 0; k < words_of_lane; ++k) held.words[k] = place(element, k);
    return held;
  }
  KOKKOS_FUNCTION void store(std::uint32_t element, Held const& held) const {
    for (std::uint32_t k = 0; k < words_of_lane; ++k) place(element, k) = held.words[k];
  }
  KOKKOS_FUNCTION void set_word(std::uint32_t element, std::uint32_t word, std::uint32_t value) const {
    if (word % lanes == lane_) place(element, word / lanes) = value;
  }
  /// \return 0 if there is none left
  KOKKOS_FUNCTION std::uint32_t allocate() const {
    std::uint32_t element = 0;
    if (lane_ == 0) element = Kokkos::atomic_fetch_add(&pool_.used(), 1u);
    element = backend::shuffle(element, 0);
    return element < pool_.capacity() ? element : 0;
  }
  KOKKOS_FUNCTION static bool is_empty(Held const& held, std::uint32_t lane) {
    std::uint32_t bits = 0;
    for (std::uint32_t k = 0; k < words_of_lane; ++k)
      if (k * lanes + lane < words_of_bits) bits |= held.words[k];
    return backend::all_lanes(bits == 0);
  }

  /// A place in a list, which elements of ascending bases are added to.
  struct Cursor {
    std::uint32_t head, previous, current;
    Held held;  ///< of current
  };
  KOKKOS_FUNCTION Cursor begin(std::uint32_t head) const {
    Cursor cursor{head, 0, head, {}};
    if (head != 0) cursor.held = load(head);
    return cursor;
  }
  /// Moves to the first element whose base is at least `base`.
  KOKKOS_FUNCTION void move_to(Cursor& cursor, std::uint32_t base) const {
    while (cursor.current != 0 && get(cursor.held, base_word) < base) {
      cursor.previous = cursor.current;
      cursor.current = get(cursor.held, next_word);
      if (cursor.current != 0) cursor.held = load(cursor.current);
    }
  }
  KOKKOS_FUNCTION bool is_at(Cursor const& cursor, std::uint32_t base) const {
    return cursor.current != 0 && get(cursor.held, base_word) == base;
  }
  /// Adds bits to the list.
  KOKKOS_FUNCTION void add(Cursor& cursor, Held const& bits, std::uint32_t base) const {
    move_to(cursor, base);
    if (is_at(cursor, base)) {
      for (std::uint32_t k = 0; k < words_of_lane; ++k)
        if (is_bits(k)) cursor.held.words[k] |= bits.words[k];
      store(cursor.current, cursor.held);
      return;
    }
    auto const element = allocate();
    if (element == 0) return;
    auto fresh = bits;
    for (std::uint32_t k = 0; k < words_of_lane; ++k) {
      if (word_of(k) == base_word) fresh.words[k] = base;
      if (word_of(k) == next_word) fresh.words[k] = cursor.current;
    }
    store(element, fresh);
    if (cursor.previous == 0)
      cursor.head = element;
    else
      set_word(cursor.previous, next_word, element);
    cursor.current = element;
    cursor.held = fresh;
  }
  /// Adds a list to another one.   \return where that begins from now on
  KOKKOS_FUNCTION std::uint32_t unite(std::uint32_t head, std::uint32_t other, ListWorker const& of_other) const {
    auto cursor = begin(head);
    for (auto e = other; e != 0;) {
      auto const held = of_other.load(e);
      add(cursor, held, get(held, base_word));
      e = get(held, next_word);
    }
    return cursor.head;
  }
  /// The bits of one number.
  KOKKOS_FUNCTION Held one(std::uint32_t number) const {
    auto const bit = number % bits_of_element;
    Held held{};
    for (std::uint32_t k = 0; k < words_of_lane; ++k)
      if (word_of(k) == bit / 32) held.words[k] = 1u << bit % 32;
    return held;
  }
  /// Adds one number.
  KOKKOS_FUNCTION std::uint32_t unite_one(std::uint32_t head, std::uint32_t number) const {
    auto cursor = begin(head);
    add(cursor, one(number), number / bits_of_element);
    return cursor.head;
  }
  /// Calls function(number, whether there is one) for all numbers of a list; lanes divide them.
  template <class Function>
  KOKKOS_FUNCTION void for_each(std::uint32_t head, Function const& function) const {
    for (auto e = head; e != 0;) {
      auto const held = load(e);
      auto const base = get(held, base_word);
      for (std::uint32_t w = 0; w < words_of_bits; ++w) {
        auto const bits = get(held, w);
        if (bits == 0) continue;
        for (auto bit = lane_; bit < 32; bit += lanes)
          function(base * bits_of_element + w * 32 + bit, (bits >> bit & 1) != 0);
      }
      e = get(held, next_word);
    }
  }

 private:
  KOKKOS_FUNCTION std::uint32_t& place(std::uint32_t element, std::uint32_t k) const {
    return pool_.words(std::size_t{element} * words_of_element + word_of(k));
  }

  ElementPool<MemorySpace> pool_;
  std::uint32_t lane_;
};

}  // namespace hornbill::perf
