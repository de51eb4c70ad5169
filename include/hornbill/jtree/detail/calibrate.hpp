// Messages of a junction tree on a device.
#pragma once

#include <algorithm>
#include <numbers>
#include <numeric>
#include <string>
#include <utility>
#include <vector>

#include <hornbill/error.hpp>
#include <hornbill/jtree/calibration.hpp>
#include <hornbill/tables/detail/instantiate.hpp>
#include <hornbill/tables/detail/reorder.hpp>

namespace hornbill::jtree::detail {

/// One lane a variable and evidence set.
template <class Semiring, class MemorySpace>
struct NormaliseMarginals {
  using Value = typename Semiring::Value;
  Kokkos::View<Value const*, MemorySpace> tables;
  Kokkos::View<Offset const*, MemorySpace> cells, offsets;
  Index num_sets = 1;
  Kokkos::View<Value*, MemorySpace> p;

  KOKKOS_FUNCTION void operator()(Offset i) const {
    Offset const v = i / num_sets, set = i % num_sets, states = offsets(v + 1) - offsets(v);
    Value largest = Semiring::zero(), sum = 0;
    for (Offset s = 0; s < states; ++s) largest = Kokkos::max(largest, of_state(v, s, set));
    bool const is_possible = largest > Semiring::zero();
    for (Offset s = 0; s < states; ++s)
      sum += (marginal(v, s, set) = is_possible ? Semiring::ratio(of_state(v, s, set), largest) : Value(0));
    if (is_possible)
      for (Offset s = 0; s < states; ++s) marginal(v, s, set) /= sum;
  }

 private:
  KOKKOS_FUNCTION Value of_state(Offset variable, Offset state, Offset set) const {
    return tables(cells(variable) + state * num_sets + set);
  }
  KOKKOS_FUNCTION Value& marginal(Offset variable, Offset state, Offset set) const {
    return p((offsets(variable) + state) * num_sets + set);
  }
};

/// Which values a variable's evidence multiplies by, [states, sets].
template <class Semiring>
std::vector<std::vector<typename Semiring::Value>> evidence_tables(HostPlan const& plan,
                                                                   std::span<HostEvidence const> sets) {
  using Value = typename Semiring::Value;
  auto const num_sets = static_cast<std::size_t>(plan.num_sets);
  if (sets.size() != num_sets) throw ShapeError("evidence sets of the plan", num_sets, sets.size());
  auto const& cardinality = plan.reductions.cardinality();
  std::vector<std::vector<Value>> result;
  for (Index v = 0; v < plan.num_variables(); ++v)
    result.emplace_back(static_cast<std::size_t>(cardinality[v]) * num_sets, Semiring::one());
  for (std::size_t set = 0; set < num_sets; ++set)
    for (auto const& o : last_of_each_variable(sets[set])) {
      if (o.variable < 0 || o.variable >= plan.num_variables() ||
          (o.is_hard() ? o.value >= cardinality[o.variable]
                       : static_cast<Index>(o.likelihoods.size()) != cardinality[o.variable]))
        throw InputError("evidence of variable " + std::to_string(o.variable) + " does not fit its states");
      for (Index s = 0; s < cardinality[o.variable]; ++s) {
        double const p = o.is_hard() ? (s == o.value ? 1.0 : 0.0) : o.likelihoods[s];
        if (!tables::can_hold<Value>(p))
          throw InputError("evidence of variable " + std::to_string(o.variable) +
                           " has a likelihood that single precision cannot hold; double can");
        result[o.variable][static_cast<std::size_t>(s) * num_sets + set] =
            Semiring::of_probability(static_cast<Value>(p));
      }
    }
  return result;
}

/// Where the reductions that read each table begin among all.   \shape [tables + 1]
inline std::vector<Offset> count_users(tables::HostReductions const& reductions) {
  std::vector<Offset> offsets(reductions.tables().size() + 1, 0);
  for (auto const& reduction : reductions.reductions())
    for (Index t : reduction.inputs) ++offsets[t + 1];
  std::partial_sum(offsets.begin(), offsets.end(), offsets.begin());
  return offsets;
}
inline std::vector<Index> users_of(tables::HostReductions const& reductions, std::vector<Offset> const& offsets) {
  std::vector<Index> users(static_cast<std::size_t>(offsets.back()));
  auto next = offsets;
  for (std::size_t r = 0; r < reductions.reductions().size(); ++r)
    for (Index t : reductions.reductions()[r].inputs) users[next[t]++] = static_cast<Index>(r);
  return users;
}

/// Reductions that are not current, of those that some tables are made by.
inline std::vector<Index> stale_makers(HostPlan const& plan, std::vector<bool> const& is_current,
                                       std::vector<Index> tables) {
  std::vector<bool> seen(is_current.size());
  std::vector<Index> result;
  while (!tables.empty()) {
    Index const maker = plan.reductions.maker_of(tables.back());
    tables.pop_back();
    if (maker < 0 || seen[maker] || is_current[maker]) continue;  // what a current one is made of is current
    seen[maker] = true;
    result.push_back(maker);
    auto const& inputs = plan.reductions.reductions()[maker].inputs;
    tables.insert(tables.end(), inputs.begin(), inputs.end());
  }
  return result;
}

inline std::vector<Index> reductions_that_are(bool current, std::vector<bool> const& is_current) {
  std::vector<Index> result;
  for (std::size_t r = 0; r < is_current.size(); ++r)
    if (is_current[r] == current) result.push_back(static_cast<Index>(r));
  return result;
}

template <class Semiring, class ExecutionSpace>
void run(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
         State<Semiring, typename ExecutionSpace::memory_space>& state, std::vector<Index> const& stale) {
  if (stale.empty()) return;
  if (stale.size() == state.is_current.size())
    tables::reduce<Semiring>(exec, plan.reductions, plan.schedule, state.values);
  else
    tables::reduce<Semiring>(exec, plan.reductions,
                             tables::make_schedule(exec, plan.host.reductions, plan.reductions, stale), state.values);
  for (Index r : stale) state.is_current[r] = true;
}

}  // namespace hornbill::jtree::detail

namespace hornbill::jtree {

template <class ExecutionSpace>
Plan<typename ExecutionSpace::memory_space> make_plan(ExecutionSpace const& exec, HostPlan host) {
  using MemorySpace = typename ExecutionSpace::memory_space;
  Plan<MemorySpace> plan;
  plan.host = std::move(host);
  auto const& reductions = plan.host.reductions;
  plan.reductions = tables::make_reductions(exec, reductions);
  plan.schedule = tables::make_schedule(exec, reductions, plan.reductions);
  plan.user_offsets = detail::count_users(reductions);
  plan.users = detail::users_of(reductions, plan.user_offsets);
  std::vector<Offset> cells;
  plan.marginal_offsets.push_back(0);
  for (Index v = 0; v < plan.host.num_variables(); ++v) {
    cells.push_back(reductions.tables()[plan.host.marginals[v]].offset);
    plan.marginal_offsets.push_back(plan.marginal_offsets.back() + reductions.cardinality()[v]);
  }
  plan.offsets =
      hornbill::detail::to_view<Offset, MemorySpace>(exec, "hornbill::jtree::marginal_offsets", plan.marginal_offsets);
  plan.cells = hornbill::detail::to_view<Offset, MemorySpace>(exec, "hornbill::jtree::marginal_cells", cells);
  return plan;
}

template <class Semiring, class ExecutionSpace>
State<Semiring, typename ExecutionSpace::memory_space> make_state(
    ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
    tables::TableNetwork<typename Semiring::Value> const& network) {
  using Value = typename Semiring::Value;
  auto const& host = plan.host;
  State<Semiring, typename ExecutionSpace::memory_space> state;
  state.values = tables::make_values<Value>(exec, host.reductions);
  state.evidence =
      detail::evidence_tables<Semiring>(host, std::vector<HostEvidence>(static_cast<std::size_t>(host.num_sets)));
  state.is_current.assign(host.reductions.reductions().size(), false);
  auto given = tables::detail::reordered(network, host.reductions, host.first_evidence);
  for (auto& table : given)
    for (Value& value : table) value = Semiring::of_probability(value);
  given.insert(given.end(), state.evidence.begin(), state.evidence.end());
  tables::set_given<Value>(exec, host.reductions, state.values, given);
  return state;
}

template <class Semiring, class ExecutionSpace>
void observe(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
             State<Semiring, typename ExecutionSpace::memory_space>& state, std::span<HostEvidence const> sets) {
  auto evidence = detail::evidence_tables<Semiring>(plan.host, sets);
  std::vector<Index> changed;  // tables
  for (std::size_t v = 0; v < evidence.size(); ++v)
    if (evidence[v] != state.evidence[v]) changed.push_back(plan.host.first_evidence + static_cast<Index>(v));
  if (changed.empty()) return;
  tables::set_given<typename Semiring::Value>(exec, plan.host.reductions, state.values, evidence,
                                              plan.host.first_evidence);
  state.evidence = std::move(evidence);
  while (!changed.empty()) {
    Index const table = changed.back();
    changed.pop_back();
    for (Offset i = plan.user_offsets[table]; i < plan.user_offsets[table + 1]; ++i)
      if (Index const r = plan.users[i]; state.is_current[r]) {
        // else what it makes is stale already, and so is all that is made of that
        state.is_current[r] = false;
        changed.push_back(plan.host.reductions.reductions()[r].output);
      }
  }
}

template <class Semiring, class ExecutionSpace>
void calibrate(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
               State<Semiring, typename ExecutionSpace::memory_space>& state) {
  Kokkos::Profiling::ScopedRegion region("hornbill::jtree::calibrate");
  detail::run(exec, plan, state, detail::reductions_that_are(false, state.is_current));
}

template <class Semiring, class ExecutionSpace>
double calibrate_in_slices(ExecutionSpace const& exec, Plan<Kokkos::HostSpace> const& plan,
                           State<Semiring, Kokkos::HostSpace>& state, std::size_t max_bytes) {
  Kokkos::Profiling::ScopedRegion region("hornbill::jtree::calibrate_in_slices");
  double const slices = tables::reduce_in_slices<Semiring>(
      exec, plan.host.reductions, state.values, detail::reductions_that_are(false, state.is_current), max_bytes);
  state.is_current.assign(state.is_current.size(), true);
  return slices;
}

template <class Semiring, class ExecutionSpace>
void calibrate_for(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                   State<Semiring, typename ExecutionSpace::memory_space>& state, std::span<Index const> variables) {
  std::vector<Index> wanted;
  for (Index v : variables) wanted.push_back(plan.host.marginals.at(static_cast<std::size_t>(v)));
  detail::run(exec, plan, state, detail::stale_makers(plan.host, state.is_current, std::move(wanted)));
}

template <class Semiring, class ExecutionSpace>
bool is_in_range(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                 State<Semiring, typename ExecutionSpace::memory_space> const& state) {
  if constexpr (!Semiring::scales)
    return true;
  else
    return tables::are_in_range<typename Semiring::Value>(plan.host.reductions, tables::extents_of(exec, state.values),
                                                          detail::reductions_that_are(true, state.is_current));
}

template <class Semiring, class ExecutionSpace>
void marginals(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
               State<Semiring, typename ExecutionSpace::memory_space> const& state,
               Kokkos::View<typename Semiring::Value*, typename ExecutionSpace::memory_space> const& p) {
  auto const size =
      static_cast<std::size_t>(plan.marginal_offsets.back()) * static_cast<std::size_t>(plan.host.num_sets);
  if (p.extent(0) != size) throw ShapeError("p", size, p.extent(0));
  Kokkos::parallel_for("hornbill::jtree::normalise_marginals",
                       Kokkos::RangePolicy<ExecutionSpace, Kokkos::IndexType<Offset>>(
                           exec, 0, Offset{plan.host.num_variables()} * plan.host.num_sets),
                       detail::NormaliseMarginals<Semiring, typename ExecutionSpace::memory_space>{
                           state.values.cells, plan.cells, plan.offsets, plan.host.num_sets, p});
}

template <class Semiring, class ExecutionSpace>
std::vector<std::vector<double>> joint_marginal(ExecutionSpace const& exec,
                                                Plan<typename ExecutionSpace::memory_space> const& plan,
                                                State<Semiring, typename ExecutionSpace::memory_space> const& state,
                                                std::size_t joint) {
  auto const sets = static_cast<std::size_t>(plan.host.num_sets);
  auto const cells = tables::cells_of(exec, plan.host.reductions, state.values, plan.host.joints.at(joint));
  std::vector<std::vector<double>> result(sets);
  auto const zero = Semiring::zero();
  std::vector<typename Semiring::Value> largest(sets, zero);
  for (std::size_t i = 0; i < cells.size(); ++i) largest[i % sets] = std::max(largest[i % sets], cells[i]);
  for (std::size_t i = 0; i < cells.size(); ++i)
    result[i % sets].push_back(
        largest[i % sets] > zero ? static_cast<double>(Semiring::ratio(cells[i], largest[i % sets])) : 0.0);
  for (auto& of_set : result) {
    double const sum = std::accumulate(of_set.begin(), of_set.end(), 0.0);
    if (sum > 0)
      for (double& value : of_set) value /= sum;
  }
  return result;
}

template <class Semiring, class ExecutionSpace>
std::vector<double> log_partition(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                                  State<Semiring, typename ExecutionSpace::memory_space> const& state) {
  auto const cells = tables::cells_of(exec, plan.host.reductions, state.values, plan.host.total);
  double exponent = 0;
  if constexpr (Semiring::scales)
    exponent = tables::exponents_of(plan.host.reductions,
                                    hornbill::detail::to_vector(exec, state.values.largest))[plan.host.total];
  std::vector<double> log_z;
  for (auto cell : cells) log_z.push_back(Semiring::log_of(cell) + exponent * std::numbers::ln2);
  return log_z;
}

template <class Semiring, class ExecutionSpace>
std::vector<Index> best_assignment(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
                                   State<Semiring, typename ExecutionSpace::memory_space>& state) {
  if (plan.host.num_sets != 1)
    throw ShapeError("evidence sets of a best assignment", 1, static_cast<std::size_t>(plan.host.num_sets));
  detail::run(exec, plan, state, detail::stale_makers(plan.host, state.is_current, {plan.host.total}));
  auto const assignment =
      hornbill::detail::allocate_initialised<Kokkos::View<Index*, typename ExecutionSpace::memory_space>>(
          exec, "hornbill::jtree::assignment", plan.host.marginals.size());
  auto const steps =
      tables::make_decode_plan(exec, plan.host.reductions, tables::decode_steps(plan.host.reductions, plan.host.total));
  tables::decode<Semiring>(exec, steps, state.values, tables::make_decode_scratch(exec, steps), assignment);
  return hornbill::detail::to_vector(exec, assignment);
}

}  // namespace hornbill::jtree

#define HORNBILL_INSTANTIATE_JTREE_PLANS(PREFIX, SPACE) \
  PREFIX template Plan<SPACE::memory_space> make_plan<SPACE>(SPACE const&, HostPlan);
#define HORNBILL_INSTANTIATE_JTREE(PREFIX, SPACE, SEMIRING)                                                            \
  PREFIX template State<SEMIRING, SPACE::memory_space> make_state<SEMIRING, SPACE>(                                    \
      SPACE const&, Plan<SPACE::memory_space> const&, tables::TableNetwork<typename SEMIRING::Value> const&);          \
  PREFIX template void observe<SEMIRING, SPACE>(SPACE const&, Plan<SPACE::memory_space> const&,                        \
                                                State<SEMIRING, SPACE::memory_space>&, std::span<HostEvidence const>); \
  PREFIX template void calibrate<SEMIRING, SPACE>(SPACE const&, Plan<SPACE::memory_space> const&,                      \
                                                  State<SEMIRING, SPACE::memory_space>&);                              \
  PREFIX template double calibrate_in_slices<SEMIRING, SPACE>(SPACE const&, Plan<Kokkos::HostSpace> const&,            \
                                                              State<SEMIRING, Kokkos::HostSpace>&, std::size_t);       \
  PREFIX template void calibrate_for<SEMIRING, SPACE>(SPACE const&, Plan<SPACE::memory_space> const&,                  \
                                                      State<SEMIRING, SPACE::memory_space>&, std::span<Index const>);  \
  PREFIX template bool is_in_range<SEMIRING, SPACE>(SPACE const&, Plan<SPACE::memory_space> const&,                    \
                                                    State<SEMIRING, SPACE::memory_space> const&);                      \
  PREFIX template void marginals<SEMIRING, SPACE>(                                                                     \
      SPACE const&, Plan<SPACE::memory_space> const&, State<SEMIRING, SPACE::memory_space> const&,                     \
      Kokkos::View<typename SEMIRING::Value*, SPACE::memory_space> const&);                                            \
  PREFIX template std::vector<std::vector<double>> joint_marginal<SEMIRING, SPACE>(                                    \
      SPACE const&, Plan<SPACE::memory_space> const&, State<SEMIRING, SPACE::memory_space> const&, std::size_t);       \
  PREFIX template std::vector<double> log_partition<SEMIRING, SPACE>(SPACE const&, Plan<SPACE::memory_space> const&,   \
                                                                     State<SEMIRING, SPACE::memory_space> const&);
#define HORNBILL_INSTANTIATE_JTREE_BEST(PREFIX, SPACE, SEMIRING)                                                      \
  PREFIX template std::vector<Index> best_assignment<SEMIRING, SPACE>(SPACE const&, Plan<SPACE::memory_space> const&, \
                                                                      State<SEMIRING, SPACE::memory_space>&);

namespace hornbill::jtree {
HORNBILL_EXTERN(HORNBILL_FOR_PLANS, HORNBILL_INSTANTIATE_JTREE_PLANS)
HORNBILL_EXTERN(HORNBILL_FOR_REAL_SEMIRINGS, HORNBILL_INSTANTIATE_JTREE)
HORNBILL_EXTERN(HORNBILL_FOR_SELECTING_REALS, HORNBILL_INSTANTIATE_JTREE_BEST)
}  // namespace hornbill::jtree
