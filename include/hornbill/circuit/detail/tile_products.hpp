// Products of tiles, by matrix units where there are some.
#pragma once

#include <cstdint>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <hornbill/circuit/detail/items.hpp>
#include <hornbill/circuit/detail/matrix_tasks.hpp>
#include <hornbill/circuit/detail/planes.hpp>

namespace hornbill::circuit::detail {

/// Whether a space has matrix units.
template <class ExecutionSpace>
inline constexpr bool has_matrix_units = false;
/// Whether it can do their work: that of the host can by plain loops, for tests.
template <class ExecutionSpace>
inline constexpr bool multiplies_tiles = runs_on_host<ExecutionSpace>;

/// A tile's numbers: the sums of its planes.
struct PlainTile {
  double values[tile_size][tile_size];

  /// \param planes  of all tiles
  PlainTile(std::uint16_t const* planes, Offset tile, Index num_planes) {
    planes += planes_of(tile, num_planes);
    for (Index r = 0; r < tile_size; ++r)
      for (Index c = 0; c < tile_size; ++c) {
        Index const at = entry_of(r, c);
        values[r][c] = static_cast<double>(from_half(planes[at]));
        if (num_planes == 2) values[r][c] += static_cast<double>(from_half(planes[plane_entries + at]));
      }
  }
};

/// The form for the threads of a CPU, which has none: for tests. A thread has an output and 64 samples.
struct MultiplyOnHost {
  TileProducts of;

  void operator()(Offset item) const {
    auto const o = static_cast<Index>(item / of.used_blocks), block = static_cast<Index>(item % of.used_blocks);
    Exponent units[tile_size];
    for (Exponent& unit : units) unit = no_exponent;
    for (Offset p = of.offsets[o]; p < of.offsets[o + 1]; ++p)
      for (Index b = 0; b < tile_size; ++b) units[b] = larger(units[b], exponent_of(p, block, b));
    double sums[tile_size][tile_size] = {};
    for (Offset p = of.offsets[o]; p < of.offsets[o + 1]; ++p) add(p, block, units, sums);
    Index const place = of.outputs ? of.outputs[o] : o;
    Index const row = of.outputs ? of.tiles[place].row : o * tile_size;
    Index const size = of.outputs ? of.tiles[place].size : tile_size;
    for (Index b = 0; b < tile_size; ++b) of.exponents[place * of.stride + block * tile_size + b] = units[b];
    for (Index r = 0; r < size; ++r)
      for (Index b = 0; b < tile_size; ++b)
        of.sums[(row + r) * of.stride + block * tile_size + b] = static_cast<float>(sums[r][b]);
  }

 private:
  Exponent exponent_of(Offset p, Index block, Index b) const {
    return of.weight_exponents[of.products[p].weights] +
           of.column_exponents[of.products[p].column * of.stride + block * tile_size + b];
  }

  void add(Offset p, Index block, Exponent const* units, double (&sums)[tile_size][tile_size]) const {
    auto const& product = of.products[p];
    PlainTile const weights(of.weights, product.weights, of.num_planes);
    PlainTile const column(of.columns, Offset{product.column} * of.blocks + block, of.num_planes);
    double scales[tile_size];
    for (Index b = 0; b < tile_size; ++b)
      scales[b] = power_of_two<double>(exponent_of(p, block, b) - units[b] - 2 * plane_shift);
    for (Index r = 0; r < tile_size; ++r)
      for (Index k = 0; k < tile_size; ++k) {
        double const weight = of.is_transposed ? weights.values[k][r] : weights.values[r][k];
        for (Index b = 0; b < tile_size; ++b) sums[r][b] += weight * column.values[k][b] * scales[b];
      }
  }
};

/// The same: a thread has a tile of parameters.
struct AddParameterFlowsOnHost {
  ParameterProducts of;

  void operator()(Offset item) const {
    auto const& place = of.parameters[item];
    auto const& tile = of.tiles[place.tile];
    double sums[tile_size][tile_size] = {};
    for (Offset u = place.uses_begin; u < place.uses_end; ++u)
      for (Index block = 0; block < of.used_blocks; ++block) add(of.uses[u], block, sums);
    for (Index r = 0; r < tile.rows; ++r)
      for (Index c = 0; c < tile.columns; ++c) {
        Offset const at = tile.parameter + Offset{r} * tile.stride + c;
        if (of.weights[at] == 0) continue;  // of which flows would be 0 times what may be very large
        of.flows[at] +=
            of.unit * static_cast<double>(of.weights[at]) * sums[place.first_row + r][place.first_column + c];
      }
  }

 private:
  void add(DenseUse const& use, Index block, double (&sums)[tile_size][tile_size]) const {
    PlainTile const shares(of.sums, Offset{use.sum} * of.blocks + block, of.num_planes);
    PlainTile const terms(of.terms, Offset{use.term} * of.blocks + block, of.num_planes);
    double scales[tile_size];
    for (Index b = 0; b < tile_size; ++b) {
      Offset const sample = Offset{block} * tile_size + b;
      scales[b] = power_of_two<double>(of.sum_exponents[use.sum * of.stride + sample] +
                                       of.term_exponents[use.term * of.stride + sample] - 2 * plane_shift);
    }
    for (Index r = 0; r < tile_size; ++r)
      for (Index c = 0; c < tile_size; ++c)
        for (Index b = 0; b < tile_size; ++b) sums[r][c] += shares.values[r][b] * terms.values[c][b] * scales[b];
  }
};

template <class ExecutionSpace>
void multiply(ExecutionSpace const& exec, TileProducts const& of) {
  Kokkos::parallel_for("hornbill::circuit::multiply_planes",
                       Items<ExecutionSpace>(exec, 0, Offset{of.num_outputs} * of.used_blocks), MultiplyOnHost{of});
}

template <class ExecutionSpace>
void add_parameter_flows(ExecutionSpace const& exec, ParameterProducts const& of) {
  Kokkos::parallel_for("hornbill::circuit::add_parameter_flows", Items<ExecutionSpace>(exec, 0, of.num_parameters),
                       AddParameterFlowsOnHost{of});
}

#if defined(KOKKOS_ARCH_MAXWELL) || defined(KOKKOS_ARCH_PASCAL) || defined(KOKKOS_ARCH_VOLTA) || \
    defined(KOKKOS_ARCH_TURING75)
#define HORNBILL_BEFORE_AMPERE
#endif
#if defined(KOKKOS_ENABLE_CUDA) && !defined(HORNBILL_BEFORE_AMPERE)
template <>
inline constexpr bool has_matrix_units<Kokkos::Cuda> = true;
template <>
inline constexpr bool multiplies_tiles<Kokkos::Cuda> = true;

inline void multiply(Kokkos::Cuda const& exec, TileProducts const& of) {
  Kokkos::Profiling::ScopedRegion region("hornbill::circuit::multiply_planes");
  cuda::multiply(exec.cuda_stream(), of);
}
inline void add_parameter_flows(Kokkos::Cuda const& exec, ParameterProducts const& of) {
  Kokkos::Profiling::ScopedRegion region("hornbill::circuit::add_parameter_flows");
  cuda::add_parameter_flows(exec.cuda_stream(), of);
}
#endif

}  // namespace hornbill::circuit::detail
