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
  std::size_t max_bytes = 0;    ///< of sets; 0: as many as the machine has
  /// told after each round: how many there were, and how many distinct sets there are
  std::function<void(int, std::size_t)> progress{};
};

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

}  // namespace hornbill::points_to
