// Constraints through pointers, by pointer. Internal to src/points_to.
#pragma once

#include <vector>

#include <hornbill/points_to/plan.hpp>
#include <hornbill/points_to/solution.hpp>

namespace hornbill::points_to {

/// Constraints through one pointer.
struct Dereference {
  Index pointer = 0;
  Index begin = 0, end = 0;  ///< of its constraints
  Index cycle = -1;          ///< a variable whose set the targets' contents have, if there is one
};

/// Constraints of a plan that are neither copies nor address-of.
struct Dereferences {
  std::vector<Constraint> constraints;  ///< sorted by pointer
  std::vector<Dereference> list;
};

Dereferences dereferences_of(HostPlan const& plan);

/// Checks that an earlier solution has no more variables than a plan, and no object that a set cannot have.
/// \throws InputError
void require_part_of(Solution const& earlier, HostPlan const& plan);

}  // namespace hornbill::points_to
