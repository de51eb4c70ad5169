// Values of products that are stored, tile by tile.
#pragma once

#include <hornbill/circuit/detail/tile_team.hpp>

namespace hornbill::circuit::detail {

/// Values of products; one tile and sample at a time.
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

  /// Whether each factor is a range of one tile.
  KOKKOS_FUNCTION bool has_whole_tiles(ProductTile const& task) const {
    Index const last = tiles(task.tile).size - 1;
    for (Offset f = task.factors_begin; f < task.factors_end; ++f) {
      auto const& factor = factors(f);
      if (factor.list >= 0) return false;
      Index const row = factor.row + task.first * factor.step;
      if (tile_of_row(row) != tile_of_row(row + last * factor.step)) return false;
    }
    return true;
  }

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

/// The form for a GPU: a team has a tile. Products of a sample have one exponent, where the smallest can be held beside
/// the largest; other samples are done one by one.
template <class Value, class MemorySpace>
struct MultiplyTilesByTeam {
  struct Scratch {
    TileBuffer<double> products;
    Extremes<double> extremes;
    Exponent units[TileTeam::parts];
    double errors[TileTeam::parts], least[TileTeam::parts];  ///< of some of the factors; least: less than any product
    double scales[TileTeam::samples];                        ///< less than 0 of samples that are done one by one
  };
  MultiplyTiles<Value, MemorySpace> of;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member, Index p, Offset first) const {
    auto& scratch = *scratch_of<Scratch>(member);
    auto const& task = of.product_tiles(of.begin + p);
    Tile const tile = of.tiles(task.tile);
    bool const is_whole = of.has_whole_tiles(task);
    for_each_part(member, first, [&](TilePart const& part) {
      if (!is_whole || part.sample >= of.num_samples) return;
      add_factors(task, part, scratch);
      scratch.extremes.set(part, multiply(task, tile.size, part, scratch.products));
    });
    for_each_part(member, first, [&](TilePart const& part) {
      if (part.group == 0 && part.sample < of.num_samples)
        scratch.scales[part.lane] = is_whole ? finish(task, part, scratch) : -1;
    });
    for_each_part(member, first, [&](TilePart const& part) {
      if (part.sample >= of.num_samples) return;
      double const scale = scratch.scales[part.lane];
      for (Index i = part.first_row(); scale >= 0 && i < part.end_row(tile.size); ++i)
        of.values.value(tile.row + i, part.sample) = static_cast<Value>(scratch.products.at(part, i) * scale);
      if (scale < 0 && part.group == 0) of(p * of.num_samples + part.sample);
    });
  }

 private:
  static constexpr double smallest_held = 0x1p-850;

  /// Products of mantissas.
  KOKKOS_FUNCTION TileSummary<double> multiply(ProductTile const& task, Index size, TilePart const& part,
                                               TileBuffer<double>& to) const {
    PartValues<double> products(part, size);
    for (double& product : products.values) product = 1;
    for (Offset f = task.factors_begin; f < task.factors_end; ++f) {
      auto const factor = of.factors(f);
      products.for_each([&](double& product, Index i) {
        product *= static_cast<double>(of.values.value(factor.row + (task.first + i) * factor.step, part.sample));
      });
    }
    TileSummary<double> summary;
    products.for_each_there([&](double product, Index i) {
      to.at(part, i) = product;
      summary.add(product);
    });
    return summary;
  }

  /// What is known of some of the factors.
  KOKKOS_FUNCTION void add_factors(ProductTile const& task, TilePart const& part, Scratch& scratch) const {
    Exponent unit = 0;
    double error = 0, least = 1;
    for (Offset f = task.factors_begin + part.group; f < task.factors_end; f += TileTeam::groups) {
      auto const& factor = of.factors(f);
      Offset const at = of.tile_of_row(factor.row + task.first * factor.step) * of.values.stride + part.sample;
      Exponent const exponent = of.values.exponents(at);
      double const smallest = static_cast<double>(of.values.smallest(at));
      unit = unit == no_exponent || exponent == no_exponent ? no_exponent : unit + exponent;
      error += 2 * static_cast<double>(of.values.errors(at));
      if (least >= smallest_held) least *= smallest > 0 ? smallest : 1;  // without it all are 0
    }
    scratch.units[part.place()] = unit;
    scratch.errors[part.place()] = error;
    scratch.least[part.place()] = least;
  }

  /// Stores what is known of a sample's products.
  /// \return by what products of mantissas are multiplied, or -1 where they were too small
  KOKKOS_FUNCTION double finish(ProductTile const& task, TilePart const& part, Scratch const& scratch) const {
    auto const products = scratch.extremes.of(part.lane);
    typename MultiplyTiles<Value, MemorySpace>::Node all;
    double least = 1;
    for (int p = part.lane; p < TileTeam::parts; p += TileTeam::samples) {
      all.unit = all.unit == no_exponent || scratch.units[p] == no_exponent ? no_exponent : all.unit + scratch.units[p];
      all.error += scratch.errors[p];
      if (least >= smallest_held) least *= scratch.least[p];
    }
    if (all.unit == no_exponent) {
      of.values.finish(task.tile, part.sample, {}, no_exponent, Value(0));
      return 0;
    }
    if (least < smallest_held) return -1;
    Index const shift = products.largest > 0 ? exponent_of(products.largest) : 0;
    Exponent exponent = all.unit + shift;
    if (all.error > 0) exponent = larger(exponent, all.unit + exponent_of(all.error));
    Value error = all.error > 0 ? of.of_tile(all, exponent) : Value(0);
    double const scale = power_of_two<double>(all.unit - exponent);
    TileSummary<Value> summary;
    summary.largest = static_cast<Value>(products.largest * scale);
    summary.has_zero = products.has_zero;
    if (products.largest > 0) {
      summary.smallest = static_cast<Value>(products.smallest * scale);
      if (summary.smallest < tiny<Value>) {
        error = larger(error, tiny<Value>);
        summary.has_zero = true;
      }
    }
    return scale * static_cast<double>(of.values.finish(task.tile, part.sample, summary, exponent, error));
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
    bool const is_whole = of.has_whole_tiles(task);
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
