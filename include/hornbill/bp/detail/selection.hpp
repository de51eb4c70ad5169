// Residual belief propagation: which of the messages that were computed take their place.
#pragma once

#include <algorithm>
#include <cstdint>

#include <hornbill/bp/detail/fields.hpp>
#include <hornbill/bp/detail/policies.hpp>

namespace hornbill::bp::detail {

/// Residuals in bins of their leading bits: four a factor of two, from 2^-127 to 1.
KOKKOS_INLINE_FUNCTION Index bin_of(float residual) {
  return Kokkos::min(num_bins - 1, static_cast<Index>(Kokkos::bit_cast<std::uint32_t>(residual) >> 21));
}

/// A number in [0, 1) for each edge and round, that depends on nothing else.   Source: SplitMix64's finaliser (Steele
/// et al. 2014)
KOKKOS_INLINE_FUNCTION float random_number(std::uint64_t seed, std::uint32_t round, Index edge) {
  std::uint64_t x =
      seed + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(round) << 32 | static_cast<std::uint32_t>(edge));
  x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9u;
  x = (x ^ (x >> 27)) * 0x94d049bb133111ebu;
  return static_cast<float>((x ^ (x >> 31)) >> 40) * 0x1p-24f;
}

/// |s(b) - s(a)| for s(l) = 1/(1 + exp(-l)), without cancellation: s(high) s(-low) (1 - exp(low - high)).
template <class Value>
KOKKOS_INLINE_FUNCTION float change_of_probability(Value a, Value b) {
  if (a == b) return 0.f;
  auto const low = static_cast<float>(Kokkos::fmin(a, b)), high = static_cast<float>(Kokkos::fmax(a, b));
  auto const apart = static_cast<float>(Kokkos::abs(b - a));
  return -Kokkos::expm1(-apart) / ((1.f + Kokkos::exp(-high)) * (1.f + Kokkos::exp(low)));
}

/// Calls entry(at, slot) for the entries of an edge's message, and the slots they are terms of: one, or one for each
/// state where there are not two.
template <class F, class Entry>
KOKKOS_INLINE_FUNCTION void for_each_entry(F const& f, Index edge, Entry const& entry) {
  Index const v = f.graph.factor_variables(edge);
  if (f.is_binary(v)) return entry(edge, v);
  auto const& tables = f.graph.tables;
  for (Index s = 0; s < tables.cardinality(v); ++s)
    entry(f.num_edges() + tables.message_offsets(edge) + s, f.num_variables() + tables.state_offsets(v) + s);
}

/// By how much a pending message would change its own probability, or that of its variable: messages near certainty
/// change by much in log-odds and by nothing in probability, and it is the others at the variable that tell whether
/// that matters.
template <class Value, class MemorySpace>
KOKKOS_INLINE_FUNCTION float residual_of_entry(Fields<Value, MemorySpace> const& f, Index at, Index slot) {
  Value const before = f.messages(at), after = f.pending(at);
  if (before == after) return 0.f;
  Accumulator<Value> const sum = f.sums(slot);
  Value const others = log_odds_without(sum, before);
  float const own = change_of_probability(before, after);
  return Kokkos::isinf(others) ? own : Kokkos::fmax(own, change_of_probability(others + before, others + after));
}

/// The largest residual of an edge's entries.
template <class Value, class MemorySpace>
KOKKOS_INLINE_FUNCTION float residual_of(Fields<Value, MemorySpace> const& f,
                                         Kokkos::View<float*, MemorySpace> const& residuals, Index edge) {
  float largest = 0;
  for_each_entry(f, edge, [&](Index at, Index) { largest = Kokkos::fmax(largest, residuals(at)); });
  return largest;
}

/// Measures residuals, and counts by bin the edges whose message would change, be it so little that its residual is 0.
template <class Value, class MemorySpace>
struct MeasureResiduals {
  Fields<Value, MemorySpace> f;
  Kokkos::View<float*, MemorySpace> residuals;
  Kokkos::View<Index*, MemorySpace> counts;  // [num_bins]
  KOKKOS_FUNCTION void operator()(Index edge) const {
    if (f.stopped()) return;
    bool changes = false;
    for_each_entry(f, edge, [&](Index at, Index slot) {
      residuals(at) = residual_of_entry(f, at, slot);
      changes = changes || f.pending(at) != f.messages(at);
    });
    if (changes) Kokkos::atomic_inc(&counts(bin_of(residual_of(f, residuals, edge))));
  }
};

/// The highest bin from which on there is a share of what was counted. Clears the counts for the next round. One team.
template <class Value, class MemorySpace>
struct ChooseThreshold {
  Kokkos::View<Index*, MemorySpace> counts;
  Kokkos::View<Selection, MemorySpace> selection;
  Kokkos::View<Control<Value> const*, MemorySpace> controls;
  double share;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    if (controls(0).stopped) return;
    auto const bins = Kokkos::TeamThreadRange(member, num_bins);
    Index all = 0, bins_taken = 0;  // edges, of which there are no more than an Index holds
    Kokkos::parallel_reduce(
        bins, [&](Index b, Index& sum) { sum += counts(b); }, all);
    double const wanted = share * static_cast<double>(all);
    Kokkos::parallel_scan(bins, [&](Index i, Index& above, bool last) {
      auto& count = counts(num_bins - 1 - i);
      Index const here = count;
      // whether the bin is among those from the highest down to the threshold
      if (last) count = static_cast<double>(above) < wanted;
      above += here;
    });
    member.team_barrier();
    Kokkos::parallel_reduce(
        bins, [&](Index b, Index& sum) { sum += counts(b); }, bins_taken);
    member.team_barrier();
    Kokkos::parallel_for(bins, [&](Index b) { counts(b) = 0; });
    Kokkos::single(Kokkos::PerTeam(member), [&] {
      selection().threshold = num_bins - bins_taken;
      ++selection().round;
    });
  }
};

/// Selected messages take their place; only these are damped.
template <class Value, class MemorySpace>
struct CommitSelected {
  Fields<Value, MemorySpace> f;
  Kokkos::View<float*, MemorySpace> residuals;
  Kokkos::View<Selection const, MemorySpace> selection;
  bp::Residual how;

  KOKKOS_FUNCTION void operator()(Index edge) const {
    if (f.stopped() || !is_selected(edge)) return;
    for_each_entry(f, edge, [&](Index at, Index) { f.messages(at) = f.damped(f.messages(at), f.pending(at)); });
  }

 private:
  KOKKOS_FUNCTION bool is_selected(Index edge) const {
    if (how.randomised) return random_number(how.seed, selection().round, edge) < static_cast<float>(how.share);
    return bin_of(residual_of(f, residuals, edge)) >= selection().threshold;
  }
};

/// The fields with which a round's messages are computed: they wait as they are.
template <class Value, class MemorySpace>
Fields<Value, MemorySpace> undamped(Fields<Value, MemorySpace> f) {
  f.damps = false;
  return f;
}

/// One round, once the new messages are pending.
template <class Launcher, class Value, class MemorySpace>
void commit_selected(Launcher& launcher, Fields<Value, MemorySpace> const& f, bp::State<Value, MemorySpace> const& s,
                     bp::Residual const& how) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  Index const edges = f.num_edges();
  launcher.parallel_for("hornbill::bp::measure_residuals", Range<ExecutionSpace>(launcher.exec, 0, edges),
                        MeasureResiduals<Value, MemorySpace>{f, s.residuals, s.residual_counts});
  constexpr int team = std::min(backend::TuningOf<ExecutionSpace>::value.bp.stretch_team_size, num_bins);
  launcher.parallel_for("hornbill::bp::choose_threshold", BoundedTeams<ExecutionSpace, team>(launcher.exec, 1, team),
                        ChooseThreshold<Value, MemorySpace>{s.residual_counts, s.selection, f.controls, how.share});
  launcher.parallel_for("hornbill::bp::commit_selected", Range<ExecutionSpace>(launcher.exec, 0, edges),
                        CommitSelected<Value, MemorySpace>{f, s.residuals, s.selection, how});
}

}  // namespace hornbill::bp::detail
