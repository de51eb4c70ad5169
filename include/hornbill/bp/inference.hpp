/// \file
/// Belief propagation on one graph with changing evidence, behind one interface whatever the backend and the numbers.
#pragma once

#include <memory>
#include <vector>

#include <hornbill/bp/run.hpp>

namespace hornbill::bp {

/// A graph, its evidence and the state of its runs. For what asks again and again, such as rankings; bp::run is what it calls.
class Inference {
 public:
  virtual ~Inference() = default;
  /// Adds an observation, for the next run; an earlier one on the variable no longer counts.   \throws InputError
  virtual void observe(Observation const& observation) = 0;
  /// Withdraws what was observed of a variable, for the next run.   \throws InputError for an unknown one
  virtual void release(Index variable) = 0;
  /// As bp::run does: from the last run's messages, unless the options say otherwise.
  virtual Report run(Options const& options) = 0;
  /// P(variable = 1), from the last run.   \shape [V]
  virtual std::vector<double> marginals() const = 0;
  /// Variable-to-factor messages as log-odds, from the last run.   \shape [E]
  virtual std::vector<double> variable_messages() const = 0;
};

/// The interface on a backend, with numbers of one type.
template <class ExecutionSpace, class Value>
class InferenceOn final : public Inference {
 public:
  using MemorySpace = typename ExecutionSpace::memory_space;

  InferenceOn(ExecutionSpace const& exec, HostFactorGraph const& host, HostPlan const& plan)
      : exec_(exec), graph_(to_device<Value>(exec, host)), evidence_(exec, host, graph_), plan_(make_plan(exec, plan)), state_(make_state(exec, graph_, plan_)) {}

  void observe(Observation const& observation) override { evidence_.observe(observation); }
  void release(Index variable) override { evidence_.release(variable); }
  Report run(Options const& options) override {
    evidence_.commit(exec_);
    return bp::run(exec_, graph_, evidence_, plan_, state_, options);
  }
  std::vector<double> marginals() const override { return bp::marginals(exec_, graph_, state_); }
  std::vector<double> variable_messages() const override { return bp::variable_messages(exec_, graph_, evidence_, state_); }

 private:
  ExecutionSpace exec_;
  FactorGraph<Value, MemorySpace> graph_;
  Evidence<Value, MemorySpace> evidence_;
  Plan<MemorySpace> plan_;
  State<Value, MemorySpace> state_;
};

}  // namespace hornbill::bp
