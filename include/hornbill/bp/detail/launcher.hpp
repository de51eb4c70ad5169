// Where kernels go: into the execution space at once, or into a graph that is recorded once and submitted again and
// again.
#pragma once

#include <Kokkos_Core.hpp>
#include <Kokkos_Graph.hpp>

namespace hornbill::bp::detail {

/// Runs kernels, one after another.
template <class Space>
struct Immediate {
  using ExecutionSpace = Space;
  ExecutionSpace exec;

  template <class Policy, class Functor>
  void parallel_for(char const* label, Policy const& policy, Functor const& functor) {
    Kokkos::parallel_for(label, policy, functor);
  }
  template <class Policy, class Functor, class Reducer>
  void parallel_reduce(char const* label, Policy const& policy, Functor const& functor, Reducer const& reducer) {
    Kokkos::parallel_reduce(label, policy, functor, reducer);
  }
  /// Two independent series of launches.
  template <class First, class Second>
  void together(First const& first, Second const& second) {
    first(*this);
    second(*this);
  }
};

/// Records kernels, each after the one before.
template <class Space>
struct Recorder {
  using ExecutionSpace = Space;
  ExecutionSpace exec;
  Kokkos::Experimental::GraphNodeRef<ExecutionSpace> last;

  template <class Policy, class Functor>
  void parallel_for(char const* label, Policy const& policy, Functor const& functor) {
    last = last.then_parallel_for(label, policy, functor);
  }
  template <class First, class Second>
  void together(First const& first, Second const& second) {
    Recorder other = *this;
    first(*this);
    second(other);
    last = Kokkos::Experimental::when_all(last, other.last);
  }
};

/// What record(recorder) launches, ready to be submitted.
template <class ExecutionSpace, class Record>
Kokkos::Experimental::Graph<ExecutionSpace> recorded(ExecutionSpace const& exec, Record&& record) {
  Kokkos::Experimental::Graph<ExecutionSpace> graph(exec);
  record(Recorder<ExecutionSpace>{exec, graph.root_node()});
  graph.instantiate();
  return graph;
}

}  // namespace hornbill::bp::detail
