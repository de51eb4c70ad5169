/// \file
/// Rows as walks go through them: short ones by one worker, long ones in parts by several.
#pragma once

#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/points_to/detail/flow_graph.hpp>
#include <hornbill/points_to/detail/work_queue.hpp>

namespace hornbill::points_to::detail {

/// An item of a queue is a slot, or a part of the row into or out of one.
inline constexpr std::uint32_t in_part_flag = 1u << 30, out_part_flag = 1u << 31;

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

/// Adds those parts of a row that something holds of to a queue.
template <class MemorySpace, class Holds>
KOKKOS_FUNCTION void add_parts(QueueWorker<MemorySpace>& items, std::uint32_t first, std::uint32_t count,
                               std::uint32_t flag, Holds const& holds) {
  auto const lane = static_cast<std::uint32_t>(backend::lane_id());
  auto const lanes = static_cast<std::uint32_t>(backend::lanes_together());
  for (std::uint32_t base = 0; base < count; base += lanes) {
    auto const part = first + base + lane;
    items.add(base + lane < count && holds(part), flag | part);
  }
}

/// Calls function(other slot, whether there is one, whether the edge has no offset) for the edges of an item's slot;
/// those of a long row are added to the queue in parts. A walk may come to a slot again while its parts wait, so what
/// function() looks at of the slot it reads by itself: a part serves all that came before it.
template <class MemorySpace, class Function>
KOKKOS_FUNCTION void for_each_edge(FlowRows<MemorySpace> const& rows, std::uint32_t part_flag,
                                   QueueWorker<MemorySpace>& items, std::uint32_t item, Function const& function) {
  constexpr auto size = part_size<MemorySpace>;
  bool const is_part = (item & part_flag) != 0;
  auto const part = item & ~part_flag;
  auto const slot = is_part ? rows.slot_of_part(part) : item;
  auto const length = rows.length(slot);
  if (!is_part && length > size) {
    backend::order_memory();
    add_parts(items, rows.first_part(slot), num_parts(length, size), part_flag,
              [&](std::uint32_t added) { return Kokkos::atomic_exchange(&rows.is_queued(added), 1u) == 0; });
    return;
  }
  auto begin = rows.begin(slot), end = begin + length;
  if (is_part) {
    if (backend::lane_id() == 0) Kokkos::atomic_exchange(&rows.is_queued(part), 0u);
    backend::sync_lanes();
    backend::order_memory();
    begin += (part - rows.first_part(slot)) * size;
    if (begin + size < end) end = begin + size;
  }
  for_each_entry(rows.others, begin, end, [&](std::uint32_t other, bool is_entry) {
    function(other & ~offset_flag, is_entry, is_entry && (other & offset_flag) == 0);
  });
}
template <class MemorySpace, class Function>
KOKKOS_FUNCTION void for_each_edge_out(FlowGraph<MemorySpace> const& g, QueueWorker<MemorySpace>& items,
                                       std::uint32_t item, Function const& function) {
  for_each_edge(g.out, out_part_flag, items, item, function);
}
template <class MemorySpace, class Function>
KOKKOS_FUNCTION void for_each_edge_in(FlowGraph<MemorySpace> const& g, QueueWorker<MemorySpace>& items,
                                      std::uint32_t item, Function const& function) {
  for_each_edge(g.in, in_part_flag, items, item, function);
}

/// The slot of an item.
template <class MemorySpace>
KOKKOS_FUNCTION std::uint32_t slot_of_item(FlowGraph<MemorySpace> const& g, std::uint32_t item) {
  if (item & out_part_flag) return g.out.slot_of_part(item & ~out_part_flag);
  if (item & in_part_flag) return g.in.slot_of_part(item & ~in_part_flag);
  return item;
}

}  // namespace hornbill::points_to::detail
