// Elimination against all assignments, in every semiring; orders, and what they cost.
#include <cmath>
#include <limits>
#include <numeric>
#include <random>
#include <set>

#include <doctest/doctest.h>

#include <hornbill/elim/elimination.hpp>
#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>

#include "support/cells.hpp"
#include "support/random_graphs.hpp"
#include "support/random_networks.hpp"

using namespace hornbill;
using elim::Heuristic;
using tables::Cost;

namespace {

/// How the first of some reductions is laid out.
tables::detail::ReductionTask first_task(tables::HostReductions const& host, Index team_size) {
  std::vector<tables::detail::ReductionTask> tasks(host.reductions().size());
  std::vector<tables::detail::ReductionInput> inputs(tables::detail::num_inputs(host));
  tables::detail::lay_out(host, team_size, tasks, inputs);
  return tasks.front();
}

template <class Semiring, class Exec>
elim::Elimination<typename Semiring::Value> solve(tables::TableNetwork<typename Semiring::Value> const& network,
                                                  elim::OrderOptions const& options = {}) {
  auto const scopes = elim::scopes_of(network);
  return elim::eliminate<Semiring>(
      Exec(), network,
      elim::make_plan(network.cardinality, scopes, elim::make_order(network.cardinality, scopes, options)));
}

/// A table that reductions made, and the power of two that it is to be multiplied by.
template <class Semiring, class Exec>
std::pair<std::vector<typename Semiring::Value>, double> reduced(
    Exec const& exec, tables::HostReductions const& host,
    std::vector<std::vector<typename Semiring::Value>> const& given, Index table) {
  using Value = typename Semiring::Value;
  auto const values = tables::make_values<Value>(exec, host);
  tables::set_given<Value>(exec, host, values, given);
  auto const reductions = tables::make_reductions(exec, host);
  tables::reduce<Semiring>(exec, reductions, tables::make_schedule(exec, host, reductions), values);
  double exponent = 0;
  if constexpr (Semiring::scales) exponent = tables::exponents_of(host, detail::to_vector(exec, values.largest))[table];
  return {tables::cells_of(exec, host, values, table), exponent};
}

double log_of(double value, double exponent) { return std::log(value) + exponent * std::log(2.0); }

constexpr Heuristic heuristics[] = {Heuristic::min_fill, Heuristic::min_degree, Heuristic::min_width,
                                    Heuristic::min_weight, Heuristic::degree};

}  // namespace

TEST_CASE_TEMPLATE("elimination: least sums of costs, whatever the order", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::MinSum<Cost>;
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    auto const network =
        test::random_network<Semiring>(seed, 7, 9, [](double x) { return static_cast<Cost>(100 * x); });
    auto const least = test::enumerate<Semiring>(network);
    for (auto heuristic : heuristics) {
      auto const result = solve<Semiring, typename Cell::Exec>(network, {.heuristic = heuristic, .seed = seed});
      CHECK(result.value == least);
      if (least < tables::infinite_cost) CHECK(elim::value_of<Semiring>(network, result.assignment) == least);
    }
    auto const narrow = tables::narrowed(network);
    REQUIRE(narrow);
    auto const result = solve<tables::MinSum<tables::NarrowCost>, typename Cell::Exec>(*narrow);
    CHECK(tables::widened(result.value) == least);
    if (least < tables::infinite_cost) CHECK(elim::value_of<Semiring>(network, result.assignment) == least);
  }
}

TEST_CASE("tables: what single precision holds") {
  tables::TableNetwork<double> const network{{2, 2}, {{{1, 0}, {1e-320, 1, 1e-30, 0}}}, {"x", "y"}, {}};
  CHECK(tables::converted<double>(network).tables[0].values == network.tables[0].values);
  CHECK_THROWS_WITH_AS(tables::converted<float>(network),
                       "a table of y has the entry 9.99989e-321, which single precision cannot hold; double can",
                       InputError);
}

TEST_CASE("costs: narrow where any sum of them is") {
  Cost const half = std::numeric_limits<tables::NarrowCost>::max() / 8;
  auto const network = [](Cost a, Cost b) {
    return tables::TableNetwork<Cost>{
        {2, 2}, {{{0}, {a, tables::infinite_cost}}, {{1, 0}, {b, 0, 1, tables::infinite_cost}}}, {"x", "y"}, {}};
  };
  auto const narrow = tables::narrowed(network(half - 2, 1));
  REQUIRE(narrow);
  CHECK(narrow->cardinality == std::vector<Index>{2, 2});
  CHECK(narrow->tables[1].scope == std::vector<Index>{1, 0});
  CHECK(narrow->name_of(1) == "y");
  CHECK(narrow->tables[0].values == std::vector<tables::NarrowCost>{static_cast<tables::NarrowCost>(half - 2),
                                                                    tables::MinSum<tables::NarrowCost>::infinite()});
  CHECK(tables::widened(narrow->tables[0].values[0]) == half - 2);
  CHECK(tables::widened(narrow->tables[0].values[1]) == tables::infinite_cost);
  CHECK_FALSE(tables::narrowed(network(half - 1, 1)));
  CHECK_FALSE(tables::narrowed(network(-half, 1)));
  CHECK_FALSE(tables::narrowed(network(0, tables::infinite_cost - 1)));
  CHECK(tables::narrowed(tables::TableNetwork<Cost>{}));
  // What is forbidden stays so beside what is negative; and shifts might add up.
  tables::TableNetwork<Cost> const below{
      {2, 2},
      {{{0}, {tables::infinite_cost, 3}}, {{0, 1}, {-9, -8, tables::infinite_cost, -7}}, {{1}, {-5, -6}}},
      {"x", "y"},
      {}};
  auto const solved =
      solve<tables::MinSum<tables::NarrowCost>, Kokkos::DefaultHostExecutionSpace>(*tables::narrowed(below));
  CHECK(solved.value == 3 - 7 - 6);
  CHECK(solved.assignment == std::vector<Index>{1, 1});
  auto never = below;
  never.tables[0].values[1] = tables::infinite_cost;
  CHECK(tables::widened(
            solve<tables::MinSum<tables::NarrowCost>, Kokkos::DefaultHostExecutionSpace>(*tables::narrowed(never))
                .value) == tables::infinite_cost);
}

TEST_CASE_TEMPLATE("elimination: sums and largest products of probabilities", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  double const tolerance = sizeof(Value) == 4 ? 1e-5 : 1e-12;
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    auto const network =
        test::random_network<tables::SumProduct<Value>>(seed, 7, 9, [](double x) { return static_cast<Value>(x); });
    auto const sum = solve<tables::SumProduct<Value>, typename Cell::Exec>(network);
    CHECK(std::abs(std::ldexp(static_cast<double>(sum.value), static_cast<int>(sum.exponent)) -
                   test::enumerate<tables::SumProduct<Value>>(network)) <=
          tolerance * static_cast<double>(test::enumerate<tables::SumProduct<Value>>(network)));
    auto const largest = solve<tables::MaxProduct<Value>, typename Cell::Exec>(network);
    double const best = static_cast<double>(test::enumerate<tables::MaxProduct<Value>>(network));
    CHECK(std::abs(std::ldexp(static_cast<double>(largest.value), static_cast<int>(largest.exponent)) - best) <=
          tolerance * best);
    if (best > 0)
      CHECK(std::abs(static_cast<double>(elim::value_of<tables::MaxProduct<Value>>(network, largest.assignment)) -
                     best) <= tolerance * best);
  }
}

TEST_CASE_TEMPLATE("elimination: how many assignments are best", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::CountedMinSum<Cost>;
  int several = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    // few costs, many ties
    auto const network =
        test::random_network<tables::MinSum<Cost>>(seed, 7, 9, [](double x) { return static_cast<Cost>(3 * x); });
    auto const counted = elim::counted(network);
    auto const expected = test::enumerate<Semiring>(counted);
    auto const result = solve<Semiring, typename Cell::Exec>(counted);
    CHECK(result.value.cost == expected.cost);
    CHECK(result.value.count == expected.count);
    CHECK((expected.count > 0) == (expected.cost < tables::infinite_cost));
    auto const plan = elim::make_plan(network.cardinality, elim::scopes_of(network),
                                      elim::make_order(network.cardinality, elim::scopes_of(network)));
    CHECK(elim::eliminate_in_slices<Semiring>(typename Cell::Exec(), counted, plan, 4000).value.count ==
          expected.count);
    several += expected.count > 1;
  }
  CHECK(several > 20);
}

TEST_CASE("elimination: more best assignments than a number has digits") {
  Index const pairs = 200;  // each of two variables that are to differ
  tables::TableNetwork<Cost> network;
  network.cardinality.assign(2 * pairs, 3);
  for (Index v = 0; v < pairs; ++v) network.tables.push_back({{2 * v, 2 * v + 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}});
  auto const result = solve<tables::CountedMinSum<Cost>, Kokkos::DefaultHostExecutionSpace>(elim::counted(network));
  CHECK(result.value.cost == 0);
  CHECK(result.value.count == doctest::Approx(std::pow(6.0, pairs)).epsilon(1e-12));
}

TEST_CASE_TEMPLATE("elimination: the same in logarithms", Cell, HORNBILL_DOUBLE_CELLS) {
  for (unsigned seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    auto const network =
        test::random_network<tables::LogSumExp<double>>(seed, 7, 9, [](double x) { return std::log(x + 0.001); });
    double const expected = test::enumerate<tables::LogSumExp<double>>(network),
                 sum = solve<tables::LogSumExp<double>, typename Cell::Exec>(network).value;
    if (std::isinf(expected))
      CHECK(sum == expected);
    else
      CHECK(sum == doctest::Approx(expected).epsilon(1e-12));
    auto costs = network;
    for (auto& table : costs.tables)
      for (double& value : table.values) value = -value;
    CHECK(solve<tables::MinSum<double>, typename Cell::Exec>(costs).value ==
          doctest::Approx(test::enumerate<tables::MinSum<double>>(costs)).epsilon(1e-12));
  }
}

TEST_CASE_TEMPLATE("elimination: probabilities too small for a number", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  tables::TableNetwork<Value> chain;
  Index const length = 300;
  for (Index v = 0; v < length; ++v) {
    chain.cardinality.push_back(2);
    if (v == 0)
      chain.tables.push_back({{0}, {Value(1e-20), Value(1e-20)}});
    else
      chain.tables.push_back({{v - 1, v}, {Value(1e-20), Value(1e-20), Value(0), Value(2e-20)}});
  }
  double log_z = std::log(1e-20);  // from the first variable on: 0 may become 1, which stays
  double zero = 1, one = 1;
  for (Index v = 1; v < length; ++v) {
    log_z += std::log(1e-20);
    one = zero + 2 * one;
    double const scale = one;
    zero /= scale;
    one /= scale;
    log_z += std::log(scale);
  }
  log_z += std::log(zero + one);
  auto const sum = solve<tables::SumProduct<Value>, typename Cell::Exec>(chain);
  CHECK(log_of(static_cast<double>(sum.value), sum.exponent) ==
        doctest::Approx(log_z).epsilon(sizeof(Value) == 4 ? 1e-6 : 1e-12));
  auto const best = solve<tables::MaxProduct<Value>, typename Cell::Exec>(chain);
  CHECK(best.assignment == std::vector<Index>(length, 1));
}

TEST_CASE_TEMPLATE("elimination: wide tables, in rows of several blocks", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::MinSum<Cost>;
  Index const n = 13;  // a clique: the first bucket has 2^13 cells
  tables::TableNetwork<Cost> network;
  network.cardinality.assign(n, 2);
  for (Index v = 0; v < n; ++v)
    for (Index w = v + 1; w < n; ++w)
      network.tables.push_back({{w, v}, {(v * w) % 7, (v + 3 * w) % 5, (2 * v + w) % 6, (v + w) % 4}});
  auto const result = solve<Semiring, typename Cell::Exec>(network);
  CHECK(result.value == test::enumerate<Semiring>(network));
  CHECK(elim::value_of<Semiring>(network, result.assignment) == result.value);
}

TEST_CASE_TEMPLATE("reduction: over much or little, kept in whatever order", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::SumProduct<double>;
  typename Cell::Exec const exec;
  std::vector<Index> const cardinality{5, 3, 7, 4, 6, 13};
  std::vector<Index> const all{0, 1, 2, 3, 4, 5};
  std::vector<double> wide(5 * 3 * 7 * 4 * 6 * 13), narrow(7 * 5);
  for (std::size_t i = 0; i < wide.size(); ++i) wide[i] = static_cast<double>(i % 17) / 16;
  for (std::size_t i = 0; i < narrow.size(); ++i) narrow[i] = static_cast<double>(i % 5) / 4;
  for (unsigned kept_set = 0; kept_set < 64; ++kept_set) {
    CAPTURE(kept_set);
    std::vector<Index> kept, eliminated;
    for (Index v : all) (kept_set >> v & 1 ? kept : eliminated).push_back(v);
    tables::HostReductions host(cardinality);
    Index const a = host.add_table(all), b = host.add_table({2, 0});
    Index const output = host.add_reduction({a, b}, kept, eliminated);
    CHECK(host.num_levels() == (host.states_of(kept) < 256 && host.states_of(eliminated) > 8192 ? 2 : 1));
    std::vector<double> expected(static_cast<std::size_t>(host.tables()[output].cells));
    std::vector<Index> state(6);
    for (std::size_t i = 0; i < wide.size(); ++i) {
      auto rest = static_cast<Index>(i);
      for (Index v = 6; v-- > 0; rest /= cardinality[v]) state[v] = rest % cardinality[v];
      std::size_t cell = 0;
      for (Index v : kept) cell = cell * static_cast<std::size_t>(cardinality[v]) + static_cast<std::size_t>(state[v]);
      expected[cell] += wide[i] * narrow[static_cast<std::size_t>(state[2] * 5 + state[0])];
    }
    auto const [sums, exponent] = reduced<Semiring>(exec, host, {wide, narrow}, output);
    double const scale = std::exp2(exponent);
    for (std::size_t i = 0; i < expected.size(); ++i)
      CHECK(sums[i] * scale == doctest::Approx(expected[i]).epsilon(1e-12));
  }
}

TEST_CASE_TEMPLATE("reduction: many inputs, merged or not", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  using Semiring = tables::SumProduct<Value>;
  typename Cell::Exec const exec;
  std::vector<Index> const cardinality{4, 3, 5, 2, 6, 7, 3}, place{0, 1, 2, 3, 4, 5, 6};
  std::vector<double> sums[2];
  for (bool merged : {false, true}) {
    tables::HostReductions host(cardinality);
    std::vector<Index> inputs;
    std::vector<std::vector<Value>> given;
    for (Index v = 1; v < 7; ++v) {
      inputs.push_back(host.add_table({0, v}));
      for (Index i = given.emplace_back(4 * cardinality[v]).size(); i-- > 0;)
        given.back()[i] = static_cast<Value>((i * 5 + v) % 11) * Value(1e-15);
    }
    if (merged) inputs = tables::merge_small(host, inputs, 150, place);
    CHECK(inputs.size() == (merged ? 3 : 6));
    Index const output = host.add_reduction(inputs, {1, 2, 3, 4, 5, 6}, {0});
    auto const [cells, exponent] = reduced<Semiring>(exec, host, given, output);
    for (Value cell : cells) sums[merged].push_back(static_cast<double>(cell) * std::exp2(exponent));
  }
  double most = 0;
  for (double sum : sums[0]) most = std::max(most, sum);
  CHECK(most > 1e-87);
  for (std::size_t i = 0; i < sums[0].size(); ++i)
    CHECK(sums[1][i] == doctest::Approx(sums[0][i]).epsilon(sizeof(Value) == 4 ? 1e-5 : 1e-12).scale(most * 1e-3));
}

TEST_CASE_TEMPLATE("reduction: an output so large that teams read inputs again and again", Cell,
                   HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::MinSum<Cost>;
  typename Cell::Exec const exec;
  Index const kept = 22;
  std::vector<Index> const cardinality(kept + 1, 2);
  std::vector<Index> scope(kept), slow{kept}, fast{kept};  // the last is eliminated
  for (Index v = 0; v < kept; ++v) {
    scope[v] = v;
    (v < kept / 2 || v == kept - 2 ? slow : fast).push_back(v);
  }
  tables::HostReductions host(cardinality);
  Index const a = host.add_table(slow), b = host.add_table(fast), output = host.add_reduction({a, b}, scope, {kept});
  std::vector<std::vector<Cost>> given;
  for (Index t : {a, b})
    for (Offset i = 0, cells = (given.emplace_back(), host.tables()[t].cells); i < cells; ++i)
      given.back().push_back((i * 7919 + t) % 1009);
  CHECK(first_task(host, 256).highs_of_block > 1);
  auto const cells = reduced<Semiring>(exec, host, given, output).first;
  Offset wrong = 0;
  for (Offset i = 0; i < host.tables()[output].cells; ++i) {
    Cost least = tables::infinite_cost;
    for (Index state = 0; state < 2; ++state) {
      Offset in_a = state, in_b = state;
      for (Index v = 0; v < kept; ++v) {
        Offset const bit = i >> (kept - 1 - v) & 1;
        auto& cell = v < kept / 2 || v == kept - 2 ? in_a : in_b;
        cell = 2 * cell + bit;
      }
      least = std::min(least, given[0][static_cast<std::size_t>(in_a)] + given[1][static_cast<std::size_t>(in_b)]);
    }
    wrong += cells[static_cast<std::size_t>(i)] != least;
  }
  CHECK(wrong == 0);
}

TEST_CASE_TEMPLATE("reduction: four tables of what is forbidden, in 32 bits", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::MinSum<tables::NarrowCost>;
  tables::HostReductions host({3, 2});
  std::vector<Index> inputs;
  std::vector<std::vector<tables::NarrowCost>> given;
  for (int k = 0; k < 4; ++k) {
    inputs.push_back(host.add_table({0, 1}));
    given.push_back({Semiring::infinite(), k, Semiring::infinite(), Semiring::infinite(), Semiring::infinite(),
                     k == 0 ? Semiring::infinite() : 1});
  }
  Index const output = host.add_reduction(inputs, {0}, {1});
  CHECK(reduced<Semiring>(typename Cell::Exec(), host, given, output).first ==
        std::vector<tables::NarrowCost>{6, Semiring::infinite(), Semiring::infinite()});
}

TEST_CASE("reduction: what is merged has no more cells than a table may have") {
  std::vector<Index> cardinality(31, 2), place(31), first{0}, second{0}, third{0};
  cardinality[0] = 64;
  for (Index v = 0; v < 31; ++v) {
    place[v] = v;
    if (v >= 1 && v <= 20) first.push_back(v);
    if (v >= 7 && v <= 26) second.push_back(v);
    if (v >= 11) third.push_back(v);
  }
  tables::HostReductions host(cardinality);
  std::vector<Index> const inputs{host.add_table(first), host.add_table(second), host.add_table(third)};
  double const combined = 64.0 * (1 << 30);
  auto const merged = tables::merge_for(host, inputs, combined, combined, place);  // as of a clique
  REQUIRE(merged.size() == 2);  // the first and the second would have 2^32
  CHECK(merged[0] == inputs[0]);
  CHECK(host.tables()[merged[1]].cells == 64 * (1 << 24));
}

TEST_CASE("reduction: what is merged is no larger than what there is") {
  std::vector<Index> const place{0, 1, 2, 3, 4};
  tables::HostReductions host({64, 32, 32, 32, 8});  // the first is eliminated
  std::vector<Index> inputs;
  for (Index v = 1; v < 5; ++v) inputs.push_back(host.add_table({0, v}));
  double const output = 32 * 32 * 32 * 8;
  auto const merged = tables::merge_for(host, inputs, 64 * output, output, place);
  CHECK(merged.size() > 1);
  CHECK(merged.size() < 4);
  for (auto const& table : host.tables()) CHECK(static_cast<double>(table.cells) <= output);

  std::vector<Index> in_order(22), narrow{0, 1, 2, 3, 21}, wide{0}, other{1, 2, 3};
  for (Index v = 0; v < 22; ++v) {
    in_order[v] = v;
    if (v >= 4 && v <= 20) wide.push_back(v);
    if (v >= 7) other.push_back(v);
  }
  tables::HostReductions binary(std::vector<Index>(22, 2));
  std::vector<Index> const given{binary.add_table(narrow), binary.add_table(wide), binary.add_table(other)};
  // two of them would be twice as large as the largest
  CHECK(tables::merge_for(binary, given, 1 << 22, 1 << 21, in_order).size() == 3);
}

TEST_CASE("reduction: inputs that have much in common are merged, be others between them") {
  std::vector<Index> place(21), wide{0};
  for (Index v = 0; v < 21; ++v) place[v] = v;
  for (Index v = 4; v < 21; ++v) wide.push_back(v);
  for (double combined : {1e5, 2097152.0}) {
    CAPTURE(combined);
    tables::HostReductions host(std::vector<Index>(21, 2));
    Index const a = host.add_table({0, 1, 2, 3}), b = host.add_table(wide), c = host.add_table({1, 2, 3});
    auto const merged = tables::merge_for(host, {a, b, c}, combined, combined / 2, place);
    if (combined < 1e6) {
      CHECK(merged.size() == 3);  // one more reduction takes longer than what it saves
    } else {
      REQUIRE(merged.size() == 2);
      CHECK(host.tables()[merged[0]].scope == std::vector<Index>{0, 1, 2, 3});
      CHECK(merged[1] == b);
    }
  }
}

namespace {

/// A large output of variables of few states each, from three tables of which one or two change with each state of its
/// slowest ones.
struct Runs {
  Index base, num_kept, states, num_apart;
  tables::HostReductions host;
  Index output = 0;

  Runs(Index of_kept, Index kept, Index of_eliminated, Index apart)
      : base(of_kept), num_kept(kept), states(of_eliminated), num_apart(apart), host(cardinalities()) {
    std::vector<Index> inputs, scope;
    for (int k = 0; k < 3; ++k) inputs.push_back(host.add_table(scope_of(k)));
    for (Index v = 0; v < num_kept; ++v) scope.push_back(v);
    output = host.add_reduction(inputs, scope, {num_kept});
  }
  std::vector<Index> cardinalities() const {
    std::vector<Index> all(static_cast<std::size_t>(num_kept), base);
    all.push_back(states);
    return all;
  }
  std::vector<Index> scope_of(int k) const {
    std::vector<Index> scope{num_kept};
    for (Index v = 0; v < num_kept; ++v)
      if (k == 0 ? v < num_kept - 3 : k == 1 ? v >= 2 : (v < 2 ? num_apart == 2 : v % 2 == 0)) scope.push_back(v);
    return scope;
  }
  /// Where each row's first value is in an input; those of other states follow at equal distances.
  std::vector<Offset> places_of(int k) const {
    std::vector<Offset> places{0};
    for (Index v = num_kept - 1; v >= 0; --v) {  // rows of the fastest variables, then as often as the next has states
      auto const inner = places.size();
      for (Index state = 1; state < base; ++state)
        for (std::size_t row = 0; row < inner; ++row) places.push_back(places[row] + state * host.stride(k, v));
    }
    return places;
  }
};

/// How many cells are not what their rows come to.
template <class Semiring, class Exec, class Make, class IsNear>
Offset wrong_cells(Runs const& runs, Make const& make, IsNear const& is_near) {
  using Value = typename Semiring::Value;
  std::vector<std::vector<Value>> given(3);
  std::vector<std::vector<Offset>> places;
  for (int k = 0; k < 3; ++k) {
    for (Offset i = 0; i < runs.host.tables()[k].cells; ++i)
      given[k].push_back(make(static_cast<double>((i * 7919 + 31 * k) % 1009) / 1009));
    places.push_back(runs.places_of(k));
  }
  auto const [cells, exponent] = reduced<Semiring>(Exec(), runs.host, given, runs.output);
  Offset const strides[] = {runs.host.stride(0, runs.num_kept), runs.host.stride(1, runs.num_kept),
                            runs.host.stride(2, runs.num_kept)};
  Offset wrong = 0;
  for (Offset row = 0; row < std::ssize(cells); ++row) {
    Value expected = Semiring::zero();
    for (Index state = 0; state < runs.states; ++state) {
      Value product = Semiring::one();
      for (int k = 0; k < 3; ++k) product = Semiring::multiply(product, given[k][places[k][row] + state * strides[k]]);
      expected = Semiring::add(expected, product);
    }
    wrong += !is_near(cells[row], exponent, expected);
  }
  return wrong;
}

}  // namespace

TEST_CASE_TEMPLATE("reduction: some inputs stay the same for a run of rows", Cell, HORNBILL_TEST_CELLS) {
  using Exec = typename Cell::Exec;
  using Value = typename Cell::Value;
  double const tolerance = sizeof(Value) == 4 ? 1e-5 : 1e-12;
  for (Index base : {2, 3})  // blocks and runs end together, or do not
    for (Index states = 2; states <= 6; ++states)
      for (Index num_apart = 1; num_apart <= 2; ++num_apart) {
        if (base == 3 && states != 3) continue;
        CAPTURE(base);
        CAPTURE(states);
        CAPTURE(num_apart);
        Index const kept = base == 2 ? 18 : 12, more = base == 2 ? 3 : 2;  // more: for the teams of a GPU
        Runs const runs(base, tables::detail::runs_on_host<Exec> ? kept : kept + more, states, num_apart);
        auto const task = first_task(runs.host, tables::detail::team_size_of<Exec>);
        CHECK((task.run > 1) == (states <= 5));
        if (states <= 5) CHECK(task.num_apart == num_apart);
        CHECK(task.highs_of_block > 1);
        CHECK(wrong_cells<tables::SumProduct<Value>, Exec>(
                  runs, [](double x) { return static_cast<Value>(x < 0.1 ? 0 : x * 1e-9); },
                  [&](Value cell, double exponent, Value expected) {
                    return std::abs(static_cast<double>(cell) * std::exp2(exponent) - static_cast<double>(expected)) <=
                           tolerance * static_cast<double>(expected);
                  }) == 0);
        if (sizeof(Value) == 4) continue;  // once is enough
        auto const cost = [](double x) { return x < 0.3 ? tables::infinite_cost : static_cast<Cost>(1000 * x); };
        CHECK(wrong_cells<tables::MinSum<Cost>, Exec>(
                  runs, cost, [](Cost cell, double, Cost expected) { return cell == expected; }) == 0);
        CHECK(wrong_cells<tables::MinSum<tables::NarrowCost>, Exec>(
                  runs,
                  [](double x) {
                    return x < 0.3 ? tables::MinSum<tables::NarrowCost>::infinite()
                                   : static_cast<tables::NarrowCost>(1e8 * x) / 3;
                  },
                  [](auto cell, double, auto expected) { return cell == expected; }) == 0);
        CHECK(wrong_cells<tables::CountedMinSum<Cost>, Exec>(
                  runs,
                  [](double x) {
                    return tables::CountedMinSum<Cost>::counted(x < 0.3 ? tables::infinite_cost
                                                                        : static_cast<Cost>(10 * x));
                  },
                  [](auto cell, double, auto expected) {
                    return cell.cost == expected.cost && cell.count == expected.count;
                  }) == 0);
      }
}

TEST_CASE("reduction: what cannot be") {
  std::vector<Index> const cardinality{5, 3};
  Kokkos::DefaultHostExecutionSpace const exec;
  tables::HostReductions host(cardinality);
  Index const a = host.add_table({0, 1});
  CHECK_THROWS_AS(host.add_reduction({a}, {0}, {}), InputError);
  CHECK_THROWS_AS((tables::set_given<double>(exec, host, tables::make_values<double>(exec, host),
                                             std::vector<std::vector<double>>{{1.0}})),
                  ShapeError);
  CHECK_THROWS_AS((tables::set_given<double>(exec, host, tables::make_values<double>(exec, host),
                                             std::vector<std::vector<double>>(2))),
                  ShapeError);
  host.add_reduction({a}, {0}, {1});
  CHECK_THROWS_AS(host.add_table({0}), ShapeError);
  tables::HostReductions large(std::vector<Index>(40, 2));
  std::vector<Index> all(40);
  for (Index v = 0; v < 40; ++v) all[v] = v;
  CHECK_THROWS_AS(large.add_table(all), CapacityError);
}

TEST_CASE("orders: what they cost, and what is no order") {
  // A cycle of four, and a leaf: width 2, whatever is eliminated first but the leaf's neighbour.
  std::vector<Index> const cardinality{2, 3, 4, 5, 6};
  std::vector<std::vector<Index>> const tables{{0, 1}, {1, 2}, {2, 3}, {3, 0}, {4, 0}};
  std::vector<std::span<Index const>> const scopes(tables.begin(), tables.end());
  auto const order = elim::measure_order(cardinality, scopes, {4, 1, 0, 2, 3});
  CHECK(order.width == 2);
  CHECK(order.total_cells == 6 * 2 + 3 * 2 * 4 + 2 * 4 * 5 + 4 * 5 + 5);
  CHECK(order.largest_cells == 40);
  CHECK(order.widest == 0);
  for (auto heuristic : heuristics) {
    auto const made = elim::make_order(cardinality, scopes, {.heuristic = heuristic, .tries = 3});
    CHECK(made.variables.size() == 5);
    CHECK(elim::measure_order(cardinality, scopes, made.variables).total_cells == made.total_cells);
    // the same seed
    CHECK(elim::make_order(cardinality, scopes, {.heuristic = heuristic, .tries = 3}).variables == made.variables);
  }
  CHECK(elim::make_order(cardinality, scopes).variables.front() == 4);
  CHECK_THROWS_WITH_AS(elim::measure_order(cardinality, scopes, {0, 1, 2, 3, 3}),
                       doctest::Contains("the variable 3 twice"), InputError);
  CHECK_THROWS_WITH_AS(elim::measure_order(cardinality, scopes, {0, 1, 2, 3}),
                       doctest::Contains("lacks the variable 4"), InputError);
  CHECK_THROWS_WITH_AS(elim::measure_order(cardinality, scopes, {0, 1, 2, 3, 5}),
                       doctest::Contains("has the variable 5"), InputError);
  CHECK_THROWS_AS(elim::make_order(cardinality, scopes, {.tries = 0}), InputError);
}

TEST_CASE("orders: min-fill of a tree has width one, of a grid about its side") {
  std::vector<std::vector<Index>> tables;
  Index const side = 8;
  for (Index i = 0; i < side * side; ++i) {
    if (i % side + 1 < side) tables.push_back({i, i + 1});
    if (i + side < side * side) tables.push_back({i, i + side});
  }
  std::vector<Index> const cardinality(side * side, 2);
  auto const grid = elim::make_order(cardinality, {tables.begin(), tables.end()}, {.tries = 10});
  CHECK(grid.width >= side);
  CHECK(grid.width <= side + 2);
  // whichever of the tries ends first
  for (auto heuristic : {elim::Heuristic::min_fill, elim::Heuristic::min_width, elim::Heuristic::depth_first}) {
    elim::OrderOptions const options{.heuristic = heuristic, .seed = 3, .tries = 40};
    auto const first = elim::make_order(cardinality, {tables.begin(), tables.end()}, options);
    for (int i = 0; i < 20; ++i)
      CHECK(elim::make_order(cardinality, {tables.begin(), tables.end()}, options).variables == first.variables);
    CHECK(elim::measure_order(cardinality, {tables.begin(), tables.end()}, first.variables).total_cells ==
          first.total_cells);
  }
  tables.clear();
  for (Index i = 1; i < side * side; ++i) tables.push_back({i, (i - 1) / 2});
  CHECK(elim::make_order(cardinality, {tables.begin(), tables.end()}).width == 1);
}

TEST_CASE("orders: min-fill takes a variable whose neighbours lack the fewest edges, as it counts anew") {
  std::mt19937_64 random(5);
  for (int graph = 0; graph < 30; ++graph) {
    CAPTURE(graph);
    Index const count = 30;
    std::vector<std::vector<Index>> tables;
    std::vector<std::set<Index>> neighbours(count);
    for (int i = 0; i < 15 + 2 * graph; ++i) {
      auto const v = static_cast<Index>(random() % count), w = static_cast<Index>(random() % count);
      if (v == w) continue;
      tables.push_back({v, w});
      neighbours[v].insert(w);
      neighbours[w].insert(v);
    }
    auto const fill = [&](Index v) {
      int missing = 0;
      for (Index a : neighbours[v])
        for (Index b : neighbours[v]) missing += a < b && !neighbours[a].contains(b);
      return missing;
    };
    std::set<Index> left;
    for (Index v = 0; v < count; ++v) left.insert(v);
    for (Index v : elim::make_order(std::vector<Index>(count, 2), {tables.begin(), tables.end()},
                                    {.seed = static_cast<std::uint64_t>(graph)})
                       .variables) {
      int least = fill(v);
      for (Index w : left) least = std::min(least, fill(w));
      CHECK(fill(v) == least);
      left.erase(v);
      for (Index a : neighbours[v]) {
        neighbours[a].erase(v);
        for (Index b : neighbours[v])
          if (a != b) neighbours[a].insert(b);
      }
    }
  }
}

TEST_CASE("orders: what is too wide says how wide it is, as far as that is soon known") {
  auto const clique = [](Index count) {
    std::vector<std::vector<Index>> tables;
    for (Index v = 0; v < count; ++v)
      for (Index w = 0; w < v; ++w) tables.push_back({v, w});
    return tables;
  };
  auto const excess = [](std::vector<std::vector<Index>> const& tables, Index count, bool is_given,
                         Index constants = 0) {
    std::vector<Index> cardinality(static_cast<std::size_t>(count), 2);
    std::fill_n(cardinality.begin(), constants, 1);
    std::vector<Index> order(cardinality.size());
    std::iota(order.begin(), order.end(), 0);
    try {
      if (is_given)
        elim::measure_order(cardinality, {tables.begin(), tables.end()}, order, 1000);
      else
        elim::make_order(cardinality, {tables.begin(), tables.end()}, {.tries = 3, .max_cells = 1000});
    } catch (elim::TooWideError const& e) {
      CHECK(e.max_cells == 1000);
      return e.excess;
    }
    FAIL("nothing was thrown");
    return elim::Excess();
  };
  // A small clique goes first, and is too large already; the larger one is what the width comes from.
  auto two = clique(12);
  for (Index v = 0; v < 20; ++v)
    for (Index w = 0; w < v; ++w) two.push_back({12 + v, 12 + w});
  // Much work on what is not too large, as its variables have one state, and then a clique that is: it is not given up
  // before.
  std::vector<std::vector<Index>> much;
  Index const count_of_much = 600;
  for (Index first = 0; first < count_of_much; first += 100)
    for (Index v = 0; v < 100; ++v)
      for (Index w = 0; w < v; ++w) much.push_back({first + v, first + w});
  for (Index v = 0; v < 120; ++v)
    for (Index w = 0; w < v; ++w) much.push_back({count_of_much + v, count_of_much + w});
  for (bool is_given : {false, true}) {
    auto const [width, variable, cells, is_whole] = excess(two, 32, is_given);
    CHECK(width == 19);
    CHECK(variable >= 12);
    CHECK(cells == std::pow(2.0, 19));
    CHECK(is_whole);
    CHECK(excess(much, count_of_much + 120, is_given, count_of_much).cells == std::pow(2.0, 119));
    CHECK(excess(clique(700), 700, is_given).width == 699);
    CHECK_FALSE(excess(clique(700), 700, is_given).is_whole);  // to go on would take long
  }
}

TEST_CASE("tables: Horn factors, wide ones as chains, and evidence") {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    auto const graph = test::random_graph(
        seed, {.num_variables = 12, .largest_body = 6, .deterministic = false, .tables = 0.2, .max_states = 3});
    std::vector<double> likelihoods{0.2, 0.7, 0.4};
    likelihoods.resize(static_cast<std::size_t>(graph.states(3)));
    HostEvidence const evidence{Observation::hard(1, 1), Observation::soft(3, likelihoods)};
    using Exec = Kokkos::DefaultHostExecutionSpace;
    double log_z[2];
    for (int widest : {2, 20}) {
      auto const network = tables::condition(tables::to_tables(graph, widest), evidence);
      auto const result = solve<tables::SumProduct<double>, Exec>(network);
      log_z[widest == 2] = log_of(result.value, result.exponent);
      CHECK(network.cardinality[1] == 1);
    }
    CHECK(log_z[0] == doctest::Approx(log_z[1]).epsilon(1e-12));
    CHECK(std::isfinite(log_z[0]));
  }
}
