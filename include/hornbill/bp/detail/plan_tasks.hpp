// The tasks of a plan, as kernels see them.
#pragma once

#include <hornbill/bp/plan.hpp>

namespace hornbill::bp::detail {

template <class MemorySpace>
struct Tasks {
  template <class T>
  using Array = Kokkos::View<T const*, MemorySpace>;
  Array<bp::Chunk> chunks, parts;
  Array<bp::Lane> lanes;
  Array<bp::WideTask> wide;
  Array<bp::TableTask> tables;
  Array<Index> table_edges, edges;
  Array<bp::BatchOffsets> offsets;

  explicit Tasks(bp::Plan<MemorySpace> const& plan)
      : chunks(plan.chunks),
        parts(plan.parts),
        lanes(plan.lanes),
        wide(plan.wide),
        tables(plan.tables),
        table_edges(plan.table_edges),
        edges(plan.edges),
        offsets(plan.device_offsets) {}
};

}  // namespace hornbill::bp::detail
