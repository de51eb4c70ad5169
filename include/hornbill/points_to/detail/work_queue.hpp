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
#include <hornbill/points_to/detail/chunks.hpp>
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

/// A ring: its size is a power of two, above the number of items that are in it at a time and of workers that wait for
/// some, so that who writes to a place waits for nobody who waits for him.
template <class MemorySpace>
struct WorkQueue {
  Kokkos::View<std::uint32_t*, MemorySpace> items;  // `no_item` where there is none
  Kokkos::View<WorkQueueCounters, MemorySpace> counters;

  /// By one thread, before the walk.
  KOKKOS_FUNCTION void add(std::uint32_t const* added, std::uint32_t count) const {
    auto const at = Kokkos::atomic_fetch_add(&counters().added, count);
    for (std::uint32_t i = 0; i < count; ++i) items(at + i) = added[i];
  }
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

/// Collects items that a walk begins with, for one thread: several are added to the queue at once.
template <class MemorySpace>
class QueueSeeds {
 public:
  KOKKOS_FUNCTION explicit QueueSeeds(WorkQueue<MemorySpace> const& queue) : queue_(queue) {}
  KOKKOS_FUNCTION void add(std::uint32_t item) {
    items_[count_++] = item;
    if (count_ == most) add_to_queue();
  }
  KOKKOS_FUNCTION void add_to_queue() {
    if (count_ > 0) queue_.add(items_, count_);
    count_ = 0;
  }

 private:
  static constexpr std::uint32_t most = is_host_memory<MemorySpace> ? 64 : 1;

  WorkQueue<MemorySpace> const& queue_;
  std::uint32_t items_[most];
  std::uint32_t count_ = 0;
};

/// A kernel over chunks that calls function(i, seeds) for each i below a count.
template <class MemorySpace, class Function>
struct BeginWalk {
  WorkQueue<MemorySpace> queue;
  Function function;
  std::size_t count;

  KOKKOS_FUNCTION void operator()(std::size_t chunk) const {
    QueueSeeds<MemorySpace> seeds(queue);
    for_each_of_chunk<MemorySpace>(chunk, count, [&](std::size_t i) { function(i, seeds); });
    seeds.add_to_queue();
  }
};

/// What a worker has at hand of a queue; all lanes of its warp call its functions together.
///
/// A thread of a CPU takes several items at once where there are enough for all, and keeps those that it adds until
/// others wait or it has too many: then it shares them. A warp keeps one, since others always wait.
template <class MemorySpace>
class QueueWorker {
 public:
  KOKKOS_FUNCTION QueueWorker(WorkQueue<MemorySpace> const& queue, std::uint32_t num_workers)
      : queue_(queue),
        num_workers_(num_workers),
        lane_(static_cast<std::uint32_t>(backend::lane_id())),
        mask_(static_cast<std::uint32_t>(queue.items.extent(0) - 1)) {}

  /// Adds the items of those lanes that have one. What was written before is seen by who takes it.
  KOKKOS_FUNCTION void add(bool has_item, std::uint32_t item) {
    auto lanes = backend::lanes_where(has_item);
    if (lanes == 0) return;
    if (num_kept_ == most_kept) share();
    if (num_kept_ < most_kept) {
      auto const first = static_cast<std::uint32_t>(Kokkos::countr_zero(lanes));
      kept_[(first_kept_ + num_kept_++) % most_kept] = backend::shuffle(item, static_cast<int>(first));
      lanes &= lanes - 1;
      if (lanes == 0) return;
      has_item = has_item && lane_ != first;
    }
    // Lanes of a warp have more than it keeps; a thread of a CPU has had one item.
    backend::sync_lanes();
    backend::order_memory();
    std::uint32_t ticket = 0;
    if (lane_ == 0)
      ticket = Kokkos::atomic_fetch_add(&queue_.counters().added, static_cast<std::uint32_t>(Kokkos::popcount(lanes)));
    ticket = backend::shuffle(ticket, 0) + static_cast<std::uint32_t>(Kokkos::popcount(lanes & ((1u << lane_) - 1)));
    if (has_item) write(ticket & mask_, item);
  }

  /// The next item.   \return `no_item` when the walk is done
  KOKKOS_FUNCTION std::uint32_t next() {
    std::uint32_t item = no_item;
    if (num_kept_ > 1 && num_ready() < 0) share();
    if (num_kept_ == 0 && num_taken_ > 0) finish();
    if (num_kept_ == 0) take_several();
    if (num_kept_ > 0) {
      item = kept_[first_kept_];
      first_kept_ = (first_kept_ + 1) % most_kept;
      --num_kept_;
    } else {
      if (lane_ == 0) item = wait_for_item();
      item = backend::shuffle(item, 0);
      num_taken_ = item == no_item ? 0 : 1;
    }
    backend::order_memory();  // also for items that were kept: others have done a part of what those waited for
    return item;
  }

 private:
  static constexpr std::uint32_t most_kept = is_host_memory<MemorySpace> ? 64 : 1;

  /// How many items are in the queue, or, below 0, how many workers wait for one.
  KOKKOS_FUNCTION std::int32_t num_ready() const {
    auto const& counters = queue_.counters();
    return static_cast<std::int32_t>(backend::read_shared(counters.added) - backend::read_shared(counters.tickets));
  }
  /// Adds half of those that are kept to the queue.
  KOKKOS_FUNCTION void share() {
    if constexpr (most_kept > 1) {
      auto const count = num_kept_ / 2;
      backend::order_memory();
      auto const ticket = Kokkos::atomic_fetch_add(&queue_.counters().added, count);
      for (std::uint32_t i = 0; i < count; ++i)
        write((ticket + i) & mask_, kept_[(first_kept_ + --num_kept_) % most_kept]);
    }
  }
  /// Takes several items, if there are enough left for the others then.
  KOKKOS_FUNCTION void take_several() {
    if constexpr (most_kept > 1) {
      auto const count = Kokkos::min(num_ready() / static_cast<std::int32_t>(2 * num_workers_),
                                     static_cast<std::int32_t>(most_kept / 2));
      if (count < 2) return;
      auto const ticket = backend::read_shared(queue_.counters().tickets);
      auto const several = static_cast<std::uint32_t>(count);
      if (static_cast<std::int32_t>(backend::read_shared(queue_.counters().added) - ticket) < count ||
          Kokkos::atomic_compare_exchange(&queue_.counters().tickets, ticket, ticket + several) != ticket)
        return;
      for (first_kept_ = 0; num_kept_ < several; ++num_kept_)
        kept_[num_kept_] = taken_from(queue_.items((ticket + num_kept_) & mask_));
      num_taken_ = several;
    }
  }
  // A thread of a CPU may be stopped after it has looked at a place, for as long as others take to go once around the
  // ring. So it looks and writes in one step: whose item it is makes no difference.

  /// The item at a place, where one has been written or will be.
  KOKKOS_FUNCTION static std::uint32_t taken_from(std::uint32_t& place) {
    for (;; backend::let_others_run()) {
      auto const item = backend::read_shared(place);
      if (item == no_item) continue;
      if (item == walk_is_over) return item;
      if constexpr (is_host_memory<MemorySpace>) {
        if (Kokkos::atomic_compare_exchange(&place, item, std::uint32_t{no_item}) != item) continue;
      } else {
        backend::write_shared(place, no_item);
      }
      return item;
    }
  }
  /// A place is free as soon as the item before has been taken from it.
  KOKKOS_FUNCTION void write(std::uint32_t at, std::uint32_t item) const {
    auto& place = queue_.items(at);
    if constexpr (is_host_memory<MemorySpace>) {
      while (Kokkos::atomic_compare_exchange(&place, std::uint32_t{no_item}, item) != no_item)
        backend::let_others_run();
    } else {
      while (backend::read_shared(place) != no_item) backend::let_others_run();
      backend::write_shared(place, item);
    }
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
    if (backend::read_shared(place) == no_item) {
      Kokkos::memory_fence();
      if (backend::read_shared(counters.is_over) != 0) return no_item;
    }
    auto const item = taken_from(place);
    return item == walk_is_over ? no_item : item;
  }

  WorkQueue<MemorySpace> const& queue_;
  std::uint32_t num_workers_, lane_, mask_;
  std::uint32_t kept_[most_kept] = {};  // a ring: those that were added first come first
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
      QueueWorker<MemorySpace> items(queue, sets.sizes.workers);
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
