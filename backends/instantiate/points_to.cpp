// Points-to analysis on devices; HORNBILL_SPACE is set by backends/CMakeLists.txt.
//
// kinds: plans
#include <hornbill/points_to/detail/device_solver.hpp>

namespace hornbill::points_to {
namespace {

template <class ExecutionSpace>
Solution solve_from(ExecutionSpace const& exec, HostPlan const& plan, Solution const* earlier,
                    SolveOptions const& options) {
  constexpr bool on_host =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;
  if (is_for_host(plan, options) || (on_host && options.host_below > 0))
    return earlier ? resume(plan, *earlier, options) : solve(plan, options);
  detail::Stopwatch watch;
  auto solution = detail::DeviceSolver<ExecutionSpace>(exec, plan, options).solve(earlier);
  solution.report.elapsed_seconds = watch.lap();
  return solution;
}

}  // namespace

template <class ExecutionSpace>
Solution solve(ExecutionSpace const& exec, HostPlan const& plan, SolveOptions const& options) {
  return solve_from(exec, plan, nullptr, options);
}
template <class ExecutionSpace>
Solution resume(ExecutionSpace const& exec, HostPlan const& plan, Solution const& earlier,
                SolveOptions const& options) {
  return solve_from(exec, plan, &earlier, options);
}

template Solution solve(HORNBILL_SPACE const&, HostPlan const&, SolveOptions const&);
template Solution resume(HORNBILL_SPACE const&, HostPlan const&, Solution const&, SolveOptions const&);

}  // namespace hornbill::points_to
