// Values of products that are stored, tile by tile.
#pragma once

#include <hornbill/circuit/detail/tile_values.hpp>

namespace hornbill::circuit::detail {

/// A thread for each tile and sample.
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

  /// A product, true to error * 2^unit.
  struct Node {
    Scaled value;
    double error = 0;
    Exponent unit = 0;
  };

  /// A node's error in units of 2^exponent.   \param exponent  at least that of the error
  KOKKOS_FUNCTION static Value of_tile(Node const& node, Exponent exponent) {
    Index const own = exponent_of(node.error);
    double const mantissa = scaled(node.error).mantissa;
    return larger(static_cast<Value>(mantissa * power_of_two<double>(node.unit + own - exponent)), tiny<Value>);
  }

 private:
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
};

/// The form for the threads of a CPU: each has a tile and some samples. Products of a tile have one exponent while they
/// are formed, where the smallest of them can be held beside the largest; other samples are done one by one.
template <class Value, class MemorySpace>
struct MultiplyTilesOnHost {
  static constexpr int width = 16;  ///< samples of a thread
  MultiplyTiles<Value, MemorySpace> of;

  using Row = double[width];

  void operator()(Offset item) const {
    Offset const blocks = (of.num_samples + width - 1) / width;
    auto const p = static_cast<Offset>(item / blocks);
    Offset const first = item % blocks * width;
    auto const& task = of.product_tiles(of.begin + p);
    Work work(task, first, static_cast<int>(smaller<Offset>(width, of.num_samples - first)));
    bool const is_whole = has_whole_tiles(task);
    if (is_whole) {
      multiply(work);
      store(work);
    }
    for (int b = 0; b < work.count; ++b)
      if (!is_whole || work.is_apart[b]) of(p * of.num_samples + first + b);
  }

 private:
  static constexpr double smallest_held = 0x1p-850;

  /// Products of some samples: values times 2^(units + shifts).
  struct Work {
    Work(ProductTile const& task, Offset first, int count) : task(task), first(first), count(count) {}

    ProductTile const& task;
    Offset first;
    int count;
    alignas(64) Row values[tile_size];
    double lower[width];     ///< no value that is not 0 is less
    double errors[width]{};  ///< in units of 2^units
    Exponent units[width]{}, shifts[width]{};
    bool is_zero[width]{}, is_apart[width]{};
  };

  /// Whether each factor is a range of one tile.
  bool has_whole_tiles(ProductTile const& task) const {
    Index const last = of.tiles(task.tile).size - 1;
    for (Offset f = task.factors_begin; f < task.factors_end; ++f) {
      auto const& factor = of.factors(f);
      if (factor.list >= 0) return false;
      Index const row = factor.row + task.first * factor.step;
      if (of.tile_of_row(row) != of.tile_of_row(row + last * factor.step)) return false;
    }
    return true;
  }

  void multiply(Work& work) const {
    Index const size = of.tiles(work.task.tile).size;
    for (Index i = 0; i < size; ++i)
      for (double& value : work.values[i]) value = 1;
    for (double& lower : work.lower) lower = 1;
    for (Offset f = work.task.factors_begin; f < work.task.factors_end; ++f) {
      auto const& factor = of.factors(f);
      Index const row = factor.row + work.task.first * factor.step;
      bool const must_scale = add_factor(work, of.tile_of_row(row));
      if (must_scale) scale(work, size);
      for (Index i = 0; i < size; ++i) {
        Value const* const from = &of.values.value(row + i * factor.step, work.first);
        for (int b = 0; b < work.count; ++b) work.values[i][b] *= static_cast<double>(from[b]);
      }
    }
    scale(work, size);
  }

  /// What is known of a factor's tile.   \return whether values are to be scaled before they are multiplied by it
  bool add_factor(Work& work, Index tile) const {
    bool must_scale = false;
    for (int b = 0; b < work.count; ++b) {
      Offset const at = tile * of.values.stride + work.first + b;
      Exponent const exponent = of.values.exponents(at);
      work.is_zero[b] = work.is_zero[b] || exponent == no_exponent;
      if (work.is_zero[b]) continue;
      work.units[b] += exponent;
      work.errors[b] += 2 * static_cast<double>(of.values.errors(at));
      double const smallest = static_cast<double>(of.values.smallest(at));
      work.lower[b] *= smallest > 0 ? smallest : 1;  // without it all are 0
      must_scale = must_scale || work.lower[b] < smallest_held;
    }
    return must_scale;
  }

  /// Makes the largest value of each sample from 1/2 to 1.
  void scale(Work& work, Index size) const {
    Row largest = {}, scales;
    for (Index i = 0; i < size; ++i)
      for (int b = 0; b < work.count; ++b) largest[b] = larger(largest[b], work.values[i][b]);
    for (int b = 0; b < work.count; ++b) {
      Index const exponent = largest[b] > 0 ? exponent_of(largest[b]) : 0;
      scales[b] = power_of_two<double>(-exponent);
      work.shifts[b] += exponent;
      work.lower[b] = smaller(work.lower[b] * scales[b], 1.0);
      work.is_apart[b] = work.is_apart[b] || work.lower[b] < smallest_held;
    }
    for (Index i = 0; i < size; ++i)
      for (int b = 0; b < work.count; ++b) work.values[i][b] *= scales[b];
  }

  void store(Work const& work) const {
    auto const [row, size] = of.tiles(work.task.tile);
    Row scales;
    Exponent exponents[width];
    Value errors[width] = {};
    TileSummary<Value> summaries[width];
    for (int b = 0; b < work.count; ++b) {
      exponents[b] = work.units[b] + work.shifts[b];
      typename MultiplyTiles<Value, MemorySpace>::Node const node{
          {}, work.is_zero[b] ? 0 : work.errors[b], work.units[b]};
      if (node.error > 0) exponents[b] = larger(exponents[b], node.unit + exponent_of(node.error));
      if (node.error > 0) errors[b] = of.of_tile(node, exponents[b]);
      scales[b] = work.is_zero[b] ? 0 : power_of_two<double>(work.units[b] + work.shifts[b] - exponents[b]);
    }
    for (Index i = 0; i < size; ++i) {
      Value* const out = &of.values.value(row + i, work.first);
      for (int b = 0; b < work.count; ++b) {
        if (work.is_apart[b]) continue;
        auto const value = static_cast<Value>(work.values[i][b] * scales[b]);
        bool const is_lost = value < tiny<Value> && work.values[i][b] > 0 && !work.is_zero[b];
        if (is_lost) errors[b] = larger(errors[b], tiny<Value>);
        summaries[b].add(value);
        out[b] = value;
      }
    }
    for (int b = 0; b < work.count; ++b)
      if (!work.is_apart[b])
        scales[b] = static_cast<double>(
            of.values.finish(work.task.tile, work.first + b, summaries[b], exponents[b], errors[b]));
    for (Index i = 0; i < size; ++i) {
      Value* const out = &of.values.value(row + i, work.first);
      for (int b = 0; b < work.count; ++b)
        if (!work.is_apart[b]) out[b] *= static_cast<Value>(scales[b]);
    }
  }
};

}  // namespace hornbill::circuit::detail
