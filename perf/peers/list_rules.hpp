/// \file
/// Points-to analysis as on GPUs in 2012, to compare with: a list of elements for each variable, rules that are applied
/// to all variables in rounds, a warp for a variable, and no value numbering. Of the cycles that arise while solving
/// hybrid ones alone become one variable; variables with equal new sets are found, and only one of them is sent.
///
/// Rows of constraints do not change, so they are arrays rather than lists; equal new sets are found in a hash table
/// rather than by sorting, and stores through them are applied at once. Sets are brought to the host at the end alone.
/// \source Mendez-Lojo, Burtscher and Pingali, PPoPP 2012
#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/points_to/detail/hash.hpp>

#include "bit_lists.hpp"

namespace hornbill::perf {

/// What is on the right of constraints, by the variable on the left. Offsets have two entries each.
template <class MemorySpace>
struct ListRows {
  Kokkos::View<std::uint32_t*, MemorySpace> begins;  // [variables + 1]
  Kokkos::View<std::uint32_t*, MemorySpace> entries;
};

template <class MemorySpace>
struct ListSystem {
  template <class T>
  using Array = Kokkos::View<T*, MemorySpace>;
  ListRows<MemorySpace> addresses, copies, loads, offsets;  // by destination
  ListRows<MemorySpace> stores;                             // by pointer
  Array<std::uint32_t> masks, row_of_offset;                // words of objects that have more fields than an offset
  std::uint32_t words_of_mask = 0;
  Array<std::uint32_t> cycle_pointers, cycle_variables;
  Array<std::uint32_t> list_of_row;  // lists of rows of stores, where they begin

  // [variables]
  Array<std::uint32_t> parent, last_member, next_member;
  Array<std::uint32_t> sets, news, next;  // lists: all targets, those of the last round, those of the next one
  Array<std::uint32_t> sources, new_sources, next_sources;  // lists: variables whose sets a variable has
  Array<std::uint32_t> stored;  // lists: what is stored through pointers with the same new targets, at the first
  Array<std::uint32_t> equal;   // a variable that has the same new targets
  Array<std::uint64_t> hashes;
  Array<std::uint64_t> keys;  // a hash table
  Array<std::uint32_t> firsts;
  Array<std::uint32_t> pair_begins, pair_next, pairs;  // stores by target: pointers
  Kokkos::View<std::uint32_t[2], MemorySpace> counters;
  ElementPool<MemorySpace> set_pool, source_pool, fresh, old;

  enum Counter : int { changes, num_merged };

  KOKKOS_FUNCTION std::uint32_t root(std::uint32_t variable) const {
    for (;;) {
      auto const up = backend::read_shared(parent(variable));
      if (up == variable) return variable;
      variable = up;
    }
  }
  KOKKOS_FUNCTION bool is_root(std::uint32_t variable) const { return parent(variable) == variable; }
  /// Calls function(entries' begin, end) for the rows of all variables that have become one with a root.
  template <class Function>
  KOKKOS_FUNCTION void for_each_row(ListRows<MemorySpace> const& rows, std::uint32_t variable,
                                    Function const& function) const {
    for (auto member = variable; member != no_member; member = next_member(member))
      if (rows.begins(member) != rows.begins(member + 1)) function(rows.begins(member), rows.begins(member + 1));
  }
  static constexpr std::uint32_t no_member = 0xffffffffu;
};

/// The first sets and edges.
template <class MemorySpace>
struct BeginLists {
  ListSystem<MemorySpace> s;

  KOKKOS_FUNCTION void operator()(std::uint32_t x) const {
    ListWorker<MemorySpace> const fresh(s.fresh);
    std::uint32_t next = 0, sources = 0;
    for (auto i = s.addresses.begins(x); i < s.addresses.begins(x + 1); ++i)
      next = fresh.unite_one(next, s.addresses.entries(i));
    for (auto i = s.copies.begins(x); i < s.copies.begins(x + 1); ++i)
      sources = fresh.unite_one(sources, s.copies.entries(i));
    if (fresh.lane() != 0) return;
    s.next(x) = next;
    s.next_sources(x) = sources;
  }
};

/// The rule of copies: a variable takes the new targets of its sources, and all targets of its new sources.
template <class MemorySpace>
struct CopyRule {
  ListSystem<MemorySpace> s;
  static constexpr int num_remembered = 1024;  // of those whose sets were sent

  KOKKOS_FUNCTION void operator()(std::uint32_t x, std::uint32_t* sent) const {
    ListWorker<MemorySpace> const fresh(s.fresh), old(s.old), of_sets(s.set_pool), of_sources(s.source_pool);
    auto const lane = fresh.lane();
    auto next = s.next(x);
    if (s.sources(x) == 0 && s.new_sources(x) == 0) return;
    for (auto i = lane; i < std::uint32_t{num_remembered}; i += ListWorker<MemorySpace>::lanes) sent[i] = x;
    backend::sync_lanes();
    of_sources.for_each(s.sources(x), [&](std::uint32_t source, bool is_source) {
      auto from = is_source ? s.root(source) : x;
      bool has_news = from != x && s.news(from) != 0;
      if (has_news) from = s.equal(from);
      for (auto lanes = backend::lanes_where(has_news); lanes != 0; lanes &= lanes - 1) {
        auto const one = backend::shuffle(from, static_cast<int>(Kokkos::countr_zero(lanes)));
        auto& remembered = sent[one % num_remembered];
        if (remembered == one) continue;
        backend::sync_lanes();
        if (lane == 0) remembered = one;
        backend::sync_lanes();
        next = fresh.unite(next, s.news(one), old);
      }
    });
    auto const added = s.new_sources(x);
    old.for_each(added, [&](std::uint32_t source, bool is_source) {
      auto const from = is_source ? s.root(source) : x;
      for (auto lanes = backend::lanes_where(from != x); lanes != 0; lanes &= lanes - 1)
        next = fresh.unite(next, s.sets(backend::shuffle(from, static_cast<int>(Kokkos::countr_zero(lanes)))), of_sets);
    });
    if (added == 0 && next == s.next(x)) return;
    auto const sources = of_sources.unite(s.sources(x), added, old);
    backend::sync_lanes();
    if (lane != 0) return;
    s.next(x) = next;
    s.sources(x) = sources;
    s.new_sources(x) = 0;
  }
};

/// The rule of loads: new targets of a pointer are sources of the variable.
template <class MemorySpace>
struct LoadRule {
  ListSystem<MemorySpace> s;

  KOKKOS_FUNCTION void operator()(std::uint32_t x) const {
    ListWorker<MemorySpace> const fresh(s.fresh), old(s.old);
    auto sources = s.next_sources(x);
    s.for_each_row(s.loads, x, [&](std::uint32_t begin, std::uint32_t end) {
      for (auto i = begin; i < end; ++i) sources = fresh.unite(sources, s.news(s.root(s.loads.entries(i))), old);
    });
    backend::sync_lanes();
    if (fresh.lane() == 0) s.next_sources(x) = sources;
  }
};

/// The rule of stores, first part: pointers with new targets are counted, then written, by the first one that has the
/// same. What is stored through them is one list.
template <class MemorySpace>
struct FindPointers {
  ListSystem<MemorySpace> s;
  bool counts;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    auto const y = static_cast<std::uint32_t>(i);
    if (!s.is_root(y) || s.news(y) == 0) return;
    bool stores = false;
    s.for_each_row(s.stores, y, [&](std::uint32_t, std::uint32_t) { stores = true; });
    if (!stores) return;
    auto const at = Kokkos::atomic_fetch_add(&s.pair_next(s.equal(y)), 1u);
    if (!counts) s.pairs(at) = y;
  }
};
template <class MemorySpace>
struct ListStored {
  ListSystem<MemorySpace> s;

  KOKKOS_FUNCTION void operator()(std::uint32_t y) const {
    ListWorker<MemorySpace> const fresh(s.fresh), rows(s.source_pool);
    std::uint32_t list = 0;
    for (auto i = s.pair_begins(y); i < s.pair_begins(y + 1); ++i)
      s.for_each_row(s.stores, s.pairs(i),
                     [&](std::uint32_t begin, std::uint32_t) { list = fresh.unite(list, s.list_of_row(begin), rows); });
    if (fresh.lane() == 0) s.stored(y) = list;
  }
};
/// Second part: pairs of a target and such a pointer are counted, then written by target.
template <class MemorySpace>
struct FindPairs {
  ListSystem<MemorySpace> s;
  bool counts;

  KOKKOS_FUNCTION void operator()(std::uint32_t y) const {
    if (s.stored(y) == 0) return;
    ListWorker<MemorySpace>(s.old).for_each(s.news(y), [&](std::uint32_t target, bool is_target) {
      if (!is_target) return;
      auto const at = Kokkos::atomic_fetch_add(&s.pair_next(s.root(target)), 1u);
      if (!counts) s.pairs(at) = y;
    });
  }
};
/// Third part: what is stored through the pointers are sources of the target.
template <class MemorySpace>
struct StoreRule {
  ListSystem<MemorySpace> s;

  KOKKOS_FUNCTION void operator()(std::uint32_t x) const {
    if (s.pair_begins(x) == s.pair_begins(x + 1)) return;
    ListWorker<MemorySpace> const fresh(s.fresh);
    auto sources = s.next_sources(x);
    for (auto i = s.pair_begins(x); i < s.pair_begins(x + 1); ++i)
      sources = fresh.unite(sources, s.stored(s.pairs(i)), fresh);
    backend::sync_lanes();
    if (fresh.lane() == 0) s.next_sources(x) = sources;
  }
};
/// Rows of stores as lists.
template <class MemorySpace>
struct ListStores {
  ListSystem<MemorySpace> s;

  KOKKOS_FUNCTION void operator()(std::uint32_t y) const {
    if (s.stores.begins(y) == s.stores.begins(y + 1)) return;
    ListWorker<MemorySpace> const rows(s.source_pool);
    std::uint32_t list = 0;
    for (auto i = s.stores.begins(y); i < s.stores.begins(y + 1); ++i) list = rows.unite_one(list, s.stores.entries(i));
    if (rows.lane() == 0) s.list_of_row(s.stores.begins(y)) = list;
  }
};

/// The rule of offsets: the new targets of a source that have more fields, shifted.
template <class MemorySpace>
struct OffsetRule {
  ListSystem<MemorySpace> s;
  using Worker = ListWorker<MemorySpace>;
  using Held = typename Worker::Held;

  KOKKOS_FUNCTION void operator()(std::uint32_t x) const {
    Worker const fresh(s.fresh), old(s.old);
    auto next = s.next(x);
    s.for_each_row(s.offsets, x, [&](std::uint32_t begin, std::uint32_t end) {
      for (auto i = begin; i < end; ++i) {
        auto const from = s.root(s.offsets.entries(2 * i)), offset = s.offsets.entries(2 * i + 1);
        next = add_shifted(fresh, old, next, s.news(from), offset);
      }
    });
    backend::sync_lanes();
    if (fresh.lane() == 0) s.next(x) = next;
  }
  KOKKOS_FUNCTION std::uint32_t add_shifted(Worker const& fresh, Worker const& old, std::uint32_t head,
                                            std::uint32_t list, std::uint32_t offset) const {
    auto cursor = fresh.begin(head);
    auto const mask = std::size_t{s.row_of_offset(offset)} * s.words_of_mask;
    for (auto e = list; e != 0;) {
      auto held = old.load(e);
      auto const base = Worker::get(held, base_word);
      e = Worker::get(held, next_word);
      for (std::uint32_t k = 0; k < Worker::words_of_lane; ++k)
        held.words[k] &= fresh.is_bits(k) ? s.masks(mask + base * words_of_bits + fresh.word_of(k)) : 0;
      auto const by = offset % bits_of_element, to = base + offset / bits_of_element;
      add_part(fresh, cursor, held, by, 0, to);
      add_part(fresh, cursor, held, by, words_of_bits, to + 1);
    }
    return cursor.head;
  }
  /// The words from one on of what is shifted.
  KOKKOS_FUNCTION void add_part(Worker const& fresh, typename Worker::Cursor& cursor, Held const& from,
                                std::uint32_t by, std::uint32_t first, std::uint32_t base) const {
    Held part{};
    for (std::uint32_t k = 0; k < Worker::words_of_lane; ++k) {
      auto const word = first + fresh.word_of(k) - by / 32;  // wraps around where there is none
      auto const here = word_at(from, word), below = word_at(from, word - 1);
      if (fresh.is_bits(k)) part.words[k] = by % 32 == 0 ? here : here << by % 32 | below >> (32 - by % 32);
    }
    if (!Worker::is_empty(part, fresh.lane())) fresh.add(cursor, part, base);
  }
  /// Lanes ask for different words.
  KOKKOS_FUNCTION static std::uint32_t word_at(Held const& held, std::uint32_t word) {
    auto const value = Worker::get(held, word < words_of_bits ? word : 0);
    return word < words_of_bits ? value : 0;
  }
};

/// What came in a round is what is new in the next one, less what there was.
template <class MemorySpace>
struct UpdateLists {
  ListSystem<MemorySpace> s;
  using Worker = ListWorker<MemorySpace>;

  KOKKOS_FUNCTION void operator()(std::uint32_t x) const {
    Worker const fresh(s.fresh), of_sets(s.set_pool), of_sources(s.source_pool);
    std::uint64_t hash = 0;
    auto set = s.sets(x);
    auto const news = without(fresh, s.next(x), of_sets, &set, hash);
    std::uint64_t unused = 0;
    auto const new_sources = without(fresh, s.next_sources(x), of_sources, nullptr, unused, s.sources(x));
    backend::sync_lanes();
    if (fresh.lane() != 0) return;
    s.sets(x) = set;
    s.news(x) = news;
    s.hashes(x) = hash | 1;
    s.new_sources(x) = new_sources;
    s.next(x) = s.next_sources(x) = 0;
    if (news != 0 || new_sources != 0) backend::write_shared(s.counters(ListSystem<MemorySpace>::changes), 1u);
  }
  /// The elements of a list without those of another one; these are added to it where it is to be enlarged.
  KOKKOS_FUNCTION std::uint32_t without(Worker const& fresh, std::uint32_t list, Worker const& of_others,
                                        std::uint32_t* enlarged, std::uint64_t& hash, std::uint32_t others = 0) const {
    std::uint32_t first = 0, last = 0;
    auto cursor = of_others.begin(enlarged ? *enlarged : others);
    for (auto e = list; e != 0;) {
      auto held = fresh.load(e);
      auto const base = Worker::get(held, base_word), following = Worker::get(held, next_word);
      of_others.move_to(cursor, base);
      if (of_others.is_at(cursor, base))
        for (std::uint32_t k = 0; k < Worker::words_of_lane; ++k)
          if (fresh.is_bits(k)) held.words[k] &= ~cursor.held.words[k];
      if (!Worker::is_empty(held, fresh.lane())) {
        fresh.store(e, held);
        if (first == 0) first = e;
        if (last != 0) fresh.set_word(last, next_word, e);
        last = e;
        hash = hash * 0x9e3779b97f4a7c15u + hash_of(held, fresh);
        if (enlarged) of_others.add(cursor, held, base);
      }
      e = following;
    }
    if (last != 0) fresh.set_word(last, next_word, 0);
    if (enlarged) *enlarged = cursor.head;
    return first;
  }
  /// The same for all lanes.
  KOKKOS_FUNCTION static std::uint64_t hash_of(typename Worker::Held const& held, Worker const& worker) {
    std::uint64_t hash = 0;
    for (std::uint32_t k = 0; k < Worker::words_of_lane; ++k)
      if (worker.word_of(k) != next_word) hash += points_to::detail::hash_of_word(held.words[k], worker.word_of(k));
    for (auto distance = Worker::lanes / 2; distance > 0; distance /= 2)
      hash += backend::shuffle(hash, static_cast<int>(worker.lane() ^ distance));
    return points_to::detail::mixed(hash);
  }
};

/// Finds variables with equal new targets: by hash the first of them, then for each that one. Equal hashes are taken
/// for equal lists here; who measures compares the sets at the end.
template <class MemorySpace>
struct FindEqual {
  ListSystem<MemorySpace> s;
  bool asks;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    auto const x = static_cast<std::uint32_t>(i);
    if (!s.is_root(x) || s.news(x) == 0) return;
    auto const mask = s.keys.extent(0) - 1;
    auto at = (s.hashes(x) >> 7) & mask;
    for (;; at = (at + 1) & mask) {
      auto found = backend::read_shared(s.keys(at));
      if (found == 0) found = Kokkos::atomic_compare_exchange(&s.keys(at), std::uint64_t{0}, s.hashes(x));
      if (found == 0 || found == s.hashes(x)) break;
    }
    if (asks)
      s.equal(x) = s.firsts(at);
    else
      Kokkos::atomic_min(&s.firsts(at), x);
  }
};

/// Targets of a pointer on a hybrid cycle become one with its variable.
template <class MemorySpace>
struct MergeTargets {
  ListSystem<MemorySpace> s;
  bool all;  ///< targets, else those that are new: who has become one with a pointer had others

  KOKKOS_FUNCTION void operator()(std::uint32_t i) const {
    ListWorker<MemorySpace> const worker(all ? s.set_pool : s.fresh);
    auto const variable = s.cycle_variables(i);
    auto const pointer = backend::shuffle(s.root(s.cycle_pointers(i)), 0);  // others may change it
    worker.for_each(all ? s.sets(pointer) : s.news(pointer), [&](std::uint32_t target, bool is_target) {
      if (is_target) merge(variable, target);
    });
  }
  KOKKOS_FUNCTION void merge(std::uint32_t a, std::uint32_t b) const {
    for (;;) {
      a = s.root(a);
      b = s.root(b);
      if (a == b) return;
      auto const child = a < b ? b : a, above = a < b ? a : b;
      if (Kokkos::atomic_compare_exchange(&s.parent(child), child, above) != child) continue;
      Kokkos::atomic_inc(&s.counters(ListSystem<MemorySpace>::num_merged));
      return;
    }
  }
};
template <class MemorySpace>
struct KeepRoots {
  ListSystem<MemorySpace> s;
  Kokkos::View<std::uint32_t*, MemorySpace> was_root;

  KOKKOS_FUNCTION void operator()(std::size_t x) const {
    was_root(x) = s.is_root(static_cast<std::uint32_t>(x)) ? 1 : 0;
  }
};
/// Who was a root before merging, and is none now, is counted, then written, by its root.
template <class MemorySpace>
struct FindMerged {
  ListSystem<MemorySpace> s;
  Kokkos::View<std::uint32_t*, MemorySpace> was_root;
  bool counts;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    auto const x = static_cast<std::uint32_t>(i);
    if (was_root(x) == 0 || s.is_root(x)) return;
    auto const at = Kokkos::atomic_fetch_add(&s.pair_next(s.root(x)), 1u);
    if (!counts) s.pairs(at) = x;
  }
};
/// A root takes all that those have which have become one with it, and sends all of its targets again.
template <class MemorySpace>
struct TakeMerged {
  ListSystem<MemorySpace> s;

  KOKKOS_FUNCTION void operator()(std::uint32_t x) const {
    if (s.pair_begins(x) == s.pair_begins(x + 1)) return;
    ListWorker<MemorySpace> const fresh(s.fresh), of_sets(s.set_pool), of_sources(s.source_pool);
    auto set = s.sets(x), sources = s.sources(x), new_sources = s.new_sources(x), last = s.last_member(x);
    for (auto i = s.pair_begins(x); i < s.pair_begins(x + 1); ++i) {
      auto const other = s.pairs(i);
      set = of_sets.unite(set, s.sets(other), of_sets);
      sources = of_sources.unite(sources, s.sources(other), of_sources);
      new_sources = fresh.unite(new_sources, s.new_sources(other), fresh);
      backend::sync_lanes();
      if (fresh.lane() == 0) s.next_member(last) = other;
      last = s.last_member(other);
    }
    auto const news = fresh.unite(0, set, of_sets);
    backend::sync_lanes();
    if (fresh.lane() != 0) return;
    s.sets(x) = set;
    s.news(x) = news;
    s.hashes(x) = std::uint64_t{x} * 2 + 0x5000000000000001u;  // equal to no other's
    s.sources(x) = sources;
    s.new_sources(x) = new_sources;
    s.last_member(x) = last;
  }
};

/// Memory that a warp shares.   \units bytes
template <class Function>
inline constexpr int bytes_of_warp = 0;
template <class MemorySpace>
inline constexpr int bytes_of_warp<CopyRule<MemorySpace>> = 4 * CopyRule<MemorySpace>::num_remembered;

/// A kernel with a warp for each variable that a function(variable) is applied to, perhaps with memory of the warp.
template <class MemorySpace, class Function>
struct ByVariable {
  Function function;
  std::uint32_t count;
  bool roots_only;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& team) const {
    auto const x = static_cast<std::uint32_t>(team.league_rank() * team.team_size() + team.team_rank());
    if (x >= count || (roots_only && !function.s.is_root(x))) return;
    constexpr int bytes = bytes_of_warp<Function>;
    if constexpr (bytes == 0)
      function(x);
    else
      function(x, static_cast<std::uint32_t*>(team.thread_scratch(0).get_shmem(int{bytes})));
  }
};

/// Counts become beginnings.
template <class MemorySpace>
struct PlacePairs {
  ListSystem<MemorySpace> s;

  KOKKOS_FUNCTION void operator()(std::size_t x, std::uint64_t& begin, bool is_final) const {
    auto const count = s.pair_next(x);
    if (is_final) {
      s.pair_next(x) = s.pair_begins(x) = static_cast<std::uint32_t>(begin);
      s.pair_begins(x + 1) = static_cast<std::uint32_t>(begin + count);
    }
    begin += count;
  }
};

}  // namespace hornbill::perf
