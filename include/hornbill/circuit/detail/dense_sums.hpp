// Sums by matrix units: parameters and terms as planes, and sums as values.
#pragma once

#include <hornbill/circuit/detail/planes.hpp>
#include <hornbill/circuit/detail/sum_tiles.hpp>
#include <hornbill/circuit/detail/tile_team.hpp>

namespace hornbill::circuit::detail {

/// How a column's values are written to planes.
struct Scaling {
  Index shift;  ///< values are divided by 2^shift, so that the largest is from 1/2 to 1

  static constexpr Index least_shift = -100;  // so that factors can be held

  KOKKOS_FUNCTION explicit Scaling(float largest)
      : shift(largest > 0 ? larger(exponent_of(largest), least_shift) : 0) {}
  KOKKOS_FUNCTION float of_planes() const { return power_of_two<float>(plane_shift - shift); }
  KOKKOS_FUNCTION bool is_exact(float smallest) const { return smallest >= least_exact * power_of_two<float>(shift); }
};

/// Products of factors, as columns. A team has a term.
template <class MemorySpace>
struct FormTerms {
  struct Scratch {
    TileBuffer<float> products;
    Extremes<float> extremes;
    Exponent exponents[TileTeam::parts];
    float errors[TileTeam::parts], smallest[TileTeam::parts];
  };
  SumInputs<float, MemorySpace> in;
  Kokkos::View<Index const*, MemorySpace> terms;
  Columns<MemorySpace> out;
  Offset num_samples = 0;
  Index begin = 0;  ///< of the layer's terms

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member, Index column, Offset first) const {
    auto& scratch = *scratch_of<Scratch>(member);
    auto const term = in.terms(terms(begin + column));
    for_each_part(member, first,
                  [&](TilePart const& part) { scratch.extremes.set(part, multiply(term, part, scratch)); });
    for_each_part(member, first, [&](TilePart const& part) {
      auto const summary = scratch.extremes.of(part.lane);
      Scaling const scaling(summary.largest);
      store(column, part, scaling.of_planes(), scratch.products);
      if (part.group == 0) finish(column, part, summary, scaling, scratch);
    });
  }

 private:
  KOKKOS_FUNCTION void read(Offset f, Offset sample, PartValues<float>& to) const {
    auto const factor = in.factors(f);
    to.for_each([&](float& value, Index i) { value = in.values.value(factor.row + i * factor.step, sample); });
  }

  /// What is known of some of the factors.
  KOKKOS_FUNCTION void add_factors(Term const& term, TilePart const& part, Scratch& scratch) const {
    Exponent exponent = 0;
    float error = 0, smallest = 1;
    for (Offset f = term.factors_begin + part.group; f < term.factors_end; f += TileTeam::groups) {
      Offset const at = in.factors(f).tile * in.values.stride + part.sample;
      Exponent const of_factor = in.values.exponents(at);
      exponent = exponent == no_exponent || of_factor == no_exponent ? no_exponent : exponent + of_factor;
      if (out.errors.extent(0) == 0) continue;
      error += 2 * in.values.errors(at);
      smallest *= in.values.smallest(at);
    }
    scratch.exponents[part.place()] = exponent;
    scratch.errors[part.place()] = error;
    scratch.smallest[part.place()] = smallest;
  }

  KOKKOS_FUNCTION TileSummary<float> multiply(Term const& term, TilePart const& part, Scratch& scratch) const {
    PartValues<float> part_values(part, term.size);
    TileSummary<float> summary;
    if (part.sample < num_samples) {
      for (float& value : part_values.values) value = 1;
      // two factors at a time are read before they are needed, and what is known of them behind
      for (Offset f = term.factors_begin; f < term.factors_end; f += 2) {
        bool const has_second = f + 1 < term.factors_end;
        PartValues<float> first(part, term.size), second(part, term.size);
        read(f, part.sample, first);
        for (float& value : second.values) value = 1;
        if (has_second) read(f + 1, part.sample, second);
        if (f == term.factors_begin) add_factors(term, part, scratch);
        for (Index i = 0; i < TileTeam::rows_of_part; ++i) part_values.values[i] *= first.values[i] * second.values[i];
      }
      part_values.for_each_there([&](float value, Index) { summary.add(value); });
    }
    for (Index i = 0; i < TileTeam::rows_of_part; ++i)
      scratch.products.at(part, part.first_row() + i) =
          part.sample < num_samples && part_values.is_there(i) ? part_values.values[i] : 0.0f;
    return summary;
  }

  KOKKOS_FUNCTION void store(Index column, TilePart const& part, float scale, TileBuffer<float>& products) const {
    std::uint16_t* const tile = tile_of(out, column, part.sample);
    auto const b = static_cast<Index>(part.sample % tile_size);
    for (Index i = part.first_row(); i < part.first_row() + TileTeam::rows_of_part; ++i)
      store_planes(tile, out.num_planes, i, b, products.at(part, i) * scale);
  }

  KOKKOS_FUNCTION void finish(Index column, TilePart const& part, TileSummary<float> const& summary,
                              Scaling const& scaling, Scratch const& scratch) const {
    Offset const at = column * out.stride + part.sample;
    Exponent exponent = part.sample < num_samples ? 0 : no_exponent;
    float error = 0, smallest = 1;
    for (int p = part.lane; p < TileTeam::parts && exponent != no_exponent; p += TileTeam::samples) {
      exponent = scratch.exponents[p] == no_exponent ? no_exponent : exponent + scratch.exponents[p];
      error += scratch.errors[p];
      smallest *= scratch.smallest[p];
    }
    if (exponent != no_exponent && smallest < tiny<float> && out.errors.extent(0) > 0)
      error = larger(error, tiny<float>);
    bool const is_nothing = exponent == no_exponent || (summary.largest == 0 && error == 0);
    out.exponents(at) = is_nothing ? no_exponent : exponent + scaling.shift;
    if (out.errors.extent(0) == 0) return;
    out.errors(at) = is_nothing ? 0 : error * power_of_two<float>(-scaling.shift);
    out.losses(at) = is_nothing || scaling.is_exact(summary.smallest) ? 0 : lost_by_planes;
  }
};

/// Sums with their exponents, and how wrong they are. A team has a sum tile.
template <class MemorySpace>
struct FinishSums {
  struct Scratch {
    TileBuffer<float> sums;
    Extremes<float> extremes;
    float errors[TileTeam::parts], roundings[TileTeam::parts];
    float scales[TileTeam::samples];
  };
  SumInputs<float, MemorySpace> in;
  Kokkos::View<Offset const*, MemorySpace> product_offsets;
  Kokkos::View<TileProduct const*, MemorySpace> products;
  Columns<MemorySpace> terms;
  Kokkos::View<Exponent const*, MemorySpace> weight_exponents;
  Kokkos::View<float const*, MemorySpace> weight_losses;
  Offset num_samples = 0;
  Index begin = 0;  ///< of the layer's tiles

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member, Index s, Offset first) const {
    auto& scratch = *scratch_of<Scratch>(member);
    Index const t = in.sum_tiles(begin + s);
    Tile const tile = in.tiles(t);
    for_each_part(member, first, [&](TilePart const& part) {
      TileSummary<float> summary;
      if (part.sample < num_samples) {
        PartValues<float> sums(part, tile.size);
        sums.for_each([&](float& sum, Index i) { sum = in.values.value(tile.row + i, part.sample); });
        add_errors(begin + s, t, part, scratch);
        sums.for_each_there([&](float sum, Index i) {
          scratch.sums.at(part, i) = sum;
          summary.add(sum);
        });
      }
      scratch.extremes.set(part, summary);
    });
    for_each_part(member, first, [&](TilePart const& part) {
      if (part.group == 0 && part.sample < num_samples) scratch.scales[part.lane] = finish(t, part, scratch);
    });
    for_each_part(member, first, [&](TilePart const& part) {
      for (Index i = part.first_row(); part.sample < num_samples && i < part.end_row(tile.size); ++i)
        in.values.value(tile.row + i, part.sample) = scratch.sums.at(part, i) * scratch.scales[part.lane];
    });
  }

 private:
  /// Of some of the sum tile's products.
  KOKKOS_FUNCTION void add_errors(Index s, Index t, TilePart const& part, Scratch& scratch) const {
    Exponent const unit = in.values.exponent(t, part.sample);
    float error = 0, rounding = 0;
    for (Offset p = product_offsets(s) + part.group; p < product_offsets(s + 1); p += TileTeam::groups) {
      auto const [weights, column] = products(p);
      Offset const at = column * terms.stride + part.sample;
      Exponent const exponent = terms.exponents(at) + weight_exponents(weights) - unit;
      float const of_tile = static_cast<float>(tile_size) * power_of_two<float>(larger(exponent, least_exponent));
      error += of_tile * terms.errors(at);
      float const lost = exponent < least_exponent ? 1.0f : terms.losses(at) + weight_losses(weights);
      if (terms.exponents(at) != no_exponent) rounding += of_tile * lost;
    }
    scratch.errors[part.place()] = error;
    scratch.roundings[part.place()] = rounding;
  }
  /// Products of less, as a share of the largest, may be lost.
  static constexpr Exponent least_exponent = -90;

  KOKKOS_FUNCTION float finish(Index t, TilePart const& part, Scratch const& scratch) const {
    auto summary = scratch.extremes.of(part.lane);
    float error = 0, rounding = 0;
    for (int p = part.lane; p < TileTeam::parts; p += TileTeam::samples) {
      error += scratch.errors[p];
      rounding += scratch.roundings[p];
    }
    if (rounding > 0 && (summary.has_zero || rounding > rounding_of_planes * summary.smallest)) error += rounding;
    return in.values.finish(t, part.sample, summary, in.values.exponent(t, part.sample), error);
  }
};

/// Parameters as planes. A team has a tile of weights.
template <class MemorySpace>
struct FormWeights {
  Kokkos::View<WeightTile const*, MemorySpace> tiles;
  Kokkos::View<Segment const*, MemorySpace> segments;
  Kokkos::View<float const*, MemorySpace> parameters;
  Kokkos::View<std::uint16_t*, MemorySpace> planes;
  Kokkos::View<Exponent*, MemorySpace> exponents;
  Kokkos::View<float*, MemorySpace> losses;
  Index num_planes;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const t = static_cast<Index>(member.league_rank());
    std::uint16_t* const tile = &planes(planes_of(t, num_planes));
    float largest = 0, smallest = Kokkos::Experimental::finite_max_v<float>;
    Index edges = 0;
    for (Offset s = tiles(t).segments_begin; s < tiles(t).segments_end; ++s) {
      auto const& of = segments(s);
      edges += of.rows * of.columns;
      Kokkos::MinMaxScalar<float> of_segment{};
      Kokkos::parallel_reduce(
          Kokkos::TeamThreadRange(member, of.rows * tile_size),
          [&](int e, Kokkos::MinMaxScalar<float>& result) {
            float const value = parameter(of, e);
            result.max_val = larger(result.max_val, value);
            if (value > 0) result.min_val = smaller(result.min_val, value);
          },
          Kokkos::MinMax<float>(of_segment));
      largest = larger(largest, of_segment.max_val);
      smallest = smaller(smallest, of_segment.min_val);
    }
    if (edges < plane_entries)
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, num_planes * plane_entries), [&](int e) { tile[e] = 0; });
    member.team_barrier();
    Scaling const scaling(largest);
    for (Offset s = tiles(t).segments_begin; s < tiles(t).segments_end; ++s) {
      auto const& of = segments(s);
      Kokkos::parallel_for(Kokkos::TeamThreadRange(member, of.rows * tile_size), [&](int e) {
        if (e % tile_size < of.columns)
          store_planes(tile, num_planes, of.first_row + e / tile_size, of.first_column + e % tile_size,
                       parameter(of, e) * scaling.of_planes());
      });
    }
    Kokkos::single(Kokkos::PerTeam(member), [&] {
      exponents(t) = scaling.shift;
      losses(t) = scaling.is_exact(smallest) ? 0 : lost_by_planes;
    });
  }

 private:
  /// \param e  in rows of tile_size; 0 where the segment has fewer columns
  KOKKOS_FUNCTION float parameter(Segment const& of, int e) const {
    int const row = e / tile_size, column = e % tile_size;
    return column < of.columns ? parameters(of.parameter + Offset{row} * of.stride + column) : 0.0f;
  }
};

}  // namespace hornbill::circuit::detail
