// The kernel of reductions.
#pragma once

#include <type_traits>

#include <hornbill/detail/tables/inputs.hpp>

namespace hornbill::tables::detail {

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

}  // namespace hornbill::tables::detail
