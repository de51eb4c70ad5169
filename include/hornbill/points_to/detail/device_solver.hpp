/// \file
/// Points-to analysis by many threads: rounds of kernels, which the host looks at a few times each.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include <hornbill/backend/registry.hpp>
#include <hornbill/error.hpp>
#include <hornbill/points_to/detail/collect.hpp>
#include <hornbill/points_to/detail/cycles.hpp>
#include <hornbill/points_to/detail/device_arrays.hpp>
#include <hornbill/points_to/detail/expand.hpp>
#include <hornbill/points_to/detail/host_arrays.hpp>
#include <hornbill/points_to/detail/propagate.hpp>
#include <hornbill/points_to/detail/stopwatch.hpp>
#include <hornbill/points_to/solution.hpp>
#include <hornbill/points_to/solve.hpp>

namespace hornbill::points_to::detail {

/// Sets of the host get numbers.
template <class MemorySpace>
struct FormSets {
  Kokkos::View<std::uint32_t const*, MemorySpace> objects;
  Kokkos::View<std::uint64_t const*, MemorySpace> begins;  // [sets + 1], into objects
  Kokkos::View<std::uint32_t*, MemorySpace> numbers;       // [sets]

  KOKKOS_FUNCTION void operator()(SetWorker<MemorySpace> const& worker, std::uint64_t i) const {
    typename SetWorker<MemorySpace>::Row row;
    auto const lanes = static_cast<std::uint64_t>(backend::lanes_together());
    for (auto k = begins(i) + worker.lane(); k < begins(i + 1); k += lanes) worker.add_element(row, objects(k));
    auto const set = worker.take(row);
    if (worker.lane() == 0) numbers(i) = set;
  }
};

/// Nodes have at least these sets.
template <class MemorySpace>
struct AddSets {
  FlowGraph<MemorySpace> g;
  Kokkos::View<std::uint32_t const*, MemorySpace> nodes, set_of_node, numbers;

  KOKKOS_FUNCTION void operator()(std::size_t i) const {
    if (auto const set = numbers(set_of_node(i)); set != shared_empty_set) g.add_input(nodes(i), set);
  }
};

/// A kernel for each slot of a pass: the host knows only that there are not more than so many.
template <class Function>
struct ForEachSlot {
  Function function;

  template <class... Arguments>
  KOKKOS_FUNCTION void operator()(std::size_t i, Arguments&... arguments) const {
    if (i < function.g.counters().active) function(static_cast<std::uint32_t>(i), arguments...);
  }
};

/// Forgets which sets went along edges, when some of them were not right.
template <class MemorySpace>
struct ForgetSent {
  FlowGraph<MemorySpace> g;
  KOKKOS_FUNCTION void operator()(std::size_t e) const { g.edges(e).sent = shared_empty_set; }
};

/// Of many rounds the solver makes two passes: the second takes along what offsets gave to nodes that come before them.
inline constexpr int passes_of_round = 2;
/// More find components that others hide, which the next round would find too.
inline constexpr int passes_of_colours = 2;

template <class ExecutionSpace>
class DeviceSolver {
 public:
  using Memory = typename ExecutionSpace::memory_space;

  DeviceSolver(ExecutionSpace const& exec, HostPlan const& plan, SolveOptions const& options)
      : exec_(exec), plan_(plan), options_(options), host_(host_arrays(plan)) {
    allocate();
    report_.prepare_seconds = watch_.lap();
  }

  Solution solve(Solution const* earlier) {
    add_sets(host_.addresses);
    if (earlier) add_sets(sets_of(*earlier, plan_));
    report_.prepare_seconds += watch_.lap();
    do {
      ++report_.rounds;
      propagate();
      if (options_.progress) options_.progress(report_.rounds, num_sets());
    } while (expand() || is_unsettled_);
    return collected();
  }

 private:
  template <class T>
  using Array = Kokkos::View<T*, Memory>;

  // --- memory ---

  SharedSetSizes first_sizes() const;
  void allocate();
  void allocate_dereferences();
  template <class View>
  void resize(View& view, char const* name, std::size_t size) {
    auto const larger = zeros<typename View::value_type>(exec_, name, size);
    auto const all = Kokkos::pair<std::size_t, std::size_t>(0, view.extent(0));
    Kokkos::deep_copy(exec_, Kokkos::subview(larger, all), view);
    exec_.fence("hornbill::points_to: an array has moved");
    view = larger;
  }
  void allocate_slots(std::size_t num_nodes);
  void allocate_entries(std::size_t num_edges, std::size_t num_inputs);
  void allocate_by_set(std::size_t num_sets);
  void require_room(SharedSetSizes const& sizes) const;
  static std::size_t capacity(char const* what, std::size_t needed, std::size_t wanted, std::size_t most);
  void require_available(std::size_t bytes) const;

  // --- steps ---

  void look();
  void look_at_rows();
  std::size_t num_sets() const { return sets_now_.sets; }
  bool is_full() const { return now_.is_full != 0 || sets_now_.is_full != 0; }
  void make_room();
  void grow_sets();
  void grow_nodes();
  void add_sets(HostSets const& sets);
  void make_rows(bool drops_repeated);
  void propagate();
  void pass(bool again);
  void collapse();
  void settle();
  void merge_cycles();
  bool expand();
  Solution collected();

  template <class Functor>
  void for_each(char const* name, std::size_t count, Functor const& functor) {
    if (count == 0) return;
    ++report_.launches;
    Kokkos::parallel_for(profiler_name(name),
                         Kokkos::RangePolicy<ExecutionSpace>(exec_, 0, static_cast<std::int64_t>(count)), functor);
  }
  template <class Functor>
  void scan(char const* name, std::size_t count, Functor const& functor) {
    if (count == 0) return;
    ++report_.launches;
    Kokkos::parallel_scan(profiler_name(name),
                          Kokkos::RangePolicy<ExecutionSpace>(exec_, 0, static_cast<std::int64_t>(count)), functor);
  }
  template <class Functor>
  void for_each_by_workers(char const* name, std::size_t count, Functor const& functor) {
    if (count == 0) return;
    ++report_.launches;
    detail::for_each_by_workers(exec_, profiler_name(name), sets_, count, functor);
  }
  template <class Functor>
  void walk(char const* name, Functor const& functor) {
    ++report_.launches;
    detail::walk(exec_, profiler_name(name), sets_, queue_, functor);
  }
  template <class Functor>
  void for_each_slot(char const* name, Functor const& functor) {
    for_each(name, num_slots_, ForEachSlot<Functor>{functor});
  }
  template <class Functor>
  void begin_walk(char const* name, std::size_t count, Functor const& functor) {
    for_each(name, num_chunks<Memory>(count), BeginWalk<Memory, Functor>{queue_, functor, count});
  }
  template <class Functor>
  void begin_walk_from_slots(char const* name, Functor const& functor) {
    begin_walk(name, num_slots_, ForEachSlot<Functor>{functor});
  }

  Stopwatch watch_;  // of what comes before rounds
  ExecutionSpace exec_;
  HostPlan const& plan_;
  SolveOptions const& options_;
  HostArrays host_;
  SolveReport report_;
  SharedSets<Memory> sets_;
  FlowGraph<Memory> g_;
  Dereferences<Memory> d_;
  Offsets<Memory> offsets_;
  WorkQueue<Memory> queue_;
  FlowCounters now_;  // when the host looked last
  SharedSetCounters sets_now_;
  std::size_t num_slots_ = 0;  // at least as many as there are
  std::uint32_t pass_ = 0, kept_ = 0;
  std::size_t num_unique_ = 0;  // edges when repeated ones were dropped last
  bool are_unique_ = false;     // the edges of rows
  bool is_unsettled_ = false;
};

// --- steps ---

/// Reads what kernels have counted.
template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::look() {
  ++report_.looks;
  Kokkos::deep_copy(exec_, Kokkos::View<FlowCounters, Kokkos::HostSpace>(&now_), g_.counters);
  Kokkos::deep_copy(exec_, Kokkos::View<SharedSetCounters, Kokkos::HostSpace>(&sets_now_), sets_.counters);
  exec_.fence("hornbill::points_to: the host looks");
}
/// The same when the list of edges is what rows have kept of it.
template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::look_at_rows() {
  look();
  now_.edges = now_.kept;
}

template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::add_sets(HostSets const& sets) {
  FormSets<Memory> const form{copied(exec_, "objects", sets.objects), copied(exec_, "begins", sets.begins),
                              array<std::uint32_t>(exec_, "numbers", sets.size())};
  auto const nodes = copied(exec_, "nodes", sets.nodes), set_of_node = copied(exec_, "set_of_node", sets.set_of_node);
  for (;;) {
    for_each_by_workers("form_sets", sets.size(), form);
    for_each("add_sets", sets.nodes.size(), AddSets<Memory>{g_, nodes, set_of_node, form.numbers});
    look();
    if (!is_full()) return;
    make_room();
  }
}

/// Rows of what is said of nodes.
template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::make_rows(bool drops_repeated) {
  auto const count = std::size_t{now_.edges} + now_.inputs + now_.absorbed;
  num_slots_ = std::min<std::size_t>(now_.nodes, now_.edges + count);
  now_.active = now_.kept = now_.left = now_.unsettled = now_.still_unsettled = 0;
  now_.in_parts = now_.out_parts = 0;
  now_.pivot = 0;
  Kokkos::deep_copy(exec_, g_.counters, now_);
  for_each("find_active", count, FindActive<Memory>{g_, ++pass_});
  scan("place_nodes", now_.nodes, PlaceNodes<Memory>{g_, pass_});
  auto const size = index_size_for(now_.edges);
  for_each("count_entries", count, CountEntries<Memory>{g_, drops_repeated, size - 1});
  if (drops_repeated)
    Kokkos::deep_copy(exec_, Kokkos::subview(g_.seen, Kokkos::pair<std::size_t, std::size_t>(0, size)), 0);
  if constexpr (is_host_memory<Memory>) {
    exec_.fence("hornbill::points_to: slots are counted");
    num_slots_ = g_.counters().active;
  }
  scan("place_rows", num_slots_, PlaceRows<Memory>{g_});
  for_each("fill_rows", count, FillRows<Memory>{g_});
  std::swap(g_.edges, g_.kept);
  are_unique_ = drops_repeated;
}

/// Sets flow along edges.
template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::propagate() {
  Stopwatch watch;
  auto const num_new = std::size_t{now_.edges} - kept_ + now_.inputs + now_.absorbed;
  bool const are_many = is_unsettled_ || num_new > kept_ / 10;
  for (;;) {
    // Where nodes will be merged there are other rows afterwards, so a few repeated edges may stay.
    make_rows(!are_many || !options_.collapse_cycles || now_.edges > num_unique_ + num_unique_ / 2);
    if (are_many && options_.collapse_cycles) collapse();
    report_.collapse_seconds += watch.lap();
    for (int k = 0; are_many && k < passes_of_round; ++k) pass(k > 0);
    if (are_many) for_each("count_left", num_chunks<Memory>(num_slots_), CountLeft<Memory>{g_});
    bool const settles = !are_many || !options_.collapse_cycles;
    if (settles) settle();
    look_at_rows();
    if (settles) now_.unsettled = now_.still_unsettled = now_.left = 0;
    report_.propagate_seconds += watch.lap();
    if (!is_full()) break;
    bool const some_are_wrong = sets_now_.is_full != 0;
    make_room();
    if (some_are_wrong) for_each("forget_sent", now_.edges, ForgetSent<Memory>{g_});
  }
  is_unsettled_ = now_.still_unsettled > 0 || now_.left > 0;
  kept_ = now_.edges;
  if (are_unique_) num_unique_ = kept_;
  if (now_.left == 0) now_.inputs = now_.absorbed = 0;  // else nodes on further cycles take them in the next round
}

/// Sets flow through the graph once.
template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::pass(bool again) {
  for_each_slot("wait", Wait<Memory>{g_, again});
  for_each("find_news", now_.edges, FindNews<Memory>{g_});
  begin_walk_from_slots("begin_propagation", BeginPropagation<Memory>{g_, true, again});
  walk("propagate", Propagate<Memory>{{g_, offsets_, true}});
  for_each("count_unsettled", num_chunks<Memory>(now_.edges), CountUnsettled<Memory>{g_, again});
}

/// Nodes on cycles become one.
template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::collapse() {
  begin_walk_from_slots("begin_trimming", BeginPropagation<Memory>{g_, false, false});
  walk("trim_forward", TrimForward<Memory>{g_});
  for_each("count_left", num_chunks<Memory>(num_slots_), CountLeft<Memory>{g_});
  look_at_rows();
  if (now_.left == 0) return;
  merge_cycles();
  look_at_rows();
  make_rows(true);
}

template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::settle() {
  begin_walk("begin_settling", std::size_t{now_.edges} + now_.inputs + now_.absorbed, BeginSettling<Memory>{g_});
  walk("settle", Settle<Memory>{{g_, offsets_, false}});
}

template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::merge_cycles() {
  begin_walk_from_slots("begin_trimming", BeginTrimmingBackward<Memory>{g_});
  walk("trim_backward", TrimBackward<Memory>{g_});
  for_each_slot("find_pivot", FindPivot<Memory>{g_});
  begin_walk("begin_pivot", 1, BeginPivot<Memory>{g_});
  walk("spread_pivot", SpreadColours<Memory>{g_});
  for (int m = 1;; ++m) {
    begin_walk_from_slots("begin_colours", BeginColours<Memory>{g_});
    walk("spread_colours", SpreadColours<Memory>{g_});
    begin_walk_from_slots("begin_merging", BeginMerging<Memory>{g_});
    walk("merge_colour", MergeColour<Memory>{g_});
    if (m == passes_of_colours) return;
    begin_walk_from_slots("leave_core", LeaveCore<Memory>{g_});
    walk("trim_forward", TrimForward<Memory>{g_});
    begin_walk_from_slots("leave_core", LeaveCoreBackwards<Memory>{g_});
    walk("trim_backward", TrimBackward<Memory>{g_});
  }
}

template <class ExecutionSpace>
bool DeviceSolver<ExecutionSpace>::expand() {
  Stopwatch watch;
  for (;;) {
    now_.changes = now_.groups = 0;
    Kokkos::deep_copy(exec_, g_.counters, now_);
    auto const before = now_;
    auto const count = host_.dereferences.size();
    for_each_by_workers("find_targets", count, FindTargets<Memory>{g_, d_});
    for_each_by_workers("merge_contents", count, MergeContents<Memory>{g_, d_});
    for_each_by_workers("find_contents", count, FindContents<Memory>{{g_, d_}});
    for_each("add_hubs", count, AddHubs<Memory>{g_, d_, options_.hubs});
    for_each_by_workers("connect_contents", count, ConnectContents<Memory>{{g_, d_}});
    for_each_by_workers("connect_ends", count, ConnectEnds<Memory>{g_, d_});
    for_each("keep_targets", count, KeepTargets<Memory>{g_, sets_, d_});
    look();
    report_.expand_seconds += watch.lap();
    if (!is_full()) return now_.changes != 0;
    now_.load_edges = before.load_edges;
    now_.store_edges = before.store_edges;
    now_.hubs = before.hubs;
    make_room();
  }
}

}  // namespace hornbill::points_to::detail

#include <hornbill/points_to/detail/device_solver_memory.hpp>
