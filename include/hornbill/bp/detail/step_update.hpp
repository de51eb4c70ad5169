// All messages of one step, by one thread.
#pragma once

#include <hornbill/bp/detail/factor_kernels.hpp>

namespace hornbill::bp::detail {

template <Write write, class F>
KOKKOS_FUNCTION void update_wide_step(F const& f, Tasks<typename F::MemorySpace> const& tasks,
                                      bp::WideTask const& task) {
  for (Index part = task.first_part; part < task.last_part; ++part) store_total_of_part(f, tasks.parts(part));
  update_wide<write>(OneThread{}, f, task);
  for (Index i = task.first_chunk; i < task.last_chunk; ++i)
    ChunkUpdate(f, tasks.chunks(i)).template put_messages<write>();
}

template <Write write, class F>
KOKKOS_FUNCTION void update_step(F const& f, Tasks<typename F::MemorySpace> const& tasks, bp::Step const& step) {
  using Kind = bp::Step::Kind;
  if (step.kind == Kind::chunk) return ChunkUpdate(f, tasks.chunks(step.task)).template put_messages<write>();
  if (step.kind == Kind::wide) return update_wide_step<write>(f, tasks, tasks.wide(step.task));
  bp::TableTask const table = tasks.tables(step.task);
  update_table<write>(f, table.factor, tasks.table_edges, table.first, table.last);
}

/// Calls function(edge) for each message of a step.
template <class MemorySpace, class Function>
KOKKOS_FUNCTION void for_each_edge(Tasks<MemorySpace> const& tasks, bp::Step const& step, Function const& function) {
  using Kind = bp::Step::Kind;
  auto of_chunk = [&](bp::Chunk const& chunk) {
    for (Index i = 0; i < chunk.count; ++i)
      if (chunk.wanted >> i & 1u) function(chunk.first_edge + i);
  };
  if (step.kind == Kind::chunk) return of_chunk(tasks.chunks(step.task));
  if (step.kind == Kind::wide) {
    bp::WideTask const task = tasks.wide(step.task);
    if (task.head_wanted) function(task.first_edge);
    for (Index i = task.first_chunk; i < task.last_chunk; ++i) of_chunk(tasks.chunks(i));
    return;
  }
  bp::TableTask const table = tasks.tables(step.task);
  for (Index i = table.first; i < table.last; ++i) function(tasks.table_edges(i));
}

}  // namespace hornbill::bp::detail
