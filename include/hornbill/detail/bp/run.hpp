// run(): iterations, looks at the residual, and reasons to stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <hornbill/bp/run.hpp>
#include <hornbill/detail/bp/batch_kernels.hpp>
#include <hornbill/detail/bp/extrapolation_kernels.hpp>
#include <hornbill/detail/bp/launcher.hpp>
#include <hornbill/detail/bp/selection.hpp>
#include <hornbill/detail/copy.hpp>

namespace hornbill::detail {

/// Between two looks of the host: work for at least so long, of at most so many submissions.
inline constexpr double shortest_look = 2e-3;  ///< \units seconds
inline constexpr int most_submitted = 64;
/// Iterations of one recording: its nodes take memory.
inline constexpr int most_recorded = 64;

template <class Value, class MemorySpace>
Fields<Value, MemorySpace> fields_of(FactorGraph<Value, MemorySpace> const& graph,
                                     Kokkos::View<Accumulator<Value> const*, MemorySpace> const& evidence,
                                     bp::State<Value, MemorySpace> const& s) {
  return {graph, evidence, s.messages, s.sums, s.beliefs, s.pending, s.nodes, s.part_sums, s.weights, s.table_sums, s.control};
}

inline void validate(bp::Options const& options) {
  auto const& a = options.acceleration;
  if (options.max_iterations < 0) throw InputError("max_iterations is " + std::to_string(options.max_iterations) + "; 0 or more are needed");
  auto require = [](bool ok, char const* message) {
    if (!ok) throw InputError(message);
  };
  require(std::isgreaterequal(options.tolerance, 0), "the tolerance must be a number of at least 0");
  require(std::isgreaterequal(options.damping, 0) && std::isless(options.damping, 1), "damping must be in [0, 1)");
  auto is_damping = [](double d) { return std::isgreaterequal(d, 0) && std::isless(d, 1); };
  require(a.after >= -1, "acceleration sets in after a number of iterations, or -1 for never");
  require(is_damping(a.damping) && is_damping(a.simultaneous_damping), "the damping of acceleration must be in [0, 1)");
  require(a.window >= 2 && a.window <= 32 && a.window <= a.cycle && a.cycle <= 1000, "acceleration needs a window of 2 to 32 iterations, in a cycle of at least as many and at most 1,000");
  require(a.patience >= 1, "the patience of acceleration is at least one cycle");
  require(std::isgreaterequal(options.time_limit, 0), "the time limit must be a number of at least 0 seconds");
}

/// Largest residual of any message, by warps where lanes are used.
template <class Value, class MemorySpace>
struct LargestResidual {
  Kokkos::View<float const*, MemorySpace> residuals;
  Kokkos::View<Value*, MemorySpace> largest;  // of each warp

  KOKKOS_FUNCTION void operator()(Index i, Value& most) const { most = Kokkos::fmax(most, static_cast<Value>(residuals(i))); }
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    Index const warp = static_cast<Index>(member.league_rank()) * member.team_size() + member.team_rank();
    Index const step = static_cast<Index>(member.league_size()) * member.team_size() * bp::warp_size;
    for_each_lane(member, [&](int id) {
      Value most = 0;
      for (Offset i = warp * bp::warp_size + id; i < static_cast<Offset>(residuals.extent(0)); i += step) most = Kokkos::fmax(most, static_cast<Value>(residuals(i)));
      for (int distance = bp::warp_size / 2; distance > 0; distance /= 2) most = Kokkos::fmax(most, from_lane_beside(most, distance));
      if (id == 0) largest(warp) = most;
    });
  }
};

/// RESIDUAL leaves most messages as they are: what they would change by counts too. Second half of largest_changes.
template <class Launcher, class Value, class MemorySpace>
void look_at_residuals(Launcher& launcher, Kokkos::View<float*, MemorySpace> const& residuals, Kokkos::View<Value*, MemorySpace> const& largest_changes) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  auto const half = largest_changes.extent(0) / 2;
  Kokkos::View<Value*, MemorySpace> const largest = Kokkos::subview(largest_changes, Kokkos::pair<std::size_t, std::size_t>(half, 2 * half));
  LargestResidual<Value, MemorySpace> const kernel{residuals, largest};
  auto const messages = static_cast<Index>(residuals.extent(0));
  if constexpr (tuning.lanes) {
    constexpr int warps = tuning.team_size / bp::warp_size;
    Index const teams = std::min<Index>((messages + tuning.team_size - 1) / tuning.team_size, static_cast<Index>(half) / warps);
    launcher.parallel_for("hornbill::bp::residuals", BoundedTeams<ExecutionSpace, tuning.team_size>(launcher.exec, teams, warps, bp::warp_size), kernel);
  } else {
    Kokkos::View<Value, MemorySpace> const one = Kokkos::subview(largest, 0);
    launcher.parallel_reduce("hornbill::bp::residuals", Range<ExecutionSpace>(launcher.exec, 0, messages), kernel, Kokkos::Max<Value, MemorySpace>(one));
  }
}

/// What the largest change of the last iteration means, by one team; `iterations` have been run since it was last called.
template <class Value, class MemorySpace>
struct Judge {
  Kokkos::View<Control<Value>, MemorySpace> control;
  Kokkos::View<Value*, MemorySpace> largest_changes;
  int iterations;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    Value largest = 0;
    auto const entries = static_cast<Index>(largest_changes.extent(0));  // of beliefs, which took damped steps; then of messages
    Value const scale = 1 / (1 - control().damping);
    Kokkos::parallel_reduce(Kokkos::TeamThreadRange(member, entries),
                            [&](Index i, Value& l) { l = Kokkos::fmax(l, (2 * i < entries ? scale : Value(1)) * largest_changes(i)); },
                            Kokkos::Max<Value>(largest));
    Kokkos::single(Kokkos::PerTeam(member), [&] { judge(largest); });
  }

 private:
  KOKKOS_FUNCTION void judge(Value largest) const {
    Control<Value>& c = control();
    if (c.stopped) return;
    c.iterations += iterations;
    if (iterations > 0) c.residual = Kokkos::fmax(Value(0), largest);  // -infinity where there are no variables
    bool const contradicted = c.contradiction != Kokkos::Experimental::finite_max_v<Index>;
    c.stopped = contradicted || (iterations > 0 && static_cast<double>(c.residual) < c.tolerance);
  }
};

template <class Launcher, class Value, class MemorySpace>
void judge(Launcher& launcher, bp::State<Value, MemorySpace> const& state, int iterations) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  constexpr int size = backend::TuningOf<ExecutionSpace>::value.stretch_team_size;
  launcher.parallel_for("hornbill::bp::judge", BoundedTeams<ExecutionSpace, size>(launcher.exec, 1, size),
                        Judge<Value, MemorySpace>{state.control, state.largest_changes, iterations});
}

/// Prepares messages, sums and beliefs for a run.
template <class ExecutionSpace, class Value, class MemorySpace>
void start(ExecutionSpace const& exec, Fields<Value, MemorySpace> const& f, bp::Plan<MemorySpace> const& plan,
           bp::State<Value, MemorySpace>& state, bool warm, int withdrawals, bp::Options const& options) {
  Kokkos::Profiling::ScopedRegion region("hornbill::bp::start");
  if (!warm)
    Kokkos::deep_copy(exec, state.messages, Value(0));
  else if (state.withdrawals != withdrawals || state.evidence.data() != f.evidence.data())
    Kokkos::parallel_for("hornbill::bp::forget_certainty", Range<ExecutionSpace>(exec, 0, static_cast<Index>(state.messages.extent(0))),
                         ForgetCertainty<Value, MemorySpace>{state.messages});
  state.withdrawals = withdrawals;
  state.evidence = f.evidence;  // kept alive, so that no other evidence can have its address
  if (!warm) {
    state.accelerated = false;
    state.orders_run = 0;
    if (state.selection.is_allocated()) Kokkos::deep_copy(exec, state.selection, Selection{});
  }
  Control<Value> control;
  control.tolerance = options.tolerance;
  control.damping = static_cast<Value>(options.damping);
  Kokkos::deep_copy(exec, state.control, control);
  Immediate<ExecutionSpace> launcher{exec};
  form_sums(launcher, f, plan);
  form_beliefs(launcher, f, state.largest_changes);
  judge(launcher, state, 0);
}

template <class Launcher, class Value, class MemorySpace>
void iterate(Launcher& launcher, Fields<Value, MemorySpace> const& f, bp::Plan<MemorySpace> const& plan, bp::State<Value, MemorySpace> const& state) {
  using bp::Mode;
  switch (plan.mode) {
    case Mode::simultaneous:
      launch_batch<Write::replace>(launcher, f, plan, 0);
      form_sums(launcher, f, plan);
      break;
    case Mode::selected:
      launch_batch<Write::stage>(launcher, undamped(f), plan, 0);
      commit_selected(launcher, f, state, plan.selection);
      form_sums(launcher, f, plan);
      break;
    case Mode::batched: run_batches(launcher, f, plan); break;
    case Mode::sequential: run_sequence(launcher, f, plan); break;
  }
}

/// Iterations of which the last is judged. `each(i)` launches iteration i.
template <class Launcher, class Value, class MemorySpace, class Each>
void iterate_and_judge(Launcher& launcher, Fields<Value, MemorySpace> const& f, bp::Plan<MemorySpace> const& plan,
                       bp::State<Value, MemorySpace> const& state, int iterations, Each const& each) {
  for (int i = 0; i < iterations; ++i) {
    each(i);
    if (i + 2 >= iterations) form_beliefs(launcher, f, state.largest_changes);  // a change needs the belief before
  }
  if (plan.mode == bp::Mode::selected) look_at_residuals(launcher, state.residuals, state.largest_changes);
  judge(launcher, state, iterations);
}

/// The same within a cycle of acceleration, from iteration `position` of it on.
template <class Launcher, class Value, class MemorySpace, class Each>
void accelerate(Launcher& launcher, Fields<Value, MemorySpace> const& f, bp::Plan<MemorySpace> const& plan, bp::State<Value, MemorySpace> const& state,
                bp::Acceleration const& a, int position, int iterations, Each const& each) {
  int const plain = a.cycle - a.window;
  iterate_and_judge(launcher, f, plan, state, iterations, [&](int i) {
    if (position + i == plain) begin_window(launcher, f, state.extrapolation);
    each(i);
    if (position + i >= plain) keep_changes(launcher, f, state.extrapolation, position + i - plain);
  });
  if (position + iterations < a.cycle) return;
  extrapolate(launcher, f, state.extrapolation, a);
  form_sums(launcher, f, plan);
  form_beliefs(launcher, f, state.largest_changes);
}

/// A run: what is iterated, and how far it has come.
template <class ExecutionSpace, class Value, class MemorySpace>
struct Runner {
  ExecutionSpace const& exec;
  Fields<Value, MemorySpace> f;
  bp::Plan<MemorySpace> const& plan;
  bp::State<Value, MemorySpace>& state;
  bp::Acceleration acceleration;
  int check_every;
  bool accelerates = false;
  int position = 0;  // in the cycle

  /// At most `left` iterations, at least one; several looks' worth, `times`, where the backend records.
  void advance(int left, int times) {
    int const most = accelerates ? acceleration.cycle : check_every;
    if (backend::TuningOf<ExecutionSpace>::value.record && !plan.of_iteration && position == 0 && left >= most)
      return submit(std::min(times, left / most));
    if (!accelerates) times = std::min(times, std::max(1, left / check_every));
    else times = 1;
    for (int i = 0; i < times; ++i) {
      Immediate<ExecutionSpace> launcher{exec};
      run_some(launcher, std::min(left, check_every), [&](int) { iterate_once(launcher); });
    }
  }

 private:
  /// Iterations up to the next judgement, which is also at the end of a cycle.
  template <class Launcher, class Each>
  void run_some(Launcher& launcher, int most, Each const& each) {
    if (!accelerates) return iterate_and_judge(launcher, f, plan, state, most, each);
    int const iterations = std::min(most, acceleration.cycle - position);
    accelerate(launcher, f, plan, state, acceleration, position, iterations, each);
    position = (position + iterations) % acceleration.cycle;
  }

  /// One iteration; of a series of orders, each with a plan of its own.
  void iterate_once(Immediate<ExecutionSpace>& launcher) {
    int const order = plan.of_iteration ? state.orders_run++ : 0;
    if (order == 0) return iterate(launcher, f, plan, state);
    auto const next = bp::make_plan(exec, plan.of_iteration(order));
    iterate(launcher, f, next, state);
    exec.fence("hornbill: kernels of a plan that is freed");
  }

  /// A recording of check_every iterations or of a whole cycle, again and again.
  void submit(int times) {
    if constexpr (backend::TuningOf<ExecutionSpace>::value.record) {
      using Graph = Kokkos::Experimental::Graph<ExecutionSpace>;
      auto& recording = state.recordings[accelerates];
      RecordingKey const key{f.graph.factor_variables.data(), f.evidence.data(), plan.id.get(), check_every, accelerates ? acceleration : bp::Acceleration{.after = -1}};
      if (!recording.graph || !(recording.key == key)) {
        Graph graph = recorded(exec, [&](auto recorder) {
          do run_some(recorder, check_every, [&](int) { iterate(recorder, f, plan, state); });
          while (position > 0);
        });
        recording = {std::make_shared<Graph>(std::move(graph)), plan.id, key};
      }
      for (int i = 0; i < times; ++i) static_cast<Graph const*>(recording.graph.get())->submit(exec);
    }
  }
};

/// From here on with acceleration; a warm run begins with the damping that the one before it has come to.
template <class ExecutionSpace, class Value, class MemorySpace>
void begin_acceleration(ExecutionSpace const& exec, Runner<ExecutionSpace, Value, MemorySpace>& runner, Control<Value> now) {
  auto& state = runner.state;
  auto const& a = runner.acceleration;
  make_once(exec, state.extrapolation, state.messages.extent(0), a.window);
  bool const in_turn = runner.plan.mode == bp::Mode::batched || runner.plan.mode == bp::Mode::sequential;
  if (!std::exchange(state.accelerated, true)) state.damping = in_turn ? a.damping : a.simultaneous_damping;
  now.damping = static_cast<Value>(state.damping);
  Kokkos::deep_copy(exec, state.control, now);
  runner.accelerates = true;
}

/// How the run stands. Waits for `exec`.
template <class ExecutionSpace, class Value, class MemorySpace>
Control<Value> look(ExecutionSpace const& exec, bp::State<Value, MemorySpace> const& state) {
  Control<Value> control;
  Kokkos::deep_copy(exec, control, state.control);
  exec.fence("hornbill: the host looks at the residual");
  return control;
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
  auto const fields = detail::fields_of(graph, evidence.terms(), state);
  detail::start(exec, fields, plan, state, options.warm_start && !state.cold, evidence.withdrawals(), options);
  auto now = detail::look(exec, state);

  int const wanted = options.check_every > 0 ? options.check_every : backend::TuningOf<ExecutionSpace>::value.check_every;
  detail::Runner<ExecutionSpace, Value, MemorySpace> runner{exec, fields, plan, state, options.acceleration, std::min(wanted, detail::most_recorded)};
  int times = 1;  // judgements, or cycles, between two looks; grows while looks cost more than they tell
  bool const may_accelerate = options.acceleration.after >= 0 && options.damping == 0 && options.tolerance > 0;
  int limit = may_accelerate ? std::min(state.accelerated ? 0 : options.acceleration.after, options.max_iterations) : options.max_iterations;
  while (!now.stopped && now.iterations < options.max_iterations && seconds() < options.time_limit) {
    if (now.iterations == limit) {
      detail::begin_acceleration(exec, runner, now);
      limit = options.max_iterations;
    }
    double const before = seconds();
    runner.advance(limit - now.iterations, times);
    now = detail::look(exec, state);
    if (seconds() - before < detail::shortest_look) times = std::min(2 * times, detail::most_submitted);
    if (options.progress) options.progress(now.iterations, static_cast<double>(now.residual));
  }
  if (runner.accelerates) state.damping = static_cast<double>(now.damping);
  Report report;
  report.iterations = now.iterations;
  report.residual = now.iterations > 0 ? static_cast<double>(now.residual) : std::numeric_limits<double>::infinity();
  bool const contradicted = now.contradiction != std::numeric_limits<Index>::max();
  if (contradicted) report.contradiction = now.contradiction;
  report.stop = contradicted                                ? Stop::contradiction
                : now.stopped                               ? Stop::converged
                : now.iterations >= options.max_iterations  ? Stop::iteration_limit
                                                            : Stop::time_limit;
  state.cold = contradicted;
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
