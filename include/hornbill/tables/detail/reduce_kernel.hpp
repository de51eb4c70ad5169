// The kernel of reductions.
#pragma once

#include <type_traits>

#include <hornbill/tables/detail/cursor.hpp>
#include <hornbill/tables/detail/launches.hpp>

namespace hornbill::tables::detail {

/// One level, or on the host several in turn: a team a block of rows. Where much is reduced to few rows, lanes share
/// one; else each has rows of its own, several at once, and goes through states of the high digit with them.
template <class Semiring, class ExecutionSpace>
struct Reduce {
  using Value = typename Semiring::Value;
  using Sum = detail::Sum<Semiring>;
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Extent = detail::Extent<Semiring>;
  static constexpr bool on_host = runs_on_host<ExecutionSpace>;
  static constexpr int team_size = team_size_of<ExecutionSpace>;
  static_assert(team_size <= max_team_size, "bytes_needed() promises enough for max_team_size");
  // On a GPU so few registers that three teams share a multiprocessor: memory is waited for less.
  using Policy = std::conditional_t<on_host, Kokkos::TeamPolicy<ExecutionSpace>,
                                    Kokkos::TeamPolicy<ExecutionSpace, Kokkos::LaunchBounds<team_size, 3>>>;
  using Team = typename Policy::member_type;

  Inputs<Semiring, MemorySpace> from;
  Kokkos::View<BlockPlace const*, MemorySpace> blocks;
  Launch launch;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    for_each_of_team<ExecutionSpace>(launch, team.league_rank(), [&](Offset block) { reduce_block_at(team, block); });
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION void reduce_block_at(Team const& team, Offset at) const {
    auto const place = blocks(at);
    auto const task = from.tasks(place.task);
    Index const high = place.block / task.blocks_of_row * task.highs_of_block,
                begin = place.block % task.blocks_of_row * task.block_rows;
    Block const block{high, Kokkos::min(high + task.highs_of_block, task.rows_high), begin,
                      Kokkos::min(begin + task.block_rows, task.rows_low)};
    auto const extent = reduce_block(team, task, block);
    if constexpr (Semiring::scales) {
      Kokkos::MinMaxScalar<Value> of_block{extent.smallest, extent.largest};
      team.team_reduce(Kokkos::MinMax<Value>(of_block));
      Kokkos::single(Kokkos::PerTeam(team), [&] {
        atomic_include(from.values.largest(task.table), from.values.smallest(task.table), of_block);
      });
    }
  }

  struct Block {
    Index high, last_high;  ///< of the high digit, from and up to
    Index begin, end;       ///< of the low digit
  };
  /// Inputs that are few enough for all about them to stay in registers; `many` stands for any more.
  static constexpr int many = 0;
  /// Rows of a lane at once: what is read for all of them is read once.
  KOKKOS_FUNCTION static constexpr int rows_at_once(int count) {
    return on_host ? 256 : count == 1 || count == 2 ? 4 : count == 4 ? 1 : 2;
  }
  /// The same where some inputs are read once for a run of states of the high digit.
  KOKKOS_FUNCTION static constexpr int rows_at_once(int states, int num_apart) {
    return on_host ? 256 : states * num_apart <= 2 ? 4 : states * num_apart <= 8 ? 2 : 1;
  }

  /// What a lane wrote.
  KOKKOS_FUNCTION Extent reduce_block(Team const& team, ReductionTask const& task, Block const& block) const {
    if constexpr (Semiring::selects)
      if (task.shifts >= 0) return shift_rows(team, task, block);
    if (task.run > 1) return reduce_in_common(team, task, block);
    switch (task.num_inputs) {
      case 1: return reduce_of<1>(team, task, block);
      case 2: return reduce_of<2>(team, task, block);
      case 3: return reduce_of<3>(team, task, block);
      case 4: return reduce_of<4>(team, task, block);
      default: return reduce_of<many>(team, task, block);
    }
  }
  KOKKOS_FUNCTION Extent reduce_in_common(Team const& team, ReductionTask const& task, Block const& block) const {
    switch (task.over_low) {
      case 2:
        return task.num_apart == 1 ? rows_in_common<2, 1>(team, task, block) : rows_in_common<2, 2>(team, task, block);
      case 3:
        return task.num_apart == 1 ? rows_in_common<3, 1>(team, task, block) : rows_in_common<3, 2>(team, task, block);
      case 4:
        return task.num_apart == 1 ? rows_in_common<4, 1>(team, task, block) : rows_in_common<4, 2>(team, task, block);
      default:
        return task.num_apart == 1 ? rows_in_common<5, 1>(team, task, block) : rows_in_common<5, 2>(team, task, block);
    }
  }
  template <int Count>
  KOKKOS_FUNCTION Extent reduce_of(Team const& team, ReductionTask const& task, Block const& block) const {
    if (task.log_lanes > 0) return shared_rows<Count>(team, task, block);
    if (block.end - block.begin <= (on_host ? 16 : team_size)) return own_rows<Count, 1>(team, task, block);
    return own_rows<Count, rows_at_once(Count)>(team, task, block);
  }

  KOKKOS_FUNCTION Extent shift_rows(Team const& team, ReductionTask const& task, Block const& block) const {
    Extent extent;
    for (Index low = block.begin + team.team_rank(); low < block.end; low += team_size) {
      auto const value = [&](Index k) {
        auto const& input = from.inputs(task.first_input + k);
        return from.scaled(from.begin_of(input, block.high, 0)[from.row_step(input, low)], from.scale_of(input));
      };
      Value const shift = Semiring::shift_to_mean(value, task.num_inputs, task.shifts);
      from.values.cells(output_of(task, block.high) + low) = shift;
      extent.include(shift);
    }
    return extent;
  }

  template <int Count>
  KOKKOS_FUNCTION Extent shared_rows(Team const& team, ReductionTask const& task, Block const& block) const {
    Index const lanes = 1 << task.log_lanes, lane = team.team_rank() & (lanes - 1),
                groups = team_size >> task.log_lanes;
    auto* const partial = static_cast<Sum*>(team.team_scratch(0).get_shmem(team_size * sizeof(Sum))) + team.team_rank();
    Extent extent;
    for (Index first = block.begin; first < block.end; first += groups) {
      Index const low = first + (team.team_rank() >> task.log_lanes);
      Sum result[1];
      Share const share{low, 1, lane, lanes};
      if (low < block.end) combine_one<Count>(task, block.high, share, result);
      *partial = result[0];
      for (Index half = lanes / 2; half > 0; half /= 2) {
        team.team_barrier();
        if (lane < half) partial->join(partial[half]);
      }
      if (lane == 0 && low < block.end) {
        Value const sum = partial->value();
        from.values.cells(output_of(task, block.high) + low) = sum;
        extent.include(sum);
      }
      team.team_barrier();  // the next rows' partial results overwrite these
    }
    return extent;
  }

  template <int Count>
  KOKKOS_FORCEINLINE_FUNCTION void combine_one(ReductionTask const& task, Index high, Share const& share,
                                               Sum (&result)[1]) const {
    if constexpr (Count == many) {
      combine_many<1>(task, high, share, result);
    } else {
      Cursor<Semiring, ExecutionSpace, Count, 1> cursor(from, task, share);
      cursor.begin_at(high);
      Index places[Count];
      cursor.announce(high, places);
      combine<Count, 1>(task, share, cursor, places, result);
    }
  }

  template <int Count, int Rows>
  KOKKOS_FUNCTION Extent own_rows(Team const& team, ReductionTask const& task, Block const& block) const {
    Extent extent;
    for (Index first = block.begin + team.team_rank(); first < block.end; first += Rows * team_size) {
      auto const share = RowsOfLane<ExecutionSpace, Rows>::share_of(first, block.end);
      Value* const out = from.values.cells.data() + task.output + first;
      StepsAhead out_high{from.steps.data() + task.output_high};
      out_high.begin_at(block.high);
      Sum result[Rows];
      if constexpr (Count == many) {
        for (Index high = block.high; high < block.last_high; ++high) {
          combine_many<Rows>(task, high, share, result);
          store<Rows>(share, result, out + out_high.announce(Kokkos::min(high + 1, block.last_high - 1)), extent);
        }
      } else {
        Cursor<Semiring, ExecutionSpace, Count, Rows> cursor(from, task, share);
        cursor.begin_at(block.high);
        for (Index high = block.high; high < block.last_high; ++high) {
          Index const following = Kokkos::min(high + 1, block.last_high - 1);
          Index places[Count];
          cursor.announce(following, places);
          combine<Count, Rows>(task, share, cursor, places, result);
          store<Rows>(share, result, out + out_high.announce(following), extent);
        }
      }
    }
    return extent;
  }

  /// Where some inputs stay the same for a run of states of the high digit: their product is kept for that long.
  template <int States, int Apart>
  KOKKOS_FUNCTION Extent rows_in_common(Team const& team, ReductionTask const& task, Block const& block) const {
    constexpr int max_rows = rows_at_once(States, Apart);
    using OfLane = RowsOfLane<ExecutionSpace, max_rows>;
    Extent extent;
    for (Index first = block.begin + team.team_rank(); first < block.end; first += max_rows * team_size) {
      auto const share = OfLane::share_of(first, block.end);
      int const rows = OfLane::rows_of(share);
      Cursor<Semiring, ExecutionSpace, Apart, max_rows> cursor(from, task, share);
      Value* const out = from.values.cells.data() + task.output + first;
      StepsAhead out_high{from.steps.data() + task.output_high};
      for (Index begin = block.high, end = 0; begin < block.last_high; begin = end) {
        end = Kokkos::min((begin / task.run + 1) * task.run, block.last_high);
        Value common[States][max_rows];
        Sum result[max_rows];
        multiply_common<States, Apart, max_rows>(task, begin, share, common);
        cursor.begin_at(begin);
        out_high.begin_at(begin);
        for (Index high = begin; high < end; ++high) {
          Index const following = Kokkos::min(high + 1, end - 1);
          Index places[Apart];
          cursor.announce(following, places);
          Value* const to = out + out_high.announce(following);
          for (int r = 0; r < rows; ++r) result[r] = {};
          for (int state = 0; state < States; ++state) {
            cursor.add_product(places, common[state], rows, result);
            if (state + 1 < States)  // behind the last there may be no number for a place
              for (int k = 0; k < Apart; ++k) places[k] += cursor.over[k];
          }
          store<max_rows>(share, result, to, extent);
        }
      }
    }
    return extent;
  }

  /// The product of all inputs but the first, for each state of what is eliminated.
  template <int States, int Apart, int Rows>
  KOKKOS_FORCEINLINE_FUNCTION void multiply_common(ReductionTask const& task, Index high, Share const& share,
                                                   Value (&common)[States][Rows]) const {
    using OfLane = RowsOfLane<ExecutionSpace, Rows>;
    int const rows = OfLane::rows_of(share);
    for (int state = 0; state < States; ++state)
      for (int r = 0; r < rows; ++r) common[state][r] = Semiring::one();
    for (Index k = Apart; k < task.num_inputs; ++k) {
      auto const& input = from.inputs(task.first_input + k);
      Value const scale = from.scale_of(input);
      Value const* const cells = from.begin_of(input, high, 0);
      for (int r = 0; r < rows; ++r) {
        Value const* cell = cells + from.row_step(input, OfLane::row(share, r));
        for (int state = 0; state < States; ++state, cell += input.over_low)
          common[state][r] = Semiring::multiply(common[state][r], from.scaled(backend::load_read_only(cell), scale));
      }
    }
  }

  template <int Rows>
  KOKKOS_FORCEINLINE_FUNCTION static void store(Share const& share, Sum const (&result)[Rows], Value* out,
                                                Extent& extent) {
    for (int r = 0; r < Rows; ++r)
      if (r < share.num_rows) out[r * team_size] = result[r].value();
    if constexpr (Semiring::scales)
      for (int r = 0; r < Rows; ++r)
        if (r < share.num_rows) extent.include(result[r].value());
  }

  KOKKOS_FUNCTION Offset output_of(ReductionTask const& task, Index high) const {
    return task.output + from.steps(task.output_high + high);
  }

  /// \param places  in each input, of the state of the rows' high digit
  template <int Count, int Rows>
  KOKKOS_FORCEINLINE_FUNCTION void combine(ReductionTask const& task, Share const& share,
                                           Cursor<Semiring, ExecutionSpace, Count, Rows> const& cursor,
                                           Index const (&places)[Count], Sum (&result)[Rows]) const {
    int const rows = RowsOfLane<ExecutionSpace, Rows>::rows_of(share);
    for (int r = 0; r < rows; ++r) result[r] = {};
    Value const* cells[Count];
    for (int k = 0; k < Count; ++k) cells[k] = cursor.begin[k] + places[k];
    if (task.is_strided)
      combine_strided<Count, Rows>(task, share, cursor, cells, rows, result);
    else
      combine_stepped<Count, Rows>(task, share, cursor, cells, rows, result);
  }

  /// Two states at once, so that what both need is read at the same time.
  template <int Count, int Rows>
  KOKKOS_FORCEINLINE_FUNCTION void combine_strided(ReductionTask const& task, Share const& share,
                                                   Cursor<Semiring, ExecutionSpace, Count, Rows> const& cursor,
                                                   Value const* const (&cells)[Count], int rows,
                                                   Sum (&result)[Rows]) const {
    Value const *first[Count], *second[Count];
    for (int k = 0; k < Count; ++k) first[k] = cells[k] + Offset{share.lane} * cursor.over[k];
    Index state = share.lane;
    for (; state + share.lanes < task.over_low; state += 2 * share.lanes) {
      for (int k = 0; k < Count; ++k) second[k] = first[k] + Offset{share.lanes} * cursor.over[k];
      cursor.add_product(first, rows, result);
      cursor.add_product(second, rows, result);
      for (int k = 0; k < Count; ++k) first[k] = second[k] + Offset{share.lanes} * cursor.over[k];
    }
    if (state < task.over_low) cursor.add_product(first, rows, result);
  }

  template <int Count, int Rows>
  KOKKOS_FORCEINLINE_FUNCTION void combine_stepped(ReductionTask const& task, Share const& share,
                                                   Cursor<Semiring, ExecutionSpace, Count, Rows> const& cursor,
                                                   Value const* const (&cells)[Count], int rows,
                                                   Sum (&result)[Rows]) const {
    for (Index over_high = 0; over_high < task.over_high; ++over_high) {
      Value const *begin[Count], *at[Count];
      for (int k = 0; k < Count; ++k)
        begin[k] =
            cells[k] + backend::load_read_only(&from.steps(from.inputs(task.first_input + k).over_high + over_high));
      for (Index state = share.lane; state < task.over_low; state += share.lanes) {
        for (int k = 0; k < Count; ++k) at[k] = begin[k] + backend::load_read_only(&from.steps(cursor.over[k] + state));
        cursor.add_product(at, rows, result);
      }
    }
  }

  template <int Rows>
  KOKKOS_FUNCTION void combine_many(ReductionTask const& task, Index high, Share const& share,
                                    Sum (&result)[Rows]) const {
    using OfLane = RowsOfLane<ExecutionSpace, Rows>;
    int const rows = OfLane::rows_of(share);
    for (int r = 0; r < rows; ++r) result[r] = {};
    for (Index eh = 0; eh < task.over_high; ++eh)
      for (Index el = share.lane; el < task.over_low; el += share.lanes) {
        Value product[Rows];
        for (int r = 0; r < rows; ++r) product[r] = Semiring::one();
        for (Index k = 0; k < task.num_inputs; ++k) {
          auto const& input = from.inputs(task.first_input + k);
          Value const scale = from.scale_of(input);
          Value const* const cells = from.begin_of(input, high, eh) + from.over_step(task, input, el);
          for (int r = 0; r < rows; ++r)
            product[r] =
                Semiring::multiply(product[r], from.scaled(cells[from.row_step(input, OfLane::row(share, r))], scale));
        }
        for (int r = 0; r < rows; ++r) result[r].add(product[r]);
      }
  }
};

}  // namespace hornbill::tables::detail
