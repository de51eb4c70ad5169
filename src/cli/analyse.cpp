// hornbill analyse: from LLVM bitcode to a model of alarms and their derivations.
#include <algorithm>
#include <filesystem>
#include <iterator>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <Kokkos_Timer.hpp>

#include <hornbill/alarms.hpp>
#include <hornbill/analysis/build.hpp>
#include <hornbill/analysis/prune.hpp>
#include <hornbill/analysis/simplify.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/text_file.hpp>

#include "commands.hpp"
#include "front_end.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

struct AnalyseArguments {
  BitcodeArguments bitcode;
  std::vector<std::string> clients{"null", "free", "taint"}, rules, reports;
  std::string output, clauses, probabilities;
  std::optional<double> default_probability;
  bool compress = false, json = false;
  alarms::AnalyseOptions options;
};

/// Those that are named, and rules from files, each named like its file.
std::vector<alarms::Client> clients_of(AnalyseArguments const& a) {
  std::vector<alarms::Client> clients;
  auto const add = [&](alarms::Client client) {
    if (std::ranges::find(clients, client.name, &alarms::Client::name) != clients.end())
      throw UsageError(fmt::format("two clients are called {}; rename the file of one", client.name));
    clients.push_back(std::move(client));
  };
  for (auto const& name : a.clients) add(*std::ranges::find(alarms::standard_clients(), name, &alarms::Client::name));
  for (auto const& file : a.rules) add({std::filesystem::path(file).stem().string(), io::read_text(file), "", file});
  return clients;
}

/// \throws InputError naming a probability of a rule that none of the clients has
void require_known(std::map<std::string, double> const& probabilities, std::vector<alarms::Client> const& clients,
                   std::string const& file) {
  auto const known = alarms::rule_names(clients);
  for (auto const& [rule, probability] : probabilities)
    if (!known.contains(rule))
      throw InputError(file, "",
                       fmt::format("no client has the rule {}; in the order of CLIENT.dl they are CLIENT.R0, "
                                   "CLIENT.R1, ..., and those of points-to facts address-of, copy, load, store, ...",
                                   rule));
}

/// Clauses of the model, and the alarms in them: without cycles, and with chains folded into one if that is asked for.
analysis::Simplified simplified(alarms::Analysed const& analysed, AnalyseArguments const& a) {
  analysis::Simplified kept{analysed.clauses, analysed.alarms, 0};
  if (analysed.alarms.empty()) return kept;
  if (a.options.is_complete) {
    auto acyclic = analysis::prune(analysed.clauses, analysed.alarms, {.augment = true}, a.output);
    kept = {std::move(acyclic.clauses), std::move(acyclic.alarms), 0};
  }
  return a.compress ? analysis::compress(kept.clauses, kept.alarms, a.output) : kept;
}

/// Adds a query of each client's alarms, under its name.
void add_queries(alarms::Analysed const& analysed, Model& model) {
  std::map<std::string, std::string> client_of;
  auto alarm = analysed.alarms.begin();
  for (auto const& client : analysed.clients)
    for (Index i = 0; i < client.alarms; ++i, ++alarm)
      client_of.emplace(analysed.clauses.tuple_names[*alarm], client.name);
  for (auto const& client : analysed.clients)
    if (client.name != "alarms") model.queries[client.name];
  for (Index const v : std::vector(model.queries["alarms"]))
    if (auto const& client = client_of.at(model.graph.name_of(v)); client != "alarms")
      model.queries[client].push_back(v);
}

void report(alarms::Analysed const& analysed, Model const& model, Index without_place, bool has_places,
            double extract_seconds, AnalyseArguments const& a) {
  nlohmann::json report{{"file", a.output},
                        {"has_places", has_places},
                        {"clauses", analysed.clauses.num_clauses()},
                        {"points_to_facts", analysed.points_to_facts},
                        {"given_facts", analysed.given_facts},
                        {"variables", model.graph.num_variables},
                        {"factors", model.graph.num_factors()},
                        {"alarms", analysed.alarms.size()},
                        {"points_to_seconds", analysed.points_to_seconds},
                        {"derivation_seconds", analysed.derivation_seconds},
                        {"extract_seconds", extract_seconds},
                        {"unplaced_reports", analysed.unplaced_reports},
                        {"reports_without_place", without_place}};
  auto text =
      fmt::format("{}: {}, {}\n", a.output, counted(std::ssize(analysed.alarms), "alarm"), sizes_of(model.graph));
  if (!has_places) text += fmt::format("  {}\n", without_places);
  for (auto const& client : analysed.clients) {
    report["clients"][client.name] = {{"alarms", client.alarms},
                                      {"clauses", client.clauses},
                                      {"complete", client.is_complete},
                                      {"passed_over", client.passed_over},
                                      {"seconds", client.seconds}};
    text +=
        fmt::format("  {:<8} {}, {}{}\n", client.name, counted(client.alarms, "alarm"),
                    counted(client.clauses, "clause"), client.is_complete ? "" : "; there are more (--max-clauses)");
  }
  if (analysed.points_to_facts > 0)
    text += fmt::format("  these depend on {}\n", counted(analysed.points_to_facts, "points-to fact"));
  if (analysed.given_facts > 0)
    text +=
        fmt::format("  of these, {} have no derivation and count as certain (--max-clauses)\n", analysed.given_facts);
  if (analysed.unplaced_reports > 0)
    text += fmt::format("  {} of the reports are of lines in which the program has no statement\n",
                        analysed.unplaced_reports);
  if (without_place > 0)
    text += fmt::format("  {} name no place, and are left out\n", counted(without_place, "report"));
  if (a.json)
    print_json(report);
  else
    write_out("{}", text);
}

/// What other analysers report, and how many results name no place.
alarms::Reports read_reports(std::vector<std::string> const& files) {
  alarms::Reports all;
  for (auto const& file : files) {
    auto [reports, without_place] = alarms::read_reports(file);
    std::ranges::move(reports, std::back_inserter(all.reports));
    all.without_place += without_place;
  }
  return all;
}

void run_analyse(AnalyseArguments const& a) {
  std::vector<NamedFile> read;
  a.bitcode.list(read);
  for (auto const& file : a.rules) read.push_back({"--rules", file});
  for (auto const& file : a.reports) read.push_back({"--reported", file});
  if (!a.probabilities.empty()) read.push_back({"--probabilities", a.probabilities});
  keep_apart(read, {{"-o", a.output}, {"--clauses", a.clauses}});
  if (!a.output.ends_with(".h5")) throw UsageError(fmt::format("-o {}: a model is written to .h5", a.output));
  io::require_writable(a.output);
  if (!a.clauses.empty()) io::require_writable(a.clauses);
  auto const clients = clients_of(a);
  auto probabilities =
      a.probabilities.empty() ? std::map<std::string, double>() : analysis::read_rule_probabilities(a.probabilities);
  require_known(probabilities, clients, a.probabilities);
  auto [reports, without_place] = read_reports(a.reports);
  auto options = a.options;
  options.reports = std::move(reports);
  Kokkos::Timer const timer;
  auto extract_options = a.bitcode.settled();
  extract_options.are_choices_inlined = true;
  extract::Program const program(a.bitcode.files, extract_options);
  auto const extract_seconds = timer.seconds();
  auto const analysed = alarms::analyse(program, clients, options);
  probabilities.insert(analysed.probabilities.begin(), analysed.probabilities.end());
  auto const [kept, alarms, removed] = simplified(analysed, a);
  auto model = analysis::build_model(kept, probabilities, alarms, {.default_probability = a.default_probability},
                                     a.rules.empty() ? a.output : a.rules.front(),
                                     a.probabilities.empty() ? "--probabilities" : a.probabilities);
  add_queries(analysed, model);
  if (!a.clauses.empty()) analysis::write_clauses(analysed.clauses, a.clauses);
  io::write_model(model, a.output);
  report(analysed, model, without_place, program.report().has_places, extract_seconds, a);
}

}  // namespace

void add_analyse(CLI::App& app, int&) {
  auto* command = app.add_subcommand("analyse", "Find alarms of a program in LLVM bitcode, and why they are raised");
  auto a = std::make_shared<AnalyseArguments>();
  std::vector<std::string> names;
  for (auto const& client : alarms::standard_clients()) names.push_back(client.name);
  add_bitcode_options(*command, a->bitcode);
  command->add_option("-o,--output", a->output, "Model to write: .h5")->required();
  command->add_option("--client", a->clients, "Kinds of alarms, with commas: null, free, taint")
      ->delimiter(',')
      ->check(CLI::IsMember(names))
      ->capture_default_str();
  command->add_option("--reported", a->reports,
                      "Alarms of another analyser, which get derivations too: SARIF, or lines `file:line: message`");
  command->add_option("--rules", a->rules, "Further rules in Souffle's syntax (.dl), over the same relations");
  command->add_option(
      "--probabilities", a->probabilities,
      "Text file: `CLIENT.RULE: probability` a line, such as null.R0: 0.9; before those that clients have");
  command
      ->add_option("--default-probability", a->default_probability, "Of rules that have none (without: each needs one)")
      ->check(number_that([](double p) { return p >= 0 && p <= 1; }, "a number in [0, 1]"));
  command
      ->add_option("--derivations", a->options.derivations,
                   "Keep at most so many derivations of a tuple, the shallowest")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command->add_flag("--complete", a->options.is_complete,
                    "Keep all derivations by rules, also deeper ones and those that close a cycle, which the model "
                    "leaves out");
  command->add_option("--max-clauses", a->options.max_clauses, "Make at most so many clauses")
      ->check(CLI::Range(Offset{1}, Offset{1} << 30))
      ->capture_default_str();
  command
      ->add_option("--max-objects", a->options.max_objects,
                   "Memory matters only where a pointer is to at most so many objects")
      ->check(at_least(1))
      ->capture_default_str();
  command->add_option("--clauses", a->clauses, "Also write all clauses to this file");
  command->add_flag("--compress", a->compress,
                    "Fold chains of clauses into one: quicker to rank, but `explain` shows less");
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "Example: hornbill analyse program.bc -o alarms.h5\n"
      "         hornbill rank alarms.h5 --ask --session mine.txt\n"
      "         hornbill explain alarms.h5 \"program.c:12:3 p may be null where it is dereferenced\"");
  command->callback([a] { run_analyse(*a); });
}

}  // namespace hornbill::cli
