// hornbill learn: probabilities of rules from labelled alarms.
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/analysis/learn.hpp>
#include <hornbill/hornbill.hpp>
#include <hornbill/io/atomic_file.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

struct LearnArguments : SolverArguments {
  std::vector<std::pair<std::string, std::string>> runs;  ///< model and labels
  std::vector<std::string> fixed;
  std::string start, output;
  analysis::LearnOptions learning;
  bool json = false;
};

/// Models by file, each read once.
using Models = std::map<std::string, Model>;

Models read_models(LearnArguments const& a) {
  Models models;
  for (auto const& [file, labels] : a.runs)
    if (!models.contains(file)) models.emplace(file, read_model(file));
  if (a.start.empty()) return models;
  auto const start = analysis::read_rule_probabilities(a.start);
  for (auto& [file, model] : models) {
    std::vector<double> of_rule;
    for (auto const& name : model.rules.names) {
      auto const given = start.find(name);
      if (given == start.end())
        throw InputError(a.start, "", fmt::format("has no probability for the rule {} of {}", name, file));
      of_rule.push_back(given->second);
    }
    analysis::set_rule_probabilities(model, of_rule);
  }
  return models;
}

std::vector<analysis::LabelledRun> make_runs(LearnArguments& a, Models& models) {
  std::vector<analysis::LabelledRun> runs;
  std::string const schedule = a.schedule;
  for (auto const& [file, labels] : a.runs) {
    auto& model = models.at(file);
    a.file = file;
    a.schedule = schedule;
    auto const evidence = read_evidence(file, model, labels);
    if (evidence.empty()) throw InputError(labels, "", "holds no label to learn from");
    auto const strategy = choose_strategy(a, model, 1);
    runs.push_back({fmt::format("{} with {}", file, labels), &model, evidence,
                    make_inference(a, model, strategy, {.local_update = false})});
  }
  return runs;
}

void write_rules(analysis::Learned const& learned, std::string const& file) {
  std::string text;
  for (auto const& [name, rule] : learned.rules) text += analysis::to_line(name, rule.probability);
  io::write_atomically(file, text);
}

void print_learned(LearnArguments const& a, analysis::Learned const& learned) {
  nlohmann::json json{{"runs", a.runs.size()},
                      {"converged", learned.converged},
                      {"log_likelihood", learned.log_likelihood},
                      {"rules", nlohmann::json::array()},
                      {"steps", nlohmann::json::array()}};
  for (auto const& [name, rule] : learned.rules)
    json["rules"].push_back(
        {{"name", name}, {"before", rule.before}, {"probability", rule.probability}, {"tried", rule.tried}});
  for (auto const& step : learned.steps)
    json["steps"].push_back(
        {{"log_likelihood", step.log_likelihood}, {"change", step.change}, {"unconverged", step.unconverged}});
  print_json(json);
}

void print_text(LearnArguments const& a, analysis::Learned const& learned) {
  std::size_t width = 4;
  for (auto const& [name, rule] : learned.rules) width = std::max(width, name.size());
  write_out("{:<{}}  {:>8}  {:>8}  {:>10}\n", "rule", width, "before", "learned", "tried");
  for (auto const& [name, rule] : learned.rules)
    write_out("{:<{}}  {:>8.4f}  {:>8.4f}  {:>10.1f}\n", name, width, rule.before, rule.probability, rule.tried);
  if (learned.steps.empty())
    write_out("no steps; log-likelihood of the labels {:.4f}\n", learned.log_likelihood);
  else
    write_out("{} steps, {}; log-likelihood of the labels {:.4f} -> {:.4f}\n", learned.steps.size(),
              learned.converged ? "converged" : "stopped at the limit (--steps)", learned.steps.front().log_likelihood,
              learned.log_likelihood);
  if (!a.output.empty()) write_out("{}: {} rules\n", a.output, learned.rules.size());
}

analysis::Learned learn_from(LearnArguments& a, Models& models) {
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  auto runs = make_runs(a, models);
  a.learning.inference = a.options;
  a.learning.fixed = {a.fixed.begin(), a.fixed.end()};
  Progress progress(a.learning.max_steps, "steps, change");
  int steps = 0;
  a.learning.progress = [&](analysis::LearnStep const& step) { progress(++steps, step.change); };
  return analysis::learn_rules(runs, a.learning);
}

int learn(LearnArguments& a) {
  std::vector<NamedFile> read{{"--start", a.start}};
  for (auto const& [model, labels] : a.runs) read.insert(read.end(), {{"--run", model}, {"--run", labels}});
  keep_apart(read, {{"--output", a.output}});
  if (!a.output.empty()) io::require_writable(a.output);
  settle(a);
  auto models = read_models(a);
  analysis::Learned learned;
  try {
    learned = learn_from(a, models);
  } catch (analysis::ContradictingLabels const& e) {
    throw ContradictionError(e.what());
  }
  if (!a.output.empty()) write_rules(learned, a.output);
  if (a.json)
    print_learned(a, learned);
  else
    print_text(a, learned);
  int const unconverged = learned.unconverged;
  if (unconverged > 0)
    fmt::print(stderr, "hornbill: inference had not converged in {} of {} runs of a step; try {}\n", unconverged,
               a.runs.size(), what_may_help(a, bp::Stop::iteration_limit));
  return learned.converged && unconverged == 0 ? success : not_converged;
}

}  // namespace

void add_learn(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("learn", "Learn the probabilities of rules from labelled alarms");
  auto a = std::make_shared<LearnArguments>();
  command
      ->add_option("--run", a->runs,
                   "A model that knows its rules, as `hornbill clauses model` makes it, and what was said of its "
                   "alarms: an evidence set of the model, or a text file, such as the session of `hornbill rank`; may "
                   "be given several times")
      ->required()
      ->allow_extra_args(false)
      ->option_text("MODEL LABELS");
  command->add_option("-o,--output", a->output,
                      "Write `Rule: probability` lines to this file, as --rules of `hornbill clauses` reads them");
  command
      ->add_option("--start", a->start,
                   "Start from the probabilities in this file, which has one for every rule, rather than from those "
                   "that the models were made with")
      ->option_text("FILE");
  command->add_option("--fix", a->fixed, "Leave this rule as it is; may be given several times")
      ->allow_extra_args(false)
      ->option_text("RULE");
  command
      ->add_option("--prior", a->learning.prior,
                   "Take each rule as tried so many times before, with the success that its probability at the start "
                   "says; 0: the labels alone, which may make rules certain that were seen a few times")
      ->check(at_least(0))
      ->capture_default_str();
  command->add_option("--steps", a->learning.max_steps, "Most steps of expectation maximisation")
      ->check(at_least(0))
      ->capture_default_str();
  command->add_option("--change", a->learning.tolerance, "Stop when no probability of a rule changes by more")
      ->check(at_least(0))
      ->capture_default_str();
  a->options.max_iterations = 1000;
  add_solver_options(*command, *a);
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "Each step infers from the probabilities so far how often each rule was tried, its premises true, and how often "
      "it held,\n"
      "and takes the quotient. --iterations and --tolerance are those of the inference in each step, which goes on "
      "from the last\n"
      "step's messages. Rules of probability 0 or 1 stay as they are.\n"
      "\n"
      "Example:\n"
      "  hornbill rank model.h5 --ask --session labels.txt\n"
      "  hornbill learn --run model.h5 labels.txt -o learned.txt\n"
      "  hornbill clauses model named_cons_all.txt --alarms base_queries.txt --rules learned.txt -o better.h5");
  command->callback([a, &exit_code] { exit_code = learn(*a); });
}

}  // namespace hornbill::cli
