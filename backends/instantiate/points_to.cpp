// Points-to analysis on devices; HORNBILL_SPACE is set by backends/CMakeLists.txt.
//
// kinds: plans
#include <algorithm>
#include <utility>

#include <hornbill/points_to/detail/device_labels.hpp>
#include <hornbill/points_to/detail/device_solver.hpp>

namespace hornbill::points_to {
namespace {

/// Whether this is a CPU with so few threads that the host's own solver, one thread without atomic operations, is
/// faster.
template <class ExecutionSpace>
bool has_few_threads(ExecutionSpace const& exec) {
  return detail::is_host_memory<typename ExecutionSpace::memory_space> && exec.concurrency() < fewest_host_threads;
}

template <class ExecutionSpace>
Solution solve_from(ExecutionSpace const& exec, HostPlan const& plan, Solution const* earlier,
                    SolveOptions const& options) {
  if (is_for_host(plan, options) || (options.host_below > 0 && has_few_threads(exec)))
    return earlier ? resume(plan, *earlier, options) : solve(plan, options);
  detail::Stopwatch watch;
  auto solution = detail::DeviceSolver<ExecutionSpace>(exec, plan, options).solve(earlier);
  solution.report.elapsed_seconds = watch.lap();
  return solution;
}

}  // namespace

template <class ExecutionSpace>
HostPlan make_plan(ExecutionSpace const& exec, ConstraintSystem const& system, PlanOptions const& options) {
  constexpr Offset most = Offset{1} << 28;  // so that numbers of labels fit
  auto const size = std::max(system.num_constraints(), Offset{system.num_variables});
  bool const is_for_host =
      system.num_constraints() < options.host_below || (options.host_below > 0 && has_few_threads(exec));
  if (is_for_host || options.value_numbering == ValueNumbering::none || size > most) return make_plan(system, options);
  return detail::make_plan(system, options, [&](std::vector<Constraint> const& constraints) {
    auto labels = detail::DeviceLabeller<ExecutionSpace>(exec, system, constraints, options.collapse_cycles).label();
    return labels ? std::move(*labels) : detail::label_variables(system, constraints, options);
  });
}

template <class ExecutionSpace>
Solution solve(ExecutionSpace const& exec, HostPlan const& plan, SolveOptions const& options) {
  return solve_from(exec, plan, nullptr, options);
}
template <class ExecutionSpace>
Solution resume(ExecutionSpace const& exec, HostPlan const& plan, Solution const& earlier,
                SolveOptions const& options) {
  return solve_from(exec, plan, &earlier, options);
}

template HostPlan make_plan(HORNBILL_SPACE const&, ConstraintSystem const&, PlanOptions const&);
template Solution solve(HORNBILL_SPACE const&, HostPlan const&, SolveOptions const&);
template Solution resume(HORNBILL_SPACE const&, HostPlan const&, Solution const&, SolveOptions const&);

}  // namespace hornbill::points_to
