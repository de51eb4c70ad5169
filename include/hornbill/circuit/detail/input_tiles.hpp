// Values of input nodes, tile by tile.
#pragma once

#include <hornbill/circuit/detail/host_product.hpp>
#include <hornbill/circuit/detail/input_value.hpp>
#include <hornbill/circuit/detail/tile_team.hpp>

namespace hornbill::circuit::detail {

/// Values of input nodes; one tile and sample at a time.
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
    evaluate(t, input, first, sample);
  }

  /// Whether values are parameters of the categories that are seen, or 1.
  KOKKOS_FUNCTION bool is_copy(InputPlan const& input) const {
    return input.kind == InputKind::categorical && !has_lost && observed.soft_offsets(input.variable) < 0;
  }

 private:
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

/// The form for a GPU: a team has a tile.
template <class Value, class MemorySpace>
struct EvaluateInputsByTeam {
  struct Scratch {
    TileBuffer<Value> values;
    Extremes<Value> extremes;
    Value scales[TileTeam::samples];
  };
  EvaluateInputs<Value, MemorySpace> of;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member, Index item, Offset first_sample) const {
    auto const& [t, distributions, first_node] = of.input_tiles(item);
    auto const& input = of.inputs(distributions);
    if (!of.is_copy(input)) {
      Offset const end = smaller(first_sample + TileTeam::samples, of.num_samples);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, static_cast<int>(end - first_sample)),
                           [&](int b) { of(item * of.num_samples + first_sample + b); });
      return;
    }
    auto& scratch = *scratch_of<Scratch>(member);
    Tile const tile = of.tiles(t);
    for_each_part(member, first_sample, [&](TilePart const& part) {
      if (part.sample < of.num_samples)
        scratch.extremes.set(part, load(input, tile.size, first_node, part, scratch.values));
    });
    for_each_part(member, first_sample, [&](TilePart const& part) {
      if (part.group == 0 && part.sample < of.num_samples)
        scratch.scales[part.lane] = of.out.finish(t, part.sample, scratch.extremes.of(part.lane), 0, Value(0));
    });
    for_each_part(member, first_sample, [&](TilePart const& part) {
      for (Index i = part.first_row(); part.sample < of.num_samples && i < part.end_row(tile.size); ++i)
        of.out.value(tile.row + i, part.sample) = scratch.values.at(part, i) * scratch.scales[part.lane];
    });
  }

 private:
  KOKKOS_FUNCTION TileSummary<Value> load(InputPlan const& input, Index size, Index first_node, TilePart const& part,
                                          TileBuffer<Value>& to) const {
    PartValues<Value> values(part, size);
    double const x = of.observed.samples(input.variable * of.observed.stride + part.sample);
    for (Value& value : values.values) value = 1;
    if (x == x) read(parameter_of(input, first_node, static_cast<Index>(x)), values);
    TileSummary<Value> summary;
    values.for_each_there([&](Value value, Index i) {
      to.at(part, i) = value;
      summary.add(value);
    });
    return summary;
  }

  /// Parameters of a category, several at a time where they are together.
  KOKKOS_FUNCTION void read(Offset parameters, PartValues<Value>& to) const {
    constexpr Index at_once = 16 / sizeof(Value);
    struct alignas(16) Several {
      Value values[at_once];
    };
    Offset const first = parameters + to.first;
    if (first % at_once != 0 || !to.is_there(TileTeam::rows_of_part - 1)) {
      to.for_each([&](Value& value, Index i) { value = of.of.categorical(parameters + i); });
      return;
    }
    for (Index i = 0; i < TileTeam::rows_of_part; i += at_once) {
      auto const several = *reinterpret_cast<Several const*>(&of.of.categorical(first + i));
      for (Index k = 0; k < at_once; ++k) to.values[i + k] = several.values[k];
    }
  }
};

/// The form for the threads of a CPU: each has a tile and some samples. Parameters of a category are side by side, and
/// values of a sample are not, so that the former are read, and the latter written, as vectors.
template <class Value, class MemorySpace>
struct EvaluateInputsOnHost {
  using Transpose = VectorTranspose<Value>;
  using Vector = typename Transpose::Vector;
  static constexpr int width = Transpose::lanes;  ///< samples of a thread
  EvaluateInputs<Value, MemorySpace> of;

  void operator()(Offset item) const {
    Offset const blocks = (of.num_samples + width - 1) / width;
    Offset const t = item / blocks, first = item % blocks * width;
    int const count = static_cast<int>(smaller<Offset>(width, of.num_samples - first));
    auto const& [tile, distributions, first_node] = of.input_tiles(t);
    auto const& input = of.inputs(distributions);
    if (of.is_copy(input))
      copy_categories(tile, input, first_node, first, count);
    else
      for (int b = 0; b < count; ++b) of(t * of.num_samples + first + b);
  }

 private:
  void copy_categories(Index t, InputPlan const& input, Index first_node, Offset first, int count) const {
    auto const [row, size] = of.tiles(t);
    Value ones[tile_size];
    for (Value& one : ones) one = 1;
    Value const* from[width];
    Value scales[width] = {};
    for (int b = 0; b < width; ++b) {
      double const x = b < count ? of.observed.samples(input.variable * of.observed.stride + first + b) : missing;
      from[b] = x == x ? &of.of.categorical(parameter_of(input, first_node, static_cast<Index>(x))) : ones;
      if (b < count) scales[b] = of.out.finish(t, first + b, summary_of(from[b], size), 0, Value(0));
    }
    Index i = 0;
    for (; i + width <= size; i += width) {
      Vector rows[width];
      for (int b = 0; b < width; ++b) {
        __builtin_memcpy(&rows[b], from[b] + i, sizeof(Vector));
        rows[b] *= scales[b];
      }
      Transpose::run(rows, &of.out.value(row + i, first), of.out.stride);
    }
    for (; i < size; ++i)
      for (int b = 0; b < count; ++b) of.out.value(row + i, first + b) = from[b][i] * scales[b];
  }

  static TileSummary<Value> summary_of(Value const* values, Index size) {
    TileSummary<Value> summary;
    Index i = 0;
    if (size >= width) {
      Vector largest{}, smallest = Vector{} + Kokkos::Experimental::finite_max_v<Value>, least = smallest;
      for (; i + width <= size; i += width) {
        Vector now;
        __builtin_memcpy(&now, values + i, sizeof(Vector));
        largest = now > largest ? now : largest;
        least = now < least ? now : least;
        smallest = now > Vector{} && now < smallest ? now : smallest;
      }
      for (int k = 0; k < width; ++k) {
        summary.largest = larger(summary.largest, largest[k]);
        summary.smallest = smaller(summary.smallest, smallest[k]);
        summary.has_zero = summary.has_zero || least[k] == 0;
      }
    }
    for (; i < size; ++i) summary.add(values[i]);
    return summary;
  }
};

}  // namespace hornbill::circuit::detail
