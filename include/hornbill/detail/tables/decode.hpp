// Best states on a device.
#pragma once

#include <vector>

#include <hornbill/tables/decode.hpp>

namespace hornbill::tables::detail {

/// One level: a team a reduction.
template <class Semiring, class ExecutionSpace>
struct Decode {
  using Value = typename Semiring::Value;
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using BestState = typename Semiring::BestState;
  using Best = typename BestState::value_type;
  static constexpr int team_size = runs_on_host<ExecutionSpace> ? 1 : 64;

  Inputs<Semiring, MemorySpace> from;
  DecodePlan<MemorySpace> plan;
  Kokkos::View<Index const*, MemorySpace> reductions;
  Offset first = 0;  ///< of the level
  Kokkos::View<Index*, MemorySpace> assignment;

  KOKKOS_FUNCTION void operator()(typename Policy::member_type const& team) const {
    Index const r = reductions(first + team.league_rank());
    auto const task = from.tasks(r);
    Offset row = 0;
    for (Offset i = plan.kept_offsets(r); i < plan.kept_offsets(r + 1); ++i) row += Offset{plan.strides(i)} * assignment(plan.kept(i));
    Index const high = static_cast<Index>(row / task.rows_low), low = static_cast<Index>(row % task.rows_low);
    Best best;
    auto const look = [&](Offset state, Best& most) {
      Value const value = from.product(task, high, low, static_cast<Index>(state / task.over_low), static_cast<Index>(state % task.over_low));
      if (Semiring::is_better(value, most.val) || (value == most.val && state < most.loc)) most = {value, state};
    };
    Offset const over = Offset{task.over_high} * task.over_low;
    Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, over), look, BestState(best));
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      Offset state = best.loc < over ? best.loc : 0;  // else nothing is possible
      for (Offset i = plan.eliminated_offsets(r + 1); i-- > plan.eliminated_offsets(r); state /= plan.states(i)) assignment(plan.eliminated(i)) = static_cast<Index>(state % plan.states(i));
    });
  }
};

}  // namespace hornbill::tables::detail

namespace hornbill::tables {

template <class ExecutionSpace>
DecodePlan<typename ExecutionSpace::memory_space> make_decode_plan(ExecutionSpace const& exec, HostReductions const& host) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  std::vector<Offset> kept_offsets{0}, eliminated_offsets{0};
  std::vector<Index> kept, strides, eliminated, states;
  for (auto const& reduction : host.reductions()) {
    for (Index v : host.tables()[reduction.output].scope) {
      kept.push_back(v);
      strides.push_back(static_cast<Index>(host.stride(reduction.output, v)));
    }
    for (Index v : reduction.eliminated) {
      eliminated.push_back(v);
      states.push_back(host.cardinality()[v]);
    }
    kept_offsets.push_back(std::ssize(kept));
    eliminated_offsets.push_back(std::ssize(eliminated));
  }
  auto const copy = [&]<class T>(std::vector<T> const& list) { return detail::to_view<T, MemorySpace>(exec, "hornbill::tables::decode_plan", list); };
  return {copy(kept_offsets), copy(eliminated_offsets), copy(kept), copy(strides), copy(eliminated), copy(states)};
}

template <class Semiring, class ExecutionSpace>
void decode(ExecutionSpace const& exec, DecodePlan<typename ExecutionSpace::memory_space> const& plan, Reductions<typename ExecutionSpace::memory_space> const& reductions,
            Schedule<typename ExecutionSpace::memory_space> const& schedule, TableValues<typename Semiring::Value, typename ExecutionSpace::memory_space> const& values,
            Kokkos::View<Index*, typename ExecutionSpace::memory_space> const& assignment) {
  using Kernel = detail::Decode<Semiring, ExecutionSpace>;
  Kokkos::Profiling::ScopedRegion region("hornbill::tables::decode");
  for (std::size_t level = schedule.first_reduction.size() - 1; level-- > 0;) {
    Kernel const kernel{{reductions.tasks, reductions.inputs, reductions.steps, values}, plan, schedule.reductions, schedule.first_reduction[level], assignment};
    Kokkos::parallel_for("hornbill::tables::decode", typename Kernel::Policy(exec, static_cast<int>(schedule.first_reduction[level + 1] - schedule.first_reduction[level]), Kernel::team_size), kernel);
  }
}

}  // namespace hornbill::tables
