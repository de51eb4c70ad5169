// Plans of circuits: sums in groups, and what does each group.
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/circuit.hpp>
#include <hornbill/error.hpp>

#include "support/cells.hpp"
#include "support/compare.hpp"
#include "support/random_circuits.hpp"

using namespace hornbill;
using circuit::FanInGroups, circuit::GroupOptions, circuit::InputKind, circuit::MatrixUnits, circuit::NodeKind;

namespace {

Offset sum_of(std::vector<Offset> const& numbers) { return std::accumulate(numbers.begin(), numbers.end(), Offset{0}); }

Offset padding_of(std::vector<Offset> const& fan_ins, FanInGroups const& groups) {
  Offset padding = 0;
  for (Offset fan_in : fan_ins) padding += groups.capacities.at(groups.group_of(fan_in)) - fan_in;
  return padding;
}

/// The least padding of at most so many groups: all choices of capacities among the fan-ins.
Offset least_padding(std::vector<Offset> const& fan_ins, Index max_groups) {
  std::vector<Offset> different = fan_ins;
  std::ranges::sort(different);
  different.erase(std::ranges::unique(different).begin(), different.end());
  Offset least = std::numeric_limits<Offset>::max();
  for (unsigned chosen = 0; chosen < 1U << (different.size() - 1); ++chosen) {
    FanInGroups groups;
    for (std::size_t i = 0; i + 1 < different.size(); ++i)
      if ((chosen >> i & 1) != 0) groups.capacities.push_back(different[i]);
    groups.capacities.push_back(different.back());
    if (std::ssize(groups.capacities) <= max_groups) least = std::min(least, padding_of(fan_ins, groups));
  }
  return least;
}

/// In one layer, sums over all of some products, and others of one product each.
test::RandomCircuit mixed_circuit() {
  circuit::CircuitBuilder builder(2);
  std::vector<Index> products;
  for (int i = 0; i < 6; ++i) {
    Index const a = builder.add_inputs(0, InputKind::categorical, 3, 64);
    Index const b = builder.add_inputs(1, InputKind::categorical, 3, 64);
    products.push_back(builder.add_products({a, b}));
  }
  circuit::CircuitBuilder::Pattern single{products[0], {}};
  for (Index i = 0; i < 8; ++i) single.blocks.push_back({i, 2 * i, 1, 1, 0});
  Index const few = builder.add_sparse_sums(8, {single});
  Index const many = builder.add_sums(128, products);
  builder.add_sums(1, {few, many});
  test::RandomCircuit made{std::move(builder).build(), {}};
  made.parameters = circuit::initial_parameters(made.circuit, 4);
  return made;
}

}  // namespace

TEST_CASE("circuit plan: groups have the least padding of so many") {
  std::mt19937 random(3);
  for (int repeat = 0; repeat < 300; ++repeat) {
    std::vector<Offset> fan_ins(1 + random() % 9);
    for (auto& fan_in : fan_ins) fan_in = random() % (repeat % 2 == 0 ? 6 : 1000);
    GroupOptions const options{static_cast<Index>(1 + random() % 5), 0.05 * static_cast<double>(random() % 8)};
    auto const groups = circuit::group_by_fan_in(fan_ins, options);
    CAPTURE(repeat);
    REQUIRE(std::ssize(groups.capacities) <= options.max_groups);
    CHECK(std::ranges::is_sorted(groups.capacities));
    CHECK(groups.padding == padding_of(fan_ins, groups));
    CHECK(groups.padding == least_padding(fan_ins, static_cast<Index>(groups.capacities.size())));
    auto const allowed = options.padding_tolerance * static_cast<double>(sum_of(fan_ins));
    if (static_cast<double>(groups.padding) > allowed)
      CHECK(least_padding(fan_ins, options.max_groups) == groups.padding);
    else if (groups.capacities.size() > 1)
      CHECK(static_cast<double>(least_padding(fan_ins, static_cast<Index>(groups.capacities.size()) - 1)) > allowed);
  }
}

TEST_CASE("circuit plan: groups of many and of large fan-ins") {
  std::vector<Offset> many(200'000);
  std::iota(many.begin(), many.end(), 1);
  auto const groups = circuit::group_by_fan_in(many, {8, 0});
  CHECK(groups.capacities.size() == 8);
  CHECK(groups.padding < sum_of(many) / 7);
  Offset const large = Offset{1} << 60;
  CHECK(circuit::group_by_fan_in({large, large - 1, 7}, {2, 0}).capacities == std::vector<Offset>{7, large});
  CHECK_THROWS_AS(circuit::group_by_fan_in(std::vector<Offset>(9, large), {}), CapacityError);
  CHECK(circuit::group_by_fan_in({}, {}).capacities.empty());
  CHECK_THROWS_AS(circuit::group_by_fan_in({1}, {0, 0.1}), InputError);
  CHECK_THROWS_AS(circuit::group_by_fan_in({1}, {1, -0.1}), InputError);
  CHECK_THROWS_AS(circuit::group_by_fan_in({1}, {1, std::numeric_limits<double>::infinity()}), InputError);
}

TEST_CASE("circuit plan: groups hold all sums, those with most terms first") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    auto const made = test::random_circuit(seed, 12, {.largest_vector = 200});
    auto const plan = circuit::make_plan(made.circuit);
    std::size_t g = 0;
    Offset edges = 0;
    for (auto const& layer : plan.layers) {
      if (layer.kind != NodeKind::sum) continue;
      Index begin = layer.begin, last = std::numeric_limits<Index>::max();
      for (; begin < layer.end; begin = plan.groups[g++].end) {
        CAPTURE(seed);
        REQUIRE(g < plan.groups.size());
        REQUIRE(plan.groups[g].begin == begin);
        CHECK(plan.groups[g].fan_in < last);
        CHECK(plan.groups[g].padding() >= 0);
        last = plan.groups[g].fan_in;
        edges += plan.groups[g].edges;
      }
      CHECK(begin == layer.end);
    }
    CHECK(g == plan.groups.size());
    CHECK(edges == circuit::statistics_of(made.circuit).sum_edges);
  }
}

TEST_CASE_TEMPLATE("circuit plan: a layer's groups may have a kernel each", T, HORNBILL_FLOAT_CELLS) {
  auto made = mixed_circuit();
  auto const samples = test::random_samples(made.circuit, 1, 5, false);
  typename T::Exec exec;
  auto const logs = [&](circuit::PlanOptions const& options) {
    return circuit::log_likelihoods<float>(exec, made.circuit, circuit::make_plan(made.circuit, options),
                                           made.parameters, samples)
        .log_likelihood;
  };
  auto plan = circuit::make_plan(made.circuit, {.matrix_units = MatrixUnits::always});
  CHECK(plan.groups.size() == 3);
  auto const layers = plan.layers.size();
  circuit::add_dense_plan(plan);
  REQUIRE(plan.layers.size() == layers + 1);
  CHECK(plan.dense.is_dense(0));
  CHECK(!plan.dense.is_dense(1));
  CHECK(plan.layers[0].end == plan.layers[1].begin);
  test::check_close(logs({.matrix_units = MatrixUnits::always}), logs({.matrix_units = MatrixUnits::never}), 2e-5,
                    "groups");
  test::check_close(logs({.groups = {1, 0}}), logs({.groups = {8, 0}}), 1e-6, "one group");
}
