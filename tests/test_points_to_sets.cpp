// Sets that many warps or threads form at once, beside those of the standard library.
#include <algorithm>
#include <iterator>
#include <map>
#include <random>
#include <vector>

#include <hornbill/points_to/detail/set_worker.hpp>

#include "support/cells.hpp"

using namespace hornbill;
namespace shared = points_to::detail;

namespace {

using Elements = std::vector<std::uint32_t>;
enum Operation : std::uint32_t { of_elements, unite, subtract, shift };

/// What is asked for: an operation, and two sets, or a set and an offset, or where elements begin and end.
struct Request {
  std::uint32_t operation, a, b;
};

template <class Memory>
struct Answer {
  Kokkos::View<Request const*, Memory> requests;
  Kokkos::View<std::uint32_t const*, Memory> elements;
  Kokkos::View<std::uint64_t const*, Memory> mask;
  Kokkos::View<std::uint32_t*, Memory> results;

  KOKKOS_FUNCTION void operator()(shared::SetWorker<Memory> const& worker, std::uint64_t i) const {
    auto const [operation, a, b] = requests(i);
    shared::SharedSetId result = shared::shared_empty_set;
    switch (operation) {
      case of_elements:
        for (auto e = a; e < b; ++e) result = worker.unite(result, singleton(worker, elements(e)));
        break;
      case unite: result = worker.unite(a, b); break;
      case subtract: result = worker.subtract(a, b); break;
      case shift: result = worker.shift(a, b, mask.data()); break;
    }
    if (backend::lane_id() == 0) results(i) = result;
  }
  KOKKOS_FUNCTION static shared::SharedSetId singleton(shared::SetWorker<Memory> const& worker, std::uint32_t element) {
    typename shared::SetWorker<Memory>::Row row;
    if (worker.lane() == 0) worker.add_element(row, element);
    return worker.take(row);
  }
};

template <class View>
View on_device(std::vector<typename View::non_const_value_type> const& values) {
  Kokkos::View<typename View::non_const_value_type*, typename View::memory_space> view("hornbill::test::values",
                                                                                       values.size());
  Kokkos::deep_copy(
      view, Kokkos::View<typename View::non_const_value_type const*, Kokkos::HostSpace>(values.data(), values.size()));
  return view;
}

/// Sets on a device, and answers to many requests at once.
template <class Exec>
class Pool {
 public:
  using Memory = typename Exec::memory_space;
  Pool(std::uint32_t num_elements, std::vector<std::uint64_t> const& mask, shared::SharedSetSizes sizes)
      : mask_(on_device<Kokkos::View<std::uint64_t const*, Memory>>(mask)) {
    sizes.workers = std::max(8u, shared::workers_of(exec_) / 8 * 8);
    if constexpr (Kokkos::SpaceAccessibility<Kokkos::HostSpace, Memory>::accessible)
      sizes.workers = shared::workers_of(exec_);
    sizes.blocks_of_set = num_elements / shared::Block::num_bits + 2;
    sets_ = shared::make_shared_sets(exec_, sizes);
  }
  Elements answer(std::vector<Request> const& requests, Elements const& elements = {}) {
    Answer<Memory> answer{on_device<Kokkos::View<Request const*, Memory>>(requests),
                          on_device<Kokkos::View<std::uint32_t const*, Memory>>(elements),
                          mask_,
                          {}};
    answer.results = decltype(answer.results)("hornbill::test::results", requests.size());
    shared::for_each_by_workers(exec_, "hornbill::test::answer", sets_, requests.size(), answer);
    exec_.fence("hornbill::test: answers are read");
    return copied(answer.results);
  }
  shared::SharedSetCounters counters() const {
    shared::SharedSetCounters counters;
    Kokkos::deep_copy(Kokkos::View<shared::SharedSetCounters, Kokkos::HostSpace>(&counters), sets_.counters);
    return counters;
  }
  /// Elements by set.
  std::vector<Elements> contents() const {
    auto const headers = copied(sets_.headers);
    auto const entries = copied(sets_.entries), positions = copied(sets_.positions);
    auto const bits = copied(sets_.blocks.bits);
    constexpr std::size_t n = shared::Block::num_words;
    std::vector<Elements> all;
    for (std::uint32_t s = 0; s < counters().sets; ++s) {
      auto& elements = all.emplace_back();
      if (headers[s].count == 0) continue;
      for (auto e = headers[s].first_block(); e < headers[s].end(); ++e)
        for (std::uint32_t k = 0; k < shared::Block::num_bits; ++k)
          if (bits[entries[e] * n + k / 64] >> k % 64 & 1)
            elements.push_back(positions[e] * shared::Block::num_bits + k);
    }
    return all;
  }

 private:
  template <class View>
  static auto copied(View const& view) {
    std::vector<typename View::non_const_value_type> values(view.extent(0));
    Kokkos::deep_copy(
        Kokkos::View<typename View::non_const_value_type*, Kokkos::HostSpace>(values.data(), values.size()), view);
    return values;
  }
  Exec exec_;
  Kokkos::View<std::uint64_t const*, Memory> mask_;
  shared::SharedSets<Memory> sets_;
};

}  // namespace

TEST_CASE_TEMPLATE("points-to: sets that are formed at once", T, HORNBILL_DOUBLE_CELLS) {
  using Exec = typename T::Exec;
  constexpr std::uint32_t num_elements = 5000;
  for (unsigned seed = 0; seed < 6; ++seed) {
    CAPTURE(seed);
    std::mt19937 rng(seed);
    auto below = [&](std::uint32_t n) { return static_cast<std::uint32_t>(rng() % n); };
    std::vector<std::uint64_t> mask(num_elements / 64 + 80);
    for (auto& word : mask) word = (std::uint64_t{rng()} << 32 | rng()) | (seed % 2 ? ~std::uint64_t{0} : 0);
    mask.back() = 0;  // what would leave the elements
    Pool<Exec> pool(num_elements, mask,
                    {.sets = 1 << 16, .entries = 1 << 18, .blocks = 1 << 16, .operations = 1 << 18});
    // Many small sets, often the same ones, and some that have most elements.
    Elements elements;
    std::vector<Request> requests;
    std::vector<Elements> expected;
    for (int i = 0; i < 300; ++i) {
      auto const begin = static_cast<std::uint32_t>(elements.size());
      auto const base = below(num_elements - 300);
      for (auto n = below(i % 10 == 0 ? 200 : 4); n > 0; --n)
        elements.push_back(i % 3 == 0 ? below(12) : base + below(200));
      requests.push_back({of_elements, begin, static_cast<std::uint32_t>(elements.size())});
      auto& set = expected.emplace_back(elements.begin() + begin, elements.end());
      std::ranges::sort(set);
      set.erase(std::ranges::unique(set).begin(), set.end());
    }
    auto sets = pool.answer(requests, elements);
    for (int round = 0; round < 4; ++round) {
      requests.clear();
      auto const count = static_cast<std::uint32_t>(expected.size());
      for (int i = 0; i < 2000; ++i) {
        auto const operation = unite + below(3), x = below(count), y = below(round % 2 ? 5 : count),
                   offset = below(150);
        requests.push_back({operation, sets[x], operation == shift ? offset : sets[y]});
        Elements result;
        auto const &a = expected[x], &b = expected[y];
        if (operation == unite) std::ranges::set_union(a, b, std::back_inserter(result));
        if (operation == subtract) std::ranges::set_difference(a, b, std::back_inserter(result));
        if (operation == shift)
          for (auto e : a)
            if (mask[e / 64] >> e % 64 & 1) result.push_back(e + offset);
        expected.push_back(std::move(result));
      }
      for (auto const set : pool.answer(requests)) sets.push_back(set);
      REQUIRE(pool.counters().is_full == 0);
      auto const contents = pool.contents();
      for (std::size_t i = 0; i < expected.size(); ++i) REQUIRE_MESSAGE(contents[sets[i]] == expected[i], "set ", i);
      std::map<Elements, std::uint32_t> number;  // equal sets have equal numbers
      for (std::size_t i = 0; i < expected.size(); ++i)
        REQUIRE(number.try_emplace(expected[i], sets[i]).first->second == sets[i]);
      // Elements stay in range: those that have left it are kept out of what follows.
      std::vector<Elements> kept;
      Elements kept_sets;
      for (std::size_t i = 0; i < expected.size(); ++i)
        if (expected[i].empty() || expected[i].back() < num_elements - 200) {
          kept.push_back(expected[i]);
          kept_sets.push_back(sets[i]);
        }
      expected = std::move(kept);
      sets = std::move(kept_sets);
    }
  }
}

TEST_CASE_TEMPLATE("points-to: sets that do not fit end no kernel", T, HORNBILL_DOUBLE_CELLS) {
  using Exec = typename T::Exec;
  Elements elements(3000);
  for (std::uint32_t e = 0; e < elements.size(); ++e) elements[e] = e;
  std::vector<Request> requests;
  for (std::uint32_t e = 0; e < elements.size(); ++e) requests.push_back({of_elements, e / 2, e + 1});
  for (shared::SharedSetSizes const& sizes :
       {shared::SharedSetSizes{.sets = 100, .entries = 1 << 20, .operations = 1 << 16},
        shared::SharedSetSizes{.sets = 1 << 20, .entries = 500, .operations = 1 << 16},
        shared::SharedSetSizes{.sets = 1 << 20, .entries = 1 << 20, .blocks = 300, .operations = 1 << 16},
        shared::SharedSetSizes{.sets = 1 << 20, .entries = 1 << 20, .operations = 64}}) {
    Pool<Exec> pool(3000, std::vector<std::uint64_t>(50), sizes);
    pool.answer(requests, elements);
    CHECK(pool.counters().is_full == 1);
  }
}
