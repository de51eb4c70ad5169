// Products of probabilities that leave the range of numbers: told, and right in logarithms.
#include <cmath>
#include <limits>
#include <numbers>
#include <random>

#include <doctest/doctest.h>

#include <hornbill/elim/mini_buckets.hpp>
#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>

#include "support/cells.hpp"
#include "support/random_networks.hpp"

using namespace hornbill;
using tables::LogSumExp;
using tables::MaxProduct;
using tables::MaxSum;
using tables::SumProduct;

namespace {

/// Powers of ten down to one that the type just holds.
template <class Value>
tables::TableNetwork<Value> steep_network(unsigned seed, Index num_tables) {
  return test::random_network<SumProduct<Value>>(seed, 6, num_tables, [](double x) {
    return static_cast<Value>(std::pow(10.0, -std::floor((sizeof(Value) == 4 ? 30 : 300) * x)));
  });
}

/// Tables that favour one state of a variable, then as many that favour another.
template <class Value>
tables::TableNetwork<Value> opposed(int count, double least) {
  tables::TableNetwork<Value> network{{3}, {}, {}, {}};
  auto const low = static_cast<Value>(least), middle = static_cast<Value>(std::sqrt(least));
  for (int i = 0; i < count; ++i) network.tables.push_back({{0}, {low, Value(1), middle}});
  for (int i = 0; i < count; ++i) network.tables.push_back({{0}, {Value(1), low, middle}});
  return network;
}

template <class Value>
elim::HostPlan plan_of(tables::TableNetwork<Value> const& network) {
  auto const scopes = elim::scopes_of(network);
  return elim::make_plan(network.cardinality, scopes, elim::make_order(network.cardinality, scopes));
}

template <class Value>
double log_of(elim::Elimination<Value> const& result) {
  return elim::log10_of(result) * std::numbers::ln10;
}

void check_log(double found, double expected, double tolerance) {
  if (std::isinf(expected))
    CHECK(found == expected);
  else
    CHECK(found == doctest::Approx(expected).epsilon(tolerance).scale(1));
}

/// Marginals, by variable and state, of logarithms.
std::vector<double> enumerated_marginals(tables::TableNetwork<double> const& logarithms) {
  std::vector<double> result;
  for (Index v = 0; v < logarithms.num_variables(); ++v) {
    std::vector<double> of_states;
    for (Index s = 0; s < logarithms.cardinality[v]; ++s) {
      auto fixed = logarithms;
      fixed.tables.push_back(
          {{v}, std::vector<double>(static_cast<std::size_t>(logarithms.cardinality[v]), LogSumExp<double>::zero())});
      fixed.tables.back().values[static_cast<std::size_t>(s)] = 0;
      of_states.push_back(test::enumerate<LogSumExp<double>>(fixed));
    }
    double const all = test::enumerate<LogSumExp<double>>(logarithms);
    for (double of_state : of_states) result.push_back(std::exp(of_state - all));
  }
  return result;
}

template <class Value>
jtree::HostPlan tree_plan(tables::TableNetwork<Value> const& network, jtree::PlanOptions const& options = {}) {
  auto const scopes = elim::scopes_of(network);
  auto in_cliques = scopes;
  in_cliques.insert(in_cliques.end(), options.joint.begin(), options.joint.end());
  return jtree::make_plan(
      network.cardinality, scopes,
      jtree::make_join_tree(network.cardinality, in_cliques, elim::make_order(network.cardinality, in_cliques)),
      options);
}

template <class Semiring, class Exec>
std::vector<double> marginals_of(Exec const& exec, jtree::Plan<typename Exec::memory_space> const& plan,
                                 jtree::State<Semiring, typename Exec::memory_space> const& state) {
  Kokkos::View<typename Semiring::Value*, typename Exec::memory_space> const p(
      "hornbill::test::p", static_cast<std::size_t>(plan.marginal_offsets.back() * plan.host.num_sets));
  jtree::marginals(exec, plan, state, p);
  auto const values = detail::to_vector(exec, p);
  return {values.begin(), values.end()};
}

}  // namespace

TEST_CASE_TEMPLATE("range: states that opposed tables favour are not lost", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  typename Cell::Exec const exec;
  bool const is_single = sizeof(Value) == 4;
  for (int count : {1, is_single ? 6 : 45}) {
    CAPTURE(count);
    bool const leaves_range = count > 1;
    auto const network = opposed<Value>(count, 1e-8);
    auto const plan = plan_of(network);
    double const expected = std::log(3.0) + count * std::log(1e-8), tolerance = is_single ? 1e-6 : 1e-13;
    auto const sum = elim::eliminate<SumProduct<Value>>(exec, network, plan),
               sliced = elim::eliminate_in_slices<SumProduct<Value>>(exec, network, plan, 100000);
    check_log(log_of(sum), expected, tolerance);
    check_log(log_of(sliced), expected, tolerance);
    auto const best = elim::eliminate<MaxProduct<Value>>(exec, network, plan),
               best_sliced = elim::eliminate_in_slices<MaxProduct<Value>>(exec, network, plan, 100000);
    for (auto const& result : {best, best_sliced}) {
      check_log(log_of(result), expected - std::log(3.0), tolerance);
      check_log(elim::value_of<MaxSum<double>>(elim::logarithms_of(network), result.assignment),
                expected - std::log(3.0), tolerance);
    }
    for (auto const& result : {sum, sliced, best, best_sliced}) CHECK(result.took_logarithms == leaves_range);

    auto const device_plan = elim::make_plan(exec, plan);  // what is asked of a plan that is kept
    auto const state = elim::make_state<Value>(exec, device_plan);
    elim::load(exec, network, device_plan, state);
    elim::run<SumProduct<Value>>(exec, device_plan, state);
    CHECK(elim::result_of<SumProduct<Value>>(exec, device_plan, state).is_in_range == !leaves_range);
  }
}

TEST_CASE_TEMPLATE("range: elimination of steep tables, against all assignments", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  typename Cell::Exec const exec;
  double const tolerance = sizeof(Value) == 4 ? 1e-5 : 1e-12;
  int in_range = 0, out_of_range = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    auto const network = steep_network<Value>(seed, seed % 3 == 0 ? 3 : 20);
    auto const expected = elim::logarithms_of(network);
    auto const plan = plan_of(network);
    auto const sum = elim::eliminate<SumProduct<Value>>(exec, network, plan);
    check_log(log_of(sum), test::enumerate<LogSumExp<double>>(expected), tolerance);
    auto const best = elim::eliminate<MaxProduct<Value>>(exec, network, plan);
    double const largest = test::enumerate<MaxSum<double>>(expected);
    check_log(log_of(best), largest, tolerance);
    check_log(elim::value_of<MaxSum<double>>(expected, best.assignment), largest, tolerance);
    ++(sum.took_logarithms ? out_of_range : in_range);
  }
  CHECK(in_range > 5);
  CHECK(out_of_range > 5);
}

TEST_CASE_TEMPLATE("range: mini-buckets of steep tables bound the best", Cell, HORNBILL_DOUBLE_CELLS) {
  typename Cell::Exec const exec;
  int apart = 0;
  for (unsigned seed = 0; seed < 30; ++seed) {
    auto const network = steep_network<double>(seed, 20);
    auto const expected = elim::logarithms_of(network);
    double const largest = test::enumerate<MaxSum<double>>(expected);
    if (std::isinf(largest)) continue;
    auto const scopes = elim::scopes_of(network);
    for (bool match : {false, true}) {
      CAPTURE(seed);
      CAPTURE(match);
      elim::MiniBucketOptions const options{.max_variables = 2, .match_moments = match};
      auto const order = elim::make_order(network.cardinality, scopes);
      for (auto const& plan : {elim::make_mini_bucket_plan(network.cardinality, scopes, order, options),
                               elim::make_content_plan<MaxProduct<double>>(exec, network, order, options),
                               elim::make_content_plan<MaxSum<double>>(exec, expected, order, options)}) {
        auto const bound = elim::eliminate<MaxProduct<double>>(exec, network, plan);
        CHECK(log_of(bound) >= largest - 1e-9 * std::abs(largest));
        check_log(log_of(bound), elim::eliminate<MaxSum<double>>(exec, expected, plan).value, 1e-9);
        apart += bound.took_logarithms && log_of(bound) > largest + 1;
      }
    }
  }
  CHECK(apart > 5);
}

TEST_CASE_TEMPLATE("range: marginals of steep tables, against all assignments", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  using Memory = typename Cell::Memory;
  typename Cell::Exec const exec;
  bool const is_single = sizeof(Value) == 4;
  double const tolerance = is_single ? 1e-3 : 1e-10, tolerance_of_log = is_single ? 1e-5 : 1e-12;
  int in_range = 0, out_of_range = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    auto const network = steep_network<Value>(seed, seed % 3 == 0 ? 2 : 20);
    auto const expected = elim::logarithms_of(network);
    double const log_z = test::enumerate<LogSumExp<double>>(expected);
    if (std::isinf(log_z)) continue;
    auto const marginals = enumerated_marginals(expected);
    auto const plan = jtree::make_plan(exec, tree_plan(network, {.joint = {{0, 1}}}));
    auto const check = [&]<class Semiring>(jtree::State<Semiring, Memory>& state) {
      jtree::calibrate(exec, plan, state);
      if (!jtree::is_in_range(exec, plan, state)) return false;
      check_log(jtree::log_partition(exec, plan, state).front(), log_z, tolerance_of_log);
      auto const found = marginals_of(exec, plan, state);
      REQUIRE(found.size() == marginals.size());
      for (std::size_t i = 0; i < found.size(); ++i) CHECK(std::abs(found[i] - marginals[i]) <= tolerance);
      auto const joint = jtree::joint_marginal(exec, plan, state, 0).front();
      auto const states = static_cast<std::size_t>(network.cardinality[plan.host.joint_scope(0).front()]);
      std::size_t const first =
          plan.host.joint_scope(0).front() == 0 ? 0 : static_cast<std::size_t>(network.cardinality[0]);
      for (std::size_t s = 0; s < states; ++s) {
        double sum = 0;
        for (std::size_t i = 0; i < joint.size() / states; ++i) sum += joint[s * (joint.size() / states) + i];
        CHECK(std::abs(sum - marginals[first + s]) <= tolerance);
      }
      return true;
    };
    auto of_numbers = jtree::make_state<SumProduct<Value>>(exec, plan, network);
    ++(check(of_numbers) ? in_range : out_of_range);
    auto of_logarithms = jtree::make_state<LogSumExp<Value>>(exec, plan, network);
    CHECK(check(of_logarithms));
    auto of_best = jtree::make_state<MaxSum<Value>>(exec, plan, network);
    check_log(elim::value_of<MaxSum<double>>(expected, jtree::best_assignment(exec, plan, of_best)),
              test::enumerate<MaxSum<double>>(expected), tolerance_of_log);
  }
  CHECK(in_range > 3);
  CHECK(out_of_range > 3);
}

TEST_CASE_TEMPLATE("range: evidence sets that are far apart, one of them impossible, at once and in slices", Cell,
                   HORNBILL_DOUBLE_CELLS) {
  typename Cell::Exec const exec;
  Index const children = 300;  // of variable 0: each is 1 with 0.001 or 0.999
  tables::TableNetwork<double> network;
  network.cardinality.assign(static_cast<std::size_t>(children) + 2, 2);
  network.tables.push_back({{0}, {0.5, 0.5}});
  for (Index v = 1; v <= children; ++v)
    network.tables.push_back(v % 2 == 0 ? tables::HostTable<double>{{0, v}, {0.999, 0.001, 0.001, 0.999}}
                                        : tables::HostTable<double>{{0, v}, {0.001, 0.999, 0.999, 0.001}});
  network.tables.push_back({{0, children + 1}, {1, 0, 1, 0}});
  std::vector<HostEvidence> sets(3);
  for (Index v = 1; v <= children; ++v) sets[1].push_back(Observation::hard(v, 1));
  sets[2].push_back(Observation::hard(children + 1, 1));
  auto const host = tree_plan(network, {.num_sets = 3});
  auto const plan = jtree::make_plan(exec, host);
  auto numbers = jtree::make_state<SumProduct<double>>(exec, plan, network);
  jtree::calibrate(exec, plan, numbers);
  CHECK(jtree::is_in_range(exec, plan, numbers));
  jtree::observe(exec, plan, numbers, sets);
  jtree::calibrate(exec, plan, numbers);
  CHECK(!jtree::is_in_range(exec, plan, numbers));

  auto state = jtree::make_state<LogSumExp<double>>(exec, plan, network);
  jtree::observe(exec, plan, state, sets);
  jtree::calibrate(exec, plan, state);
  auto const p = marginals_of(exec, plan, state), log_z = jtree::log_partition(exec, plan, state);
  check_log(log_z[0], 0, 1e-12);
  check_log(log_z[1], children / 2 * (std::log(0.001) + std::log(0.999)), 1e-12);
  CHECK(log_z[2] == -std::numeric_limits<double>::infinity());
  for (std::size_t set : {0, 1}) {
    CHECK(p[set] == doctest::Approx(0.5).epsilon(1e-10));
    CHECK(p[3 + set] == doctest::Approx(0.5).epsilon(1e-10));
  }
  CHECK(p[2] == 0);
  CHECK(p[5] == 0);

  Kokkos::DefaultHostExecutionSpace const on_host;
  auto const host_plan = jtree::make_plan(on_host, host);
  auto sliced = jtree::make_state<LogSumExp<double>>(on_host, host_plan, network);
  auto sliced_numbers = jtree::make_state<SumProduct<double>>(on_host, host_plan, network);
  jtree::observe(on_host, host_plan, sliced, sets);
  jtree::observe(on_host, host_plan, sliced_numbers, sets);
  CHECK(jtree::calibrate_in_slices(exec, host_plan, sliced, 20000) > 1);
  CHECK(jtree::calibrate_in_slices(exec, host_plan, sliced_numbers, 20000) > 1);
  CHECK(!jtree::is_in_range(on_host, host_plan, sliced_numbers));
  CHECK(jtree::log_partition(on_host, host_plan, sliced)[1] == doctest::Approx(log_z[1]).epsilon(1e-13));
}

TEST_CASE_TEMPLATE("range: what is not current does not count; a best assignment that left it", Cell,
                   HORNBILL_DOUBLE_CELLS) {
  typename Cell::Exec const exec;
  auto network = opposed<double>(45, 1e-8);  // variable 0; and variable 1, which has little to do with it
  network.cardinality.push_back(2);
  network.tables.push_back({{1}, {0.25, 0.75}});
  auto const plan = jtree::make_plan(exec, tree_plan(network));
  auto state = jtree::make_state<MaxProduct<double>>(exec, plan, network);
  std::vector<Index> const other{1};
  jtree::calibrate_for(exec, plan, state, other);
  CHECK(jtree::is_in_range(exec, plan, state));
  jtree::best_assignment(exec, plan, state);
  CHECK(!jtree::is_in_range(exec, plan, state));
  auto of_logarithms = jtree::make_state<MaxSum<double>>(exec, plan, network);
  CHECK(jtree::best_assignment(exec, plan, of_logarithms)[1] == 1);
}

namespace {

/// Sums logarithms by lanes that have rows of their own, and by lanes that share one.
template <class Exec, class Value>
void check_sum_of(std::vector<Value> const& terms, double expected, double tolerance) {
  Exec const exec;
  tables::HostReductions host({static_cast<Index>(terms.size()), 3});
  Index const in = host.add_table({0, 1}), row = host.add_table({0});
  Index const of_rows = host.add_undivided({in}, {1}, {0}), of_all = host.add_undivided({row}, {}, {0});
  auto const reductions = tables::make_reductions(exec, host);
  auto const values = tables::make_values<Value>(exec, host);
  std::vector<std::vector<Value>> given{{}, terms};
  for (Value term : terms) given[0].insert(given[0].end(), 3, term);
  tables::set_given<Value>(exec, host, values, given);
  tables::reduce<LogSumExp<Value>>(exec, reductions, tables::make_schedule(exec, host, reductions), values);
  for (Index table : {of_rows, of_all})
    for (Value found : tables::cells_of<Value>(exec, host, values, table)) check_log(found, expected, tolerance);
}

}  // namespace

TEST_CASE_TEMPLATE("range: a sum of many logarithms beside which each is small", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  std::size_t const states = 1 << 16;
  double const each = -1000;
  check_sum_of<typename Cell::Exec>(std::vector<Value>(states, static_cast<Value>(each)),
                                    each + std::log(static_cast<double>(states)),
                                    std::numeric_limits<Value>::epsilon());
}

TEST_CASE_TEMPLATE("range: a sum of logarithms each of which is the largest yet, or of zero", Cell,
                   HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  std::size_t const states = 1 << 16;
  std::vector<Value> terms;
  long double parts = 0;  // of e^64
  for (std::size_t s = 0; s < states; ++s) {
    terms.push_back(s % 7 == 0 ? LogSumExp<Value>::zero() : static_cast<Value>(s) / 1024);
    parts += std::exp(static_cast<long double>(terms.back()) - 64);
  }
  // What one step rounds fades as parts do: over some thousand steps, of a logarithm above 64.
  check_sum_of<typename Cell::Exec>(terms, static_cast<double>(64 + std::log(parts)),
                                    1024.0 / 64 * std::numeric_limits<Value>::epsilon());
}

TEST_CASE_TEMPLATE("range: entries that are not normal", Cell, HORNBILL_DOUBLE_CELLS) {
  typename Cell::Exec const exec;
  double const least = 5e-324;
  tables::TableNetwork<double> const network{
      {2, 2}, {{{0, 1}, {least, 2 * least, 3 * least, 0}}, {{0}, {1e300, 1e-300}}, {{1}, {least, 1e308}}}, {}, {}};
  auto const expected = elim::logarithms_of(network);
  auto const sum = elim::eliminate<SumProduct<double>>(exec, network, plan_of(network));
  check_log(log_of(sum), test::enumerate<LogSumExp<double>>(expected), 1e-13);
  auto const best = elim::eliminate<MaxProduct<double>>(exec, network, plan_of(network));
  CHECK(best.assignment == std::vector<Index>{0, 1});
}

TEST_CASE("range: a likelihood that single precision does not hold is refused") {
  Kokkos::DefaultHostExecutionSpace const exec;
  tables::TableNetwork<float> const network{{2}, {{{0}, {0.5f, 0.5f}}}, {}, {}};
  auto const plan = jtree::make_plan(exec, tree_plan(network));
  auto state = jtree::make_state<SumProduct<float>>(exec, plan, network);
  std::vector<HostEvidence> const sets{{Observation::soft(0, 1e-50, 1)}};
  CHECK_THROWS_WITH_AS(jtree::observe(exec, plan, state, sets),
                       "evidence of variable 0 has a likelihood that single precision cannot hold; double can",
                       InputError);
}
