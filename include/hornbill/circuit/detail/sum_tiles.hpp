// Values of sum nodes, tile by tile.
#pragma once

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
  Value smallest_parameter = 0;  ///< of those that are not 0; tiny if it is less

  /// The exponent of a term: of its factors together, or none where one of them is 0.
  KOKKOS_FUNCTION Index exponent_of_term(Term const& term, Offset sample) const {
    Index exponent = 0;
    for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
      Index const of_factor = values.exponent(factors(f).tile, sample);
      if (of_factor == no_exponent) return no_exponent;
      exponent += of_factor;
    }
    return exponent;
  }

  /// The largest exponent of a sum tile's terms.
  KOKKOS_FUNCTION Index largest_exponent(Index s, Offset sample) const {
    Index exponent = no_exponent, seen = -1;
    for (Offset i = segment_offsets(s); i < segment_offsets(s + 1); ++i)
      if (Index const term = segments(i).term; term != seen) {
        exponent = Kokkos::max(exponent, exponent_of_term(terms(term), sample));
        seen = term;
      }
    return exponent;
  }

  /// By how much a term's values are multiplied, so that all terms have one exponent.
  KOKKOS_FUNCTION Value scale_of_term(Term const& term, Offset sample, Index exponent) const {
    Index const of_term = exponent_of_term(term, sample);
    return of_term == no_exponent ? Value(0) : power_of_two<Value>(of_term - exponent);
  }

  KOKKOS_FUNCTION Value value_of_term(Term const& term, Index i, Offset sample) const {
    Value product = 1;
    for (Offset f = term.factors_begin; f < term.factors_end; ++f)
      product *= values.value(factors(f).row + i * factors(f).step, sample);
    return product;
  }

  /// How wrong each of a term's scaled values may be, and what of edges was too small to be held.
  /// \param is_zero  where a factor is 0, and nothing is wrong
  KOKKOS_FUNCTION void add_errors(Term const& term, Offset sample, Value scale, bool is_zero, Value& error,
                                  Value& lost) const {
    if (is_zero) return;
    Value smallest = scale, of_term = 0;
    for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
      Offset const at = factors(f).tile * values.stride + sample;
      smallest *= values.smallest(at);
      of_term += values.errors(at);
    }
    error = Kokkos::max(error, scaled_error(of_term, scale));
    if (smallest * smallest_parameter < tiny<Value>) lost += static_cast<Value>(term.size) * tiny<Value>;
  }
};

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
    int const count = static_cast<int>(Kokkos::min<Offset>(width, num_samples - first));
    alignas(64) Row sums[tile_size] = {}, terms[tile_size];
    Index exponents[width];
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
  void load_term(Term const& term, Offset first, int count, Index const* exponents, Value* errors, Value* lost,
                 Row* terms) const {
    alignas(64) Value scales[width] = {};
    for (int b = 0; b < count; ++b) {
      Index const of_term = in.exponent_of_term(term, first + b);
      bool const is_zero = of_term == no_exponent;
      if (!is_zero) scales[b] = power_of_two<Value>(of_term - exponents[b]);
      in.add_errors(term, first + b, scales[b], is_zero, errors[b], lost[b]);
    }
    for (Index i = 0; i < term.size; ++i) {
      for (int b = 0; b < width; ++b) terms[i][b] = scales[b];
      for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
        Value const* const row = &in.values.value(in.factors(f).row + i * in.factors(f).step, first);
        for (int b = 0; b < count; ++b) terms[i][b] *= row[b];
      }
    }
  }

  void add_segment(Segment const& segment, Row const* terms, Row* sums) const {
    Value const* const parameters = &in.parameters(segment.parameter);
    constexpr int rows_at_once = 4, columns_at_once = width / 2;
    int r = 0;
    for (; r + rows_at_once <= segment.rows; r += rows_at_once)
      for (int b = 0; b < width; b += columns_at_once)
        multiply<rows_at_once, columns_at_once>(parameters + Offset{r} * segment.stride, segment.stride,
                                                terms + segment.first_column, segment.columns,
                                                sums + segment.first_row + r, b);
    for (; r < segment.rows; ++r)
      for (int b = 0; b < width; b += columns_at_once)
        multiply<1, columns_at_once>(parameters + Offset{r} * segment.stride, segment.stride,
                                     terms + segment.first_column, segment.columns, sums + segment.first_row + r, b);
  }

  /// sums[r][b] += the sum over c of parameters[r, c] * terms[c][b]. What is summed stays in registers. Partial sums of
  /// a term by themselves make long sums more exact.
  template <int rows, int columns>
  static void multiply(Value const* parameters, Index stride, Row const* terms, int count, Row* sums, int first) {
    Value of[rows][columns] = {};
    for (int c = 0; c < count; ++c)
      for (int r = 0; r < rows; ++r) {
        Value const parameter = parameters[Offset{r} * stride + c];
        for (int b = 0; b < columns; ++b) of[r][b] = std::fma(parameter, terms[c][first + b], of[r][b]);
      }
    for (int r = 0; r < rows; ++r)
      for (int b = 0; b < columns; ++b) sums[r][first + b] += of[r][b];
  }

  void store(Index t, Offset first, int count, Index const* exponents, Value const* errors, Value const* lost,
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
  static constexpr int width = 64, team_size = 256;
  static constexpr int rows_of_thread = 4, columns_of_thread = 4, threads_across = width / columns_of_thread;
  SumInputs<Value, MemorySpace> in;
  Offset num_samples = 0;
  Index begin = 0;  ///< of the layer's tiles

  static std::size_t scratch_bytes() {
    return (static_cast<std::size_t>(width + tile_size + 1) * tile_size + 3 * width) * sizeof(Value) +
           width * sizeof(Index) + 64;
  }

  /// Sums of a thread's rows and columns over a segment, which are added to those before it.
  KOKKOS_FUNCTION static void add_partial_sums(Segment const& segment, Value const* terms, Value const* weights,
                                               int row, int column, Value (&sums)[rows_of_thread][columns_of_thread]) {
    Value partial[rows_of_thread][columns_of_thread] = {};
    for (int c = 0; c < segment.columns; ++c) {
      Value of[columns_of_thread];
      for (int k = 0; k < columns_of_thread; ++k)
        of[k] = terms[(segment.first_column + c) * width + column + k * threads_across];
      for (int r = 0; r < rows_of_thread; ++r) {
        Value const weight = weights[(row + r) * (tile_size + 1) + c];
        for (int k = 0; k < columns_of_thread; ++k) partial[r][k] = Kokkos::fma(weight, of[k], partial[r][k]);
      }
    }
    for (int r = 0; r < rows_of_thread; ++r)
      if (row + r >= segment.first_row && row + r < segment.first_row + segment.rows)
        for (int k = 0; k < columns_of_thread; ++k) sums[r][k] += partial[r][k];
  }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    Offset const blocks = (num_samples + width - 1) / width;
    auto const s = static_cast<Index>(begin + member.league_rank() / blocks);
    Offset const first = member.league_rank() % blocks * width;
    int const count = static_cast<int>(Kokkos::min<Offset>(width, num_samples - first));
    auto* const scratch =
        static_cast<Value*>(member.team_shmem().get_shmem_aligned(scratch_bytes() - 64, alignof(double)));
    Value* const terms = scratch;                                 // [tile_size][width]
    Value* const weights = terms + tile_size * width;             // [tile_size][tile_size + 1]
    Value* const scales = weights + tile_size * (tile_size + 1);  // [width]
    Value *const errors = scales + width, *const lost = errors + width;
    auto* const exponents = reinterpret_cast<Index*>(lost + width);
    int const thread = member.team_rank();
    for (int b = thread; b < width; b += team_size) {
      errors[b] = lost[b] = 0;
      exponents[b] = b < count ? in.largest_exponent(s, first + b) : no_exponent;
    }
    member.team_barrier();
    int const row = thread / threads_across * rows_of_thread, column = thread % threads_across;
    Value sums[rows_of_thread][columns_of_thread] = {};
    for (Offset i = in.segment_offsets(s), end = in.segment_offsets(s + 1); i < end;) {
      Index const t = in.segments(i).term;
      auto const& term = in.terms(t);
      for (int b = thread; b < width; b += team_size) {
        scales[b] = 0;
        if (b >= count) continue;
        Index const of_term = in.exponent_of_term(term, first + b);
        bool const is_zero = of_term == no_exponent;
        if (!is_zero) scales[b] = power_of_two<Value>(of_term - exponents[b]);
        in.add_errors(term, first + b, scales[b], is_zero, errors[b], lost[b]);
      }
      member.team_barrier();
      for (int e = thread; e < term.size * width; e += team_size) {
        int const c = e / width, b = e % width;
        terms[e] = b < count ? scales[b] * in.value_of_term(term, c, first + b) : Value(0);
      }
      for (; i < end && in.segments(i).term == t; ++i) {
        auto const& segment = in.segments(i);
        for (int e = thread; e < segment.rows * segment.columns; e += team_size) {
          int const r = e / segment.columns, c = e % segment.columns;
          weights[(segment.first_row + r) * (tile_size + 1) + c] =
              in.parameters(segment.parameter + Offset{r} * segment.stride + c);
        }
        member.team_barrier();
        add_partial_sums(segment, terms, weights, row, column, sums);
        member.team_barrier();
      }
    }
    // The tile's values pass through the terms' place, so that a thread sees all rows of a sample.
    for (int r = 0; r < rows_of_thread; ++r)
      for (int k = 0; k < columns_of_thread; ++k) terms[(row + r) * width + column + k * threads_across] = sums[r][k];
    member.team_barrier();
    Index const t = in.sum_tiles(s);
    auto const [first_row, size] = in.tiles(t);
    for (int b = thread; b < count; b += team_size) {
      TileSummary<Value> summary;
      for (Index i = 0; i < size; ++i) summary.add(terms[i * width + b]);
      scales[b] = in.values.finish(t, first + b, summary, exponents[b], errors[b] + lost[b]);
    }
    member.team_barrier();
    for (int e = thread; e < size * width; e += team_size)
      if (int const b = e % width; b < count) in.values.value(first_row + e / width, first + b) = terms[e] * scales[b];
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
    Index const exponent = values.exponent(tile, sample);
    double const value = static_cast<double>(values.value(row, sample));
    double const error = static_cast<double>(values.errors(tile * values.stride + sample));
    log_likelihood(sample) = exponent == no_exponent || value == 0 ? -std::numeric_limits<double>::infinity()
                                                                   : Kokkos::log(value) + exponent * ln2;
    is_certain(sample) = error <= certain_error * value;
  }
};

}  // namespace hornbill::circuit::detail
