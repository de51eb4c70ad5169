// Walks of many warps or threads through one queue.
#include <algorithm>
#include <vector>

#include <hornbill/points_to/detail/work_queue.hpp>

#include "support/cells.hpp"

using namespace hornbill;
namespace shared = points_to::detail;

namespace {

constexpr std::uint32_t num_roots = 10;

struct AddRoot {
  template <class Seeds>
  KOKKOS_FUNCTION void operator()(std::size_t item, Seeds& seeds) const {
    seeds.add(static_cast<std::uint32_t>(item));
  }
};

/// Each item is the child of one, or a root.
template <class Memory>
struct AddChildren {
  Kokkos::View<std::uint32_t*, Memory> visits;
  std::uint32_t num_children;

  KOKKOS_FUNCTION void operator()(shared::SetWorker<Memory> const& worker, shared::QueueWorker<Memory>& items,
                                  std::uint32_t item) const {
    if (worker.lane() == 0) Kokkos::atomic_inc(&visits(item));
    auto const lanes = static_cast<std::uint32_t>(backend::lanes_together()), first = num_roots + num_children * item;
    for (std::uint32_t base = 0; base < num_children && first + base < visits.extent(0); base += lanes) {
      auto const k = base + worker.lane(), child = first + k;
      items.add(k < num_children && child < visits.extent(0), child);
    }
  }
};

}  // namespace

TEST_CASE_TEMPLATE("points-to: a walk comes to each item once", T, HORNBILL_DOUBLE_CELLS) {
  using Exec = typename T::Exec;
  using Memory = typename Exec::memory_space;
  Exec const exec;
  constexpr std::uint32_t num_walks = 20;
  auto const sets = shared::make_shared_sets(
      exec, {.sets = 64, .entries = 64, .blocks = 64, .operations = 64, .workers = shared::workers_of(exec)});
  // Chains, in which nearly all workers wait; trees, in which all soon have work; and one item that has most of it.
  for (std::uint32_t num_children : {1u, 2u, 5000u}) {
    CAPTURE(num_children);
    std::uint32_t const num_items = num_children == 1 ? 2000 : 30000;
    AddChildren<Memory> const add{Kokkos::View<std::uint32_t*, Memory>("hornbill::test::visits", num_items),
                                  num_children};
    auto const queue = shared::make_work_queue(exec, num_items, sets.sizes.workers);
    for (std::uint32_t w = 0; w < num_walks; ++w) {
      shared::BeginWalk<Memory, AddRoot> const begin{queue, {}, num_roots};
      Kokkos::parallel_for(Kokkos::RangePolicy<Exec>(exec, 0, shared::num_chunks<Memory>(num_roots)), begin);
      shared::walk(exec, "hornbill::test::walk", sets, queue, add);
    }
    auto const visits = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), add.visits);
    for (std::uint32_t i = 0; i < num_items; ++i) REQUIRE_MESSAGE(visits(i) == num_walks, "item ", i);
  }
}
