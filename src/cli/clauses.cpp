// hornbill clauses: from grounded Horn clauses to a model, at once or step by step.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/analysis/build.hpp>
#include <hornbill/analysis/prune.hpp>
#include <hornbill/analysis/simplify.hpp>
#include <hornbill/datalog.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/names.hpp>
#include <hornbill/io/text_file.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

using analysis::ClauseSet;

struct ClausesArguments {
  std::string in, alarms, rules, out, dictionary;
  std::optional<std::string> input_rule;
  std::optional<double> default_probability;
  bool augment = false, uncompressed = false, json = false;
};

/// Clauses under way, and what has been said of them.
struct Work {
  ClauseSet clauses;
  std::vector<Index> alarms;
  nlohmann::json report;
  std::string text;
};

Work read(ClausesArguments const& a) {
  keep_apart({{"CLAUSES", a.in}, {"--alarms", a.alarms}, {"--rules", a.rules}},
             {{"--output", a.out}, {"--dictionary", a.dictionary}});
  io::require_writable(a.out);
  if (!a.dictionary.empty()) io::require_writable(a.dictionary);
  Work work;
  work.clauses = analysis::read_clauses(a.in);
  work.alarms = analysis::read_derived_tuples(a.alarms, work.clauses);
  work.report = {{"file", a.out}};
  return work;
}

void prune(Work& work, ClausesArguments const& a) {
  auto pruned = analysis::prune(work.clauses, work.alarms, {.augment = a.augment}, a.alarms);
  auto const& report = pruned.report;
  work.report["pruned"] = {{"clauses_before", report.clauses},     {"tuples_before", report.tuples},
                           {"underivable", report.underivable},    {"cyclic", report.cyclic},
                           {"irrelevant", report.irrelevant},      {"clauses", pruned.clauses.num_clauses()},
                           {"tuples", pruned.clauses.num_tuples()}};
  work.text += fmt::format(
      "  pruned      {} of {} clauses are left: {} do not follow from inputs, {} go against the order of "
      "derivations{}, {} lead to no alarm\n",
      pruned.clauses.num_clauses(), report.clauses, report.underivable, report.cyclic,
      a.augment || report.cyclic == 0 ? "" : " (--augment keeps those on no cycle)", report.irrelevant);
  work.clauses = std::move(pruned.clauses);
  work.alarms = std::move(pruned.alarms);
}

void compress(Work& work, ClausesArguments const& a) {
  if (a.uncompressed) return;
  auto compressed = analysis::compress(work.clauses, work.alarms, a.in);
  work.report["compressed"] = {{"folded", compressed.removed},
                               {"clauses", compressed.clauses.num_clauses()},
                               {"tuples", compressed.clauses.num_tuples()}};
  work.text += fmt::format("  compressed  {} clauses are left: {} tuples were folded away\n",
                           compressed.clauses.num_clauses(), compressed.removed);
  work.clauses = std::move(compressed.clauses);
  work.alarms = std::move(compressed.alarms);
}

void finish(Work const& work, ClausesArguments const& a) {
  if (a.json)
    print_json(work.report);
  else
    write_out("{}\n{}", a.out, work.text);
}

void write_clauses(Work& work, ClausesArguments const& a) {
  analysis::write_clauses(work.clauses, a.out);
  finish(work, a);
}

void write_model(Work& work, ClausesArguments const& a) {
  auto const probabilities =
      a.rules.empty() ? std::map<std::string, double>() : analysis::read_rule_probabilities(a.rules);
  auto const model = analysis::build_model(
      work.clauses, probabilities, work.alarms,
      {.rule_of_inputs = a.input_rule, .default_probability = a.default_probability}, a.in, a.rules);
  io::write_model(model, a.out);
  if (!a.dictionary.empty()) analysis::write_dictionary(model, a.dictionary);
  work.report["model"] = {{"variables", model.graph.num_variables},
                          {"factors", model.graph.num_factors()},
                          {"edges", model.graph.num_edges()},
                          {"alarms", work.alarms.size()},
                          {"rules", model.rules.names.size()}};
  work.text += fmt::format("  built       {}, {}\n", sizes_of(model.graph), counted(std::ssize(work.alarms), "alarm"));
  finish(work, a);
}

/// What a subcommand does: reads clauses, then takes these steps.
template <class... Steps>
auto after_reading(std::shared_ptr<ClausesArguments> const& a, Steps... steps) {
  return [a, steps...] {
    auto work = read(*a);
    (steps(work, *a), ...);
  };
}

/// A step's subcommand with the options that all have.
CLI::App* add_step(CLI::App& clauses, std::string const& name, std::string const& what,
                   std::shared_ptr<ClausesArguments> const& a, std::string const& output) {
  auto* command = clauses.add_subcommand(name, what);
  command->add_option("CLAUSES", a->in, "Grounded clauses, a line each: `Rule: NOT premise, NOT premise, conclusion`")
      ->required();
  command->add_option("--alarms", a->alarms, "Text file: the tuple of an alarm a line")->required();
  command->add_option("-o,--output", a->out, output)->required();
  command->add_flag("--json", a->json, "Print JSON");
  return command;
}

void add_augment(CLI::App& command, std::shared_ptr<ClausesArguments> const& a) {
  command.add_flag("--augment", a->augment,
                   "Also keep clauses against the order of shortest derivations, as many as make no cycle");
}

void add_build_options(CLI::App& command, std::shared_ptr<ClausesArguments> const& a) {
  auto* const probabilities = command.add_option_group("Probabilities of rules", "One of them is needed");
  probabilities->require_option(1, 2);
  probabilities->add_option("--rules", a->rules, "Text file: `Rule: probability` a line");
  probabilities
      ->add_option("--default-probability", a->default_probability,
                   "Of rules for which --rules has none, such as 0.999 (without: each needs one)")
      ->check(number_that([](double p) { return p >= 0 && p <= 1; }, "a number in [0, 1]"));
  command.add_option("--input-rule", a->input_rule,
                     "Inputs are uncertain facts, with this rule's probability (without: certain, and left out)");
  command.add_option("--dictionary", a->dictionary,
                     "Also write the variables' numbers and names, as BINGO's drivers read them (bnet-dict.out)");
}

// --- clauses ground ---

struct GroundArguments {
  std::string rules, facts = ".", out, alarms;
  bool json = false;
};

void ground(GroundArguments const& a) {
  keep_apart({{"RULES", a.rules}}, {{"--output", a.out}, {"--alarms", a.alarms}});
  io::require_writable(a.out);
  if (!a.alarms.empty()) io::require_writable(a.alarms);
  auto program = datalog::parse(io::read_text(a.rules), a.rules);
  auto const is_of_alarms = [](datalog::Relation const& r) { return r.is_output && r.is_derived; };
  for (auto const& relation : program.relations)
    if (relation.is_input)
      keep_apart({{relation.name, (std::filesystem::path(a.facts) / relation.input_file).string()}},
                 {{"--output", a.out}, {"--alarms", a.alarms}});
  datalog::Database database(program);
  datalog::read_facts(program, a.facts, database);
  auto const grounded = datalog::ground(program, database);
  auto const& clauses = grounded.clauses;
  auto const& outputs = grounded.outputs;
  if (!a.alarms.empty() && std::ranges::none_of(program.relations, is_of_alarms))
    throw InputError(a.rules, "", "has no .output of a relation that is derived, so no relation is of alarms");
  std::vector<io::FileContents> files{{a.out, analysis::to_string(clauses)}};
  if (!a.alarms.empty()) {
    files.push_back({a.alarms, {}});
    for (Index const tuple : outputs) files.back().bytes += io::as_line(clauses.tuple_names[tuple]) + "\n";
  }
  io::write_together(files);
  nlohmann::json report{{"file", a.out}, {"clauses", clauses.num_clauses()}, {"outputs", outputs.size()}};
  auto text = fmt::format("{}\n  {}, {}\n", a.out, counted(clauses.num_clauses(), "clause"),
                          counted(std::ssize(outputs), "tuple") + " of .output relations");
  for (std::size_t r = 0; r < program.relations.size(); ++r) {
    auto const& relation = program.relations[r];
    auto const count = database.num_tuples(static_cast<Index>(r));
    bool const is_unset = !relation.is_input && !relation.is_derived;
    report["relations"][relation.name] = count;
    text += fmt::format("  {:<26} {}{}\n", relation.name, counted(count, "tuple"),
                        is_unset ? ": no rule derives it, and it is not an .input" : "");
  }
  if (a.json)
    print_json(report);
  else
    write_out("{}", text);
}

void add_ground(CLI::App& clauses) {
  auto a = std::make_shared<GroundArguments>();
  auto* command =
      clauses.add_subcommand("ground", "Clauses of Datalog rules and facts: all instances of rules that hold");
  command->add_option("RULES", a->rules, "Rules in Souffle's syntax (.dl)")->required();
  command
      ->add_option("--facts", a->facts,
                   "Folder of NAME.facts for each .input relation: a tuple a line, columns divided by tabs")
      ->capture_default_str();
  command->add_option("-o,--output", a->out, "File of clauses to write")->required();
  command->add_option("--alarms", a->alarms, "Also write the tuples of .output relations, a line each");
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "Instances of the k-th rule or fact of the file, from 0, are clauses of rule Rk.\n"
      "Example: hornbill clauses ground taint.dl --facts facts -o clauses.txt --alarms alarms.txt\n"
      "         hornbill clauses model clauses.txt --alarms alarms.txt --default-probability 0.99 -o model.h5");
  command->callback([a] { ground(*a); });
}

constexpr char const* model_file = "Model to write: .h5, or .fg, .causal_fg for the graph alone";
constexpr char const* clause_file = "File of clauses to write";

}  // namespace

void add_clauses(CLI::App& app, int&) {
  auto* command = app.add_subcommand("clauses", "From grounded Horn clauses to a model, at once or step by step");
  command->require_subcommand(1);
  auto a = std::make_shared<ClausesArguments>();

  add_ground(*command);
  auto* all = add_step(*command, "model", "All steps: prune, compress and build", a, model_file);
  add_augment(*all, a);
  all->add_flag("--uncompressed", a->uncompressed, "Keep every tuple: do not compress");
  add_build_options(*all, a);
  all->footer(
      "Example: hornbill clauses model named_cons_all.txt --alarms base_queries.txt --rules rule-prob.txt -o "
      "model.h5\n         hornbill lbp model.h5 --top alarms");
  all->callback(after_reading(a, prune, compress, write_model));

  auto* pruning = add_step(*command, "prune", "Keep clauses without cycles that lead to alarms", a, clause_file);
  add_augment(*pruning, a);
  pruning->footer(
      "A tuple's depth is that of its shortest derivation: 0 for inputs, which no clause derives, and facts. Kept are "
      "clauses whose\n"
      "premises are all less deep than their conclusion, and from which an alarm can be reached.");
  pruning->callback(after_reading(a, prune, write_clauses));

  auto* compressing = add_step(*command, "compress", "Fold chains of clauses into one", a, clause_file);
  compressing->footer(
      "A tuple that one clause derives, one clause uses, and that is no alarm, is folded away: the two become one "
      "clause of\n"
      "both rules, `R1 + R2: ...`, whose probabilities multiply.");
  compressing->callback(after_reading(a, compress, write_clauses));

  auto* building = add_step(*command, "build", "Make a factor graph of clauses without cycles", a, model_file);
  add_build_options(*building, a);
  building->footer(
      "Each clause and each tuple that is derived becomes a variable: true where all premises are and the clause's "
      "rules hold;\ntrue where one of its clauses is. The alarms become the query `alarms`.");
  building->callback(after_reading(a, write_model));
}

}  // namespace hornbill::cli
