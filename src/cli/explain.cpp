// hornbill explain: why an alarm is probable.
#include "explain.hpp"

#include <algorithm>
#include <cmath>
#include <memory>
#include <unordered_map>

#include <fmt/format.h>

#include <hornbill/hornbill.hpp>
#include <hornbill/io/atomic_file.hpp>

#include "commands.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

constexpr std::size_t most_sets = 64;  // at once: enough to hide what one alone waits for

/// What is observed, once a variable: of several observations the last counts.
HostEvidence gather_labels(ExplainArguments const& a, io::Model const& model) {
  HostEvidence labels;
  std::unordered_map<Index, std::size_t> place;
  for (auto const& source : a.evidence)
    for (auto const& o : read_evidence(a.file, model, source)) {
      auto const [known, is_new] = place.try_emplace(o.variable, labels.size());
      if (is_new) labels.push_back(o);
      else labels[known->second] = o;
    }
  return labels;
}

[[noreturn]] void fail_by_contradiction(SolverArguments const& a, io::Model const& model, Index variable) {
  throw ContradictionError(fmt::format("{}: the evidence contradicts itself at {}", a.file, model.graph.name_of(variable)));
}

/// The marginals and the derivation, by one run with all labels.
void explain_labelled(ExplainArguments& a, io::Model const& model, Explanation& e) {
  auto const inference = make_inference(a, model, choose_strategy(a, model, 1), {.local_update = false});
  for (auto const& o : e.labels) inference->observe(o);
  auto const report = inference->run(a.options);
  if (report.stop == bp::Stop::contradiction) fail_by_contradiction(a, model, report.contradiction);
  ++e.runs;
  e.unconverged += report.stop != bp::Stop::converged;
  e.p_true = inference->marginals();
  auto const counts = bp::expected_counts(model.graph, inference->factor_messages(), inference->variable_messages());
  for (std::size_t f = 0; f < counts.tried.size(); ++f) e.holds.push_back(counts.tried[f] > 0 ? std::min(1.0, counts.fired[f] / counts.tried[f]) : 0);
  e.derivation = analysis::most_probable_derivation(model.graph, e.alarm, e.holds, a.file);
}

/// P(alarm) under each of several evidence sets, run at once.
template <class Value, class Exec>
std::vector<double> probabilities_on(Exec const& exec, SolverArguments const& a, io::Model const& model, bp::HostPlan const& host_plan, std::vector<HostEvidence> const& sets, Explanation& e) {
  auto const plan = bp::make_plan(exec, host_plan);
  auto const graph = to_device<Value>(exec, model.graph);
  EvidenceSets evidence(exec, model.graph, graph, sets);
  auto state = bp::make_state(exec, graph, plan);
  auto options = a.options;
  auto const progress = std::make_shared<Progress>(options.max_iterations);
  options.progress = [progress](int iterations, double residual) { (*progress)(iterations, residual); };
  auto const reports = bp::run(exec, graph, evidence, plan, state, options);
  std::vector<double> result;
  for (std::size_t s = 0; s < sets.size(); ++s) {
    if (reports[s].stop == bp::Stop::contradiction) fail_by_contradiction(a, model, reports[s].contradiction);
    ++e.runs;
    e.unconverged += reports[s].stop != bp::Stop::converged;
    result.push_back(bp::marginals(exec, graph, state, static_cast<Index>(s))[e.alarm]);
  }
  return result;
}

/// P(alarm) under each of `count` evidence sets, as many at once as there is memory for.
template <class SetOf>
std::vector<double> probabilities(ExplainArguments& a, io::Model const& model, std::size_t count, SetOf const& set_of, Explanation& e) {
  std::vector<double> result;
  std::size_t at_once = std::min(most_sets, count);
  std::string const schedule = a.schedule;
  while (result.size() < count) {
    std::vector<HostEvidence> some;
    while (some.size() < at_once && result.size() + some.size() < count) some.push_back(set_of(result.size() + some.size()));
    a.schedule = schedule;
    auto const strategy = choose_strategy(a, model, static_cast<Index>(some.size()));
    try {
      auto const more = backend::visit(a.backend, [&]<class Exec>(Exec const& exec) {
        auto const plan = bp::lay_out<Exec>(model.graph, bp::make_batches(model.graph, strategy), {.sets = static_cast<Index>(some.size()), .local_update = false});
        require_memory(a, model.graph, plan);
        return a.precision == "float" ? probabilities_on<float>(exec, a, model, plan, some, e) : probabilities_on<double>(exec, a, model, plan, some, e);
      });
      result.insert(result.end(), more.begin(), more.end());
    } catch (CapacityError const&) {
      if (at_once == 1) throw;
      at_once /= 2;
    }
  }
  return result;
}

/// What each label does: every run is without one of them, the first without any.
void explain_labels(ExplainArguments& a, io::Model const& model, Explanation& e) {
  auto const all_but = [&](std::size_t left_out) {
    HostEvidence set;
    for (std::size_t i = 0; i < e.labels.size(); ++i)
      if (i != left_out) set.push_back(e.labels[i]);
    return set;
  };
  std::size_t const withdrawn = a.most_labels > 0 ? e.labels.size() : 0;
  auto const p = probabilities(a, model, 1 + withdrawn, [&](std::size_t s) { return s == 0 ? HostEvidence{} : all_but(s - 1); }, e);
  e.unlabelled = p.front();
  if (a.most_labels == 0) return;
  std::vector<Influence> influences;
  for (std::size_t i = 0; i < e.labels.size(); ++i) influences.push_back({e.labels[i], p[1 + i]});
  std::erase_if(influences, [&](Influence const& i) { return std::abs(moved_by(e, i)) < least_move; });
  std::stable_sort(influences.begin(), influences.end(), [&](Influence const& x, Influence const& y) { return std::abs(moved_by(e, x)) > std::abs(moved_by(e, y)); });
  influences.resize(std::min(influences.size(), static_cast<std::size_t>(a.most_labels)));
  e.influences = std::move(influences);
}

int explain(ExplainArguments& a) {
  if (!a.dot.empty()) io::require_writable(a.dot);
  settle(a);
  auto const model = io::read_model(a.file);
  auto const alarm = io::find_variable(model.graph, a.alarm);
  if (!alarm) throw InputError(a.file, "", fmt::format("'{}' is no variable of the model, neither by name nor by number", a.alarm));
  Explanation e;
  e.alarm = *alarm;
  e.labels = gather_labels(a, model);
  network_order(model.graph, a.file);  // before any work: are there derivations at all?
  {
    Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
    std::string const schedule = a.schedule;
    explain_labelled(a, model, e);
    a.schedule = schedule;
    if (!e.labels.empty()) explain_labels(a, model, e);
    else e.unlabelled = e.p_true[e.alarm];
  }
  if (!a.dot.empty()) write_graphviz(e, model, a.dot);
  if (a.json) print_explanation_json(e, model);
  else print_explanation(e, model);
  if (e.unconverged == 0) return success;
  fmt::print(stderr, "hornbill: {} of {} runs had not converged; try {}\n", e.unconverged, e.runs, what_may_help(a, bp::Stop::iteration_limit));
  return not_converged;
}

}  // namespace

double moved_by(Explanation const& e, Influence const& influence) {
  auto const log_odds = [](double p) { return std::log(p) - std::log1p(-p); };
  double const with = e.p_true[e.alarm];
  return with == influence.without ? 0 : log_odds(with) - log_odds(influence.without);
}

void add_explain(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("explain", "Why an alarm is probable: its most probable derivation, and the labels that moved it most");
  auto a = std::make_shared<ExplainArguments>();
  command->add_option("MODEL", a->file, "Model without cycles, as `hornbill clauses model` makes it")->required();
  command->add_option("ALARM", a->alarm, "A variable, by name or number")->required();
  command->add_option("--evidence", a->evidence, "The labels: an evidence set of MODEL, or a text file, such as the session of `hornbill rank`; may be given several times")->allow_extra_args(false)->option_text("SET");
  command->add_option("--labels", a->most_labels, "Show so many labels. Each of the labels costs a run without it, 64 of them at once; 0: none")->check(at_least(0))->capture_default_str();
  command->add_option("--dot", a->dot, "Write the explanation as a graph for Graphviz: `dot -Tsvg FILE`")->option_text("FILE");
  add_solver_options(*command, *a);
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "The derivation is that whose clauses' probabilities, given their premises and the labels, have the largest product, each\n"
      "counted as often as it is used.\n"
      "A label's effect is what withdrawing it alone does to the probability; labels that move it by less than 0.001 in log-odds\n"
      "are not shown.\n"
      "\n"
      "Example:\n"
      "  hornbill explain model.h5 'Alarm(a,b)' --evidence session.txt --dot why.dot");
  command->callback([a, &exit_code] { exit_code = explain(*a); });
}

}  // namespace hornbill::cli
