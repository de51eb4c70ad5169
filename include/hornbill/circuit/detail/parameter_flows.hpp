// Flows of parameters of sums.
#pragma once

#include <hornbill/circuit/detail/term_flows.hpp>

namespace hornbill::circuit::detail {

/// A parameter's flow is the parameter, times the sum over its uses and over samples of the flow of the sum divided by
/// its value, times the child's value.
template <class Value, class MemorySpace>
struct ParameterFlows {
  TermFlows<Value, MemorySpace> of;
  Kokkos::View<ParameterTile const*, MemorySpace> parameter_tiles;
  Kokkos::View<ParameterUse const*, MemorySpace> uses;
  Kokkos::View<Value const*, MemorySpace> weights;  ///< [num_samples] at most 1
  double unit = 1;                                  ///< of weights
  Kokkos::View<double*, MemorySpace> sums;

  /// By how much shares of a sum's flow are multiplied: nothing of samples without flows, which mean nothing.
  KOKKOS_FUNCTION Value scale(ParameterUse const& use, Offset sample) const {
    if (of.flows.is_known(sample) != 1) return 0;
    return of.scale_between(of.in.exponent_of_term(of.in.terms(use.term), sample), use.tile, sample);
  }

  KOKKOS_FUNCTION void add(ParameterTile const& tile, Index row, Index column, Value sum) const {
    Offset const at = tile.parameter + Offset{row} * tile.stride + column;
    sums(at) += unit * static_cast<double>(of.in.parameters(at)) * static_cast<double>(sum);
  }
};

/// The form for the threads of a CPU: each has a tile of parameters.
template <class Value, class MemorySpace>
struct ParameterFlowsOnHost {
  using Terms = TermFlowsOnHost<Value, MemorySpace>;
  static constexpr int width = Terms::width;
  ParameterFlows<Value, MemorySpace> of;

  using Row = Value[width];
  using Columns = Value[tile_size];

  void operator()(Offset item) const {
    auto const& tile = of.parameter_tiles(item);
    alignas(64) Columns sums[tile_size] = {}, terms[width] = {};
    alignas(64) Row shares[tile_size];
    for (Offset u = tile.uses_begin; u < tile.uses_end; ++u) {
      auto const& use = of.uses(u);
      for (Offset first = 0; first < of.of.num_samples; first += width) {
        int const count = static_cast<int>(smaller<Offset>(width, of.of.num_samples - first));
        load_shares(tile, use, first, count, shares);
        load_term(tile, use, first, count, terms);
        add_product<tile_size, Value>({shares[0], width}, tile.rows, terms, count, sums);
      }
    }
    for (Index r = 0; r < tile.rows; ++r)
      for (Index c = 0; c < tile.columns; ++c) of.add(tile, r, c, sums[r][c]);
  }

 private:
  /// Shares of a sum's flow by weight. None is too large: term_flows has given such samples up.
  void load_shares(ParameterTile const& tile, ParameterUse const& use, Offset first, int count, Row* shares) const {
    alignas(64) Value scales[width];
    for (int b = 0; b < count; ++b) scales[b] = of.scale(use, first + b) * of.weights(first + b);
    Index const row = of.of.in.tiles(use.tile).row + use.first_row;
    for (Index r = 0; r < tile.rows; ++r) {
      Value const* const from = &of.of.flows.flow(row + r, first);
      for (int b = 0; b < count; ++b) shares[r][b] = from[b] * scales[b];
    }
  }

  /// Values of a term, sample by sample.
  void load_term(ParameterTile const& tile, ParameterUse const& use, Offset first, int count, Columns* terms) const {
    using Transpose = VectorTranspose<Value>;
    constexpr int lanes = Transpose::lanes;
    for (Index c = 0; c < tile.columns; c += lanes)
      for (int b = 0; b < count; b += lanes) {
        typename Transpose::Vector rows[lanes];
        for (int i = 0; i < lanes; ++i) rows[i] = products(use, smaller(c + i, tile.columns - 1), first + b);
        Transpose::run(rows, terms[b] + c, tile_size);
      }
  }

  /// Values of a column of a term for some samples; rows of values are long enough for whole vectors.
  typename VectorTranspose<Value>::Vector products(ParameterUse const& use, Index column, Offset sample) const {
    using Vector = typename VectorTranspose<Value>::Vector;
    auto const& in = of.of.in;
    auto const& term = in.terms(use.term);
    Vector product{};
    for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
      auto const& factor = in.factors(f);
      auto const value = *reinterpret_cast<Vector const*>(
          &in.values.value(factor.row + (use.first_column + column) * factor.step, sample));
      product = f == term.factors_begin ? value : product * value;
    }
    return product;
  }
};

/// The form for a GPU: a thread has a parameter.
template <class Value, class MemorySpace>
struct ParameterFlowsByThread {
  ParameterFlows<Value, MemorySpace> of;

  KOKKOS_FUNCTION void operator()(Offset item) const {
    auto const& tile = of.parameter_tiles(item / (tile_size * tile_size));
    auto const row = static_cast<Index>(item % (tile_size * tile_size) / tile_size),
               column = static_cast<Index>(item % tile_size);
    if (row >= tile.rows || column >= tile.columns) return;
    Value sum = 0;
    for (Offset u = tile.uses_begin; u < tile.uses_end; ++u) {
      auto const& use = of.uses(u);
      auto const& term = of.of.in.terms(use.term);
      Index const sum_row = of.of.in.tiles(use.tile).row + use.first_row + row;
      Value of_use = 0;
      for (Offset sample = 0; sample < of.of.num_samples; ++sample) {
        Value const share = of.of.flows.flow(sum_row, sample) * of.scale(use, sample);
        if (share > 0 && share <= largest_share<Value>)
          of_use = Kokkos::fma(share * of.weights(sample),
                               of.of.in.value_of_term(term, use.first_column + column, sample), of_use);
      }
      sum += of_use;
    }
    of.add(tile, row, column, sum);
  }
};

}  // namespace hornbill::circuit::detail
