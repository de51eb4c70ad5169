/// \file
/// The oracle of points-to analysis: the definitions of constraints, applied until nothing changes.
#pragma once

#include <vector>

#include <hornbill/points_to/constraints.hpp>

namespace hornbill::reference {

/// The least sets that satisfy all constraints, each in ascending order.   \shape [V][size of the set]
std::vector<std::vector<Index>> points_to_sets(points_to::ConstraintSystem const& system);

}  // namespace hornbill::reference
