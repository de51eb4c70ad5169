// Kernels on the side of the variables: sums of incoming messages, beliefs, and bringing sums up to date.
#pragma once

#include <algorithm>

#include <hornbill/bp/detail/fields.hpp>
#include <hornbill/bp/detail/policies.hpp>
#include <hornbill/bp/detail/warp.hpp>

namespace hornbill::bp::detail {

/// The rows of a plan, as kernels see them.
template <class MemorySpace>
struct Rows {
  Kokkos::View<bp::SmallRow const*, MemorySpace> small;
  Kokkos::View<bp::Row const*, MemorySpace> medium, large, longest, hubs;
  Index parts;  // longest rows that are parts of hubs; they come first

  explicit Rows(bp::Plan<MemorySpace> const& plan)
      : small(plan.small_rows),
        medium(plan.medium_rows),
        large(plan.large_rows),
        longest(plan.long_rows),
        hubs(plan.hubs),
        parts(plan.num_part_sums) {}
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
  /// Every `step`th entry from `first` on. Four are loaded at a time: each is two loads in sequence, and all else is
  /// waiting.
  KOKKOS_FUNCTION Accumulator<Value> some(bp::Row const& row, Index first, Index step) const {
    constexpr int ahead = 4;
    Accumulator<Value> sum;
    for (Index k = first; k < row.count; k += ahead * step) {
      Index edge[ahead];
      Value message[ahead];
      for (int i = 0; i < ahead; ++i)
        edge[i] = k + i * step < row.count ? f.graph.variable_edges(row.first + k + i * step) : -1;
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
template <class F>
SumRow(F const&) -> SumRow<F>;  // for compilers that cannot deduce it of an aggregate

/// Sums of all variables, one thread a row: the longest first.
/// Traffic (double): of a small row 16 B, and of each variable 64 B sums; 8 B message (a gather) an edge, and in larger
/// rows 4 B edge id.
template <class F>
struct SumRows {
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Rows<MemorySpace> rows;

  Index size() const {
    return static_cast<Index>(rows.longest.extent(0) + rows.large.extent(0) + rows.medium.extent(0) +
                              rows.small.extent(0));
  }
  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = fields.item(i);
    if (item.fields.stopped()) return;
    SumRow const by{item.fields};
    return sum(by, item.task);
  }

 private:
  template <class By>
  KOKKOS_FUNCTION void sum(By const& by, Index i) const {
    Index const part = i;
    for (auto const* list : {&rows.longest, &rows.large, &rows.medium}) {
      auto const count = static_cast<Index>(list->extent(0));
      if (i < count) return by.put((*list)(i), part < rows.parts, by.some((*list)(i), 0, 1));
      i -= count;
    }
    by.small(rows.small(i));
  }
};

/// Over `lanes` lanes that lie `apart` from each other.
template <int lanes, class Value>
KOKKOS_FUNCTION Accumulator<Value> sum_of_lanes(Accumulator<Value> sum, int apart = 1) {
  for (int distance = lanes / 2; distance > 0; distance /= 2) add_sum(sum, from_lane_beside(sum, distance * apart));
  return sum;
}

/// How a warp is divided where rows are summed by lanes: of several evidence sets it takes some at once, which lie side
/// by side, with fewer lanes for each. Sums on the grid are exact, so their division does not change bits.
template <class F>
struct LanesOfRow {
  static constexpr Index sets_at_once = F::many ? 4 : 1;
  static constexpr int count = bp::warp_size / sets_at_once;

  static KOKKOS_FUNCTION Index groups(F const& fields) { return (fields.sets + sets_at_once - 1) / sets_at_once; }
};

template <class Value, class ExecutionSpace>
using SumsOfWarps =
    Kokkos::View<Accumulator<Value>*, typename ExecutionSpace::scratch_memory_space, Kokkos::MemoryUnmanaged>;

/// A long row of some evidence sets, by all lanes of a team. of_warps: [warps of the team *
/// LanesOfRow<F>::sets_at_once]
template <class Member, class F, class Scratch>
KOKKOS_FUNCTION void sum_long_row(Member const& member, F const& fields, bp::Row const& row, bool part, Index group,
                                  int id, Scratch const& of_warps) {
  using Lanes = LanesOfRow<F>;
  constexpr Index at_once = Lanes::sets_at_once;
  int const lane = id / at_once, rank = member.team_rank(), warps = static_cast<int>(of_warps.extent(0)) / at_once;
  Index const set = group * at_once + id % at_once;
  auto const& f = fields.of_set(Kokkos::min(set, fields.sets - 1));
  bool const stopped = f.stopped();  // asked ahead, to wait for all together
  SumRow const by{f};
  auto sum = sum_of_lanes<Lanes::count>(by.some(row, rank * Lanes::count + lane, warps * Lanes::count), at_once);
  if (lane == 0) of_warps(rank * at_once + id) = sum;
  member.team_barrier();
  if (rank > 0) return;
  sum = {};
  for (int w = lane; w < warps; w += Lanes::count) add_sum(sum, of_warps(w * at_once + id % at_once));
  sum = sum_of_lanes<Lanes::count>(sum, at_once);
  if (lane == 0 && set < fields.sets && !stopped) by.put(row, part, sum);
}

/// The same by teams and warps: first long rows, a team each; then a large row a warp; a medium one, of one evidence
/// set, eight lanes, of several sets a thread each; and so the small ones. All in one kernel: in a recorded graph to
/// fork costs more than it saves.
template <class F>
struct SumRowsLanes {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  using Lanes = LanesOfRow<F>;
  F fields;
  Rows<MemorySpace> rows;
  int warps_of_team;
  static constexpr int lanes_of_medium = F::many ? 1 : 8, medium_of_warp = bp::warp_size / lanes_of_medium;

  template <class ExecutionSpace>
  std::size_t scratch_bytes() const {
    return SumsOfWarps<Value, ExecutionSpace>::shmem_size(warps_of_team * Lanes::sets_at_once);
  }
  Index teams() const { return longest() + (large() + medium() + small() + warps_of_team - 1) / warps_of_team; }

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const team = static_cast<Index>(member.league_rank());
    if (team < longest()) {
      SumsOfWarps<Value, typename Member::execution_space> const of_warps(member.team_scratch(0),
                                                                          warps_of_team * Lanes::sets_at_once);
      Index const i = team / Lanes::groups(fields);
      return for_each_lane(member, [&](int id) {
        sum_long_row(member, fields, rows.longest(i), i < rows.parts, team % Lanes::groups(fields), id, of_warps);
      });
    }
    Index const warp = (team - longest()) * warps_of_team + member.team_rank();
    for_each_lane(member, [&](int id) { sum(warp, id); });
  }

 private:
  /// Teams, and warps, that the rows of a kind take.
  KOKKOS_FUNCTION Index longest() const { return static_cast<Index>(rows.longest.extent(0)) * Lanes::groups(fields); }
  KOKKOS_FUNCTION Index large() const { return static_cast<Index>(rows.large.extent(0)) * Lanes::groups(fields); }
  KOKKOS_FUNCTION Index medium() const {
    return (static_cast<Index>(rows.medium.extent(0)) * fields.sets + medium_of_warp - 1) / medium_of_warp;
  }
  KOKKOS_FUNCTION Index small() const {
    return (static_cast<Index>(rows.small.extent(0)) * fields.sets + bp::warp_size - 1) / bp::warp_size;
  }

  KOKKOS_FUNCTION void sum(Index warp, int id) const {
    if (warp < large()) return sum_large(rows.large(warp / Lanes::groups(fields)), warp % Lanes::groups(fields), id);
    if (Index const w = warp - large(); w < medium())
      return sum_medium(w * medium_of_warp + id / lanes_of_medium, id % lanes_of_medium);
    Index const i = (warp - large() - medium()) * bp::warp_size + id;
    if (i >= static_cast<Index>(rows.small.extent(0)) * fields.sets) return;
    auto const item = fields.item(i);
    if (!item.fields.stopped()) SumRow{item.fields}.small(rows.small(item.task));
  }
  KOKKOS_FUNCTION void sum_large(bp::Row const& row, Index group, int id) const {
    Index const set = group * Lanes::sets_at_once + id % Lanes::sets_at_once;
    auto const& f = fields.of_set(Kokkos::min(set, fields.sets - 1));
    bool const stopped = f.stopped();
    SumRow const by{f};
    auto const sum =
        sum_of_lanes<Lanes::count>(by.some(row, id / Lanes::sets_at_once, Lanes::count), Lanes::sets_at_once);
    if (id < Lanes::sets_at_once && set < fields.sets && !stopped) by.put(row, false, sum);
  }
  KOKKOS_FUNCTION void sum_medium(Index i, int lane) const {
    bool const valid = i < static_cast<Index>(rows.medium.extent(0)) * fields.sets;
    auto const item = fields.item(valid ? i : 0);
    bool const stopped = item.fields.stopped();
    SumRow const by{item.fields};
    bp::Row const row = valid ? rows.medium(item.task) : bp::Row{0, 0, 0};
    auto sum = by.some(row, lane, lanes_of_medium);
    if constexpr (!F::many) sum = sum_of_lanes<lanes_of_medium>(sum);
    if (lane == 0 && valid && !stopped) by.put(row, false, sum);
  }
};

/// Hubs: evidence plus the sums of their parts, one thread a hub or one warp.
template <class F>
struct SumHubs {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  F fields;
  Kokkos::View<bp::Row const*, MemorySpace> hubs;

  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = fields.item(i);
    if (!item.fields.stopped()) put(item.fields, hubs(item.task), some(item.fields, hubs(item.task), 0, 1));
  }
  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    auto const item = fields.item(static_cast<Index>(member.league_rank()));
    bool const stopped = item.fields.stopped();
    bp::Row const hub = hubs(item.task);
    for_each_lane(member, [&](int id) {
      auto const sum = sum_of_lanes<bp::warp_size>(some(item.fields, hub, id, bp::warp_size));
      if (id == 0 && !stopped) put(item.fields, hub, sum);
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

  /// Of every `step`th variable from `first` on. Returns by how much one has changed at most. Sums and beliefs of some
  /// are read ahead, to wait for all together.
  template <int ahead>
  KOKKOS_FUNCTION Value update_all(Offset first, Offset step) const {
    Value largest = 0;
    for (Offset v = first; v < f.num_variables(); v += ahead * step) {
      Accumulator<Value> sum[ahead];
      Value before[ahead];
      for (int i = 0; i < ahead; ++i)
        if (Offset const u = v + i * step; u < f.num_variables()) {
          sum[i] = f.sums(static_cast<Index>(u));
          before[i] = f.beliefs(static_cast<Index>(u));
        }
      for (int i = 0; i < ahead; ++i)
        if (Offset const u = v + i * step; u < f.num_variables())
          largest = Kokkos::fmax(largest, update(static_cast<Index>(u), sum[i], before[i]));
    }
    return largest;
  }
  KOKKOS_FUNCTION Value update(Index v) const { return update(v, f.sums(v), f.beliefs(v)); }
  /// Only where it has changed by more than a threshold, all of several states; returns whether it has.
  KOKKOS_FUNCTION bool update_beyond(Index v, float threshold) const {
    if (!f.is_binary(v)) return update_states(v) > threshold;
    Value const belief = probability(log_odds(f.sums(v)));
    bool const moved = Kokkos::abs(belief - f.beliefs(v)) > threshold;
    if (moved) f.beliefs(v) = belief;
    return moved;
  }

 private:
  KOKKOS_FORCEINLINE_FUNCTION Value update(Index v, Accumulator<Value> sum, Value before) const {
    if (!f.is_binary(v)) return update_states(v);
    if (sum.plus > 0 && sum.minus > 0) f.report_contradiction(v);
    return set(v, before, probability(log_odds(sum)));
  }
  KOKKOS_FUNCTION Value set(Index slot, Value before, Value belief) const {
    f.beliefs(slot) = belief;
    return Kokkos::abs(belief - before);
  }
  [[gnu::noinline]] KOKKOS_FUNCTION Value update_states(Index v) const {
    auto const& tables = f.graph.tables;
    Index const first = f.num_variables() + tables.state_offsets(v),
                last = f.num_variables() + tables.state_offsets(v + 1);
    Value highest = -Kokkos::Experimental::infinity_v<Value>, total = 0, largest = 0;
    for (Index slot = first; slot < last; ++slot) highest = Kokkos::fmax(highest, log_odds(f.sums(slot)));
    if (Kokkos::isinf(highest)) {
      f.report_contradiction(v);
      return 0;
    }
    for (Index slot = first; slot < last; ++slot) total += Kokkos::exp(log_odds(f.sums(slot)) - highest);
    for (Index slot = first; slot < last; ++slot)
      largest =
          Kokkos::fmax(largest, set(slot, f.beliefs(slot), Kokkos::exp(log_odds(f.sums(slot)) - highest) / total));
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
  Kokkos::View<Value*, MemorySpace> largest_changes;  // of each warp

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
      Value largest = BeliefOf<F>{f}.template update_all<2>(warp * bp::warp_size + id, step);
      for (int distance = bp::warp_size / 2; distance > 0; distance /= 2)
        largest = Kokkos::fmax(largest, from_lane_beside(largest, distance));
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
    largest_changes(i) = BeliefOf<decltype(f.of_set(0))>{item.fields}.template update_all<4>(item.task, blocks);
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
  if (lane.is(bp::Lane::wanted))
    commit_message(f, lane.edge, lane.variable, f.messages(lane.edge), f.pending(lane.edge));
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
  Index first;
  KOKKOS_FUNCTION void operator()(Index i) const {
    auto const item = f.item(i);
    if (!item.fields.stopped()) commit_lane(item.fields, lanes(first + item.task));
  }
};

/// Variable-to-factor messages of a subset of edges, as log-odds (binary variables): for those who want to see them.
/// The factor kernels form them on the way, from the same sums.
template <class F>
struct VariableToFactor {
  using Value = typename F::Value;
  F f;
  Kokkos::View<Value*, typename F::MemorySpace> out;  // [num_messages]
  KOKKOS_FUNCTION void operator()(Index e) const {
    Index const v = f.graph.factor_variables(e);
    if (f.is_binary(v)) {
      out(e) = f.variable_to_factor(e);
      return;
    }
    auto const& tables = f.graph.tables;
    Index const slots = f.num_variables() + tables.state_offsets(v),
                entries = f.num_edges() + tables.message_offsets(e);
    for (Index s = 0; s < tables.cardinality(v); ++s)
      out(entries + s) = log_odds_without(f.sums(slots + s), f.messages(entries + s));
  }
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
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value.bp;
  Rows<typename F::MemorySpace> const rows(plan);
  auto const hubs = static_cast<Index>(rows.hubs.extent(0)) * f.sets;
  if constexpr (tuning.lanes) {
    using Teams = BoundedTeams<ExecutionSpace, tuning.team_size, tuning.teams_at_once>;
    constexpr int warps = tuning.team_size / bp::warp_size;
    SumRowsLanes<F> const kernel{f, rows, warps};
    auto const scratch = Kokkos::PerTeam(kernel.template scratch_bytes<ExecutionSpace>());
    launcher.parallel_for("hornbill::bp::sum_rows",
                          Teams(launcher.exec, kernel.teams(), warps, bp::warp_size).set_scratch_size(0, scratch),
                          kernel);
    if (hubs > 0)
      launcher.parallel_for("hornbill::bp::sum_hubs", Teams(launcher.exec, hubs, 1, bp::warp_size),
                            SumHubs<F>{f, rows.hubs});
  } else {
    SumRows<F> const kernel{f, rows};
    launcher.parallel_for("hornbill::bp::sum_rows", items<ExecutionSpace>(launcher.exec, f, kernel.size()), kernel);
    if (hubs > 0)
      launcher.parallel_for("hornbill::bp::sum_hubs", Range<ExecutionSpace>(launcher.exec, 0, hubs),
                            SumHubs<F>{f, rows.hubs});
  }
  if (f.graph.tables.num_states > 0)
    launcher.parallel_for("hornbill::bp::sum_states",
                          items<ExecutionSpace>(launcher.exec, f, static_cast<Index>(f.graph.num_variables())),
                          SumStates<F>{f});
}

/// Beliefs from sums, and the largest changes: of each warp where lanes are used, of each block and set where there are
/// several sets, otherwise of all, in entry 0. Returns how many there are for each set.
template <class Launcher, class F>
Index form_beliefs(Launcher& launcher, F const& f,
                   Kokkos::View<typename F::Value*, typename F::MemorySpace> const& largest_changes) {
  using ExecutionSpace = typename Launcher::ExecutionSpace;
  using Value = typename F::Value;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value.bp;
  auto const variables = static_cast<Index>(f.graph.num_variables());
  if constexpr (F::many) {
    Index const blocks = static_cast<Index>(largest_changes.extent(0)) / f.sets;
    launcher.parallel_for("hornbill::bp::beliefs", items<ExecutionSpace>(launcher.exec, f, blocks),
                          BeliefsOfSets<F>{f, largest_changes, blocks});
    return blocks;
  } else if constexpr (tuning.lanes) {
    constexpr int warps = tuning.team_size / bp::warp_size;
    Index const most = static_cast<Index>(largest_changes.extent(0)) / 2 / warps,
                teams = std::min<Index>((variables + tuning.team_size - 1) / tuning.team_size, most);
    launcher.parallel_for("hornbill::bp::beliefs",
                          BoundedTeams<ExecutionSpace, tuning.team_size, 4>(launcher.exec, teams, warps, bp::warp_size),
                          Beliefs<F>{f, largest_changes});
    return teams * warps;
  } else {
    Kokkos::View<Value, typename F::MemorySpace> const largest = Kokkos::subview(largest_changes, 0);
    launcher.parallel_reduce("hornbill::bp::beliefs", Range<ExecutionSpace>(launcher.exec, 0, variables),
                             Beliefs<F>{f, largest_changes}, Kokkos::Max<Value, typename F::MemorySpace>(largest));
    return 1;
  }
}

}  // namespace hornbill::bp::detail
