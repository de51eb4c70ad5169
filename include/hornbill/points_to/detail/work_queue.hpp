/// \file
/// Items that workers take and add in one kernel, until none is left: a walk through a graph without a barrier between
/// its levels.
///
/// An item is added when all that it waits for is done, so its worker need not wait. Who finds no item draws a ticket,
/// the number of the place where its item will be written, and looks there, and nowhere else: if thousands of warps
/// looked at the same place, all memory would be slow. The walk ends when as many are finished as were added; who
/// finishes the last one tells it to all that wait.
#pragma once

#include <cstdint>
#include <string>

#include <Kokkos_Core.hpp>

#include <hornbill/backend/intrinsics.hpp>
#include <hornbill/detail/allocate.hpp>
#include <hornbill/points_to/detail/set_worker.hpp>

namespace hornbill::points_to::detail {

/// Far enough from each other that they are in different lines of a cache, wherever Kokkos puts them.
struct WorkQueueCounters {
  std::uint32_t added = 0, between_1[31] = {};
  std::uint32_t tickets = 0, between_2[31] = {};
  std::uint32_t finished = 0, between_3[31] = {};
  std::uint32_t gone = 0;  ///< workers
  std::uint32_t is_over = 0;
};

inline constexpr std::uint32_t no_item = 0xffffffffu, walk_is_over = 0xfffffffeu;

/// A ring: its size is a power of two, above the number of items that wait at a time and of workers that wait for some,
/// so that no two of them look at one place.
template <class MemorySpace>
struct WorkQueue {
  Kokkos::View<std::uint32_t*, MemorySpace> items;  // `no_item` where there is none
  Kokkos::View<WorkQueueCounters, MemorySpace> counters;

  /// By one thread, before the walk.
  KOKKOS_FUNCTION void add(std::uint32_t item) const { items(Kokkos::atomic_fetch_add(&counters().added, 1u)) = item; }
  /// By all lanes of a worker, when no items will be added: writes to the places where workers wait for some.
  KOKKOS_FUNCTION void fill_awaited(std::uint32_t value) const {
    auto const begin = backend::read_shared(counters().added);
    auto const count = backend::shuffle(backend::read_shared(counters().tickets), 0) - begin;
    auto const mask = static_cast<std::uint32_t>(items.extent(0) - 1);
    for (auto i = static_cast<std::uint32_t>(backend::lane_id()); i < count;
         i += static_cast<std::uint32_t>(backend::lanes_together()))
      backend::write_shared(items((begin + i) & mask), value);
  }
};

template <class ExecutionSpace>
WorkQueue<typename ExecutionSpace::memory_space> make_work_queue(ExecutionSpace const& exec, std::size_t num_items,
                                                                 std::size_t num_workers) {
  WorkQueue<typename ExecutionSpace::memory_space> queue;
  auto const size = index_size_for(num_items + num_workers);
  queue.items = hornbill::detail::allocate<decltype(queue.items)>(exec, "hornbill::points_to::queue", size);
  Kokkos::deep_copy(exec, queue.items, no_item);
  queue.counters = decltype(queue.counters)(Kokkos::view_alloc(exec, "hornbill::points_to::queue_counters"));
  return queue;
}

/// What a worker has at hand of a queue; all lanes of its warp call its functions together.
template <class MemorySpace>
class QueueWorker {
 public:
  KOKKOS_FUNCTION explicit QueueWorker(WorkQueue<MemorySpace> const& queue)
      : queue_(queue),
        lane_(static_cast<std::uint32_t>(backend::lane_id())),
        mask_(static_cast<std::uint32_t>(queue.items.extent(0) - 1)) {}

  /// Adds the items of those lanes that have one. What was written before is seen by who takes it.
  KOKKOS_FUNCTION void add(bool has_item, std::uint32_t item) {
    auto lanes = backend::lanes_where(has_item);
    if (lanes == 0) return;
    if (num_kept_ == 0 || (num_kept_ < max_kept && !somebody_waits())) {
      auto const first = static_cast<std::uint32_t>(Kokkos::countr_zero(lanes));
      kept_[(first_kept_ + num_kept_++) % max_kept] = backend::shuffle(item, static_cast<int>(first));
      lanes &= lanes - 1;
      if (lanes == 0) return;
      has_item = has_item && lane_ != first;
    }
    backend::order_memory();
    backend::sync_lanes();
    std::uint32_t ticket = 0;
    if (lane_ == 0)
      ticket = Kokkos::atomic_fetch_add(&queue_.counters().added, static_cast<std::uint32_t>(Kokkos::popcount(lanes)));
    ticket = backend::shuffle(ticket, 0) + static_cast<std::uint32_t>(Kokkos::popcount(lanes & ((1u << lane_) - 1)));
    if (has_item) write(ticket & mask_, item);
  }

  /// The next item.   \return `no_item` when the walk is done
  KOKKOS_FUNCTION std::uint32_t next() {
    std::uint32_t item = no_item;
    if (num_kept_ > 0) {
      item = kept_[first_kept_];
      first_kept_ = (first_kept_ + 1) % max_kept;
      --num_kept_;
    } else {
      if (num_taken_ > 0) finish();
      if (lane_ == 0) item = wait_for_item();
      item = backend::shuffle(item, 0);
      num_taken_ = item == no_item ? 0 : 1;
    }
    backend::order_memory();  // also for items that were kept: others have done a part of what those waited for
    return item;
  }

 private:
  // A thread of a CPU keeps items while nobody waits for them; a warp always finds others that wait.
  static constexpr std::uint32_t max_kept =
      Kokkos::SpaceAccessibility<Kokkos::HostSpace, MemorySpace>::accessible ? 64 : 1;

  KOKKOS_FUNCTION bool somebody_waits() const {
    if constexpr (max_kept == 1) return true;
    auto const& counters = queue_.counters();
    auto const ahead = backend::read_shared(counters.tickets) - backend::read_shared(counters.added);
    return static_cast<std::int32_t>(ahead) > 0;
  }
  /// A place is free as soon as the item before has been taken from it.
  KOKKOS_FUNCTION void write(std::uint32_t at, std::uint32_t item) const {
    while (backend::read_shared(queue_.items(at)) != no_item) backend::let_others_run();
    backend::write_shared(queue_.items(at), item);
  }
  /// Counts items as finished; ends the walk if there are no others.
  KOKKOS_FUNCTION void finish() const {
    auto& counters = queue_.counters();
    bool is_last = false;
    if (lane_ == 0) {
      backend::order_memory();
      auto const finished = Kokkos::atomic_fetch_add(&counters.finished, num_taken_) + num_taken_;
      backend::order_memory();
      is_last = finished == backend::read_shared(counters.added);
      if (is_last) {
        backend::write_shared(counters.is_over, 1u);
        Kokkos::memory_fence();
      }
    }
    if (backend::shuffle(is_last, 0)) queue_.fill_awaited(walk_is_over);
  }
  /// Who draws a ticket looks whether the walk is over afterwards; who ends the walk looks at the tickets afterwards.
  KOKKOS_FUNCTION std::uint32_t wait_for_item() const {
    auto& counters = queue_.counters();
    auto& place = queue_.items(Kokkos::atomic_fetch_add(&counters.tickets, 1u) & mask_);
    auto item = backend::read_shared(place);
    if (item == no_item) {
      Kokkos::memory_fence();
      if (backend::read_shared(counters.is_over) != 0) return no_item;
      while ((item = backend::read_shared(place)) == no_item) backend::let_others_run();
    }
    if (item == walk_is_over) return no_item;
    backend::write_shared(place, no_item);
    return item;
  }

  WorkQueue<MemorySpace> const& queue_;
  std::uint32_t lane_, mask_;
  std::uint32_t kept_[max_kept] = {};  // a ring: those that were added first come first
  std::uint32_t first_kept_ = 0, num_kept_ = 0;
  std::uint32_t num_taken_ = 0;  ///< from the queue, and not counted as finished
};

/// A worker's walk: function(set_worker, queue_worker, item) for each item, until there is none.
template <class MemorySpace, class Function>
struct Walk {
  SharedSets<MemorySpace> sets;
  WorkQueue<MemorySpace> queue;
  Function function;

  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, std::uint64_t) const {
    if (backend::shuffle(backend::read_shared(queue.counters().added), 0) != 0) {
      QueueWorker<MemorySpace> items(queue);
      for (auto item = items.next(); item != no_item; item = items.next()) function(worker, items, item);
    }
    leave(worker.lane());
  }
  /// The last one to go makes the queue ready for the next walk.
  KOKKOS_FUNCTION void leave(std::uint32_t lane) const {
    auto& counters = queue.counters();
    bool is_last = false;
    backend::order_memory();
    if (lane == 0) is_last = Kokkos::atomic_fetch_add(&counters.gone, 1u) + 1 == sets.sizes.workers;
    if (!backend::shuffle(is_last, 0)) return;
    backend::order_memory();
    queue.fill_awaited(no_item);
    backend::sync_lanes();
    if (lane == 0) counters = WorkQueueCounters{};
  }
};

/// Walks from the items that a queue has; asynchronous in `exec`. The queue is empty then.
template <class ExecutionSpace, class Function>
void walk(ExecutionSpace const& exec, std::string const& label,
          SharedSets<typename ExecutionSpace::memory_space> const& sets,
          WorkQueue<typename ExecutionSpace::memory_space> const& queue, Function const& function) {
  using Memory = typename ExecutionSpace::memory_space;
  for_each_by_workers(exec, label, sets, sets.sizes.workers, Walk<Memory, Function>{sets, queue, function});
}

}  // namespace hornbill::points_to::detail
