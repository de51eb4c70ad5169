// hornbill lbp: loopy belief propagation.
#include <algorithm>
#include <chrono>
#include <memory>

#include <fmt/format.h>

#include <hornbill/hornbill.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>

#include "commands.hpp"
#include "lbp.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

/// Starts from stored messages. What they say with certainty stands in the sets in which no evidence for it has gone.
template <class Value, class Exec, class Graph, class State>
void start_from(Exec const& exec, Graph const& graph, StoredMessages const& messages,
                std::vector<HostEvidence> const& observed,
                bp::EvidenceSets<Value, typename Exec::memory_space> const& evidence, State& state) {
  auto const stands = [&](HostEvidence const& set) {
    return messages.evidence && rules_out_as_much(set, *messages.evidence);
  };
  std::vector<std::vector<double>> of_sets;
  for (auto const& set : observed)
    of_sets.push_back(stands(set) ? messages.log_odds : bp::without_certainty(messages.log_odds));
  bp::set_factor_messages(exec, graph, of_sets, evidence, state);
}

/// Whether more than P(variable = 1) of each variable is printed or written.
bool needs_states(LbpArguments const& a, HostFactorGraph const& graph) {
  return !graph.is_binary() || prints_marginals(a) || a.output.ends_with(".MAR") || (a.json && !a.top.empty());
}

template <class Value, class Exec>
Result solve(Exec const& exec, LbpArguments const& a, Model const& model, bp::Strategy const& strategy,
             std::vector<HostEvidence> const& observed) {
  Result result;
  auto const begin = std::chrono::steady_clock::now();
  auto const batches = bp::make_batches(model.graph, strategy);
  auto const host_plan =
      bp::lay_out<Exec>(model.graph, batches, {.sets = static_cast<Index>(observed.size()), .local_update = false});
  require_memory(a, model.graph, host_plan);
  auto const plan = bp::make_plan(exec, host_plan);
  auto const graph = bp::to_device<Value>(exec, model.graph);
  bp::EvidenceSets evidence(exec, model.graph, graph, observed);
  auto state = bp::make_state(exec, graph, plan);
  if (!a.start.empty()) start_from(exec, graph, model.messages.at(a.start), observed, evidence, state);
  result.setup_seconds =
      std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() - batches.analysis_seconds;
  result.analysis_seconds = batches.analysis_seconds;
  result.statistics = plan.statistics;
  auto const reports = bp::run(exec, graph, evidence, plan, state, with_progress(a.options));
  for (std::size_t s = 0; s < reports.size(); ++s) {
    auto& set = result.sets.emplace_back();
    set.name = a.each.empty() ? "" : a.each[s];
    set.report = reports[s];
    set.marginals.p_true = bp::marginals(exec, graph, state, static_cast<Index>(s));
    if (needs_states(a, model.graph))
      set.marginals.p_states = bp::state_marginals(exec, model.graph, graph, state, static_cast<Index>(s));
  }
  if (a.store_messages) result.messages = {bp::factor_messages(exec, graph, state), observed.front()};
  return result;
}

void require_usable_output(LbpArguments const& a) {  // before hours of work, not after
  bool const is_mar = a.output.ends_with(".MAR");
  if (!a.output.empty() && !is_mar && !io::is_hdf5(a.output))
    throw UsageError(fmt::format("-o {}: marginals are written to .MAR or .h5 files", a.output));
  if (is_mar && a.each.size() > 1)
    throw UsageError(
        "-o: a .MAR file holds the marginals of one evidence set; --each gives several, which fit into an .h5 file");
  if (is_mar && a.store_messages) throw UsageError("--store-messages: messages fit into an .h5 file, not a .MAR file");
  if (a.store_messages && a.each.size() > 1)
    throw UsageError("--store-messages stores those of one evidence set; --each gives several");
  require_names_apart(a.name, a.each);
  if (!a.output.empty()) io::require_writable(a.output);
  io::validate_name(a.name, "set of marginals");
}

int run_lbp(LbpArguments& a) {
  require_usable_output(a);
  // plain iterations would lead away from where damped ones have led
  if (!a.start.empty()) a.options.acceleration.after = 0;
  settle(a);
  auto model = read_model(a.file);
  auto const observed = read_evidence_sets(a.file, model, a.evidence, a.each);
  if (!a.start.empty() && !model.messages.contains(a.start))
    throw InputError(
        a.file, "/messages",
        fmt::format("there are no messages '{}' to start from; there are {} (--store-messages stores them)", a.start,
                    model.messages.empty() ? "none" : fmt::format("{}", fmt::join(names_of(model.messages), ", "))));
  auto const query = a.top.empty() ? std::vector<Index>{} : find_query(a.file, model, a.top);

  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  auto const strategy = choose_strategy(a, model, static_cast<Index>(observed.size()));
  Result const result = backend::visit(a.backend, [&](auto const& exec) {
    return a.precision == "float" ? solve<float>(exec, a, model, strategy, observed)
                                  : solve<double>(exec, a, model, strategy, observed);
  });
  bool const any = std::any_of(result.sets.begin(), result.sets.end(),
                               [](auto const& set) { return set.report.stop != bp::Stop::contradiction; });
  if (any || a.json) print_result(a, model, result, query);
  for (auto const& set : result.sets)
    if (set.report.stop == bp::Stop::contradiction) report_contradiction(a, model, set);
  if (any && !a.output.empty()) write_result(a, model, result);
  return exit_code_of(a, result);
}

}  // namespace

void add_lbp(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("lbp", "Marginals by loopy belief propagation");
  auto a = std::make_shared<LbpArguments>();
  command->add_option("FILE", a->file, "Model: .h5, .fg, .causal_fg, .uai or .bif")->required();
  add_solver_options(*command, *a);
  command
      ->add_option("--evidence", a->evidence,
                   "An evidence set of FILE, or a text file with lines `variable value` (or `variable l0 l1 ...`, "
                   "soft); may be given several times: of several on a variable the last counts")
      ->allow_extra_args(false)
      ->option_text("SET");
  command
      ->add_option("--each", a->each,
                   "An evidence set as for --evidence; given several times, each is run by itself on top of "
                   "--evidence, all at once, and stored as NAME_SET (not by seqmax, residual, residual_random)")
      ->allow_extra_args(false)
      ->option_text("SET");
  auto* output =
      command
          ->add_option("-o,--output", a->output,
                       "Write the marginals: .MAR, as the UAI competitions do; or .h5, the model with P(variable = "
                       "1), and of all states where some variable has other than two")
          ->check(not_empty());
  command->add_option("--name", a->name, "Name of the marginals (and messages) in the output")
      ->capture_default_str()
      ->needs(output);
  command->add_flag("--store-messages", a->store_messages, "Write the messages too, for a warm start")->needs(output);
  command->add_option("--start-from", a->start,
                      "Start from messages of this name in FILE, as --store-messages stored them. Where hard evidence "
                      "of theirs is not given again, nearly as many iterations follow as from nothing");
  auto* top =
      command
          ->add_option(
              "--top", a->top,
              "Print the most probable variables of a query of FILE, e.g. alarms, or of all: by P(variable = 1), the "
              "second of its states")
          ->check(not_empty());
  command->add_option("--count", a->top_count, "How many of them")
      ->check(at_least(1))
      ->capture_default_str()
      ->needs(top);
  command
      ->add_flag("--by-place", a->is_by_place,
                 "Of variables whose names begin with one place, file:line:column, print the most probable")
      ->needs(top);
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "Schedules: seqfix updates in file order, each update reading all before it: libDAI's SEQFIX, message for "
      "message;\n"
      "topo follows the derivations and back, and needs the fewest iterations where they have few cycles;\n"
      "parall updates everything at once: more iterations, each the cheapest, above all on a GPU;\n"
      "chromatic needs fewer iterations than parall and few large batches: made for a GPU or many CPU threads;\n"
      "seqrnd is seqfix with the factors in a fresh random order each iteration;\n"
      "seqmax updates one message at a time, always that which would change most: libDAI's SEQMAX, by one thread;\n"
      "residual and residual_random compute all messages and let some take their place: those of largest residual, or "
      "any.\n"
      "\n"
      "With labels plain propagation often swings for ever. --damping auto, the default, then damps it and "
      "extrapolates from the\n"
      "last iterations to where they lead (reduced rank extrapolation); it converges on most graphs in hundreds of "
      "iterations.\n"
      "Where a limit is met first, the marginals are those of the last iteration and the exit code is 4. --damping 0 "
      "is libDAI's\n"
      "iteration.\n"
      "\n"
      "Without --top and -o the first marginals are printed (--json: all).\n"
      "\n"
      "--evidence also takes sets that `hornbill generate` stores, where there are so many alarms: labels10, "
      "labels50.\n"
      "\n"
      "Examples:\n"
      "  hornbill lbp graph.h5 --top alarms\n"
      "  hornbill lbp graph.h5 --evidence labels10 --schedule chromatic -o result.h5\n"
      "  hornbill lbp graph.h5 --evidence labels10 --each if_true.txt --each if_false.txt --top alarms\n"
      "  hornbill lbp graph.h5 --schedule parall --iterations 200 --tolerance 0 --precision float --json");
  command->callback([a, &exit_code] { exit_code = run_lbp(*a); });
}

}  // namespace hornbill::cli
