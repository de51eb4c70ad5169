// Circuits of networks, against the products of their tables.
#include <cmath>
#include <numeric>
#include <random>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/circuit/network_circuit.hpp>
#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>
#include <reference/circuit.hpp>

#include "support/random_networks.hpp"

using namespace hornbill;
using circuit::make_circuit;
using tables::TableNetwork;

namespace {

std::vector<Index> shuffled(Index count, unsigned seed) {
  std::vector<Index> order(static_cast<std::size_t>(count));
  std::iota(order.begin(), order.end(), 0);
  std::mt19937 random(seed);
  std::shuffle(order.begin(), order.end(), random);
  return order;
}

/// Sums of products over what is not known: values of the first variables, or `missing`.
double sum_over(TableNetwork<double> const& network, std::vector<double> const& known) {
  double sum = 0;
  std::vector<Index> assignment(network.cardinality.size());
  for (bool more = true; more;) {
    bool is_consistent = true;
    for (std::size_t v = 0; v < known.size(); ++v)
      is_consistent = is_consistent && (std::isnan(known[v]) || known[v] == assignment[v]);
    double product = is_consistent ? 1 : 0;
    for (auto const& table : network.tables) product *= network.entry(table, assignment);
    sum += product;
    more = false;
    for (std::size_t v = 0; v < assignment.size() && !more; ++v) {
      assignment[v] = (assignment[v] + 1) % network.cardinality[v];
      more = assignment[v] != 0;
    }
  }
  return sum;
}

void check_circuit(TableNetwork<double> const& network, circuit::NetworkCircuit const& made, unsigned seed,
                   std::string const& what) {
  double const partition = sum_over(network, {});
  CHECK_MESSAGE(made.log_partition == doctest::Approx(std::log(partition)).epsilon(1e-12), what);
  validate(made.circuit, what);
  validate(made.circuit, made.parameters, what);
  std::mt19937 random(seed);
  for (int i = 0; i < 12; ++i) {
    circuit::Samples sample{made.circuit.num_variables, {}};
    for (Index v = 0; v < made.circuit.num_variables; ++v)
      sample.values.push_back(
          i > 0 && random() % 3 > 0
              ? static_cast<double>(random() % static_cast<unsigned>(network.cardinality[static_cast<std::size_t>(v)]))
              : circuit::missing);
    auto const log_value = reference::circuit_log_values(made.circuit, made.parameters, sample, 0).back();
    CHECK_MESSAGE(static_cast<double>(std::exp(log_value)) ==
                      doctest::Approx(sum_over(network, sample.values) / partition).epsilon(1e-11),
                  what, ", sample ", i);
  }
}

}  // namespace

TEST_CASE("circuit network: random tables, in any order") {
  int possible = 0;
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto const network = test::random_network<tables::SumProduct<double>>(seed, 6, 7, [](double x) { return x; });
    auto const order = shuffled(network.num_variables(), seed);
    Index const observed = 1 + static_cast<Index>(seed % 6);
    if (sum_over(network, {}) == 0) {
      CHECK_THROWS_WITH_AS(make_circuit(network, order, observed), doctest::Contains("impossible"), InputError);
      continue;
    }
    ++possible;
    check_circuit(network, make_circuit(network, order, observed), seed, fmt::format("seed {}", seed));
  }
  CHECK(possible > 20);
}

TEST_CASE("circuit network: chains of a wide Horn factor are summed out") {
  TableNetwork<double> network;
  network.cardinality.assign(7, 2);
  for (Index v = 0; v < 6; ++v) network.tables.push_back({{v}, {0.3, 0.7}});
  // an auxiliary variable behind the others: whether 0 to 5 are all 1
  network.cardinality.push_back(2);
  tables::HostTable<double> all{{0, 1, 2, 3, 4, 5, 7}, std::vector<double>(128)};
  for (std::size_t i = 0; i < 64; ++i) all.values[2 * i + (i == 63 ? 1 : 0)] = 1;
  network.tables.push_back(all);
  network.tables.push_back({{7, 6}, {0.9, 0.1, 0.2, 0.8}});
  check_circuit(network, make_circuit(network, {7, 0, 1, 2, 3, 4, 5, 6}, 7), 1, "a wide factor");
  check_circuit(network, make_circuit(network, {6, 0, 1, 7, 2, 3, 4, 5}, 7), 1, "a wide factor");
}

TEST_CASE("circuit network: many small and large numbers leave no range") {
  for (double unit : {0.01, 1e9}) {
    TableNetwork<double> network;
    network.cardinality = {2, 2};
    for (int i = 0; i < 300; ++i) network.tables.push_back({{0}, {unit, 1.01 * unit}});
    for (int i = 0; i < 300; ++i) network.tables.push_back({{0, 1}, {unit, unit, unit, 2 * unit}});
    auto const made = make_circuit(network, {1, 0}, 2);
    // x1 given x0 = 1 is 2^300 to 1; ln of the sum over both is nearly that of this one
    CHECK(made.log_partition == doctest::Approx(600 * std::log(unit) + 300 * std::log(1.01 * 2)).epsilon(1e-12));
    circuit::Samples const sample{2, {0, 1}};
    auto const log_value = reference::circuit_log_values(made.circuit, made.parameters, sample, 0).back();
    CHECK(static_cast<double>(log_value) == doctest::Approx(-300 * std::log(1.01 * 2)).epsilon(1e-9));
  }
}

TEST_CASE("circuit network: what is refused") {
  TableNetwork<double> network;
  network.cardinality = {2, 2};
  network.tables = {{{0, 1}, {0.5, 0.5, 0, 1}}};
  CHECK_THROWS_WITH_AS(make_circuit(network, {0}, 2), doctest::Contains("each of 2 variables once"), InputError);
  CHECK_THROWS_WITH_AS(make_circuit(network, {0, 0}, 2), doctest::Contains("each of 2 variables once"), InputError);
  CHECK_THROWS_WITH_AS(make_circuit(network, {0, 1}, 0), doctest::Contains("observed"), InputError);
  CHECK_THROWS_WITH_AS(make_circuit(network, {0, 1}, 3), doctest::Contains("observed"), InputError);
  network.tables[0].values[1] = -1;
  CHECK_THROWS_WITH_AS(make_circuit(network, {0, 1}, 2), doctest::Contains("at least 0"), InputError);
  TableNetwork<double> all;  // a star
  all.cardinality.assign(40, 4);
  for (Index v = 1; v < 40; ++v) all.tables.push_back({{0, v}, std::vector<double>(16, 1)});
  std::vector<Index> center_first(40);
  std::iota(center_first.begin(), center_first.end(), 0);
  CHECK_THROWS_AS(make_circuit(all, center_first, 40), CapacityError);
  CHECK_NOTHROW(make_circuit(all, {center_first.rbegin(), center_first.rend()}, 40));
}
