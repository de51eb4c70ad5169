/// \file
/// The graph that sets flow along, on a device: nodes that become one, edges, and rows of edges for one pass.
///
/// Nodes are variables, and hubs that stand for all targets that several pointers got together. What is said of nodes
/// is a list of edges and of inputs, which grows at its end. Each pass makes rows of it: nodes that have edges or
/// inputs get slots, edges from a node to itself go, and mostly those that are there twice.
#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/detail/allocate.hpp>
#include <hornbill/points_to/detail/chunks.hpp>
#include <hornbill/points_to/detail/shared_sets.hpp>
#include <hornbill/types.hpp>

namespace hornbill::points_to::detail {

/// Whether a node must look at those before it, and those behind it must look at it.
enum News : std::uint32_t { no_news, news_arrive, news_leave };

inline constexpr std::uint32_t no_node = 0xffffffffu;

inline constexpr std::uint32_t no_offset = 0xffffffffu;
/// The set of `to` contains that of `from`, or fields at an offset from its objects.
struct FlowEdge {
  std::uint32_t from, to;
  SharedSetId sent;      ///< a set of `from` that `to` has dealt with already
  std::uint32_t offset;  ///< `no_offset`, or the number of an offset

  /// Whether it says nothing.
  KOKKOS_FUNCTION bool is_idle() const { return from == to && offset == no_offset; }
};
/// Marks the other end of an edge with an offset in a row.
inline constexpr std::uint32_t offset_flag = 1u << 31;
/// The set of a node contains a set.
struct FlowInput {
  std::uint32_t node;
  SharedSetId set;
};

/// Numbers that all workers change. A list that is full counts on, but nobody begins to add to lists once one is known
/// to be full, so that no count comes back to 0.
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

inline constexpr std::uint32_t no_part = 0xffffffffu;

/// Edges of a pass by node: those that lead into each, or those that lead out of it. Long rows are divided into parts,
/// so that several workers share them.
template <class MemorySpace>
struct FlowRows {
  Kokkos::View<std::uint32_t*, MemorySpace> begin;         // [slots + 1]
  Kokkos::View<std::uint32_t*, MemorySpace> count;         // [slots]
  Kokkos::View<std::uint32_t*, MemorySpace> rank;          // [edges] of the list: where each comes in its row
  Kokkos::View<std::uint32_t*, MemorySpace> others;        // [edges] slots at the other ends, some with `offset_flag`
  Kokkos::View<std::uint32_t*, MemorySpace> first_part;    // [slots] or `no_part`
  Kokkos::View<std::uint32_t*, MemorySpace> slot_of_part;  // [parts]
  Kokkos::View<std::uint32_t*, MemorySpace> is_queued;     // [parts], 0 between walks

  KOKKOS_FUNCTION std::uint32_t length(std::uint32_t slot) const { return begin(slot + 1) - begin(slot); }
};

/// How long a part is.
template <class MemorySpace>
inline constexpr std::uint32_t part_size = is_host_memory<MemorySpace> ? 1024 : 64;

/// 0 where a row is not divided.
KOKKOS_INLINE_FUNCTION std::uint32_t num_parts(std::uint32_t length, std::uint32_t size) {
  return length > size ? (length + size - 1) / size : 0;
}

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
  Array<FlowEdge> edges, kept;  // of the list; of rows while they are made
  Array<FlowInput> inputs;
  Array<std::uint64_t> seen;  // a hash table of edges, empty between passes
  // [slots]
  Array<std::uint32_t> active;                   // nodes
  Array<std::uint32_t> waiting_in, waiting_out;  // edges without offsets from, and to, nodes that are not done
  Array<std::uint32_t> copies_in;                // edges without offsets
  Array<std::uint32_t> colour, state;
  Array<std::uint32_t> news;        // of type News
  Array<std::uint32_t> parts_left;  // that have not been added up yet
  // rows; edges into nodes are also `edges`, in the same order. Parts of rows into a node go on with its inputs.
  FlowRows<MemorySpace> in, out;
  Array<std::uint32_t> input_begin, input_count;  // [slots + 1], [slots]
  Array<std::uint32_t> input_rank;                // [inputs + absorbed]
  Array<SharedSetId> row_inputs;
  Array<SharedSetId> part_sets;  // what parts of rows into nodes add up to
  Kokkos::View<FlowCounters, MemorySpace> counters;
  /// The object that is all that is not known, and a node that has it alone, which is loaded from there.
  std::uint32_t outside = no_node, from_outside = no_node;

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
    if (is_full()) return;
    auto const at = Kokkos::atomic_fetch_add(&counters().inputs, 1u);
    if (at < inputs.extent(0))
      inputs(at) = {node, set};
    else
      set_full();
  }
  /// \return `no_node` if there is no room
  KOKKOS_FUNCTION std::uint32_t add_node() const {
    if (is_full()) return no_node;
    auto const node = Kokkos::atomic_fetch_add(&counters().nodes, 1u);
    if (node < parent.extent(0)) return node;
    set_full();
    return no_node;
  }
  /// Entries of a row that sets come from: edges, then inputs.
  KOKKOS_FUNCTION std::uint32_t num_sources(std::uint32_t slot) const {
    return in.length(slot) + input_begin(slot + 1) - input_begin(slot);
  }
  /// Calls on_edge(i) for one of so many edges, or on_input(node, set) for one of the inputs that come behind them:
  /// those of the list, and sets of nodes that have become one with others.
  template <class OnEdge, class OnInput>
  KOKKOS_FUNCTION void visit(std::size_t i, std::uint32_t num_edges, OnEdge const& on_edge,
                             OnInput const& on_input) const {
    if (i < num_edges) {
      on_edge(i);
    } else if ((i -= num_edges) < counters().inputs) {
      on_input(root(inputs(i).node), inputs(i).set);
    } else if ((i -= counters().inputs) < counters().absorbed) {
      on_input(root(absorbed(i)), sets(absorbed(i)));
    }
  }
  /// Whether a slot's node is on a cycle or behind one.
  KOKKOS_FUNCTION bool is_left(std::uint32_t slot) const { return backend::read_shared(waiting_in(slot)) != 0; }
  /// Whether it is on a cycle, or between two.
  KOKKOS_FUNCTION bool is_core(std::uint32_t slot) const {
    return is_left(slot) && backend::read_shared(waiting_out(slot)) != 0;
  }
};

/// Adds edges whose number is known, from one thread. On a CPU it takes places for many at once, and also adds those
/// from a node to itself, which go when rows are made.
template <class MemorySpace>
class EdgeAppender {
 public:
  KOKKOS_FUNCTION EdgeAppender(FlowGraph<MemorySpace> const& g, std::uint64_t count) : g_(g), left_(count) {}
  KOKKOS_FUNCTION void add(std::uint32_t from, std::uint32_t to) {
    if constexpr (!is_host_memory<MemorySpace>) {
      g_.add_edge(from, to);
    } else {
      if (num_places_ == 0) take_places();
      if (at_ < g_.edges.extent(0)) g_.edges(at_++) = {from, to, shared_empty_set, no_offset};
      --num_places_;
    }
  }

 private:
  KOKKOS_FUNCTION void take_places() {
    constexpr std::uint64_t most = 1024;  // so few that no count comes back to 0 beyond the end of the list
    num_places_ = static_cast<std::uint32_t>(Kokkos::min(left_, most));
    left_ -= num_places_;
    at_ = static_cast<std::uint32_t>(g_.edges.extent(0));
    if (g_.is_full()) return;
    at_ = Kokkos::atomic_fetch_add(&g_.counters().edges, num_places_);
    if (std::size_t{at_} + num_places_ > g_.edges.extent(0)) g_.set_full();
  }

  FlowGraph<MemorySpace> const& g_;
  std::uint64_t left_;  // edges that have no places yet
  std::uint32_t at_ = 0, num_places_ = 0;
};

/// Marks roots that have edges or inputs with the number of a pass.
template <class MemorySpace>
struct FindActive {
  FlowGraph<MemorySpace> g;
  std::uint32_t pass;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    g.visit(
        i, g.counters().edges,
        [&](std::size_t e) {
          auto& edge = g.edges(e);
          edge.from = g.root(edge.from);
          edge.to = g.root(edge.to);
          if (edge.is_idle()) return;
          activate(edge.from);
          activate(edge.to);
        },
        [&](std::uint32_t node, SharedSetId) { activate(node); });
  }
  KOKKOS_FUNCTION void activate(std::uint32_t node) const {
    if (backend::read_shared(g.pass_of(node)) != pass) backend::write_shared(g.pass_of(node), pass);
  }
};

/// Gives slots to active nodes, in their order: neighbours in a program are neighbours in memory.
template <class MemorySpace>
struct PlaceNodes {
  FlowGraph<MemorySpace> g;
  std::uint32_t pass;

  KOKKOS_FUNCTION void operator()(std::size_t node, std::uint32_t& slot, bool is_final) const {
    bool const is_active = g.pass_of(node) == pass;
    if (is_final && is_active) {
      g.slot_of(node) = slot;
      g.active(slot) = static_cast<std::uint32_t>(node);
      g.in.count(slot) = g.out.count(slot) = g.input_count(slot) = 0;
      g.waiting_in(slot) = g.waiting_out(slot) = g.state(slot) = 0;
    }
    slot += is_active ? 1 : 0;
    if (is_final && node + 1 == g.counters().nodes) g.counters().active = slot;
  }
};

/// Counts entries of rows, and of these the offsets. Edges that are there twice become edges from a node to itself.
template <class MemorySpace>
struct CountEntries {
  FlowGraph<MemorySpace> g;
  bool drops_repeated;
  std::uint64_t mask;  ///< size of the hash table, less 1

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    auto const num_edges = g.counters().edges;
    g.visit(
        i, num_edges, [&](std::size_t e) { count(e); },
        [&](std::uint32_t node, SharedSetId) {
          g.input_rank(i - num_edges) = Kokkos::atomic_fetch_add(&g.input_count(g.slot_of(node)), 1u);
        });
  }
  KOKKOS_FUNCTION void count(std::size_t e) const {
    auto& edge = g.edges(e);
    if (edge.is_idle()) return;
    auto const from = g.slot_of(edge.from), to = g.slot_of(edge.to);
    if (edge.offset != no_offset) {
      Kokkos::atomic_inc(&g.waiting_out(from));
      Kokkos::atomic_inc(&g.waiting_in(to));
    } else if (drops_repeated && !is_new(from, to)) {
      edge.to = edge.from;
      return;
    }
    g.out.rank(e) = Kokkos::atomic_fetch_add(&g.out.count(from), 1u);
    g.in.rank(e) = Kokkos::atomic_fetch_add(&g.in.count(to), 1u);
  }
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
    Places const counts{g.in.count(slot), g.out.count(slot), g.input_count(slot)};
    join(places, counts);
    if (!is_final) return;
    if (slot == 0) g.in.begin(0) = g.out.begin(0) = g.input_begin(0) = 0;
    g.in.begin(slot + 1) = places.in;
    g.out.begin(slot + 1) = places.out;
    g.input_begin(slot + 1) = places.input;
    g.waiting_in(slot) = g.copies_in(slot) = counts.in - g.waiting_in(slot);
    g.waiting_out(slot) = counts.out - g.waiting_out(slot);
    if (slot + 1 == g.counters().active) g.counters().kept = places.in;
    g.in.first_part(slot) = first_of(counts.in + counts.input, g.counters().in_parts);
    g.out.first_part(slot) = first_of(counts.out, g.counters().out_parts);
  }
  KOKKOS_FUNCTION static std::uint32_t first_of(std::uint32_t length, std::uint32_t& used) {
    auto const count = num_parts(length, part_size<MemorySpace>);
    return count == 0 ? no_part : Kokkos::atomic_fetch_add(&used, count);
  }
};

/// Fills rows; those of edges into nodes become the list of edges. The first entry of a part says whose it is.
template <class MemorySpace>
struct FillRows {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    auto const num_edges = g.counters().edges;
    g.visit(
        i, num_edges, [&](std::size_t e) { add_edge(e); },
        [&](std::uint32_t node, SharedSetId set) {
          auto const slot = g.slot_of(node), rank = g.input_rank(i - num_edges);
          g.row_inputs(g.input_begin(slot) + rank) = set;
          begin_part(g.in, slot, g.in.length(slot) + rank);
        });
  }
  KOKKOS_FUNCTION void add_edge(std::size_t e) const {
    auto const& edge = g.edges(e);
    if (edge.is_idle()) return;
    auto const from = g.slot_of(edge.from), to = g.slot_of(edge.to);
    auto const flag = edge.offset == no_offset ? 0 : offset_flag;
    g.kept(add(g.in, to, g.in.rank(e), from | flag)) = edge;
    add(g.out, from, g.out.rank(e), to | flag);
  }
  KOKKOS_FUNCTION std::uint32_t add(FlowRows<MemorySpace> const& rows, std::uint32_t slot, std::uint32_t rank,
                                    std::uint32_t other) const {
    auto const at = rows.begin(slot) + rank;
    rows.others(at) = other;
    begin_part(rows, slot, rank);
    return at;
  }
  KOKKOS_FUNCTION void begin_part(FlowRows<MemorySpace> const& rows, std::uint32_t slot, std::uint32_t i) const {
    constexpr auto size = part_size<MemorySpace>;
    if (i % size == 0 && rows.first_part(slot) != no_part) rows.slot_of_part(rows.first_part(slot) + i / size) = slot;
  }
};

}  // namespace hornbill::points_to::detail
