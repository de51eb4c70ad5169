// Flows by matrix units: shares of sums' flows as planes, and what terms get.
#pragma once

#include <hornbill/circuit/detail/dense_sums.hpp>
#include <hornbill/circuit/detail/flow_rows.hpp>
#include <hornbill/circuit/detail/term_flows.hpp>

namespace hornbill::circuit::detail {

/// Flows of sums divided by their values, as columns. A team has a sum tile.
template <class MemorySpace>
struct FormShares {
  struct Scratch {
    TileBuffer<float> shares;
    Extremes<float> extremes;
  };
  Kokkos::View<Tile const*, MemorySpace> tiles;
  Kokkos::View<Index const*, MemorySpace> sum_tiles;
  TileValues<float, MemorySpace> values;
  FlowRows<float, MemorySpace> flows;
  /// Without them flows are divided, and stay so; with them that is done, and shares of samples that are known are
  /// multiplied by them.
  Kokkos::View<float const*, MemorySpace> weights;
  Columns<MemorySpace> out;
  Offset num_samples = 0;
  Index begin = 0;  ///< of tiles, in sum_tiles

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member, Index column, Offset first) const {
    auto& scratch = *scratch_of<Scratch>(member);
    Index const t = sum_tiles(begin + column);
    auto const tile = tiles(t);
    for_each_part(member, first, [&](TilePart const& part) {
      TileSummary<float> summary;
      PartValues<float> shares(part, tile.size);
      for (float& share : shares.values) share = 0;
      if (part.sample < num_samples) load(tile, part, shares);
      for (Index i = 0; i < TileTeam::rows_of_part; ++i) {
        float const share = shares.is_there(i) ? shares.values[i] : 0.0f;
        scratch.shares.at(part, part.first_row() + i) = share;
        summary.add(share);
      }
      scratch.extremes.set(part, summary);
    });
    for_each_part(member, first, [&](TilePart const& part) {
      float const largest = scratch.extremes.of(part.lane).largest;
      Scaling const scaling(largest);
      std::uint16_t* const planes = tile_of(out, column, part.sample);
      if (weights.extent(0) == 0 && part.sample < num_samples && has_lost(tile, part, scaling, scratch.shares))
        flows.give_up(part.sample);
      for (Index i = part.first_row(); i < part.first_row() + TileTeam::rows_of_part; ++i)
        store_planes(planes, out.num_planes, i, static_cast<Index>(part.sample % tile_size),
                     scratch.shares.at(part, i) * scaling.of_planes());
      if (part.group != 0) return;
      Exponent const exponent = part.sample < num_samples ? values.exponent(t, part.sample) : no_exponent;
      bool const is_nothing = exponent == no_exponent || largest == 0;
      out.exponents(column * out.stride + part.sample) = is_nothing ? no_exponent : scaling.shift - exponent;
    });
  }

 private:
  /// Whether a share is so small beside the largest, and the flow so large, that planes lose more than 2^-22 of it.
  KOKKOS_FUNCTION bool has_lost(Tile const& tile, TilePart const& part, Scaling const& scaling,
                                TileBuffer<float>& shares) const {
    float const unit = power_of_two<float>(-scaling.shift);
    for (Index i = part.first_row(); i < part.end_row(tile.size); ++i) {
      float const share = shares.at(part, i), relative = share * unit;
      if (share == 0 || relative >= least_exact) continue;
      if (relative < share * values.value(tile.row + i, part.sample) * least_exact) return true;
    }
    return false;
  }

  KOKKOS_FUNCTION void load(Tile const& tile, TilePart const& part, PartValues<float>& shares) const {
    Offset const sample = part.sample;
    shares.for_each([&](float& share, Index i) { share = flows.flow(tile.row + i, sample); });
    if (weights.extent(0) > 0) {
      float const weight = flows.is_known(sample) == 1 ? weights(sample) : 0.0f;
      for (float& share : shares.values) share = weight > 0 ? share * weight : 0.0f;
      return;
    }
    PartValues<float> of_sums(part, tile.size);
    of_sums.for_each([&](float& value, Index i) { value = values.value(tile.row + i, sample); });
    for (Index i = 0; i < TileTeam::rows_of_part; ++i)
      shares.values[i] = share_of(flows, shares.values[i], of_sums.values[i], sample);
    shares.for_each_there([&](float share, Index i) { flows.flow(tile.row + i, sample) = share; });
  }
};

/// Flows of terms from sums of shares. A team has a term.
template <class MemorySpace>
struct FinishTermFlows {
  struct Scratch {
    float sums[TileTeam::parts];
  };
  TermFlows<float, MemorySpace> of;
  Kokkos::View<float const*, MemorySpace> sums;          ///< [outputs, 64, stride]
  Kokkos::View<Exponent const*, MemorySpace> exponents;  ///< [outputs, stride]

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member, Index output, Offset first) const {
    auto& scratch = *scratch_of<Scratch>(member);
    Index const t = of.terms(of.begin + output);
    auto const& term = of.in.terms(t);
    for_each_part(member, first, [&](TilePart const& part) {
      float sum = 0;
      if (part.sample < of.num_samples) sum = add_rows(t, term, output, part);
      scratch.sums[part.place()] = sum;
    });
    for_each_part(member, first, [&](TilePart const& part) {
      if (part.group == 0 && part.sample < of.num_samples) store_sum(term, part, scratch);
    });
  }

 private:
  static constexpr Exponent largest_exponent = 100;  ///< of largest_share

  KOKKOS_FUNCTION double scale_of(Term const& term, Index output, Offset sample) const {
    Exponent const of_term = of.in.exponent_of_term(term, sample),
                   of_sums = exponents(output * of.in.values.stride + sample);
    if (of_term == no_exponent || of_sums <= no_exponent / 2) return 0;
    if (of_term + of_sums <= largest_exponent) return power_of_two<double>(of_term + of_sums);
    of.flows.give_up(sample);
    return 0;
  }

  /// Flows of some values.   \return their sum
  KOKKOS_FUNCTION float add_rows(Index t, Term const& term, Index output, TilePart const& part) const {
    double const scale = scale_of(term, output, part.sample);
    PartValues<double> parts(part, term.size);
    parts.for_each([&](double& value, Index i) {
      value = scale * static_cast<double>(sums((Offset{output} * tile_size + i) * of.in.values.stride + part.sample));
    });
    for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
      auto const factor = of.in.factors(f);
      parts.for_each([&](double& value, Index i) {
        value *= static_cast<double>(of.in.values.value(factor.row + i * factor.step, part.sample));
      });
    }
    float sum = 0;
    PartValues<float> flows(part, term.size);
    for (Index i = 0; i < TileTeam::rows_of_part; ++i) {
      bool const is_held = parts.values[i] <= static_cast<double>(largest_share<float>);
      if (!is_held) of.flows.give_up(part.sample);
      flows.values[i] = is_held ? static_cast<float>(parts.values[i]) : 0.0f;
      if (flows.is_there(i)) sum += flows.values[i];
    }
    store(t, term, part.sample, flows);
    return sum;
  }

  KOKKOS_FUNCTION void store(Index t, Term const& term, Offset sample, PartValues<float> const& flows) const {
    if (Index const own = of.own_rows(t); own >= 0)
      flows.for_each_there([&](float flow, Index i) { of.flows.own(own + i, sample) = flow; });
    for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
      auto const factor = of.in.factors(f);
      if (of.writes(f) == 0 || factor.step == 0) continue;
      flows.for_each_there([&](float flow, Index i) { of.flows.flow(factor.row + i * factor.step, sample) = flow; });
    }
  }

  /// Of factors that all values of the term have in common.
  KOKKOS_FUNCTION void store_sum(Term const& term, TilePart const& part, Scratch const& scratch) const {
    for (Offset f = term.factors_begin; f < term.factors_end; ++f) {
      if (!of.writes(f) || of.in.factors(f).step != 0) continue;
      float sum = 0;
      for (int p = part.lane; p < TileTeam::parts; p += TileTeam::samples) sum += scratch.sums[p];
      of.flows.flow(of.in.factors(f).row, part.sample) = sum;
    }
  }
};

}  // namespace hornbill::circuit::detail
