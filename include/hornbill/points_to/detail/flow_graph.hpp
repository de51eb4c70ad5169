/// \file
/// The graph that sets flow along, on a device: nodes that become one, edges, and rows of edges for one pass.
///
/// Nodes are variables, and hubs that stand for all targets that several pointers got together. What is said of nodes
/// is a list of edges and of inputs, which grows at its end. Each pass makes rows of it: nodes that have edges or
/// inputs get slots, edges from a node to itself and edges that are there twice go.
#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/detail/allocate.hpp>
#include <hornbill/points_to/detail/shared_sets.hpp>
#include <hornbill/types.hpp>

namespace hornbill::points_to::detail {

/// Whether a node must look at those before it, and those behind it must look at it.
enum News : std::uint32_t { no_news, news_arrive, news_leave };

inline constexpr std::uint32_t no_node = 0xffffffffu;

/// The set of `to` contains that of `from`, or fields at an offset from its objects.
struct FlowEdge {
  std::uint32_t from, to;
  SharedSetId sent;      ///< a set of `from` that `to` has dealt with already
  std::uint32_t offset;  ///< `no_offset`, or the number of an offset
};
inline constexpr std::uint32_t no_offset = 0xffffffffu;
/// Marks the other end of an edge with an offset in a row.
inline constexpr std::uint32_t offset_flag = 1u << 31;
/// The set of a node contains a set.
struct FlowInput {
  std::uint32_t node;
  SharedSetId set;
};

/// Numbers that all workers change. A list that is full counts on, but nobody begins to add to one that is known to be
/// full, so that no count comes back to 0.
struct FlowCounters {
  std::uint32_t nodes = 0, edges = 0, inputs = 0, absorbed = 0;
  std::uint32_t active = 0, kept = 0;  ///< of a pass
  std::uint32_t in_parts = 0, out_parts = 0;
  std::uint32_t left = 0;             ///< nodes that are on cycles, or behind some
  std::uint32_t unsettled = 0;        ///< edges whose set has grown since it was taken along
  std::uint32_t still_unsettled = 0;  ///< the same after one more pass
  std::uint64_t pivot = 0;            ///< the node of the core with the most paths through it, below their number
  std::uint32_t groups = 0;           ///< distinct new targets of dereferences
  std::uint32_t changes = 0;          ///< whether a dereference has new targets
  std::uint32_t is_full = 0;          ///< a list
  std::uint32_t merged_by_cycles = 0, merged_by_hybrid_cycles = 0;
  std::uint32_t hubs = 0;
  std::uint64_t load_edges = 0, store_edges = 0;
};

template <class MemorySpace>
struct FlowGraph {
  template <class T>
  using Array = Kokkos::View<T*, MemorySpace>;

  // [nodes]
  Array<std::uint32_t> parent;    // of a node that has become one with another; else the node itself
  Array<SharedSetId> sets;        // of roots
  Array<std::uint32_t> absorbed;  // nodes that became one with another in this round: their sets are inputs
  Array<std::uint32_t> pass_of, slot_of;
  // lists
  Array<FlowEdge> edges, kept;
  Array<FlowInput> inputs;
  Array<std::uint64_t> seen;  // a hash table of edges, empty between passes
  // [slots + 1], or [slots]
  Array<std::uint32_t> active;  // nodes
  Array<std::uint32_t> in_begin, out_begin, input_begin;
  Array<std::uint32_t> in_next, out_next, input_next;  // counts, then where the next entry goes
  Array<std::uint32_t> waiting_in, waiting_out;        // edges without offsets from, and to, nodes that are not done
  Array<std::uint32_t> copies_in;                      // edges without offsets
  Array<std::uint32_t> colour, state;
  Array<std::uint32_t> news;  // of type News
  // long rows are divided into parts, so that several workers share them
  Array<std::uint32_t> in_parts, out_parts;  // [slots] the first part of each, or `no_part`
  Array<std::uint32_t> parts_left;           // [slots] that have not been added up yet
  Array<std::uint32_t> slot_of_in_part, slot_of_out_part;
  Array<SharedSetId> part_sets;  // what parts add up to
  // rows' entries; those of edges into a node are `edges`
  Array<std::uint32_t> in_slots, out_slots;
  Array<SharedSetId> row_inputs;
  Kokkos::View<FlowCounters, MemorySpace> counters;

  KOKKOS_FUNCTION std::uint32_t root(std::uint32_t node) const {
    for (;;) {
      auto const up = backend::read_shared(parent(node));
      if (up == node) return node;
      node = up;
    }
  }
  /// The root with the larger number becomes a child of the other; its set is an input of that from now on.
  /// \return whether they were two
  KOKKOS_FUNCTION bool merge(std::uint32_t a, std::uint32_t b) const {
    for (;;) {
      a = root(a);
      b = root(b);
      if (a == b) return false;
      auto const child = a < b ? b : a, above = a < b ? a : b;
      if (Kokkos::atomic_compare_exchange(&parent(child), child, above) != child) continue;
      absorbed(Kokkos::atomic_fetch_add(&counters().absorbed, 1u)) = child;  // each node once, so there is room
      return true;
    }
  }
  KOKKOS_FUNCTION bool is_full() const { return backend::read_shared(counters().is_full) != 0; }
  KOKKOS_FUNCTION void set_full() const { backend::write_shared(counters().is_full, 1u); }
  /// By one thread.
  KOKKOS_FUNCTION void add_edge(std::uint32_t from, std::uint32_t to) const {
    if (from == to || is_full()) return;
    auto const at = Kokkos::atomic_fetch_add(&counters().edges, 1u);
    if (at < edges.extent(0))
      edges(at) = {from, to, shared_empty_set, no_offset};
    else
      set_full();
  }
  KOKKOS_FUNCTION void add_input(std::uint32_t node, SharedSetId set) const {
    auto const at = Kokkos::atomic_fetch_add(&counters().inputs, 1u);
    if (at < inputs.extent(0))
      inputs(at) = {node, set};
    else
      set_full();
  }
  /// \return `no_node` if there is no room
  KOKKOS_FUNCTION std::uint32_t add_node() const {
    auto const node = Kokkos::atomic_fetch_add(&counters().nodes, 1u);
    if (node < parent.extent(0)) return node;
    set_full();
    return no_node;
  }
  /// Entries of a row that sets come from: edges, then inputs.
  KOKKOS_FUNCTION std::uint32_t num_sources(std::uint32_t slot) const {
    return in_begin(slot + 1) - in_begin(slot) + input_begin(slot + 1) - input_begin(slot);
  }
  KOKKOS_FUNCTION std::uint32_t num_targets(std::uint32_t slot) const { return out_begin(slot + 1) - out_begin(slot); }
  /// Whether a slot's node is on a cycle or behind one.
  KOKKOS_FUNCTION bool is_left(std::uint32_t slot) const { return backend::read_shared(waiting_in(slot)) != 0; }
  /// Whether it is on a cycle, or between two.
  KOKKOS_FUNCTION bool is_core(std::uint32_t slot) const {
    return is_left(slot) && backend::read_shared(waiting_out(slot)) != 0;
  }
};

/// Gives slots to roots that have edges or inputs.
template <class MemorySpace>
struct FindActive {
  FlowGraph<MemorySpace> g;
  std::uint32_t pass;

  KOKKOS_FUNCTION void activate(std::uint32_t node) const {
    if (backend::read_shared(g.pass_of(node)) == pass || Kokkos::atomic_exchange(&g.pass_of(node), pass) == pass)
      return;
    auto const slot = Kokkos::atomic_fetch_add(&g.counters().active, 1u);
    g.slot_of(node) = slot;
    g.active(slot) = node;
    g.in_next(slot) = g.out_next(slot) = g.input_next(slot) = 0;
    g.waiting_in(slot) = g.waiting_out(slot) = g.state(slot) = 0;
  }
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    auto const& counters = g.counters();
    if (i < counters.edges) {
      auto& edge = g.edges(i);
      edge.from = g.root(edge.from);
      edge.to = g.root(edge.to);
      if (edge.from == edge.to && edge.offset == no_offset) return;
      activate(edge.from);
      activate(edge.to);
    } else if ((i -= counters.edges) < counters.inputs) {
      auto& input = g.inputs(i);
      input.node = g.root(input.node);
      activate(input.node);
    } else if ((i -= counters.inputs) < counters.absorbed) {
      activate(g.root(g.absorbed(i)));
    }
  }
};

/// Counts entries of rows; edges that are there twice are kept once.
template <class MemorySpace>
struct CountEntries {
  FlowGraph<MemorySpace> g;
  std::uint64_t mask;  ///< size of the hash table, less 1

  KOKKOS_FUNCTION bool is_new(std::uint32_t from, std::uint32_t to) const {
    auto const key = (std::uint64_t{from} << 32 | to) + 1;
    auto at = (key * 0x9e3779b97f4a7c15u >> 20) & mask;
    for (;; at = (at + 1) & mask) {
      auto found = backend::read_shared(g.seen(at));
      if (found == 0) found = Kokkos::atomic_compare_exchange(&g.seen(at), std::uint64_t{0}, key);
      if (found == 0) return true;
      if (found == key) return false;
    }
  }
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    auto& counters = g.counters();
    if (i < counters.edges) {
      auto const edge = g.edges(i);
      if (edge.from == edge.to && edge.offset == no_offset) return;
      auto const from = g.slot_of(edge.from), to = g.slot_of(edge.to);
      if (edge.offset == no_offset) {
        if (!is_new(from, to)) return;
        Kokkos::atomic_inc(&g.waiting_out(from));
        Kokkos::atomic_inc(&g.waiting_in(to));
      }
      g.kept(Kokkos::atomic_fetch_add(&counters.kept, 1u)) = edge;
      Kokkos::atomic_inc(&g.out_next(from));
      Kokkos::atomic_inc(&g.in_next(to));
    } else if ((i -= counters.edges) < counters.inputs) {
      Kokkos::atomic_inc(&g.input_next(g.slot_of(g.inputs(i).node)));
    } else if ((i -= counters.inputs) < counters.absorbed) {
      Kokkos::atomic_inc(&g.input_next(g.slot_of(g.root(g.absorbed(i)))));
    }
  }
};

/// Counts become places of rows.
template <class MemorySpace>
struct PlaceRows {
  struct Places {
    std::uint32_t in = 0, out = 0, input = 0;
  };
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void init(Places& places) const { places = {}; }
  KOKKOS_FUNCTION void join(Places& to, Places const& from) const {
    to.in += from.in;
    to.out += from.out;
    to.input += from.input;
  }
  KOKKOS_FUNCTION void operator()(std::size_t slot, Places& places, bool is_final) const {
    if (slot >= g.counters().active) return;
    Places const counts{g.in_next(slot), g.out_next(slot), g.input_next(slot)};
    auto const begin = places;
    join(places, counts);
    if (!is_final) return;
    if (slot == 0) g.in_begin(0) = g.out_begin(0) = g.input_begin(0) = 0;
    g.in_next(slot) = begin.in;
    g.out_next(slot) = begin.out;
    g.input_next(slot) = begin.input;
    g.copies_in(slot) = g.waiting_in(slot);
    g.in_begin(slot + 1) = places.in;
    g.out_begin(slot + 1) = places.out;
    g.input_begin(slot + 1) = places.input;
  }
};

template <class MemorySpace>
struct FillRows {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void add_input(std::uint32_t node, SharedSetId set) const {
    g.row_inputs(Kokkos::atomic_fetch_add(&g.input_next(g.slot_of(node)), 1u)) = set;
  }
  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    auto const& counters = g.counters();
    if (i < counters.kept) {
      auto const edge = g.kept(i);
      auto const from = g.slot_of(edge.from), to = g.slot_of(edge.to);
      auto const at = Kokkos::atomic_fetch_add(&g.in_next(to), 1u);
      auto const flag = edge.offset == no_offset ? 0 : offset_flag;
      g.edges(at) = edge;
      g.in_slots(at) = from | flag;
      g.out_slots(Kokkos::atomic_fetch_add(&g.out_next(from), 1u)) = to | flag;
    } else if ((i -= counters.kept) < counters.inputs) {
      add_input(g.inputs(i).node, g.inputs(i).set);
    } else if ((i -= counters.inputs) < counters.absorbed) {
      add_input(g.root(g.absorbed(i)), g.sets(g.absorbed(i)));
    }
  }
};

}  // namespace hornbill::points_to::detail
