// hornbill explain: why an alarm is probable.
#include "explain.hpp"

#include <algorithm>
#include <cmath>
#include <functional>
#include <memory>
#include <ranges>

#include <fmt/format.h>

#include <hornbill/hornbill.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/names.hpp>

#include "commands.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

/// How many evidence sets to run at once: one a thread, since all wait for the last to converge, up to as many as keep
/// a GPU busy.
std::size_t max_at_once(SolverArguments const& a, bp::Strategy const& strategy) {
  if (runs_one_set_at_a_time(strategy)) return 1;
  return backend::visit(a.backend, [](auto const& exec) {
    return std::clamp<std::size_t>(static_cast<std::size_t>(exec.concurrency()), 1, 64);
  });
}

/// The labels, but for a hard one of the alarm: nothing would be left to explain.
void gather_labels(ExplainArguments const& a, Model const& model, Explanation& e) {
  for (auto const& o : last_of_each_variable(read_evidence(a.file, model, a.evidence)))
    if (o.is_hard() && o.variable == e.alarm)
      e.own = o;
    else
      e.labels.push_back(o);
}

[[noreturn]] void fail_by_contradiction(SolverArguments const& a, Model const& model, Index variable) {
  throw ContradictionError(
      fmt::format("{}: the evidence contradicts itself at {}", a.file, model.graph.name_of(variable)));
}

void take_report(SolverArguments const& a, Model const& model, bp::Report const& report, Explanation& e) {
  if (report.stop == bp::Stop::contradiction) fail_by_contradiction(a, model, report.contradiction);
  ++e.runs;
  e.unconverged += report.stop != bp::Stop::converged;
}

/// The marginals and the derivation, by one run with all labels.
void explain_labelled(SolverArguments const& a, Model const& model, bp::Strategy const& strategy, Explanation& e) {
  auto const inference = make_inference(a, model, strategy, {.local_update = false});
  for (auto const& o : e.labels) inference->observe(o);
  take_report(a, model, inference->run(with_progress(a.options)), e);
  e.log_odds = inference->log_odds();
  auto const to_variables = inference->factor_messages(), to_factors = inference->variable_messages();
  auto const counts = bp::expected_counts(model.graph, to_variables, to_factors);
  for (std::size_t f = 0; f < counts.tried.size(); ++f)
    e.holds.push_back(counts.tried[f] > 0 ? std::min(1.0, counts.fired[f] / counts.tried[f]) : 0);
  e.derivation = analysis::most_probable_derivation(
      model.graph, e.alarm, analysis::log_derivation_weights(model.graph, to_variables, to_factors), a.file);
}

/// Evidence sets that are made as they are run.
struct SetsToRun {
  std::size_t count = 0;
  std::function<HostEvidence(std::size_t)> set;
};

/// The alarm's log-odds under each set, as many at once as the plan has.
template <class Value, class Exec>
std::vector<double> log_odds_on(Exec const& exec, SolverArguments const& a, Model const& model,
                                bp::HostPlan const& host_plan, SetsToRun const& sets, Explanation& e) {
  auto const plan = bp::make_plan(exec, host_plan);
  auto const graph = bp::to_device<Value>(exec, model.graph);
  auto state = bp::make_state(exec, graph, plan);
  auto options = a.options;
  options.warm_start = false;  // what one batch believed must not sway the next
  std::vector<double> result;
  while (result.size() < sets.count) {
    std::vector<HostEvidence> some;
    for (Index s = 0; s < plan.sets; ++s)
      some.push_back(sets.set(std::min(result.size() + static_cast<std::size_t>(s), sets.count - 1)));
    bp::EvidenceSets evidence(exec, model.graph, graph, some);
    auto const reports = bp::run(exec, graph, evidence, plan, state, with_progress(options));
    auto const of_alarm = bp::log_odds_of_variable(exec, graph, state, e.alarm);
    for (std::size_t s = 0; s < reports.size() && result.size() < sets.count; ++s) {
      take_report(a, model, reports[s], e);
      result.push_back(of_alarm[s]);
    }
  }
  return result;
}

/// A plan for so many sets at once, or for fewer where there is no memory for these.
template <class Exec>
bp::HostPlan lay_out_sets(SolverArguments const& a, Model const& model, bp::Strategy const& strategy,
                          std::size_t at_once) {
  for (;; at_once /= 2) {
    auto plan = bp::lay_out<Exec>(model.graph, bp::make_batches(model.graph, strategy),
                                  {.sets = static_cast<Index>(at_once), .local_update = false});
    try {
      require_memory(a, model.graph, plan);
      return plan;
    } catch (CapacityError const&) {
      if (at_once == 1) throw;
    }
  }
}

std::vector<double> log_odds_under(ExplainArguments& a, Model const& model, std::size_t at_once, SetsToRun const& sets,
                                   Explanation& e) {
  auto const strategy = choose_strategy(a, model, static_cast<Index>(at_once));
  return backend::visit(a.backend, [&]<class Exec>(Exec const& exec) {
    auto const plan = lay_out_sets<Exec>(a, model, strategy, at_once);
    return a.precision == "float" ? log_odds_on<float>(exec, a, model, plan, sets, e)
                                  : log_odds_on<double>(exec, a, model, plan, sets, e);
  });
}

/// What each label does: every run is without one of them, the first without any.
void explain_labels(ExplainArguments& a, Model const& model, std::size_t most, Explanation& e) {
  std::size_t const count = 1 + (a.max_labels > 0 ? e.labels.size() : 0), batches = (count + most - 1) / most;
  auto const log_odds = log_odds_under(a, model, (count + batches - 1) / batches,
                                       {count,
                                        [&](std::size_t s) {
                                          HostEvidence set;
                                          for (std::size_t i = 0; s > 0 && i < e.labels.size(); ++i)
                                            if (i != s - 1) set.push_back(e.labels[i]);
                                          return set;
                                        }},
                                       e);
  e.unlabelled = log_odds.front();
  if (a.max_labels == 0) return;
  std::vector<Influence> influences;
  for (std::size_t i = 0; i < e.labels.size(); ++i) influences.push_back({e.labels[i], log_odds[1 + i]});
  std::erase_if(influences, [&](Influence const& i) { return std::abs(moved_by(e, i)) < min_move; });
  std::stable_sort(influences.begin(), influences.end(), [&](Influence const& x, Influence const& y) {
    return std::abs(moved_by(e, x)) > std::abs(moved_by(e, y));
  });
  influences.resize(std::min(influences.size(), static_cast<std::size_t>(a.max_labels)));
  e.influences = std::move(influences);
}

/// The variable of that name or number; or the only one whose name begins with it, such as an alarm's place.
Index find_alarm(ExplainArguments const& a, Model const& model) {
  if (auto const alarm = io::VariableNames(model.graph).find(a.alarm)) return *alarm;
  constexpr std::size_t max_shown = 5;
  std::vector<Index> there;
  for (Index v = 0; v < model.graph.num_variables; ++v)
    if (model.graph.name_of(v).starts_with(a.alarm + " ")) there.push_back(v);
  if (there.size() == 1) return there.front();
  if (there.empty())
    throw InputError(a.file, "",
                     fmt::format("'{}' is no variable of the model, neither by name nor by number", a.alarm));
  std::string names;
  for (Index const v : there | std::views::take(max_shown)) names += fmt::format("\n  {}", model.graph.name_of(v));
  throw InputError(a.file, "",
                   fmt::format("'{}' begins the names of {} variables{}; give a whole name:{}", a.alarm, there.size(),
                               there.size() > max_shown ? ", the first of which are below" : "", names));
}

int explain(ExplainArguments& a) {
  std::vector<NamedFile> read{{"MODEL", a.file}};
  for (auto const& source : a.evidence) read.push_back({"--evidence", source});
  keep_apart(read, {{"--dot", a.dot}});
  if (!a.dot.empty()) io::require_writable(a.dot);
  settle(a);
  auto const model = read_model(a.file);
  Explanation e;
  e.alarm = find_alarm(a, model);
  gather_labels(a, model, e);
  analysis::require_derivations(model.graph, a.file);  // before any work
  {
    Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
    std::string const schedule = a.schedule;
    auto const strategy = choose_strategy(a, model, 1);
    explain_labelled(a, model, strategy, e);
    e.unlabelled = e.log_odds[e.alarm];
    if (!e.labels.empty()) {
      a.schedule = schedule;
      explain_labels(a, model, max_at_once(a, strategy), e);
    }
  }
  if (!a.dot.empty()) write_graphviz(e, model, a.dot);
  if (a.json)
    print_explanation_json(e, model);
  else
    print_explanation(e, model);
  if (e.unconverged == 0) return success;
  fmt::print(stderr, "hornbill: {} of {} runs had not converged; try {}\n", e.unconverged, e.runs,
             what_may_help(a, bp::Stop::iteration_limit));
  return not_converged;
}

}  // namespace

double moved_by(Explanation const& e, Influence const& influence) {
  double const with = e.log_odds[e.alarm];
  return with == influence.without ? 0 : with - influence.without;
}

void add_explain(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "explain", "Why an alarm is probable: its most probable derivation, and the labels that moved it most");
  auto a = std::make_shared<ExplainArguments>();
  command->add_option("MODEL", a->file, "Model without cycles, as `hornbill clauses model` makes it")->required();
  command->add_option("ALARM", a->alarm, "A variable, by name or number")->required();
  command
      ->add_option("--evidence", a->evidence,
                   "The labels: an evidence set of MODEL, or a text file, such as the session of `hornbill rank`; may "
                   "be given several times")
      ->allow_extra_args(false)
      ->option_text("SET");
  command
      ->add_option("--labels", a->max_labels,
                   "Show so many labels. Each of the labels costs a run without it, one a CPU thread or 64 on a GPU at "
                   "once; 0: none")
      ->check(at_least(0))
      ->capture_default_str();
  command->add_option("--dot", a->dot, "Write the explanation as a graph for Graphviz: `dot -Tsvg FILE`")
      ->option_text("FILE");
  add_solver_options(*command, *a);
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "The derivation is that whose clauses are most probable to hold together, given the labels; each counts as often "
      "as it is\n"
      "used while it is sought; where cycles make that no probability, an upper bound is given. The number at a clause "
      "is its\n"
      "probability where its premises hold.\n"
      "A label's effect is what withdrawing it alone does to the probability; labels that move it by less than 0.001 "
      "in log-odds\n"
      "are not shown (JSON: log_odds is null where it is infinite: one of the two is certain). A hard label of ALARM "
      "itself is left out.\n"
      "Limits such as --iterations are of each run.\n"
      "\n"
      "Example:\n"
      "  hornbill explain model.h5 'Alarm(a,b)' --evidence session.txt --dot why.dot");
  command->callback([a, &exit_code] { exit_code = explain(*a); });
}

}  // namespace hornbill::cli
