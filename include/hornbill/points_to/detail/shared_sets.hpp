/// \file
/// Sets of objects by number, formed by many warps at once: what src/points_to/set_pool.hpp is for one thread.
///
/// A worker is a warp of a GPU, or a thread of a CPU. Equal sets have equal numbers, and an operation on numbered sets
/// is done once: who asks first claims a slot of a hash table and does it, who asks later waits for its result. Nobody
/// waits while doing an operation, so somebody always gets on. Numbers depend on who comes first, sets do not.
///
/// Memory has a limit that kernels cannot move. Where it is met, `is_full` is set, and operations return the empty set:
/// what was formed before stays right, so that the host may make room and go on.
#pragma once

#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/detail/allocate.hpp>
#include <hornbill/types.hpp>

namespace hornbill::points_to::detail {

using SharedSetId = std::uint32_t;
inline constexpr SharedSetId shared_empty_set = 0;

/// How much there may be of what.
struct SharedSetSizes {
  std::uint32_t sets = 1 << 16;
  std::uint64_t words = 1 << 20;       ///< of all sets together
  std::uint32_t operations = 1 << 18;  ///< that are remembered; a power of two
  std::uint32_t workers = 1;
  std::uint32_t words_of_set = 1;  ///< that have room for all objects
};

/// Numbers that all workers change.
struct SharedSetCounters {
  std::uint64_t words = 0;
  std::uint32_t sets = 1, operations = 0, is_full = 0;
};

template <class MemorySpace>
struct SharedSets {
  SharedSetSizes sizes;
  Kokkos::View<std::uint64_t*, MemorySpace> bits;       // [words] of 64 objects each
  Kokkos::View<std::uint32_t*, MemorySpace> positions;  // [words] which 64
  Kokkos::View<std::uint64_t*, MemorySpace> begins;     // [sets], into words
  Kokkos::View<std::uint32_t*, MemorySpace> counts;     // [sets], words of each
  Kokkos::View<std::uint64_t*, MemorySpace> hashes;     // [sets]
  Kokkos::View<std::uint32_t*, MemorySpace> index;      // [a power of two above 2 sets], by hash: a set, 0 or `claimed`
  Kokkos::View<std::uint64_t*, MemorySpace> keys;       // [operations]
  Kokkos::View<std::uint32_t*, MemorySpace> results;    // [operations]
  Kokkos::View<std::uint64_t*, MemorySpace> made_bits;  // [workers * words_of_set], of the set that a worker forms
  Kokkos::View<std::uint32_t*, MemorySpace> made_positions;
  Kokkos::View<SharedSetCounters, MemorySpace> counters;
};

template <class ExecutionSpace>
SharedSets<typename ExecutionSpace::memory_space> make_shared_sets(ExecutionSpace const& exec,
                                                                   SharedSetSizes const& sizes) {
  using Memory = typename ExecutionSpace::memory_space;
  using hornbill::detail::allocate, hornbill::detail::allocate_initialised;
  SharedSets<Memory> s;
  s.sizes = sizes;
  std::size_t index_size = 1024;
  while (index_size < 2 * std::size_t{sizes.sets}) index_size *= 2;
  auto const made = std::size_t{sizes.workers} * sizes.words_of_set;
  s.bits = allocate<decltype(s.bits)>(exec, "hornbill::points_to::bits", sizes.words);
  s.positions = allocate<decltype(s.positions)>(exec, "hornbill::points_to::positions", sizes.words);
  s.begins = allocate_initialised<decltype(s.begins)>(exec, "hornbill::points_to::begins", sizes.sets);
  s.counts = allocate_initialised<decltype(s.counts)>(exec, "hornbill::points_to::counts", sizes.sets);
  s.hashes = allocate_initialised<decltype(s.hashes)>(exec, "hornbill::points_to::hashes", sizes.sets);
  s.index = allocate_initialised<decltype(s.index)>(exec, "hornbill::points_to::index", index_size);
  s.keys = allocate_initialised<decltype(s.keys)>(exec, "hornbill::points_to::keys", sizes.operations);
  s.results = allocate_initialised<decltype(s.results)>(exec, "hornbill::points_to::results", sizes.operations);
  s.made_bits = allocate<decltype(s.made_bits)>(exec, "hornbill::points_to::made_bits", made);
  s.made_positions = allocate<decltype(s.made_positions)>(exec, "hornbill::points_to::made_positions", made);
  s.counters =
      decltype(s.counters)(Kokkos::view_alloc(exec, "hornbill::points_to::counters", Kokkos::WithoutInitializing));
  Kokkos::deep_copy(exec, s.counters, SharedSetCounters{});
  return s;
}

/// The hands of one worker; all lanes of its warp call its functions together, with the same arguments.
template <class MemorySpace>
class SetWorker {
 public:
  KOKKOS_FUNCTION SetWorker(SharedSets<MemorySpace> const& sets, std::uint32_t worker)
      : s_(sets),
        lane_(static_cast<std::uint32_t>(backend::lane_id())),
        lanes_(static_cast<std::uint32_t>(backend::lanes_together())),
        made_bits_(sets.made_bits.data() + std::size_t{worker} * sets.sizes.words_of_set),
        made_positions_(sets.made_positions.data() + std::size_t{worker} * sets.sizes.words_of_set) {}

  /// All elements of both.
  KOKKOS_FUNCTION SharedSetId unite(SharedSetId a, SharedSetId b) const {
    if (a == b || b == shared_empty_set) return a;
    if (a == shared_empty_set) return b;
    if (a > b) {
      auto const larger = a;
      a = b;
      b = larger;
    }
    return done_once(key_of(united, a, b), [&] { return form_union(a, b); });
  }
  /// The elements of a that are not in b.
  KOKKOS_FUNCTION SharedSetId subtract(SharedSetId a, SharedSetId b) const {
    if (a == b || a == shared_empty_set) return shared_empty_set;
    if (b == shared_empty_set) return a;
    return done_once(key_of(subtracted, a, b), [&] { return form_difference(a, b); });
  }
  /// The elements that a mask of bits has, each plus an offset.
  KOKKOS_FUNCTION SharedSetId shift(SharedSetId a, std::uint32_t offset, std::uint64_t const* mask) const {
    if (a == shared_empty_set) return a;
    return done_once(key_of(shifted, a, offset), [&] { return form_shifted(a, offset, mask); });
  }
  KOKKOS_FUNCTION SharedSetId singleton(std::uint32_t element) const {
    if (lane_ == 0) put(0, element / 64, std::uint64_t{1} << element % 64);
    return intern(1);
  }

 private:
  enum Operation : std::uint64_t { united = 1, subtracted = 2, shifted = 3 };
  static constexpr std::uint32_t claimed = 0xffffffffu, pending = 0;
  struct WordsOf {
    std::uint64_t const* bits;
    std::uint32_t const* positions;
    std::uint32_t count;
  };

  /// Never 0, which is an unused slot. Sets have 31 bits, so that the operation has two.
  KOKKOS_FUNCTION static std::uint64_t key_of(Operation operation, std::uint32_t a, std::uint32_t b) {
    return static_cast<std::uint64_t>(operation) << 62 | std::uint64_t{a} << 31 | b;
  }
  KOKKOS_FUNCTION WordsOf words_of(SharedSetId set) const {
    auto const begin = s_.begins(set);
    return {s_.bits.data() + begin, s_.positions.data() + begin, s_.counts(set)};
  }
  KOKKOS_FUNCTION void put(std::uint32_t at, std::uint32_t position, std::uint64_t bits) const {
    made_bits_[at] = bits;
    made_positions_[at] = position;
  }
  KOKKOS_FUNCTION static std::uint64_t mixed(std::uint64_t x) {
    x ^= x >> 32;
    x *= 0xd6e8feb86659fd93u;
    return x ^ x >> 32;
  }
  KOKKOS_FUNCTION unsigned lanes_below() const { return (1u << lane_) - 1; }
  KOKKOS_FUNCTION bool is_full() const { return Kokkos::atomic_load(&s_.counters().is_full) != 0; }
  KOKKOS_FUNCTION void set_full() const { Kokkos::atomic_store(&s_.counters().is_full, 1u); }

  /// The result of an operation, which this worker or another one forms.
  template <class Form>
  KOKKOS_FUNCTION SharedSetId done_once(std::uint64_t key, Form const& form) const {
    std::uint32_t at = 0;
    bool const is_first = claim(key, at);
    if (backend::shuffle(is_full() ? 1 : 0, 0) != 0) return shared_empty_set;  // the same for all lanes
    if (!is_first) return wait_for(at);
    auto const result = form();
    Kokkos::memory_fence();
    backend::sync_lanes();
    if (lane_ == 0) Kokkos::atomic_store(&s_.results(at), result + 1);
    return result;
  }
  /// \return whether the key was not there
  KOKKOS_FUNCTION bool claim(std::uint64_t key, std::uint32_t& at) const {
    int is_first = 0;
    if (lane_ == 0) {
      auto const mask = s_.sizes.operations - 1;
      at = static_cast<std::uint32_t>(mixed(key * 0x9e3779b97f4a7c15u)) & mask;
      for (auto found = Kokkos::atomic_load(&s_.keys(at)); found != key; found = Kokkos::atomic_load(&s_.keys(at))) {
        if (found == 0) {
          found = Kokkos::atomic_compare_exchange(&s_.keys(at), std::uint64_t{0}, key);
          if (found == 0) {
            is_first = 1;
            if (Kokkos::atomic_fetch_add(&s_.counters().operations, 1u) > mask / 2) set_full();
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
    if (lane_ == 0) do
        result = Kokkos::atomic_load(&s_.results(at));
      while (result == pending && !is_full());
    result = backend::shuffle(result, 0);
    Kokkos::memory_fence();
    return result == pending ? shared_empty_set : result - 1;
  }

  /// The place of a position among ascending ones: how many are smaller.
  KOKKOS_FUNCTION static std::uint32_t rank_of(std::uint32_t position, WordsOf const& in) {
    std::uint32_t low = 0, high = in.count;
    while (low < high) {
      auto const middle = (low + high) / 2;
      if (in.positions[middle] < position)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }

  KOKKOS_FUNCTION SharedSetId form_union(SharedSetId a, SharedSetId b) const {
    auto const x = words_of(a), y = words_of(b);
    bool is_x = true, is_y = true;  // whether the union is one of the two
    std::uint32_t common = 0;
    for (std::uint32_t base = 0; base < x.count; base += lanes_) {
      auto const i = base + lane_;
      bool is_common = false;
      std::uint32_t rank = 0;
      if (i < x.count) {
        rank = rank_of(x.positions[i], y);
        is_common = rank < y.count && y.positions[rank] == x.positions[i];
      }
      auto const lanes = backend::lanes_where(is_common);
      if (i < x.count) {
        auto const other = is_common ? y.bits[rank] : 0, both = x.bits[i] | other;
        is_x = is_x && both == x.bits[i];
        is_y = is_y && both == other;
        put(i + rank - common - popcount(lanes & lanes_below()), x.positions[i], both);
      }
      common += popcount(lanes);
    }
    std::uint32_t met = 0;
    for (std::uint32_t base = 0; base < y.count; base += lanes_) {
      auto const i = base + lane_;
      std::uint32_t rank = 0;
      bool is_common = false;
      if (i < y.count) {
        rank = rank_of(y.positions[i], x);
        is_common = rank < x.count && x.positions[rank] == y.positions[i];
      }
      auto const lanes = backend::lanes_where(is_common);
      if (i < y.count && !is_common) {
        is_x = false;
        put(i + rank - met - popcount(lanes & lanes_below()), y.positions[i], y.bits[i]);
      }
      met += popcount(lanes);
    }
    if (backend::all_lanes(is_x)) return a;
    if (backend::all_lanes(is_y)) return b;
    return intern(x.count + y.count - common);
  }

  KOKKOS_FUNCTION SharedSetId form_difference(SharedSetId a, SharedSetId b) const {
    auto const x = words_of(a), y = words_of(b);
    std::uint32_t count = 0;
    for (std::uint32_t base = 0; base < x.count; base += lanes_) {
      auto const i = base + lane_;
      std::uint64_t left = 0;
      if (i < x.count) {
        auto const rank = rank_of(x.positions[i], y);
        bool const is_common = rank < y.count && y.positions[rank] == x.positions[i];
        left = x.bits[i] & ~(is_common ? y.bits[rank] : 0);
      }
      auto const lanes = backend::lanes_where(left != 0);
      if (left != 0) put(count + popcount(lanes & lanes_below()), x.positions[i], left);
      count += popcount(lanes);
    }
    return intern(count);
  }

  /// A word moves into two, of which the second may be the first one of the next word.
  KOKKOS_FUNCTION SharedSetId form_shifted(SharedSetId a, std::uint32_t offset, std::uint64_t const* mask) const {
    auto const x = words_of(a);
    auto const by_words = offset / 64, by_bits = offset % 64;
    auto const low = [&](std::uint32_t i) { return (x.bits[i] & mask[x.positions[i]]) << by_bits; };
    auto const high = [&](std::uint32_t i) {
      return by_bits == 0 ? std::uint64_t{0} : (x.bits[i] & mask[x.positions[i]]) >> (64 - by_bits);
    };
    std::uint32_t count = 0;
    for (std::uint32_t base = 0; base < x.count; base += lanes_) {
      auto const i = base + lane_;
      std::uint64_t first = 0, second = 0;
      if (i < x.count) {
        bool const joins = i > 0 && x.positions[i - 1] + 1 == x.positions[i];
        bool const is_joined = i + 1 < x.count && x.positions[i + 1] == x.positions[i] + 1;
        first = low(i) | (joins ? high(i - 1) : 0);
        second = is_joined ? 0 : high(i);
      }
      auto const firsts = backend::lanes_where(first != 0), seconds = backend::lanes_where(second != 0);
      auto const at = count + popcount(firsts & lanes_below()) + popcount(seconds & lanes_below());
      if (first != 0) put(at, x.positions[i] + by_words, first);
      if (second != 0) put(at + (first != 0 ? 1 : 0), x.positions[i] + by_words + 1, second);
      count += popcount(firsts) + popcount(seconds);
    }
    return intern(count);
  }

  KOKKOS_FUNCTION static std::uint32_t popcount(unsigned x) { return static_cast<std::uint32_t>(Kokkos::popcount(x)); }
  /// The sum of what lanes have, the same for all.
  KOKKOS_FUNCTION std::uint64_t sum_of_lanes(std::uint64_t value) const {
    std::uint64_t sum = 0;
    for (std::uint32_t lane = 0; lane < lanes_; ++lane) sum += backend::shuffle(value, static_cast<int>(lane));
    return sum;
  }

  /// The number of the set that this worker has made.
  KOKKOS_FUNCTION SharedSetId intern(std::uint32_t count) const {
    if (count == 0) return shared_empty_set;
    backend::sync_lanes();
    std::uint64_t part = 0;
    for (auto i = lane_; i < count; i += lanes_)
      part += mixed(made_bits_[i] * 0x9e3779b97f4a7c15u + (made_positions_[i] + 1) * std::uint64_t{0xc2b2ae3d27d4eb4f});
    auto const hash = mixed(sum_of_lanes(part));
    auto const mask = static_cast<std::uint32_t>(s_.index.extent(0) - 1);
    for (auto at = static_cast<std::uint32_t>(hash) & mask;; at = (at + 1) & mask) {
      std::uint32_t found = 0;
      if (lane_ == 0) found = set_or_claim(at);
      found = backend::shuffle(found, 0);
      if (found == claimed) return store(at, hash, count);
      if (found == shared_empty_set) return shared_empty_set;  // full
      Kokkos::memory_fence();
      if (is_made(found, hash, count)) return found;
    }
  }
  /// The set at a place of the index; `claimed` if the place is this worker's from now on; 0 if all is full.
  KOKKOS_FUNCTION std::uint32_t set_or_claim(std::uint32_t at) const {
    for (;;) {
      auto const found = Kokkos::atomic_load(&s_.index(at));
      if (found != 0 && found != claimed) return found;
      if (is_full()) return 0;
      if (found == 0 && Kokkos::atomic_compare_exchange(&s_.index(at), 0u, claimed) == 0) return claimed;
    }
  }
  KOKKOS_FUNCTION bool is_made(SharedSetId set, std::uint64_t hash, std::uint32_t count) const {
    if (s_.hashes(set) != hash || s_.counts(set) != count) return false;
    auto const words = words_of(set);
    bool is_same = true;
    for (auto i = lane_; i < count; i += lanes_)
      is_same = is_same && words.bits[i] == made_bits_[i] && words.positions[i] == made_positions_[i];
    return backend::all_lanes(is_same);
  }
  KOKKOS_FUNCTION SharedSetId store(std::uint32_t at, std::uint64_t hash, std::uint32_t count) const {
    std::uint32_t set = 0;
    std::uint64_t begin = 0;
    if (lane_ == 0) {
      set = Kokkos::atomic_fetch_add(&s_.counters().sets, 1u);
      begin = Kokkos::atomic_fetch_add(&s_.counters().words, std::uint64_t{count});
      if (set >= s_.sizes.sets || begin + count > s_.sizes.words) {
        set_full();
        Kokkos::atomic_store(&s_.index(at), 0u);
        set = 0;
      }
    }
    set = backend::shuffle(set, 0);
    begin = backend::shuffle(begin, 0);
    if (set == 0) return shared_empty_set;
    for (auto i = lane_; i < count; i += lanes_) {
      s_.bits(begin + i) = made_bits_[i];
      s_.positions(begin + i) = made_positions_[i];
    }
    if (lane_ == 0) {
      s_.begins(set) = begin;
      s_.counts(set) = count;
      s_.hashes(set) = hash;
    }
    Kokkos::memory_fence();
    backend::sync_lanes();
    if (lane_ == 0) Kokkos::atomic_store(&s_.index(at), set);
    return set;
  }

  SharedSets<MemorySpace> const& s_;
  std::uint32_t lane_, lanes_;
  std::uint64_t* made_bits_;
  std::uint32_t* made_positions_;
};

/// A kernel whose workers call function(worker, i) for each i below a count.
template <class MemorySpace, class Function>
struct ByWorkers {
  SharedSets<MemorySpace> sets;
  Function function;
  std::uint64_t count;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& team) const {
    auto const worker = static_cast<std::uint32_t>(team.league_rank() * team.team_size() + team.team_rank());
    SetWorker<MemorySpace> const hands(sets, worker);
    for (std::uint64_t i = worker; i < count; i += sets.sizes.workers) function(hands, i);
  }
};

/// About as many as a device runs at once; each has memory of its own for the set that it forms.
template <class ExecutionSpace>
std::uint32_t workers_of(ExecutionSpace const& exec) {
  constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;
  if constexpr (on_host)
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
  constexpr bool on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible;
  // A worker is a thread of a team, and its lanes are those of the thread's vector.
  constexpr int workers_of_team = on_host ? 1 : 8, lanes = on_host ? 1 : backend::warp_size;
  auto const num_teams = static_cast<int>(sets.sizes.workers) / workers_of_team;
  Kokkos::parallel_for(label, Kokkos::TeamPolicy<ExecutionSpace>(exec, num_teams, workers_of_team, lanes),
                       ByWorkers<Memory, Function>{sets, function, count});
}

}  // namespace hornbill::points_to::detail
