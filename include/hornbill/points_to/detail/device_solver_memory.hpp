/// \file
/// Memory of DeviceSolver: what the host holds goes to the device, what is full is enlarged, the solution comes back.
#pragma once

#include <algorithm>
#include <cstddef>
#include <numeric>
#include <type_traits>
#include <vector>

#include <hornbill/points_to/detail/device_solver.hpp>

namespace hornbill::points_to::detail {

// Items of a queue have two bits for what they are; keys of operations have 31 for a set.
inline constexpr std::size_t most_nodes = std::size_t{1} << 30, most_edges = std::size_t{1} << 31;
inline constexpr std::size_t most_sets = (std::size_t{1} << 31) - 1, most_blocks = 0xfffffffeu;
inline constexpr std::size_t most_operations = std::size_t{1} << 31;

/// About as much as programs need, or a small part of the limit, if there is one.
template <class ExecutionSpace>
SharedSetSizes DeviceSolver<ExecutionSpace>::first_sizes() const {
  SharedSetSizes sizes;
  sizes.blocks_of_set = static_cast<std::uint32_t>(plan_.num_objects()) / Block::num_bits + 1;
  sizes.workers = workers_of(exec_);
  sizes.sets = static_cast<std::uint32_t>(2 * plan_.constraints.size() + 4096);
  sizes.blocks = 2 * sizes.sets;
  sizes.operations = 1 << 14;
  while (sizes.operations < 4 * plan_.constraints.size()) sizes.operations *= 2;
  auto const set_entries = [&] {
    sizes.entries = std::max<std::uint64_t>(16 * std::uint64_t{sizes.sets}, 2 * sizes.blocks_of_set);
  };
  set_entries();
  while (options_.max_bytes > 0 && sizes.bytes() > options_.max_bytes / 64 && sizes.sets > 64) {
    sizes.sets /= 2;
    sizes.blocks /= 2;
    sizes.operations /= 2;
    set_entries();
  }
  require_room(sizes);
  return sizes;
}

template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::allocate() {
  auto const num_variables = static_cast<std::size_t>(plan_.num_variables);
  auto const num_left = plan_.constraints.size();
  auto const num_first = host_.parents.size();  // variables, and one more where something is outside
  auto const num_nodes = capacity("nodes", num_first, num_variables + num_left / 8 + 64, most_nodes);
  auto const num_edges = capacity("edges", host_.edges.size(), 4 * num_left + 256, most_edges);
  sets_ = make_shared_sets(exec_, first_sizes());
  g_.parent = array<std::uint32_t>(exec_, "parent", num_nodes);
  auto& parents = host_.parents;
  for (auto node = parents.size(); node < num_nodes; ++node) parents.push_back(static_cast<std::uint32_t>(node));
  Kokkos::deep_copy(exec_, g_.parent, Kokkos::View<std::uint32_t const*, Kokkos::HostSpace>(parents.data(), num_nodes));
  g_.sets = zeros<SharedSetId>(exec_, "sets", num_nodes);
  g_.pass_of = zeros<std::uint32_t>(exec_, "pass_of", num_nodes);
  allocate_slots(num_nodes);
  g_.edges = array<FlowEdge>(exec_, "edges", num_edges);
  g_.inputs = array<FlowInput>(exec_, "inputs", num_left + 256);
  allocate_entries(num_edges, num_left + 256);
  g_.counters = decltype(g_.counters)(Kokkos::view_alloc(exec_, "hornbill::points_to::flow_counters"));
  now_.nodes = static_cast<std::uint32_t>(num_first);
  if (plan_.outside >= 0) {
    g_.outside = static_cast<std::uint32_t>(plan_.outside);
    g_.from_outside = static_cast<std::uint32_t>(num_variables);
  }
  now_.edges = static_cast<std::uint32_t>(host_.edges.size());
  Kokkos::deep_copy(exec_, g_.counters, now_);
  auto const all = Kokkos::pair<std::size_t, std::size_t>(0, host_.edges.size());
  Kokkos::deep_copy(exec_, Kokkos::subview(g_.edges, all),
                    Kokkos::View<FlowEdge const*, Kokkos::HostSpace>(host_.edges.data(), host_.edges.size()));
  report_.copy_edges =
      std::ranges::count_if(host_.edges, [](FlowEdge const& edge) { return edge.offset == no_offset; });
  allocate_dereferences();
  exec_.fence("hornbill::points_to: what the host holds is on the device");
}

template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::allocate_dereferences() {
  auto const count = host_.dereferences.size();
  d_.list = copied(exec_, "dereferences", host_.dereferences);
  d_.ends = copied(exec_, "ends", host_.ends);
  d_.with_cycles = copied(exec_, "with_cycles", host_.with_cycles);
  d_.done = zeros<SharedSetId>(exec_, "done", count);
  d_.now = zeros<SharedSetId>(exec_, "now", count);
  d_.targets = zeros<SharedSetId>(exec_, "targets", count);
  d_.groups = array<TargetGroup>(exec_, "groups", count);
  offsets_.object_sizes = copied(exec_, "object_sizes", plan_.object_sizes);
  offsets_.bytes_to_end = copied(exec_, "bytes_to_end", plan_.bytes_to_end);
  offsets_.object_periods = copied(exec_, "object_periods", plan_.object_periods);
  offsets_.is_function = copied(exec_, "is_function", plan_.is_function);
  offsets_.list = copied(exec_, "offsets", host_.offsets);
  offsets_.first_field = copied(exec_, "first_field", plan_.first_field);
  auto const words = sets_.words_of_row();
  offsets_.masks =
      decltype(offsets_.masks)(Kokkos::view_alloc(exec_, "hornbill::points_to::masks", Kokkos::WithoutInitializing),
                               host_.masks.size() / words, words);
  Kokkos::deep_copy(exec_, offsets_.masks,
                    Kokkos::View<std::uint64_t const**, Kokkos::LayoutRight, Kokkos::HostSpace>(
                        host_.masks.data(), host_.masks.size() / words, words));
  allocate_by_set(sets_.sizes.sets);
}

template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::allocate_by_set(std::size_t num_sets) {
  d_.num_ends = zeros<std::uint64_t>(exec_, "num_ends", num_sets);
  d_.group_of = array<std::uint32_t>(exec_, "group_of", num_sets);
}

/// Arrays that have no content between passes.
template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::allocate_slots(std::size_t num_nodes) {
  for (auto* view : {&g_.slot_of, &g_.absorbed, &g_.active, &g_.waiting_in, &g_.waiting_out, &g_.copies_in, &g_.colour,
                     &g_.state, &g_.news, &g_.parts_left, &g_.input_count})
    *view = array<std::uint32_t>(exec_, "slots", num_nodes);
  g_.input_begin = array<std::uint32_t>(exec_, "input_begin", num_nodes + 1);
  for (auto* rows : {&g_.in, &g_.out}) {
    rows->begin = array<std::uint32_t>(exec_, "row_begin", num_nodes + 1);
    rows->count = array<std::uint32_t>(exec_, "row_count", num_nodes);
    rows->first_part = array<std::uint32_t>(exec_, "first_part", num_nodes);
  }
}

template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::allocate_entries(std::size_t num_edges, std::size_t num_inputs) {
  g_.kept = array<FlowEdge>(exec_, "kept", num_edges);
  g_.row_inputs = array<SharedSetId>(exec_, "row_inputs", num_inputs + g_.parent.extent(0));
  g_.input_rank = array<std::uint32_t>(exec_, "input_rank", num_inputs + g_.parent.extent(0));
  auto const parts = 2 * (num_edges + num_inputs + g_.parent.extent(0)) / part_size<Memory> + 64;
  for (auto* rows : {&g_.in, &g_.out}) {
    rows->others = array<std::uint32_t>(exec_, "row_others", num_edges);
    rows->rank = array<std::uint32_t>(exec_, "row_rank", num_edges);
    rows->slot_of_part = array<std::uint32_t>(exec_, "slot_of_part", parts);
    rows->is_queued = zeros<std::uint32_t>(exec_, "is_queued", parts);
  }
  g_.part_sets = array<SharedSetId>(exec_, "part_sets", parts);
  queue_ = make_work_queue(exec_, g_.parent.extent(0) + 2 * parts, sets_.sizes.workers);
  g_.seen = zeros<std::uint64_t>(exec_, "seen", index_size_for(num_edges));
}

/// As many as are wanted, or as there can be.
template <class ExecutionSpace>
std::size_t DeviceSolver<ExecutionSpace>::capacity(char const* what, std::size_t needed, std::size_t wanted,
                                                   std::size_t most) {
  if (needed > most)
    throw CapacityError(
        fmt::format("points-to constraints need {} {}, and a backend takes {}; solve them on the host "
                    "(--solver host)",
                    needed, what, most));
  return std::min(std::max(needed, wanted), most);
}

template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::require_room(SharedSetSizes const& sizes) const {
  if (options_.max_bytes > 0 && sizes.bytes() > options_.max_bytes)
    throw CapacityError("the collection of distinct sets", sizes.bytes(), options_.max_bytes);
}

template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::require_available(std::size_t bytes) const {
  auto const available = backend::available_bytes(backend::NameOf<ExecutionSpace>::value);
  if (bytes > available)
    throw CapacityError(
        fmt::format("a larger collection of distinct sets on backend {}", backend::NameOf<ExecutionSpace>::value),
        bytes, available);
}

/// Of what is full there will be twice as much.
template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::make_room() {
  ++report_.growths;
  if (sets_now_.is_full) grow_sets();
  auto const num_edges = g_.edges.extent(0), num_inputs = g_.inputs.extent(0);
  if (now_.nodes > g_.parent.extent(0)) grow_nodes();
  if (now_.edges > num_edges) resize(g_.edges, "edges", capacity("edges", now_.edges, 2 * num_edges, most_edges));
  if (now_.inputs > num_inputs) resize(g_.inputs, "inputs", std::max<std::size_t>(now_.inputs, 2 * num_inputs));
  if (now_.is_full) allocate_entries(g_.edges.extent(0), g_.inputs.extent(0));
  now_.edges = static_cast<std::uint32_t>(std::min<std::size_t>(now_.edges, num_edges));
  now_.inputs = static_cast<std::uint32_t>(std::min<std::size_t>(now_.inputs, num_inputs));
  now_.is_full = now_.groups = 0;
  Kokkos::deep_copy(exec_, g_.counters, now_);
  exec_.fence("hornbill::points_to: there is more room");
}

template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::grow_sets() {
  auto const used = used_sizes(exec_, sets_);
  auto sizes = sets_.sizes;
  auto const grow = [](char const* what, auto& size, std::size_t most) {
    size = static_cast<std::remove_reference_t<decltype(size)>>(
        capacity(what, std::size_t{size} + 1, 2 * std::size_t{size}, most));
  };
  if (used.sets == sizes.sets) grow("sets", sizes.sets, most_sets);
  if (used.entries == sizes.entries) sizes.entries *= 2;
  if (used.blocks == sizes.blocks) grow("blocks of sets", sizes.blocks, most_blocks);
  if (used.operations >= sizes.operations / 2) grow("operations on sets", sizes.operations, most_operations);
  require_room(sizes);
  require_available(sizes.bytes());
  grow_shared_sets(exec_, sets_, sizes);
  allocate_by_set(sizes.sets);
}

/// Keeps which node each has become, and their sets.
template <class ExecutionSpace>
void DeviceSolver<ExecutionSpace>::grow_nodes() {
  auto const count = g_.parent.extent(0), larger = capacity("nodes", now_.nodes, 2 * count, most_nodes);
  std::vector<std::uint32_t> parents(larger - count);
  std::iota(parents.begin(), parents.end(), static_cast<std::uint32_t>(count));
  resize(g_.parent, "parent", larger);
  Kokkos::deep_copy(exec_, Kokkos::subview(g_.parent, Kokkos::pair<std::size_t, std::size_t>(count, larger)),
                    Kokkos::View<std::uint32_t const*, Kokkos::HostSpace>(parents.data(), parents.size()));
  resize(g_.sets, "sets", larger);
  resize(g_.pass_of, "pass_of", larger);
  auto absorbed = g_.absorbed;
  allocate_slots(larger);
  Kokkos::deep_copy(exec_, Kokkos::subview(g_.absorbed, Kokkos::pair<std::size_t, std::size_t>(0, absorbed.extent(0))),
                    absorbed);
  exec_.fence("hornbill::points_to: nodes have moved");
  now_.nodes = static_cast<std::uint32_t>(count);
}

template <class ExecutionSpace>
Solution DeviceSolver<ExecutionSpace>::collected() {
  Stopwatch watch;
  auto const num_variables = static_cast<std::size_t>(plan_.num_variables);
  Collected<Memory> c;
  c.first = array<std::uint32_t>(exec_, "first", num_sets());
  Kokkos::deep_copy(exec_, c.first, no_node);
  c.sizes = zeros<std::uint32_t>(exec_, "sizes", num_sets());
  c.numbers = zeros<std::uint32_t>(exec_, "numbers", num_sets());
  c.set_of_variable = array<Index>(exec_, "set_of_variable", num_variables);
  c.offsets = zeros<Offset>(exec_, "offsets", num_sets() + 2);
  Solution solution;
  for_each("find_firsts", num_variables, FindFirsts<Memory>{g_, c});
  for_each_by_workers("count_elements", num_variables, CountElements<Memory>{g_, c});
  typename NumberSets<Memory>::Sum sum;
  if (num_variables > 0)
    Kokkos::parallel_scan("hornbill::points_to::number_sets",
                          Kokkos::RangePolicy<ExecutionSpace>(exec_, 0, plan_.num_variables), NumberSets<Memory>{g_, c},
                          sum);
  exec_.fence("hornbill::points_to: distinct sets are counted");
  c.objects = array<Index>(exec_, "objects", static_cast<std::size_t>(sum.elements));
  for_each_by_workers("write_sets", num_variables, WriteSets<Memory>{g_, c});
  auto const read = [&]<class T>(std::vector<T>& to, Array<T> const& from, std::size_t count) {
    to.reserve(count);
    hornbill::detail::ask_for_huge_pages(to.data(), count * sizeof(T));
    to.resize(count);
    auto const all = Kokkos::pair<std::size_t, std::size_t>(0, count);
    Kokkos::deep_copy(exec_, Kokkos::View<T*, Kokkos::HostSpace>(to.data(), count), Kokkos::subview(from, all));
  };
  read(solution.set_of_variable, c.set_of_variable, num_variables);
  read(solution.set_offsets, c.offsets, static_cast<std::size_t>(sum.sets) + 2);
  read(solution.set_objects, c.objects, static_cast<std::size_t>(sum.elements));
  exec_.fence("hornbill::points_to: the solution is on the host");
  report_.load_edges = static_cast<Offset>(now_.load_edges);
  report_.store_edges = static_cast<Offset>(now_.store_edges);
  report_.hubs = now_.hubs;
  report_.merged_by_cycles = static_cast<Index>(now_.merged_by_cycles);
  report_.merged_by_hybrid_cycles = static_cast<Index>(now_.merged_by_hybrid_cycles);
  report_.unions = sets_now_.operations;
  report_.set_bytes = static_cast<Offset>(used_sizes(exec_, sets_).bytes());
  report_.collect_seconds = watch.lap();
  solution.report = report_;
  return solution;
}

}  // namespace hornbill::points_to::detail
