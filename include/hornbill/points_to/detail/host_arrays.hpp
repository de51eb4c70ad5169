/// \file
/// A plan as arrays that are copied to a device.
#pragma once

#include <cstdint>
#include <vector>

#include <hornbill/points_to/detail/expand.hpp>
#include <hornbill/points_to/detail/propagate.hpp>
#include <hornbill/points_to/plan.hpp>
#include <hornbill/points_to/solution.hpp>

namespace hornbill::points_to::detail {

/// Sets of objects, and nodes that have them.
struct HostSets {
  std::vector<std::uint64_t> begins{0};  ///< [sets + 1], into objects
  std::vector<std::uint32_t> objects;
  std::vector<std::uint32_t> nodes, set_of_node;

  std::uint32_t size() const { return static_cast<std::uint32_t>(begins.size()) - 1; }
};

struct HostArrays {
  std::vector<std::uint32_t> parents;  ///< [variables]
  std::vector<FlowEdge> edges;         ///< copies and offsets
  HostSets addresses;
  std::vector<DeviceDereference> dereferences;
  std::vector<std::uint32_t> ends;         ///< of loads and stores
  std::vector<std::uint32_t> with_cycles;  ///< dereferences that have one
  std::vector<DeviceOffset> offsets;
  std::vector<std::uint64_t> masks;  ///< rows of bits of objects, each of whole blocks
};

HostArrays host_arrays(HostPlan const& plan);

/// What an earlier solution says of variables.
/// \throws InputError if it has more variables than the plan, or objects that a set cannot have
HostSets sets_of(Solution const& earlier, HostPlan const& plan);

}  // namespace hornbill::points_to::detail
