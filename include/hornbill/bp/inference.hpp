/// \file
/// Belief propagation on one graph with changing evidence, behind one interface whatever the backend and the numbers.
#pragma once

#include <memory>
#include <vector>

#include <hornbill/backend/instantiate.hpp>
#include <hornbill/bp/movement.hpp>
#include <hornbill/bp/run.hpp>

namespace hornbill::bp::detail {

/// \throws InputError naming a factor whose probability may not replace the one before: see
/// bp::Inference::set_probabilities()
void require_like_probabilities(std::vector<double> const& before, std::vector<double> const& after);

}  // namespace hornbill::bp::detail

namespace hornbill::bp {

/// A graph, its evidence and the state of its runs. For what asks again and again, such as rankings; bp::run is what it
/// calls.
class Inference {
 public:
  virtual ~Inference() = default;
  /// Adds an observation, for the next run; an earlier one on the variable no longer counts.   \throws InputError
  virtual void observe(Observation const& observation) = 0;
  /// Withdraws what was observed of a variable, for the next run.   \throws InputError for an unknown one
  virtual void release(Index variable) = 0;
  /// As bp::run does: from the last run's messages, unless the options say otherwise.
  virtual Report run(Options const& options) = 0;
  /// Takes p1 and p2 from a graph that is otherwise the same, for the next run, which may start warm.
  /// \throws InputError where a parameter that was 0 or 1 is not now, or the other way round, or one is below 2^-40 (or
  /// above 1 - 2^-40) that was not: what is certain, and the plan, follow from these
  virtual void set_probabilities(HostFactorGraph const& graph) = 0;
  /// P(variable = 1), from the last run.   \shape [V]
  virtual std::vector<double> marginals() const = 0;
  /// log(P(variable = 1) / P(variable = 0)), from the last run; as bp::log_odds has them.   \shape [V]
  virtual std::vector<double> log_odds() const = 0;
  /// Factor-to-variable messages as log-odds, from the last run; as bp::factor_messages has them.
  virtual std::vector<double> factor_messages() const = 0;
  /// Variable-to-factor messages as log-odds, from the last run; as bp::variable_messages has them.
  virtual std::vector<double> variable_messages() const = 0;
  /// How far the messages have moved since the last call, or since they were uniform: see bp::movement.
  virtual Movement movement(double tolerance) = 0;
};

/// The interface on a backend, with numbers of one type.
template <class ExecutionSpace, class Value>
class InferenceOn final : public Inference {
 public:
  using MemorySpace = typename ExecutionSpace::memory_space;

  InferenceOn(ExecutionSpace const& exec, HostFactorGraph const& host, HostPlan const& plan)
      : exec_(exec),
        graph_(to_device<Value>(exec, host)),
        evidence_(exec, host, graph_),
        plan_(make_plan(exec, plan)),
        state_(make_state(exec, graph_, plan_)),
        parameters_(parameters_of(host)),
        p1_(host.p1),
        p2_(host.p2) {
    graph_.parameters = parameters_;
  }

  void observe(Observation const& observation) override { evidence_.observe(observation); }
  void release(Index variable) override { evidence_.release(variable); }
  Report run(Options const& options) override {
    evidence_.commit(exec_);
    if (!options.warm_start) look_ = {};
    return bp::run(exec_, graph_, evidence_, plan_, state_, options);
  }
  void set_probabilities(HostFactorGraph const& graph) override {
    detail::require_like_probabilities(p1_, graph.p1);
    detail::require_like_probabilities(p2_, graph.p2);
    Kokkos::deep_copy(exec_, parameters_, parameters_of(graph));
    exec_.fence("hornbill: copy from a temporary");
    p1_ = graph.p1;
    p2_ = graph.p2;
  }
  std::vector<double> marginals() const override { return bp::marginals(exec_, graph_, state_); }
  std::vector<double> log_odds() const override { return bp::log_odds(exec_, graph_, state_); }
  std::vector<double> factor_messages() const override { return bp::factor_messages(exec_, graph_, state_); }
  std::vector<double> variable_messages() const override {
    return bp::variable_messages(exec_, graph_, evidence_, state_);
  }
  Movement movement(double tolerance) override {
    return bp::movement(exec_, graph_, evidence_, state_, tolerance, look_);
  }

 private:
  using Parameters = Kokkos::View<detail::HornParameters<Value>*, MemorySpace>;
  Parameters parameters_of(HostFactorGraph const& graph) const {
    return hornbill::detail::to_view<detail::HornParameters<Value>, MemorySpace>(
        exec_, "hornbill::inference::parameters", detail::horn_parameters<Value>(graph));
  }

  ExecutionSpace exec_;
  FactorGraph<Value, MemorySpace> graph_;
  Evidence<Value, MemorySpace> evidence_;
  Plan<MemorySpace> plan_;
  State<Value, MemorySpace> state_;
  Look<Value, MemorySpace> look_;
  Parameters parameters_;  ///< those of graph_, which other graphs cannot share since they change
  std::vector<double> p1_, p2_;
};

}  // namespace hornbill::bp

/// What backends/instantiate/bp.cpp compiles of this.
#define HORNBILL_INSTANTIATE_BP_INFERENCE(PREFIX, SPACE, VALUE) PREFIX template class InferenceOn<SPACE, VALUE>;

namespace hornbill::bp {
HORNBILL_EXTERN(HORNBILL_FOR_REALS, HORNBILL_INSTANTIATE_BP_INFERENCE)
}  // namespace hornbill::bp
