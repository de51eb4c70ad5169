// Best states on a device.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include <hornbill/tables/decode.hpp>
#include <hornbill/tables/detail/instantiate.hpp>
#include <hornbill/tables/detail/launches.hpp>

namespace hornbill::tables::detail {

/// One level, or on the host several in turn: a team a step.
template <class Semiring, class ExecutionSpace>
struct Decode {
  using Value = typename Semiring::Value;
  using MemorySpace = typename ExecutionSpace::memory_space;
  using Policy = Kokkos::TeamPolicy<ExecutionSpace>;
  using Team = typename Policy::member_type;
  using BestState = typename Semiring::BestState;
  using Best = typename BestState::value_type;
  static constexpr int team_size = backend::TuningOf<ExecutionSpace>::value.tables.decode_team_size;

  DecodeSteps<MemorySpace> plan;
  TableValues<Value, MemorySpace> values;
  Launch launch;
  Kokkos::View<Offset*, MemorySpace> known;
  Kokkos::View<Index*, MemorySpace> assignment;

  KOKKOS_FUNCTION void operator()(Team const& team) const {
    for_each_of_team<ExecutionSpace>(launch, team.league_rank(), [&](Offset step) { decode(team, plan.steps(step)); });
  }

 private:
  KOKKOS_FUNCTION void decode(Team const& team, DecodeStep const& step) const {
    for (Offset k = step.first_input + team.team_rank(); k < step.last_input; k += team_size)
      known(k) = known_place(plan.inputs(k));
    team.team_barrier();
    Best best;
    auto const look = [&](Offset state, Best& most) {
      Value const value = value_of(step, state);
      if (Semiring::is_better(value, most.val) || (value == most.val && state < most.loc)) most = {value, state};
    };
    Kokkos::parallel_reduce(Kokkos::TeamThreadRange(team, step.states), look, BestState(best));
    Kokkos::single(Kokkos::PerTeam(team), [&] {
      Offset state = best.loc < step.states ? best.loc : 0;  // else nothing is possible
      for (Offset i = step.last_variable; i-- > step.first_variable; state /= plan.variables(i).states)
        assignment(plan.variables(i).variable) = static_cast<Index>(state % plan.variables(i).states);
    });
  }
  KOKKOS_FUNCTION Offset known_place(DecodeInput const& input) const {
    Offset cell = input.begin;
    for (Offset i = input.first_term; i < input.last_term; ++i)
      cell += plan.terms(i).stride * assignment(plan.terms(i).variable);
    return cell;
  }

  /// Where probabilities are multiplied, the logarithm.
  KOKKOS_FUNCTION Value value_of(DecodeStep const& step, Offset joint_state) const {
    Value product = Semiring::one();
    int exponent = 0;
    for (Offset k = step.first_input; k < step.last_input; ++k) {
      auto const& input = plan.inputs(k);
      Offset cell = known(k), state = joint_state;
      for (Offset i = step.last_variable; i-- > step.first_variable; state /= plan.variables(i).states)
        cell += state % plan.variables(i).states * plan.strides(input.first_stride + i - step.first_variable);
      Value value = values.cells(cell);
      if constexpr (Semiring::scales)
        value *= static_cast<Value>(power_of_two(-exponent_of(values.largest(input.table))));
      product = Semiring::multiply(product, value);
      if constexpr (Semiring::scales) {  // a bucket may have thousands of tables
        int const of_product = exponent_of(product);
        product *= static_cast<Value>(power_of_two(-of_product));
        exponent += of_product;
      }
    }
    if constexpr (Semiring::scales)
      return Kokkos::log(product) + static_cast<Value>(exponent) * Kokkos::numbers::ln2_v<Value>;
    else
      return product;
  }
};

}  // namespace hornbill::tables::detail

namespace hornbill::tables {

template <class ExecutionSpace>
DecodePlan<typename ExecutionSpace::memory_space> make_decode_plan(ExecutionSpace const& exec,
                                                                   HostReductions const& host,
                                                                   std::vector<HostDecodeStep> const& steps) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  // A step comes after those that tell its inputs' other variables, which are behind it in the list.
  std::vector<std::size_t> level_of_variable(host.cardinality().size()), level(steps.size());
  std::vector<std::vector<std::size_t>> of_level;
  for (std::size_t s = steps.size(); s-- > 0;) {
    for (Index t : steps[s].inputs)
      for (Index v : host.tables()[t].scope) level[s] = std::max(level[s], level_of_variable[v]);
    for (Index v : steps[s].eliminated) level_of_variable[v] = level[s] + 1;
    of_level.resize(std::max(of_level.size(), level[s] + 1));
    of_level[level[s]].push_back(s);
  }
  constexpr double of_step = 64;  // multiplications, about
  DecodePlan<MemorySpace> plan;
  std::vector<detail::DecodeStep> flat;
  std::vector<detail::DecodeInput> inputs;
  std::vector<detail::DecodeTerm> terms;
  std::vector<detail::DecodeVariable> variables;
  std::vector<Offset> strides;
  detail::LaunchList<ExecutionSpace> launches;
  for (auto const& list : of_level) {
    double work = 0;
    for (std::size_t s : list) {
      auto const& eliminated = steps[s].eliminated;
      detail::DecodeStep step{.first_input = std::ssize(inputs),
                              .last_input = 0,
                              .first_variable = std::ssize(variables),
                              .last_variable = 0,
                              .states = static_cast<Offset>(host.states_of(eliminated))};
      for (Index v : eliminated) variables.push_back({v, host.cardinality()[v]});
      for (Index t : steps[s].inputs) {
        detail::DecodeInput input{.begin = host.tables()[t].offset,
                                  .table = t,
                                  .first_term = std::ssize(terms),
                                  .last_term = 0,
                                  .first_stride = std::ssize(strides)};
        for (Index v : host.tables()[t].scope)
          if (std::find(eliminated.begin(), eliminated.end(), v) == eliminated.end())
            terms.push_back({host.stride(t, v), v});
        for (Index v : eliminated) strides.push_back(host.stride(t, v));
        input.last_term = std::ssize(terms);
        inputs.push_back(input);
      }
      step.last_input = std::ssize(inputs);
      step.last_variable = std::ssize(variables);
      flat.push_back(step);
      work += of_step + static_cast<double>(step.states) * static_cast<double>(steps[s].inputs.size());
    }
    launches.add_level(std::ssize(list), work);
  }
  plan.launches = std::move(launches).take();
  auto const copy = [&]<class T>(std::vector<T> const& list) {
    return detail::to_view<T, MemorySpace>(exec, "hornbill::tables::decode_plan", list);
  };
  plan.on_device.steps = copy(flat);
  plan.on_device.inputs = copy(inputs);
  plan.on_device.terms = copy(terms);
  plan.on_device.variables = copy(variables);
  plan.on_device.strides = copy(strides);
  return plan;
}

template <class ExecutionSpace>
Kokkos::View<Offset*, typename ExecutionSpace::memory_space> make_decode_scratch(
    ExecutionSpace const& exec, DecodePlan<typename ExecutionSpace::memory_space> const& plan) {
  return hornbill::detail::allocate<Kokkos::View<Offset*, typename ExecutionSpace::memory_space>>(
      exec, "hornbill::tables::known", plan.on_device.inputs.extent(0));
}

template <class Semiring, class ExecutionSpace>
void decode(ExecutionSpace const& exec, DecodePlan<typename ExecutionSpace::memory_space> const& plan,
            TableValues<typename Semiring::Value, typename ExecutionSpace::memory_space> const& values,
            Kokkos::View<Offset*, typename ExecutionSpace::memory_space> const& known,
            Kokkos::View<Index*, typename ExecutionSpace::memory_space> const& assignment) {
  using Kernel = detail::Decode<Semiring, ExecutionSpace>;
  Kokkos::Profiling::ScopedRegion region("hornbill::tables::decode");
  for (auto const& launch : plan.launches)
    Kokkos::parallel_for("hornbill::tables::decode",
                         typename Kernel::Policy(exec, static_cast<int>(launch.num_teams), Kernel::team_size),
                         Kernel{plan.on_device, values, launch, known, assignment});
}

}  // namespace hornbill::tables

#define HORNBILL_INSTANTIATE_TABLES_DECODE_PLANS(PREFIX, SPACE)                                                \
  PREFIX template DecodePlan<SPACE::memory_space> make_decode_plan<SPACE>(SPACE const&, HostReductions const&, \
                                                                          std::vector<HostDecodeStep> const&);
#define HORNBILL_INSTANTIATE_TABLES_DECODE(PREFIX, SPACE, SEMIRING)                                               \
  PREFIX template void decode<SEMIRING, SPACE>(SPACE const&, DecodePlan<SPACE::memory_space> const&,              \
                                               TableValues<typename SEMIRING::Value, SPACE::memory_space> const&, \
                                               Kokkos::View<Offset*, SPACE::memory_space> const&,                 \
                                               Kokkos::View<Index*, SPACE::memory_space> const&);

namespace hornbill::tables {
HORNBILL_EXTERN(HORNBILL_FOR_PLANS, HORNBILL_INSTANTIATE_TABLES_DECODE_PLANS)
HORNBILL_EXTERN(HORNBILL_FOR_SELECTING, HORNBILL_INSTANTIATE_TABLES_DECODE)
}  // namespace hornbill::tables
