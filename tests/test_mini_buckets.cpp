// Mini-buckets: bounds on both sides of the optimum, which meet where z is large enough.
#include <algorithm>
#include <cmath>
#include <random>

#include <doctest/doctest.h>

#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>

#include "support/cells.hpp"
#include "support/random_networks.hpp"

using namespace hornbill;
using tables::Cost;

namespace {

/// Tables over most pairs of variables of two or three states; some entries are the semiring's zero, but those of the
/// first assignment.
template <class Semiring, class MakeValue>
tables::TableNetwork<typename Semiring::Value> dense_network(unsigned seed, Index num_variables,
                                                             MakeValue const& value) {
  std::mt19937 random(seed);
  tables::TableNetwork<typename Semiring::Value> network;
  for (Index v = 0; v < num_variables; ++v) network.cardinality.push_back(2 + static_cast<Index>(random() % 2));
  for (Index v = 0; v < num_variables; ++v)
    for (Index w = v + 1; w < num_variables; ++w) {
      if (random() % 3 == 0) continue;
      tables::HostTable<typename Semiring::Value> table{{w, v}, {}};
      auto const cells = static_cast<std::size_t>(network.cardinality[v] * network.cardinality[w]);
      while (table.values.size() < cells)
        table.values.push_back(!table.values.empty() && random() % 10 == 0
                                   ? Semiring::zero()
                                   : value(static_cast<double>(1 + random() % 999) / 1000));
      network.tables.push_back(std::move(table));
    }
  return network;
}

template <class Semiring>
struct Bounds {
  double bound, found;  ///< in logarithms where the semiring multiplies
  bool is_exact;
};

template <class Semiring, class Exec>
Bounds<Semiring> bounds_by(tables::TableNetwork<typename Semiring::Value> const& network, elim::HostPlan const& plan) {
  auto const result = elim::eliminate<Semiring>(Exec(), network, plan);
  auto const found = static_cast<double>(elim::value_of<Semiring>(network, result.assignment));
  if constexpr (Semiring::scales)
    return {std::log(static_cast<double>(result.value)) + result.exponent * std::log(2.0), std::log(found),
            plan.is_exact};
  else
    return {static_cast<double>(result.value), found, plan.is_exact};
}

template <class Semiring, class Exec>
Bounds<Semiring> bounds_of(tables::TableNetwork<typename Semiring::Value> const& network,
                           elim::MiniBucketOptions const& options) {
  auto const scopes = elim::scopes_of(network);
  return bounds_by<Semiring, Exec>(
      network,
      elim::make_mini_bucket_plan(network.cardinality, scopes, elim::make_order(network.cardinality, scopes), options));
}

template <class Semiring, class Exec>
Bounds<Semiring> bounds_by_content(tables::TableNetwork<typename Semiring::Value> const& network,
                                   elim::MiniBucketOptions const& options) {
  return bounds_by<Semiring, Exec>(
      network, elim::make_content_plan<Semiring>(
                   Exec(), network, elim::make_order(network.cardinality, elim::scopes_of(network)), options));
}

}  // namespace

TEST_CASE_TEMPLATE("mini-buckets: costs between bounds", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::MinSum<Cost>;
  double plain = 0, matched = 0;
  for (unsigned seed = 0; seed < 15; ++seed) {
    CAPTURE(seed);
    auto const network = dense_network<Semiring>(seed, 9, [](double x) { return static_cast<Cost>(100 * x); });
    auto const least = static_cast<double>(test::enumerate<Semiring>(network));
    for (int z : {1, 2, 3, 4, 6, 9}) {
      CAPTURE(z);
      for (bool match : {false, true}) {
        CAPTURE(match);
        auto const [bound, found, is_exact] =
            bounds_of<Semiring, typename Cell::Exec>(network, {.max_variables = z, .match_moments = match});
        CHECK(bound <= least);
        CHECK(found >= least);
        CHECK((!is_exact || bound == least));
        if (z == 9) CHECK((is_exact && found == least));
        if (z == 3) CHECK(!is_exact);
        (match ? matched : plain) += bound;
      }
    }
  }
  CHECK(matched > 1.02 * plain);
}

TEST_CASE_TEMPLATE("mini-buckets: probabilities between bounds", Cell, HORNBILL_TEST_CELLS) {
  using Semiring = tables::MaxProduct<typename Cell::Value>;
  double const tolerance = sizeof(typename Cell::Value) == 4 ? 1e-4 : 1e-11;
  double plain = 0, matched = 0;
  for (unsigned seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    auto const network =
        dense_network<Semiring>(seed, 9, [](double x) { return static_cast<typename Cell::Value>(x); });
    double const best = std::log(static_cast<double>(test::enumerate<Semiring>(network)));
    for (int z : {2, 3, 5, 9}) {
      CAPTURE(z);
      for (bool match : {false, true}) {
        auto const [bound, found, is_exact] =
            bounds_of<Semiring, typename Cell::Exec>(network, {.max_variables = z, .match_moments = match});
        CHECK(bound >= best - tolerance);
        CHECK(found <= best + tolerance);
        if (is_exact) CHECK(std::abs(bound - best) <= tolerance);
        (match ? matched : plain) += bound - best;
      }
    }
  }
  CHECK(matched < 0.95 * plain);
}

TEST_CASE_TEMPLATE("elimination: the best assignment at a hub, whose tables' product is no number", Cell,
                   HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  using Semiring = tables::MaxProduct<Value>;
  Index const leaves = 3000;
  tables::TableNetwork<Value> star;
  star.cardinality.assign(leaves + 1, 2);
  for (Index v = 1; v <= leaves; ++v) star.tables.push_back({{0, v}, {Value(0.3), Value(0.7), Value(0.2), Value(0.8)}});
  auto const scopes = elim::scopes_of(star);
  auto const order = elim::make_order(star.cardinality, scopes);
  auto const solved =
      elim::eliminate<Semiring>(typename Cell::Exec(), star, elim::make_plan(star.cardinality, scopes, order));
  CHECK(solved.assignment == std::vector<Index>(leaves + 1, 1));
  CHECK(std::log(static_cast<double>(solved.value)) + solved.exponent * std::log(2.0) ==
        doctest::Approx(leaves * std::log(static_cast<double>(Value(0.8)))).epsilon(1e-4));
}

TEST_CASE_TEMPLATE("elimination: very many tables of one wide scope", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  using Semiring = tables::SumProduct<Value>;
  Index const states = 100;
  tables::TableNetwork<Value> network;
  network.cardinality = {states};
  for (Index t = 0; t < 2000; ++t)
    network.tables.push_back(
        {{0}, std::vector<Value>(static_cast<std::size_t>(states), Value(t % 2 == 0 ? 0.5 : 0.25))});
  auto const scopes = elim::scopes_of(network);
  auto const solved = elim::eliminate<Semiring>(
      typename Cell::Exec(), network,
      elim::make_plan(network.cardinality, scopes, elim::make_order(network.cardinality, scopes)));
  CHECK(std::log2(static_cast<double>(solved.value)) + solved.exponent == doctest::Approx(std::log2(100.0) - 3000));
}

TEST_CASE("mini-buckets: what is forbidden stays so, and what cannot be asked") {
  using Semiring = tables::MinSum<Cost>;
  using Exec = Kokkos::DefaultHostExecutionSpace;
  Cost const never = tables::infinite_cost;
  // One neighbour rules out a variable's first state, another its second: parts tell that nothing is left only where
  // they agree on states.
  tables::TableNetwork<Cost> network;
  network.cardinality = {2, 2, 2};
  network.tables = {{{0, 1}, {never, never, 1, 2}}, {{0, 2}, {-3, 4, never, never}}, {{1, 2}, {5, 0, -7, 1}}};
  for (bool match : {false, true}) {
    CAPTURE(match);
    CHECK(bounds_of<Semiring, Exec>(network, {.max_variables = 3, .match_moments = match}).bound ==
          static_cast<double>(never));
    elim::Order const order = elim::measure_order(network.cardinality, elim::scopes_of(network), {0, 1, 2});
    auto const plan = elim::make_mini_bucket_plan(network.cardinality, elim::scopes_of(network), order,
                                                  {.max_variables = 2, .match_moments = match});
    auto const bound = elim::eliminate<Semiring>(Exec(), network, plan).value;
    CHECK(!plan.is_exact);
    CHECK((bound == never) == match);
  }
  auto const scopes = elim::scopes_of(network);
  auto const order = elim::make_order(network.cardinality, scopes);
  CHECK_THROWS_AS(elim::make_mini_bucket_plan(network.cardinality, scopes, order, {.max_variables = 0}), InputError);
  tables::TableNetwork<double> sum;
  sum.cardinality = network.cardinality;
  for (auto const& table : network.tables) sum.tables.push_back({table.scope, std::vector<double>(4, 0.5)});
  auto const plan = elim::make_mini_bucket_plan(network.cardinality, scopes, order, {.max_variables = 2});
  CHECK_THROWS_AS(elim::eliminate<tables::SumProduct<double>>(Exec(), sum, plan), Error);
}

TEST_CASE_TEMPLATE("mini-buckets: by content, costs between bounds, tighter than by size", Cell,
                   HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::MinSum<Cost>;
  double by_size = 0, by_content = 0;
  for (unsigned seed = 0; seed < 15; ++seed)
    for (int z : {2, 3, 4, 9})
      for (bool match : {false, true}) {
        CAPTURE(seed);
        CAPTURE(z);
        CAPTURE(match);
        auto const network =
            dense_network<Semiring>(seed, 9, [](double x) { return static_cast<Cost>(100 * x * x * x); });
        auto const least = static_cast<double>(test::enumerate<Semiring>(network));
        auto const [bound, found, is_exact] =
            bounds_by_content<Semiring, typename Cell::Exec>(network, {.max_variables = z, .match_moments = match});
        CHECK(bound <= least);
        CHECK(found >= least);
        CHECK((!is_exact || bound == least));
        if (z == 9) CHECK(is_exact);
        by_size +=
            bounds_of<Semiring, typename Cell::Exec>(network, {.max_variables = z, .match_moments = match}).bound;
        by_content += bound;
      }
  CHECK(by_content > by_size);
}

TEST_CASE_TEMPLATE("mini-buckets: by content, probabilities between bounds", Cell, HORNBILL_TEST_CELLS) {
  using Semiring = tables::MaxProduct<typename Cell::Value>;
  double const tolerance = sizeof(typename Cell::Value) == 4 ? 1e-4 : 1e-11;
  for (unsigned seed = 0; seed < 20; ++seed)
    for (int z : {2, 3, 5, 9}) {
      CAPTURE(seed);
      CAPTURE(z);
      auto const network =
          dense_network<Semiring>(seed, 9, [](double x) { return static_cast<typename Cell::Value>(x); });
      double const best = std::log(static_cast<double>(test::enumerate<Semiring>(network)));
      auto const [bound, found, is_exact] = bounds_by_content<Semiring, typename Cell::Exec>(
          network, {.max_variables = z, .match_moments = seed % 2 == 0});
      CHECK(bound >= best - tolerance);
      CHECK(found <= best + tolerance);
      if (z == 9) CHECK(found == doctest::Approx(best).epsilon(tolerance));
    }
}

TEST_CASE_TEMPLATE("mini-buckets: tables that contradict each other stay together, whichever comes first", Cell,
                   HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::MinSum<Cost>;
  Cost const high = 7, never = tables::infinite_cost;
  for (Cost price : {high, never}) {
    CAPTURE(price);
    tables::TableNetwork<Cost> network;
    // the first is eliminated: its second table wants 1, its third 0; the others say nothing
    network.cardinality = {2, 2, 2, 2};
    network.tables = {{{0, 1}, {0, 0, 0, 0}}, {{0, 2}, {price, price, 0, 0}}, {{0, 3}, {0, 0, price, price}}};
    int apart = 0;
    for (int turn = 0; turn < 3;
         ++turn, std::rotate(network.tables.begin(), network.tables.begin() + 1, network.tables.end())) {
      CAPTURE(turn);
      auto const scopes = elim::scopes_of(network);
      auto const order = elim::measure_order(network.cardinality, scopes, {0, 1, 2, 3});
      auto const by_size = bounds_by<Semiring, typename Cell::Exec>(
          network, elim::make_mini_bucket_plan(network.cardinality, scopes, order, {.max_variables = 3}));
      auto const by_content = bounds_by<Semiring, typename Cell::Exec>(
          network, elim::make_content_plan<Semiring>(typename Cell::Exec(), network, order, {.max_variables = 3}));
      apart += by_size.bound == 0;
      CHECK(by_content.bound == static_cast<double>(price));
      CHECK(!by_content.is_exact);
    }
    CHECK(apart == 2);
  }
}

TEST_CASE("mini-buckets: a partitioner that loses a table") {
  class Loses : public elim::Partitioner {
    std::vector<std::vector<Index>> divide(tables::HostReductions const&, Index, std::vector<Index> const& tables,
                                           std::span<Index const>) override {
      return {{tables.front()}};
    }
  } loses;
  auto const network = dense_network<tables::MinSum<Cost>>(1, 5, [](double x) { return static_cast<Cost>(100 * x); });
  auto const scopes = elim::scopes_of(network);
  CHECK_THROWS_WITH_AS(
      elim::make_mini_bucket_plan(network.cardinality, scopes, elim::make_order(network.cardinality, scopes),
                                  {.max_variables = 2}, loses),
      doctest::Contains("into one part"), Error);
}
