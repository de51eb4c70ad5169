// hornbill marginals: evidence sets through a junction tree.
#include <algorithm>
#include <functional>
#include <numeric>
#include <span>

#include <fmt/format.h>

#include <hornbill/backend/registry.hpp>
#include <hornbill/elim/elimination.hpp>
#include <hornbill/jtree/calibration.hpp>

#include "marginals.hpp"

namespace hornbill::cli {
namespace {

/// For as many evidence sets at once as fit on the device; where not even one does, its tables are to go through it in
/// slices.
/// \throws CapacityError
template <class Value>
Prepared<jtree::HostPlan> prepare(ExactArguments const& a, MarginalsProblem const& problem, jtree::JoinTree const& tree,
                                  Index sets) {
  auto const to_blame = blame(a, tree.order, problem.network);
  for (;; sets = (sets + 1) / 2) {
    Prepared<jtree::HostPlan> prepared;
    try {
      prepared.plan = planned(a, to_blame, [&] {
        return jtree::make_plan(problem.network.cardinality, elim::scopes_of(problem.network), tree,
                                {.num_sets = sets, .joint = problem.joint});
      });
    } catch (CapacityError const&) {
      if (sets > 1) continue;
      throw;
    }
    prepared.table_bytes = tables::bytes_needed<Value>(prepared.plan.reductions);
    if (sets > 1 && !fit_on_device(a, prepared.table_bytes)) continue;
    prepared.slice_bytes = slice_bytes(a, prepared.table_bytes, "the junction tree", to_blame);
    return prepared;
  }
}

/// A set's marginals of the model's own variables.
template <class Value>
std::vector<std::vector<double>> marginals_of_set(MarginalsProblem const& problem, std::vector<Offset> const& offsets,
                                                  std::vector<Value> const& p, Index set, Index num_sets,
                                                  HostFactorGraph const& graph) {
  std::vector<std::vector<double>> result;
  for (Index v = 0; v < problem.num_variables; ++v) {
    auto& of_variable = result.emplace_back();
    for (Offset i = offsets[v]; i < offsets[v + 1]; ++i)
      of_variable.push_back(static_cast<double>(p[i * num_sets + set]));
  }
  for (auto const& o : problem.cut) {
    result[o.variable].assign(static_cast<std::size_t>(graph.states(o.variable)), 0);
    result[o.variable][o.value] = 1;
  }
  return result;
}

/// A joint marginal in the order that it was asked for, and with what was observed in it: all states of the model.
/// \param scope  of `p`, the last variable fastest
std::vector<double> as_asked(MarginalsProblem const& problem, HostFactorGraph const& graph,
                             std::vector<Index> const& asked, std::vector<Index> const& scope,
                             std::vector<double> const& p) {
  std::vector<std::size_t> position;  // in what was asked for, of the scope's variables
  for (Index v : scope)
    position.push_back(static_cast<std::size_t>(std::find(asked.begin(), asked.end(), v) - asked.begin()));
  std::vector<double> result(cells_of_joint(graph, asked));
  for_each_possible_cell(problem, graph, asked, [&](std::size_t cell, std::vector<Index> const& states) {
    std::size_t from = 0;
    for (std::size_t i = 0; i < scope.size(); ++i)
      if (Index const count = problem.network.cardinality[scope[i]]; count > 1)
        from = from * static_cast<std::size_t>(count) + static_cast<std::size_t>(states[position[i]]);
    result[cell] = p[from];
  });
  return result;
}

/// Whether single precision holds a set's likelihoods.
bool fits_single_precision(HostEvidence const& evidence) {
  return std::all_of(evidence.begin(), evidence.end(), [](Observation const& o) {
    return std::all_of(o.likelihoods.begin(), o.likelihoods.end(), tables::can_hold<float>);
  });
}
bool fits_single_precision(tables::TableNetwork<double> const& network) {
  return std::all_of(network.tables.begin(), network.tables.end(), [](auto const& table) {
    return std::all_of(table.values.begin(), table.values.end(), tables::can_hold<float>);
  });
}

/// Keeps what came out of a run.   \param which  sets that the plan's first ones are   \param p  all their marginals
template <class Semiring, class Exec>
void keep(Exec const& exec, MarginalsProblem const& problem, HostFactorGraph const& graph,
          jtree::Plan<typename Exec::memory_space> const& plan,
          jtree::State<Semiring, typename Exec::memory_space> const& state, std::span<std::size_t const> which,
          std::vector<typename Semiring::Value> const& p, MarginalsResult& result) {
  auto const log_z = jtree::log_partition(exec, plan, state);
  for (std::size_t s = 0; s < which.size(); ++s) {
    result.sets[which[s]].log_z = log_z[s];
    result.sets[which[s]].p =
        marginals_of_set(problem, plan.marginal_offsets, p, static_cast<Index>(s), plan.host.num_sets, graph);
  }
  for (std::size_t j = 0; j < plan.host.joints.size(); ++j) {
    auto const of_sets = jtree::joint_marginal(exec, plan, state, j);
    for (std::size_t s = 0; s < which.size(); ++s)
      result.sets[which[s]].joint.push_back(
          as_asked(problem, graph, problem.joint[j], plan.host.joint_scope(j), of_sets[s]));
  }
}

/// Propagates evidence sets, as many at once as the plan has; of the last run some may be there twice.
/// \param exec  where the tables are   \param calibrate  sends messages
/// \return sets of which products left the range of numbers
template <class Semiring, class Exec, class Calibrate>
std::vector<std::size_t> propagate(Exec const& exec, MarginalsProblem const& problem, HostFactorGraph const& graph,
                                   jtree::Plan<typename Exec::memory_space> const& plan,
                                   std::vector<std::size_t> const& which, char const* arithmetic,
                                   MarginalsResult& result, Calibrate const& calibrate) {
  using Value = typename Semiring::Value;
  if (which.empty()) return {};
  for (std::size_t s : which) result.sets[s].arithmetic = arithmetic;
  auto begin = Clock::now();
  auto state = jtree::make_state<Semiring>(exec, plan, tables::converted<Value>(problem.network));
  auto const at_once = static_cast<std::size_t>(plan.host.num_sets);
  Kokkos::View<Value*, typename Exec::memory_space> const p(
      "hornbill::cli::marginals", static_cast<std::size_t>(plan.marginal_offsets.back()) * at_once);
  exec.fence("hornbill: set-up is timed by itself");
  result.setup_seconds += seconds_since(begin);
  std::vector<std::size_t> out_of_range;
  for (std::size_t first = 0; first < which.size(); first += at_once) {
    auto const here = std::span(which).subspan(first, std::min(at_once, which.size() - first));
    std::vector<HostEvidence> sets;
    for (std::size_t s = 0; s < at_once; ++s) sets.push_back(problem.sets[here[std::min(s, here.size() - 1)]]);
    begin = Clock::now();
    jtree::observe(exec, plan, state, sets);
    calibrate(plan, state);
    jtree::marginals(exec, plan, state, p);
    auto const found = detail::to_vector(exec, p);
    bool const is_in_range = jtree::is_in_range(exec, plan, state);
    result.seconds += seconds_since(begin);
    if (is_in_range)
      keep(exec, problem, graph, plan, state, here, found, result);
    else
      out_of_range.insert(out_of_range.end(), here.begin(), here.end());
  }
  return out_of_range;
}

/// The same in numbers of one type: where products leave their range, doubles once more as logarithms, with the same
/// plan.   \return sets of which products left the range of floats
template <class Value, class Exec, class Calibrate>
std::vector<std::size_t> propagate_in(Exec const& exec, MarginalsProblem const& problem, HostFactorGraph const& graph,
                                      jtree::HostPlan host, std::vector<std::size_t> const& which,
                                      MarginalsResult& result, Calibrate const& calibrate) {
  auto const begin = Clock::now();
  auto const plan = jtree::make_plan(exec, std::move(host));
  result.setup_seconds += seconds_since(begin);
  constexpr bool is_double = std::is_same_v<Value, double>;
  auto out_of_range = propagate<tables::SumProduct<Value>>(exec, problem, graph, plan, which,
                                                           is_double ? "double" : "float", result, calibrate);
  if constexpr (is_double)
    out_of_range =
        propagate<tables::LogSumExp<double>>(exec, problem, graph, plan, out_of_range, "logarithms", result, calibrate);
  return out_of_range;
}

/// The same on --backend.
template <class Value>
std::vector<std::size_t> propagate_on_backend(MarginalsArguments const& a, Model const& model,
                                              MarginalsProblem const& problem, jtree::JoinTree const& tree,
                                              std::vector<std::size_t> const& which, MarginalsResult& result) {
  if (which.empty()) return {};
  try {
    auto const begin = Clock::now();
    auto prepared = prepare<Value>(a, problem, tree, static_cast<Index>(which.size()));
    result.plan_seconds += seconds_since(begin);
    result.table_bytes = std::max(result.table_bytes, prepared.table_bytes);
    result.sets_at_once = std::max(result.sets_at_once, prepared.plan.num_sets);
    result.slice_bytes = std::max(result.slice_bytes, prepared.slice_bytes);
    return backend::visit(a.backend, [&](auto const& exec) {
      auto const in_slices = [&](auto const& plan, auto& state) {
        result.slices += jtree::calibrate_in_slices(exec, plan, state, prepared.slice_bytes);
      };
      auto const at_once = [&](auto const& plan, auto& state) { jtree::calibrate(exec, plan, state); };
      return prepared.slice_bytes > 0
                 ? propagate_in<Value>(Kokkos::DefaultHostExecutionSpace(), problem, model.graph,
                                       std::move(prepared.plan), which, result, in_slices)
                 : propagate_in<Value>(exec, problem, model.graph, std::move(prepared.plan), which, result, at_once);
    });
  } catch (CapacityError const& e) {
    std::string const message = e.what();
    throw CapacityError(
        (message.starts_with(a.file) ? message : fmt::format("{} on backend {}: {}", a.file, a.backend, message)) +
        (a.precision == "float" && std::is_same_v<Value, double>
             ? ". Single precision was not enough, so this is in double"
             : ""));
  }
}

/// Says of each set under which nothing is possible which observations are to blame.
void explain_conflicts(MarginalsArguments const& a, Model const& model, MarginalsProblem const& problem,
                       std::vector<MarginalsOfSet>& sets) {
  if (std::all_of(sets.begin(), sets.end(), std::mem_fn(&MarginalsOfSet::is_possible))) return;
  auto const given = tables::to_tables(model.graph);
  auto const deadline = conflict_deadline();  // of all sets together
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (sets[s].is_possible()) continue;
    auto evidence = problem.cut;
    evidence.insert(evidence.end(), problem.sets[s].begin(), problem.sets[s].end());
    auto sources = a.evidence;
    if (!sets[s].name.empty()) sources.push_back(sets[s].name);
    sets[s].conflict = explain_conflict(a, given, evidence, std::move(sources), deadline);
  }
}

}  // namespace

MarginalsResult find_marginals(MarginalsArguments const& a, Model const& model, MarginalsProblem const& problem) {
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  MarginalsResult result;
  result.device = backend::describe(a.backend);
  auto const begin = Clock::now();
  auto scopes = elim::scopes_of(problem.network);
  scopes.insert(scopes.end(), problem.joint.begin(), problem.joint.end());
  auto const tree =
      jtree::make_join_tree(problem.network.cardinality, scopes,
                            find_order(a, problem.network.cardinality, scopes, problem.network.variable_names));
  result.order = tree.order;
  result.num_cliques = tree.cliques.size();
  result.order_seconds = seconds_since(begin);
  std::vector<std::size_t> which(problem.sets.size());
  std::iota(which.begin(), which.end(), 0);
  for (std::size_t s : which) result.sets.emplace_back().name = a.each.empty() ? "" : a.each[s];
  if (a.precision == "float" && fits_single_precision(problem.network)) {
    auto const last = std::stable_partition(which.begin(), which.end(),
                                            [&](std::size_t s) { return fits_single_precision(problem.sets[s]); });
    std::vector<std::size_t> const in_single(which.begin(), last);
    which.erase(which.begin(), last);
    auto const left = propagate_on_backend<float>(a, model, problem, tree, in_single, result);
    which.insert(which.end(), left.begin(), left.end());
  }
  propagate_on_backend<double>(a, model, problem, tree, which, result);
  explain_conflicts(a, model, problem, result.sets);
  return result;
}

}  // namespace hornbill::cli
