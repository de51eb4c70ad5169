// Clauses: files, and everything that can be wrong with them; depths, cycles and what leads to alarms.
#include <algorithm>
#include <fstream>
#include <functional>
#include <iterator>
#include <map>
#include <set>
#include <utility>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/analysis/prune.hpp>
#include <hornbill/error.hpp>

#include "support/clauses.hpp"

using namespace hornbill;
using test::ClauseFolder;
using test::clauses_of;
using test::random_clauses;
using test::tuples_named;

namespace {

/// By the definition, until nothing changes.
std::vector<Index> depths_by_definition(analysis::ClauseSet const& set) {
  std::vector<Index> depth(set.num_tuples(), 0);
  for (Index head : set.heads) depth[head] = analysis::underivable;
  for (bool changed = true; std::exchange(changed, false);)
    for (Index c = 0; c < set.num_clauses(); ++c) {
      Index deepest = -1;  // of a fact
      for (Index t : set.body_of(c)) deepest = std::max(deepest, depth[t]);
      if (deepest != analysis::underivable && deepest + 1 < depth[set.heads[c]])
        depth[set.heads[c]] = deepest + 1, changed = true;
    }
  return depth;
}

bool has_cycle(analysis::ClauseSet const& set, std::vector<Index> const& listed) {
  std::vector<int> seen(set.num_tuples());
  std::function<bool(Index)> const returns = [&](Index t) {
    if (seen[t] > 0) return seen[t] == 1;
    seen[t] = 1;
    for (Index c : listed)
      if (std::ranges::count(set.body_of(c), t) > 0 && returns(set.heads[c])) return true;
    seen[t] = 2;
    return false;
  };
  for (Index t = 0; t < set.num_tuples(); ++t)
    if (returns(t)) return true;
  return false;
}

}  // namespace

TEST_CASE("clauses: read and written") {
  auto const set = clauses_of(
      "# all of it\nR1: NOT a(1,2), NOT b:x, c\n\nR1:  NOT b:x,  NOT a(1,2), NOT b:x, c \r\nR2: c\nR2: NOT c, "
      "a(1,2)\n");
  CHECK(set.tuple_names == std::vector<std::string>{"a(1,2)", "b:x", "c"});
  CHECK(set.rule_names == std::vector<std::string>{"R1", "R2"});
  REQUIRE(set.num_clauses() == 3);  // the second line is the first
  CHECK(set.heads == std::vector<Index>{2, 2, 0});
  CHECK(set.body_offsets == std::vector<Offset>{0, 2, 2, 3});
  CHECK(set.rules == std::vector<Index>{0, 1, 1});
  auto const folded = clauses_of("R1 + R2: NOT a, b\nR1 + R2: NOT a, b\nR1: NOT a, b\nR1: NOT a, b\n");
  CHECK(folded.num_clauses() == 3);  // what was folded may be alike and not the same
  CHECK(folded.rules == std::vector<Index>{0, 1, 0, 1, 0});
  CHECK(analysis::to_string(folded, 0) == "R1 + R2: NOT a, b");
  ClauseFolder folder;
  auto const file = folder.write("");
  analysis::write_clauses(set, file);
  std::ifstream in(file);
  std::string const text{std::istreambuf_iterator<char>(in), {}};
  CHECK(text == "R1: NOT a(1,2), NOT b:x, c\nR2: c\nR2: NOT c, a(1,2)\n");
}

TEST_CASE("clauses: what is wrong with a line is said") {
  auto const refuses = [](std::string const& text, char const* message) {
    INFO(text);
    CHECK_THROWS_WITH_AS(clauses_of(text), doctest::Contains(message), InputError);
  };
  refuses("R: a\nR: NOT a, NOT b\n", "line 2: the clause has no head: its last literal, NOT b, is negated");
  refuses("R: \n", "line 1: the clause has no head");
  refuses("R: NOT a, b\nR: \xff\n", "line 2: is not UTF-8");
  refuses("R: a\xc3", "line 1: is not UTF-8");
  refuses("R: NOT a, \n", "line 1: a literal is missing");
  refuses("R: NOT a, , b\n", "line 1: a literal is missing");
  refuses("R: NOT , b\n", "line 1: a tuple is missing after NOT");
  refuses("R: a, b\n", "line 1: the premise a is not negated");
  refuses("NOT a, b\n", "line 1: 'NOT a, b' begins with no rule's name and a colon");
  refuses(": NOT a, b\n", "line 1: the name of the rule is missing");
  CHECK_THROWS_WITH_AS(analysis::read_clauses("/no/such/file"), doctest::Contains("no such file"), InputError);
}

TEST_CASE("clauses: probabilities of rules, and lists of alarms") {
  ClauseFolder folder;
  auto const probabilities = [&](std::string const& text) {
    return analysis::read_rule_probabilities(folder.write(text));
  };
  CHECK(probabilities("R1: 0.5\n\nR2: 1\nR1: 0.50\n") == std::map<std::string, double>{{"R1", 0.5}, {"R2", 1}});
  CHECK_THROWS_WITH_AS(probabilities("R1: 0.5\nR1: 0.6\n"),
                       doctest::Contains("line 2: R1 has the probability 0.5 on an earlier line"), InputError);
  CHECK_THROWS_WITH_AS(probabilities("R1: 1.5\n"), doctest::Contains("line 1: the probability of R1 is 1.5"),
                       InputError);
  CHECK_THROWS_WITH_AS(probabilities("R1: nan\n"), doctest::Contains("0 to 1 are possible"), InputError);
  CHECK_THROWS_WITH_AS(probabilities("R1: x\n"), doctest::Contains("'x' is not a probability"), InputError);
  auto const set = clauses_of("R1: NOT a, b\nR2: NOT b, c\n");
  CHECK(analysis::probabilities_of_rules(set, {{"R2", 0.25}, {"R1", 0.5}}, "p.txt") == std::vector<double>{0.5, 0.25});
  CHECK_THROWS_WITH_AS(analysis::probabilities_of_rules(set, {{"R1", 0.5}}, "p.txt"),
                       doctest::Contains("p.txt: has no probability for the rule R2"), InputError);
  CHECK(analysis::read_derived_tuples(folder.write("c\nb\nc\n"), set) == std::vector<Index>{2, 1});
  CHECK_THROWS_WITH_AS(analysis::read_derived_tuples(folder.write("# none\n"), set),
                       doctest::Contains("names no tuple"), InputError);
  for (auto const* wrong : {"c\nd\n", "c\na\n"})  // unknown; an input
    CHECK_THROWS_WITH_AS(analysis::read_derived_tuples(folder.write(wrong), set),
                         doctest::Contains("line 2: no clause derives "), InputError);
}

TEST_CASE("clauses: depths of derivations are what they are defined to be") {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    auto const set = random_clauses(seed, 60, 90);
    CHECK(analysis::derivation_depths(set) == depths_by_definition(set));
  }
}

TEST_CASE("clauses: forward ones derive all there is, without a cycle; augmented, no other can be added") {
  Index added = 0, refused = 0;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    INFO("seed ", seed);
    auto const set = random_clauses(seed, 40, 90);
    auto const depths = analysis::derivation_depths(set);
    auto const forward = analysis::forward_clauses(set, depths);
    CHECK(!has_cycle(set, forward));
    std::set<Index> derived, derivable;
    for (Index c : forward) derived.insert(set.heads[c]);
    for (Index head : set.heads)
      if (depths[head] != analysis::underivable) derivable.insert(head);
    CHECK(derived == derivable);

    auto const augmented = analysis::augmented_clauses(set, depths, forward);
    CHECK(!has_cycle(set, augmented));
    CHECK(std::ranges::includes(augmented, forward));
    added += static_cast<Index>(augmented.size() - forward.size());
    for (Index c = 0; c < set.num_clauses(); ++c) {
      bool const from_inputs =
          std::ranges::none_of(set.body_of(c), [&](Index t) { return depths[t] == analysis::underivable; });
      if (!from_inputs || std::ranges::binary_search(augmented, c)) continue;
      auto with = augmented;
      with.push_back(c);
      CHECK(has_cycle(set, with));
      ++refused;
    }
  }
  CHECK(added > 50);
  CHECK(refused > 50);
}

TEST_CASE("clauses: a fact is as good as an input") {
  auto const set = clauses_of("R: NOT in, x\nRf: f\nR2: NOT f, x\n");
  auto const pruned = analysis::prune(set, tuples_named(set, {"x"}), {}, "alarms.txt");
  CHECK(pruned.clauses.num_clauses() == 3);
  CHECK(analysis::prune(set, tuples_named(set, {"f"}), {}, "alarms.txt").clauses.num_clauses() == 1);
}

TEST_CASE("clauses: pruning keeps what leads to an alarm, and says what it left out") {
  auto const set = clauses_of(
      "R: NOT in, a\n"
      "R: NOT a, b\n"
      "R: NOT b, a\n"  // a cycle
      "R: NOT b, alarm\n"
      "R: NOT a, nowhere\n"  // leads to no alarm
      "R: NOT x, y\n"        // x and y rest on each other alone
      "R: NOT y, x\n"
      "R: NOT a, NOT y, alarm\n");
  auto const pruned = analysis::prune(set, tuples_named(set, {"alarm"}), {}, "alarms.txt");
  CHECK(pruned.clauses.tuple_names == std::vector<std::string>{"in", "a", "b", "alarm"});
  CHECK(pruned.clauses.heads == std::vector<Index>{1, 2, 3});
  CHECK(pruned.alarms == std::vector<Index>{3});
  CHECK(pruned.report.clauses == 8);
  CHECK(pruned.report.tuples == 7);
  CHECK(pruned.report.underivable == 3);
  CHECK(pruned.report.cyclic == 1);
  CHECK(pruned.report.irrelevant == 1);
  for (auto const* name : {"x", "in"})
    CHECK_THROWS_WITH_AS(analysis::prune(set, tuples_named(set, {name}), {}, "alarms.txt"),
                         doctest::Contains(fmt::format("alarms.txt: no clause derives the alarm {}", name).c_str()),
                         InputError);
}
