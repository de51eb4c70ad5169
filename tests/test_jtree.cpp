// Junction trees: their structure, and marginals against all assignments.
#include <algorithm>
#include <cmath>
#include <numeric>

#include <doctest/doctest.h>

#include <hornbill/elim/elimination.hpp>
#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>

#include "support/cells.hpp"
#include "support/random_networks.hpp"

using namespace hornbill;

namespace {

template <class Value>
jtree::JoinTree tree_of(tables::TableNetwork<Value> const& network, unsigned seed = 1,
                        std::vector<std::vector<Index>> const& joint = {}) {
  auto scopes = elim::scopes_of(network);
  scopes.insert(scopes.end(), joint.begin(), joint.end());
  return jtree::make_join_tree(network.cardinality, scopes,
                               elim::make_order(network.cardinality, scopes, {.seed = seed}));
}

/// A tree, ready to run.
template <class Semiring, class Exec>
struct Tree {
  using Value = typename Semiring::Value;
  Exec exec;
  jtree::Plan<typename Exec::memory_space> plan;
  jtree::State<Semiring, typename Exec::memory_space> state;

  Tree(tables::TableNetwork<Value> const& network, jtree::PlanOptions const& options = {}, unsigned seed = 1)
      : plan(jtree::make_plan(exec, jtree::make_plan(network.cardinality, elim::scopes_of(network),
                                                     tree_of(network, seed, options.joint), options))),
        state(jtree::make_state<Semiring>(exec, plan, network)) {}

  std::vector<Value> marginals() {
    Kokkos::View<Value*, typename Exec::memory_space> p(
        "hornbill::test::p", static_cast<std::size_t>(plan.marginal_offsets.back() * plan.host.num_sets));
    jtree::marginals(exec, plan, state, p);
    return detail::to_vector(exec, p);
  }
  std::vector<Value> calibrated(std::vector<HostEvidence> const& sets) {
    jtree::observe(exec, plan, state, sets);
    jtree::calibrate(exec, plan, state);
    return marginals();
  }
};

/// Of all variables, and of the whole, over all assignments.
struct Enumerated {
  std::vector<double> marginals;
  double total = 0;
};
template <class Value>
Enumerated enumerated(tables::TableNetwork<Value> network, HostEvidence const& evidence, bool largest = false) {
  std::vector<std::size_t> offsets{0};
  for (Index states : network.cardinality) offsets.push_back(offsets.back() + static_cast<std::size_t>(states));
  for (auto const& o : evidence) {
    std::vector<Value> values(static_cast<std::size_t>(network.cardinality[o.variable]));
    for (std::size_t s = 0; s < values.size(); ++s)
      values[s] =
          static_cast<Value>(o.is_hard() ? static_cast<double>(o.value == static_cast<Index>(s)) : o.likelihoods[s]);
    network.tables.push_back({{o.variable}, values});
  }
  Enumerated result{std::vector<double>(offsets.back()), 0};
  std::vector<Index> assignment(network.cardinality.size());
  auto const add = [&](double& sum, double value) { sum = largest ? std::max(sum, value) : sum + value; };
  for (bool more = true; more;) {
    double const value = static_cast<double>(elim::value_of<tables::SumProduct<Value>>(network, assignment));
    add(result.total, value);
    for (std::size_t v = 0; v < assignment.size(); ++v)
      add(result.marginals[offsets[v] + static_cast<std::size_t>(assignment[v])], value);
    more = false;
    for (std::size_t v = 0; v < assignment.size() && !more; ++v) {
      assignment[v] = (assignment[v] + 1) % network.cardinality[v];
      more = assignment[v] != 0;
    }
  }
  for (std::size_t v = 0; v < assignment.size(); ++v) {
    double sum = 0;
    for (std::size_t i = offsets[v]; i < offsets[v + 1]; ++i) sum += result.marginals[i];
    for (std::size_t i = offsets[v]; i < offsets[v + 1]; ++i)
      result.marginals[i] = sum > 0 ? result.marginals[i] / sum : 0;
  }
  return result;
}

template <class Value>
void check_close(std::vector<Value> const& p, std::vector<double> const& expected, double tolerance) {
  REQUIRE(p.size() == expected.size());
  for (std::size_t i = 0; i < p.size(); ++i) CHECK(std::abs(static_cast<double>(p[i]) - expected[i]) <= tolerance);
}

std::vector<double> likelihoods(std::mt19937& random, Index states) {
  std::vector<double> result;
  for (Index s = 0; s < states; ++s) result.push_back(0.1 + 0.2 * static_cast<double>(random() % 5));
  return result;
}

/// Some variables observed, some of them softly.
HostEvidence random_evidence(unsigned seed, std::vector<Index> const& cardinality) {
  std::mt19937 random(seed);
  HostEvidence evidence;
  for (Index v = 0; v < std::ssize(cardinality); ++v)
    if (random() % 4 == 0)
      evidence.push_back(
          Observation::hard(v, static_cast<std::int8_t>(random() % static_cast<unsigned>(cardinality[v]))));
    else if (random() % 3 == 0)
      evidence.push_back(Observation::soft(v, likelihoods(random, cardinality[v])));
  return evidence;
}

template <class Value>
auto network_of(unsigned seed) {
  return test::random_network<tables::SumProduct<Value>>(seed, 7, 9, [](double x) { return static_cast<Value>(x); });
}

}  // namespace

TEST_CASE("junction tree: maximal cliques, which hold all tables, and what they share lies between them") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    CAPTURE(seed);
    auto const network = test::random_network<tables::SumProduct<double>>(seed, 14, 16, [](double x) { return x; });
    auto const tree = tree_of(network, seed);
    auto const contains = [](std::vector<Index> const& list, std::vector<Index> const& part) {
      return std::all_of(part.begin(), part.end(),
                         [&](Index v) { return std::find(list.begin(), list.end(), v) != list.end(); });
    };
    for (auto const& table : network.tables)
      CHECK(std::any_of(tree.cliques.begin(), tree.cliques.end(),
                        [&](auto const& clique) { return contains(clique, table.scope); }));
    for (std::size_t a = 0; a < tree.cliques.size(); ++a) {
      for (std::size_t b = 0; b < tree.cliques.size(); ++b)
        CHECK((a == b || !contains(tree.cliques[b], tree.cliques[a])));
      if (tree.parent[a] < 0) CHECK(tree.separators[a].empty());
      if (tree.parent[a] < 0) continue;
      auto const& parent = tree.cliques[tree.parent[a]];
      CHECK(!tree.separators[a].empty());
      for (Index v : tree.cliques[a]) CHECK(contains(parent, {v}) == contains(tree.separators[a], {v}));
    }
    // A variable's cliques are connected: there is one less link that has it than there are cliques.
    for (Index v = 0; v < network.num_variables(); ++v) {
      int cliques = 0, links = 0;
      for (std::size_t c = 0; c < tree.cliques.size(); ++c) {
        cliques += contains(tree.cliques[c], {v});
        links += contains(tree.separators[c], {v});
      }
      CHECK(cliques == links + 1);
      CHECK(contains(tree.cliques[tree.clique_of[v]], {v}));
    }
  }
}

TEST_CASE_TEMPLATE("junction tree: marginals and P(evidence)", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  double const tolerance = sizeof(Value) == 4 ? 1e-5 : 1e-12;
  int impossible = 0;
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    auto const network = network_of<Value>(seed);
    Tree<tables::SumProduct<Value>, typename Cell::Exec> tree(network, {}, seed);
    for (unsigned set = 0; set < 3; ++set) {  // the second and third from what the one before left
      auto const evidence = set == 0 ? HostEvidence{} : random_evidence(10 * seed + set, network.cardinality);
      auto const expected = enumerated(network, evidence);
      auto const p = tree.calibrated({evidence});
      if (expected.total > 0) check_close(p, expected.marginals, tolerance);
      double const log_z = jtree::log_partition(tree.exec, tree.plan, tree.state).front();
      if (expected.total > 0)
        CHECK(log_z == doctest::Approx(std::log(expected.total)).epsilon(tolerance).scale(1));
      else
        CHECK(std::isinf(log_z));
      impossible += expected.total == 0;
    }
  }
  CHECK(impossible > 3);
  CHECK(impossible < 60);
}

TEST_CASE_TEMPLATE("junction tree: messages through the device in slices", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  using Semiring = tables::SumProduct<Value>;
  typename Cell::Exec const exec;
  double const tolerance = sizeof(Value) == 4 ? 1e-5 : 1e-12;
  tables::TableNetwork<Value> network;  // all pairs of seven variables, and a tail
  network.cardinality.assign(10, 3);
  for (Index v = 1; v < 10; ++v)
    for (Index w = v < 7 ? 0 : v - 1; w < v; ++w) {
      auto& values = network.tables.emplace_back(tables::HostTable<Value>{{w, v}, {}}).values;
      for (Index i = 0; i < 9; ++i) values.push_back(static_cast<Value>((i * 7 + 3 * v + w) % 11) * Value(1e-7));
    }
  for (Index num_sets : {1, 2}) {
    CAPTURE(num_sets);
    jtree::PlanOptions const options{.num_sets = num_sets, .joint = {{0, 3}}};
    Tree<Semiring, typename Cell::Exec> whole(network, options);
    Tree<Semiring, Kokkos::DefaultHostExecutionSpace> sliced(network, options);
    auto const& reductions = sliced.plan.host.reductions;
    std::vector<Index> all(reductions.reductions().size());
    std::iota(all.begin(), all.end(), 0);
    std::size_t bytes = 0;  // a little less than the largest reduction needs
    for (Index r : all)
      bytes = std::max(
          bytes,
          tables::bytes_needed<Value>(
              tables::make_slices<Value>(reductions, std::span(&r, 1), std::size_t{1} << 30).front().reductions) -
              1);
    auto const slices = tables::make_slices<Value>(reductions, all, bytes);
    // some in slices,
    CHECK(std::any_of(slices.begin(), slices.end(), [](auto const& s) { return s.count > 1; }));
    // and some at once
    CHECK(std::any_of(slices.begin(), slices.end(), [](auto const& s) { return s.targets.size() > 1; }));
    for (unsigned seed = 0; seed < 3; ++seed) {
      std::vector<HostEvidence> sets(static_cast<std::size_t>(num_sets));
      sets.back() = {Observation::hard(2, static_cast<std::int8_t>(seed)), Observation::hard(8, 1)};
      auto const expected = whole.calibrated(sets);
      jtree::observe(sliced.exec, sliced.plan, sliced.state, sets);
      CHECK(jtree::calibrate_in_slices(exec, sliced.plan, sliced.state, bytes) > 1);
      CHECK(jtree::calibrate_in_slices(exec, sliced.plan, sliced.state, bytes) == 0);  // nothing is stale
      auto const p = sliced.marginals();
      REQUIRE(p.size() == expected.size());
      for (std::size_t i = 0; i < p.size(); ++i) CHECK(std::abs(static_cast<double>(p[i] - expected[i])) <= tolerance);
      for (Index set = 0; set < num_sets; ++set) {
        CHECK(jtree::log_partition(sliced.exec, sliced.plan, sliced.state)[set] ==
              doctest::Approx(jtree::log_partition(whole.exec, whole.plan, whole.state)[set]).epsilon(tolerance));
        auto const joint = jtree::joint_marginal(sliced.exec, sliced.plan, sliced.state, 0)[set],
                   of_whole = jtree::joint_marginal(whole.exec, whole.plan, whole.state, 0)[set];
        REQUIRE(joint.size() == 9);
        for (std::size_t i = 0; i < joint.size(); ++i) CHECK(std::abs(joint[i] - of_whole[i]) <= tolerance);
      }
    }
    CHECK_THROWS_WITH_AS(
        [&] {
          jtree::observe(sliced.exec, sliced.plan, sliced.state,
                         std::vector<HostEvidence>(static_cast<std::size_t>(num_sets)));
          jtree::calibrate_in_slices(exec, sliced.plan, sliced.state, 100);
        }(),
        doctest::Contains("one row of a table needs"), CapacityError);
    CHECK(jtree::calibrate_in_slices(exec, sliced.plan, sliced.state, bytes) > 1);  // and what is stale is still known
    auto const p = sliced.marginals(),
               expected = whole.calibrated(std::vector<HostEvidence>(static_cast<std::size_t>(num_sets)));
    for (std::size_t i = 0; i < p.size(); ++i) CHECK(std::abs(static_cast<double>(p[i] - expected[i])) <= tolerance);
  }
}

TEST_CASE_TEMPLATE("junction tree: what evidence changes, and no more, is propagated", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::SumProduct<double>;
  tables::TableNetwork<double> chain;
  Index const length = 40;
  for (Index v = 0; v < length; ++v) {
    chain.cardinality.push_back(3);
    if (v > 0) chain.tables.push_back({{v - 1, v}, {0.5, 0.3, 0.2, 0.1, 0.6, 0.3, 0.25, 0.25, 0.5}});
  }
  Tree<Semiring, typename Cell::Exec> tree(chain);
  tree.calibrated({HostEvidence{}});
  auto const stale = [&] { return std::count(tree.state.is_current.begin(), tree.state.is_current.end(), false); };
  CHECK(stale() == 0);
  std::vector<HostEvidence> const at_the_end{{Observation::hard(length - 1, 2)}};
  jtree::observe(tree.exec, tree.plan, tree.state, at_the_end);
  auto const all = stale();
  CHECK(all > 0);
  CHECK(all < std::ssize(tree.state.is_current) * 3 / 4);  // all marginals, but messages one way alone
  std::vector<Index> const near{length - 2};
  jtree::calibrate_for(tree.exec, tree.plan, tree.state, near);
  CHECK(all - stale() > 0);
  CHECK(all - stale() < 10);
  Tree<Semiring, typename Cell::Exec> fresh(chain);
  auto const expected = fresh.calibrated(at_the_end);
  auto const now = tree.marginals();
  for (std::size_t s = 0; s < 3; ++s) CHECK(now[3 * (length - 2) + s] == expected[3 * (length - 2) + s]);
  CHECK(now[3 * (length - 8)] != expected[3 * (length - 8)]);
  jtree::calibrate(tree.exec, tree.plan, tree.state);
  CHECK(tree.marginals() == expected);
  jtree::observe(tree.exec, tree.plan, tree.state, at_the_end);  // the same again
  CHECK(stale() == 0);
}

TEST_CASE_TEMPLATE("junction tree: several evidence sets at once", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  double const tolerance = sizeof(Value) == 4 ? 1e-5 : 1e-12;
  for (unsigned seed = 0; seed < 20; ++seed) {
    CAPTURE(seed);
    auto const network = network_of<Value>(seed);
    std::vector<HostEvidence> sets{{}};
    while (sets.size() < 5)
      sets.push_back(random_evidence(20 * seed + static_cast<unsigned>(sets.size()), network.cardinality));
    Tree<tables::SumProduct<Value>, typename Cell::Exec> tree(network, {.num_sets = 5});
    auto const p = tree.calibrated(sets);
    auto const log_z = jtree::log_partition(tree.exec, tree.plan, tree.state);
    REQUIRE(log_z.size() == 5);
    for (std::size_t set = 0; set < 5; ++set) {
      std::vector<Value> of_set;
      for (std::size_t i = set; i < p.size(); i += 5) of_set.push_back(p[i]);
      auto const expected = enumerated(network, sets[set]);
      if (expected.total > 0) check_close(of_set, expected.marginals, tolerance);
      if (expected.total > 0)
        CHECK(log_z[set] == doctest::Approx(std::log(expected.total)).epsilon(tolerance).scale(1));
      else
        CHECK(std::isinf(log_z[set]));
    }
    CHECK_THROWS_AS(jtree::observe(tree.exec, tree.plan, tree.state, std::vector<HostEvidence>(4)), ShapeError);
  }
}

TEST_CASE_TEMPLATE("junction tree: a best assignment, and largest products of each state", Cell, HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  using Semiring = tables::MaxProduct<Value>;
  double const tolerance = sizeof(Value) == 4 ? 1e-5 : 1e-12;
  for (unsigned seed = 0; seed < 40; ++seed) {
    CAPTURE(seed);
    auto const network = network_of<Value>(seed);
    auto const expected = enumerated(network, {}, true);
    Tree<Semiring, typename Cell::Exec> tree(network, {}, seed);
    auto const assignment = jtree::best_assignment(tree.exec, tree.plan, tree.state);
    CHECK(static_cast<double>(elim::value_of<Semiring>(network, assignment)) ==
          doctest::Approx(expected.total).epsilon(tolerance));
    if (expected.total > 0) check_close(tree.calibrated({HostEvidence{}}), expected.marginals, tolerance);
  }
}

TEST_CASE_TEMPLATE("junction tree: joint marginals", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::SumProduct<double>;
  for (unsigned seed = 0; seed < 10; ++seed) {
    CAPTURE(seed);
    auto const network = network_of<double>(seed);
    std::vector<Index> const joint{1, 4};
    for (Index sets : {1, 2}) {
      Tree<Semiring, typename Cell::Exec> tree(network, {.num_sets = sets, .joint = {joint}});
      std::vector<HostEvidence> evidence(static_cast<std::size_t>(sets));
      evidence.back() = random_evidence(seed, network.cardinality);
      tree.calibrated(evidence);
      auto const found = jtree::joint_marginal(tree.exec, tree.plan, tree.state, 0).back();
      auto const scope = tree.plan.host.joint_scope(0);
      for (Index a = 0; a < network.cardinality[1]; ++a)
        for (Index b = 0; b < network.cardinality[4]; ++b) {
          auto both = network;
          std::vector<double> is_a(static_cast<std::size_t>(both.cardinality[1])),
              is_b(static_cast<std::size_t>(both.cardinality[4]));
          is_a[static_cast<std::size_t>(a)] = is_b[static_cast<std::size_t>(b)] = 1;
          both.tables.push_back({{1}, is_a});
          both.tables.push_back({{4}, is_b});
          double const total = enumerated(network, evidence.back()).total;
          Index const cell = scope[0] == 1 ? a * network.cardinality[4] + b : b * network.cardinality[1] + a;
          CHECK(found[static_cast<std::size_t>(cell)] ==
                doctest::Approx(total > 0 ? enumerated(both, evidence.back()).total / total : 0).epsilon(1e-12));
        }
    }
    auto const scopes = elim::scopes_of(network);
    auto const order = elim::make_order(network.cardinality, scopes);
    CHECK_THROWS_AS(
        jtree::make_plan(network.cardinality, scopes, jtree::make_join_tree(network.cardinality, scopes, order),
                         {.joint = {{0, 1, 2, 3, 4, 5, 6}}}),
        InputError);
    CHECK_THROWS_AS(jtree::make_plan(network.cardinality, scopes,
                                     jtree::make_join_tree(network.cardinality, scopes, order), {.joint = {{2, 2}}}),
                    InputError);
  }
}

TEST_CASE_TEMPLATE("junction tree: a hub of many neighbours, and numbers far below the smallest", Cell,
                   HORNBILL_TEST_CELLS) {
  using Value = typename Cell::Value;
  tables::TableNetwork<Value> star;
  Index const leaves = 3000;
  star.cardinality.assign(leaves + 1, 2);
  double log_odds = 0;  // of the hub
  std::vector<HostEvidence> evidence(1);
  for (Index v = 1; v <= leaves; ++v) {
    double const p = 0.2 + 0.0001 * (v % 100), q = v % 2 ? 0.3 : 0.15;
    star.tables.push_back({{0, v}, {Value(1 - p), Value(p), Value(1 - q), Value(q)}});
    if (v % 3 == 0) continue;
    evidence[0].push_back(Observation::hard(v, 1));
    log_odds += std::log(static_cast<double>(Value(q))) - std::log(static_cast<double>(Value(p)));
  }
  star.tables.push_back({{0}, {Value(0.5), Value(0.5)}});
  Tree<tables::SumProduct<Value>, typename Cell::Exec> tree(star);
  std::size_t most = 0;
  for (auto const& reduction : tree.plan.host.reductions.reductions()) most = std::max(most, reduction.inputs.size());
  CHECK(most <= 8);
  auto const p = tree.calibrated(evidence);
  CHECK(static_cast<double>(p[0]) ==
        doctest::Approx(1 / (1 + std::exp(log_odds))).epsilon(sizeof(Value) == 4 ? 1e-2 : 1e-9));
  for (Index v = 1; v <= leaves; ++v) CHECK(static_cast<double>(p[2 * v] + p[2 * v + 1]) == doctest::Approx(1));
  double const log_z = jtree::log_partition(tree.exec, tree.plan, tree.state).front();
  CHECK(log_z < -2000);
  auto const scopes = elim::scopes_of(star);
  auto observed = star;
  for (auto const& o : evidence[0]) observed.tables.push_back({{o.variable}, {Value(0), Value(1)}});
  auto const observed_scopes = elim::scopes_of(observed);
  auto const sum = elim::eliminate<tables::SumProduct<Value>>(
      tree.exec, observed,
      elim::make_plan(star.cardinality, observed_scopes, elim::make_order(star.cardinality, observed_scopes)));
  CHECK(log_z == doctest::Approx(std::log(static_cast<double>(sum.value)) + sum.exponent * std::log(2.0))
                     .epsilon(sizeof(Value) == 4 ? 1e-6 : 1e-12));
}

TEST_CASE_TEMPLATE("junction tree: many parts, and none", Cell, HORNBILL_DOUBLE_CELLS) {
  using Semiring = tables::SumProduct<double>;
  tables::TableNetwork<double> parts;
  for (Index v = 0; v < 2500; ++v) {
    parts.cardinality.push_back(2);
    parts.tables.push_back({{v}, {1.5, 1.5}});
  }
  Tree<Semiring, typename Cell::Exec> tree(parts);
  auto const p = tree.calibrated({HostEvidence{}});
  CHECK(std::all_of(p.begin(), p.end(), [](double x) { return x == 0.5; }));
  CHECK(jtree::log_partition(tree.exec, tree.plan, tree.state).front() ==
        doctest::Approx(2500 * std::log(3.0)).epsilon(1e-13));
  auto const scopes = elim::scopes_of(parts);
  auto const sum = elim::eliminate<Semiring>(
      tree.exec, parts, elim::make_plan(parts.cardinality, scopes, elim::make_order(parts.cardinality, scopes)));
  CHECK(std::log(sum.value) + sum.exponent * std::log(2.0) == doctest::Approx(2500 * std::log(3.0)).epsilon(1e-13));
  tables::TableNetwork<double> empty;
  empty.tables.push_back({{}, {0.25}});
  Tree<Semiring, typename Cell::Exec> none(empty);
  CHECK(none.calibrated({HostEvidence{}}).empty());
  CHECK(jtree::log_partition(none.exec, none.plan, none.state).front() == doctest::Approx(std::log(0.25)));
}
