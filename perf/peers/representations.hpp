/// \file
/// Unions of the sets of a solution, with sets kept in several ways.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/error.hpp>
#include <hornbill/points_to/detail/set_worker.hpp>
#include <hornbill/points_to/detail/stopwatch.hpp>
#include <hornbill/points_to/solution.hpp>

#include "bit_lists.hpp"

namespace hornbill::perf {

namespace shared = points_to::detail;

/// The sets of a solution as it has them, and pairs of them to unite.
template <class MemorySpace>
struct SetPairs {
  Kokkos::View<std::uint64_t*, MemorySpace> begins;  // [sets + 1], into elements
  Kokkos::View<std::uint32_t*, MemorySpace> elements;
  Kokkos::View<std::uint32_t*, MemorySpace> first, second;  // [pairs]

  KOKKOS_FUNCTION std::uint32_t size(std::uint32_t set) const {
    return static_cast<std::uint32_t>(begins(set + 1) - begins(set));
  }
  KOKKOS_FUNCTION std::uint32_t const* of(std::uint32_t set) const { return elements.data() + begins(set); }
  /// How many of a set's elements are smaller.
  KOKKOS_FUNCTION std::uint32_t rank(std::uint32_t set, std::uint32_t element) const {
    std::uint32_t low = 0, high = size(set);
    while (low < high) {
      auto const middle = (low + high) / 2;
      if (of(set)[middle] < element)
        low = middle + 1;
      else
        high = middle;
    }
    return low;
  }
};

// --- a block of 1,024 bits is stored once, and so is a set, which is a list of blocks ---

template <class MemorySpace>
struct FormShared {
  SetPairs<MemorySpace> p;
  Kokkos::View<std::uint32_t*, MemorySpace> sets;

  KOKKOS_FUNCTION void operator()(shared::SetWorker<MemorySpace> const& worker, std::uint64_t i) const {
    auto const set = static_cast<std::uint32_t>(i);
    typename shared::SetWorker<MemorySpace>::Row row;
    auto const lanes = static_cast<std::uint32_t>(backend::lanes_together());
    for (auto k = worker.lane(); k < p.size(set); k += lanes) worker.add_element(row, p.of(set)[k]);
    auto const number = worker.take(row);
    if (worker.lane() == 0) sets(set) = number;
  }
};
template <class MemorySpace>
struct UniteShared {
  SetPairs<MemorySpace> p;
  Kokkos::View<std::uint32_t*, MemorySpace> sets, results;

  KOKKOS_FUNCTION void operator()(shared::SetWorker<MemorySpace> const& worker, std::uint64_t i) const {
    auto const result = worker.unite(sets(p.first(i)), sets(p.second(i)));
    if (worker.lane() == 0) results(i) = result;
  }
};

// --- lists of elements of 128 bytes ---

template <class MemorySpace>
struct FormLists {
  SetPairs<MemorySpace> p;
  ElementPool<MemorySpace> pool;
  Kokkos::View<std::uint32_t*, MemorySpace> lists;

  KOKKOS_FUNCTION void operator()(shared::SetWorker<MemorySpace> const&, std::uint64_t i) const {
    auto const set = static_cast<std::uint32_t>(i);
    ListWorker<MemorySpace> const worker(pool);
    auto cursor = worker.begin(0);
    for (std::uint32_t k = 0; k < p.size(set); ++k) {
      auto const element = p.of(set)[k];
      worker.add(cursor, worker.one(element), element / bits_of_element);
    }
    if (worker.lane() == 0) lists(set) = cursor.head;
  }
};
template <class MemorySpace>
struct UniteLists {
  SetPairs<MemorySpace> p;
  ElementPool<MemorySpace> pool;
  Kokkos::View<std::uint32_t*, MemorySpace> lists, results;

  KOKKOS_FUNCTION void operator()(shared::SetWorker<MemorySpace> const&, std::uint64_t i) const {
    ListWorker<MemorySpace> const worker(pool);
    auto const copy = worker.unite(0, lists(p.first(i)), worker);
    auto const result = worker.unite(copy, lists(p.second(i)), worker);
    if (worker.lane() == 0) results(i) = result;
  }
};

// --- rows that have a bit for each object; small sets perhaps as sorted arrays ---

inline constexpr std::uint32_t largest_array = 32;

template <class MemorySpace>
struct FormRows {
  SetPairs<MemorySpace> p;
  Kokkos::View<std::uint64_t**, Kokkos::LayoutRight, MemorySpace> rows;

  KOKKOS_FUNCTION void operator()(shared::SetWorker<MemorySpace> const& worker, std::uint64_t i) const {
    auto const set = static_cast<std::uint32_t>(i);
    auto const lanes = static_cast<std::uint32_t>(backend::lanes_together());
    for (auto k = worker.lane(); k < p.size(set); k += lanes)
      Kokkos::atomic_or(&rows(i, p.of(set)[k] / 64), std::uint64_t{1} << p.of(set)[k] % 64);
  }
};
template <class MemorySpace>
struct UniteRows {
  SetPairs<MemorySpace> p;
  Kokkos::View<std::uint64_t**, Kokkos::LayoutRight, MemorySpace> rows, results;  // [sets], [workers]
  Kokkos::View<std::uint32_t**, Kokkos::LayoutRight, MemorySpace> arrays;         // [workers]
  bool small_are_arrays;

  KOKKOS_FUNCTION void operator()(shared::SetWorker<MemorySpace> const& worker, std::uint64_t i) const {
    auto const a = p.first(i), b = p.second(i);
    auto const into = i % results.extent(0);
    auto const lanes = static_cast<std::uint32_t>(backend::lanes_together());
    bool const is_small_a = small_are_arrays && p.size(a) <= largest_array;
    bool const is_small_b = small_are_arrays && p.size(b) <= largest_array;
    if (is_small_a && is_small_b) {
      unite_arrays(worker, a, b, &arrays(into, 0));
      return;
    }
    for (std::size_t w = worker.lane(); w < rows.extent(1); w += lanes)
      results(into, w) = (is_small_a ? 0 : rows(a, w)) | (is_small_b ? 0 : rows(b, w));
    if (!is_small_a && !is_small_b) return;
    backend::sync_lanes();
    auto const small = is_small_a ? a : b;
    for (auto k = worker.lane(); k < p.size(small); k += lanes)
      Kokkos::atomic_or(&results(into, p.of(small)[k] / 64), std::uint64_t{1} << p.of(small)[k] % 64);
  }
  KOKKOS_FUNCTION void unite_arrays(shared::SetWorker<MemorySpace> const& worker, std::uint32_t a, std::uint32_t b,
                                    std::uint32_t* to) const {
    auto const lanes = static_cast<std::uint32_t>(backend::lanes_together());
    std::uint32_t in_both = 0;  // a bit for each element of b
    for (auto k = worker.lane(); k < largest_array; k += lanes) {
      bool const is_element = k < p.size(b);
      auto const element = is_element ? p.of(b)[k] : 0;
      auto const at = is_element ? p.rank(a, element) : p.size(a);
      in_both |= backend::lanes_where(at < p.size(a) && p.of(a)[at] == element) << (lanes == 1 ? k : 0);
    }
    auto const before = [&](std::uint32_t k) {
      auto const below = k < 32 ? (1u << k) - 1 : 0xffffffffu;
      return static_cast<std::uint32_t>(Kokkos::popcount(in_both & below));
    };
    for (auto k = worker.lane(); k < p.size(a); k += lanes) {
      auto const rank = p.rank(b, p.of(a)[k]);
      to[k + rank - before(rank)] = p.of(a)[k];
    }
    for (auto k = worker.lane(); k < p.size(b); k += lanes)
      if ((in_both >> k & 1) == 0) to[p.rank(a, p.of(b)[k]) + k - before(k)] = p.of(b)[k];
  }
};

/// How sets are kept, the memory of all of them, and the time of a union when many are formed at once.
struct RepresentationReport {
  std::string name;
  std::size_t bytes = 0;
  double union_seconds = 0;
};

/// Measures representations on the sets of a solution.
template <class ExecutionSpace>
class Representations {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  static constexpr std::size_t num_pairs = 1 << 16;

  Representations(ExecutionSpace const& exec, points_to::Solution const& solution, std::size_t num_objects)
      : exec_(exec), num_sets_(static_cast<std::uint32_t>(solution.num_sets())), num_objects_(num_objects) {
    std::vector<std::uint64_t> begins(solution.set_offsets.begin(), solution.set_offsets.end());
    std::vector<std::uint32_t> elements(solution.set_objects.begin(), solution.set_objects.end()), first, second;
    std::mt19937 random(1);
    for (std::size_t i = 0; i < num_pairs; ++i) {
      first.push_back(static_cast<std::uint32_t>(1 + random() % (num_sets_ - 1)));
      second.push_back(static_cast<std::uint32_t>(1 + random() % (num_sets_ - 1)));
    }
    pairs_ = {copied(begins), copied(elements), copied(first), copied(second)};
    results_ = array(num_pairs);
    num_elements_ = elements.size();
    make_sets();
  }
  std::vector<RepresentationReport> measure(int repeats) {
    auto reports = measure_shared(repeats);
    reports.push_back(measure_lists(repeats));
    for (bool const small_are_arrays : {false, true}) reports.push_back(measure_rows(small_are_arrays, repeats));
    return reports;
  }

 private:
  template <class T>
  Kokkos::View<T*, Memory> copied(std::vector<T> const& values) {
    Kokkos::View<T*, Memory> view(Kokkos::view_alloc("hornbill::perf::sets", Kokkos::WithoutInitializing),
                                  values.size());
    Kokkos::deep_copy(view, Kokkos::View<T const*, Kokkos::HostSpace>(values.data(), values.size()));
    return view;
  }
  Kokkos::View<std::uint32_t*, Memory> array(std::size_t size) {
    return Kokkos::View<std::uint32_t*, Memory>("hornbill::perf::sets", size);
  }
  /// Room for all sets, and for as many unions.
  void make_sets() {
    sets_ = {};
    shared::SharedSetSizes sizes;
    sizes.blocks_of_set = static_cast<std::uint32_t>(num_objects_ / shared::Block::num_bits + 1);
    sizes.workers = shared::workers_of(exec_);
    sizes.sets = static_cast<std::uint32_t>(2 * (num_sets_ + num_pairs));
    sizes.entries = std::uint64_t{sizes.sets} * std::min<std::uint64_t>(sizes.blocks_of_set, 128);
    sizes.blocks = static_cast<std::uint32_t>(sizes.entries / 2);
    sizes.operations = 1 << 20;
    sets_ = shared::make_shared_sets(exec_, sizes);
  }
  template <class Function>
  double seconds(std::size_t count, Function const& function) {
    exec_.fence("hornbill::perf: before a run");
    shared::Stopwatch watch;
    shared::for_each_by_workers(exec_, "hornbill::perf::sets", sets_, count, function);
    exec_.fence("hornbill::perf: after a run");
    return watch.lap();
  }
  /// The median time of a union.   \param prepare  is called before each run
  template <class Function, class Prepare>
  double union_seconds(int repeats, Function const& function, Prepare const& prepare) {
    std::vector<double> times;
    for (int i = 0; i <= repeats; ++i) {
      prepare();
      times.push_back(seconds(num_pairs, function));
    }
    std::sort(times.begin() + 1, times.end());  // the first does not count
    return times[1 + static_cast<std::size_t>(repeats) / 2] / num_pairs;
  }

  std::vector<RepresentationReport> measure_shared(int repeats) {
    auto const numbers = array(num_sets_);
    UniteShared<Memory> const unite{pairs_, numbers, results_};
    std::size_t bytes = 0;
    auto const formed = union_seconds(repeats, unite, [&] {  // each time for the first time
      make_sets();
      seconds(num_sets_, FormShared<Memory>{pairs_, numbers});
      bytes = used_bytes();
    });
    auto const looked_up = union_seconds(repeats, unite, [] {});
    shared::SharedSetCounters counters;
    Kokkos::deep_copy(Kokkos::View<shared::SharedSetCounters, Kokkos::HostSpace>(&counters), sets_.counters);
    if (counters.is_full) throw CapacityError("unions of sets do not fit");
    return {{"shared blocks, formed", bytes, formed}, {"shared blocks, looked up", bytes, looked_up}};
  }
  std::size_t used_bytes() const {
    auto sizes = shared::used_sizes(exec_, sets_);
    sizes.operations = 0;
    return sizes.bytes();
  }

  RepresentationReport measure_lists(int repeats) {
    ElementPool<Memory> pool;
    auto const most =
        num_elements_ + std::size_t{num_pairs} * 2 * std::min<std::size_t>(num_objects_ / bits_of_element + 1, 128);
    pool.words = array(most * words_of_element);
    pool.used = decltype(pool.used)("hornbill::perf::used");
    Kokkos::deep_copy(pool.used, 1u);
    auto const lists = array(num_sets_);
    seconds(num_sets_, FormLists<Memory>{pairs_, pool, lists});
    std::uint32_t used = 0;
    Kokkos::deep_copy(used, pool.used);
    auto const time = union_seconds(repeats, UniteLists<Memory>{pairs_, pool, lists, results_},
                                    [&] { Kokkos::deep_copy(pool.used, used); });
    std::uint32_t used_at_last = 0;
    Kokkos::deep_copy(used_at_last, pool.used);
    if (used_at_last > pool.capacity()) throw CapacityError("unions of lists do not fit");
    return {"lists", (std::size_t{used} * words_of_element + num_sets_) * sizeof(std::uint32_t), time};
  }

  RepresentationReport measure_rows(bool small_are_arrays, int repeats) {
    using Rows = Kokkos::View<std::uint64_t**, Kokkos::LayoutRight, Memory>;
    auto const words = num_objects_ / 64 + 1;
    Rows const rows("hornbill::perf::rows", num_sets_, words);
    seconds(num_sets_, FormRows<Memory>{pairs_, rows});
    UniteRows<Memory> const unite{
        pairs_, rows, Rows("hornbill::perf::results", sets_.sizes.workers, words),
        decltype(unite.arrays)("hornbill::perf::arrays", sets_.sizes.workers, 2 * largest_array), small_are_arrays};
    auto const begins = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), pairs_.begins);
    std::size_t bytes = 0;
    for (std::uint32_t s = 0; s < num_sets_; ++s) {
      auto const size = begins(s + 1) - begins(s);
      bytes += small_are_arrays && size <= largest_array ? size * 4 + 8 : words * 8;
    }
    return {small_are_arrays ? "rows, small sets as arrays" : "rows", bytes, union_seconds(repeats, unite, [] {})};
  }

  ExecutionSpace exec_;
  std::uint32_t num_sets_;
  std::size_t num_objects_, num_elements_ = 0;
  SetPairs<Memory> pairs_;
  Kokkos::View<std::uint32_t*, Memory> results_;
  shared::SharedSets<Memory> sets_;
};

}  // namespace hornbill::perf
