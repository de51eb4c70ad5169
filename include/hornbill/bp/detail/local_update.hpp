// Local update: after a change of evidence, what has moved decides which factors are updated, and no others.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <Kokkos_Profiling_ScopedRegion.hpp>

#include <hornbill/bp/detail/selection.hpp>
#include <hornbill/bp/detail/step_update.hpp>
#include <hornbill/bp/detail/variable_kernels.hpp>
#include <hornbill/detail/copy.hpp>

namespace hornbill::bp::detail {

/// The parts of a local update: a step is marked where a variable that it reads has moved by more than the threshold,
/// in the probability of a message to it or in its own since it was last propagated.
/// \tparam alone  one thread does all; otherwise many share a round
template <bool alone, class F>
struct LocalUpdate {
  using Value = typename F::Value;
  using MemorySpace = typename F::MemorySpace;
  F f;
  Tasks<MemorySpace> tasks;
  Kokkos::View<bp::Step const*, MemorySpace> steps;
  Kokkos::View<Index const*, MemorySpace> readers;
  LocalMarks<MemorySpace> local;
  float threshold;
  Index budget, longest;  // edges: in all, and of one variable or factor

  static constexpr Index bits = LocalMarks<MemorySpace>::bits, no_step = -1;

  KOKKOS_FUNCTION bool overrun() const { return local.work().overrun != 0 || local.work().edges > budget; }

  /// \param counts  as work: not where several may mark the same variable, and which of them does is chance
  KOKKOS_FUNCTION void mark(Index v, Index except, bool counts = true) const {
    Index const first = f.graph.variable_offsets(v), last = f.graph.variable_offsets(v + 1);
    if (!spend(last - first, counts)) return;
    for (Index k = first; k < last; ++k)
      if (Index const step = readers(k); step >= 0 && step != except) set_bit(step);
  }
  /// Computes a step's messages, which wait. False if it is too long.
  KOKKOS_FUNCTION bool stage(Index step) const {
    Index edges = 0;
    for_each_edge(tasks, steps(step), [&](Index) { ++edges; });
    if (!spend(edges)) return false;
    update_step<Write::stage>(f, tasks, steps(step));
    return true;
  }
  /// Lets them take their places.
  KOKKOS_FUNCTION void commit(Index step) const {
    for_each_edge(tasks, steps(step), [&](Index edge) {
      float moved = 0;
      for_each_entry(f, edge, [&](Index at, Index slot) { moved = Kokkos::fmax(moved, commit_entry(at, slot)); });
      if (moved > threshold) mark(f.graph.factor_variables(edge), step);
    });
  }
  /// Marks the readers of its variables that have moved since they were last propagated. Where others may have moved
  /// them too, the step itself is among them.
  KOKKOS_FUNCTION void propagate(Index step) const {
    for_each_edge(tasks, steps(step), [&](Index edge) {
      Index const v = f.graph.factor_variables(edge);
      if (BeliefOf<F>{f}.update_beyond(v, threshold)) mark(v, alone ? step : no_step, alone);
    });
  }

 private:
  KOKKOS_FUNCTION float commit_entry(Index at, Index slot) const {
    Value const before = f.messages(at), after = f.pending(at);
    if constexpr (alone)
      put_message<Write::commit>(f, at, slot, before, after);
    else
      commit_message(f, at, slot, before, after);
    return change_of_probability(before, after);
  }
  KOKKOS_FUNCTION void set_bit(Index step) const {
    auto& word = local.marks(step / bits);
    std::uint32_t const bit = 1u << step % bits;
    if constexpr (alone)
      word |= bit;
    else if ((word & bit) == 0)
      Kokkos::atomic_or(&word, bit);
  }
  KOKKOS_FUNCTION bool spend(Index edges, bool counts = true) const {
    auto& work = local.work();
    if constexpr (alone)
      work.edges += edges;
    else if (counts)
      Kokkos::atomic_add(&work.edges, Offset{edges});
    if (edges > longest) work.overrun = 1;
    return edges <= longest;
  }
};

/// Sweeps over the marked steps in their order, each update reading all before it, by one thread: the fewest updates.
template <class F>
struct SweepLocally {
  LocalUpdate<true, F> update;

  KOKKOS_FUNCTION void operator()(Index) const {
    if (update.f.stopped()) return;
    while (sweep() && !update.overrun()) {
    }
  }

 private:
  KOKKOS_FUNCTION bool sweep() const {
    bool any = false;
    for (Index w = 0; w < static_cast<Index>(update.local.marks.extent(0)) && !update.overrun(); ++w)
      for (std::uint32_t passed = 0; std::uint32_t const left = update.local.marks(w) & ~passed;) {
        auto const bit = static_cast<Index>(Kokkos::countr_zero(left));
        passed |= (std::uint32_t{2} << bit) - 1;
        update.local.marks(w) &= ~(std::uint32_t{1} << bit);
        update_one(w * update.bits + bit);
        any = true;
      }
    return any;
  }
  KOKKOS_FUNCTION void update_one(Index step) const {
    if (!update.stage(step)) return;
    update.commit(step);
    update.propagate(step);
  }
};

/// Rounds in which all marked steps are updated at once, by one team: between rounds stands a barrier instead of a
/// launch.
template <class F>
struct RunLocally {
  LocalUpdate<false, F> update;

  template <class Member>
  KOKKOS_FUNCTION void operator()(Member const& member) const {
    if (update.f.stopped()) return;
    while (take_marks(member) > 0) {
      for_each_taken(member, [&](Index step) { update.stage(step); });
      if (is_overrun(member)) return;
      for_each_taken(member, [&](Index step) { update.commit(step); });
      for_each_taken(member, [&](Index step) { update.propagate(step); });
      if (is_overrun(member)) return;
    }
  }

 private:
  /// The same to all of the team: who is first goes on only when the last has looked.
  template <class Member>
  KOKKOS_FUNCTION bool is_overrun(Member const& member) const {
    bool const overrun = update.overrun();
    member.team_barrier();
    return overrun;
  }
  template <class Member>
  KOKKOS_FUNCTION Index take_marks(Member const& member) const {
    auto const& local = update.local;
    Index count = 0;
    Kokkos::parallel_reduce(
        Kokkos::TeamThreadRange(member, static_cast<Index>(local.marks.extent(0))),
        [&](Index w, Index& sum) {
          local.taken(w) = local.marks(w);
          local.marks(w) = 0;
          sum += Kokkos::popcount(local.taken(w));
        },
        count);
    member.team_barrier();
    return count;
  }
  /// Neighbouring threads take neighbouring steps. Ends in a barrier.
  template <class Member, class Function>
  KOKKOS_FUNCTION void for_each_taken(Member const& member, Function const& function) const {
    auto const size = static_cast<Index>(update.steps.extent(0));
    Kokkos::parallel_for(Kokkos::TeamThreadRange(member, size), [&](Index step) {
      if (update.local.taken(step / update.bits) >> step % update.bits & 1u) function(step);
    });
    member.team_barrier();
  }
};

/// Marks the steps that read the variables whose evidence has changed.
template <class F>
struct MarkChanged {
  LocalUpdate<false, F> update;
  Kokkos::View<Index const*, typename F::MemorySpace> variables;
  KOKKOS_FUNCTION void operator()(Index i) const { update.mark(variables(i), update.no_step); }
};

/// Updates what changed evidence moves by more than the threshold, from messages that were at rest before. Waits for
/// `exec`. It ends with all at rest, or, where too much moves, at any point: then iterations are the better way.
template <class ExecutionSpace, class F>
LocalWork update_locally(ExecutionSpace const& exec, F const& fields,
                         bp::Plan<typename F::MemorySpace> const& by_factor,
                         LocalMarks<typename F::MemorySpace> const& local, std::vector<Index> const& changed,
                         double threshold) {
  using MemorySpace = typename F::MemorySpace;
  constexpr auto tuning = backend::TuningOf<ExecutionSpace>::value.bp;
  Kokkos::Profiling::ScopedRegion region("hornbill::bp::update_locally");
  Kokkos::deep_copy(exec, local.marks, 0u);
  Kokkos::deep_copy(exec, local.work, LocalWork{});
  auto const budget = std::min(static_cast<Index>(tuning.local_share * fields.num_edges()), tuning.max_local_edges),
             longest = std::min(budget, tuning.local_longest);
  auto const parts = [&]<bool alone> {
    return LocalUpdate<alone, F>{
        undamped(fields), Tasks(by_factor), by_factor.sequence, by_factor.readers, local, static_cast<float>(threshold),
        budget,           longest};
  };
  auto const variables = hornbill::detail::to_view<Index, MemorySpace>(exec, "hornbill::bp::changed", changed);
  Kokkos::parallel_for("hornbill::bp::mark_changed", Range<ExecutionSpace>(exec, 0, static_cast<Index>(changed.size())),
                       MarkChanged<F>{parts.template operator()<false>(), variables});
  if constexpr (tuning.lanes) {
    Kokkos::parallel_for("hornbill::bp::run_locally",
                         BoundedTeams<ExecutionSpace, tuning.stretch_team_size>(exec, 1, tuning.stretch_team_size),
                         RunLocally<F>{parts.template operator()<false>()});
  } else {
    Kokkos::parallel_for("hornbill::bp::sweep_locally", Range<ExecutionSpace>(exec, 0, 1),
                         SweepLocally<F>{parts.template operator()<true>()});
  }
  LocalWork work;
  Kokkos::View<LocalWork, Kokkos::HostSpace, Kokkos::MemoryUnmanaged> const host(&work);
  Kokkos::deep_copy(exec, host, local.work);
  exec.fence("hornbill: how far a local update has come");
  work.overrun = work.overrun != 0 || work.edges > budget;
  return work;
}

}  // namespace hornbill::bp::detail
