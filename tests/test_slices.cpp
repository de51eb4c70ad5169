// Tables that do not fit on a device: in slices, with the answers that they have whole.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include <hornbill/elim/mini_buckets.hpp>
#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>

#include "support/cells.hpp"
#include "support/random_networks.hpp"

using namespace hornbill;
using tables::Cost;

namespace {

/// A table over each pair of variables, of two and three states by turns.
template <class Value, class MakeValue>
tables::TableNetwork<Value> clique(Index num_variables, MakeValue const& value) {
  tables::TableNetwork<Value> network;
  for (Index v = 0; v < num_variables; ++v) network.cardinality.push_back(2 + v % 2);
  for (Index v = 0; v < num_variables; ++v)
    for (Index w = v + 1; w < num_variables; ++w) {
      auto& table = network.tables.emplace_back(tables::HostTable<Value>{{w, v}, {}});
      for (Index cell = 0; cell < network.cardinality[v] * network.cardinality[w]; ++cell)
        table.values.push_back(value((7 * v + 3 * w + 5 * cell + v * w) % 11));
    }
  return network;
}

template <class Network>
elim::HostPlan plan_of(Network const& network, elim::MiniBucketOptions const& options) {
  auto const scopes = elim::scopes_of(network);
  return elim::make_mini_bucket_plan(network.cardinality, scopes, elim::make_order(network.cardinality, scopes),
                                     options);
}

}  // namespace

TEST_CASE_TEMPLATE("slices: the same costs and assignments", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::MinSum<Cost>;
  typename Cell::Exec const exec;
  auto const network = clique<Cost>(10, [](Index i) { return i == 7 ? tables::infinite_cost : Cost{i}; });
  for (int z : {20, 6}) {
    CAPTURE(z);
    auto const plan = plan_of(network, {.max_variables = z, .match_moments = true});
    auto const whole = elim::eliminate<Semiring>(exec, network, plan);
    for (std::size_t bytes : {std::size_t{1} << 30, std::size_t{5000}, std::size_t{3000}}) {
      auto const sliced = elim::eliminate_in_slices<Semiring>(exec, network, plan, bytes);
      CHECK(sliced.value == whole.value);
      CHECK(sliced.assignment == whole.assignment);
      if (bytes > 1000000)
        CHECK(sliced.slices == 1);  // all at once
      else if (z == 20)
        CHECK(sliced.slices > static_cast<double>(plan.reductions.reductions().size()) + 5);
      else
        CHECK(sliced.slices > 1);
    }
    CHECK(whole.slices == 0);
  }
}

TEST_CASE_TEMPLATE("slices: the same probabilities, all slices of a table scaled alike", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  typename Cell::Exec const exec;
  auto const network = clique<Value>(10, [](Index i) { return static_cast<Value>(i * i) * Value(1e-7); });
  auto const plan = plan_of(network, {.max_variables = 20});
  auto const check = [&]<class Semiring>(Semiring) {
    auto const whole = elim::eliminate<Semiring>(exec, network, plan);
    auto const sliced = elim::eliminate_in_slices<Semiring>(exec, network, plan, 8000);
    CHECK(sliced.slices > static_cast<double>(plan.reductions.reductions().size()));
    CHECK(static_cast<double>(sliced.value) ==
          doctest::Approx(static_cast<double>(whole.value)).epsilon(sizeof(Value) == 4 ? 1e-5 : 1e-12));
    CHECK(sliced.exponent == whole.exponent);
    CHECK(sliced.assignment == whole.assignment);
    CHECK(whole.value > 0);
  };
  check(tables::SumProduct<Value>());
  check(tables::MaxProduct<Value>());
}

TEST_CASE_TEMPLATE("slices: they fit, and shifts have them too", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::MinSum<Cost>;
  typename Cell::Exec const exec;
  tables::HostReductions host({30, 20, 3});
  Index const a = host.add_table({0, 1}), b = host.add_table({0, 1});
  auto const shifts = host.add_shifts({a, b});
  host.add_reduction({shifts[0], shifts[1]}, {1, 0}, {});
  std::vector<std::vector<Cost>> given(2);
  for (Cost i = 0; i < 600; ++i) {
    given[0].push_back((7 * i) % 31);
    given[1].push_back(i % 53 == 0 ? tables::infinite_cost : (11 * i) % 17);
  }
  std::size_t const bytes = 6000;
  auto const slices = tables::make_slices<Cost>(host, std::vector<Index>{0, 1, 2}, bytes);
  REQUIRE(slices.size() == 3);
  for (auto const& of_one : slices) {
    CHECK(of_one.count > 1);
    CHECK(tables::bytes_needed<Cost>(of_one.reductions) <= bytes);
  }
  Kokkos::DefaultHostExecutionSpace const on_host;
  auto const values = tables::make_values<Cost>(on_host, host);
  tables::set_given<Cost>(on_host, host, values, given);
  CHECK(tables::reduce_in_slices<Semiring>(exec, host, values, bytes) > 3);
  for (Index x = 0; x < 30; ++x)
    for (Index y = 0; y < 20; ++y) {
      Cost const in_a = given[0][static_cast<std::size_t>(20 * x + y)],
                 in_b = given[1][static_cast<std::size_t>(20 * x + y)];
      Cost const shift = values.cells(host.tables()[shifts[0]].offset + 20 * x + y),
                 both = values.cells(host.tables().back().offset + 30 * y + x);
      bool const is_possible = in_b < tables::infinite_cost;
      CHECK(both == (is_possible ? 0 : tables::infinite_cost));
      if (is_possible) CHECK(std::abs(2 * (in_a + shift) - (in_a + in_b)) <= 1);
    }
}

TEST_CASE_TEMPLATE("slices: what is larger than the buffers that it goes by way of", Cell, HORNBILL_DOUBLE_CELLS) {
  typename Cell::Exec const exec;
  Index const xs = 800, ys = 3, zs = 700, ws = 4;
  tables::HostReductions host({xs, ys, zs, ws});
  Index const a = host.add_table({0, 2, 1, 3}), b = host.add_table({2, 0});
  Index const out = host.add_undivided({a, b}, {3, 2, 0}, {1});
  REQUIRE(static_cast<std::size_t>(host.tables()[out].cells) * sizeof(Cost) > tables::detail::transfer_bytes / 2);
  auto const in_a = [](Index x, Index z, Index y, Index w) { return Cost{(31 * x + 7 * z + 57 * y + 43 * w) % 101}; };
  auto const in_b = [](Index z, Index x) { return Cost{(13 * z + 29 * x) % 89}; };
  std::vector<std::vector<Cost>> given(2);
  for (Index x = 0; x < xs; ++x)
    for (Index z = 0; z < zs; ++z)
      for (Index y = 0; y < ys; ++y)
        for (Index w = 0; w < ws; ++w) given[0].push_back(in_a(x, z, y, w));
  for (Index z = 0; z < zs; ++z)
    for (Index x = 0; x < xs; ++x) given[1].push_back(in_b(z, x));
  Kokkos::DefaultHostExecutionSpace const on_host;
  auto const values = tables::make_values<Cost>(on_host, host);
  auto const run = [&](std::size_t bytes, double slices) {
    CAPTURE(bytes);
    Kokkos::deep_copy(values.cells, Cost{-1});
    tables::set_given<Cost>(on_host, host, values, given);
    CHECK(tables::reduce_in_slices<tables::MinSum<Cost>>(exec, host, values, bytes) == slices);
    Offset cell = host.tables()[out].offset, wrong = 0;
    for (Index w = 0; w < ws; ++w)
      for (Index z = 0; z < zs; ++z)
        for (Index x = 0; x < xs; ++x)
          wrong +=
              values.cells(cell++) != std::min({in_a(x, z, 0, w), in_a(x, z, 1, w), in_a(x, z, 2, w)}) + in_b(z, x);
    CHECK(wrong == 0);
  };
  run(std::size_t{1} << 30, 1);
  run(30'000'000, ws);
}

TEST_CASE("mini-buckets: moments are not matched in 32 bits") {
  auto const network = clique<tables::NarrowCost>(6, [](Index i) { return tables::NarrowCost{i}; });
  auto const plan = plan_of(network, {.max_variables = 3, .match_moments = true});
  CHECK_THROWS_WITH_AS(
      elim::eliminate<tables::MinSum<tables::NarrowCost>>(Kokkos::DefaultHostExecutionSpace(), network, plan),
      doctest::Contains("moments are matched in 64 bits"), Error);
}

TEST_CASE("slices: less memory than a row takes") {
  auto const network = clique<Cost>(10, [](Index i) { return Cost{i}; });
  auto const plan = plan_of(network, {.max_variables = 20});
  CHECK_THROWS_WITH_AS(
      elim::eliminate_in_slices<tables::MinSum<Cost>>(Kokkos::DefaultHostExecutionSpace(), network, plan, 100),
      doctest::Contains("one row of a table needs"), CapacityError);
}
