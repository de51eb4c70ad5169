// Reductions on a device: what is copied there, and the kernel.
#pragma once

#include <algorithm>
#include <cstdint>
#include <numeric>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <hornbill/detail/copy.hpp>
#include <hornbill/error.hpp>
#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables::detail {

using hornbill::detail::to_view;

template <class ExecutionSpace>
inline constexpr bool runs_on_host = Kokkos::SpaceAccessibility<Kokkos::HostSpace, typename ExecutionSpace::memory_space>::accessible;

/// Lanes of a team.
template <class ExecutionSpace>
inline constexpr int team_size_of = runs_on_host<ExecutionSpace> ? 1 : 256;

/// 2^exponent, exactly.
KOKKOS_INLINE_FUNCTION double power_of_two(int exponent) { return Kokkos::bit_cast<double>(static_cast<std::uint64_t>(1023 + exponent) << 52); }

/// The power of two that a table's values are divided by where they are read, so that the largest is between 1 and 2.
template <class Value>
KOKKOS_INLINE_FUNCTION int exponent_of(Value largest) {
  constexpr int most = sizeof(Value) == 4 ? 120 : 1000;  // a normal number, also its inverse
  return largest > 0 && !Kokkos::isinf(largest) ? Kokkos::clamp(static_cast<int>(Kokkos::logb(largest)), -most, most) : 0;
}

/// Reads the inputs of reductions.
template <class Semiring, class MemorySpace>
struct Inputs {
  using Value = typename Semiring::Value;

  Kokkos::View<ReductionTask const*, MemorySpace> tasks;
  Kokkos::View<ReductionInput const*, MemorySpace> inputs;
  Kokkos::View<Index const*, MemorySpace> steps;
  TableValues<Value, MemorySpace> values;

  KOKKOS_FUNCTION Value scale_of(ReductionInput const& input) const {
    if constexpr (Semiring::scales) return static_cast<Value>(power_of_two(-exponent_of(values.largest(input.table))));
    else return Semiring::one();
  }
  KOKKOS_FUNCTION static Value scaled(Value value, Value scale) {
    if constexpr (Semiring::scales) return value * scale;
    else return value;
  }
  /// How far a row is into an input, within the low digit.
  KOKKOS_FUNCTION Index row_step(ReductionInput const& input, Index low) const { return input.has_rows_in_order ? low : steps(input.row_low + low); }
  /// How far a state of what is eliminated is into an input, within the high digit.
  KOKKOS_FUNCTION Offset over_step(ReductionTask const& task, ReductionInput const& input, Index low) const {
    return task.is_strided ? Offset{low} * input.stride : Offset{steps(input.over_low + low)};
  }
};

/// One level: a team a block of rows. Where much is reduced to few rows, lanes share one; else each has rows of its own, several at once.
template <class Semiring, class ExecutionSpace>
struct Reduce {
  using Value = typename Semiring::Value;
  using MemorySpace = typename ExecutionSpace::memory_space;
  static constexpr bool on_host = runs_on_host<ExecutionSpace>;
  static constexpr int team_size = team_size_of<ExecutionSpace>;
  // On a GPU so few registers that three teams share a multiprocessor: memory is waited for less.
  using Policy = std::conditional_t<on_host, Kokkos::TeamPolicy<ExecutionSpace>, Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<256, 3>>>;
  using Team = typename Policy::member_type;

  Inputs<Semiring, MemorySpace> from;
  Kokkos::View<BlockPlace const*, MemorySpace> blocks;
  Offset first_block = 0;  ///< of the level

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    auto const place = blocks(first_block + team.league_rank());
    auto const task = from.tasks(place.task);
    Index const high = place.block / task.blocks_of_row * task.highs_of_block, begin = place.block % task.blocks_of_row * task.block_rows;
    Block const block{high, Kokkos::min(high + task.highs_of_block, task.rows_high), begin, Kokkos::min(begin + task.block_rows, task.rows_low)};
    Value largest = reduce_block(team, task, block);
    if constexpr (Semiring::scales) {
      team.team_reduce(Kokkos::Max<Value>(largest));
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        auto& of_table = from.values.largest(task.table);
        if (Kokkos::atomic_load(&of_table) < largest) Kokkos::atomic_max(&of_table, largest);
      });
    }
  }

 private:
  struct Block {
    Index high, last_high;  ///< of the high digit, from and up to
    Index begin, end;       ///< of the low digit
  };
  /// What stays when the high digit changes: where rows are in inputs of few, and how inputs are read.
  template <int Count, int Rows>
  struct Places {
    Index at[Count == 0 ? 1 : Count][Rows] = {};
    Index over[Count == 0 ? 1 : Count] = {};  ///< how far apart states of the low digit are, or where their steps begin
    Value scale[Count == 0 ? 1 : Count] = {};
  };
  /// What a lane works on: rows, team_size apart, and of what is eliminated each lanes-th state.
  struct Share {
    Index first_row, num_rows, lane, lanes;
  };
  /// Inputs that are few enough for their places to stay in registers; `many` stands for any more.
  static constexpr int many = 0;
  /// Rows of a lane at once: what is read for all of them is read once.
  KOKKOS_FUNCTION static constexpr int rows_at_once(int count) { return on_host ? 256 : count >= 1 && count <= 3 ? 4 : 2; }

  /// The largest value that a lane wrote.
  KOKKOS_FUNCTION Value reduce_block(Team const& team, ReductionTask const& task, Block const& block) const {
    if constexpr (Semiring::selects)
      if (task.shifts >= 0) return shift_rows(team, task, block);
    switch (task.num_inputs) {
      case 1: return reduce_of<1>(team, task, block);
      case 2: return reduce_of<2>(team, task, block);
      case 3: return reduce_of<3>(team, task, block);
      case 4: return reduce_of<4>(team, task, block);
      default: return reduce_of<many>(team, task, block);
    }
  }
  template <int Count>
  KOKKOS_FUNCTION Value reduce_of(Team const& team, ReductionTask const& task, Block const& block) const {
    if (task.log_lanes > 0) return shared_rows<Count>(team, task, block);
    if (block.end - block.begin <= (on_host ? 16 : team_size)) return own_rows<Count, 1>(team, task, block);
    return own_rows<Count, rows_at_once(Count)>(team, task, block);
  }

  KOKKOS_FUNCTION Value shift_rows(Team const& team, ReductionTask const& task, Block const& block) const {
    Value largest{};
    for (Index low = block.begin + team.team_rank(); low < block.end; low += team_size) {
      auto const value = [&](Index k) {
        auto const& input = from.inputs(task.first_input + k);
        return from.scaled(begin_of(input, block.high, 0)[from.row_step(input, low)], from.scale_of(input));
      };
      Value const shift = Semiring::shift_to_mean(value, task.num_inputs, task.shifts);
      from.values.cells(output_of(task, block.high) + low) = shift;
      if constexpr (Semiring::scales) largest = Kokkos::max(largest, shift);
    }
    return largest;
  }

  template <int Count>
  KOKKOS_FUNCTION Value shared_rows(Team const& team, ReductionTask const& task, Block const& block) const {
    Index const lanes = 1 << task.log_lanes, lane = team.team_rank() & (lanes - 1), groups = team_size >> task.log_lanes;
    auto* const partial = static_cast<Value*>(team.team_scratch(0).get_shmem(team_size * sizeof(Value))) + team.team_rank();
    Value largest{};
    for (Index first = block.begin; first < block.end; first += groups) {
      Index const low = first + (team.team_rank() >> task.log_lanes);
      Value result[1] = {Semiring::zero()};
      Share const share{low, 1, lane, lanes};
      if (low < block.end) combine<Count, 1>(task, block.high, share, places_of<Count, 1>(task, share), result);
      *partial = result[0];
      for (Index half = lanes / 2; half > 0; half /= 2) {
        team.team_barrier();
        if (lane < half) *partial = Semiring::add(*partial, partial[half]);
      }
      if (lane == 0 && low < block.end) {
        from.values.cells(output_of(task, block.high) + low) = *partial;
        if constexpr (Semiring::scales) largest = Kokkos::max(largest, *partial);
      }
      team.team_barrier();  // the next rows' partial results overwrite these
    }
    return largest;
  }

  template <int Count, int Rows>
  KOKKOS_FUNCTION Value own_rows(Team const& team, ReductionTask const& task, Block const& block) const {
    Value largest{};
    for (Index first = block.begin + team.team_rank(); first < block.end; first += Rows * team_size) {
      Share const share{first, Kokkos::min(Rows, (block.end - first + team_size - 1) / team_size), 0, 1};
      auto const places = places_of<Count, Rows>(task, share);
      for (Index high = block.high; high < block.last_high; ++high) {
        Value result[Rows];
        combine<Count, Rows>(task, high, share, places, result);
        Value* const out = from.values.cells.data() + output_of(task, high) + first;
        for (int r = 0; r < Rows; ++r)
          if (r < share.num_rows) out[r * team_size] = result[r];
        if constexpr (Semiring::scales)
          for (int r = 0; r < Rows; ++r)
            if (r < share.num_rows) largest = Kokkos::max(largest, result[r]);
      }
    }
    return largest;
  }

  /// On GPUs a lane's rows are always all of them, those behind the last being the last again: so they stay in registers.
  template <int Rows>
  KOKKOS_FUNCTION static int rows_of(Share const& share) {
    return on_host ? share.num_rows : Rows;
  }
  KOKKOS_FUNCTION static Index row(Share const& share, int r) { return share.first_row + (on_host ? r : Kokkos::min(r, share.num_rows - 1)) * team_size; }

  KOKKOS_FUNCTION Offset output_of(ReductionTask const& task, Index high) const { return task.output + from.steps(task.output_high + high); }

  template <int Count, int Rows>
  KOKKOS_FUNCTION Places<Count, Rows> places_of(ReductionTask const& task, Share const& share) const {
    Places<Count, Rows> places;
    int const rows = rows_of<Rows>(share);
    for (int k = 0; k < Count; ++k) {
      auto const& input = from.inputs(task.first_input + k);
      places.scale[k] = from.scale_of(input);
      places.over[k] = task.is_strided ? input.stride : static_cast<Index>(input.over_low);
      for (int r = 0; r < rows; ++r) places.at[k][r] = from.row_step(input, row(share, r));
    }
    return places;
  }

  template <int Count, int Rows>
  KOKKOS_FUNCTION void combine(ReductionTask const& task, Index high, Share const& share, Places<Count, Rows> const& places, Value* KOKKOS_RESTRICT result) const {
    int const rows = rows_of<Rows>(share);
    for (int r = 0; r < rows; ++r) result[r] = Semiring::zero();
    if constexpr (Count == many) {
      combine_many<Rows>(task, high, share, rows, result);
    } else {
      for (Index eh = 0; eh < task.over_high; ++eh) {
        Value const* begin[Count];
        for (int k = 0; k < Count; ++k) begin[k] = begin_of(from.inputs(task.first_input + k), high, eh);
        if (task.is_strided)
          for (Index el = share.lane; el < task.over_low; el += share.lanes) {
            Value const* cells[Count];
            for (int k = 0; k < Count; ++k) cells[k] = begin[k] + Offset{el} * places.over[k];
            add_product<Count, Rows>(cells, places, rows, result);
          }
        else
          for (Index el = share.lane; el < task.over_low; el += share.lanes) {
            Value const* cells[Count];
            for (int k = 0; k < Count; ++k) cells[k] = begin[k] + from.steps(places.over[k] + el);
            add_product<Count, Rows>(cells, places, rows, result);
          }
      }
    }
  }

  template <int Count, int Rows>
  KOKKOS_FORCEINLINE_FUNCTION void add_product(Value const* const (&cells)[Count], Places<Count, Rows> const& places, int rows, Value* KOKKOS_RESTRICT result) const {
    for (int r = 0; r < rows; ++r) {
      Value product = from.scaled(cells[0][places.at[0][r]], places.scale[0]);
      for (int k = 1; k < Count; ++k) product = Semiring::multiply_few(product, from.scaled(cells[k][places.at[k][r]], places.scale[k]));
      result[r] = Semiring::add(result[r], product);
    }
  }

  template <int Rows>
  KOKKOS_FUNCTION void combine_many(ReductionTask const& task, Index high, Share const& share, int rows, Value* KOKKOS_RESTRICT result) const {
    for (Index eh = 0; eh < task.over_high; ++eh)
      for (Index el = share.lane; el < task.over_low; el += share.lanes) {
        Value product[Rows];
        for (int r = 0; r < rows; ++r) product[r] = Semiring::one();
        for (Index k = 0; k < task.num_inputs; ++k) {
          auto const& input = from.inputs(task.first_input + k);
          Value const scale = from.scale_of(input);
          Value const* const cells = begin_of(input, high, eh) + from.over_step(task, input, el);
          for (int r = 0; r < rows; ++r) product[r] = Semiring::multiply(product[r], from.scaled(cells[from.row_step(input, row(share, r))], scale));
        }
        for (int r = 0; r < rows; ++r) result[r] = Semiring::add(result[r], product[r]);
      }
  }

  KOKKOS_FUNCTION Value const* begin_of(ReductionInput const& input, Index row_high, Index over_high) const {
    return from.values.cells.data() + input.begin + from.steps(input.row_high + row_high) + from.steps(input.over_high + over_high);
  }
};

/// Before a run: nothing is known of the tables that will be made.
template <class Value, class MemorySpace>
struct ForgetLargest {
  Kokkos::View<ReductionTask const*, MemorySpace> tasks;
  Kokkos::View<Index const*, MemorySpace> reductions;
  Kokkos::View<Value*, MemorySpace> largest;
  KOKKOS_FUNCTION void operator()(Index i) const { largest(tasks(reductions(i)).table) = 0; }
};

}  // namespace hornbill::tables::detail

namespace hornbill::tables {

template <class ExecutionSpace>
Reductions<typename ExecutionSpace::memory_space> make_reductions(ExecutionSpace const& exec, HostReductions const& host) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  auto layout = detail::make_layout(host, detail::team_size_of<ExecutionSpace>);
  Reductions<MemorySpace> result;
  result.tasks = detail::to_view<detail::ReductionTask, MemorySpace>(exec, "hornbill::tables::tasks", layout.tasks);
  result.inputs = detail::to_view<detail::ReductionInput, MemorySpace>(exec, "hornbill::tables::inputs", layout.inputs);
  result.steps = detail::to_view<Index, MemorySpace>(exec, "hornbill::tables::steps", layout.steps);
  result.host_tasks = std::move(layout.tasks);
  return result;
}

template <class ExecutionSpace>
Schedule<typename ExecutionSpace::memory_space> make_schedule(ExecutionSpace const& exec, HostReductions const& host, Reductions<typename ExecutionSpace::memory_space> const& reductions,
                                                              std::vector<Index> const& wanted) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  std::vector<std::vector<Index>> of_level(static_cast<std::size_t>(host.num_levels()));
  for (Index r : wanted) of_level[static_cast<std::size_t>(host.tables()[host.reductions()[r].output].level) - 1].push_back(r);
  Schedule<MemorySpace> schedule;
  std::vector<detail::BlockPlace> blocks;
  std::vector<Index> order;
  for (auto const& level : of_level) {
    if (level.empty()) continue;
    schedule.first_block.push_back(std::ssize(blocks));
    for (Index r : level) {
      Index const count = detail::blocks_of(reductions.host_tasks[r]);
      for (Index block = 0; block < count; ++block) blocks.push_back({r, block});
      order.push_back(r);
    }
  }
  schedule.first_block.push_back(std::ssize(blocks));
  schedule.blocks = detail::to_view<detail::BlockPlace, MemorySpace>(exec, "hornbill::tables::blocks", blocks);
  schedule.reductions = detail::to_view<Index, MemorySpace>(exec, "hornbill::tables::scheduled", order);
  return schedule;
}

template <class ExecutionSpace>
Schedule<typename ExecutionSpace::memory_space> make_schedule(ExecutionSpace const& exec, HostReductions const& host, Reductions<typename ExecutionSpace::memory_space> const& reductions) {
  std::vector<Index> all(host.reductions().size());
  std::iota(all.begin(), all.end(), 0);
  return make_schedule(exec, host, reductions, all);
}

template <class Value, class ExecutionSpace>
TableValues<Value, typename ExecutionSpace::memory_space> make_values(ExecutionSpace const& exec, HostReductions const& host) {
  using View = Kokkos::View<Value*, typename ExecutionSpace::memory_space>;
  return {hornbill::detail::allocate<View>(exec, "hornbill::tables::cells", static_cast<std::size_t>(host.num_cells())),
          hornbill::detail::allocate_initialised<View>(exec, "hornbill::tables::largest", host.tables().size())};
}

template <class Value, class ExecutionSpace>
void set_given(ExecutionSpace const& exec, HostReductions const& host, TableValues<Value, typename ExecutionSpace::memory_space> const& values, std::span<std::vector<Value> const> given, Index first) {
  auto const last = static_cast<std::size_t>(first) + given.size();
  if (last > static_cast<std::size_t>(host.num_given())) throw ShapeError("given tables", static_cast<std::size_t>(host.num_given()), last);
  if (given.empty()) return;
  std::vector<Value> cells, largest;
  for (std::size_t t = 0; t < given.size(); ++t) {
    auto const expected = static_cast<std::size_t>(host.tables()[static_cast<std::size_t>(first) + t].cells);
    if (given[t].size() != expected) throw ShapeError("cells of a given table", expected, given[t].size());
    cells.insert(cells.end(), given[t].begin(), given[t].end());
    if constexpr (std::is_arithmetic_v<Value>) largest.push_back(*std::max_element(given[t].begin(), given[t].end()));
  }
  auto const copy = [&](std::vector<Value> const& source, auto const& view, Offset begin) {
    Kokkos::View<Value const*, Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>> const on_host(source.data(), source.size());
    Kokkos::deep_copy(exec, Kokkos::subview(view, std::pair(begin, begin + std::ssize(source))), on_host);
  };
  copy(cells, values.cells, host.tables()[static_cast<std::size_t>(first)].offset);
  if (!largest.empty()) copy(largest, values.largest, first);  // else of values that are never scaled
  exec.fence("hornbill: copies from the host's tables");
}

template <class Value, class ExecutionSpace>
std::vector<Value> cells_of(ExecutionSpace const& exec, HostReductions const& host, TableValues<Value, typename ExecutionSpace::memory_space> const& values, Index table) {
  auto const& place = host.tables()[table];
  return hornbill::detail::to_vector(exec, Kokkos::subview(values.cells, std::pair(place.offset, place.offset + place.cells)));
}

template <class Semiring, class ExecutionSpace>
void reduce(ExecutionSpace const& exec, Reductions<typename ExecutionSpace::memory_space> const& reductions, Schedule<typename ExecutionSpace::memory_space> const& schedule,
            TableValues<typename Semiring::Value, typename ExecutionSpace::memory_space> const& values) {
  using Value = typename Semiring::Value;
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Kernel = detail::Reduce<Semiring, ExecutionSpace>;
  Kokkos::Profiling::ScopedRegion region("hornbill::tables::reduce");
  if constexpr (Semiring::scales)
    Kokkos::parallel_for("hornbill::tables::forget_largest", Kokkos::RangePolicy<ExecutionSpace>(exec, 0, schedule.reductions.extent(0)),
                         detail::ForgetLargest<Value, MemorySpace>{reductions.tasks, schedule.reductions, values.largest});
  for (std::size_t level = 0; level + 1 < schedule.first_block.size(); ++level) {
    Kernel const kernel{{reductions.tasks, reductions.inputs, reductions.steps, values}, schedule.blocks, schedule.first_block[level]};
    auto policy = typename Kernel::Policy(exec, static_cast<int>(schedule.first_block[level + 1] - schedule.first_block[level]), Kernel::team_size);
    policy.set_scratch_size(0, Kokkos::PerTeam(Kernel::team_size * static_cast<int>(sizeof(Value))));
    Kokkos::parallel_for("hornbill::tables::reduce", policy, kernel);
  }
}

template <class Value>
std::vector<double> exponents_of(HostReductions const& host, std::vector<Value> const& largest) {
  std::vector<double> exponents(host.tables().size());
  for (auto const& reduction : host.reductions())
    for (Index t : reduction.shifts >= 0 ? std::vector<Index>{} : reduction.inputs) exponents[reduction.output] += exponents[t] + detail::exponent_of(largest[t]);
  return exponents;
}

}  // namespace hornbill::tables
