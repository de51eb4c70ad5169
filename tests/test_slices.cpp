// Tables that do not fit on a device: in slices, with the answers that they have whole.
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
      for (Index cell = 0; cell < network.cardinality[v] * network.cardinality[w]; ++cell) table.values.push_back(value((7 * v + 3 * w + 5 * cell + v * w) % 11));
    }
  return network;
}

template <class Network>
elim::HostPlan plan_of(Network const& network, elim::MiniBucketOptions const& options) {
  auto const scopes = elim::scopes_of(network);
  return elim::make_mini_bucket_plan(network.cardinality, scopes, elim::make_order(network.cardinality, scopes), options);
}

}  // namespace

TEST_CASE_TEMPLATE("slices: the same costs and assignments", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::MinSum<Cost>;
  typename Cell::Exec const exec;
  auto const network = clique<Cost>(10, [](Index i) { return i == 7 ? tables::infinite_cost : Cost{i}; });
  for (int z : {20, 6}) {
    CAPTURE(z);
    auto const plan = plan_of(network, {.most_variables = z, .match_moments = true});
    auto const whole = elim::eliminate<Semiring>(exec, network, plan);
    auto const reductions = static_cast<double>(plan.reductions.reductions().size());
    for (std::size_t bytes : {std::size_t{1} << 30, std::size_t{20000}, std::size_t{5000}}) {
      auto const sliced = elim::eliminate_in_slices<Semiring>(exec, network, plan, bytes);
      CHECK(sliced.value == whole.value);
      CHECK(sliced.assignment == whole.assignment);
      if (bytes > 1000000) CHECK(sliced.slices == reductions);
      else if (z == 20) CHECK(sliced.slices > reductions + 5);
    }
    CHECK(whole.slices == 0);
  }
}

TEST_CASE_TEMPLATE("slices: the same probabilities, all slices of a table scaled alike", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  typename Cell::Exec const exec;
  auto const network = clique<Value>(10, [](Index i) { return static_cast<Value>(i * i) * Value(1e-7); });
  auto const plan = plan_of(network, {.most_variables = 20});
  auto const check = [&]<class Semiring>(Semiring) {
    auto const whole = elim::eliminate<Semiring>(exec, network, plan);
    auto const sliced = elim::eliminate_in_slices<Semiring>(exec, network, plan, 8000);
    CHECK(sliced.slices > static_cast<double>(plan.reductions.reductions().size()));
    CHECK(static_cast<double>(sliced.value) == doctest::Approx(static_cast<double>(whole.value)).epsilon(sizeof(Value) == 4 ? 1e-5 : 1e-12));
    CHECK(sliced.exponent == whole.exponent);
    CHECK(sliced.assignment == whole.assignment);
    CHECK(whole.value > 0);
  };
  check(tables::SumProduct<Value>());
  check(tables::MaxProduct<Value>());
}

TEST_CASE("slices: less memory than a row takes") {
  auto const network = clique<Cost>(10, [](Index i) { return Cost{i}; });
  auto const plan = plan_of(network, {.most_variables = 20});
  CHECK_THROWS_WITH_AS(elim::eliminate_in_slices<tables::MinSum<Cost>>(Kokkos::DefaultHostExecutionSpace(), network, plan, 100), doctest::Contains("one row of a table needs"), CapacityError);
}
