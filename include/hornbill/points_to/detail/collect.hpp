/// \file
/// Sets of variables as a solution has them: numbered by the first variable that has each.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/points_to/detail/flow_graph.hpp>
#include <hornbill/points_to/detail/set_worker.hpp>

namespace hornbill::points_to::detail {

template <class MemorySpace>
struct Collected {
  Kokkos::View<std::uint32_t*, MemorySpace> first;           // [sets] the first variable
  Kokkos::View<std::uint32_t*, MemorySpace> sizes, numbers;  // [sets]
  Kokkos::View<Index*, MemorySpace> set_of_variable;         // [variables]
  Kokkos::View<Offset*, MemorySpace> offsets;                // [sets + 1], by number
  Kokkos::View<Index*, MemorySpace> objects;

  /// Whether a variable is the first one that has its set.
  KOKKOS_FUNCTION bool is_first(FlowGraph<MemorySpace> const& g, std::size_t variable, SharedSetId& set) const {
    set = g.sets(g.root(static_cast<std::uint32_t>(variable)));
    return set != shared_empty_set && first(set) == variable;
  }
};

template <class MemorySpace>
struct FindFirsts {
  FlowGraph<MemorySpace> g;
  Collected<MemorySpace> c;

  KOKKOS_FUNCTION void operator()(std::size_t v) const {
    auto const variable = static_cast<std::uint32_t>(v);
    auto& first = c.first(g.sets(g.root(variable)));
    if (backend::read_shared(first) > variable) Kokkos::atomic_min(&first, variable);
  }
};

template <class MemorySpace>
struct CountElements {
  FlowGraph<MemorySpace> g;
  Collected<MemorySpace> c;

  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, std::uint64_t variable) const {
    SharedSetId set;
    if (!c.is_first(g, variable, set)) return;
    auto const size = worker.num_elements(set);
    if (worker.lane() == 0) c.sizes(set) = size;
  }
};

template <class MemorySpace>
struct NumberSets {
  struct Sum {
    Offset sets = 0, elements = 0;
  };
  FlowGraph<MemorySpace> g;
  Collected<MemorySpace> c;

  KOKKOS_FUNCTION void init(Sum& sum) const { sum = {}; }
  KOKKOS_FUNCTION void join(Sum& to, Sum const& from) const {
    to.sets += from.sets;
    to.elements += from.elements;
  }
  KOKKOS_FUNCTION void operator()(std::size_t variable, Sum& sum, bool is_final) const {
    SharedSetId set;
    if (!c.is_first(g, variable, set)) return;
    sum.sets += 1;
    sum.elements += c.sizes(set);
    if (!is_final) return;
    c.numbers(set) = static_cast<std::uint32_t>(sum.sets);  // set 0 is empty
    c.offsets(sum.sets + 1) = sum.elements;
  }
};

template <class MemorySpace>
struct WriteSets {
  FlowGraph<MemorySpace> g;
  Collected<MemorySpace> c;

  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, std::uint64_t variable) const {
    SharedSetId set;
    bool const is_first = c.is_first(g, variable, set);
    if (worker.lane() == 0) c.set_of_variable(variable) = static_cast<Index>(c.numbers(set));
    if (is_first) worker.write_elements(set, c.objects.data() + c.offsets(c.numbers(set)));
  }
};

}  // namespace hornbill::points_to::detail
