// run(): iterations, looks at the residual, and reasons to stop.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <hornbill/backend/instantiate.hpp>
#include <hornbill/bp/detail/batch_kernels.hpp>
#include <hornbill/bp/detail/extrapolation_kernels.hpp>
#include <hornbill/bp/detail/largest_first.hpp>
#include <hornbill/bp/detail/launcher.hpp>
#include <hornbill/bp/detail/local_update.hpp>
#include <hornbill/bp/detail/selection.hpp>
#include <hornbill/bp/run.hpp>
#include <hornbill/detail/copy.hpp>

namespace hornbill::bp::detail {

/// Between two looks of the host: work for at least so long, of at most so many submissions.
inline constexpr double shortest_look = 2e-3;  ///< \units seconds
inline constexpr int max_submitted = 64;
/// Iterations of one recording: its nodes take memory.
inline constexpr int max_recorded = 64;

template <class Value, class MemorySpace>
Fields<Value, MemorySpace> fields_of(FactorGraph<Value, MemorySpace> const& graph,
                                     Kokkos::View<Accumulator<Value> const*, MemorySpace> const& evidence,
                                     bp::State<Value, MemorySpace> const& s) {
  return {{},        graph,   evidence,    s.messages, s.sums,       s.beliefs,
          s.pending, s.nodes, s.part_sums, s.weights,  s.table_sums, s.controls};
}

/// What a run is told of its evidence.
template <class Value, class MemorySpace>
struct Observed {
  Kokkos::View<Accumulator<Value> const*, MemorySpace> terms;
  int withdrawals = 0;
  std::size_t revision = 0;
  // variables since the state's last run, where they are known
  std::optional<std::vector<Index>> changed = std::nullopt;
};

template <class F>
using ObservedBy = Observed<typename F::Value, typename F::MemorySpace>;

template <class Value, class MemorySpace>
Observed<Value, MemorySpace> observed(Evidence<Value, MemorySpace> const& evidence,
                                      bp::State<Value, MemorySpace> const& state) {
  return {evidence.terms(), evidence.withdrawals(), evidence.revision(), evidence.changes_since(state.revision)};
}
template <class Value, class MemorySpace>
Observed<Value, MemorySpace> observed(EvidenceSets<Value, MemorySpace> const& evidence,
                                      bp::State<Value, MemorySpace> const&) {
  return {evidence.terms()};
}

inline void validate(bp::Options const& options) {
  auto const& a = options.acceleration;
  if (options.max_iterations < 0)
    throw InputError("max_iterations is " + std::to_string(options.max_iterations) + "; 0 or more are needed");
  auto require = [](bool ok, char const* message) {
    if (!ok) throw InputError(message);
  };
  require(std::isgreaterequal(options.tolerance, 0), "the tolerance must be a number of at least 0");
  require(std::isgreaterequal(options.damping, 0) && std::isless(options.damping, 1), "damping must be in [0, 1)");
  auto is_damping = [](double d) { return std::isgreaterequal(d, 0) && std::isless(d, 1); };
  require(a.after >= -1, "acceleration sets in after a number of iterations, or -1 for never");
  require(is_damping(a.damping) && is_damping(a.simultaneous_damping), "the damping of acceleration must be in [0, 1)");
  require(a.window >= 2 && a.window <= 32 && a.window <= a.cycle && a.cycle <= 1000,
          "acceleration needs a window of 2 to 32 iterations, in a cycle of at least as many and at most 1,000");
  require(a.patience >= 1, "the patience of acceleration is at least one cycle");
  require(std::isgreaterequal(options.time_limit, 0), "the time limit must be a number of at least 0 seconds");
}

/// Largest residual of any message, by warps where lanes are used.
template <class Value, class MemorySpace>
struct LargestResidual {
  Kokkos::View<float const*, MemorySpace> residuals;
  Kokkos::View<Value*, MemorySpace> largest;  // of each warp

  KOKKOS_FUNCTION void operator()(Index i, Value& most) const {
    most = Kokkos::fmax(most, static_cast<Value>(residuals(i)));
  }
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    Index const warp = static_cast<Index>(member.league_rank()) * member.team_size() + member.team_rank();
    Index const step = static_cast<Index>(member.league_size()) * member.team_size() * bp::warp_size;
    for_each_lane(member, [&](int id) {
      Value most = 0;
      for (Offset i = warp * bp::warp_size + id; i < static_cast<Offset>(residuals.extent(0)); i += step)
        most = Kokkos::fmax(most, static_cast<Value>(residuals(i)));
      for (int distance = bp::warp_size / 2; distance > 0; distance /= 2)
        most = Kokkos::fmax(most, from_lane_beside(most, distance));
      if (id == 0) largest(warp) = most;
    });
  }
};

/// RESIDUAL leaves most messages as they are: what they would change by counts too. Second half of largest_changes;
/// returns how many entries.
template <class Launcher, class Value, class MemorySpace>
Index look_at_residuals(Launcher& launcher, Kokkos::View<float*, MemorySpace> const& residuals,
                        Kokkos::View<Value*, MemorySpace> const& largest_changes) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value.bp;
  auto const half = largest_changes.extent(0) / 2;
  Kokkos::View<Value*, MemorySpace> const largest =
      Kokkos::subview(largest_changes, Kokkos::pair<std::size_t, std::size_t>(half, 2 * half));
  LargestResidual<Value, MemorySpace> const kernel{residuals, largest};
  auto const messages = static_cast<Index>(residuals.extent(0));
  if constexpr (tuning.lanes) {
    constexpr int warps = tuning.team_size / bp::warp_size;
    Index const teams =
        std::min<Index>((messages + tuning.team_size - 1) / tuning.team_size, static_cast<Index>(half) / warps);
    launcher.parallel_for("hornbill::bp::residuals",
                          BoundedTeams<ExecutionSpace, tuning.team_size>(launcher.exec, teams, warps, bp::warp_size),
                          kernel);
    return teams * warps;
  } else {
    Kokkos::View<Value, MemorySpace> const one = Kokkos::subview(largest, 0);
    launcher.parallel_reduce("hornbill::bp::residuals", Range<ExecutionSpace>(launcher.exec, 0, messages), kernel,
                             Kokkos::Max<Value, MemorySpace>(one));
    return 1;
  }
}

/// What the largest change of the last iteration means, by one team for each evidence set; `iterations` have been run
/// since it was last called.
template <class Value, class MemorySpace>
struct Judge {
  Kokkos::View<Control<Value>*, MemorySpace> controls;
  Kokkos::View<Value*, MemorySpace> largest_changes;  // of beliefs; of one set, the second half of messages
  Index of_beliefs, of_messages;                      // entries of each set
  int iterations;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const set = static_cast<Index>(member.league_rank());
    Value const damped = largest_of(member, set, 0, of_beliefs);
    Value largest = damped / (1 - controls(set).damping);  // beliefs took damped steps
    if (of_messages > 0)
      largest = Kokkos::fmax(largest,
                             largest_of(member, set, static_cast<Index>(largest_changes.extent(0)) / 2, of_messages));
    Kokkos::single(Kokkos::PerTeam(member), [&] { judge(controls(set), largest); });
  }

 private:
  template <class Member>
  KOKKOS_FUNCTION Value largest_of(Member const& member, Index set, Index first, Index entries) const {
    Value largest = 0;
    auto const sets = static_cast<Index>(member.league_size());
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(member, entries),
        [&](Index i, Value& l) { l = Kokkos::fmax(l, largest_changes(first + Offset{i} * sets + set)); },
        Kokkos::Max<Value>(largest));
    return largest;
  }
  KOKKOS_FUNCTION void judge(Control<Value>& c, Value largest) const {
    if (c.stopped) return;
    c.iterations += iterations;
    if (iterations > 0) c.residual = Kokkos::fmax(Value(0), largest);  // -infinity where there are no variables
    bool const contradicted = c.contradiction != Kokkos::Experimental::finite_max_v<Index>;
    c.stopped = contradicted || (iterations > 0 && static_cast<double>(c.residual) < c.tolerance);
  }
};

/// \param of_beliefs, of_messages  entries of largest_changes
template <class Launcher, class Value, class MemorySpace>
void judge(Launcher& launcher, bp::State<Value, MemorySpace> const& state, Index of_beliefs, Index of_messages,
           int iterations) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  constexpr int size = backend::TuningOf<ExecutionSpace>::value.bp.stretch_team_size;
  launcher.parallel_for(
      "hornbill::bp::judge", BoundedTeams<ExecutionSpace, size>(launcher.exec, state.sets, size),
      Judge<Value, MemorySpace>{state.controls, state.largest_changes, of_beliefs, of_messages, iterations});
}

template <class F>
using PlanOf = bp::Plan<typename F::MemorySpace>;
template <class F>
using StateOf = bp::State<typename F::Value, typename F::MemorySpace>;
/// How each evidence set stands.
template <class F>
using Controls = std::vector<Control<typename F::Value>>;

template <class ExecutionSpace, class F>
void put_controls(ExecutionSpace const& exec, StateOf<F> const& state, Controls<F> const& controls) {
  using Host = Kokkos::View<Control<typename F::Value> const*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged>;
  Kokkos::deep_copy(exec, state.controls, Host(controls.data(), controls.size()));
  exec.fence("hornbill: copy from a temporary host array");
}

/// How the run stands. Waits for `exec`.
template <class ExecutionSpace, class F>
Controls<F> look(ExecutionSpace const& exec, StateOf<F> const& state) {
  Controls<F> controls(state.sets);
  Kokkos::View<Control<typename F::Value>*, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(controls.data(),
                                                                                                   controls.size());
  Kokkos::deep_copy(exec, host, state.controls);
  exec.fence("hornbill: the host looks at the residual");
  return controls;
}

/// Whether what the state's messages say with certainty still follows from the evidence: it is the same, and no hard
/// evidence was withdrawn.
template <class Value, class MemorySpace>
bool extends(Observed<Value, MemorySpace> const& evidence, bp::State<Value, MemorySpace> const& state) {
  return state.withdrawals == evidence.withdrawals && state.evidence.data() == evidence.terms.data();
}

/// Prepares messages, sums and beliefs for a run.
template <class ExecutionSpace, class F>
void start(ExecutionSpace const& exec, F const& f, ObservedBy<F> const& evidence, PlanOf<F> const& plan,
           StateOf<F>& state, bool warm, bp::Options const& options) {
  using Value = typename F::Value;
  Kokkos::Profiling::ScopedRegion region("hornbill::bp::start");
  if (!warm)
    Kokkos::deep_copy(exec, state.messages, Value(0));
  else if (!extends(evidence, state))
    Kokkos::parallel_for("hornbill::bp::forget_certainty",
                         Range<ExecutionSpace>(exec, 0, static_cast<Index>(state.messages.extent(0))),
                         ForgetCertainty<Value, typename F::MemorySpace>{state.messages});
  state.withdrawals = evidence.withdrawals;
  state.evidence = evidence.terms;  // kept alive, so that no other evidence can have its address
  if (!warm) {
    state.accelerated = false;
    state.orders_run = 0;
    if (state.selection.is_allocated()) Kokkos::deep_copy(exec, state.selection, Selection{});
  }
  Control<Value> control;
  control.tolerance = options.tolerance;
  control.damping = static_cast<Value>(options.damping);
  put_controls<ExecutionSpace, F>(exec, state, Controls<F>(state.sets, control));
  Immediate<ExecutionSpace> launcher{exec};
  form_sums(launcher, f, plan);
  judge(launcher, state, form_beliefs(launcher, f, state.largest_changes), 0, 0);
}

template <class Launcher, class F>
void iterate(Launcher& launcher, F const& f, PlanOf<F> const& plan, StateOf<F> const& state) {
  using bp::Mode;
  switch (plan.mode) {
    case Mode::simultaneous:
      launch_batch<Write::replace>(launcher, f, plan, 0);
      form_sums(launcher, f, plan);
      break;
    case Mode::selected:
      if constexpr (!F::many) {
        launch_batch<Write::stage>(launcher, undamped(f), plan, 0);
        commit_selected(launcher, f, state, plan.selection);
        form_sums(launcher, f, plan);
      }
      break;
    case Mode::largest_first:
      if constexpr (!F::many) run_largest_first(launcher, f, *plan.by_factor, state.priorities, state.largest_changes);
      break;
    case Mode::batched: run_batches(launcher, f, plan); break;
    case Mode::sequential: run_sequence(launcher, f, plan); break;
  }
}

/// Iterations of which the last is judged. `each(i)` launches iteration i.
template <class Launcher, class F, class Each>
void iterate_and_judge(Launcher& launcher, F const& f, PlanOf<F> const& plan, StateOf<F> const& state, int iterations,
                       Each const& each) {
  Index of_beliefs = 0, of_messages = 0;
  for (int i = 0; i < iterations; ++i) {
    each(i);
    // a change needs the belief before
    if (i + 2 >= iterations) of_beliefs = form_beliefs(launcher, f, state.largest_changes);
  }
  if (plan.mode == bp::Mode::selected)
    of_messages = look_at_residuals(launcher, state.residuals, state.largest_changes);
  if (plan.mode == bp::Mode::largest_first) of_messages = 1;
  judge(launcher, state, of_beliefs, of_messages, iterations);
}

template <class MemorySpace>
double first_damping(bp::Plan<MemorySpace> const& plan, bp::Acceleration const& a) {
  return plan.mode == bp::Mode::simultaneous || plan.mode == bp::Mode::selected ? a.simultaneous_damping : a.damping;
}

/// The same within a cycle of acceleration, from iteration `position` of it on.
template <class Launcher, class F, class Each>
void accelerate(Launcher& launcher, F const& f, PlanOf<F> const& plan, StateOf<F> const& state,
                bp::Acceleration const& a, int position, int iterations, Each const& each) {
  int const plain = a.cycle - a.window;
  iterate_and_judge(launcher, f, plan, state, iterations, [&](int i) {
    if (position + i == plain) begin_window(launcher, f, state.extrapolation);
    each(i);
    if (position + i >= plain) keep_changes(launcher, f, state.extrapolation, position + i - plain);
  });
  if (position + iterations < a.cycle) return;
  extrapolate(launcher, f, state.extrapolation, a, first_damping(plan, a));
  form_sums(launcher, f, plan);
  form_beliefs(launcher, f, state.largest_changes);
}

/// A run: what is iterated, and how far it has come.
template <class ExecutionSpace, class F>
struct Runner {
  ExecutionSpace const& exec;
  F f;
  PlanOf<F> const& plan;
  StateOf<F>& state;
  bp::Acceleration acceleration;
  int check_every;
  bool accelerates = false;
  int position = 0;  // in the cycle

  /// From here on with acceleration.
  void begin_acceleration(Controls<F> controls) {
    make_once(exec, state.extrapolation, f.graph.num_messages(), acceleration.window, state.sets);
    for (auto& control : controls) control.damping = static_cast<typename F::Value>(first_damping(plan, acceleration));
    put_controls<ExecutionSpace, F>(exec, state, controls);
    accelerates = state.accelerated = true;
  }

  /// At most `left` iterations, at least one; several looks' worth, `times`, while nothing needs the host.
  void advance(int left, int times) {
    int const most = accelerates ? acceleration.cycle : check_every;
    if (backend::TuningOf<ExecutionSpace>::value.bp.record && !plan.of_iteration && position == 0 && left >= most)
      return submit(std::min(times, left / most));
    for (int i = 0; i < times && left > 0; ++i) {
      Immediate<ExecutionSpace> launcher{exec};
      left -= run_some(launcher, std::min(left, check_every), [&](int) { iterate_once(launcher); });
    }
  }

 private:
  /// Iterations up to the next judgement, which is also at the end of a cycle; returns how many.
  template <class Launcher, class Each>
  int run_some(Launcher& launcher, int most, Each const& each) {
    int const iterations = accelerates ? std::min(most, acceleration.cycle - position) : most;
    if (!accelerates) {
      iterate_and_judge(launcher, f, plan, state, iterations, each);
    } else {
      accelerate(launcher, f, plan, state, acceleration, position, iterations, each);
      position = (position + iterations) % acceleration.cycle;
    }
    return iterations;
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
    if constexpr (backend::TuningOf<ExecutionSpace>::value.bp.record) {
      using Graph = Kokkos::Experimental::Graph<ExecutionSpace>;
      auto& recording = state.recordings[accelerates];
      RecordingKey const key{f.graph.factor_variables.data(),
                             f.graph.parameters.data(),
                             state.evidence.data(),
                             plan.id.get(),
                             check_every,
                             accelerates ? acceleration : bp::Acceleration{.after = -1}};
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

/// What a set's last control says of its run.
template <class Value>
bp::Report report_of(Control<Value> const& now, bp::Options const& options, double seconds) {
  using bp::Stop;
  bool const contradicted = now.contradiction != std::numeric_limits<Index>::max();
  bp::Report report;
  report.iterations = now.iterations;
  report.residual = now.iterations > 0 ? static_cast<double>(now.residual) : std::numeric_limits<double>::infinity();
  if (contradicted) report.contradiction = now.contradiction;
  report.stop = contradicted                               ? Stop::contradiction
                : now.stopped                              ? Stop::converged
                : now.iterations >= options.max_iterations ? Stop::iteration_limit
                                                           : Stop::time_limit;
  report.elapsed_seconds = seconds;
  return report;
}

/// Local update of what the evidence has changed since the state's last run, where that is known and wanted; none where
/// it is not.
template <class ExecutionSpace, class F>
std::optional<LocalWork> update_what_changed(ExecutionSpace const& exec, F const& f, ObservedBy<F> const& evidence,
                                             PlanOf<F> const& plan, StateOf<F> const& state,
                                             bp::Options const& options) {
  constexpr double share_of_tolerance = 0.1;
  if constexpr (!F::many) {
    bool const wanted =
        options.tolerance > 0 && options.damping == 0 && options.max_iterations > 0 && options.time_limit > 0;
    if (wanted && plan.by_factor && evidence.changed && f.graph.num_edges() > 0)
      return update_locally(exec, f, *plan.by_factor, state.local, *evidence.changed,
                            share_of_tolerance * options.tolerance);
  }
  return {};
}

/// Runs all evidence sets of the fields until each has stopped or a limit is met.
template <class ExecutionSpace, class F>
std::vector<bp::Report> run_all(ExecutionSpace const& exec, F const& f, ObservedBy<F> const& evidence,
                                PlanOf<F> const& plan, StateOf<F>& state, bp::Options const& options) {
  auto const begin = std::chrono::steady_clock::now();
  auto seconds = [&] { return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count(); };
  bool const warm = options.warm_start && !state.cold, extended = warm && extends(evidence, state);
  start(exec, f, evidence, plan, state, warm, options);
  auto const local = extended ? update_what_changed(exec, f, evidence, plan, state, options) : std::nullopt;
  state.revision = evidence.revision;
  auto now = look<ExecutionSpace, F>(exec, state);
  auto running = [&] { return std::find_if(now.begin(), now.end(), [](auto const& c) { return !c.stopped; }); };

  int const wanted =
      options.check_every > 0 ? options.check_every : backend::TuningOf<ExecutionSpace>::value.bp.check_every;
  Runner<ExecutionSpace, F> runner{exec, f, plan, state, options.acceleration, std::min(wanted, max_recorded)};
  int times = 1;  // judgements, or cycles, between two looks; grows while looks cost more than they tell
  bool const may_accelerate = options.acceleration.after >= 0 && options.damping == 0 && options.tolerance > 0;
  int limit = may_accelerate ? std::min(state.accelerated ? 0 : options.acceleration.after, options.max_iterations)
                             : options.max_iterations;
  bool is_first_look = local && !local->overrun;  // all at rest, as far as can be told without one
  int const first_order = state.orders_run;
  for (auto one = running();
       one != now.end() && one->iterations < options.max_iterations && seconds() < options.time_limit;
       one = running()) {
    bool const only_look = std::exchange(is_first_look, false);
    if (one->iterations >= limit && !only_look) {
      runner.begin_acceleration(now);
      limit = options.max_iterations;
    }
    double const before = seconds();
    runner.advance(only_look ? 1 : limit - one->iterations, only_look ? 1 : times);
    now = look<ExecutionSpace, F>(exec, state);
    if (seconds() - before < shortest_look) times = std::min(2 * times, max_submitted);
    if (!options.progress) continue;
    auto const worst =
        std::max_element(now.begin(), now.end(), [](auto const& a, auto const& b) { return a.residual < b.residual; });
    options.progress(worst->iterations, static_cast<double>(worst->residual));
  }
  std::vector<bp::Report> reports;
  for (auto const& c : now) reports.push_back(report_of(c, options, seconds()));
  // Iterations that were launched before the host saw that all had stopped changed nothing, and how many there were
  // depends on time.
  if (plan.of_iteration)
    state.orders_run = first_order + std::max_element(now.begin(), now.end(), [](auto const& a, auto const& b) {
                                       return a.iterations < b.iterations;
                                     })->iterations;
  if (local) reports.front().local_work = static_cast<double>(local->edges) / f.graph.num_edges();
  state.cold =
      std::any_of(reports.begin(), reports.end(), [](auto const& r) { return r.stop == bp::Stop::contradiction; });
  return reports;
}

/// The first entries of an interleaved array that belong to one set.
template <class Value>
std::vector<double> entries_of_set(std::vector<Value> const& all, Index count, Index sets, Index set) {
  if (set < 0 || set >= sets)
    throw InputError("evidence set " + std::to_string(set) + " is unknown: they are 0 to " + std::to_string(sets - 1));
  std::vector<double> result(count);
  for (Index i = 0; i < count; ++i) result[i] = all[Offset{i} * sets + set];
  return result;
}

template <class Value, class MemorySpace>
void require_sets(Index sets, bp::Plan<MemorySpace> const& plan, bp::State<Value, MemorySpace> const& state) {
  if (plan.sets != sets) throw ShapeError("evidence sets of the plan", sets, plan.sets);
  if (state.sets != sets) throw ShapeError("evidence sets of the state", sets, state.sets);
}

/// Puts messages into a state, or throws and leaves it as it is.
template <class ExecutionSpace, class Value, class MemorySpace>
void put_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                  std::vector<std::vector<double>> const& of_sets, bp::State<Value, MemorySpace>& state) {
  if (of_sets.size() != static_cast<std::size_t>(state.sets))
    throw ShapeError("evidence sets of messages to start from", state.sets, of_sets.size());
  for (auto const& messages : of_sets) {
    if (messages.size() != static_cast<std::size_t>(graph.num_messages()))
      throw ShapeError("messages to start from", graph.num_messages(), messages.size());
    auto const bad = std::find_if(messages.begin(), messages.end(), [](double m) { return std::isnan(m); });
    if (bad != messages.end())
      throw InputError("entry " + std::to_string(bad - messages.begin()) + " of the messages to start from is NaN");
  }
  auto mirror = Kokkos::create_mirror_view(state.messages);
  for (std::size_t s = 0; s < of_sets.size(); ++s)
    for (std::size_t i = 0; i < of_sets[s].size(); ++i)
      mirror(i * of_sets.size() + s) = limit_to_grid(static_cast<Value>(of_sets[s][i]));
  Kokkos::deep_copy(exec, state.messages, mirror);
  exec.fence("hornbill: copy from a temporary host array");
  state.cold = false;
}

}  // namespace hornbill::bp::detail

namespace hornbill::bp {

template <class ExecutionSpace, class Value, class MemorySpace>
Report run(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
           Evidence<Value, MemorySpace> const& evidence, Plan<MemorySpace> const& plan,
           State<Value, MemorySpace>& state, Options const& options) {
  Kokkos::Profiling::ScopedRegion region("hornbill::bp::run");
  detail::validate(options);
  detail::require_sets(1, plan, state);
  return detail::run_all(exec, detail::fields_of(graph, evidence.terms(), state), detail::observed(evidence, state),
                         plan, state, options)
      .front();
}

template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<Report> run(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                        EvidenceSets<Value, MemorySpace> const& evidence, Plan<MemorySpace> const& plan,
                        State<Value, MemorySpace>& state, Options const& options) {
  Kokkos::Profiling::ScopedRegion region("hornbill::bp::run");
  detail::validate(options);
  detail::require_sets(evidence.size(), plan, state);
  auto const fields = detail::fields_of(graph, evidence.terms(), state);
  auto const observed = detail::observed(evidence, state);
  if (evidence.size() == 1) return detail::run_all(exec, fields, observed, plan, state, options);
  return detail::run_all(exec, detail::ManyFields<Value, MemorySpace>{fields, graph, evidence.size()}, observed, plan,
                         state, options);
}

template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> marginals(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                              State<Value, MemorySpace> const& state, Index set) {
  return detail::entries_of_set(hornbill::detail::to_vector(exec, state.beliefs), graph.num_variables(), state.sets,
                                set);
}

template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> log_odds(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                             State<Value, MemorySpace> const& state, Index set) {
  auto const sums = hornbill::detail::to_vector(exec, state.sums);
  std::vector<Value> values(sums.size());
  std::transform(sums.begin(), sums.end(), values.begin(), [](auto const& sum) { return detail::log_odds(sum); });
  return detail::entries_of_set(values, graph.num_variables(), state.sets, set);
}

template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> log_odds_of_variable(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                                         State<Value, MemorySpace> const& state, Index variable) {
  if (variable < 0 || variable >= graph.num_variables())
    throw InputError("there is no variable " + std::to_string(variable));
  std::size_t const first = static_cast<std::size_t>(variable) * state.sets;
  std::vector<double> result;
  for (auto const& sum :
       hornbill::detail::to_vector(exec, Kokkos::subview(state.sums, std::pair(first, first + state.sets))))
    result.push_back(detail::log_odds(sum));
  return result;
}

template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> state_marginals(ExecutionSpace const& exec, HostFactorGraph const& host,
                                    FactorGraph<Value, MemorySpace> const& graph,
                                    State<Value, MemorySpace> const& state, Index set) {
  auto const beliefs =
      detail::entries_of_set(hornbill::detail::to_vector(exec, state.beliefs), graph.num_slots(), state.sets, set);
  auto const of_sums = log_odds(exec, graph, state, set);
  std::vector<double> result;
  for (Index v = 0, slot = graph.num_variables(); v < host.num_variables; ++v) {
    if (host.states(v) == 2) {  // 1 - belief would be 0 where the belief is nearly 1
      result.insert(result.end(), {detail::probability(-of_sums[v]), beliefs[v]});
    } else {
      for (Index s = 0; s < host.states(v); ++s) result.push_back(beliefs[slot++]);
    }
  }
  return result;
}

template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> factor_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                                    State<Value, MemorySpace> const& state, Index set) {
  return detail::entries_of_set(hornbill::detail::to_vector(exec, state.messages), graph.num_messages(), state.sets,
                                set);
}

template <class ExecutionSpace, class Value, class MemorySpace>
std::vector<double> variable_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                                      Evidence<Value, MemorySpace> const& evidence,
                                      State<Value, MemorySpace> const& state) {
  if (state.sets != 1) throw ShapeError("evidence sets of the state", 1, state.sets);
  Kokkos::View<Value*, MemorySpace> out(Kokkos::view_alloc(exec, "hornbill::bp::variable_messages"),
                                        graph.num_messages());
  Kokkos::parallel_for("hornbill::bp::variable_to_factor", detail::Range<ExecutionSpace>(exec, 0, graph.num_edges()),
                       detail::VariableToFactor<detail::Fields<Value, MemorySpace>>{
                           detail::fields_of(graph, evidence.terms(), state), out});
  auto const messages = hornbill::detail::to_vector(exec, out);
  return {messages.begin(), messages.end()};
}

template <class ExecutionSpace, class Value, class MemorySpace>
void set_factor_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                         std::vector<double> const& log_odds, State<Value, MemorySpace>& state) {
  detail::put_messages(exec, graph, std::vector<std::vector<double>>(state.sets, log_odds), state);
  state.evidence = {};  // certainty among them may follow from other evidence
}

template <class ExecutionSpace, class Value, class MemorySpace, class AnyEvidence>
void set_factor_messages(ExecutionSpace const& exec, FactorGraph<Value, MemorySpace> const& graph,
                         std::vector<std::vector<double>> const& of_sets, AnyEvidence const& evidence,
                         State<Value, MemorySpace>& state) {
  detail::put_messages(exec, graph, of_sets, state);
  auto const observed = detail::observed(evidence, state);
  state.evidence = observed.terms;
  state.withdrawals = observed.withdrawals;
  state.revision = observed.revision;
}

}  // namespace hornbill::bp

#define HORNBILL_INSTANTIATE_BP_RUN(PREFIX, SPACE, VALUE)                                                             \
  PREFIX template Report run(SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&,                            \
                             Evidence<VALUE, SPACE::memory_space> const&, Plan<SPACE::memory_space> const&,           \
                             State<VALUE, SPACE::memory_space>&, Options const&);                                     \
  PREFIX template std::vector<Report> run(                                                                            \
      SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&, EvidenceSets<VALUE, SPACE::memory_space> const&,  \
      Plan<SPACE::memory_space> const&, State<VALUE, SPACE::memory_space>&, Options const&);                          \
  PREFIX template std::vector<double> marginals(SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&,         \
                                                State<VALUE, SPACE::memory_space> const&, Index);                     \
  PREFIX template std::vector<double> log_odds(SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&,          \
                                               State<VALUE, SPACE::memory_space> const&, Index);                      \
  PREFIX template std::vector<double> log_odds_of_variable(                                                           \
      SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&, State<VALUE, SPACE::memory_space> const&, Index); \
  PREFIX template std::vector<double> factor_messages(SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&,   \
                                                      State<VALUE, SPACE::memory_space> const&, Index);               \
  PREFIX template std::vector<double> state_marginals(SPACE const&, HostFactorGraph const&,                           \
                                                      FactorGraph<VALUE, SPACE::memory_space> const&,                 \
                                                      State<VALUE, SPACE::memory_space> const&, Index);               \
  PREFIX template std::vector<double> variable_messages(SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&, \
                                                        Evidence<VALUE, SPACE::memory_space> const&,                  \
                                                        State<VALUE, SPACE::memory_space> const&);                    \
  PREFIX template void set_factor_messages(SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&,              \
                                           std::vector<double> const&, State<VALUE, SPACE::memory_space>&);           \
  PREFIX template void set_factor_messages(                                                                           \
      SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&, std::vector<std::vector<double>> const&,          \
      Evidence<VALUE, SPACE::memory_space> const&, State<VALUE, SPACE::memory_space>&);                               \
  PREFIX template void set_factor_messages(                                                                           \
      SPACE const&, FactorGraph<VALUE, SPACE::memory_space> const&, std::vector<std::vector<double>> const&,          \
      EvidenceSets<VALUE, SPACE::memory_space> const&, State<VALUE, SPACE::memory_space>&);

namespace hornbill::bp {
HORNBILL_EXTERN(HORNBILL_FOR_REALS, HORNBILL_INSTANTIATE_BP_RUN)
}  // namespace hornbill::bp
