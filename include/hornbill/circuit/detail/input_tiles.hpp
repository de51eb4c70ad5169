// Values of input nodes, tile by tile.
#pragma once

#include <hornbill/circuit/detail/input_value.hpp>
#include <hornbill/circuit/detail/tile_values.hpp>

namespace hornbill::circuit::detail {

/// A thread for each tile and sample.
template <class Value, class MemorySpace>
struct EvaluateInputs {
  Kokkos::View<Tile const*, MemorySpace> tiles;
  Kokkos::View<InputPlan const*, MemorySpace> inputs;
  Kokkos::View<InputTile const*, MemorySpace> input_tiles;
  InputValues<Value, MemorySpace> of;
  Observed<MemorySpace> observed;
  TileValues<Value, MemorySpace> out;
  Offset num_samples = 0;
  bool has_lost = false;  ///< whether some parameters of categoricals were too small for a Value

  KOKKOS_FUNCTION void operator()(Offset item) const {
    auto const& [t, distributions, first] = input_tiles(item / num_samples);
    Offset const sample = item % num_samples;
    auto const& input = inputs(distributions);
    double const x = observed.samples(input.variable * observed.stride + sample);
    bool const is_known = x == x && observed.soft_offsets(input.variable) < 0;
    if (is_known && input.kind == InputKind::categorical && !has_lost)
      copy_categories(t, parameter_of(input, first, static_cast<Index>(x)), sample);
    else
      evaluate(t, input, first, sample);
  }

 private:
  /// Parameters of a category are the nodes' values.
  KOKKOS_FUNCTION void copy_categories(Index t, Offset parameters, Offset sample) const {
    auto const [row, size] = tiles(t);
    TileSummary<Value> summary;
    for (Index i = 0; i < size; ++i) summary.add(of.categorical(parameters + i));
    Value const scale = out.finish(t, sample, summary, 0, Value(0));
    for (Index i = 0; i < size; ++i) out.value(row + i, sample) = of.categorical(parameters + i) * scale;
  }

  KOKKOS_FUNCTION void evaluate(Index t, InputPlan const& input, Index first, Offset sample) const {
    auto const [row, size] = tiles(t);
    Scaled nodes[tile_size];
    Exponent exponent = no_exponent;
    for (Index i = 0; i < size; ++i) {
      nodes[i] = observed.value(of, input, first + i, sample);
      exponent = larger(exponent, nodes[i].exponent);
    }
    bool const may_lack = has_lost && input.kind == InputKind::categorical;
    Exponent const lack = may_lack ? exponent_of_lost(input, sample) : no_exponent;
    exponent = larger(exponent, lack);
    TileSummary<Value> summary;
    Value error = may_lack ? larger(power_of_two<Value>(lack - exponent), tiny<Value>) : Value(0);
    for (Index i = 0; i < size; ++i) {
      auto const value = static_cast<Value>(nodes[i].mantissa * power_of_two<double>(nodes[i].exponent - exponent));
      if (value < tiny<Value> && nodes[i].mantissa > 0) error = larger(error, tiny<Value>);
      out.value(row + i, sample) = value;
      summary.add(value);
    }
    Value const scale = out.finish(t, sample, summary, exponent, error);
    for (Index i = 0; i < size; ++i) out.value(row + i, sample) *= scale;
  }

  /// Of a bound of what a categorical's value lacks, because parameters were less than tiny: tiny times the sum of the
  /// likelihoods, or of 1.
  KOKKOS_FUNCTION Exponent exponent_of_lost(InputPlan const& input, Offset sample) const {
    constexpr Index of_tiny = -Bits<Value>::bias + 1;
    Offset const offset = observed.soft_offsets(input.variable);
    Scaled likelihoods = scaled(1);
    if (offset >= 0) likelihoods = {};
    for (Index c = 0; offset >= 0 && c < input.num_categories; ++c)
      likelihoods = sum(likelihoods, scaled(observed.soft((offset + c) * observed.stride + sample)));
    return likelihoods.mantissa == 0 ? no_exponent : of_tiny + likelihoods.exponent;
  }
};

/// Products that are stored.
template <class Value, class MemorySpace>
struct MultiplyTiles {
  Kokkos::View<Tile const*, MemorySpace> tiles;
  Kokkos::View<Index const*, MemorySpace> tile_of_row;
  Kokkos::View<ProductTile const*, MemorySpace> product_tiles;
  Kokkos::View<RowFactor const*, MemorySpace> factors;
  Kokkos::View<Index const*, MemorySpace> factor_rows;
  TileValues<Value, MemorySpace> values;
  Offset num_samples = 0;
  Index begin = 0;  ///< of the layer's tiles

  KOKKOS_FUNCTION void operator()(Offset item) const {
    auto const& task = product_tiles(begin + item / num_samples);
    Offset const sample = item % num_samples;
    auto const [row, size] = tiles(task.tile);
    Node nodes[tile_size];
    Exponent exponent = no_exponent;
    for (Index i = 0; i < size; ++i) {
      nodes[i] = multiply(task, task.first + i, sample);
      if (nodes[i].value.mantissa > 0) exponent = larger(exponent, nodes[i].value.exponent);
      if (nodes[i].error > 0) exponent = larger(exponent, nodes[i].unit + exponent_of(nodes[i].error));
    }
    TileSummary<Value> summary;
    Value error = 0;
    for (Index i = 0; i < size; ++i) {
      auto const value =
          static_cast<Value>(nodes[i].value.mantissa * power_of_two<double>(nodes[i].value.exponent - exponent));
      if (nodes[i].error > 0) error = larger(error, of_tile(nodes[i], exponent));
      if (value < tiny<Value> && nodes[i].value.mantissa > 0) error = larger(error, tiny<Value>);
      values.value(row + i, sample) = value;
      summary.add(value);
    }
    Value const scale = values.finish(task.tile, sample, summary, exponent, error);
    for (Index i = 0; i < size; ++i) values.value(row + i, sample) *= scale;
  }

 private:
  /// A product, true to error * 2^unit.
  struct Node {
    Scaled value;
    double error = 0;
    Exponent unit = 0;
  };

  /// Values of floats, each of at least 2^-149, that a double can hold the product of; of doubles, one.
  static constexpr int factors_at_once = sizeof(Value) == sizeof(float) ? 6 : 1;

  KOKKOS_FUNCTION Node multiply(ProductTile const& task, Index i, Offset sample) const {
    Node node{scaled(1)};
    for (Offset f = task.factors_begin; f < task.factors_end;) {
      double mantissa = 1;
      for (int k = 0; k < factors_at_once && f < task.factors_end; ++k, ++f) {
        auto const& factor = factors(f);
        Index const row = factor.list < 0 ? factor.row + i * factor.step : factor_rows(factor.list + i);
        Index const tile = tile_of_row(row);
        Exponent const exponent = values.exponent(tile, sample);
        if (exponent == no_exponent) return {};
        mantissa *= static_cast<double>(values.value(row, sample));
        node.error += 2 * static_cast<double>(values.errors(tile * values.stride + sample));
        node.unit += exponent;
      }
      node.value = product(node.value, scaled(mantissa));
    }
    if (node.value.mantissa > 0) node.value.exponent += node.unit;
    return node;
  }

  /// A node's error in units of 2^exponent.   \param exponent  at least that of the error
  KOKKOS_FUNCTION static Value of_tile(Node const& node, Exponent exponent) {
    Index const own = exponent_of(node.error);
    double const mantissa = scaled(node.error).mantissa;
    return larger(static_cast<Value>(mantissa * power_of_two<double>(node.unit + own - exponent)), tiny<Value>);
  }
};

}  // namespace hornbill::circuit::detail
