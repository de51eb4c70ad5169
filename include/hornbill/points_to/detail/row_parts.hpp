/// \file
/// Rows as walks go through them: short ones by one worker, long ones in parts by several.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/points_to/detail/flow_graph.hpp>
#include <hornbill/points_to/detail/work_queue.hpp>

namespace hornbill::points_to::detail {

inline constexpr std::uint32_t no_part = 0xffffffffu;

/// How long a part is.
template <class MemorySpace>
inline constexpr std::uint32_t part_size =
    Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible ? 1024 : 64;

/// An item of a queue is a slot, or a part of the row into or out of one.
inline constexpr std::uint32_t in_part_flag = 1u << 30, out_part_flag = 1u << 31;

KOKKOS_INLINE_FUNCTION std::uint32_t num_parts(std::uint32_t length, std::uint32_t size) {
  return length > size ? (length + size - 1) / size : 0;
}

template <class MemorySpace>
struct DivideRows {
  FlowGraph<MemorySpace> g;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    if (i >= g.counters().active) return;
    auto const slot = static_cast<std::uint32_t>(i);
    g.in_parts(slot) = parts_of(slot, g.num_sources(slot), g.counters().in_parts, g.slot_of_in_part);
    // Walks against the edges go through edges alone, so there are parts enough.
    g.out_parts(slot) = parts_of(slot, g.num_targets(slot), g.counters().out_parts, g.slot_of_out_part);
  }
  KOKKOS_FUNCTION static std::uint32_t parts_of(std::uint32_t slot, std::uint32_t length, std::uint32_t& used,
                                                Kokkos::View<std::uint32_t*, MemorySpace> const& slots) {
    auto const count = num_parts(length, part_size<MemorySpace>);
    if (count == 0) return no_part;
    auto const first = Kokkos::atomic_fetch_add(&used, count);
    for (std::uint32_t k = 0; k < count; ++k) slots(first + k) = slot;
    return first;
  }
};

/// Calls function(entry, whether there is one) for the entries of a row; lanes divide them, and all of them call it.
template <class Entries, class Function>
KOKKOS_FUNCTION void for_each_entry(Entries const& entries, std::uint32_t begin, std::uint32_t end,
                                    Function const& function) {
  auto const lane = static_cast<std::uint32_t>(backend::lane_id());
  auto const lanes = static_cast<std::uint32_t>(backend::lanes_together());
  for (auto base = begin; base < end; base += lanes) {
    bool const is_entry = base + lane < end;
    function(is_entry ? entries(base + lane) : std::uint32_t{0}, is_entry);
  }
}

/// Adds the parts of a row to a queue.
template <class MemorySpace>
KOKKOS_FUNCTION void add_parts(QueueWorker<MemorySpace>& items, std::uint32_t first, std::uint32_t count,
                               std::uint32_t flag) {
  auto const lane = static_cast<std::uint32_t>(backend::lane_id());
  auto const lanes = static_cast<std::uint32_t>(backend::lanes_together());
  for (std::uint32_t base = 0; base < count; base += lanes)
    items.add(base + lane < count, flag | (first + base + lane));
}

/// Calls function(other slot, whether there is one, whether the edge has no offset) for edges out of an item's slot;
/// those of a long row are added to the queue in parts.
template <class MemorySpace, class Function>
KOKKOS_FUNCTION void for_each_edge_out(FlowGraph<MemorySpace> const& g, QueueWorker<MemorySpace>& items,
                                       std::uint32_t item, Function const& function) {
  bool const is_part = (item & out_part_flag) != 0;
  auto const part = item & ~out_part_flag;
  auto const slot = is_part ? g.slot_of_out_part(part) : item;
  auto const parts = g.out_parts(slot);
  if (!is_part && parts != no_part) {
    add_parts(items, parts, num_parts(g.num_targets(slot), part_size<MemorySpace>), out_part_flag);
    return;
  }
  auto begin = g.out_begin(slot), end = g.out_begin(slot + 1);
  if (is_part) {
    begin += (part - parts) * part_size<MemorySpace>;
    if (begin + part_size<MemorySpace> < end) end = begin + part_size<MemorySpace>;
  }
  for_each_entry(g.out_slots, begin, end, [&](std::uint32_t to, bool is_entry) {
    function(to & ~offset_flag, is_entry, is_entry && (to & offset_flag) == 0);
  });
}

/// The same for edges into the slot that have no offset.
template <class MemorySpace, class Function>
KOKKOS_FUNCTION void for_each_copy_in(FlowGraph<MemorySpace> const& g, QueueWorker<MemorySpace>& items,
                                      std::uint32_t item, Function const& function) {
  bool const is_part = (item & in_part_flag) != 0;
  auto const part = item & ~in_part_flag;
  auto const slot = is_part ? g.slot_of_in_part(part) : item;
  auto const parts = g.in_parts(slot);
  if (!is_part && parts != no_part) {
    add_parts(items, parts, num_parts(g.num_sources(slot), part_size<MemorySpace>), in_part_flag);
    return;
  }
  auto begin = g.in_begin(slot);
  auto end = g.in_begin(slot + 1);
  if (is_part) {
    begin += (part - parts) * part_size<MemorySpace>;
    if (begin + part_size<MemorySpace> < end) end = begin + part_size<MemorySpace>;
  }
  for_each_entry(g.in_slots, begin, end, [&](std::uint32_t from, bool is_entry) {
    function(from & ~offset_flag, is_entry && (from & offset_flag) == 0);
  });
}

/// The slot of an item.
template <class MemorySpace>
KOKKOS_FUNCTION std::uint32_t slot_of_item(FlowGraph<MemorySpace> const& g, std::uint32_t item) {
  if (item & out_part_flag) return g.slot_of_out_part(item & ~out_part_flag);
  if (item & in_part_flag) return g.slot_of_in_part(item & ~in_part_flag);
  return item;
}

}  // namespace hornbill::points_to::detail
