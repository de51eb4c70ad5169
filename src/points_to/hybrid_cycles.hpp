// Cycles that are there as soon as a pointer has a target. Internal to src/points_to.
#pragma once

#include <utility>
#include <vector>

#include <hornbill/points_to/plan.hpp>

namespace hornbill::points_to {

/// Pointers p with a path of copies from what is loaded through p to what is stored through p: a target's content and
/// that path will be a cycle. A path that passes through other pointers counts only where it passes through p alone.
/// \return p, and a variable of the path
/// \source Hardekopf and Lin, PLDI 2007 (hybrid cycle detection, offline)
std::vector<std::pair<Index, Index>> find_hybrid_cycles(HostPlan const& plan);

}  // namespace hornbill::points_to
