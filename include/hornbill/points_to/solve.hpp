/// \file
/// Inclusion-based points-to analysis (Andersen).
#pragma once

#include <cstddef>
#include <functional>

#include <hornbill/points_to/plan.hpp>
#include <hornbill/points_to/solution.hpp>

namespace hornbill::points_to {

struct SolveOptions {
  bool collapse_cycles = true;  ///< nodes on a cycle of edges become one
  bool hubs = true;             ///< loads and stores of pointers with equal new targets share a node
  std::size_t max_bytes = 0;    ///< of sets; 0: as many as the machine, or the device, has
  /// after a round in which sets came to take twice what was left the last time, and so many bytes more, the host
  /// forgets those of no further use
  std::size_t forget_above = std::size_t{32} << 20;
  /// systems with fewer constraints left by the plan are solved by one thread of the host whatever the backend, and all
  /// are where a backend of the host has fewer than `fewest_host_threads`, since that is faster; 0: none
  Offset host_below = 25000;
  /// told after each round: how many there were, and how many distinct sets there are
  std::function<void(int, std::size_t)> progress{};
};

/// Whether a system is so small that one thread of the host solves it, whatever the backend.
inline bool is_for_host(HostPlan const& plan, SolveOptions const& options) {
  return static_cast<Offset>(plan.constraints.size()) < options.host_below;
}

/// The least sets that satisfy the constraints of a plan, on the host, by one thread.
///
/// Rounds of three steps, until nothing changes: cycles of edges are collapsed; sets flow along edges, in topological
/// order; new targets of pointers become edges, for loads and stores, or objects, for offsets.
/// \source Pereira and Berlin, CGO 2009 (wave propagation)
/// \throws CapacityError if sets need more memory
Solution solve(HostPlan const& plan, SolveOptions const& options = {});

/// The same, going on from the solution of some of the constraints: those that are new may speak of new variables.
/// \throws InputError if the earlier solution has more variables, or objects that a set cannot have
Solution resume(HostPlan const& plan, Solution const& earlier, SolveOptions const& options = {});

/// The same by all threads of an execution space, unless `host_below` leaves it to the host. Each backend has been
/// compiled, see backends/instantiate/points_to.cpp.
///
/// Sets get numbers in an order that differs from run to run, but the solution does not.
/// \source Mendez-Lojo, Burtscher and Pingali, PPoPP 2012, for the rules that are pulled by the row that they write
/// \cost waits for the device, a few times a round; its memory grows as sets do
/// \throws CapacityError if sets need more memory
template <class ExecutionSpace>
Solution solve(ExecutionSpace const& exec, HostPlan const& plan, SolveOptions const& options = {});
template <class ExecutionSpace>
Solution resume(ExecutionSpace const& exec, HostPlan const& plan, Solution const& earlier,
                SolveOptions const& options = {});

}  // namespace hornbill::points_to
