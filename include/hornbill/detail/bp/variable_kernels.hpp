// Kernels on the side of the variables: sums of incoming messages, beliefs, and bringing sums up to date.
#pragma once

#include <algorithm>

#include <hornbill/detail/bp/fields.hpp>
#include <hornbill/detail/bp/policies.hpp>
#include <hornbill/detail/bp/warp.hpp>

namespace hornbill::detail {

/// The rows of a plan, as kernels see them.
template <class MemorySpace>
struct Rows {
  Kokkos::View<bp::SmallRow const*, MemorySpace> small;
  Kokkos::View<bp::Row const*, MemorySpace> medium, large, hubs;
  Index parts;  // large rows that are parts of hubs; they come first

  explicit Rows(bp::Plan<MemorySpace> const& plan)
      : small(plan.small_rows), medium(plan.medium_rows), large(plan.large_rows), hubs(plan.hubs), parts(plan.num_part_sums) {}
};

/// Evidence plus all incoming messages of a row's variable; of a part of a hub, its messages alone.
template <class F>
struct SumRow {
  using Value = typename F::Value;
  F const& f;

  KOKKOS_FUNCTION void small(bp::SmallRow const& row) const {
    Accumulator<Value> sum = f.evidence(row.variable);
    for (int k = 0; k < bp::small_row; ++k)
      if (row.edge[k] >= 0) add_term(sum, f.messages(row.edge[k]));
    store(f.sums(row.variable), sum);
  }
  /// Every `step`th entry from `first` on. Four are loaded at a time: each is two loads in sequence, and all else is waiting.
  KOKKOS_FUNCTION Accumulator<Value> some(bp::Row const& row, Index first, Index step) const {
    constexpr int ahead = 4;
    Accumulator<Value> sum;
    for (Index k = first; k < row.count; k += ahead * step) {
      Index edge[ahead];
      Value message[ahead];
      for (int i = 0; i < ahead; ++i) edge[i] = k + i * step < row.count ? f.graph.variable_edges(row.first + k + i * step) : -1;
      for (int i = 0; i < ahead; ++i) message[i] = edge[i] >= 0 ? f.messages(edge[i]) : Value(0);
      for (int i = 0; i < ahead; ++i) add_term(sum, message[i]);
    }
    return sum;
  }
  KOKKOS_FUNCTION void put(bp::Row const& row, bool part, Accumulator<Value> sum) const {
    if (part) {
      store(f.part_sums(row.target), sum);
    } else {
      add_sum(sum, f.evidence(row.target));
      store(f.sums(row.target), sum);
    }
  }
};

/// Sums of all variables, one thread a row: large rows, then medium, then small ones.
/// Traffic (double): of a small row 16 B, and of each variable 64 B sums; 8 B message (a gather) an edge, and in larger rows
/// 4 B edge id.
template <class F>
struct SumRows {
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Rows<MemorySpace> rows;

  Index size() const { return static_cast<Index>(rows.large.extent(0) + rows.medium.extent(0) + rows.small.extent(0)); }
  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = fields.item(i);
    if (item.fields.stopped()) return;
    SumRow const by{item.fields};
    return sum(by, item.task);
  }

 private:
  template <class By>
  KOKKOS_FUNCTION void sum(By const& by, Index i) const {
    auto const large = static_cast<Index>(rows.large.extent(0)), medium = static_cast<Index>(rows.medium.extent(0));
    if (i >= large + medium) return by.small(rows.small(i - large - medium));
    bp::Row const row = i < large ? rows.large(i) : rows.medium(i - large);
    by.put(row, i < rows.parts, by.some(row, 0, 1));
  }
};

/// The same by warps: a large row a warp, a medium one eight lanes, a small one a lane. Sums on the grid are exact, so their
/// division does not change bits.
template <class F>
struct SumRowsLanes {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Rows<MemorySpace> rows;
  static constexpr int lanes_of_medium = 8, medium_of_warp = bp::warp_size / lanes_of_medium;

  KOKKOS_FUNCTION Index large() const { return static_cast<Index>(rows.large.extent(0)); }
  KOKKOS_FUNCTION Index medium() const { return (static_cast<Index>(rows.medium.extent(0)) + medium_of_warp - 1) / medium_of_warp; }
  KOKKOS_FUNCTION Index small() const { return (static_cast<Index>(rows.small.extent(0)) + bp::warp_size - 1) / bp::warp_size; }
  Index warps() const { return large() + medium() + small(); }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    bool const stopped = fields.stopped();
    Index const warp = static_cast<Index>(member.league_rank()) * member.team_size() + member.team_rank();
    for_each_lane(member, [&](int id) {
      if (warp < large()) return sum_row<bp::warp_size>(rows.large(warp), warp < rows.parts, id, stopped);
      if (Index const w = warp - large(); w < medium()) {
        Index const i = w * medium_of_warp + id / lanes_of_medium;
        bool const valid = i < static_cast<Index>(rows.medium.extent(0));
        return sum_row<lanes_of_medium>(valid ? rows.medium(i) : bp::Row{0, 0, 0}, false, id % lanes_of_medium, stopped || !valid);
      }
      Index const i = (warp - large() - medium()) * bp::warp_size + id;
      if (i < static_cast<Index>(rows.small.extent(0)) && !stopped) SumRow<F>{fields}.small(rows.small(i));
    });
  }

 private:
  template <int lanes>
  KOKKOS_FUNCTION void sum_row(bp::Row const& row, bool part, int id, bool stopped) const {
    SumRow<F> const by{fields};
    Accumulator<Value> sum = by.some(row, id, lanes);
    for (int distance = lanes / 2; distance > 0; distance /= 2) add_sum(sum, from_lane_beside(sum, distance));
    if (id == 0 && !stopped) by.put(row, part, sum);
  }
};

/// Hubs: evidence plus the sums of their parts, one thread a hub or one warp.
template <class F>
struct SumHubs {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  F f;
  Kokkos::View<bp::Row const*, MemorySpace> hubs;

  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = f.item(i);
    if (!item.fields.stopped()) put(item.fields, hubs(item.task), some(item.fields, hubs(item.task), 0, 1));
  }
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    bool const stopped = f.stopped();
    bp::Row const hub = hubs(static_cast<Index>(member.league_rank()));
    for_each_lane(member, [&](int id) {
      Accumulator<Value> sum = some(f, hub, id, bp::warp_size);
      for (int distance = bp::warp_size / 2; distance > 0; distance /= 2) add_sum(sum, from_lane_beside(sum, distance));
      if (id == 0 && !stopped) put(f, hub, sum);
    });
  }

 private:
  template <class Set>
  KOKKOS_FUNCTION Accumulator<Value> some(Set const& set, bp::Row const& hub, Index first, Index step) const {
    Accumulator<Value> sum;
    for (Index k = first; k < hub.count; k += step) add_sum(sum, set.part_sums(hub.first + k));
    return sum;
  }
  template <class Set>
  KOKKOS_FUNCTION void put(Set const& set, bp::Row const& hub, Accumulator<Value> sum) const {
    add_sum(sum, set.evidence(hub.target));
    store(set.sums(hub.target), sum);
  }
};

/// Sums of the states of a variable that is not binary, one thread a variable.
template <class F>
struct SumStates {
  using Value = typename F::Value;
  F all;
  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = all.item(i);
    auto const& f = item.fields;
    Index const v = item.task;
    if (f.stopped()) return;
    auto const& tables = f.graph.tables;
    for (Index s = 0; s < tables.state_offsets(v + 1) - tables.state_offsets(v); ++s) {
      Index const slot = f.num_variables() + tables.state_offsets(v) + s;
      Accumulator<Value> sum = f.evidence(slot);
      for (Index k = f.graph.variable_offsets(v); k < f.graph.variable_offsets(v + 1); ++k)
        add_term(sum, f.messages(f.num_edges() + tables.message_offsets(f.graph.variable_edges(k)) + s));
      store(f.sums(slot), sum);
    }
  }
};

/// P(v = 1) from its sum; reports the variable where it is contradicted.
template <class F>
struct BeliefOf {
  using Value = typename F::Value;
  F const& f;

  /// Returns by how much it has changed.
  KOKKOS_FUNCTION Value update(Index v) const {
    if (!f.is_binary(v)) return update_states(v);
    Accumulator<Value> const sum = f.sums(v);
    if (sum.plus > 0 && sum.minus > 0) f.report_contradiction(v);
    return set(v, probability(log_odds(sum)));
  }
  /// Only where it has changed by more than a threshold, all of several states; returns whether it has.
  KOKKOS_FUNCTION bool update_beyond(Index v, float threshold) const {
    if (!f.is_binary(v)) return update_states(v) > threshold;
    Value const belief = probability(log_odds(f.sums(v)));
    bool const moved = Kokkos::abs(belief - f.beliefs(v)) > threshold;
    if (moved) f.beliefs(v) = belief;
    return moved;
  }

 private:
  static KOKKOS_FUNCTION Value probability(Value l) {
    Value const small = Kokkos::exp(-Kokkos::abs(l));  // 0 for infinite l
    return (l > 0 ? Value(1) : small) / (1 + small);
  }
  KOKKOS_FUNCTION Value set(Index slot, Value belief) const {
    Value const change = Kokkos::abs(belief - f.beliefs(slot));
    f.beliefs(slot) = belief;
    return change;
  }
  KOKKOS_FUNCTION Value update_states(Index v) const {
    auto const& tables = f.graph.tables;
    Index const first = f.num_variables() + tables.state_offsets(v), last = f.num_variables() + tables.state_offsets(v + 1);
    Value highest = -Kokkos::Experimental::infinity_v<Value>, total = 0, largest = 0;
    for (Index slot = first; slot < last; ++slot) highest = Kokkos::fmax(highest, log_odds(f.sums(slot)));
    if (Kokkos::isinf(highest)) {
      f.report_contradiction(v);
      return 0;
    }
    for (Index slot = first; slot < last; ++slot) total += Kokkos::exp(log_odds(f.sums(slot)) - highest);
    for (Index slot = first; slot < last; ++slot) largest = Kokkos::fmax(largest, set(slot, Kokkos::exp(log_odds(f.sums(slot)) - highest) / total));
    f.beliefs(v) = last - first > 1 ? f.beliefs(first + 1) : Value(0);
    return largest;
  }
};

/// Beliefs of all variables and their largest change.
template <class F>
struct Beliefs {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  F f;
  Kokkos::View<Value*, MemorySpace> largest_changes;  // of each warp; of several sets: of each block of variables and set

  KOKKOS_FUNCTION void operator()(Index v, Value& largest) const {
    if (!f.stopped()) largest = Kokkos::fmax(largest, BeliefOf<F>{f}.update(v));
  }
  /// By warps, each of which takes as many variables as it must.
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    if (f.stopped()) return;
    Index const warp = static_cast<Index>(member.league_rank()) * member.team_size() + member.team_rank();
    Index const step = static_cast<Index>(member.league_size()) * member.team_size() * bp::warp_size;
    for_each_lane(member, [&](int id) {
      Value largest = 0;
      for (Index v = warp * bp::warp_size + id; v < f.num_variables(); v += step) largest = Kokkos::fmax(largest, BeliefOf<F>{f}.update(v));
      for (int distance = bp::warp_size / 2; distance > 0; distance /= 2) largest = Kokkos::fmax(largest, from_lane_beside(largest, distance));
      if (id == 0) largest_changes(warp) = largest;
    });
  }
};

/// The same of several evidence sets: a block of variables of a set a thread.
template <class F>
struct BeliefsOfSets {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  F f;
  Kokkos::View<Value*, MemorySpace> largest_changes;  // [blocks * sets]
  Index blocks;

  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = f.item(i);
    if (item.fields.stopped()) return;
    Value largest = 0;
    for (Index v = item.task; v < item.fields.num_variables(); v += blocks) largest = Kokkos::fmax(largest, BeliefOf<decltype(f.of_set(0))>{item.fields}.update(v));
    largest_changes(i) = largest;
  }
};

/// Second phase of a batch for one edge: the pending message takes its place, the variable's sum is brought up to date.
template <class F>
KOKKOS_FUNCTION void commit_pending(F const& f, Index edge) {
  Index const v = f.graph.factor_variables(edge);
  if (f.is_binary(v)) return commit_message(f, edge, v, f.messages(edge), f.pending(edge));
  auto const& tables = f.graph.tables;
  for (Index s = 0; s < tables.cardinality(v); ++s) {
    Index const at = f.num_edges() + tables.message_offsets(edge) + s;
    commit_message(f, at, f.num_variables() + tables.state_offsets(v) + s, f.messages(at), f.pending(at));
  }
}
template <class F>
KOKKOS_FUNCTION void commit_lane(F const& f, bp::Lane const& lane) {
  if (lane.is(bp::Lane::wanted)) commit_message(f, lane.edge, lane.variable, f.messages(lane.edge), f.pending(lane.edge));
}

/// Second phase of a large batch, one thread an edge.
template <class F>
struct CommitPending {
  using MemorySpace = typename F::MemorySpace;
  F f;
  Kokkos::View<Index const*, MemorySpace> edges;
  Index first = 0;
  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = f.item(i);
    if (!item.fields.stopped()) commit_pending(item.fields, edges(first + item.task));
  }
};

/// The same of a batch of lanes.
template <class F>
struct CommitLanes {
  using MemorySpace = typename F::MemorySpace;
  F f;
  Kokkos::View<bp::Lane const*, MemorySpace> lanes;
  KOKKOS_FUNCTION void operator()(Index i) const {
    if (!f.stopped()) commit_lane(f, lanes(i));
  }
};

/// Variable-to-factor messages of a subset of edges, as log-odds (binary variables): for those who want to see them. The
/// factor kernels form them on the way, from the same sums.
template <class F>
struct VariableToFactor {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  F f;
  Kokkos::View<Index const*, MemorySpace> edges;
  Kokkos::View<Value*, MemorySpace> out;  // [edges]
  KOKKOS_FUNCTION void operator()(Index i) const { out(i) = f.variable_to_factor(edges(i)); }
};

/// Forgets certainty that no longer follows from the evidence; finite messages stay for a warm start.
template <class Value, class MemorySpace>
struct ForgetCertainty {
  Kokkos::View<Value*, MemorySpace> messages;
  KOKKOS_FUNCTION void operator()(Index i) const {
    if (Kokkos::isinf(messages(i))) messages(i) = 0;
  }
};

/// Evidence plus all incoming messages, for all variables.
template <class Launcher, class F>
void form_sums(Launcher& launcher, F const& f, bp::Plan<typename F::MemorySpace> const& plan) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  Rows<typename F::MemorySpace> const rows(plan);
  if constexpr (uses_lanes<ExecutionSpace, F>) {
    constexpr int warps = tuning.team_size / bp::warp_size;
    SumRowsLanes<F> const kernel{f, rows};
    launcher.parallel_for("hornbill::bp::sum_rows",
                          BoundedTeams<ExecutionSpace, tuning.team_size>(launcher.exec, (kernel.warps() + warps - 1) / warps, warps, bp::warp_size), kernel);
  } else {
    SumRows<F> const kernel{f, rows};
    launcher.parallel_for("hornbill::bp::sum_rows", items<ExecutionSpace>(launcher.exec, f, kernel.size()), kernel);
  }
  auto const hubs = static_cast<Index>(rows.hubs.extent(0));
  if (hubs > 0) {
    SumHubs<F> const kernel{f, rows.hubs};
    if constexpr (uses_lanes<ExecutionSpace, F>)
      launcher.parallel_for("hornbill::bp::sum_hubs", BoundedTeams<ExecutionSpace, tuning.team_size>(launcher.exec, hubs, 1, bp::warp_size), kernel);
    else
      launcher.parallel_for("hornbill::bp::sum_hubs", items<ExecutionSpace>(launcher.exec, f, hubs), kernel);
  }
  if (f.graph.tables.num_states > 0)
    launcher.parallel_for("hornbill::bp::sum_states", items<ExecutionSpace>(launcher.exec, f, static_cast<Index>(f.graph.num_variables())), SumStates<F>{f});
}

/// Beliefs from sums, and the largest changes: of each warp where lanes are used, of each block and set where there are several
/// sets, otherwise of all, in entry 0.
template <class Launcher, class F>
void form_beliefs(Launcher& launcher, F const& f, Kokkos::View<typename F::Value*, typename F::MemorySpace> const& largest_changes) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  using Value = typename F::Value;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value;
  auto const entries = static_cast<Index>(largest_changes.extent(0) / 2), variables = static_cast<Index>(f.graph.num_variables());
  if constexpr (F::many) {
    Index const blocks = entries / f.sets;
    launcher.parallel_for("hornbill::bp::beliefs", items<ExecutionSpace>(launcher.exec, f, blocks), BeliefsOfSets<F>{f, largest_changes, blocks});
  } else if constexpr (tuning.lanes) {
    constexpr int warps = tuning.team_size / bp::warp_size;
    Index const teams = std::min<Index>((variables + tuning.team_size - 1) / tuning.team_size, entries / warps);
    launcher.parallel_for("hornbill::bp::beliefs", BoundedTeams<ExecutionSpace, tuning.team_size>(launcher.exec, teams, warps, bp::warp_size),
                          Beliefs<F>{f, largest_changes});
  } else {
    Kokkos::View<Value, typename F::MemorySpace> const largest = Kokkos::subview(largest_changes, 0);
    launcher.parallel_reduce("hornbill::bp::beliefs", Range<ExecutionSpace>(launcher.exec, 0, variables), Beliefs<F>{f, largest_changes},
                             Kokkos::Max<Value, typename F::MemorySpace>(largest));
  }
}

}  // namespace hornbill::detail
