// Where a lane is in the inputs of a reduction.
#pragma once

#include <hornbill/tables/detail/inputs.hpp>
#include <hornbill/tables/detail/sum.hpp>

namespace hornbill::tables::detail {

/// What a lane works on: rows, a team's lanes apart, and of what is eliminated each lanes-th state.
struct Share {
  Index first_row, num_rows, lane, lanes;
};

/// Rows of one lane: on a GPU always as many as there can be, those behind the last being the last again; so what is
/// known of them stays in registers.
template <class ExecutionSpace, int Rows>
struct RowsOfLane {
  static constexpr bool on_host = runs_on_host<ExecutionSpace>;
  static constexpr int team_size = team_size_of<ExecutionSpace>;

  KOKKOS_FUNCTION static int rows_of(Share const& share) { return on_host ? share.num_rows : Rows; }
  KOKKOS_FUNCTION static Index row(Share const& share, int r) {
    return share.first_row + (on_host ? r : Kokkos::min(r, share.num_rows - 1)) * team_size;
  }
  /// Of the rows from `first` on, up to `end` of the team's.
  KOKKOS_FUNCTION static Share share_of(Index first, Index end) {
    return {first, Kokkos::min(Rows, (end - first + team_size - 1) / team_size), 0, 1};
  }
};

/// Steps of a digit, looked up one ahead: while a state is worked on, where the next one is becomes known.
struct StepsAhead {
  Index const* steps = nullptr;
  Index next = 0;

  KOKKOS_FORCEINLINE_FUNCTION void begin_at(Index state) { next = backend::load_read_only(steps + state); }
  /// \return the step of the state that was announced   \param following  the next state
  KOKKOS_FORCEINLINE_FUNCTION Index announce(Index following) {
    Index const step = next;
    next = backend::load_read_only(steps + following);
    return step;
  }
};

/// A reduction's first inputs, so few that all about them stays in registers while a lane goes through states of the
/// high digit.
template <class Semiring, class ExecutionSpace, int Count, int Rows>
struct Cursor {
  using Value = typename Semiring::Value;
  using Reader = Inputs<Semiring, typename ExecutionSpace::memory_space>;

  Value const* begin[Count];
  StepsAhead high[Count];
  Index at[Count][Rows];  ///< of rows, within the low digit
  Index over[Count];      ///< how far apart states of what is eliminated are, or where their steps begin
  Value scale[Count];

  KOKKOS_FORCEINLINE_FUNCTION Cursor(Reader const& from, ReductionTask const& task, Share const& share) {
    using OfLane = RowsOfLane<ExecutionSpace, Rows>;
    int const rows = OfLane::rows_of(share);
    for (int k = 0; k < Count; ++k) {
      auto const& input = from.inputs(task.first_input + k);
      begin[k] = from.values.cells.data() + input.begin;
      high[k].steps = from.steps.data() + input.row_high;
      scale[k] = from.scale_of(input);
      over[k] = input.over_low;
      for (int r = 0; r < rows; ++r) at[k][r] = from.row_step(input, OfLane::row(share, r));
    }
  }
  KOKKOS_FORCEINLINE_FUNCTION void begin_at(Index state) {
    for (int k = 0; k < Count; ++k) high[k].begin_at(state);
  }
  /// \param places  of the state that was announced before, by input
  KOKKOS_FORCEINLINE_FUNCTION void announce(Index following, Index (&places)[Count]) {
    for (int k = 0; k < Count; ++k) places[k] = high[k].announce(following);
  }
  KOKKOS_FORCEINLINE_FUNCTION Value value(Value const* const (&cells)[Count], int k, int r) const {
    return Reader::scaled(backend::load_read_only(cells[k] + at[k][r]), scale[k]);
  }

  /// Adds to each row the product at one state of what is eliminated.
  KOKKOS_FORCEINLINE_FUNCTION void add_product(Value const* const (&cells)[Count], int rows,
                                               Sum<Semiring>* KOKKOS_RESTRICT result) const {
    for (int r = 0; r < rows; ++r) {
      Value product = value(cells, 0, r);
      for (int k = 1; k < Count; ++k) product = Semiring::multiply_few(product, value(cells, k, r));
      result[r].add(product);
    }
  }
  /// The same with one more factor of each row. Of places, as a place takes one register and an address two.
  KOKKOS_FORCEINLINE_FUNCTION void add_product(Index const (&places)[Count], Value const* KOKKOS_RESTRICT factor,
                                               int rows, Sum<Semiring>* KOKKOS_RESTRICT result) const {
    for (int r = 0; r < rows; ++r) {
      Value product = factor[r];
      for (int k = 0; k < Count; ++k)
        product = Semiring::multiply_few(
            product, Reader::scaled(backend::load_read_only(begin[k] + (places[k] + at[k][r])), scale[k]));
      result[r].add(product);
    }
  }
};

}  // namespace hornbill::tables::detail
