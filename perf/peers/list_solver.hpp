/// \file
/// The rounds of list_rules.hpp.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <Kokkos_Core.hpp>

#include <hornbill/backend/registry.hpp>
#include <hornbill/error.hpp>
#include <hornbill/points_to/detail/shared_blocks.hpp>
#include <hornbill/points_to/detail/stopwatch.hpp>
#include <hornbill/points_to/plan.hpp>
#include <hornbill/points_to/solution.hpp>

#include "list_rules.hpp"

namespace hornbill::perf {

/// The time that rounds took, transfers of the constraints included, those of the sets excluded.
struct ListReport {
  int rounds = 0;
  double seconds = 0;
  std::size_t set_bytes = 0;  ///< of all elements of sets
};

template <class ExecutionSpace>
class ListSolver {
 public:
  using Memory = typename ExecutionSpace::memory_space;
  using System = ListSystem<Memory>;
  using Constraint = points_to::Constraint;
  using Kind = points_to::ConstraintKind;

  /// \throws InputError if a constraint is of a kind that the scheme does not have, CapacityError if lists do not fit
  ListSolver(ExecutionSpace const& exec, points_to::HostPlan const& plan) : exec_(exec), plan_(plan) {
    allocate_pools();
    points_to::detail::Stopwatch watch;
    allocate();
    solve();
    exec_.fence("hornbill::perf: lists are complete");
    report_.seconds = watch.lap();
    report_.set_bytes = std::size_t{used(s_.set_pool)} * words_of_element * sizeof(std::uint32_t);
  }
  ListReport const& report() const { return report_; }
  /// Whether all variables have the sets of a solution.
  bool has_sets_of(points_to::Solution const& solution) const;

 private:
  template <class T>
  using Array = Kokkos::View<T*, Memory>;
  std::size_t num_variables() const { return static_cast<std::size_t>(plan_.num_variables); }

  template <class T>
  Array<T> filled(std::size_t size, T value) {
    Array<T> array(Kokkos::view_alloc(exec_, "hornbill::perf::lists", Kokkos::WithoutInitializing), size);
    Kokkos::deep_copy(exec_, array, value);
    return array;
  }
  Array<std::uint32_t> copied(std::vector<std::uint32_t> const& values) {
    Array<std::uint32_t> array(Kokkos::view_alloc(exec_, "hornbill::perf::lists", Kokkos::WithoutInitializing),
                               values.size());
    Kokkos::deep_copy(exec_, array,
                      Kokkos::View<std::uint32_t const*, Kokkos::HostSpace>(values.data(), values.size()));
    exec_.fence("hornbill::perf: a copy is complete");
    return array;
  }
  void allocate_pools();
  void allocate();
  void allocate_rows();
  void allocate_masks();
  template <class Left, class Add>
  ListRows<Memory> rows(Kind kind, std::size_t width, Left const& left, Add const& add);
  std::uint32_t used(ElementPool<Memory> const& pool) const {
    std::uint32_t count = 0;
    Kokkos::deep_copy(count, pool.used);
    return count;
  }
  void require_room(ElementPool<Memory> const& pool) const {
    if (used(pool) > pool.capacity())
      throw CapacityError(fmt::format("lists need more than {} elements", pool.capacity()));
  }

  template <class Function>
  void by_variable(char const* name, std::size_t count, bool roots_only, Function const& function) {
    if (count == 0) return;
    constexpr bool on_host = ListWorker<Memory>::on_host;
    constexpr int warps = on_host ? 1 : 8, lanes = on_host ? 1 : backend::warp_size;
    using Kernel = ByVariable<Memory, Function>;
    auto const num_teams = static_cast<int>((count + warps - 1) / warps);
    Kokkos::parallel_for(std::string("hornbill::perf::") + name,
                         Kokkos::TeamPolicy<ExecutionSpace>(exec_, num_teams, warps, lanes)
                             .set_scratch_size(0, Kokkos::PerThread(bytes_of_warp<Function>)),
                         Kernel{function, static_cast<std::uint32_t>(count), roots_only});
  }
  template <class Function>
  void for_each(char const* name, Function const& function) {
    Kokkos::parallel_for(std::string("hornbill::perf::") + name,
                         Kokkos::RangePolicy<ExecutionSpace>(exec_, 0, plan_.num_variables), function);
  }
  /// Counts pairs, and writes them by their first half.   \param find  launches the kernel that does both
  template <class Find>
  bool make_pairs(Find const& find) {
    Kokkos::deep_copy(exec_, s_.pair_next, 0u);
    find(true);
    std::uint64_t count = 0;
    Kokkos::parallel_scan("hornbill::perf::place_pairs",
                          Kokkos::RangePolicy<ExecutionSpace>(exec_, 0, plan_.num_variables), PlacePairs<Memory>{s_},
                          count);
    exec_.fence("hornbill::perf: pairs are counted");
    if (count > 0xffffffffu) throw CapacityError(fmt::format("lists need {} pairs of a target and a pointer", count));
    if (count > s_.pairs.extent(0)) s_.pairs = filled(2 * static_cast<std::size_t>(count), 0u);
    if (count > 0) find(false);
    return count > 0;
  }
  void solve();
  void find_equal();
  void apply_stores();
  void merge_targets();

  ExecutionSpace exec_;
  points_to::HostPlan const& plan_;
  System s_;
  bool have_merged_ = false;  // variables, in the last round
  ListReport report_;
};

/// Pools have most of the memory: lists are given back only round by round, or never.
template <class ExecutionSpace>
void ListSolver<ExecutionSpace>::allocate_pools() {
  auto const available = std::min<std::size_t>(backend::available_bytes(backend::NameOf<ExecutionSpace>::value) / 2,
                                               std::size_t{48} << 30);
  auto const make = [&](std::size_t bytes) {
    ElementPool<Memory> pool;
    pool.words =
        Array<std::uint32_t>(Kokkos::view_alloc(exec_, "hornbill::perf::elements", Kokkos::WithoutInitializing),
                             bytes / (words_of_element * 4) * words_of_element);
    pool.used = decltype(pool.used)("hornbill::perf::used");
    Kokkos::deep_copy(exec_, pool.used, 1u);
    return pool;
  };
  s_.set_pool = make(available / 2);
  s_.source_pool = make(available / 8);
  s_.fresh = make(available / 8);
  s_.old = make(available / 8);
  exec_.fence("hornbill::perf: pools are made");
}

template <class ExecutionSpace>
template <class Left, class Add>
ListRows<typename ExecutionSpace::memory_space> ListSolver<ExecutionSpace>::rows(Kind kind, std::size_t width,
                                                                                 Left const& left, Add const& add) {
  std::vector<std::uint32_t> begins(num_variables() + 1);
  for (auto const& c : plan_.constraints)
    if (c.kind == kind) ++begins[static_cast<std::size_t>(left(c)) + 1];
  for (std::size_t v = 1; v < begins.size(); ++v) begins[v] += begins[v - 1];
  std::vector<std::uint32_t> entries(begins.back() * width);
  auto next = begins;
  for (auto const& c : plan_.constraints)
    if (c.kind == kind) add(c, &entries[width * next[static_cast<std::size_t>(left(c))]++]);
  return {copied(begins), copied(entries)};
}

template <class ExecutionSpace>
void ListSolver<ExecutionSpace>::allocate_rows() {
  auto const destination = [](Constraint const& c) { return c.destination; };
  auto const source = [](Constraint const& c, std::uint32_t* to) { *to = static_cast<std::uint32_t>(c.source); };
  s_.addresses = rows(Kind::address_of, 1, destination, source);
  s_.copies = rows(Kind::copy, 1, destination, source);
  s_.loads = rows(Kind::load, 1, destination, source);
  s_.stores = rows(Kind::store, 1, destination, source);
  s_.offsets = rows(Kind::offset, 2, destination, [&](Constraint const& c, std::uint32_t* to) {
    source(c, to);
    to[1] = static_cast<std::uint32_t>(c.offset);
  });
  if (std::ranges::any_of(plan_.constraints, [](Constraint const& c) { return c.kind >= Kind::any_offset; }))
    throw InputError("lists do not have constraints of kind 5");
  if (!plan_.object_periods.empty() || !plan_.bytes_to_end.empty() || plan_.outside >= 0)
    throw InputError("lists have neither fields of several bytes, nor objects with periods, nor an outside");
  s_.list_of_row = filled(s_.stores.entries.extent(0) + 1, 0u);
}

template <class ExecutionSpace>
void ListSolver<ExecutionSpace>::allocate_masks() {
  std::map<Index, std::uint32_t> row_of;
  for (auto const& c : plan_.constraints)
    if (c.kind == Kind::offset) row_of.try_emplace(c.offset, static_cast<std::uint32_t>(row_of.size()));
  auto const num_objects = static_cast<std::size_t>(plan_.num_objects());
  s_.words_of_mask = static_cast<std::uint32_t>((num_objects / bits_of_element + 1) * words_of_bits);
  std::vector<std::uint32_t> masks(row_of.size() * s_.words_of_mask);
  std::vector<std::uint32_t> rows(row_of.empty() ? 0 : static_cast<std::size_t>(row_of.rbegin()->first) + 1);
  for (auto const& [offset, row] : row_of) {
    rows[static_cast<std::size_t>(offset)] = row;
    for (std::size_t o = 0; o < num_objects; ++o)
      if (plan_.object_sizes[o] > offset) masks[row * s_.words_of_mask + o / 32] |= 1u << o % 32;
  }
  s_.masks = copied(masks);
  s_.row_of_offset = copied(rows);
}

template <class ExecutionSpace>
void ListSolver<ExecutionSpace>::allocate() {
  allocate_rows();
  allocate_masks();
  std::vector<std::uint32_t> parents(num_variables()), pointers, variables;
  for (std::size_t v = 0; v < parents.size(); ++v)
    parents[v] =
        static_cast<std::uint32_t>(plan_.representative[v] < 0 ? static_cast<Index>(v) : plan_.representative[v]);
  for (auto const& [pointer, variable] : plan_.hybrid_cycles) {
    pointers.push_back(static_cast<std::uint32_t>(pointer));
    variables.push_back(static_cast<std::uint32_t>(variable));
  }
  s_.parent = copied(parents);
  s_.cycle_pointers = copied(pointers);
  s_.cycle_variables = copied(variables);
  for (std::size_t v = 0; v < parents.size(); ++v) parents[v] = static_cast<std::uint32_t>(v);
  s_.last_member = copied(parents);
  s_.next_member = filled(num_variables(), System::no_member);
  for (auto* lists :
       {&s_.sets, &s_.news, &s_.next, &s_.sources, &s_.new_sources, &s_.next_sources, &s_.equal, &s_.stored})
    *lists = filled(num_variables(), 0u);
  s_.hashes = filled(num_variables(), std::uint64_t{0});
  s_.keys = filled(points_to::detail::index_size_for(num_variables()), std::uint64_t{0});
  s_.firsts = filled(s_.keys.extent(0), 0u);
  s_.pair_begins = filled(num_variables() + 1, 0u);
  s_.pair_next = filled(num_variables(), 0u);
  s_.pairs = filled(num_variables(), 0u);
  s_.counters = decltype(s_.counters)("hornbill::perf::counters");
}

template <class ExecutionSpace>
void ListSolver<ExecutionSpace>::solve() {
  by_variable("begin", num_variables(), true, BeginLists<Memory>{s_});
  by_variable("list_stores", num_variables(), false, ListStores<Memory>{s_});
  for (;;) {
    Kokkos::deep_copy(exec_, s_.counters, 0u);
    by_variable("update", num_variables(), true, UpdateLists<Memory>{s_});
    if (!plan_.hybrid_cycles.empty()) merge_targets();
    typename decltype(s_.counters)::host_mirror_type now("now");
    Kokkos::deep_copy(exec_, now, s_.counters);
    exec_.fence("hornbill::perf: the host looks");
    for (auto const* pool : {&s_.set_pool, &s_.source_pool, &s_.fresh}) require_room(*pool);
    if (now(System::changes) == 0 && now(System::num_merged) == 0) return;
    ++report_.rounds;
    std::swap(s_.fresh, s_.old);
    Kokkos::deep_copy(exec_, s_.fresh.used, 1u);
    find_equal();
    by_variable("copy", num_variables(), true, CopyRule<Memory>{s_});
    by_variable("load", num_variables(), true, LoadRule<Memory>{s_});
    apply_stores();
    by_variable("offset", num_variables(), true, OffsetRule<Memory>{s_});
  }
}

template <class ExecutionSpace>
void ListSolver<ExecutionSpace>::apply_stores() {
  if (!make_pairs([&](bool counts) { for_each("find_pointers", FindPointers<Memory>{s_, counts}); })) return;
  by_variable("list_stored", num_variables(), true, ListStored<Memory>{s_});
  if (make_pairs([&](bool counts) { by_variable("find_pairs", num_variables(), true, FindPairs<Memory>{s_, counts}); }))
    by_variable("store", num_variables(), true, StoreRule<Memory>{s_});
}

template <class ExecutionSpace>
void ListSolver<ExecutionSpace>::find_equal() {
  Kokkos::deep_copy(exec_, s_.keys, std::uint64_t{0});
  Kokkos::deep_copy(exec_, s_.firsts, System::no_member);
  for_each("find_equal", FindEqual<Memory>{s_, false});
  for_each("find_equal", FindEqual<Memory>{s_, true});
}

template <class ExecutionSpace>
void ListSolver<ExecutionSpace>::merge_targets() {
  auto const was_root = filled(num_variables(), 0u);
  for_each("keep_roots", KeepRoots<Memory>{s_, was_root});
  by_variable("merge_targets", s_.cycle_pointers.extent(0), false, MergeTargets<Memory>{s_, have_merged_});
  have_merged_ = make_pairs([&](bool counts) { for_each("find_merged", FindMerged<Memory>{s_, was_root, counts}); });
  if (have_merged_) by_variable("take_merged", num_variables(), true, TakeMerged<Memory>{s_});
}

template <class ExecutionSpace>
bool ListSolver<ExecutionSpace>::has_sets_of(points_to::Solution const& solution) const {
  auto const parents = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s_.parent);
  auto const sets = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), s_.sets);
  auto const all = Kokkos::pair<std::size_t, std::size_t>(0, std::size_t{used(s_.set_pool)} * words_of_element);
  auto const words = Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace(), Kokkos::subview(s_.set_pool.words, all));
  std::vector<Index> set_of_root(num_variables(), -1), objects;
  for (std::size_t v = 0; v < num_variables(); ++v) {
    auto root = v;
    while (parents(root) != root) root = parents(root);
    auto const expected = solution.set_of_variable[v];
    if (set_of_root[root] == expected) continue;
    if (set_of_root[root] >= 0) return false;
    set_of_root[root] = expected;
    objects.clear();
    for (std::size_t e = sets(root); e != 0; e = words(e * words_of_element + next_word))
      for (std::uint32_t bit = 0; bit < bits_of_element; ++bit)
        if (words(e * words_of_element + bit / 32) >> bit % 32 & 1)
          objects.push_back(static_cast<Index>(words(e * words_of_element + base_word) * bits_of_element + bit));
    if (!std::ranges::equal(objects, solution.objects_of_set(expected))) return false;
  }
  return true;
}

}  // namespace hornbill::perf
