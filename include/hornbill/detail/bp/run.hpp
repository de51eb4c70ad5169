// run(): iterations, looks at the residual, and reasons to stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <hornbill/bp/run.hpp>
#include <hornbill/detail/bp/batch_kernels.hpp>
#include <hornbill/detail/copy.hpp>

namespace hornbill::detail {

template <class Value, class MemorySpace>
Fields<Value, MemorySpace> fields_of(FactorGraph<Value, MemorySpace> const& graph,
                                     Kokkos::View<Accumulator<Value> const*, MemorySpace> const& evidence,
                                     bp::State<Value, MemorySpace> const& s, double damping = 0) {
  return {graph, evidence, s.messages, s.sums, s.beliefs, s.pending, s.nodes, s.part_sums, s.weights, s.table_sums, s.contradiction,
          static_cast<Value>(damping)};
}

inline void validate(bp::Options const& options) {
  if (options.max_iterations < 0) throw InputError("max_iterations is " + std::to_string(options.max_iterations) + "; 0 or more are needed");
  auto require = [](bool ok, char const* message) {
    if (!ok) throw InputError(message);
  };
  require(std::isgreaterequal(options.tolerance, 0), "the tolerance must be a number of at least 0");
  require(std::isgreaterequal(options.damping, 0) && std::isless(options.damping, 1), "damping must be in [0, 1)");
  require(std::isgreaterequal(options.time_limit, 0), "the time limit must be a number of at least 0 seconds");
}

/// Beliefs from sums; the largest change goes to entry `at` of `residuals`.
template <class ExecutionSpace, class Value, class MemorySpace>
void form_beliefs(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& f, Kokkos::View<Value*, MemorySpace> const& residuals,
                  int at) {
  Kokkos::View<Value, MemorySpace> const residual = Kokkos::subview(residuals, at);
  Kokkos::parallel_reduce("hornbill::bp::beliefs", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(exec, 0, f.num_variables()),
                          Beliefs<Value, MemorySpace>{f}, Kokkos::Max<Value, MemorySpace>(residual));
}

/// Prepares messages, sums and beliefs for a run.
template <class ExecutionSpace, class Value, class MemorySpace>
void start(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& f, bp::Plan<MemorySpace> const& plan,
           bp::State<Value, MemorySpace>& state, bool warm, int withdrawals) {
  Kokkos::Profiling::ScopedRegion region("hornbill::bp::start");
  if (!warm)
    Kokkos::deep_copy(exec, state.messages, Value(0));
  else if (state.withdrawals != withdrawals || state.evidence.data() != f.evidence.data())
    Kokkos::parallel_for("hornbill::bp::forget_certainty",
                         Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(exec, 0, static_cast<Index>(state.messages.extent(0))),
                         ForgetCertainty<Value, MemorySpace>{state.messages});
  state.withdrawals = withdrawals;
  state.evidence = f.evidence;  // kept alive, so that no other evidence can have its address
  Kokkos::deep_copy(exec, state.contradiction, std::numeric_limits<Index>::max());
  form_sums(exec, f, plan);
  form_beliefs(exec, f, state.residuals, 0);
}

template <class ExecutionSpace, class Value, class MemorySpace>
void iterate(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& f, bp::Plan<MemorySpace> const& plan) {
  using bp::Mode;
  switch (plan.mode) {
    case Mode::simultaneous:
      launch_batch<Write::replace>(exec, f, plan, 0);
      form_sums(exec, f, plan);
      break;
    case Mode::batched: run_batches(exec, f, plan); break;
    case Mode::sequential: run_sequence(exec, f, plan); break;
  }
}

/// What the host sees when it looks.
struct Look {
  double residual = 0;
  bool converged = false;
  Index contradiction = -1;
};

template <class ExecutionSpace, class Value, class MemorySpace>
Look look(ExecutionSpace const& exec, bp::State<Value, MemorySpace> const& state, int window, double tolerance) {
  Value residual = 0;
  Index contradiction = 0;
  if (window > 0) Kokkos::deep_copy(exec, residual, Kokkos::subview(state.residuals, window - 1));
  Kokkos::deep_copy(exec, contradiction, state.contradiction);
  exec.fence("hornbill: the host looks at the residual");
  return {static_cast<double>(residual), window > 0 && static_cast<double>(residual) < tolerance,
          contradiction == std::numeric_limits<Index>::max() ? -1 : contradiction};
}

}  // namespace hornbill::detail

namespace hornbill::bp {

template <class ExecutionSpace, class Value, class MemorySpace>
Report run(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph, Evidence<Value, MemorySpace> const& evidence,
           Plan<MemorySpace> const& plan, State<Value, MemorySpace>& state, Options const& options) {
  Kokkos::Profiling::ScopedRegion region("hornbill::bp::run");
  detail::validate(options);
  auto const begin = std::chrono::steady_clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  auto const fields = detail::fields_of(graph, evidence.terms(), state, options.damping);
  int const check_every = options.check_every > 0 ? options.check_every : backend::TuningOf<ExecutionSpace>::value.check_every;

  detail::start(exec, fields, plan, state, options.warm_start && !state.cold, evidence.withdrawals());
  Report report;
  auto now = detail::look(exec, state, 0, options.tolerance);
  while (now.contradiction < 0 && !now.converged && report.iterations < options.max_iterations && seconds() < options.time_limit) {
    int const window = std::min({check_every, residual_window, options.max_iterations - report.iterations});
    for (int i = 0; i < window; ++i) {
      detail::iterate(exec, fields, plan);
      if (i + 2 >= window) detail::form_beliefs(exec, fields, state.residuals, i);  // the last one's change needs the one before
    }
    report.iterations += window;
    now = detail::look(exec, state, window, options.tolerance);
    if (options.progress) options.progress(report.iterations, now.residual);
  }
  report.residual = std::max(0.0, now.residual);  // -infinity where there are no variables
  report.contradiction = now.contradiction;
  report.stop = now.contradiction >= 0                            ? Stop::contradiction
                : now.converged                                   ? Stop::converged
                : report.iterations >= options.max_iterations     ? Stop::iteration_limit
                                                                  : Stop::time_limit;
  state.cold = report.stop == Stop::contradiction;
  report.elapsed_seconds = seconds();
  return report;
}

template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> marginals(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                              State<Value, MemorySpace> const& state) {
  auto const beliefs = detail::to_vector(exec, state.beliefs);
  return {beliefs.begin(), beliefs.begin() + graph.num_variables()};
}

template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> state_marginals(ExecutionSpace const& exec, HostFactorGraph const& host,
                                    FactorGraph<Value, MemorySpace> const& graph, State<Value, MemorySpace> const& state) {
  auto const beliefs = detail::to_vector(exec, state.beliefs);
  std::vector<double> result;
  for (Index v = 0, slot = graph.num_variables(); v < host.num_variables; ++v) {
    if (host.states(v) == 2) {
      result.insert(result.end(), {1 - static_cast<double>(beliefs[v]), static_cast<double>(beliefs[v])});
    } else {
      for (Index s = 0; s < host.states(v); ++s) result.push_back(beliefs[slot++]);
    }
  }
  return result;
}

template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> factor_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                                    State<Value, MemorySpace> const& state) {
  auto const messages = detail::to_vector(exec, state.messages);
  return {messages.begin(), messages.begin() + graph.num_edges()};
}

template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> variable_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                                      Evidence<Value, MemorySpace> const& evidence, State<Value, MemorySpace> const& state) {
  std::vector<Index> edges(graph.num_edges());
  for (std::size_t e = 0; e < edges.size(); ++e) edges[e] = static_cast<Index>(e);
  Kokkos::View<Value*, MemorySpace> out(Kokkos::view_alloc(exec, "hornbill::bp::variable_messages"), edges.size());
  detail::VariableToFactor<Value, MemorySpace> kernel{detail::fields_of(graph, evidence.terms(), state),
                                                      detail::to_view<Index, MemorySpace>(exec, "hornbill::bp::edges", edges), out};
  Kokkos::parallel_for("hornbill::bp::variable_to_factor",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(exec, 0, graph.num_edges()), kernel);
  auto const messages = detail::to_vector(exec, out);
  return {messages.begin(), messages.end()};
}

template <class ExecutionSpace, class Value, class MemorySpace>
void set_factor_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph, std::vector<double> const& log_odds,
                         State<Value, MemorySpace>& state) {
  if (log_odds.size() != static_cast<std::size_t>(graph.num_edges()))
    throw ShapeError("messages to start from", graph.num_edges(), log_odds.size());
  auto mirror = Kokkos::create_mirror_view(state.messages);
  Kokkos::deep_copy(mirror, Value(0));
  for (std::size_t e = 0; e < log_odds.size(); ++e) {
    if (std::isnan(log_odds[e])) throw InputError("the message of edge " + std::to_string(e) + " to start from is NaN");
    mirror(e) = detail::limit_to_grid(static_cast<Value>(log_odds[e]));
  }
  Kokkos::deep_copy(exec, state.messages, mirror);
  exec.fence("hornbill: copy from a temporary host array");
  state.cold = false;
  state.evidence = {};  // certainty among them may follow from other evidence
}

}  // namespace hornbill::bp
