// Local update: what follows from a change of evidence, and no more.
#include <numeric>

#include "support/cells.hpp"
#include "support/compare.hpp"
#include "support/hygiene.hpp"
#include "support/solver.hpp"

using namespace hornbill;
using test::Solver;

namespace {

constexpr Index variables_of_part = 5, edges_of_part = 11;

/// Many small graphs with a loop each, side by side.
HostFactorGraph parts(Index count) {
  FactorGraphBuilder builder(count * variables_of_part);
  for (Index p = 0; p < count; ++p) {
    Index const v = p * variables_of_part;
    builder.add_prior(v, 0.6)
        .add_conjunction(v + 1, std::vector<Index>{v}, 0.9, 0.1)
        .add_conjunction(v + 2, std::vector<Index>{v}, 0.8, 0.2);
    builder.add_disjunction(v + 3, std::vector<Index>{v + 1, v + 2}, 0.95, 0.05)
        .add_conjunction(v + 4, std::vector<Index>{v + 3, v + 1}, 0.9, 0.05);
  }
  return std::move(builder).build();
}

template <class Value>
bp::Options to_rest() {
  return {.tolerance = sizeof(Value) == 8 ? 1e-10 : 1e-5};
}

/// Other libraries' labels are let through while they colour.
template <class T>
Solver<T> solver(HostFactorGraph const& graph, bp::Strategy const& strategy, HostEvidence const& evidence = {},
                 bp::PlanOptions options = {}) {
  test::LabelsUnwatched const unwatched;
  return Solver<T>(graph, strategy, evidence, options);
}

/// Runs on with the evidence so far, and compares with a run from nothing.
template <class T>
bp::Report run_and_compare(Solver<T>& warm, bp::Strategy const& strategy, HostEvidence const& evidence) {
  auto const options = to_rest<typename T::Value>();
  warm.evidence.commit(warm.exec);
  auto const report = warm.run(options);
  auto cold = solver<T>(warm.host, strategy, evidence, {.local_update = false});
  auto const expected = cold.run(options);
  CHECK(expected.local_work == 0);
  CHECK(report.stop == bp::Stop::converged);
  CHECK(expected.stop == bp::Stop::converged);
  test::check_close(warm.marginals(), cold.marginals(), 10 * options.tolerance, "local and cold");
  return report;
}

}  // namespace

TEST_CASE_TEMPLATE("local: a label's work is that of its part of the graph", T, HORNBILL_TEST_CELLS) {
  auto const graph = parts(2000);
  for (auto const name : {"parall", "seqfix", "chromatic", "topo", "residual", "seqrnd"}) {
    INFO("schedule ", std::string(name));
    auto const strategy = *bp::strategy_named(name);
    auto warm = solver<T>(graph, strategy);
    CHECK(warm.run(to_rest<typename T::Value>()).local_work == 0);  // from nothing all is new
    auto const again = warm.run(to_rest<typename T::Value>());
    CHECK(again.local_work == 0);  // nothing has changed
    CHECK(again.iterations == 1);
    HostEvidence labels;
    for (Index part : {700, 3, 1999}) {
      labels.push_back(Observation::hard(part * variables_of_part + 4, part % 2));
      warm.evidence.observe(labels.back());
      auto const report = run_and_compare(warm, strategy, labels);
      CHECK(report.iterations == 1);
      CHECK(report.local_work * graph.num_edges() > edges_of_part);
      CHECK(report.local_work * graph.num_edges() < 400 * edges_of_part);
    }
  }
}

TEST_CASE_TEMPLATE("local: where all moves, iterations take over", T, HORNBILL_TEST_CELLS) {
  auto const graph = parts(200);
  Solver<T> warm(graph, bp::SeqFix{});
  warm.run(to_rest<typename T::Value>());
  HostEvidence labels;
  for (Index part = 0; part < 200; ++part)
    labels.push_back(Observation::hard(part * variables_of_part + 4, part % 3 == 0));
  warm.evidence.observe(labels);
  auto const report = run_and_compare(warm, bp::SeqFix{}, labels);
  CHECK(report.local_work > backend::TuningOf<typename T::Exec>::value.bp.local_share);
  CHECK(report.iterations > 1);
}

TEST_CASE_TEMPLATE("local: hubs and wide factors, which one thread may or may not take on", T, HORNBILL_TEST_CELLS) {
  Index const many = 3000;
  FactorGraphBuilder builder(2 * many + 2);
  builder.add_prior(0, 0.3);
  for (Index v = 1; v <= many; ++v) builder.add_conjunction(v, std::vector<Index>{0}, 0.9, 0.4);
  std::vector<Index> premises(40);  // wide, but not too wide for anyone
  std::iota(premises.begin(), premises.end(), 1);
  builder.add_disjunction(many + 1, premises, 0.9, 0.01);
  premises.resize(many);
  std::iota(premises.begin(), premises.end(), many + 1);
  builder.add_disjunction(2 * many + 1, premises, 0.99, 0.001);
  for (Index v = many + 2; v <= 2 * many; ++v) builder.add_prior(v, 0.0002);
  auto const graph = std::move(builder).build();
  auto warm = solver<T>(graph, bp::Chromatic{});
  warm.run(to_rest<typename T::Value>());
  HostEvidence labels;
  for (Index v : {many + 1, 2 * many + 1, 2 * many, Index{7}}) {
    labels.push_back(Observation::hard(v, 1));
    warm.evidence.observe(labels.back());
    auto const report = run_and_compare(warm, bp::Chromatic{}, labels);
    bool const moves_hub = v == 7, moves_wide = v > many + 1;  // too long for a thread of a GPU
    bool const too_long =
        (moves_hub || moves_wide) && backend::TuningOf<typename T::Exec>::value.bp.local_longest < many;
    INFO("variable ", v);
    if (too_long) CHECK(report.iterations > 1);
    if (v == many + 1) CHECK(report.local_work * graph.num_edges() > 40);
  }
}

TEST_CASE_TEMPLATE("local: tables over variables of three states", T, HORNBILL_TEST_CELLS) {
  FactorGraphBuilder builder;
  Index const length = 600;
  for (Index v = 0; v < length; ++v) builder.add_variable({}, v % 2 == 0 ? 3 : 2);
  for (Index v = 0; v + 1 < length; ++v)
    builder.add_table(std::vector<Index>{v, v + 1}, std::vector<double>{0.6, 0.2, 0.3, 0.4, 0.25, 0.5});
  auto const graph = std::move(builder).build();
  Solver<T> warm(graph, bp::SeqFix{});
  warm.run(to_rest<typename T::Value>());
  HostEvidence labels;
  for (Index v : {300, 11, 599}) {
    labels.push_back(Observation::hard(v, 1));
    warm.evidence.observe(labels.back());
    auto const report = run_and_compare(warm, bp::SeqFix{}, labels);
    CHECK(report.local_work > 0);
    CHECK(report.local_work < 0.5);
  }
}

TEST_CASE_TEMPLATE("local: messages that a schedule leaves out stay as they are", T, HORNBILL_TEST_CELLS) {
  auto const graph = parts(100);
  std::vector<Offset> order;
  for (Offset e = 0; e < graph.num_edges(); ++e)
    if (e % edges_of_part % 3 != 1) order.push_back(e);
  bp::Custom schedule;
  schedule.schedule.edges = order;
  Solver<T> warm(graph, schedule);
  warm.run(to_rest<typename T::Value>());
  warm.evidence.clamp(4, 1);
  CHECK(run_and_compare(warm, schedule, {Observation::hard(4, 1)}).local_work > 0);
  auto const messages = warm.messages();
  for (Offset e = 0; e < graph.num_edges(); ++e)
    if (e % edges_of_part % 3 == 1) CHECK(messages[e] == 0);
}

TEST_CASE_TEMPLATE("local: none where it would not be what was asked for, or evidence was withdrawn", T,
                   HORNBILL_TEST_CELLS) {
  auto const graph = parts(50);
  Solver<T> warm(graph, bp::SeqFix{});
  auto const options = to_rest<typename T::Value>();
  auto with = [&](auto&& change) {
    warm.run(options);
    auto other = options;
    change(other);
    warm.evidence.clamp(4, 1);
    warm.evidence.commit(warm.exec);
    auto const work = warm.run(other).local_work;
    warm.evidence.release_all();
    warm.evidence.commit(warm.exec);
    CHECK(warm.run(options).local_work == 0);  // what was certain no longer is
    return work;
  };
  CHECK(with([](auto&) {}) > 0);
  CHECK(with([](auto& o) { o.damping = 0.5; }) == 0);
  CHECK(with([](auto& o) { o.tolerance = 0, o.max_iterations = 5; }) == 0);
  CHECK(with([](auto& o) { o.max_iterations = 0; }) == 0);
  CHECK(with([](auto& o) { o.warm_start = false; }) == 0);
}

TEST_CASE_TEMPLATE("local: after soft evidence, a limit, a contradiction, messages from outside", T,
                   HORNBILL_TEST_CELLS) {
  auto const graph = parts(300);
  auto const options = to_rest<typename T::Value>();
  Solver<T> warm(graph, bp::Parall{});
  warm.run(options);
  warm.evidence.soften(4, 0.2, 0.7);
  CHECK(run_and_compare(warm, bp::Parall{}, {Observation::soft(4, 0.2, 0.7)}).local_work > 0);
  warm.evidence.release(4);
  CHECK(run_and_compare(warm, bp::Parall{}, {}).local_work > 0);

  auto limited = options;
  limited.max_iterations = 1;
  limited.warm_start = false;
  CHECK(warm.run(limited).stop == bp::Stop::iteration_limit);
  warm.evidence.soften(9, 0.2, 0.7);
  CHECK(run_and_compare(warm, bp::Parall{}, {Observation::soft(9, 0.2, 0.7)}).iterations > 1);

  bp::set_factor_messages(warm.exec, warm.device, std::vector<double>(graph.num_edges(), 0.5), warm.state);
  CHECK(run_and_compare(warm, bp::Parall{}, {Observation::soft(9, 0.2, 0.7)}).local_work == 0);
}

TEST_CASE_TEMPLATE("local: contradictions are found on the way", T, HORNBILL_TEST_CELLS) {
  FactorGraphBuilder builder(40);
  for (Index v = 1; v < 40; ++v) builder.add_conjunction(v, std::vector<Index>{v - 1}, 1, 0);
  Solver<T> warm(std::move(builder).build(), bp::SeqFix{});
  warm.evidence.clamp(0, 1);
  warm.evidence.commit(warm.exec);
  CHECK(warm.run(to_rest<typename T::Value>()).stop == bp::Stop::converged);
  warm.evidence.clamp(39, 0);
  warm.evidence.commit(warm.exec);
  CHECK(warm.run(to_rest<typename T::Value>()).stop == bp::Stop::contradiction);
  warm.evidence.release(0);
  CHECK(run_and_compare(warm, bp::SeqFix{}, {Observation::hard(39, 0)}).local_work == 0);
}

TEST_CASE_TEMPLATE("local: repeats to the last bit, also where it is given up", T, HORNBILL_TEST_CELLS) {
  auto const graph = parts(200);
  std::vector<double> first;
  for (int repeat = 0; repeat < 4; ++repeat) {
    Solver<T> warm(graph, bp::SeqFix{});
    warm.run(to_rest<typename T::Value>());
    for (Index part = 0; part < 200; part += 2) warm.evidence.clamp(part * variables_of_part + 4, part % 3 == 0);
    warm.evidence.commit(warm.exec);
    auto const work = warm.run(to_rest<typename T::Value>()).local_work;
    auto all = warm.messages();
    all.push_back(work);
    if (repeat == 0) first = all;
    test::check_identical(all, first, fmt::format("repeat {}", repeat));
  }
}

TEST_CASE("local: evidence tells which variables its commits have changed") {
  test::AnyHost exec;
  auto const host = parts(2);
  auto const graph = bp::to_device<double>(exec, host);
  bp::Evidence evidence(exec, host, graph);
  evidence.clamp(3, 1);
  CHECK(evidence.revision() == 0);
  evidence.commit(exec);
  auto const first = evidence.revision();
  evidence.soften(5, 0.5, 0.25);
  evidence.release(3);
  evidence.soften(5, 0.5, 0.75);
  evidence.commit(exec);
  CHECK(evidence.changes_since(0) == std::vector<Index>{3, 3, 5});
  CHECK(evidence.changes_since(first) == std::vector<Index>{3, 5});
  CHECK(evidence.changes_since(evidence.revision()) == std::vector<Index>{});
  CHECK_FALSE(evidence.changes_since(evidence.revision() + 1));
  for (Index i = 0; i < 20; ++i) {
    evidence.soften(i % 10, 0.5, 0.5);
    evidence.commit(exec);
  }
  CHECK_FALSE(evidence.changes_since(first));  // longer ago than there are variables
  CHECK(evidence.changes_since(evidence.revision() - 1) == std::vector<Index>{9});
}
