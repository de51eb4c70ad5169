/// \file
/// Nodes on a cycle become one.
///
/// The graph is trimmed, along the edges and against them: the core remains, in which every node reaches a cycle and is
/// reached by one. Each node of the core takes the largest number of a node that reaches it, its colour; the nodes of a
/// colour that reach the node with this number are a component. Those of other components with this colour come in the
/// next pass. Most nodes are in one large component, so a node with many edges has the largest number, and colours
/// those that it reaches first.
/// \source Orzan 2004; Barnat, Bauch, Brim and Ceska, IPDPS 2011 (components by colours on GPUs)
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/points_to/detail/flow_graph.hpp>
#include <hornbill/points_to/detail/row_parts.hpp>
#include <hornbill/points_to/detail/set_worker.hpp>
#include <hornbill/points_to/detail/work_queue.hpp>

namespace hornbill::points_to::detail {

/// Takes away, along the edges, what no cycle precedes.
template <class MemorySpace>
struct TrimForward {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const&, QueueWorker<MemorySpace>& items,
                                  std::uint32_t item) const {
    for_each_edge_out(g, items, item, [&](std::uint32_t to, bool, bool is_copy) {
      items.add(is_copy && g.is_left(to) && Kokkos::atomic_fetch_sub(&g.waiting_in(to), 1u) == 1, to);
    });
  }
};

/// Takes away, against the edges, what no cycle follows.
template <class MemorySpace>
struct TrimBackward {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const&, QueueWorker<MemorySpace>& items,
                                  std::uint32_t item) const {
    for_each_edge_in(g, items, item, [&](std::uint32_t from, bool, bool is_copy) {
      items.add(is_copy && g.is_core(from) && Kokkos::atomic_fetch_sub(&g.waiting_out(from), 1u) == 1, from);
    });
  }
};

inline constexpr std::uint32_t pivot_colour = 0xffffffffu;

template <class MemorySpace>
struct SpreadColours {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, QueueWorker<MemorySpace>& items,
                                  std::uint32_t item) const {
    auto const slot = slot_of_item(g, item);
    // Who colours a node looks at its state afterwards; who changes its state looks at the colour afterwards.
    if (item == slot && worker.lane() == 0) backend::write_shared(g.state(slot), 0u);
    backend::sync_lanes();
    Kokkos::memory_fence();
    for_each_edge_out(g, items, item, [&](std::uint32_t to, bool, bool is_copy) {
      auto const colour = backend::read_shared(g.colour(slot));
      bool const grows = is_copy && g.is_core(to) && Kokkos::atomic_fetch_max(&g.colour(to), colour) < colour;
      if (grows) Kokkos::memory_fence();
      items.add(grows && Kokkos::atomic_exchange(&g.state(to), 1u) == 0, to);
    });
  }
};

/// Merges, against the edges, nodes of a colour with the one that has its number.
template <class MemorySpace>
struct MergeColour {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const&, QueueWorker<MemorySpace>& items,
                                  std::uint32_t item) const {
    auto const colour = g.colour(slot_of_item(g, item));
    auto const first = g.active(colour == pivot_colour ? static_cast<std::uint32_t>(g.counters().pivot) : colour);
    for_each_edge_in(g, items, item, [&](std::uint32_t from, bool, bool is_copy) {
      bool const is_member =
          is_copy && g.is_core(from) && g.colour(from) == colour && Kokkos::atomic_exchange(&g.state(from), 1u) == 0;
      if (is_member && g.merge(first, g.active(from))) Kokkos::atomic_inc(&g.counters().merged_by_cycles);
      items.add(is_member, from);
    });
  }
};

/// Nodes whose components are known leave the core, and with them those that are on no cycle without them: along the
/// edges, then against them. Others lose their colours.
template <class MemorySpace>
struct LeaveCore {
  enum State : std::uint32_t { is_known = 1, has_left };
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::uint32_t slot, QueueSeeds<MemorySpace>& seeds) const {
    if (!g.is_core(slot)) return;
    g.colour(slot) = 0;
    if (g.state(slot) != is_known) return;
    g.waiting_in(slot) = g.waiting_out(slot) = 0;
    seeds.add(slot);
  }
};
template <class MemorySpace>
struct LeaveCoreBackwards {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::uint32_t slot, QueueSeeds<MemorySpace>& seeds) const {
    if (g.state(slot) != LeaveCore<MemorySpace>::is_known) return;
    g.state(slot) = LeaveCore<MemorySpace>::has_left;
    seeds.add(slot);
  }
};

template <class MemorySpace>
struct CountLeft {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::size_t chunk) const {
    std::uint32_t count = 0;
    for_each_of_chunk<MemorySpace>(chunk, g.counters().active,
                                   [&](std::size_t slot) { count += g.waiting_in(slot) != 0 ? 1 : 0; });
    if (count > 0) Kokkos::atomic_add(&g.counters().left, count);
  }
};

/// Nodes that are left and lead nowhere begin.
template <class MemorySpace>
struct BeginTrimmingBackward {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::uint32_t slot, QueueSeeds<MemorySpace>& seeds) const {
    if (g.waiting_in(slot) != 0 && g.waiting_out(slot) == 0) seeds.add(slot);
  }
};

/// Finds the pivot, while no node has a colour.
template <class MemorySpace>
struct FindPivot {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::uint32_t slot) const {
    if (!g.is_core(slot)) return;
    g.colour(slot) = 0;
    auto const in = g.in.length(slot), out = g.out.length(slot);
    auto const paths = std::uint64_t{in < 0xffff ? in : 0xffff} * (out < 0xffff ? out : 0xffff) << 32 | slot;
    if (backend::read_shared(g.counters().pivot) < paths) Kokkos::atomic_max(&g.counters().pivot, paths);
  }
};

template <class MemorySpace>
struct BeginPivot {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::size_t, QueueSeeds<MemorySpace>& seeds) const {
    if (g.counters().pivot == 0) return;
    auto const slot = static_cast<std::uint32_t>(g.counters().pivot);
    g.colour(slot) = pivot_colour;
    g.state(slot) = 1;
    seeds.add(slot);
  }
};

/// Those that the pivot does not reach have colours of their own at first.
template <class MemorySpace>
struct BeginColours {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::uint32_t slot, QueueSeeds<MemorySpace>& seeds) const {
    if (!g.is_core(slot) || g.colour(slot) == pivot_colour) return;
    g.colour(slot) = slot;
    g.state(slot) = 1;
    seeds.add(slot);
  }
};

template <class MemorySpace>
struct BeginMerging {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::uint32_t slot, QueueSeeds<MemorySpace>& seeds) const {
    if (!g.is_core(slot)) return;
    bool const is_pivot = g.colour(slot) == pivot_colour && slot == static_cast<std::uint32_t>(g.counters().pivot);
    if (!is_pivot && g.colour(slot) != slot) return;
    g.state(slot) = 1;
    seeds.add(slot);
  }
};

}  // namespace hornbill::points_to::detail
