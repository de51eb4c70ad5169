// The memory that is promised before any work is the memory that is taken.
#include <string>
#include <string_view>

#include "support/allocations.hpp"
#include "support/cells.hpp"
#include "support/random_graphs.hpp"
#include "support/solver.hpp"

using namespace hornbill;

TEST_CASE_TEMPLATE("memory: what bytes_needed() promises covers what is allocated, and not several times", T,
                   HORNBILL_TEST_CELLS) {
  auto const derivations = generate({.num_variables = 20000, .num_edges = 70000}).graph;
  auto const tables =
      test::random_graph(3, {.num_variables = 3000, .num_factors = 4000, .tables = 0.5, .max_states = 4});
  FactorGraphBuilder builder(20000);  // a chain: a batch a factor
  builder.add_prior(0, 0.7);
  for (Index v = 1; v < 20000; ++v) builder.add_conjunction(v, std::vector<Index>{v - 1}, 0.9, 0.1);
  auto const chain = std::move(builder).build();
  for (auto const* graph : {&derivations, &tables, &chain})
    for (auto const name : {"parall", "seqfix", "seqrnd", "seqmax", "residual"}) {
      // one thread of a GPU would take minutes
      if (std::string_view(name) == "seqmax" && backend::TuningOf<typename T::Exec>::value.bp.lanes) continue;
      bp::Strategy const strategy = *bp::strategy_named(name);
      bool const simultaneous = bp::make_batches(*graph, strategy).updates != bp::Updates::in_turn;
      bp::PlanOptions const options{.execution = simultaneous ? bp::Execution::automatic : bp::Execution::batched};
      auto const host_plan = bp::lay_out<typename T::Exec>(*graph, bp::make_batches(*graph, strategy), options);
      auto const promised = static_cast<double>(bp::bytes_needed<typename T::Value>(*graph, host_plan));
      INFO(std::string(name));
      test::check_promise<typename T::Memory>(promised, [&] {
        test::Solver<T> solver(*graph, strategy, {}, options);
        solver.run({.max_iterations = 2, .tolerance = 1e-30, .acceleration = {.after = 1}});
      });
    }
}

TEST_CASE_TEMPLATE("memory: the same of several evidence sets", T, HORNBILL_TEST_CELLS) {
  using Value = typename T::Value;
  typename T::Exec exec;
  bp::PlanOptions const options{.sets = 7};
  for (Index variables : {300, 20000}) {  // fewer than threads that form beliefs, and more
    auto const graph = generate({.num_variables = variables, .num_edges = 4 * variables}).graph;
    auto const host_plan = bp::lay_out<typename T::Exec>(graph, bp::make_batches(graph, bp::Parall{}), options);
    test::check_promise<typename T::Memory>(static_cast<double>(bp::bytes_needed<Value>(graph, host_plan)), [&] {
      auto const device = bp::to_device<Value>(exec, graph);
      bp::EvidenceSets<Value, typename T::Memory> const evidence(exec, graph, device, std::vector<HostEvidence>(7));
      auto const plan = bp::make_plan(exec, graph, bp::Parall{}, options);
      auto state = bp::make_state(exec, device, plan);
      bp::run(exec, device, evidence, plan, state,
              {.max_iterations = 2, .tolerance = 1e-30, .acceleration = {.after = 1}});
    });
  }
}
