// Flows from sums to the factors of their terms.
#pragma once

#include <hornbill/circuit/detail/flow_rows.hpp>
#include <hornbill/circuit/detail/sum_tiles.hpp>

namespace hornbill::circuit::detail {

/// Flows of terms are made of those of the sums above.
template <class Value, class MemorySpace>
struct TermFlows {
  SumInputs<Value, MemorySpace> in;
  FlowRows<Value, MemorySpace> flows;
  Kokkos::View<Index const*, MemorySpace> terms;
  Kokkos::View<Offset const*, MemorySpace> term_offsets;
  Kokkos::View<TermSegment const*, MemorySpace> term_segments;
  Kokkos::View<Index const*, MemorySpace> own_rows;
  Kokkos::View<std::uint8_t const*, MemorySpace> writes;
  Offset num_samples = 0;
  Index begin = 0;  ///< of the step's terms

  /// 2 to the exponent of a term less that of a sum's tile; 0 where one of them is 0.
  KOKKOS_FUNCTION Value scale_between(Exponent of_term, Index tile, Offset sample) const {
    Exponent const of_tile = in.values.exponent(tile, sample);
    if (of_term == no_exponent || of_tile == no_exponent) return 0;
    if (of_term - of_tile <= Bits<Value>::bias) return power_of_two<Value>(of_term - of_tile);
    flows.give_up(sample);
    return 0;
  }
};

/// The form for the threads of a CPU: each has a term and some samples.
template <class Value, class MemorySpace>
struct TermFlowsOnHost {
  static constexpr int width = SumOnHost<Value, MemorySpace>::width;
  TermFlows<Value, MemorySpace> of;

  using Row = Value[width];

  void operator()(Offset item) const {
    Offset const blocks = (of.num_samples + width - 1) / width;
    Index const t = of.terms(of.begin + item / blocks);
    Offset const first = item % blocks * width;
    int const count = static_cast<int>(smaller<Offset>(width, of.num_samples - first));
    alignas(64) Row sums[tile_size] = {}, flows[tile_size];
    Exponent exponents[width];
    for (int b = 0; b < count; ++b) exponents[b] = of.in.exponent_of_term(of.in.terms(t), first + b);
    alignas(64) Value scales[width] = {};
    Index seen = -1;
    for (Offset i = of.term_offsets(t); i < of.term_offsets(t + 1); ++i) {
      auto const [s, tile] = of.term_segments(i);
      for (int b = 0; b < count && tile != seen; ++b) scales[b] = of.scale_between(exponents[b], tile, first + b);
      seen = tile;
      auto const& segment = of.in.segments(s);
      load_shares(of, of.in.tiles(tile).row + segment.first_row, segment.rows, first, count, scales, flows);
      add_product<width, Value>({&of.in.parameters(segment.parameter), 1, segment.stride}, segment.columns, flows,
                                segment.rows, sums + segment.first_column);
    }
    store(t, first, count, sums);
  }

  /// Rows of flows of sums, divided by their values and times 2 to some power.
  static void load_shares(TermFlows<Value, MemorySpace> const& of, Index row, int rows, Offset first, int count,
                          Value const* scales, Row* shares) {
    alignas(64) Value largest[width] = {};
    for (int r = 0; r < rows; ++r) {
      Value const* const from = &of.flows.flow(row + r, first);
      for (int b = 0; b < count; ++b) {
        Value const share = from[b] * scales[b];
        largest[b] = larger(largest[b], share);
        shares[r][b] = share <= largest_share<Value> ? share : Value(0);
      }
      for (int b = count; b < width; ++b) shares[r][b] = 0;
    }
    for (int b = 0; b < count; ++b)
      if (largest[b] > largest_share<Value>) of.flows.give_up(first + b);
  }

 private:
  /// A term's flows are its sums times its values.
  void store(Index t, Offset first, int count, Row* sums) const {
    auto const& term = of.in.terms(t);
    auto const& factors = of.in.factors;
    for (Index i = 0; i < term.size; ++i)
      for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
        Value const* const row = &of.in.values.value(factors(f).row + i * factors(f).step, first);
        for (int b = 0; b < count; ++b) sums[i][b] *= row[b];
      }
    for (Index i = 0; i < term.size && of.own_rows(t) >= 0; ++i)
      std::copy_n(sums[i], count, &of.flows.own(of.own_rows(t) + i, first));
    for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
      if (!of.writes(f)) continue;
      auto const& factor = factors(f);
      for (Index i = 0; i < term.size; ++i) {
        Value* const out = &of.flows.flow(factor.row + i * factor.step, first);
        bool const adds = factor.step == 0 && i > 0;
        for (int b = 0; b < count; ++b) out[b] = adds ? out[b] + sums[i][b] : sums[i][b];
      }
    }
  }
};

/// The form for a GPU: a thread has a value of a term, and a sample.
template <class Value, class MemorySpace>
struct TermFlowsByThread {
  TermFlows<Value, MemorySpace> of;

  KOKKOS_FUNCTION void operator()(Offset item) const {
    Index const t = of.terms(of.begin + item / of.num_samples);
    Offset const sample = item % of.num_samples;
    auto const& term = of.in.terms(t);
    Exponent const exponent = of.in.exponent_of_term(term, sample);
    for (Offset f = term.factors_begin; f < term.factors_end; ++f)
      if (of.writes(f) && of.in.factors(f).step == 0) of.flows.flow(of.in.factors(f).row, sample) = 0;
    for (Index i = 0; i < term.size; ++i) store(t, i, sample, sum_of(t, i, exponent, sample));
  }

 private:
  KOKKOS_FUNCTION Value sum_of(Index t, Index i, Exponent exponent, Offset sample) const {
    Value sum = 0, scale = 0;
    Index seen = -1;
    for (Offset k = of.term_offsets(t); k < of.term_offsets(t + 1); ++k) {
      auto const [s, tile] = of.term_segments(k);
      auto const& segment = of.in.segments(s);
      if (tile != seen) scale = of.scale_between(exponent, tile, sample);
      seen = tile;
      if (i < segment.first_column || i >= segment.first_column + segment.columns) continue;
      sum += sum_of(segment, i - segment.first_column, of.in.tiles(tile).row, scale, sample);
    }
    return sum;
  }

  KOKKOS_FUNCTION Value sum_of(Segment const& segment, Index column, Index row, Value scale, Offset sample) const {
    Value sum = 0;
    for (Index r = 0; r < segment.rows; ++r) {
      Value const share = of.flows.flow(row + segment.first_row + r, sample) * scale;
      if (share <= largest_share<Value>)
        sum = Kokkos::fma(of.in.parameters(segment.parameter + Offset{r} * segment.stride + column), share, sum);
      else
        of.flows.give_up(sample);
    }
    return sum;
  }

  KOKKOS_FUNCTION void store(Index t, Index i, Offset sample, Value sum) const {
    auto const& term = of.in.terms(t);
    Value const flow = sum * of.in.value_of_term(term, i, sample);
    if (of.own_rows(t) >= 0) of.flows.own(of.own_rows(t) + i, sample) = flow;
    for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
      if (!of.writes(f)) continue;
      auto const& factor = of.in.factors(f);
      Value& out = of.flows.flow(factor.row + i * factor.step, sample);
      out = factor.step == 0 ? out + flow : flow;
    }
  }
};

}  // namespace hornbill::circuit::detail
