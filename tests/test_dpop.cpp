// Agents on pseudo-trees: the answers of elimination in one place, and how much they say.
#include <algorithm>
#include <condition_variable>
#include <limits>
#include <map>
#include <mutex>
#include <thread>

#include <doctest/doctest.h>

#include <hornbill/elim/dpop.hpp>
#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>

#include "support/cells.hpp"
#include "support/random_networks.hpp"

using namespace hornbill;
using elim::Heuristic;
using tables::Cost;
using Semiring = tables::MinSum<Cost>;

namespace {

tables::TableNetwork<Cost> random_costs(unsigned seed) {
  return test::random_network<Semiring>(seed, 8, 10, [](double x) { return static_cast<Cost>(100 * x); });
}

elim::PseudoTree tree_of(tables::TableNetwork<Cost> const& network, Heuristic heuristic, unsigned seed = 1) {
  auto const scopes = elim::scopes_of(network);
  return elim::make_pseudo_tree(network.cardinality, scopes,
                                elim::make_order(network.cardinality, scopes, {.heuristic = heuristic, .seed = seed}));
}

bool is_ancestor(elim::PseudoTree const& tree, Index ancestor, Index v) {
  while (v >= 0 && v != ancestor) v = tree.parent[v];
  return v == ancestor;
}

tables::TableNetwork<Cost> chain(Index length) {
  tables::TableNetwork<Cost> network;
  network.cardinality.assign(length, 3);
  for (Index v = 0; v + 1 < length; ++v) network.tables.push_back({{v, v + 1}, {4, 1, 2, 3, 0, 5, 1, 7, 2}});
  return network;
}

/// A table between the first variable and each other.
tables::TableNetwork<Cost> star(Index leaves) {
  tables::TableNetwork<Cost> network;
  network.cardinality.assign(leaves + 1, 2);
  for (Index v = 1; v <= leaves; ++v) network.tables.push_back({{0, v}, {1, 2, 3, v % 2}});
  return network;
}

tables::TableNetwork<Cost> clique(Index n) {
  tables::TableNetwork<Cost> network;
  network.cardinality.assign(n, 2);
  for (Index v = 0; v < n; ++v)
    for (Index w = 0; w < v; ++w)
      network.tables.push_back({{v, w}, {(v * w) % 7, (v + 3 * w) % 5, (2 * v + w) % 6, (v + w) % 4}});
  return network;
}

/// Messages between threads that stand for processes.
class Mailboxes {
 public:
  void put(int to, int from, Index tag, std::vector<std::int64_t> message) {
    std::lock_guard const lock(mutex_);
    messages_[{to, from, tag}] = std::move(message);
    arrived_.notify_all();
  }
  std::vector<std::int64_t> take(int to, int from, Index tag) {
    std::unique_lock lock(mutex_);
    arrived_.wait(lock, [&] { return messages_.contains({to, from, tag}); });
    return std::move(messages_.extract({to, from, tag}).mapped());
  }

 private:
  std::mutex mutex_;
  std::condition_variable arrived_;
  std::map<std::tuple<int, int, Index>, std::vector<std::int64_t>> messages_;
};

class OneOfSeveral : public elim::Messenger {
 public:
  OneOfSeveral(Mailboxes& boxes, int rank, int num_ranks) : boxes_(boxes), rank_(rank), num_ranks_(num_ranks) {}
  int rank() const override { return rank_; }
  int num_ranks() const override { return num_ranks_; }
  void send(int rank, Index tag, std::vector<std::int64_t> message) override {
    boxes_.put(rank, rank_, tag, std::move(message));
  }
  std::vector<std::int64_t> receive(int rank, Index tag) override { return boxes_.take(rank_, rank, tag); }

 private:
  Mailboxes& boxes_;
  int rank_, num_ranks_;
};

constexpr elim::MiniBucketOptions exactly{.max_variables = std::numeric_limits<int>::max()};

}  // namespace

TEST_CASE("pseudo-trees: who shares a table is ancestor and descendant") {
  for (unsigned seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    auto const network = random_costs(seed);
    for (auto heuristic : {Heuristic::depth_first, Heuristic::min_fill}) {
      auto const tree = tree_of(network, heuristic, seed);
      std::vector<Index> place(tree.parent.size());
      for (std::size_t i = 0; i < place.size(); ++i) place[tree.order.variables[i]] = static_cast<Index>(i);
      for (auto const& table : network.tables)
        for (Index v : table.scope)
          for (Index w : table.scope) CHECK((is_ancestor(tree, v, w) || is_ancestor(tree, w, v)));
      auto const measured = elim::measure_order(network.cardinality, elim::scopes_of(network), tree.order.variables);
      CHECK(measured.total_cells == tree.order.total_cells);  // in another order of the same tree
      std::size_t widest = 0;
      for (Index v = 0; v < tree.num_variables(); ++v) {
        widest = std::max(widest, tree.separator[v].size());
        if (tree.parent[v] < 0) continue;
        CHECK(place[tree.parent[v]] > place[v]);
        CHECK(tree.separator[v].front() == tree.parent[v]);
        bool share = heuristic != Heuristic::depth_first;
        for (auto const& table : network.tables)
          share = share || (std::count(table.scope.begin(), table.scope.end(), v) &&
                            std::count(table.scope.begin(), table.scope.end(), tree.parent[v]));
        CHECK(share);
      }
      CHECK(static_cast<int>(widest) == tree.order.width);
    }
  }
}

TEST_CASE_TEMPLATE("DPOP: the least costs of all assignments", Cell, HORNBILL_DOUBLE_CELLS) {
  elim::OneProcess here;
  for (unsigned seed = 0; seed < 30; ++seed) {
    CAPTURE(seed);
    auto const network = random_costs(seed);
    auto const least = test::enumerate<Semiring>(network);
    for (auto heuristic : {Heuristic::depth_first, Heuristic::min_fill}) {
      auto const result = elim::dpop(typename Cell::Exec(), network, tree_of(network, heuristic, seed), exactly, here);
      CHECK(result.value == least);
      CHECK(result.is_exact);
      if (least < tables::infinite_cost) CHECK(elim::value_of<Semiring>(network, result.assignment) == least);
    }
  }
}

TEST_CASE_TEMPLATE("ADPOP: the bounds and assignments of mini-buckets", Cell, HORNBILL_DOUBLE_CELLS) {
  typename Cell::Exec const exec;
  elim::OneProcess here;
  int bounded = 0;
  for (unsigned seed = 0; seed < 20; ++seed)
    for (int z : {1, 2, 3})
      for (bool match : {false, true}) {
        CAPTURE(seed);
        CAPTURE(z);
        CAPTURE(match);
        auto const network = random_costs(seed);
        auto const tree = tree_of(network, Heuristic::depth_first, seed);
        elim::MiniBucketOptions const options{.max_variables = z, .match_moments = match};
        auto const agents = elim::dpop(exec, network, tree, options, here);
        auto const plan =
            elim::make_mini_bucket_plan(network.cardinality, elim::scopes_of(network), tree.order, options);
        auto const buckets = elim::eliminate<Semiring>(exec, network, plan);
        CHECK(agents.is_exact == plan.is_exact);
        CHECK(agents.value == buckets.value);
        if (buckets.value < tables::infinite_cost) CHECK(agents.assignment == buckets.assignment);
        bounded += !agents.is_exact;
      }
  CHECK(bounded > 40);
}

TEST_CASE("DPOP: what the agents of a chain say") {
  Index const length = 9;
  auto const network = chain(length);
  elim::OneProcess here;
  auto const tree = elim::make_pseudo_tree(
      network.cardinality, elim::scopes_of(network),
      elim::measure_order(network.cardinality, elim::scopes_of(network), {0, 1, 2, 3, 4, 5, 6, 7, 8}));
  CHECK(tree.depth == length - 1);
  auto const result = elim::dpop(test::AnyHost(), network, tree, exactly, here);
  CHECK(result.util.messages == length - 1);
  CHECK(result.util.bytes == (length - 1) * 3 * 8);
  CHECK(result.util.largest_bytes == 3 * 8);
  CHECK(result.value_messages.messages == length - 1);
  CHECK(result.value_messages.bytes == (length - 1) * 4);
  CHECK(result.simulated_seconds > 0);
  CHECK(result.simulated_seconds <= result.compute_seconds * (1 + 1e-9));  // a chain is one after another
  CHECK(result.simulated_seconds == doctest::Approx(result.compute_seconds));
  CHECK(result.value == test::enumerate<Semiring>(network));
}

TEST_CASE("DPOP: agents apart, constants, none at all, and nothing possible") {
  test::AnyHost const exec;
  elim::OneProcess here;
  tables::TableNetwork<Cost> network;
  network.cardinality = {2, 3, 2};
  network.tables = {{{}, {5}}, {{0}, {4, 3}}, {{2}, {1, 8}}};
  auto const apart = elim::dpop(exec, network, tree_of(network, Heuristic::depth_first), exactly, here);
  CHECK(apart.value == 9);
  CHECK(apart.assignment == std::vector<Index>{1, 0, 0});
  CHECK(apart.util.messages == 0);
  network.tables.push_back({{1, 2}, std::vector<Cost>(6, tables::infinite_cost)});
  CHECK(elim::dpop(exec, network, tree_of(network, Heuristic::depth_first), exactly, here).value ==
        tables::infinite_cost);
  tables::TableNetwork<Cost> const none;
  CHECK(elim::dpop(exec, none, tree_of(none, Heuristic::depth_first), exactly, here).value == 0);
  CHECK_THROWS_AS(elim::dpop(exec, none, tree_of(network, Heuristic::depth_first), exactly, here), ShapeError);
}

TEST_CASE("DPOP: ranks have subtrees of about equal work") {
  auto const network = chain(100);
  auto const tree = tree_of(network, Heuristic::depth_first);
  auto const rank = elim::ranks_of_agents(tree, network.cardinality, exactly.max_variables, 4);
  for (int r = 0; r < 4; ++r) {
    auto const count = std::count(rank.begin(), rank.end(), r);
    CHECK(count >= 24);
    CHECK(count <= 26);
  }
  for (std::size_t i = 1; i < 100; ++i) CHECK(rank[tree.order.variables[i]] >= rank[tree.order.variables[i - 1]]);
}

TEST_CASE("DPOP: every rank has agents, however unequal their work") {
  auto const network = clique(7);
  for (int num_ranks = 1; num_ranks <= 9; ++num_ranks) {
    CAPTURE(num_ranks);
    auto const rank = elim::ranks_of_agents(tree_of(network, Heuristic::depth_first), network.cardinality,
                                            exactly.max_variables, num_ranks);
    for (int r = 0; r < std::min(num_ranks, 7); ++r) CHECK(std::count(rank.begin(), rank.end(), r) > 0);
    for (int r : rank) CHECK((r >= 0 && r < num_ranks));
  }
  // With tables of few variables all agents of a chain of hubs have as much to do.
  auto const wide = clique(40);
  auto const rank = elim::ranks_of_agents(tree_of(wide, Heuristic::depth_first), wide.cardinality, 3, 4);
  for (int r = 0; r < 4; ++r) {
    CHECK(std::count(rank.begin(), rank.end(), r) >= 9);
    CHECK(std::count(rank.begin(), rank.end(), r) <= 11);
  }
}

TEST_CASE("DPOP: a tree so wide that its cells are no number") {
  auto const network = star(1300);
  std::vector<Index> hub_first(1301);
  for (Index v = 0; v <= 1300; ++v) hub_first[v] = v;
  auto const scopes = elim::scopes_of(network);
  auto const tree =
      elim::make_pseudo_tree(network.cardinality, scopes, elim::measure_order(network.cardinality, scopes, hub_first));
  CHECK(tree.order.width == 1300);
  for (int r : elim::ranks_of_agents(tree, network.cardinality, 2, 3)) CHECK((r >= 0 && r < 3));
  elim::OneProcess here;
  test::AnyHost const exec;
  auto const agents = elim::dpop(exec, network, tree, {.max_variables = 2}, here);
  auto const buckets = elim::eliminate<Semiring>(
      exec, network, elim::make_mini_bucket_plan(network.cardinality, scopes, tree.order, {.max_variables = 2}));
  CHECK(!agents.is_exact);
  CHECK(agents.value == buckets.value);
  CHECK(agents.assignment == buckets.assignment);
}

TEST_CASE("DPOP: leaves work at the same time") {
  elim::OneProcess here;
  auto const network = star(50);
  auto const result = elim::dpop(test::AnyHost(), network, tree_of(network, Heuristic::min_degree), exactly, here);
  CHECK(result.value == 25);  // one for each odd leaf
  // whatever the machine: all but one of them are waited for at once
  CHECK(result.simulated_seconds < result.compute_seconds);
}

TEST_CASE("DPOP: agents in several processes answer as in one") {
  for (unsigned seed = 0; seed < 6; ++seed)
    for (int num_ranks : {2, 3, 5}) {
      CAPTURE(seed);
      CAPTURE(num_ranks);
      auto const network = seed == 5 ? clique(9) : random_costs(seed);
      auto const tree = tree_of(network, seed % 2 ? Heuristic::depth_first : Heuristic::min_fill, seed);
      elim::MiniBucketOptions const options{.max_variables = seed < 3 ? 3 : 20};
      elim::OneProcess here;
      auto const alone = elim::dpop(test::AnyHost(), network, tree, options, here);
      Mailboxes boxes;
      std::vector<elim::Distributed> parts(static_cast<std::size_t>(num_ranks));
      std::vector<std::thread> ranks;
      for (int r = 0; r < num_ranks; ++r)
        ranks.emplace_back([&, r] {
          OneOfSeveral messenger(boxes, r, num_ranks);
          parts[static_cast<std::size_t>(r)] = elim::dpop(test::AnyHost(), network, tree, options, messenger);
        });
      for (auto& rank : ranks) rank.join();
      auto const& together = parts.front();
      CHECK(together.value == alone.value);
      CHECK(together.is_exact == alone.is_exact);
      CHECK(together.assignment == alone.assignment);
      CHECK(together.util.messages == alone.util.messages);
      CHECK(together.util.bytes == alone.util.bytes);
      CHECK(together.util.largest_bytes == alone.util.largest_bytes);
      CHECK(together.value_messages.bytes == alone.value_messages.bytes);
      CHECK(together.largest_share < network.num_variables());
    }
}

TEST_CASE("DPOP: messages arrive as they were sent") {
  elim::detail::UtilMessage const util{1.5, 7, {{3, {{4, 2}, {1, tables::infinite_cost, -3, 0}}}, {-1, {{9}, {5, 6}}}}};
  auto const read = elim::detail::decode_util(elim::detail::encode(util));
  CHECK(read.clock == 1.5);
  CHECK(read.sum == 7);
  REQUIRE(read.tables.size() == 2);
  CHECK(read.tables[0].key == 3);
  CHECK(read.tables[0].table.scope == std::vector<Index>{4, 2});
  CHECK(read.tables[0].table.values == util.tables[0].table.values);
  CHECK(read.tables[1].key == -1);
  auto const value = elim::detail::decode_value(elim::detail::encode(elim::detail::ValueMessage{0.25, {1, 0, 2}}));
  CHECK(value.clock == 0.25);
  CHECK(value.states == std::vector<Index>{1, 0, 2});
  CHECK_THROWS_AS(elim::detail::decode_value({}), Error);
  CHECK_THROWS_AS(elim::detail::decode_value({0, 3, 1}), Error);
  elim::Distributed whole, part;
  whole.assignment = part.assignment = {0, 0, 0};
  part.value = 3;
  part.is_exact = false;
  part.assignment[1] = 2;
  part.util = {4, 100, 60};
  part.simulated_seconds = 2;
  whole.util = {1, 10, 70};
  elim::detail::add_part(whole, elim::detail::encode(part, {1}));
  CHECK(whole.value == 3);
  CHECK(!whole.is_exact);
  CHECK(whole.assignment == std::vector<Index>{0, 2, 0});
  CHECK(whole.util.messages == 5);
  CHECK(whole.util.bytes == 110);
  CHECK(whole.util.largest_bytes == 70);
  CHECK(whole.simulated_seconds == 2);
}
