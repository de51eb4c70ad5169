// Reductions on a device: what is copied there, and how they are run.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <hornbill/detail/copy.hpp>
#include <hornbill/error.hpp>
#include <hornbill/tables/detail/instantiate.hpp>
#include <hornbill/tables/detail/launches.hpp>
#include <hornbill/tables/detail/reduce_kernel.hpp>
#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables::detail {

using hornbill::detail::to_view;

/// Before a run: nothing is known of the tables that will be made.
template <class Value, class MemorySpace>
struct ForgetExtents {
  Kokkos::View<ReductionTask const*, MemorySpace> tasks;
  Kokkos::View<Index const*, MemorySpace> reductions;
  Kokkos::View<Value*, MemorySpace> largest, smallest;
  KOKKOS_FUNCTION void operator()(Index i) const {
    Index const table = tasks(reductions(i)).table;
    largest(table) = 0;
    smallest(table) = Kokkos::Experimental::infinity_v<Value>;
  }
};

/// Reductions level by level.
struct Levels {
  std::vector<Index> reductions;
  std::vector<Offset> first;  ///< [levels + 1], into reductions
};

/// In the order in which they are wanted, where their level is the same.
inline Levels by_level(HostReductions const& host, std::vector<Index> const& wanted) {
  auto const level_of = [&](Index r) {
    return static_cast<std::size_t>(host.tables()[host.reductions()[r].output].level) - 1;
  };
  Levels levels;
  levels.first.assign(static_cast<std::size_t>(host.num_levels()) + 1, 0);
  for (Index r : wanted) ++levels.first[level_of(r) + 1];
  std::partial_sum(levels.first.begin(), levels.first.end(), levels.first.begin());
  auto next = levels.first;
  levels.reductions.resize(wanted.size());
  for (Index r : wanted) levels.reductions[next[level_of(r)]++] = r;
  return levels;
}

/// Multiplications, about, that a reduction takes one thread.
inline double work_of(ReductionTask const& task) {
  constexpr double of_block = 64;
  return of_block * blocks_of(task) +
         static_cast<double>(task.rows_low) * task.rows_high * task.over_low * task.over_high * task.num_inputs;
}

/// By how many powers of two products of a reduction's inputs, as they are read, may be below 1, and sums of them above
/// it.
template <class Value>
std::pair<double, double> powers_of_products(HostReductions const& host, HostReduction const& reduction,
                                             HostExtents<Value> const& extents) {
  double below = 0, above = std::log2(host.states_of(reduction.eliminated));
  for (Index t : reduction.inputs) {
    Value const largest = extents.largest[t];
    if (!(largest > 0)) continue;  // all zero
    int const exponent = exponent_of(largest);
    below += std::max(0.0, exponent - static_cast<double>(std::logb(extents.smallest[t])));
    above += std::max(0.0, static_cast<double>(std::logb(largest)) - exponent + 1);
  }
  return {below, above};
}

}  // namespace hornbill::tables::detail

namespace hornbill::tables {

template <class ExecutionSpace>
Reductions<typename ExecutionSpace::memory_space> make_reductions(ExecutionSpace const& exec,
                                                                  HostReductions const& host) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  auto const tasks = hornbill::detail::allocate<Kokkos::View<detail::ReductionTask*, MemorySpace>>(
      exec, "hornbill::tables::tasks", host.reductions().size());
  auto const inputs = hornbill::detail::allocate<Kokkos::View<detail::ReductionInput*, MemorySpace>>(
      exec, "hornbill::tables::inputs", detail::num_inputs(host));
  auto const host_tasks = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, Kokkos::HostSpace{}, tasks);
  auto const host_inputs = Kokkos::create_mirror_view(Kokkos::WithoutInitializing, Kokkos::HostSpace{}, inputs);
  exec.fence("hornbill: allocation before the host writes a mirror of it");
  auto const steps =
      detail::lay_out(host, detail::team_size_of<ExecutionSpace>, std::span(host_tasks.data(), host_tasks.size()),
                      std::span(host_inputs.data(), host_inputs.size()));
  Kokkos::deep_copy(exec, tasks, host_tasks);
  Kokkos::deep_copy(exec, inputs, host_inputs);
  exec.fence("hornbill: copies from mirrors");
  Reductions<MemorySpace> result;
  result.tasks = tasks;
  result.inputs = inputs;
  result.steps = detail::to_view<Index, MemorySpace>(exec, "hornbill::tables::steps", steps);
  result.host_tasks = host_tasks;
  return result;
}

template <class ExecutionSpace>
Schedule<typename ExecutionSpace::memory_space> make_schedule(
    ExecutionSpace const& exec, HostReductions const& host,
    Reductions<typename ExecutionSpace::memory_space> const& reductions, std::vector<Index> const& wanted) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  auto const of_levels = detail::by_level(host, wanted);
  Schedule<MemorySpace> schedule;
  std::vector<detail::BlockPlace> blocks;
  detail::LaunchList<ExecutionSpace> launches;
  for (std::size_t level = 0; level + 1 < of_levels.first.size(); ++level) {
    auto const first = std::ssize(blocks);
    double work = 0;
    for (Offset i = of_levels.first[level]; i < of_levels.first[level + 1]; ++i) {
      Index const r = of_levels.reductions[i], count = detail::blocks_of(reductions.host_tasks(r));
      for (Index block = 0; block < count; ++block) blocks.push_back({r, block});
      work += detail::work_of(reductions.host_tasks(r));
    }
    launches.add_level(std::ssize(blocks) - first, work);
  }
  schedule.launches = std::move(launches).take();
  schedule.blocks = detail::to_view<detail::BlockPlace, MemorySpace>(exec, "hornbill::tables::blocks", blocks);
  schedule.reductions = detail::to_view<Index, MemorySpace>(exec, "hornbill::tables::scheduled", of_levels.reductions);
  return schedule;
}

template <class ExecutionSpace>
Schedule<typename ExecutionSpace::memory_space> make_schedule(
    ExecutionSpace const& exec, HostReductions const& host,
    Reductions<typename ExecutionSpace::memory_space> const& reductions) {
  std::vector<Index> all(host.reductions().size());
  std::iota(all.begin(), all.end(), 0);
  return make_schedule(exec, host, reductions, all);
}

template <class Value, class ExecutionSpace>
TableValues<Value, typename ExecutionSpace::memory_space> make_values(ExecutionSpace const& exec,
                                                                      HostReductions const& host) {
  using View = Kokkos::View<Value*, typename ExecutionSpace::memory_space>;
  return {hornbill::detail::allocate<View>(exec, "hornbill::tables::cells", static_cast<std::size_t>(host.num_cells())),
          hornbill::detail::allocate_initialised<View>(exec, "hornbill::tables::largest", host.tables().size()),
          hornbill::detail::allocate_initialised<View>(exec, "hornbill::tables::smallest", host.tables().size())};
}

template <class Value, class ExecutionSpace>
void set_given(ExecutionSpace const& exec, HostReductions const& host,
               TableValues<Value, typename ExecutionSpace::memory_space> const& values,
               std::span<std::vector<Value> const> given, Index first) {
  auto const last = static_cast<std::size_t>(first) + given.size();
  if (last > static_cast<std::size_t>(host.num_given()))
    throw ShapeError("given tables", static_cast<std::size_t>(host.num_given()), last);
  if (given.empty()) return;
  std::vector<Value> cells, largest, smallest;
  std::size_t num_cells = 0;
  for (auto const& table : given) num_cells += table.size();
  cells.reserve(num_cells);
  for (std::size_t t = 0; t < given.size(); ++t) {
    auto const expected = static_cast<std::size_t>(host.tables()[static_cast<std::size_t>(first) + t].cells);
    if (given[t].size() != expected) throw ShapeError("cells of a given table", expected, given[t].size());
    cells.insert(cells.end(), given[t].begin(), given[t].end());
    if constexpr (std::is_floating_point_v<Value>) {  // others are never scaled
      detail::Extent<SumProduct<Value>> extent;
      for (Value value : given[t]) extent.include(value);
      largest.push_back(extent.largest);
      smallest.push_back(extent.smallest);
    }
  }
  auto const copy = [&](std::vector<Value> const& source, auto const& view, Offset begin) {
    Kokkos::View<Value const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const on_host(source.data(),
                                                                                                         source.size());
    Kokkos::deep_copy(exec, Kokkos::subview(view, std::pair(begin, begin + std::ssize(source))), on_host);
  };
  copy(cells, values.cells, host.tables()[static_cast<std::size_t>(first)].offset);
  if (!largest.empty()) {
    copy(largest, values.largest, first);
    copy(smallest, values.smallest, first);
  }
  exec.fence("hornbill: copies from the host's tables");
}

template <class Value, class ExecutionSpace>
std::vector<Value> cells_of(ExecutionSpace const& exec, HostReductions const& host,
                            TableValues<Value, typename ExecutionSpace::memory_space> const& values, Index table) {
  auto const& place = host.tables()[table];
  return hornbill::detail::to_vector(
      exec, Kokkos::subview(values.cells, std::pair(place.offset, place.offset + place.cells)));
}

template <class Semiring, class ExecutionSpace>
void reduce(ExecutionSpace const& exec, Reductions<typename ExecutionSpace::memory_space> const& reductions,
            Schedule<typename ExecutionSpace::memory_space> const& schedule,
            TableValues<typename Semiring::Value, typename ExecutionSpace::memory_space> const& values) {
  using Value = typename Semiring::Value;
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Kernel = detail::Reduce<Semiring, ExecutionSpace>;
  Kokkos::Profiling::ScopedRegion region("hornbill::tables::reduce");
  if constexpr (Semiring::scales)
    Kokkos::parallel_for("hornbill::tables::forget_extents",
                         Kokkos::RangePolicy<ExecutionSpace>(exec, 0, schedule.reductions.extent(0)),
                         detail::ForgetExtents<Value, MemorySpace>{reductions.tasks, schedule.reductions,
                                                                   values.largest, values.smallest});
  for (auto const& launch : schedule.launches) {
    Kernel const kernel{{reductions.tasks, reductions.inputs, reductions.steps, values}, schedule.blocks, launch};
    auto policy = typename Kernel::Policy(exec, static_cast<int>(launch.num_teams), Kernel::team_size);
    policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::team_size * static_cast<int>(sizeof(typename Kernel::Sum))));
    Kokkos::parallel_for("hornbill::tables::reduce", policy, kernel);
  }
}

template <class Value, class ExecutionSpace>
HostExtents<Value> extents_of(ExecutionSpace const& exec,
                              TableValues<Value, typename ExecutionSpace::memory_space> const& values) {
  return {hornbill::detail::to_vector(exec, values.largest), hornbill::detail::to_vector(exec, values.smallest)};
}

template <class Value>
std::vector<double> exponents_of(HostReductions const& host, std::vector<Value> const& largest) {
  std::vector<double> exponents(host.tables().size());
  for (auto const& reduction : host.reductions())
    for (Index t : reduction.shifts >= 0 ? std::vector<Index>{} : reduction.inputs)
      exponents[reduction.output] += exponents[t] + detail::exponent_of(largest[t]);
  return exponents;
}

template <class Value>
bool are_in_range(HostReductions const& host, HostExtents<Value> const& extents, std::span<Index const> run) {
  using Limits = std::numeric_limits<Value>;
  return std::all_of(run.begin(), run.end(), [&](Index r) {
    auto const [below, above] = detail::powers_of_products(host, host.reductions()[r], extents);
    return below < -Limits::min_exponent && above < Limits::max_exponent;
  });
}

template <class Value>
bool are_in_range(HostReductions const& host, HostExtents<Value> const& extents) {
  std::vector<Index> all(host.reductions().size());
  std::iota(all.begin(), all.end(), 0);
  return are_in_range<Value>(host, extents, all);
}

}  // namespace hornbill::tables

#define HORNBILL_INSTANTIATE_TABLES_PLANS(PREFIX, SPACE)                                                       \
  PREFIX template Reductions<SPACE::memory_space> make_reductions<SPACE>(SPACE const&, HostReductions const&); \
  PREFIX template Schedule<SPACE::memory_space> make_schedule<SPACE>(                                          \
      SPACE const&, HostReductions const&, Reductions<SPACE::memory_space> const&, std::vector<Index> const&); \
  PREFIX template Schedule<SPACE::memory_space> make_schedule<SPACE>(SPACE const&, HostReductions const&,      \
                                                                     Reductions<SPACE::memory_space> const&);
#define HORNBILL_INSTANTIATE_TABLES_VALUES(PREFIX, SPACE, VALUE)                                            \
  PREFIX template TableValues<VALUE, SPACE::memory_space> make_values<VALUE, SPACE>(SPACE const&,           \
                                                                                    HostReductions const&); \
  PREFIX template void set_given<VALUE, SPACE>(SPACE const&, HostReductions const&,                         \
                                               TableValues<VALUE, SPACE::memory_space> const&,              \
                                               std::span<std::vector<VALUE> const>, Index);                 \
  PREFIX template std::vector<VALUE> cells_of<VALUE, SPACE>(SPACE const&, HostReductions const&,            \
                                                            TableValues<VALUE, SPACE::memory_space> const&, Index);
#define HORNBILL_INSTANTIATE_TABLES_REDUCE(PREFIX, SPACE, SEMIRING)                                  \
  PREFIX template void reduce<SEMIRING, SPACE>(SPACE const&, Reductions<SPACE::memory_space> const&, \
                                               Schedule<SPACE::memory_space> const&,                 \
                                               TableValues<typename SEMIRING::Value, SPACE::memory_space> const&);

namespace hornbill::tables {
HORNBILL_EXTERN(HORNBILL_FOR_PLANS, HORNBILL_INSTANTIATE_TABLES_PLANS)
HORNBILL_EXTERN(HORNBILL_FOR_TABLE_VALUES, HORNBILL_INSTANTIATE_TABLES_VALUES)
HORNBILL_EXTERN(HORNBILL_FOR_SEMIRINGS, HORNBILL_INSTANTIATE_TABLES_REDUCE)
}  // namespace hornbill::tables
