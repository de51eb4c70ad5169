// From clauses without cycles to models: what they mean stays the same.
#include <cmath>
#include <fstream>
#include <iterator>

#include <doctest/doctest.h>

#include <hornbill/analysis/build.hpp>
#include <hornbill/analysis/prune.hpp>
#include <hornbill/analysis/simplify.hpp>
#include <hornbill/error.hpp>

#include "reference/reference.hpp"
#include "support/cells.hpp"
#include "support/clauses.hpp"
#include "support/solver.hpp"

using namespace hornbill;
using test::clauses_of;
using test::tuples_named;

namespace {

std::string const real_clauses = std::string(HORNBILL_SOURCE_DIR) + "/../shared/data/clauses/";

std::map<std::string, double> const probabilities{{"R0", 0.9}, {"R1", 0.6}, {"R2", 1}, {"input", 0.7}};

Index variable_named(Model const& model, std::string const& name) {
  // a clause without premises may be called as its head; the tuple is behind it
  auto const& names = model.graph.variable_names;
  return static_cast<Index>(names.rend() - std::find(names.rbegin(), names.rend(), name)) - 1;
}

}  // namespace

TEST_CASE("clauses: premises come before heads, and a cycle is named") {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    auto const set = test::random_clauses(seed, 50, 70, true);
    auto const order = analysis::topological_order(set, "c.txt");
    std::vector<Index> place(set.num_tuples(), -1);
    for (std::size_t i = 0; i < order.size(); ++i) place[order[i]] = static_cast<Index>(i);
    CHECK(std::ranges::count(place, -1) == 0);
    for (Index c = 0; c < set.num_clauses(); ++c)
      for (Index t : set.body_of(c)) CHECK(place[t] < place[set.heads[c]]);
  }
  auto const cyclic = clauses_of("R: NOT in, a\nR: NOT a, b\nR: NOT b, c\nR: NOT c, a\nR: NOT c, d\n");
  CHECK_THROWS_WITH_AS(analysis::topological_order(cyclic, "c.txt"),
                       doctest::Contains("c.txt: the clauses have a cycle: "), InputError);
  CHECK_THROWS_WITH_AS(analysis::topological_order(cyclic, "c.txt"), doctest::Contains("a -> b -> c"), InputError);
  CHECK_THROWS_WITH_AS(analysis::topological_order(clauses_of("R: NOT a, a\n"), "c.txt"),
                       doctest::Contains("a cycle: a -> a. "), InputError);
  std::string ring;
  for (int i = 0; i < 100; ++i) ring += fmt::format("R: NOT t{}, t{}\n", i, (i + 1) % 100);
  CHECK_THROWS_WITH_AS(analysis::topological_order(clauses_of(ring), "c.txt"),
                       doctest::Contains("-> ... (91 more) -> "), InputError);
  CHECK_THROWS_AS(analysis::compress(cyclic, {}, "c.txt"), InputError);
  CHECK_THROWS_AS(analysis::build_model(cyclic, {{"R", 0.5}}, {}, {}, "c.txt", "p.txt"), InputError);
}

TEST_CASE("clauses: compression folds chains, and nothing else") {
  auto const set = clauses_of(
      "R0: NOT in, a\n"
      "R1: NOT a, NOT x, b\n"  // a is folded
      "R1: NOT b, alarm1\n"    // b has two uses
      "R2: NOT b, alarm2\n"
      "R0: NOT alarm2, c\n"  // an alarm is kept, with one use
      "R0: NOT in, d\n"      // d has two derivations
      "R1: NOT x, d\n"
      "R2: NOT c, NOT d, alarm3\n");
  auto const compressed = analysis::compress(set, tuples_named(set, {"alarm1", "alarm2", "alarm3"}), "c.txt");
  CHECK(compressed.removed == 2);  // a, c
  CHECK(compressed.clauses.tuple_names == std::vector<std::string>{"in", "x", "b", "alarm1", "alarm2", "d", "alarm3"});
  CHECK(compressed.alarms == std::vector<Index>{3, 4, 6});
  CHECK(analysis::to_string(compressed.clauses, 0) == "R1 + R0: NOT in, NOT x, b");
  CHECK(analysis::to_string(compressed.clauses, 5) == "R2 + R0: NOT alarm2, NOT d, alarm3");
  // p is used twice, but by parts of one clause.
  auto const both = clauses_of("R0: NOT in, p\nR1: NOT p, q\nR2: NOT p, NOT q, alarm\n");
  auto const one = analysis::compress(both, tuples_named(both, {"alarm"}), "c.txt");
  REQUIRE(one.clauses.num_clauses() == 1);
  CHECK(analysis::to_string(one.clauses, 0) == "R2 + R1 + R0: NOT in, alarm");
}

TEST_CASE("clauses: compression leaves the probabilities of what is left, and nothing more to fold") {
  Index folded = 0;
  for (unsigned seed = 1; seed <= 120; ++seed) {
    INFO("seed ", seed);
    auto const set = test::random_clauses(seed, 12, 10, true, 2);
    std::vector<Index> alarms;
    for (Index t = 8; t < 12; ++t)
      if (std::ranges::count(set.heads, t) > 0) alarms.push_back(t);
    auto const compressed = analysis::compress(set, alarms, "c.txt");
    folded += set.num_clauses() - compressed.clauses.num_clauses();
    CHECK(analysis::compress(compressed.clauses, compressed.alarms, "c.txt").removed == 0);
    for (std::size_t i = 0; i < alarms.size(); ++i)
      CHECK(compressed.clauses.tuple_names[compressed.alarms[i]] == set.tuple_names[alarms[i]]);
    auto const before = test::joint_probabilities(set, probabilities),
               after = test::joint_probabilities(compressed.clauses, probabilities);
    double largest = 0;
    for (auto const& [pair, p] : after) largest = std::max(largest, std::abs(p - before.at(pair)));
    CHECK(largest < 1e-12);
  }
  CHECK(folded > 50);
}

TEST_CASE("clauses: a model has the probabilities of its clauses") {
  for (unsigned seed = 1; seed <= 25; ++seed) {
    INFO("seed ", seed);
    auto const set = test::random_clauses(seed, 9, 9, true, 2);
    auto const joint = test::joint_probabilities(set, probabilities);
    auto const model = analysis::build_model(set, probabilities, {}, {}, "c.txt", "p.txt");
    validate(model.graph);
    auto const marginals = reference::enumerate_marginals(model.graph, {});
    for (Index t = 0; t < set.num_tuples(); ++t) {
      if (std::ranges::count(set.heads, t) == 0) continue;
      auto const& name = set.tuple_names[t];
      CHECK(static_cast<double>(marginals[variable_named(model, name)][1]) == doctest::Approx(joint.at({name, name})));
    }
  }
}

TEST_CASE("clauses: what a model holds") {
  auto const set = clauses_of("R0: NOT in, NOT on, a\nR1: NOT in, a\nR1 + R0: NOT a, alarm\n");
  auto const certain = analysis::build_model(set, probabilities, tuples_named(set, {"alarm"}), {}, "c.txt", "p.txt");
  CHECK(certain.graph.variable_names ==
        std::vector<std::string>{"R0: a", "R1: a", "a", "R1 + R0: NOT a, alarm", "alarm"});
  CHECK(certain.queries.at("alarms") == std::vector<Index>{4});
  CHECK(certain.graph.p1 == std::vector<double>{0.9, 0.6, 1, 0.6 * 0.9, 1});
  CHECK(certain.graph.factor_variables == std::vector<Index>{0, 1, 2, 0, 1, 3, 2, 4, 3});
  auto const pruned = analysis::build_model(clauses_of("R0: a\nR2: a\n"), {{"R0", 0.5}, {"R2", 0.4}, {"R1", 0.3}}, {},
                                            {}, "c.txt", "p.txt");
  CHECK(pruned.rules.names == std::vector<std::string>{"R0", "R2"});
  CHECK(pruned.rules.probabilities == std::vector<double>{0.5, 0.4});
  CHECK(certain.rules.names == std::vector<std::string>{"R0", "R1"});
  CHECK(certain.rules.offsets == std::vector<Offset>{0, 1, 2, 2, 4, 4});
  CHECK(certain.rules.of_factors == std::vector<Index>{0, 1, 1, 0});
  auto const uncertain = analysis::build_model(set, probabilities, tuples_named(set, {"alarm"}),
                                               {.rule_of_inputs = "input"}, "c.txt", "p.txt");
  auto const& names = uncertain.graph.variable_names;
  CHECK(names == std::vector<std::string>{"input: in", "in", "input: on", "on", "R0: NOT in, NOT on, a",
                                          "R1: NOT in, a", "a", "R1 + R0: NOT a, alarm", "alarm"});
  CHECK(static_cast<double>(reference::enumerate_marginals(uncertain.graph, {})[1][1]) == doctest::Approx(0.7));
  CHECK(uncertain.queries.at("alarms") == std::vector<Index>{8});
  CHECK_THROWS_WITH_AS(analysis::build_model(set, {{"R0", 0.5}}, {}, {}, "c.txt", "p.txt"),
                       doctest::Contains("p.txt: has no probability for the rule R1"), InputError);
  CHECK_THROWS_WITH_AS(
      analysis::build_model(set, {{"R0", 0.5}, {"R1", 0.5}}, {}, {.rule_of_inputs = "input"}, "c.txt", "p.txt"),
      doctest::Contains("the rule input"), InputError);
  test::ClauseFolder folder;
  auto const file = folder.write("");
  analysis::write_dictionary(certain, file);
  std::ifstream in(file);
  CHECK(std::string{std::istreambuf_iterator<char>(in), {}} == "0: a\n1: a\n2: a\n3: NOT a, alarm\n4: alarm\n");
}

namespace {

/// What others computed of minigzip's alarms: a network without compression and with narrowed disjunctions.
struct Expected {
  std::map<std::string, double> marginals;  ///< converged belief propagation
  std::map<std::string, bool> labels;
  double log_evidence = 0;  ///< exact

  explicit Expected(std::string const& labelled) {
    std::ifstream names(real_clauses + "minigzip.vars.tsv"),
        of_marginals(real_clauses + "minigzip." + labelled + ".BP.MAR"),
        of_labels(real_clauses + "minigzip." + labelled + ".evid"),
        of_evidence(real_clauses + "minigzip." + labelled + ".PR");
    std::string word;
    double zero = 0, one = 0;
    std::vector<std::string> name_of;
    of_marginals >> word >> word;  // MAR, and how many
    for (std::string line; std::getline(names, line);) {
      of_marginals >> word >> zero >> one;
      name_of.push_back(line.substr(line.find('\t') + 1));
      marginals[name_of.back()] = one;
    }
    REQUIRE(of_marginals.good());
    std::size_t count = 0, variable = 0;
    bool value = false;
    for (of_labels >> count; count > 0; --count) {
      of_labels >> variable >> value;
      labels[name_of.at(variable)] = value;
    }
    of_evidence >> word >> log_evidence;  // PR, and its decimal logarithm
    log_evidence *= std::log(10);
  }
};

}  // namespace

TEST_CASE("extra: from the clauses of a real analysis to the marginals of libDAI and the exact probability of labels" *
          doctest::skip(!std::filesystem::exists(real_clauses))) {
  auto const all = analysis::read_clauses(real_clauses + "minigzip.named_cons_all.txt");
  auto const pruned = analysis::prune(
      all, analysis::read_derived_tuples(real_clauses + "minigzip.base_queries.txt", all), {}, "alarms");
  auto const compressed = analysis::compress(pruned.clauses, pruned.alarms, "clauses");
  auto const model = analysis::build_model(compressed.clauses,
                                           analysis::read_rule_probabilities(real_clauses + "minigzip.rule-prob.txt"),
                                           compressed.alarms, {}, "clauses", "rules");
  auto const plan = bp::lay_out<test::AnyHost>(model.graph, bp::make_batches(model.graph, bp::SeqFix{}));
  for (std::string const labelled : {"prior", "fb1", "fb2"}) {
    CAPTURE(labelled);
    Expected const expected(labelled);
    bp::InferenceOn<test::AnyHost, double> inference(test::AnyHost(), model.graph, plan);
    HostEvidence labels;
    for (auto const& [name, value] : expected.labels)
      labels.push_back(Observation::hard(variable_named(model, name), value));
    for (auto const& label : labels) inference.observe(label);
    CHECK(inference.run({.tolerance = 1e-13}).stop == bp::Stop::converged);
    auto const p_true = inference.marginals();
    Index compared = 0;
    for (auto const& name : compressed.clauses.tuple_names) {
      auto const known = expected.marginals.find(name);
      if (known == expected.marginals.end()) continue;
      ++compared;
      CHECK(std::abs(p_true[variable_named(model, name)] - known->second) < 1e-9);
    }
    CHECK(compared == 379);  // the tuples that are derived and were not folded away
    CHECK(std::abs(bp::log_evidence(model.graph, network_order(model.graph), labels, inference.factor_messages()) -
                   expected.log_evidence) < 1e-8);
  }
}
