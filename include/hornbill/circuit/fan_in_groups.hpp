/// \file
/// Sums of a layer in groups of about as many children.
#pragma once

#include <cstdint>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::circuit {

/// How finely a layer is divided.
struct GroupOptions {
  Index max_groups = 8;            ///< at least 1
  double padding_tolerance = 0.1;  ///< entries that are padding, for each that is not; at least 0
};

/// Groups of numbers of children: a number belongs to the first group whose capacity is not below it.
struct FanInGroups {
  std::vector<Offset> capacities;  ///< ascending; each is the fan-in of a member
  Offset padding = 0;  ///< children that all members lack together to have as many as their group's capacity

  std::size_t group_of(Offset fan_in) const;
};

/// The fewest groups whose padding is within the tolerance, and among as many groups those of the least padding; as
/// many groups as are allowed, if even these have more.
/// \param fan_ins  of sums, at least 0, in any order
/// \throws InputError of options that are not as above, CapacityError where 64 bits do not hold the padded children
/// \source Liu et al. 2024, appendix A.1; the minima of its equation 3 move up with the number of children, so that
///         n different fan-ins take n log n steps for each number of groups
FanInGroups group_by_fan_in(std::vector<Offset> fan_ins, GroupOptions const& options);

}  // namespace hornbill::circuit
