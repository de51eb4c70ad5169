// SEQMAX: one message at a time, always that which would change most.
#pragma once

#include <hornbill/bp/detail/selection.hpp>
#include <hornbill/bp/detail/step_update.hpp>

namespace hornbill::bp::detail {

/// Priorities of edges, in a tree whose nodes hold the larger of their two children.
template <class MemorySpace>
struct PriorityTree {
  Kokkos::View<float*, MemorySpace> nodes;  // [2 * leaves]: the root is entry 1, the leaves are the second half

  KOKKOS_FUNCTION Index leaves() const { return static_cast<Index>(nodes.extent(0) / 2); }
  KOKKOS_FUNCTION float largest() const { return nodes(1); }
  /// The first edge of largest priority.
  KOKKOS_FUNCTION Index top() const {
    Index node = 1;
    while (node < leaves()) node = nodes(2 * node) == nodes(node) ? 2 * node : 2 * node + 1;
    return node - leaves();
  }
  KOKKOS_FUNCTION void set(Index edge, float priority) const {
    Index node = leaves() + edge;
    nodes(node) = priority;
    while (node > 1) {
      Index const above = node / 2;
      float const larger = Kokkos::fmax(nodes(2 * above), nodes(2 * above + 1));
      if (nodes(above) == larger) return;
      nodes(above) = larger;
      node = above;
    }
  }
};

/// One iteration, by one thread. It begins with all messages computed, and each update computes those that read it.
template <class F>
struct RunLargestFirst {
  using MemorySpace = typename F::MemorySpace;
  F f, undamped;             // with what messages take their places, and with what they are computed
  Tasks<MemorySpace> tasks;  // of steps by factor
  Kokkos::View<bp::Step const*, MemorySpace> steps;
  Kokkos::View<Index const*, MemorySpace> readers;
  PriorityTree<MemorySpace> priorities;
  Kokkos::View<typename F::Value, MemorySpace> largest_waiting;  // residual of a message that has not taken its place

  KOKKOS_FUNCTION void operator()(Index) const {
    if (f.stopped()) return;
    for (Index step = 0; step < static_cast<Index>(steps.extent(0)); ++step) compute(step);
    for (Index i = 0; i < f.num_edges() && priorities.largest() > 0; ++i) update(priorities.top());
    // All updates may have gone where marginals do not move: what waits counts too.
    float largest = 0;
    for (Index edge = 0; edge < f.num_edges(); ++edge)
      for_each_entry(f, edge,
                     [&](Index at, Index slot) { largest = Kokkos::fmax(largest, residual_of_entry(f, at, slot)); });
    largest_waiting() = largest;
  }

 private:
  /// The messages of a step, which wait.
  KOKKOS_FUNCTION void compute(Index step) const {
    update_step<Write::stage>(undamped, tasks, steps(step));
    for_each_edge(tasks, steps(step), [&](Index edge) { priorities.set(edge, priority(edge)); });
  }
  /// The change of a message's probability; that of near certainty rounds to nothing, and comes last.
  KOKKOS_FUNCTION float priority(Index edge) const {
    float largest = 0;
    for_each_entry(f, edge, [&](Index at, Index) {
      auto const before = f.messages(at), after = f.pending(at);
      if (before != after)
        largest = Kokkos::fmax(
            largest, Kokkos::fmax(change_of_probability(before, after), Kokkos::Experimental::norm_min_v<float>));
    });
    return largest;
  }
  KOKKOS_FUNCTION void update(Index edge) const {
    for_each_entry(
        f, edge, [&](Index at, Index slot) { put_message<Write::commit>(f, at, slot, f.messages(at), f.pending(at)); });
    priorities.set(edge, priority(edge));  // not nothing where it was damped
    Index const v = f.graph.factor_variables(edge);
    for (Index k = f.graph.variable_offsets(v); k < f.graph.variable_offsets(v + 1); ++k)
      if (f.graph.variable_edges(k) != edge && readers(k) >= 0) compute(readers(k));
  }
};

/// \param largest_changes  the first entry of whose second half is to be the largest residual of what still waits
template <class Launcher, class F>
void run_largest_first(Launcher& launcher, F const& f, bp::Plan<typename F::MemorySpace> const& by_factor,
                       Kokkos::View<float*, typename F::MemorySpace> const& priorities,
                       Kokkos::View<typename F::Value*, typename F::MemorySpace> const& largest_changes) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  Kokkos::View<typename F::Value, typename F::MemorySpace> const largest_waiting =
      Kokkos::subview(largest_changes, largest_changes.extent(0) / 2);
  launcher.parallel_for(
      "hornbill::bp::run_largest_first", Range<ExecutionSpace>(launcher.exec, 0, 1),
      RunLargestFirst<F>{
          f, undamped(f), Tasks(by_factor), by_factor.sequence, by_factor.readers, {priorities}, largest_waiting});
}

}  // namespace hornbill::bp::detail
