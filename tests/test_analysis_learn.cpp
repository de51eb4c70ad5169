// Rules learned from labels, where the likeliest probabilities are known.
#include <algorithm>
#include <cmath>

#include <doctest/doctest.h>

#include <hornbill/error.hpp>
#include <hornbill/hornbill.hpp>

#include "support/cells.hpp"
#include "support/clauses.hpp"
#include "support/hygiene.hpp"

using namespace hornbill;
using test::clauses_of;

namespace {

using Exec = Kokkos::DefaultHostExecutionSpace;

Model model_of(analysis::ClauseSet const& set, std::map<std::string, double> const& probabilities) {
  return analysis::build_model(set, probabilities, {}, {}, "c.txt", "p.txt");
}

template <class Space = Exec>
analysis::LabelledRun labelled(Model& model, std::map<std::string, bool> const& labels,
                               std::string const& name = "a run", bp::Strategy const& strategy = bp::SeqFix{}) {
  auto const& names = model.graph.variable_names;
  HostEvidence evidence;
  // a clause without premises may be called as its head; the tuple is behind it
  for (auto const& [tuple, value] : labels)
    evidence.push_back(Observation::hard(
        static_cast<Index>(names.rend() - std::find(names.rbegin(), names.rend(), tuple)) - 1, value));
  auto const plan = bp::lay_out<Space>(model.graph, bp::make_batches(model.graph, strategy));
  return {name, &model, evidence, std::make_unique<bp::InferenceOn<Space, double>>(Space(), model.graph, plan)};
}

template <class... Runs>
std::vector<analysis::LabelledRun> runs_of(Runs... runs) {
  std::vector<analysis::LabelledRun> all;
  (all.push_back(std::move(runs)), ...);
  return all;
}

analysis::LearnOptions likeliest() {
  return {.max_steps = 5000, .tolerance = 1e-9, .prior = 0, .inference = {.tolerance = 1e-12}};
}

/// Tuples that one rule derives each, the first `num_true` of them labelled true.
std::string facts(int count) {
  std::string text;
  for (int i = 0; i < count; ++i) text += fmt::format("R: NOT in, a{}\n", i);
  return text;
}
std::map<std::string, bool> labels_of_facts(int count, int num_true) {
  std::map<std::string, bool> labels;
  for (int i = 0; i < count; ++i) labels[fmt::format("a{}", i)] = i < num_true;
  return labels;
}

}  // namespace

TEST_CASE_TEMPLATE("learn: what is observed of every instance is counted", Cell, HORNBILL_DOUBLE_CELLS) {
  auto model = model_of(clauses_of(facts(10)), {{"R", 0.9}});
  auto runs = runs_of(labelled<typename Cell::Exec>(model, labels_of_facts(8, 2)));
  auto const learned = analysis::learn_rules(runs, likeliest());
  CHECK(learned.converged);
  CHECK(learned.rules.at("R").probability == doctest::Approx(0.25));  // two of eight; two are not labelled
  CHECK(learned.rules.at("R").before == 0.9);
  CHECK(learned.rules.at("R").tried == doctest::Approx(10));
  CHECK(model.rules.probabilities == std::vector<double>{learned.rules.at("R").probability});
  CHECK(model.graph.p1[0] == learned.rules.at("R").probability);
  CHECK(learned.steps.front().log_likelihood == doctest::Approx(2 * std::log(0.9) + 6 * std::log(0.1)));
  CHECK(learned.log_likelihood == doctest::Approx(2 * std::log(0.25) + 6 * std::log(0.75)));
  CHECK(learned.unconverged == 0);
}

TEST_CASE("learn: a prior counts as earlier trials, and runs share rules") {
  auto one = model_of(clauses_of(facts(8)), {{"R", 0.9}}),
       other = model_of(clauses_of(facts(4) + "S: NOT in, b\n"), {{"R", 0.9}, {"S", 0.4}});
  auto runs = runs_of(labelled(one, labels_of_facts(8, 2)), labelled(one, labels_of_facts(8, 7)),
                      labelled(other, labels_of_facts(4, 1)));
  auto options = likeliest();
  options.prior = 5;
  auto const learned = analysis::learn_rules(runs, options);
  CHECK(learned.rules.at("R").probability == doctest::Approx((2 + 7 + 1 + 5 * 0.9) / (8 + 8 + 4 + 5)));
  CHECK(learned.rules.at("S").probability == doctest::Approx(0.4));  // nothing is said of it
}

TEST_CASE("learn: rules that hide behind each other") {
  // P = r^6 (1 - r)^2 (r s)^3 (1 - r s)^5: six in eight b hold by R, three in eight a by R and S.
  std::string text;
  std::map<std::string, bool> labels;
  for (int i = 0; i < 8; ++i) {
    text += fmt::format("R: NOT in, m{0}\nS: NOT m{0}, a{0}\nR: NOT in, b{0}\n", i);
    labels[fmt::format("a{}", i)] = i < 3;
    labels[fmt::format("b{}", i)] = i < 6;
  }
  auto const set = clauses_of(text);
  std::map<std::string, double> const start{{"R", 0.5}, {"S", 0.9}};
  std::vector<Index> alarms;
  for (auto const& [name, value] : labels) alarms.push_back(test::tuples_named(set, {name})[0]);
  auto const folded = analysis::compress(set, alarms, "c.txt");
  REQUIRE(folded.removed > 0);
  auto const log_likelihood = [](double r, double s) {
    return 6 * std::log(r) + 2 * std::log(1 - r) + 3 * std::log(r * s) + 5 * std::log(1 - r * s);
  };
  auto const learn_from = [&](analysis::ClauseSet const& clauses, bp::Strategy const& strategy) {
    auto model = model_of(clauses, start);
    auto runs = runs_of(labelled(model, labels, "a run", strategy));
    auto const learned = analysis::learn_rules(runs, likeliest());
    CHECK(learned.converged);
    CHECK(learned.rules.at("R").probability == doctest::Approx(0.75).epsilon(1e-5));
    CHECK(learned.rules.at("S").probability == doctest::Approx(0.5).epsilon(1e-5));
    for (std::size_t i = 1; i < learned.steps.size(); ++i)
      CHECK(std::isgreaterequal(learned.steps[i].log_likelihood, learned.steps[i - 1].log_likelihood - 1e-9));
    CHECK(learned.steps.front().log_likelihood == doctest::Approx(log_likelihood(0.5, 0.9)));
    CHECK(learned.log_likelihood == doctest::Approx(log_likelihood(0.75, 0.5)));
  };
  test::LabelsUnwatched const unwatched;  // colouring is Kokkos Kernels'
  for (bp::Strategy const& strategy :
       {bp::Strategy(bp::SeqFix{}), bp::Strategy(bp::Parall{}), bp::Strategy(bp::Chromatic{})})
    for (auto const& clauses : {set, folded.clauses}) learn_from(clauses, strategy);
}

TEST_CASE("learn: certain and fixed rules stay, improbable ones stay possible") {
  auto model = model_of(clauses_of("D: NOT in, m\nR: NOT m, a\nF: NOT m, b\n"), {{"D", 1}, {"R", 0.5}, {"F", 0.3}});
  auto runs = runs_of(labelled(model, {{"a", false}, {"b", true}}));
  auto options = likeliest();
  options.fixed = {"F"};
  auto const learned = analysis::learn_rules(runs, options);
  CHECK(learned.rules.at("D").probability == 1);
  CHECK(learned.rules.at("F").probability == 0.3);
  CHECK(learned.rules.at("R").probability == 1e-6);
  options.fixed = {"G"};
  CHECK_THROWS_WITH_AS(analysis::learn_rules(runs, options), doctest::Contains("the rule 'G'"), InputError);
}

TEST_CASE("learn: long chains of improbable rules") {
  auto const set = clauses_of(facts(4) + "R: NOT in, t0\nR: NOT t0, t1\nR: NOT t1, t2\n");
  auto alarms = test::tuples_named(set, {"a0", "a1", "a2", "a3", "t2"});
  auto model = model_of(analysis::compress(set, alarms, "c.txt").clauses, {{"R", 0.5}});
  auto runs = runs_of(labelled(model, labels_of_facts(4, 0)));  // R never holds
  auto const learned = analysis::learn_rules(runs, {.max_steps = 200, .tolerance = 1e-9, .prior = 0});
  CHECK(learned.converged);
  CHECK(learned.rules.at("R").probability == 1e-6);
  CHECK(*std::ranges::min_element(model.graph.p1) == 0x1p-39);  // rather than 1e-18, for which the plan was not made
}

TEST_CASE("learn: what does not fit") {
  auto model = model_of(clauses_of("D: NOT in, a\n"), {{"D", 1}});
  auto contradicting = runs_of(labelled(model, {{"a", false}}, "m.h5 with l.txt"));
  CHECK_THROWS_WITH_AS(
      analysis::learn_rules(contradicting, {}),
      doctest::Contains("m.h5 with l.txt: the labels contradict each other, or what is certain of the model, at "),
      analysis::ContradictingLabels);
  auto one = model_of(clauses_of(facts(2)), {{"R", 0.9}}), other = model_of(clauses_of(facts(2)), {{"R", 0.8}});
  auto differing = runs_of(labelled(one, {}), labelled(other, {}, "other.h5"));
  CHECK_THROWS_WITH_AS(
      analysis::learn_rules(differing, {}),
      doctest::Contains("other.h5:/rules: the rule R starts with the probability 0.8, and with 0.9 in another run"),
      InputError);
  auto tables = one;
  tables.graph = std::move(FactorGraphBuilder(1).add_table(std::vector<Index>{0}, std::vector<double>{1, 2})).build();
  auto no_network = runs_of(labelled(tables, {}, "tables.h5"));
  CHECK_THROWS_WITH_AS(analysis::learn_rules(no_network, {}), doctest::Contains("tables.h5: factor 0 is a table"),
                       InputError);
  one.rules = {};
  auto without = runs_of(labelled(one, {}, "one.h5"));
  CHECK_THROWS_WITH_AS(analysis::learn_rules(without, {}), doctest::Contains("one.h5:/rules: says nothing of rules"),
                       InputError);
}
