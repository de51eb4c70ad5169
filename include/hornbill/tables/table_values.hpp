/// \file
/// Values of tables on a device.
#pragma once

#include <vector>

#include <Kokkos_Core.hpp>

namespace hornbill::tables {

/// Values of all tables.
///
/// Of semirings that scale, what a table's cells say is to be multiplied by 2^(sum of the exponents of all tables that
/// it was made of): it is read as if its largest value were between 1 and 2. Where its other values lie then says
/// whether products can become too small to be held.
template <class Value, class MemorySpace>
struct TableValues {
  Kokkos::View<Value*, MemorySpace> cells;     ///< [num_cells]
  Kokkos::View<Value*, MemorySpace> largest;   ///< [num_tables], of semirings that scale; 0 where nothing is known
  Kokkos::View<Value*, MemorySpace> smallest;  ///< likewise, of what is positive; 0 or infinite where nothing is
};

/// Between which numbers the positive cells of all tables are, on the host.
template <class Value>
struct HostExtents {
  std::vector<Value> largest, smallest;  ///< [num_tables], as of TableValues
};

}  // namespace hornbill::tables
