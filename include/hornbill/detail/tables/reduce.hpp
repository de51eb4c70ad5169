// Reductions on a device: what is copied there, and the kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <vector>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <hornbill/detail/copy.hpp>
#include <hornbill/error.hpp>
#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables::detail {

using hornbill::detail::to_view;

inline constexpr Index block_rows = 1024;  ///< rows of one team's work
inline constexpr Index least_low = 256;    ///< states of a low digit, where there are as many

/// How far each state of a digit goes in a table.
inline void append_steps(std::vector<Offset>& steps, HostReductions const& host, Index table, std::span<Index const> digit) {
  std::size_t const begin = steps.size();
  steps.push_back(0);
  for (Index v : digit) {  // the slowest first: each multiplies what there is
    Offset const stride = host.stride(table, v);
    std::vector<Offset> const before(steps.begin() + static_cast<std::ptrdiff_t>(begin), steps.end());
    steps.resize(begin);
    for (Offset step : before)
      for (Index state = 0; state < host.cardinality()[v]; ++state) steps.push_back(step + state * stride);
  }
}

/// Variables in two digits: the fastest, of at least least_low states or about the square root of all, and the others.
struct Digits {
  std::span<Index const> high, low;
  Index num_high = 1, num_low = 1;

  Digits(HostReductions const& host, std::span<Index const> variables) {
    double all = 1;
    for (Index v : variables) all *= host.cardinality()[v];
    std::size_t split = variables.size();
    while (split > 0 && (num_low < least_low || static_cast<double>(num_low) * num_low < all / 16)) num_low *= host.cardinality()[variables[--split]];
    high = variables.first(split);
    low = variables.subspan(split);
    for (Index v : high) num_high *= host.cardinality()[v];
  }
};

inline ReductionTask make_task(HostReductions const& host, HostReduction const& reduction, std::vector<ReductionInput>& inputs, std::vector<Offset>& steps) {
  auto const& output = host.tables()[reduction.output];
  Digits const rows(host, output.scope), over(host, reduction.eliminated);
  ReductionTask task;
  task.output = output.offset;
  task.table = reduction.output;
  task.first_input = static_cast<Index>(inputs.size());
  task.num_inputs = static_cast<Index>(reduction.inputs.size());
  task.rows_low = rows.num_low;
  task.rows_high = rows.num_high;
  task.over_low = over.num_low;
  task.over_high = over.num_high;
  task.blocks_of_row = (rows.num_low + block_rows - 1) / block_rows;
  for (Index t : reduction.inputs) {
    ReductionInput input{host.tables()[t].offset, t, 0, 0, 0, 0};
    for (auto [first, digit] : {std::pair{&input.row_low, rows.low}, {&input.row_high, rows.high}, {&input.over_low, over.low}, {&input.over_high, over.high}}) {
      *first = static_cast<Offset>(steps.size());
      append_steps(steps, host, t, digit);
    }
    inputs.push_back(input);
  }
  return task;
}

/// One level: a team a block of rows, a lane a row.
template <class Semiring, class ExecutionSpace>
struct Reduce {
  using Value = typename Semiring::Value;
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Team = typename Policy::member_type;

  Kokkos::View<ReductionTask const*, MemorySpace> tasks;  ///< of the level
  Kokkos::View<ReductionInput const*, MemorySpace> inputs;
  Kokkos::View<Offset const*, MemorySpace> steps;
  TableValues<Value, MemorySpace> values;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto const task = tasks(find_task(team.league_rank()));
    Offset const block = team.league_rank() - task.first_block;
    Index const high = static_cast<Index>(block / task.blocks_of_row), begin = static_cast<Index>(block % task.blocks_of_row) * block_rows;
    Index const end = Kokkos::min(begin + block_rows, task.rows_low);
    Value largest = 0;
    auto const row = [&](Index low, Value& most) {
      Value const value = reduce_row(task, high, low);
      values.cells(task.output + Offset{high} * task.rows_low + low) = value;
      if constexpr (Semiring::scales) most = Kokkos::max(most, value);
    };
    Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, begin, end), row, Kokkos::Max<Value>(largest));
    if constexpr (Semiring::scales)
      Kokkos::single(Kokkos::PerTeam(team), [&] { Kokkos::atomic_max(&values.largest(task.table), largest); });
  }

 private:
  KOKKOS_FUNCTION Index find_task(Offset block) const {
    Index first = 0, count = static_cast<Index>(tasks.extent(0));
    while (count > 1) {
      Index const half = count / 2;
      if (tasks(first + half).first_block <= block) {
        first += half;
        count -= half;
      } else {
        count = half;
      }
    }
    return first;
  }

  KOKKOS_FUNCTION Value reduce_row(ReductionTask const& task, Index high, Index low) const {
    switch (task.num_inputs) {
      case 1: return reduce_inputs<1>(task, high, low);
      case 2: return reduce_inputs<2>(task, high, low);
      case 3: return reduce_inputs<3>(task, high, low);
      case 4: return reduce_inputs<4>(task, high, low);
      default: return reduce_many(task, high, low);
    }
  }

  template <int Inputs>
  KOKKOS_FUNCTION Value reduce_inputs(ReductionTask const& task, Index high, Index low) const {
    Offset at[Inputs];
    for (int k = 0; k < Inputs; ++k) at[k] = begin_of_row(inputs(task.first_input + k), high, low);
    Value result = Semiring::zero();
    for (Index eh = 0; eh < task.over_high; ++eh)
      for (Index el = 0; el < task.over_low; ++el) {
        Value product = Semiring::one();
        for (int k = 0; k < Inputs; ++k) product = Semiring::multiply(product, read(inputs(task.first_input + k), at[k], eh, el));
        result = Semiring::add(result, product);
      }
    return result;
  }

  KOKKOS_FUNCTION Value reduce_many(ReductionTask const& task, Index high, Index low) const {
    Value result = Semiring::zero();
    for (Index eh = 0; eh < task.over_high; ++eh)
      for (Index el = 0; el < task.over_low; ++el) {
        Value product = Semiring::one();
        for (Index k = 0; k < task.num_inputs; ++k) {
          auto const& input = inputs(task.first_input + k);
          product = Semiring::multiply(product, read(input, begin_of_row(input, high, low), eh, el));
        }
        result = Semiring::add(result, product);
      }
    return result;
  }

  KOKKOS_FUNCTION Offset begin_of_row(ReductionInput const& input, Index high, Index low) const { return input.begin + steps(input.row_high + high) + steps(input.row_low + low); }

  KOKKOS_FUNCTION Value read(ReductionInput const& input, Offset row, Index over_high, Index over_low) const {
    Value const value = values.cells(row + steps(input.over_high + over_high) + steps(input.over_low + over_low));
    if constexpr (Semiring::scales) return value * values.scales(input.table);
    else return value;
  }
};

/// 2^exponent, exactly.
KOKKOS_INLINE_FUNCTION double power_of_two(int exponent) { return Kokkos::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52); }

/// After a level: by what the tables that it made are multiplied where they are read, so that their largest value is between 1 and 2.
template <class Value, class MemorySpace>
struct TakeExponents {
  Kokkos::View<ReductionTask const*, MemorySpace> tasks;
  TableValues<Value, MemorySpace> values;

  KOKKOS_FUNCTION void operator()(Index i) const {
    Index const table = tasks(i).table;
    Value const largest = values.largest(table);
    constexpr int most = sizeof(Value) == 4 ? 120 : 1000;  // a normal number, also its inverse
    int const exponent = largest > 0 && !Kokkos::isinf(largest) ? Kokkos::clamp(static_cast<int>(Kokkos::logb(largest)), -most, most) : 0;
    values.exponents(table) = exponent;
    values.scales(table) = static_cast<Value>(power_of_two(-exponent));
  }
};

}  // namespace hornbill::tables::detail

namespace hornbill::tables {

template <class ExecutionSpace>
Reductions<typename ExecutionSpace::memory_space> make_reductions(ExecutionSpace const& exec, HostReductions const& host) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  std::vector<std::vector<Index>> of_level(static_cast<std::size_t>(host.num_levels()));
  for (std::size_t r = 0; r < host.reductions().size(); ++r) of_level[static_cast<std::size_t>(host.tables()[host.reductions()[r].output].level) - 1].push_back(static_cast<Index>(r));
  Reductions<MemorySpace> result;
  std::vector<detail::ReductionTask> tasks;
  std::vector<detail::ReductionInput> inputs;
  std::vector<Offset> steps;
  for (auto const& level : of_level) {
    result.first_task.push_back(static_cast<Index>(tasks.size()));
    Offset blocks = 0;
    for (Index r : level) {
      auto task = detail::make_task(host, host.reductions()[r], inputs, steps);
      task.first_block = std::exchange(blocks, blocks + Offset{task.rows_high} * task.blocks_of_row);
      tasks.push_back(task);
    }
    result.num_blocks.push_back(blocks);
  }
  result.first_task.push_back(static_cast<Index>(tasks.size()));
  result.tasks = detail::to_view<detail::ReductionTask, MemorySpace>(exec, "hornbill::tables::tasks", tasks);
  result.inputs = detail::to_view<detail::ReductionInput, MemorySpace>(exec, "hornbill::tables::inputs", inputs);
  result.steps = detail::to_view<Offset, MemorySpace>(exec, "hornbill::tables::steps", steps);
  result.num_cells = host.num_cells();
  result.num_tables = static_cast<Index>(host.tables().size());
  return result;
}

template <class ExecutionSpace, class Value>
TableValues<Value, typename ExecutionSpace::memory_space> make_values(ExecutionSpace const& exec, HostReductions const& host, std::vector<std::vector<Value>> const& given) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  TableValues<Value, MemorySpace> values;
  values.cells = hornbill::detail::allocate<Kokkos::View<Value*, MemorySpace>>(exec, "hornbill::tables::cells", static_cast<std::size_t>(host.num_cells()));
  values.largest = hornbill::detail::allocate_initialised<Kokkos::View<Value*, MemorySpace>>(exec, "hornbill::tables::largest", host.tables().size());
  values.scales = hornbill::detail::allocate<Kokkos::View<Value*, MemorySpace>>(exec, "hornbill::tables::scales", host.tables().size());
  Kokkos::deep_copy(exec, values.scales, 1);
  values.exponents = hornbill::detail::allocate_initialised<Kokkos::View<int*, MemorySpace>>(exec, "hornbill::tables::exponents", host.tables().size());
  std::size_t next = 0;
  for (auto const& table : host.tables()) {
    if (table.level > 0) continue;
    if (next == given.size()) throw ShapeError("given tables", next + 1, given.size());
    auto const& of_table = given[next++];
    if (of_table.size() != static_cast<std::size_t>(table.cells)) throw ShapeError("cells of a given table", static_cast<std::size_t>(table.cells), of_table.size());
    Kokkos::View<Value const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const source(of_table.data(), of_table.size());
    Kokkos::deep_copy(exec, Kokkos::subview(values.cells, std::pair(table.offset, table.offset + table.cells)), source);
  }
  if (next != given.size()) throw ShapeError("given tables", next, given.size());
  exec.fence("hornbill: copies from the host's tables");
  return values;
}

template <class Semiring, class ExecutionSpace>
void reduce(ExecutionSpace const& exec, Reductions<typename ExecutionSpace::memory_space> const& reductions,
            TableValues<typename Semiring::Value, typename ExecutionSpace::memory_space> const& values) {
  using Kernel = detail::Reduce<Semiring, ExecutionSpace>;
  Kokkos::Profiling::ScopedRegion region("hornbill::tables::reduce");
  if constexpr (Semiring::scales) Kokkos::deep_copy(exec, values.largest, 0);
  for (std::size_t level = 0; level < reductions.num_blocks.size(); ++level) {
    std::pair const range(reductions.first_task[level], reductions.first_task[level + 1]);
    auto const tasks = Kokkos::subview(reductions.tasks, range);
    constexpr int team_size = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible ? 1 : 256;
    Kokkos::parallel_for("hornbill::tables::reduce", typename Kernel::Policy(exec, static_cast<int>(reductions.num_blocks[level]), team_size), Kernel{tasks, reductions.inputs, reductions.steps, values});
    if constexpr (Semiring::scales)
      Kokkos::parallel_for("hornbill::tables::take_exponents", Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Index>>(exec, 0, range.second - range.first),
                           detail::TakeExponents<typename Semiring::Value, typename ExecutionSpace::memory_space>{tasks, values});
  }
}

}  // namespace hornbill::tables
