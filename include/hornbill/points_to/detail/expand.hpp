/// \file
/// New targets of pointers become edges, for loads and stores, or inputs, for offsets.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/points_to/detail/flow_graph.hpp>
#include <hornbill/points_to/detail/set_worker.hpp>

namespace hornbill::points_to::detail {

/// Loads and stores through one pointer.
struct DeviceDereference {
  std::uint32_t pointer;
  std::uint32_t loads, stores, end;  ///< where destinations of loads begin, and sources of stores, and where these end
  std::uint32_t cycle;               ///< a node whose set the targets' contents have, or `no_node`

  KOKKOS_FUNCTION std::uint32_t num_loads() const { return stores - loads; }
  KOKKOS_FUNCTION std::uint32_t num_stores() const { return end - stores; }
};
/// Dereferences that have the same new targets.
struct TargetGroup {
  SharedSetId targets;
  std::uint32_t least, largest;       ///< nodes that contents are one with; equal if they are all one
  std::uint32_t load_hub, store_hub;  ///< `no_node` where there is none
};

template <class MemorySpace>
struct Dereferences {
  template <class T>
  using Array = Kokkos::View<T*, MemorySpace>;

  Array<DeviceDereference> list;
  Array<std::uint32_t> ends;              // nodes that are loaded to, or stored from
  Array<SharedSetId> done, now, targets;  // [list]: applied to these targets; those of this round; the new ones
  Array<TargetGroup> groups;              // [list]
  Array<std::uint32_t> with_cycles;       // numbers of those in the list that have a cycle
  Array<std::uint64_t> num_ends;          // [sets], of those that are new targets: loads, and stores above 32 bits
  Array<std::uint32_t> group_of;          // [sets]
};

/// Finds new targets.
template <class MemorySpace>
struct FindTargets {
  FlowGraph<MemorySpace> g;
  Dereferences<MemorySpace> d;

  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, std::uint64_t i) const {
    auto const& dereference = d.list(i);
    auto const set = g.sets(g.root(dereference.pointer));
    auto const targets = worker.subtract(set, d.done(i));
    bool const is_nothing = targets == shared_empty_set || worker.is_full_for_all();
    if (worker.lane() != 0) return;
    d.now(i) = set;
    d.targets(i) = is_nothing ? shared_empty_set : targets;
    if (is_nothing) return;
    auto const num_ends = std::uint64_t{dereference.num_stores()} << 32 | dereference.num_loads();
    if (backend::read_shared(g.counters().changes) == 0) backend::write_shared(g.counters().changes, 1u);
    if (Kokkos::atomic_fetch_add(&d.num_ends(targets), num_ends) != 0) return;
    auto const group = Kokkos::atomic_fetch_add(&g.counters().groups, 1u);
    d.groups(group) = {targets, no_node, 0, no_node, no_node};
    d.group_of(targets) = group;
  }
};

/// Work on the targets of groups, in parts.
template <class MemorySpace>
struct OfGroups {
  FlowGraph<MemorySpace> g;
  Dereferences<MemorySpace> d;

  KOKKOS_FUNCTION std::uint64_t num_items(SetWorker<MemorySpace> const& worker) const {
    return std::uint64_t{g.counters().groups} * worker.parts_of_set();
  }
  KOKKOS_FUNCTION TargetGroup& group_of(SetWorker<MemorySpace> const& worker, std::uint64_t item) const {
    return d.groups(item / worker.parts_of_set());
  }
  /// Calls function(object) for the objects of the item's part.
  template <class Function>
  KOKKOS_FUNCTION void for_each_target(SetWorker<MemorySpace> const& worker, std::uint64_t item,
                                       Function const& function) const {
    auto const part = static_cast<std::uint32_t>(item % worker.parts_of_set());
    worker.for_each_in_part(group_of(worker, item).targets, part, function);
  }
};

/// Makes contents one where they will be on a cycle.
template <class MemorySpace>
struct MergeContents {
  FlowGraph<MemorySpace> g;
  Dereferences<MemorySpace> d;

  KOKKOS_FUNCTION std::uint64_t num_items(SetWorker<MemorySpace> const& worker) const {
    return d.with_cycles.extent(0) * worker.parts_of_set();
  }
  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, std::uint64_t item) const {
    auto const i = d.with_cycles(item / worker.parts_of_set());
    auto const targets = d.targets(i);
    if (targets == shared_empty_set) return;
    auto const cycle = d.list(i).cycle;
    std::uint32_t num_merged = 0;
    worker.for_each_in_part(
        targets, static_cast<std::uint32_t>(item % worker.parts_of_set()),
        [&](std::uint32_t object) { num_merged += object != g.outside && g.merge(cycle, object) ? 1 : 0; });
    if (num_merged > 0) Kokkos::atomic_add(&g.counters().merged_by_hybrid_cycles, num_merged);
  }
};

/// Finds out whether contents of a group's targets are all one.
template <class MemorySpace>
struct FindContents : OfGroups<MemorySpace> {
  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, std::uint64_t item) const {
    std::uint32_t least = no_node, largest = 0;
    this->for_each_target(worker, item, [&](std::uint32_t object) {
      // The outside has two: one for loads, one for stores.
      if (object == this->g.outside) largest = this->g.from_outside;
      auto const content = this->g.root(object);
      if (content < least) least = content;
      if (content > largest) largest = content;
    });
    least = worker.least_of_lanes(least);
    largest = worker.largest_of_lanes(largest);
    if (worker.lane() != 0 || least == no_node) return;
    auto& group = this->group_of(worker, item);
    Kokkos::atomic_min(&group.least, least);
    Kokkos::atomic_max(&group.largest, largest);
  }
};

/// Gives a group hubs, where several loads or stores share several contents.
template <class MemorySpace>
struct AddHubs {
  FlowGraph<MemorySpace> g;
  Dereferences<MemorySpace> d;
  bool hubs;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    if (i >= g.counters().groups) return;
    auto& group = d.groups(i);
    auto& num_ends = d.num_ends(group.targets);
    bool const are_many = hubs && group.least != group.largest;
    if (are_many && static_cast<std::uint32_t>(num_ends) > 1) group.load_hub = add_hub();
    if (are_many && num_ends >> 32 > 1) group.store_hub = add_hub();
    num_ends = 0;
  }
  KOKKOS_FUNCTION std::uint32_t add_hub() const {
    auto const hub = g.add_node();
    if (hub != no_node) Kokkos::atomic_inc(&g.counters().hubs);
    return hub;
  }
};

/// Connects contents of a group's targets with its hubs.
template <class MemorySpace>
struct ConnectContents : OfGroups<MemorySpace> {
  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, std::uint64_t item) const {
    auto const group = this->group_of(worker, item);
    if (group.load_hub == no_node && group.store_hub == no_node) return;
    std::uint32_t num_edges = 0, last = no_node;
    this->for_each_target(worker, item, [&](std::uint32_t object) {
      auto const content = this->g.root(object);
      bool const is_outside = object == this->g.outside;
      if (content == last && !is_outside) return;
      last = is_outside ? no_node : content;
      if (group.load_hub != no_node) this->g.add_edge(is_outside ? this->g.from_outside : content, group.load_hub);
      if (group.store_hub != no_node) this->g.add_edge(group.store_hub, content);
      ++num_edges;
    });
    num_edges = worker.sum_of_lanes(num_edges);
    if (worker.lane() != 0 || num_edges == 0) return;
    auto& counters = this->g.counters();
    if (group.load_hub != no_node) Kokkos::atomic_add(&counters.load_edges, std::uint64_t{num_edges});
    if (group.store_hub != no_node) Kokkos::atomic_add(&counters.store_edges, std::uint64_t{num_edges});
  }
};

/// Connects ends of loads and stores with hubs, or with contents, for a chunk of dereferences.
template <class MemorySpace>
struct ConnectEnds {
  FlowGraph<MemorySpace> g;
  Dereferences<MemorySpace> d;

  /// Ends of a dereference, all loads or all stores.
  struct Ends {
    std::uint32_t begin, end;
    std::uint32_t content;  ///< stands for all targets; `no_node` if each is to be connected with each end
  };

  KOKKOS_FUNCTION std::uint64_t num_items(SetWorker<MemorySpace> const&) const {
    return num_chunks<MemorySpace>(d.list.extent(0));
  }
  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, std::uint64_t chunk) const {
    std::uint64_t num_loads = 0, num_stores = 0;
    for_each_new(chunk, [&](SharedSetId targets, Ends const& loads, Ends const& stores) {
      num_loads += num_edges(worker, targets, loads);
      num_stores += num_edges(worker, targets, stores);
    });
    EdgeAppender<MemorySpace> edges(g, num_loads + num_stores);
    for_each_new(chunk, [&](SharedSetId targets, Ends const& loads, Ends const& stores) {
      connect(worker, targets, loads, [&](std::uint32_t content, std::uint32_t end) {
        bool const is_outside = loads.content == no_node && content == g.outside;
        edges.add(is_outside ? g.from_outside : content, end);
      });
      connect(worker, targets, stores, [&](std::uint32_t content, std::uint32_t end) { edges.add(end, content); });
    });
    if (worker.lane() != 0) return;
    if (num_loads > 0) Kokkos::atomic_add(&g.counters().load_edges, num_loads);
    if (num_stores > 0) Kokkos::atomic_add(&g.counters().store_edges, num_stores);
  }

 private:
  /// Calls function(targets, loads, stores) for the dereferences of a chunk that have new targets.
  template <class Function>
  KOKKOS_FUNCTION void for_each_new(std::uint64_t chunk, Function const& function) const {
    for_each_of_chunk<MemorySpace>(chunk, d.list.extent(0), [&](std::size_t i) {
      auto const targets = d.targets(i);
      if (targets == shared_empty_set) return;
      auto const& dereference = d.list(i);
      auto const& group = d.groups(d.group_of(targets));
      auto const one = group.least == group.largest ? group.least : no_node;
      function(targets, Ends{dereference.loads, dereference.stores, group.load_hub != no_node ? group.load_hub : one},
               Ends{dereference.stores, dereference.end, group.store_hub != no_node ? group.store_hub : one});
    });
  }
  KOKKOS_FUNCTION static std::uint64_t num_edges(SetWorker<MemorySpace> const& worker, SharedSetId targets,
                                                 Ends const& ends) {
    if (ends.begin == ends.end) return 0;
    return std::uint64_t{ends.end - ends.begin} * (ends.content != no_node ? 1 : worker.num_elements(targets));
  }
  template <class Add>
  KOKKOS_FUNCTION void connect(SetWorker<MemorySpace> const& worker, SharedSetId targets, Ends const& ends,
                               Add const& add) const {
    if (ends.content != no_node) {
      auto const lanes = static_cast<std::uint32_t>(backend::lanes_together());
      for (auto c = ends.begin + worker.lane(); c < ends.end; c += lanes) add(ends.content, d.ends(c));
    } else {
      for (auto c = ends.begin; c < ends.end; ++c)
        worker.for_each_by_lanes(targets, [&](std::uint32_t object) { add(object, d.ends(c)); });
    }
  }
};

/// The targets of this round have been dealt with, unless something was full.
template <class MemorySpace>
struct KeepTargets {
  FlowGraph<MemorySpace> g;
  SharedSets<MemorySpace> sets;
  Dereferences<MemorySpace> d;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    if (g.counters().is_full == 0 && sets.counters().is_full == 0) d.done(i) = d.now(i);
  }
};

}  // namespace hornbill::points_to::detail
