// Every backend and precision against the oracle, on graphs with the nasty rows.
#include "support/cells.hpp"
#include "support/compare.hpp"
#include "support/random_graphs.hpp"
#include "support/solver.hpp"

using namespace hornbill;
using test::Solver;

namespace {

/// Iterations amplify rounding; a few are compared, where amplification is bounded by the graph's degrees.
template <class Value>
double tolerance() {
  return sizeof(Value) == 8 ? 1e-12 : 2e-4;
}

HostEvidence some_evidence(unsigned seed) {
  return {Observation::soft(static_cast<Index>(seed % 7), 0.3, 0.6),
          Observation::hard(static_cast<Index>(10 + seed % 5), 0)};
}

}  // namespace

TEST_CASE_TEMPLATE("bp: PARALL and SEQFIX follow the oracle on random graphs", T, HORNBILL_TEST_CELLS) {
  for (unsigned seed = 1; seed <= 12; ++seed) {
    auto const graph = test::random_graph(seed, {.num_variables = 200, .num_factors = 260});
    auto const evidence = some_evidence(seed);
    INFO("seed ", seed);
    for (int iterations : {1, 2, 5}) {
      reference::BeliefPropagation parall(graph, evidence), sequence(graph, evidence);
      parall.run_parall(iterations);
      std::vector<Offset> order(graph.num_edges());
      std::iota(order.begin(), order.end(), 0);
      sequence.run_sequence(order, iterations);
      Solver<T> a(graph, bp::Parall{}, evidence), b(graph, bp::SeqFix{}, evidence);
      REQUIRE(a.iterate(iterations).contradiction == -1);
      REQUIRE(b.iterate(iterations).contradiction == -1);
      test::check_close(a.marginals(), test::p_true(parall.marginals()), tolerance<typename T::Value>(),
                        fmt::format("PARALL, seed {}, {} iterations", seed, iterations));
      test::check_close(b.marginals(), test::p_true(sequence.marginals()), tolerance<typename T::Value>(),
                        fmt::format("SEQFIX, seed {}, {} iterations", seed, iterations));
    }
  }
}

TEST_CASE_TEMPLATE("bp: messages of an OR to its head and to its body are those of the definition", T,
                   HORNBILL_TEST_CELLS) {
  double const p1 = 0.9, p2 = 0.2;
  std::vector<double> const q{0.3, 0.6, 0.1, 0.8};  // of being true, by the evidence: the head, then the body
  FactorGraphBuilder builder(4);
  auto const graph = std::move(builder.add_disjunction(0, std::vector<Index>{1, 2, 3}, p1, p2)).build();
  HostEvidence evidence;
  for (Index v = 0; v < 4; ++v) evidence.push_back(Observation::soft(v, 1 - q[v], q[v]));
  Solver<T> solver(graph, bp::Parall{}, evidence);
  solver.iterate(1);
  auto const messages = solver.messages();  // log-odds
  auto const none = [&](std::size_t left_out) {
    double product = 1;
    for (std::size_t i = 1; i < q.size(); ++i) product *= i == left_out ? 1 : 1 - q[i];
    return product;
  };
  double const all_false = none(0), fires = 1 - all_false;
  CHECK(messages[0] ==
        doctest::Approx(std::log((fires * p1 + all_false * p2) / (fires * (1 - p1) + all_false * (1 - p2))))
            .epsilon(1e-6));
  double const c1 = p1 * q[0] + (1 - p1) * (1 - q[0]), c2 = p2 * q[0] + (1 - p2) * (1 - q[0]);
  for (std::size_t j = 1; j < q.size(); ++j)
    CHECK(messages[j] == doctest::Approx(std::log(c1 / (none(j) * c2 + (1 - none(j)) * c1))).epsilon(1e-5));
}

TEST_CASE_TEMPLATE("bp: tables over variables of any cardinality follow the oracle, mixed with Horn factors", T,
                   HORNBILL_TEST_CELLS) {
  for (unsigned seed = 1; seed <= 10; ++seed) {
    auto const graph = test::random_graph(
        seed, {.num_variables = 40, .num_factors = 60, .largest_body = 3, .tables = 0.5, .max_states = 4});
    INFO("seed ", seed);
    HostEvidence evidence;
    for (Index v = 2; v < 10; v += 3)
      if (graph.states(v) > 2) evidence.push_back(Observation::hard(v, 0));
    for (Index v : {3, 13, 23, 33}) evidence.push_back(Observation::soft(v, std::vector{0.9, 0.2, 0.4, 0.0}));
    for (auto& o : evidence)
      if (!o.is_hard()) o.likelihoods.resize(graph.states(o.variable));
    for (int iterations : {1, 4}) {
      reference::BeliefPropagation parall(graph, evidence), sequence(graph, evidence);
      parall.run_parall(iterations);
      auto const order = bp::topological_order(graph);
      sequence.run_sequence(order, iterations);
      Solver<T> a(graph, bp::Parall{}, evidence), b(graph, bp::Topo{}, evidence);
      REQUIRE(a.iterate(iterations).contradiction == -1);
      REQUIRE(b.iterate(iterations).contradiction == -1);
      test::check_close(a.marginals(), test::p_true(parall.marginals()), tolerance<typename T::Value>(),
                        fmt::format("PARALL, seed {}", seed));
      test::check_close(b.marginals(), test::p_true(sequence.marginals()), tolerance<typename T::Value>(),
                        fmt::format("TOPO, seed {}", seed));
      std::vector<double> states;
      for (auto const& d : parall.marginals()) states.insert(states.end(), d.begin(), d.end());
      test::check_close(bp::state_marginals(a.exec, graph, a.device, a.state), states, tolerance<typename T::Value>(),
                        fmt::format("states, seed {}", seed));
    }
  }
}

TEST_CASE_TEMPLATE("bp: large tables, and those whose products leave the range of numbers, follow the oracle", T,
                   HORNBILL_TEST_CELLS) {
  for (unsigned seed = 1; seed <= 6; ++seed)
    for (double least : {0.0, sizeof(typename T::Value) == 8 ? 1e-250 : 1e-30}) {
      auto const graph = test::random_graph(seed, {.num_variables = 30,
                                                   .num_factors = 20,
                                                   .tables = 1,
                                                   .max_states = 4,
                                                   .largest_table = 7,
                                                   .min_entry = least});
      INFO("seed ", seed, ", least ", least);
      HostEvidence evidence;
      for (Index v = 0; v < 12; ++v)
        if (graph.states(v) == 2)
          evidence.push_back(v % 4 == 0 ? Observation::hard(v, 0)
                                        : Observation::soft(v, v % 2 ? 1e-200 : 1, v % 2 ? 1 : 1e-20));
      reference::BeliefPropagation parall(graph, evidence), sequence(graph, evidence);
      parall.run_parall(2);
      std::vector<Offset> order(graph.num_edges());
      std::iota(order.begin(), order.end(), 0);
      sequence.run_sequence(order, 2);
      Solver<T> a(graph, bp::Parall{}, evidence), b(graph, bp::SeqFix{}, evidence),
          batched(graph, bp::SeqFix{}, evidence, {.execution = bp::Execution::batched});
      REQUIRE(a.iterate(2).contradiction == -1);
      REQUIRE(b.iterate(2).contradiction == -1);
      batched.iterate(2);
      auto states = [&](Solver<T>& solver) {
        return bp::state_marginals(solver.exec, graph, solver.device, solver.state);
      };
      auto flat = [](auto const& marginals) {
        std::vector<double> all;
        for (auto const& d : marginals) all.insert(all.end(), d.begin(), d.end());
        return all;
      };
      test::check_close(states(a), flat(parall.marginals()), tolerance<typename T::Value>(),
                        fmt::format("PARALL, seed {}, least {}", seed, least));
      test::check_close(states(b), flat(sequence.marginals()), tolerance<typename T::Value>(),
                        fmt::format("SEQFIX, seed {}, least {}", seed, least));
      test::check_identical(batched.messages(), b.messages(), "by batches");
    }
}

TEST_CASE_TEMPLATE("bp: the largest table, of 20 variables", T, HORNBILL_TEST_CELLS) {
  constexpr Index n = 20;
  std::vector<double> table(std::size_t{1} << n), p(n);
  std::vector<Index> variables(n);
  std::iota(variables.begin(), variables.end(), 0);
  for (Index v = 0; v < n; ++v) p[v] = 0.02 + 0.045 * v;
  for (std::size_t i = 0; i < table.size(); ++i) {  // all independent: the message to each is its own odds
    table[i] = 1;
    for (Index v = 0; v < n; ++v) table[i] *= (i >> (n - 1 - v) & 1u) ? p[v] : 1 - p[v];
  }
  FactorGraphBuilder builder(n);
  Solver<T> solver(std::move(builder.add_table(variables, table)).build(), bp::Parall{});
  solver.iterate(1);
  test::check_close(solver.marginals(), p, sizeof(typename T::Value) == 8 ? 1e-10 : 2e-3, "the table's own odds");
}

TEST_CASE_TEMPLATE("bp: what a table makes impossible is reported", T, HORNBILL_TEST_CELLS) {
  FactorGraphBuilder builder;
  Index const a = builder.add_variable(), b = builder.add_variable({}, 3);
  // b is never 2
  auto const graph =
      std::move(builder.add_table(std::vector<Index>{a, b}, std::vector<double>{1, 0, 0, 1, 1, 0})).build();
  Solver<T> solver(graph, bp::Parall{}, {Observation::hard(b, 2)});
  auto const report = solver.run();
  CHECK(report.stop == bp::Stop::contradiction);
  CHECK((report.contradiction == a || report.contradiction == b));
}

TEST_CASE_TEMPLATE("bp: a table's message has the same bits whatever its own variable's weight", T,
                   HORNBILL_TEST_CELLS) {
  double const rare = sizeof(typename T::Value) == 8 ? 1e-200 : 1e-20;  // takes numbers of unlimited range
  for (double entry : sizeof(typename T::Value) == 8 ? std::vector<double>{1e-280, 3e-281, 1e-120}
                                                     : std::vector<double>{1e-28, 3e-27, 1e-12}) {
    FactorGraphBuilder builder(2);
    builder.add_prior(0, rare).add_table(std::vector<Index>{0, 1}, std::vector<double>{1, 1, entry, 0.3 * entry});
    auto const graph = std::move(builder).build();
    Solver<T> batched(graph, bp::SeqFix{}, {}, {.execution = bp::Execution::batched}),
        sequential(graph, bp::SeqFix{}, {}, {.execution = bp::Execution::sequential});
    batched.iterate(1);
    sequential.iterate(1);
    test::check_identical(batched.messages(), sequential.messages(), fmt::format("entry {}", entry));
  }
}

TEST_CASE_TEMPLATE("bp: products of ordinary weights that are too small for a number keep their ratio", T,
                   HORNBILL_TEST_CELLS) {
  bool const is_double = sizeof(typename T::Value) == 8;
  std::vector<double> table(16);
  table[0b0111] = 0.2;  // all else is impossible
  table[0b1111] = 0.6;
  FactorGraphBuilder builder(4);
  auto const graph = std::move(builder.add_table(std::vector<Index>{0, 1, 2, 3}, table)).build();
  for (double weight : {is_double ? 1e-107 : 1e-14, is_double ? 1e-120 : 1e-16}) {  // cubes have lost digits, or all
    INFO("weight ", weight);
    Solver<T> solver(
        graph, bp::Parall{},
        {Observation::soft(1, 1, weight), Observation::soft(2, 1, weight), Observation::soft(3, 1, weight)});
    CHECK(solver.iterate(2).contradiction == -1);
    CHECK(solver.marginals()[0] == doctest::Approx(0.75).epsilon(is_double ? 1e-12 : 1e-6));
  }
}

TEST_CASE_TEMPLATE("bp: exact on forests after one TOPO iteration", T, HORNBILL_TEST_CELLS) {
  for (unsigned seed = 0; seed < 10; ++seed) {
    auto const graph = test::random_forest(seed, 9);
    HostEvidence const evidence{Observation::hard(0, 1)};
    auto const exact = test::p_true(reference::enumerate_marginals(graph, evidence));
    Solver<T> solver(graph, bp::Topo{}, evidence);
    solver.iterate(1);
    test::check_close(solver.marginals(), exact, test::rounding_tolerance<typename T::Value>(20),
                      fmt::format("seed {}", seed));
  }
}

TEST_CASE_TEMPLATE("bp: a batched run has the bits of the sequential run", T, HORNBILL_TEST_CELLS) {
  for (unsigned seed = 1; seed <= 6; ++seed) {
    auto const graph = test::random_graph(seed, {.num_variables = 150,
                                                 .num_factors = 200,
                                                 .largest_body = seed % 2 ? 6 : 90,
                                                 .tables = seed % 3 == 0 ? 0.2 : 0.0,
                                                 .max_states = 3});
    std::vector<Offset> order(graph.num_edges());
    std::iota(order.begin(), order.end(), 0);
    std::mt19937 rng(seed);
    if (seed > 3) std::shuffle(order.begin(), order.end(), rng);
    bp::SeqFix const strategy{order};
    Solver<T> batched(graph, strategy, {}, {.execution = bp::Execution::batched});
    Solver<T> sequential(graph, strategy, {}, {.execution = bp::Execution::sequential});
    for (int round = 0; round < 3; ++round) {
      batched.iterate(3);
      sequential.iterate(3);
      test::check_identical(batched.messages(), sequential.messages(),
                            fmt::format("messages, seed {}, round {}", seed, round));
      test::check_identical(batched.marginals(), sequential.marginals(),
                            fmt::format("marginals, seed {}, round {}", seed, round));
    }
  }
}

TEST_CASE_TEMPLATE("bp: large batches, run by launches, have the bits of the sequential run", T, HORNBILL_TEST_CELLS) {
  // Two layers of priors under many disjunctions: a few batches of thousands of edges.
  FactorGraphBuilder builder(6000);
  for (Index v = 0; v < 5000; ++v) builder.add_prior(v, 0.001 + 0.0001 * v);
  for (Index v = 5000; v < 6000; ++v) {
    std::vector<Index> body;
    for (Index i = 0; i < 5; ++i) body.push_back((v - 5000 + 1000 * i) % 5000);
    if (v == 5999)
      for (Index i = 100; i < 900; ++i) body.push_back(i);  // a wide one among them
    builder.add_disjunction(v, body, 0.99, 0.01);
  }
  auto const graph = std::move(builder).build();
  HostEvidence const evidence{Observation::hard(5000, 1), Observation::hard(5999, 0)};
  Solver<T> batched(graph, bp::SeqFix{}, evidence, {.execution = bp::Execution::batched});
  Solver<T> sequential(graph, bp::SeqFix{}, evidence, {.execution = bp::Execution::sequential});
  REQUIRE(batched.plan.statistics.largest > 2048);
  batched.iterate(4);
  sequential.iterate(4);
  test::check_identical(batched.messages(), sequential.messages(), "messages");
}

namespace {

/// One disjunction (variable 2n) of n priors, and n conjunctions on one hub (variable 2n + 1), 40 of them observed.
struct Hub {
  HostFactorGraph graph;
  HostEvidence evidence;
  explicit Hub(Index n) {
    FactorGraphBuilder builder(2 * n + 2);
    std::vector<Index> body(n);
    std::iota(body.begin(), body.end(), 0);
    builder.add_disjunction(2 * n, body);
    for (Index v = 0; v < n; ++v) builder.add_prior(v, 0.5);
    builder.add_prior(2 * n + 1, 0.999);
    for (Index v = n; v < 2 * n; ++v) builder.add_conjunction(v, std::vector<Index>{2 * n + 1}, 0.9, 0.05);
    graph = std::move(builder).build();
    for (Index v = n; v < n + 40; ++v) evidence.push_back(Observation::hard(v, v < n + 18));
  }
};

}  // namespace

TEST_CASE_TEMPLATE("bp: a hub of 10^5 neighbours and a disjunction of 10^5 premises, without losing the finite", T,
                   HORNBILL_TEST_CELLS) {
  Index const n = 100000;
  Hub const hub(n);
  Solver<T> solver(hub.graph, bp::Parall{}, hub.evidence);
  CHECK(solver.run({.max_iterations = 20, .tolerance = 1e-6}).stop == bp::Stop::converged);
  Offset const wide = 0;  // edge of the wide disjunction's head; its log-odds are log(2^n - 1)
  CHECK(solver.messages()[wide] == doctest::Approx(n * std::log(2.0)).epsilon(1e-5));
  // 18 true and 22 false observations: log-odds of the hub by hand
  double const log_odds = std::log(0.999 / 0.001) + 18 * std::log(0.9 / 0.05) + 22 * std::log(0.1 / 0.95);
  CHECK(solver.marginals()[2 * n + 1] == doctest::Approx(1 / (1 + std::exp(-log_odds))).epsilon(1e-4));
}

TEST_CASE_TEMPLATE("bp: hubs and wide disjunctions follow the oracle", T, HORNBILL_TEST_CELLS) {
  for (Index n : {64, 65, 300, 1500, 5000}) {
    Hub const hub(n);
    reference::BeliefPropagation oracle(hub.graph, hub.evidence);
    oracle.run_parall(2);
    Solver<T> solver(hub.graph, bp::Parall{}, hub.evidence);
    solver.iterate(2);
    test::check_close(solver.marginals(), test::p_true(oracle.marginals()), tolerance<typename T::Value>(),
                      fmt::format("n = {}", n));
  }
}

namespace {

/// Conjunctions and disjunctions of as many edges as make a chunk, a block of chunks, one more or one less; over shared
/// premises.
HostFactorGraph graph_of_all_widths() {
  Index const degrees[] = {1, 2, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025, 1500}, premises = 1600;
  FactorGraphBuilder builder(premises + 2 * static_cast<Index>(std::size(degrees)));
  Index head = premises;
  for (Index degree : degrees)
    for (bool disjunction : {false, true}) {
      std::vector<Index> body;
      for (Index i = 0; i + 1 < degree; ++i) body.push_back((7 * i + 31 * head) % premises);
      std::sort(body.begin(), body.end());
      body.erase(std::unique(body.begin(), body.end()), body.end());
      if (disjunction)
        builder.add_disjunction(head++, body, 0.9, 0.02);
      else
        builder.add_conjunction(head++, body, 0.99, 0.01);
    }
  for (Index v = 0; v < premises; ++v) builder.add_prior(v, v % 3 == 0 ? 0.002 : 0.999);
  return std::move(builder).build();
}

}  // namespace

TEST_CASE_TEMPLATE("bp: factors of all widths follow the oracle, and batches the sequence", T, HORNBILL_TEST_CELLS) {
  auto const graph = graph_of_all_widths();
  HostEvidence const evidence{Observation::hard(1609, 0), Observation::soft(1623, 0.2, 0.9)};
  reference::BeliefPropagation oracle(graph, evidence);
  oracle.run_parall(3);
  Solver<T> parall(graph, bp::Parall{}, evidence);
  parall.iterate(3);
  test::check_close(parall.marginals(), test::p_true(oracle.marginals()), tolerance<typename T::Value>(), "PARALL");

  std::vector<Offset> shuffled(graph.num_edges());
  std::iota(shuffled.begin(), shuffled.end(), 0);
  std::mt19937 rng(1);
  std::shuffle(shuffled.begin() + 4000, shuffled.begin() + 4400, rng);
  for (auto const& strategy : {bp::SeqFix{}, bp::SeqFix{shuffled}}) {
    Solver<T> batched(graph, strategy, evidence, {.execution = bp::Execution::batched});
    Solver<T> sequential(graph, strategy, evidence, {.execution = bp::Execution::sequential});
    batched.iterate(3);
    sequential.iterate(3);
    test::check_identical(batched.messages(), sequential.messages(), "messages");
  }
}

TEST_CASE_TEMPLATE("bp: improbable premises beside certain ones overflow nothing", T, HORNBILL_TEST_CELLS) {
  FactorGraphBuilder builder(41);
  std::vector<Index> body(40);
  std::iota(body.begin(), body.end(), 0);
  builder.add_conjunction(40, body, 0.9, 0.001);
  double const improbable = sizeof(typename T::Value) == 8 ? 1e-10 : 0.04;
  for (Index v = 0; v < 31; ++v) builder.add_prior(v, improbable);
  auto const graph = std::move(builder).build();
  HostEvidence evidence;
  for (Index v = 31; v < 40; ++v) evidence.push_back(Observation::hard(v, 1));
  reference::BeliefPropagation oracle(graph, evidence);
  oracle.run_parall(3);
  Solver<T> solver(graph, bp::Parall{}, evidence);
  solver.iterate(3);
  test::check_close(solver.marginals(), test::p_true(oracle.marginals()), tolerance<typename T::Value>(), "marginals");
}

TEST_CASE_TEMPLATE("bp: what cannot be is reported at the head, whatever the width", T, HORNBILL_TEST_CELLS) {
  for (Index n : {3, 31, 32, 100}) {
    FactorGraphBuilder builder(n + 1);
    std::vector<Index> body(n);
    std::iota(body.begin(), body.end(), 0);
    builder.add_conjunction(n, body, 1, 1);  // the head holds in any case
    for (Index v = 0; v < n; ++v) builder.add_prior(v, 0.3);
    Solver<T> solver(std::move(builder).build(), bp::Parall{}, {Observation::hard(n, 0)});
    CHECK(solver.run().contradiction == n);
  }
}

TEST_CASE_TEMPLATE("bp: one state may run with other evidence, damping, plans and judgements, one after another", T,
                   HORNBILL_TEST_CELLS) {
  auto const graph = test::random_graph(9, {.num_variables = 120, .num_factors = 130, .deterministic = false});
  Solver<T> many(graph, bp::Parall{});
  auto const other_plan = bp::make_plan(many.exec, graph, bp::Parall{});
  bp::Evidence other_evidence(many.exec, graph, many.device);
  other_evidence.clamp(3, 1);
  other_evidence.commit(many.exec);
  auto compare = [&](bool observed, bool second_plan, bp::Options options) {
    options.max_iterations = 40;
    options.tolerance = 0;
    options.warm_start = false;
    Solver<T> fresh(graph, bp::Parall{}, observed ? HostEvidence{Observation::hard(3, 1)} : HostEvidence{});
    auto const expected = fresh.run(options);
    CHECK(expected.iterations == 40);
    auto const report = bp::run(many.exec, many.device, observed ? other_evidence : many.evidence,
                                second_plan ? other_plan : many.plan, many.state, options);
    CHECK(report.residual == expected.residual);
    test::check_identical(many.messages(), fresh.messages(),
                          fmt::format("damping {}, check {}", options.damping, options.check_every));
  };
  compare(false, false, {});
  compare(false, false, {.damping = 0.5});
  compare(true, false, {.damping = 0.5});
  compare(true, true, {.check_every = 20});
  compare(false, true, {.check_every = 1000});
  compare(false, false, {});
}

TEST_CASE_TEMPLATE("bp: a tuple labelled true with many false children neither aborts nor turns to NaN", T,
                   HORNBILL_TEST_CELLS) {
  Index const children = 5000;
  FactorGraphBuilder builder(children + 1);
  builder.add_prior(0, 0.5);
  for (Index v = 1; v <= children; ++v) builder.add_conjunction(v, std::vector<Index>{0}, 0.999);
  auto const graph = std::move(builder).build();
  HostEvidence evidence{Observation::hard(0, 1)};
  for (Index v = 1; v <= children; ++v) evidence.push_back(Observation::hard(v, 0));
  Solver<T> solver(graph, bp::Parall{}, evidence);
  CHECK(solver.run().stop == bp::Stop::converged);
  CHECK(solver.marginals()[0] == 1);
  solver.evidence.release(0);
  solver.evidence.commit(solver.exec);
  CHECK(solver.run().stop == bp::Stop::converged);
  CHECK(solver.marginals()[0] < 1e-30);
  // the log-odds of the tuple stay finite and right: 5000 log(0.001)
  auto const to_prior = bp::variable_messages(solver.exec, solver.device, solver.evidence, solver.state)[0];
  CHECK(to_prior == doctest::Approx(children * std::log(0.001)).epsilon(1e-5));
}

TEST_CASE_TEMPLATE("bp: a certain head with a tiny parameter: improbable stays improbable", T, HORNBILL_TEST_CELLS) {
  for (double tiny : {1e-12, 1e-30, 1e-40}) {
    FactorGraphBuilder conjunction(3), disjunction(3);
    conjunction.add_prior(0, 0.5).add_prior(1, 0.5).add_conjunction(2, std::vector<Index>{0, 1}, 0.999, tiny);
    disjunction.add_prior(0, 0.5).add_prior(1, 0.5).add_disjunction(2, std::vector<Index>{0, 1}, 0.5, tiny);
    for (auto* builder : {&conjunction, &disjunction}) {
      auto const graph = std::move(*builder).build();
      HostEvidence const evidence{Observation::hard(2, 1)};
      Solver<T> solver(graph, bp::Parall{}, evidence);
      solver.iterate(3);
      test::check_close(solver.marginals(), test::p_true(reference::enumerate_marginals(graph, evidence)),
                        test::rounding_tolerance<typename T::Value>(4), fmt::format("p2 = {}", tiny));
    }
  }
}

TEST_CASE_TEMPLATE("bp: contradictory evidence is reported by variable", T, HORNBILL_TEST_CELLS) {
  FactorGraphBuilder builder(4);
  builder.add_prior(0, 0.5)
      .add_prior(1, 0.5)
      .add_conjunction(2, std::vector<Index>{0, 1}, 0.9)
      .add_disjunction(3, std::vector<Index>{2});
  auto const graph = std::move(builder).build();
  for (auto strategy : {bp::Strategy(bp::Parall{}), bp::Strategy(bp::SeqFix{}), bp::Strategy(bp::Topo{})}) {
    Solver<T> solver(graph, strategy, {Observation::hard(3, 1), Observation::hard(0, 0)});
    auto const report = solver.run();
    CHECK(report.stop == bp::Stop::contradiction);
    CHECK(report.contradiction >= 0);
    CHECK(report.contradiction <= 3);
    solver.evidence.release(0);  // the same state goes on once the evidence is mended
    solver.evidence.commit(solver.exec);
    CHECK(solver.run().stop == bp::Stop::converged);
    auto const exact = test::p_true(reference::enumerate_marginals(graph, {Observation::hard(3, 1)}));
    test::check_close(solver.marginals(), exact, 1e-6, "after mending");
  }
  FactorGraphBuilder one(1);
  one.add_prior(0, 0);
  Solver<T> zero_prior(std::move(one).build(), bp::Parall{}, {Observation::hard(0, 1)});
  CHECK(zero_prior.run().contradiction == 0);
}

TEST_CASE_TEMPLATE(
    "bp: warm start ends at the marginals of a cold start, after evidence is added, changed and withdrawn", T,
    HORNBILL_TEST_CELLS) {
  // Sparse, so that propagation converges with evidence too; deterministic rows, so that evidence makes messages
  // certain.
  auto const graph = test::random_graph(21, {.num_variables = 300, .num_factors = 240, .largest_body = 3});
  bp::Options const options{.max_iterations = 2000, .tolerance = sizeof(typename T::Value) == 8 ? 1e-12 : 1e-6};
  Solver<T> warm(graph, bp::SeqFix{});
  CHECK(warm.run(options).stop == bp::Stop::converged);
  HostEvidence const labels{Observation::hard(3, 0), Observation::hard(50, 0), Observation::hard(111, 0),
                            Observation::hard(200, 0)};
  HostEvidence current;
  auto compare = [&](std::string const& what) {
    warm.evidence.commit(warm.exec);
    auto const report = warm.run(options);
    Solver<T> cold(graph, bp::SeqFix{}, current);
    CHECK(cold.run(options).stop == bp::Stop::converged);
    CHECK(report.stop == bp::Stop::converged);
    test::check_close(warm.marginals(), cold.marginals(), sizeof(typename T::Value) == 8 ? 1e-9 : 1e-3, what);
  };
  for (auto const& label : labels) {
    warm.evidence.observe(label);
    current.push_back(label);
  }
  compare("added");
  warm.evidence.release(labels[0].variable);
  current.erase(current.begin());
  compare("withdrawn");
  warm.evidence.soften(labels[1].variable, 0.5, 0.6);
  current[0] = Observation::soft(labels[1].variable, 0.5, 0.6);
  compare("made soft");
  warm.evidence.release_all();
  current.clear();
  compare("all withdrawn");
}

TEST_CASE_TEMPLATE("bp: damping keeps the fixed point; relabelling variables permutes marginals", T,
                   HORNBILL_TEST_CELLS) {
  auto const graph = test::random_graph(3, {.num_variables = 80, .num_factors = 70, .deterministic = false});
  bp::Options options{.max_iterations = 3000, .tolerance = sizeof(typename T::Value) == 8 ? 1e-13 : 1e-6};
  Solver<T> plain(graph, bp::Parall{}), damped(graph, bp::Parall{});
  REQUIRE(plain.run(options).stop == bp::Stop::converged);
  options.damping = 0.4;
  REQUIRE(damped.run(options).stop == bp::Stop::converged);
  test::check_close(damped.marginals(), plain.marginals(), sizeof(typename T::Value) == 8 ? 1e-11 : 1e-4, "damped");

  auto relabelled = graph;
  for (Index& v : relabelled.factor_variables) v = graph.num_variables - 1 - v;
  Solver<T> other(relabelled, bp::Parall{});
  options.damping = 0;
  other.run(options);
  auto marginals = other.marginals();
  std::reverse(marginals.begin(), marginals.end());
  test::check_identical(marginals, plain.marginals(), "relabelled");
}

TEST_CASE_TEMPLATE("bp: with damping the residual is that of undamped steps", T, HORNBILL_TEST_CELLS) {
  FactorGraphBuilder builder(2);
  builder.add_prior(0, 0.75).add_conjunction(1, std::vector<Index>{0}, 0.9, 0.1);
  Solver<T> solver(std::move(builder).build(), bp::Parall{});
  auto const report = solver.run({.max_iterations = 1, .tolerance = 0.2, .damping = 0.999});
  CHECK(report.stop == bp::Stop::iteration_limit);
  CHECK(report.residual == doctest::Approx(std::log(3) / 4).epsilon(1e-2));  // d/dl of 1/(1 + exp(-l)) at 0 is 1/4
  CHECK(std::abs(solver.marginals()[0] - 0.5) < 1e-3);
}

TEST_CASE_TEMPLATE("bp: acceleration has the same bits however a schedule is run", T, HORNBILL_TEST_CELLS) {
  for (unsigned seed = 1; seed <= 3; ++seed) {
    auto const graph =
        test::random_graph(seed, {.num_variables = 120, .largest_body = 70, .tables = 0.2, .max_states = 3});
    Solver<T> batched(graph, bp::SeqFix{}, {}, {bp::Execution::batched}),
        sequential(graph, bp::SeqFix{}, {}, {bp::Execution::sequential});
    bp::Options const options{
        .max_iterations = 40, .tolerance = 1e-30, .acceleration = {.after = 3, .cycle = 7, .window = 5}};
    auto const report = batched.run(options);
    CHECK(report.residual == sequential.run(options).residual);
    test::check_identical(batched.messages(), sequential.messages(), fmt::format("seed {}", seed));
  }
}

namespace {

/// The affine combination of messages[1], messages[2], ... whose change is smallest: gamma solves (U^T U) y = 1, gamma
/// = y / sum(y).
std::vector<double> extrapolated(std::vector<std::vector<double>> const& messages, std::vector<double> const& weights) {
  std::size_t const n = messages.size() - 1;
  std::vector<std::vector<long double>> a(n, std::vector<long double>(n + 1, 1));
  auto change = [&](std::size_t i, std::size_t e) {
    return static_cast<long double>(messages[i + 1][e] - messages[i][e]) * weights[e];
  };
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t j = 0; j < n; ++j) {
      a[i][j] = 0;
      for (std::size_t e = 0; e < weights.size(); ++e) a[i][j] += change(i, e) * change(j, e);
    }
  for (std::size_t k = 0; k < n; ++k)  // Gauss and Jordan
    for (std::size_t i = 0; i < n; ++i) {
      if (i == k) continue;
      long double const factor = a[i][k] / a[k][k];
      for (std::size_t j = 0; j <= n; ++j) a[i][j] -= factor * a[k][j];
    }
  long double total = 0;
  for (std::size_t i = 0; i < n; ++i) total += a[i][n] / a[i][i];
  std::vector<double> result(weights.size(), 0);
  for (std::size_t i = 0; i < n; ++i)
    for (std::size_t e = 0; e < weights.size(); ++e)
      result[e] += static_cast<double>(a[i][n] / a[i][i] / total) * messages[i + 1][e];
  return result;
}

}  // namespace

TEST_CASE_TEMPLATE("bp: acceleration extrapolates from the last messages of a cycle", T, HORNBILL_DOUBLE_CELLS) {
  auto const graph = test::random_graph(3, {.num_variables = 300, .num_factors = 280, .deterministic = false});
  for (bp::Strategy const& strategy : {bp::Strategy(bp::SeqFix{}), bp::Strategy(bp::Parall{})}) {
    bool const in_turn = std::holds_alternative<bp::SeqFix>(strategy);
    Solver<T> accelerated(graph, strategy), damped(graph, strategy);
    accelerated.run({.max_iterations = 7,
                     .tolerance = 1e-30,
                     .acceleration = {.after = 2, .cycle = 5, .window = 3},
                     .check_every = 1});
    damped.iterate(2);
    bp::Options const one{.max_iterations = 1, .tolerance = 0, .damping = in_turn ? 0.3 : 0.5};
    for (int i = 0; i < 2; ++i) damped.run(one);
    std::vector<double> weights;
    auto const p_true = damped.marginals();
    for (Index v : graph.factor_variables) weights.push_back(std::max(1e-6, p_true[v] * (1 - p_true[v])));
    std::vector<std::vector<double>> messages{damped.messages()};
    for (int i = 0; i < 3; ++i) {
      damped.run(one);
      messages.push_back(damped.messages());
    }
    auto const expected = extrapolated(messages, weights), actual = accelerated.messages();
    double moved = 0, apart = 0;
    for (std::size_t e = 0; e < expected.size(); ++e) {
      moved = std::max(moved, std::abs(expected[e] - messages.back()[e]));
      apart = std::max(apart, std::abs(actual[e] - expected[e]));
    }
    CHECK(moved > 1e-4);
    CHECK(apart < 1e-3 * moved);  // changes are kept in float
  }
}

TEST_CASE_TEMPLATE("bp: acceleration damps more where a run does not come nearer", T, HORNBILL_TEST_CELLS) {
  Solver<T> solver(test::random_graph(3), bp::SeqFix{});
  std::vector<double> shares;  // in turn
  for (int cycles = 0; cycles < 40; ++cycles) {
    solver.run({.max_iterations = 2 * cycles,
                .tolerance = 1e-300,
                .acceleration = {.after = 0, .damping = 0.5, .cycle = 2, .window = 2, .patience = 2},
                .warm_start = false});
    auto const controls = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), solver.state.controls);
    if (controls(0).stopped) break;
    double const share = 1 - static_cast<double>(controls(0).damping);
    if (cycles > 0 && (shares.empty() || shares.back() != share)) shares.push_back(share);
  }
  REQUIRE(!shares.empty());
  CHECK(shares[0] == 0.5);
  for (std::size_t i = 1; i < shares.size(); ++i)
    CHECK(shares[i] == doctest::Approx(0.7 * shares[i - 1] < 0.1 ? 0.5 : 0.7 * shares[i - 1]).epsilon(1e-5));
}

TEST_CASE_TEMPLATE("bp: SEQRND is SEQFIX in one order after another", T, HORNBILL_TEST_CELLS) {
  auto const graph = test::random_graph(5, {.num_variables = 120, .largest_body = 70, .tables = 0.2, .max_states = 3});
  Solver<T> one_by_one(graph, bp::SeqFix{});
  for (int i = 0; i < 4; ++i) {
    one_by_one.plan = bp::make_plan(one_by_one.exec, graph, bp::SeqFix{bp::random_order(graph, {.seed = 3}, i)},
                                    {bp::Execution::sequential});
    one_by_one.iterate(1);
  }
  for (auto execution : {bp::Execution::batched, bp::Execution::sequential}) {
    Solver<T> random(graph, bp::SeqRnd{.seed = 3}, {}, {execution});
    CHECK(random.iterate(4).iterations == 4);
    test::check_identical(random.messages(), one_by_one.messages(), "messages");
  }
}

TEST_CASE_TEMPLATE("bp: RESIDUAL with all messages is PARALL", T, HORNBILL_TEST_CELLS) {
  auto const graph = test::random_graph(6, {.num_variables = 120, .largest_body = 70, .tables = 0.2, .max_states = 3});
  Solver<T> parall(graph, bp::Parall{});
  parall.iterate(5);
  for (bool randomised : {false, true}) {
    Solver<T> residual(graph, bp::Residual{.share = 1, .randomised = randomised});
    residual.iterate(5);
    test::check_identical(residual.messages(), parall.messages(), randomised ? "randomised" : "by residual");
  }
}

TEST_CASE_TEMPLATE("bp: RESIDUAL updates the messages that would change most, and ends where others do", T,
                   HORNBILL_TEST_CELLS) {
  auto const graph = generate({.num_variables = 3000, .num_edges = 9000}).graph;
  auto probability = [](double l) { return 1 / (1 + std::exp(-l)); };
  Solver<T> residual(graph, bp::Residual{.share = 0.1}), candidates(graph, bp::Parall{});
  residual.iterate(3);
  auto const before = residual.messages();
  bp::set_factor_messages(candidates.exec, candidates.device, before, candidates.state);
  candidates.iterate(1);
  residual.iterate(1);
  auto const all = candidates.messages(), after = residual.messages();
  double min_updated = 1, max_left = 0;
  std::size_t unsettled = 0, updated = 0;
  for (std::size_t e = 0; e < before.size(); ++e) {
    if (before[e] == all[e]) continue;
    ++unsettled;
    double const change = std::abs(probability(all[e]) - probability(before[e]));
    if (after[e] == all[e]) {
      ++updated;
      min_updated = std::min(min_updated, change);
    } else {
      CHECK(after[e] == before[e]);
      max_left = std::max(max_left, change);
    }
  }
  CHECK(updated >= unsettled / 10);
  CHECK(updated < unsettled);
  CHECK(max_left < 1.001 * min_updated);  // residuals are kept in float

  double const tolerance = sizeof(typename T::Value) == 8 ? 1e-9 : 1e-6;
  Solver<T> seqfix(graph, bp::SeqFix{}), random(graph, bp::Residual{.share = 0.5, .randomised = true});
  REQUIRE(seqfix.run({.tolerance = tolerance}).stop == bp::Stop::converged);
  REQUIRE(residual.run({.tolerance = tolerance}).stop == bp::Stop::converged);
  REQUIRE(random.run({.tolerance = tolerance}).stop == bp::Stop::converged);
  test::check_close(residual.marginals(), seqfix.marginals(), 100 * tolerance, "residual");
  test::check_close(random.marginals(), seqfix.marginals(), 100 * tolerance, "random");
}

TEST_CASE_TEMPLATE("bp: RESIDUAL does not starve messages near certainty", T, HORNBILL_TEST_CELLS) {
  // A disjunction of 1,000 probable premises against 220 false conclusions: log-odds of hundreds on either side, whose
  // probabilities do not change. Slow rings beside it keep the share of the round for themselves.
  Index const premises = 1000, children = 220, rings = 30, length = 20;
  FactorGraphBuilder builder(1 + premises + children + rings * length);
  HostEvidence observed;
  std::vector<Index> body;
  for (Index i = 0; i < premises; ++i) {
    builder.add_prior(1 + i, 0.9);
    body.push_back(1 + i);
  }
  builder.add_disjunction(0, body);
  for (Index i = 0; i < children; ++i) {
    builder.add_conjunction(1 + premises + i, std::vector<Index>{0}, 0.9);
    observed.push_back(Observation::hard(1 + premises + i, 0));
  }
  for (Index r = 0; r < rings; ++r)
    for (Index i = 0; i < length; ++i) {
      Index const first = 1 + premises + children + r * length;
      builder.add_conjunction(first + (i + 1) % length, std::vector<Index>{first + i}, 0.99, 0.02);
    }
  auto const graph = std::move(builder).build();
  Solver<T> residual(graph, bp::Residual{}, observed), seqfix(graph, bp::SeqFix{}, observed);
  REQUIRE(seqfix.run().stop == bp::Stop::converged);
  REQUIRE(residual.run().stop == bp::Stop::converged);
  test::check_close(residual.marginals(), seqfix.marginals(), 1e-3, "marginals");
}

TEST_CASE_TEMPLATE("bp: a cold run of random schedules repeats the first", T, HORNBILL_TEST_CELLS) {
  auto const graph = test::random_graph(6);
  for (auto const name : {"residual_random", "seqrnd"}) {
    Solver<T> solver(graph, *bp::strategy_named(name));
    solver.iterate(5);
    auto const first = solver.messages();
    solver.iterate(3);
    CHECK(solver.messages() != first);
    solver.run({.max_iterations = 5, .tolerance = 0, .warm_start = false});
    test::check_identical(solver.messages(), first, name);
  }
}

TEST_CASE_TEMPLATE("bp: a warm run of random orders begins with the order after the last that counted", T,
                   HORNBILL_TEST_CELLS) {
  auto const graph = test::random_graph(6);
  Solver<T> to_rest(graph, bp::SeqRnd{.seed = 3}), counted(graph, bp::SeqRnd{.seed = 3});
  // launches more iterations than it takes
  auto const report = to_rest.run({.tolerance = 1e-2, .acceleration = {.after = -1}});
  REQUIRE(report.stop == bp::Stop::converged);
  counted.iterate(report.iterations);
  test::check_identical(to_rest.messages(), counted.messages(), "messages at rest");
  to_rest.iterate(1);
  counted.iterate(1);
  test::check_identical(to_rest.messages(), counted.messages(), "messages after one more");
}

TEST_CASE_TEMPLATE("bp: limits and options", T, HORNBILL_TEST_CELLS) {
  auto const graph = test::random_graph(4);
  Solver<T> solver(graph, bp::Parall{});
  auto report = solver.run({.max_iterations = 3, .tolerance = 0});
  CHECK(report.iterations == 3);
  CHECK(report.stop == bp::Stop::iteration_limit);
  CHECK(solver.run({.max_iterations = 1000000, .tolerance = 0, .time_limit = 0.0}).stop == bp::Stop::time_limit);
  int looks = 0;
  solver.run({.max_iterations = 10, .tolerance = 0, .check_every = 5, .progress = [&](int, double) { ++looks; }});
  CHECK(looks == 2);
  CHECK_THROWS_AS(solver.run({.tolerance = -1}), InputError);
  CHECK_THROWS_AS(solver.run({.tolerance = std::nan("")}), InputError);
  CHECK_THROWS_AS(solver.run({.damping = 1}), InputError);
  CHECK_THROWS_AS(solver.run({.acceleration = {.after = -2}}), InputError);
  CHECK_THROWS_AS(solver.run({.acceleration = {.damping = 1}}), InputError);
  CHECK_THROWS_AS(solver.run({.acceleration = {.window = 33}}), InputError);
  CHECK_THROWS_AS(solver.run({.acceleration = {.cycle = 10, .window = 11}}), InputError);
  CHECK_THROWS_AS(solver.run({.acceleration = {.patience = 0}}), InputError);
  CHECK_THROWS_AS(solver.evidence.clamp(100000, 1), InputError);
  CHECK_THROWS_AS(solver.evidence.clamp(0, 2), InputError);
  CHECK_THROWS_AS(solver.evidence.clamp(0, -1), InputError);
  CHECK_THROWS_AS(solver.evidence.soften(0, 0, 0), InputError);
  CHECK_THROWS_AS(solver.evidence.soften(0, -1, 2), InputError);
  CHECK_THROWS_AS(solver.evidence.soften(0, {1, 2, 3}), InputError);
  CHECK_THROWS_AS(solver.evidence.soften(0, {}), InputError);
  CHECK_THROWS_AS(solver.evidence.soften(0, std::numeric_limits<double>::infinity(), 1), InputError);
  CHECK_THROWS_AS(bp::set_factor_messages(solver.exec, solver.device, {1.0}, solver.state), ShapeError);
}

TEST_CASE_TEMPLATE("bp: an empty graph, a graph without factors, and messages to start from", T, HORNBILL_TEST_CELLS) {
  Solver<T> nothing(HostFactorGraph{}, bp::SeqFix{});
  CHECK(nothing.run().stop == bp::Stop::converged);
  CHECK(nothing.marginals().empty());
  Solver<T> alone(FactorGraphBuilder(2).build(), bp::Parall{}, {Observation::soft(1, 1, 3)});
  alone.run();
  test::check_close(alone.marginals(), {0.5, 0.75}, 1e-6, "marginals");

  auto const graph = test::random_graph(6, {.num_factors = 30, .deterministic = false});
  Solver<T> first(graph, bp::SeqFix{}), second(graph, bp::SeqFix{});
  first.iterate(6);
  bp::set_factor_messages(second.exec, second.device, first.messages(), second.state);
  first.iterate(2);
  second.iterate(2);
  test::check_identical(second.messages(), first.messages(), "messages");
}

TEST_CASE_TEMPLATE(
    "bp: stored messages of a run with hard evidence lead on with that evidence, and are doubted without it", T,
    HORNBILL_TEST_CELLS) {
  // The tuples 0 and 1 support each other: once one is known, both stay certain unless that is forgotten.
  auto const graph = std::move(FactorGraphBuilder(3)
                                   .add_conjunction(1, std::vector<Index>{0})
                                   .add_conjunction(0, std::vector<Index>{1})
                                   .add_conjunction(2, std::vector<Index>{1}, 0.9, 0.2))
                         .build();
  HostEvidence const label{Observation::hard(0, 1)};
  Solver<T> first(graph, bp::SeqFix{}, label), same(graph, bp::SeqFix{}, label), without(graph, bp::SeqFix{}),
      unsure(graph, bp::SeqFix{});
  REQUIRE(first.run().stop == bp::Stop::converged);
  bp::set_factor_messages(same.exec, same.device, {first.messages()}, same.evidence, same.state);
  CHECK(same.run({.check_every = 1}).iterations == 1);
  test::check_identical(same.messages(), first.messages(), "the same evidence");
  bp::set_factor_messages(without.exec, without.device, first.messages(), without.state);
  without.run();
  test::check_close(without.marginals(), {0.5, 0.5, 0.55}, 1e-6, "no evidence");
  bp::set_factor_messages(unsure.exec, unsure.device, {first.messages()}, unsure.evidence, unsure.state);
  unsure.run();
  test::check_close(unsure.marginals(), {1, 1, 0.9}, 1e-6, "wrongly trusted");
}

TEST_CASE_TEMPLATE("bp: stored messages of variables of many states lead on", T, HORNBILL_TEST_CELLS) {
  auto const graph = test::random_graph(9, {.num_factors = 60, .deterministic = false, .tables = 0.8, .max_states = 5});
  Solver<T> first(graph, bp::SeqFix{}), second(graph, bp::SeqFix{});
  REQUIRE(graph.num_messages() > graph.num_edges());
  first.iterate(5);
  REQUIRE(first.messages().size() == static_cast<std::size_t>(graph.num_messages()));
  bp::set_factor_messages(second.exec, second.device, first.messages(), second.state);
  first.iterate(2);
  second.iterate(2);
  test::check_identical(second.messages(), first.messages(), "messages");
}
