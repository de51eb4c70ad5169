// A graph, its evidence and a plan on one backend, as tests use them together.
#pragma once

#include <vector>

#include <hornbill/hornbill.hpp>

namespace hornbill::test {

template <class Cell>
class Solver {
 public:
  using Exec = typename Cell::Exec;
  using Value = typename Cell::Value;
  using Memory = typename Cell::Memory;

  Solver(HostFactorGraph const& graph, bp::Strategy const& strategy, HostEvidence const& observed = {},
         bp::PlanOptions options = {})
      : host(graph),
        device(bp::to_device<Value>(exec, graph)),
        evidence(exec, graph, device),
        plan(bp::make_plan(exec, graph, strategy, options)),
        state(bp::make_state(exec, device, plan)) {
    evidence.observe(observed);
    evidence.commit(exec);
  }
  bp::Report run(bp::Options options = {}) { return bp::run(exec, device, evidence, plan, state, options); }
  /// Exactly n further iterations.
  bp::Report iterate(int n) { return run({.max_iterations = n, .tolerance = 0}); }
  std::vector<double> marginals() { return bp::marginals(exec, device, state); }
  std::vector<double> messages() { return bp::factor_messages(exec, device, state); }

  HostFactorGraph host;
  Exec exec;
  bp::FactorGraph<Value, Memory> device;
  bp::Evidence<Value, Memory> evidence;
  bp::Plan<Memory> plan;
  bp::State<Value, Memory> state;
};

}  // namespace hornbill::test
