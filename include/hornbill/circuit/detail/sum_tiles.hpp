// Values of sum nodes, tile by tile.
#pragma once

#include <hornbill/circuit/detail/host_product.hpp>
#include <hornbill/circuit/detail/tile_values.hpp>

namespace hornbill::circuit::detail {

/// What sums are made of.
template <class Value, class MemorySpace>
struct SumInputs {
  Kokkos::View<Tile const*, MemorySpace> tiles;
  Kokkos::View<Term const*, MemorySpace> terms;
  Kokkos::View<TermFactor const*, MemorySpace> factors;
  Kokkos::View<Index const*, MemorySpace> sum_tiles;
  Kokkos::View<Offset const*, MemorySpace> segment_offsets;
  Kokkos::View<Segment const*, MemorySpace> segments;
  Kokkos::View<Value const*, MemorySpace> parameters;
  TileValues<Value, MemorySpace> values;
  Value smallest_parameter = 0;  ///< of those that are not 0; 0 where that is too small to be held

  /// The exponent of a term: of its factors together, or none where one of them is 0.
  KOKKOS_FUNCTION Exponent exponent_of_term(Term const& term, Offset sample) const {
    Exponent exponent = 0;
    for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
      Exponent const of_factor = values.exponent(factors(f).tile, sample);
      if (of_factor == no_exponent) return no_exponent;
      exponent += of_factor;
    }
    return exponent;
  }

  /// The largest exponent of a sum tile's terms.
  KOKKOS_FUNCTION Exponent largest_exponent(Index s, Offset sample) const {
    Exponent exponent = no_exponent;
    Index seen = -1;
    for (Offset i = segment_offsets(s); i < segment_offsets(s + 1); ++i)
      if (Index const term = segments(i).term; term != seen) {
        exponent = larger(exponent, exponent_of_term(terms(term), sample));
        seen = term;
      }
    return exponent;
  }

  KOKKOS_FUNCTION Value value_of_term(Term const& term, Index i, Offset sample) const {
    Value product = 1;
    for (Offset f = term.factors_begin; f < term.factors_end; ++f)
      product *= values.value(factors(f).row + i * factors(f).step, sample);
    return product;
  }

  /// By how much a term's values are multiplied, so that all terms of a sum tile have one exponent; 0 of a term of
  /// which a factor is 0.
  /// \param[in,out] error  of each of the terms' values, once they are multiplied
  /// \param[in,out] lost   of a sum, because edges were too small to be held
  KOKKOS_FUNCTION Value scale_of_term(Term const& term, Offset sample, Exponent exponent, Value& error,
                                      Value& lost) const {
    Exponent const of_term = exponent_of_term(term, sample);
    if (of_term == no_exponent) return 0;
    Value const scale = power_of_two<Value>(of_term - exponent);
    Value smallest = scale, errors = 0;
    for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
      Offset const at = factors(f).tile * values.stride + sample;
      smallest *= values.smallest(at);
      errors += 2 * values.errors(at);
    }
    error = larger(error, scaled_error(errors, scale));
    if (smallest * smallest_parameter < tiny<Value>) lost += static_cast<Value>(term.size) * tiny<Value>;
    return scale;
  }
};

template <class Value, class MemorySpace>
TileValues<Value, MemorySpace> tile_values(State<Value, MemorySpace> const& state) {
  return {state.values, state.exponents, state.smallest, state.errors, state.stride};
}

template <class Value, class MemorySpace>
SumInputs<Value, MemorySpace> sum_inputs(Plan<MemorySpace> const& plan,
                                         DeviceParameters<Value, MemorySpace> const& parameters,
                                         State<Value, MemorySpace> const& state) {
  return {plan.tiles,     plan.terms,           plan.term_factors,
          plan.sum_tiles, plan.segment_offsets, plan.segments,
          parameters.sum, tile_values(state),   static_cast<Value>(parameters.smallest_sum)};
}

/// The form for the threads of a CPU: each has a tile and some samples.
template <class Value, class MemorySpace>
struct SumOnHost {
  static constexpr int width = 256 / sizeof(Value);  ///< samples of a thread
  SumInputs<Value, MemorySpace> in;
  Offset num_samples = 0;
  Index begin = 0;  ///< of the layer's tiles

  using Row = Value[width];

  void operator()(Offset item) const {
    Offset const blocks = (num_samples + width - 1) / width;
    auto const s = static_cast<Index>(begin + item / blocks);
    Offset const first = item % blocks * width;
    int const count = static_cast<int>(smaller<Offset>(width, num_samples - first));
    alignas(64) Row sums[tile_size] = {}, terms[tile_size];
    Exponent exponents[width];
    Value errors[width] = {}, lost[width] = {};
    for (int b = 0; b < count; ++b) exponents[b] = in.largest_exponent(s, first + b);
    for (Offset i = in.segment_offsets(s), end = in.segment_offsets(s + 1); i < end;) {
      Index const t = in.segments(i).term;
      load_term(in.terms(t), first, count, exponents, errors, lost, terms);
      for (; i < end && in.segments(i).term == t; ++i) add_segment(in.segments(i), terms, sums);
    }
    store(in.sum_tiles(s), first, count, exponents, errors, lost, sums);
  }

 private:
  void load_term(Term const& term, Offset first, int count, Exponent const* exponents, Value* errors, Value* lost,
                 Row* terms) const {
    alignas(64) Value scales[width] = {};
    for (int b = 0; b < count; ++b) scales[b] = in.scale_of_term(term, first + b, exponents[b], errors[b], lost[b]);
    for (Index i = 0; i < term.size; ++i) {
      for (int b = 0; b < width; ++b) terms[i][b] = scales[b];
      for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
        Value const* const row = &in.values.value(in.factors(f).row + i * in.factors(f).step, first);
        for (int b = 0; b < count; ++b) terms[i][b] *= row[b];
      }
    }
  }

  void add_segment(Segment const& segment, Row const* terms, Row* sums) const {
    add_product<width, Value>({&in.parameters(segment.parameter), segment.stride}, segment.rows,
                              terms + segment.first_column, segment.columns, sums + segment.first_row);
  }

  void store(Index t, Offset first, int count, Exponent const* exponents, Value const* errors, Value const* lost,
             Row const* sums) const {
    auto const [row, size] = in.tiles(t);
    alignas(64) Value scales[width];
    for (int b = 0; b < count; ++b) {
      TileSummary<Value> summary;
      for (Index i = 0; i < size; ++i) summary.add(sums[i][b]);
      scales[b] = in.values.finish(t, first + b, summary, exponents[b], errors[b] + lost[b]);
    }
    for (Index i = 0; i < size; ++i) {
      Value* const out = &in.values.value(row + i, first);
      for (int b = 0; b < count; ++b) out[b] = sums[i][b] * scales[b];
    }
  }
};

/// The form for a GPU: a team has a tile and some samples, and a thread some rows and columns of it.
template <class Value, class MemorySpace>
struct SumByTeam {
  static constexpr int width = 256 / sizeof(Value);  ///< samples of a team
  static constexpr int rows_of_thread = 4, columns_of_thread = 4, threads_across = width / columns_of_thread;
  static constexpr int team_size = tile_size / rows_of_thread * threads_across;
  static constexpr int weights_at_once = 32;                     ///< columns of a segment
  static constexpr int stride_of_weights = weights_at_once + 1;  // so that rows of a column are in several banks
  SumInputs<Value, MemorySpace> in;
  Offset num_samples = 0;
  Index begin = 0;  ///< of the layer's tiles

  using Sums = Value[rows_of_thread][columns_of_thread];

  KOKKOS_FUNCTION static std::size_t scratch_bytes() {
    return (static_cast<std::size_t>(width + stride_of_weights) * tile_size + 3 * width) * sizeof(Value) +
           width * sizeof(Exponent);
  }

  /// A team's memory, and its place.
  struct Team {
    Value *terms, *weights;          ///< [tile_size, width], [tile_size, stride_of_weights]
    Value *scales, *errors, *lost;   ///< [width]
    Exponent* exponents;             ///< [width]
    Index s;                         ///< sum tile
    Offset first;                    ///< sample
    int count, thread, row, column;  ///< samples; thread; its first row and column

    KOKKOS_FUNCTION int column_of(int k) const { return column + k * threads_across; }
  };

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const team = team_of(member);
    for (int b = team.thread; b < width; b += team_size) {
      team.errors[b] = team.lost[b] = 0;
      team.exponents[b] = b < team.count ? in.largest_exponent(team.s, team.first + b) : no_exponent;
    }
    member.team_barrier();
    Sums sums = {};
    for (Offset i = in.segment_offsets(team.s), end = in.segment_offsets(team.s + 1); i < end;) {
      Index const t = in.segments(i).term;
      load_scales(team, in.terms(t));
      member.team_barrier();
      load_term(team, in.terms(t));
      for (; i < end && in.segments(i).term == t; ++i) {
        Sums partial = {};
        for (int first = 0; first < in.segments(i).columns; first += weights_at_once) {
          load_weights(team, in.segments(i), first);
          member.team_barrier();
          add_columns(team, in.segments(i), first, partial);
          member.team_barrier();
        }
        add_partial_sums(team, in.segments(i), partial, sums);
      }
    }
    store(member, team, sums);
  }

 private:
  template <class Member>
  KOKKOS_FUNCTION Team team_of(Member const& member) const {
    auto* const scratch = static_cast<Value*>(member.team_shmem().get_shmem(scratch_bytes()));
    Offset const blocks = (num_samples + width - 1) / width;
    Team team{};
    team.terms = scratch;
    team.weights = team.terms + tile_size * width;
    team.scales = team.weights + tile_size * stride_of_weights;
    team.errors = team.scales + width;
    team.lost = team.errors + width;
    team.exponents = reinterpret_cast<Exponent*>(team.lost + width);
    team.s = static_cast<Index>(begin + member.league_rank() / blocks);
    team.first = member.league_rank() % blocks * width;
    team.count = static_cast<int>(smaller<Offset>(width, num_samples - team.first));
    team.thread = member.team_rank();
    team.row = team.thread / threads_across * rows_of_thread;
    team.column = team.thread % threads_across;
    return team;
  }

  KOKKOS_FUNCTION void load_scales(Team const& team, Term const& term) const {
    for (int b = team.thread; b < team.count; b += team_size)
      team.scales[b] = in.scale_of_term(term, team.first + b, team.exponents[b], team.errors[b], team.lost[b]);
  }

  KOKKOS_FUNCTION void load_term(Team const& team, Term const& term) const {
    for (int e = team.thread; e < term.size * width; e += team_size) {
      int const i = e / width, b = e % width;
      team.terms[e] = b < team.count ? team.scales[b] * in.value_of_term(term, i, team.first + b) : Value(0);
    }
  }

  /// Columns of a segment from `first` on.
  KOKKOS_FUNCTION static int columns_from(Segment const& segment, int first) {
    return smaller<int>(weights_at_once, segment.columns - first);
  }

  KOKKOS_FUNCTION void load_weights(Team const& team, Segment const& segment, int first) const {
    int const columns = columns_from(segment, first);
    for (int e = team.thread; e < segment.rows * columns; e += team_size) {
      int const r = e / columns, c = e % columns;
      team.weights[(segment.first_row + r) * stride_of_weights + c] =
          in.parameters(segment.parameter + Offset{r} * segment.stride + first + c);
    }
  }

  /// Adds columns of a segment to sums of a thread's rows and samples.
  KOKKOS_FUNCTION static void add_columns(Team const& team, Segment const& segment, int first, Sums& partial) {
    for (int c = 0, columns = columns_from(segment, first); c < columns; ++c) {
      Value of[columns_of_thread];
      for (int k = 0; k < columns_of_thread; ++k)
        of[k] = team.terms[(segment.first_column + first + c) * width + team.column_of(k)];
      for (int r = 0; r < rows_of_thread; ++r) {
        Value const weight = team.weights[(team.row + r) * stride_of_weights + c];
        for (int k = 0; k < columns_of_thread; ++k) partial[r][k] = Kokkos::fma(weight, of[k], partial[r][k]);
      }
    }
  }

  /// Rows that the segment has; the others have read what is not theirs.
  KOKKOS_FUNCTION static void add_partial_sums(Team const& team, Segment const& segment, Sums const& partial,
                                               Sums& sums) {
    for (int r = 0; r < rows_of_thread; ++r)
      if (team.row + r >= segment.first_row && team.row + r < segment.first_row + segment.rows)
        for (int k = 0; k < columns_of_thread; ++k) sums[r][k] += partial[r][k];
  }

  /// Sums pass through the terms' place, so that a thread sees all rows of a sample.
  template <class Member>
  KOKKOS_FUNCTION void store(Member const& member, Team const& team, Sums const& sums) const {
    for (int r = 0; r < rows_of_thread; ++r)
      for (int k = 0; k < columns_of_thread; ++k) team.terms[(team.row + r) * width + team.column_of(k)] = sums[r][k];
    member.team_barrier();
    Index const t = in.sum_tiles(team.s);
    auto const [row, size] = in.tiles(t);
    for (int b = team.thread; b < team.count; b += team_size) {
      TileSummary<Value> summary;
      for (Index i = 0; i < size; ++i) summary.add(team.terms[i * width + b]);
      team.scales[b] = in.values.finish(t, team.first + b, summary, team.exponents[b], team.errors[b] + team.lost[b]);
    }
    member.team_barrier();
    for (int e = team.thread; e < size * width; e += team_size)
      if (int const b = e % width; b < team.count)
        in.values.value(row + e / width, team.first + b) = team.terms[e] * team.scales[b];
  }
};

/// Likelihoods, from the root's value.
template <class Value, class MemorySpace>
struct ReadRoot {
  TileValues<Value, MemorySpace> values;
  Index row = 0, tile = 0;
  Kokkos::View<double*, MemorySpace> log_likelihood;
  Kokkos::View<std::uint8_t*, MemorySpace> is_certain;

  KOKKOS_FUNCTION void operator()(Offset sample) const {
    constexpr double ln2 = 0.6931471805599453;
    Exponent const exponent = values.exponent(tile, sample);
    double const value = static_cast<double>(values.value(row, sample));
    double const error = static_cast<double>(values.errors(tile * values.stride + sample));
    log_likelihood(sample) = exponent == no_exponent || value == 0
                                 ? -Kokkos::Experimental::infinity_v<double>
                                 : Kokkos::log(value) + static_cast<double>(exponent) * ln2;
    is_certain(sample) = error <= static_cast<double>(certain_error<Value>) * value;
  }
};

}  // namespace hornbill::circuit::detail
