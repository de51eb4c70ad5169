// hornbill generate: synthetic derivation graphs.
#include <algorithm>
#include <charconv>
#include <iterator>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/analysis/learn.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/generate.hpp>
#include <hornbill/graph/sample_world.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/constraint_file.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/io/names.hpp>
#include <hornbill/points_to/generate.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

struct GenerateArguments {
  std::string output, like, edges, oracle;
  std::optional<Index> variables, alarms;
  std::optional<Offset> statements;
  std::uint64_t seed = 1;
  std::optional<double> probability;
  bool constraints = false, no_names = false, json = false;
};

GeneratorOptions options_of(GenerateArguments const& a) {
  GeneratorOptions options;
  bool const is_reading = a.edges == "bn" || a.edges == "fg";
  if (!a.like.empty()) {
    if (!a.edges.empty() && !is_reading) throw UsageError("--edges with --like is bn or fg");
    options = options_like(a.like, a.edges == "fg" ? EdgeReading::factor_graph : EdgeReading::bayesian_network);
  } else if (!a.variables || is_reading) {
    throw UsageError("give --like NAME (and --edges bn or fg), or --variables V (and --edges E, their number)");
  } else {
    options.num_variables = *a.variables;
    options.num_edges = static_cast<Offset>(3.6 * *a.variables);
    if (!a.edges.empty()) {
      auto const [end, error] = std::from_chars(a.edges.data(), a.edges.data() + a.edges.size(), options.num_edges);
      if (error != std::errc{} || end != a.edges.data() + a.edges.size())
        throw UsageError(fmt::format("--edges {} is not a number", a.edges));
    }
    options.num_alarms = std::max<Index>(1, *a.variables / 100);
    options.num_true_alarms = std::max<Index>(1, options.num_alarms / 10);
  }
  if (a.alarms) options.num_alarms = *a.alarms;
  options.rule_probability = a.probability.value_or(options.rule_probability);
  options.names = !a.no_names;
  options.seed = a.seed;
  return options;
}

void generate_model(GenerateArguments const& a) {
  auto generated = generate(options_of(a));
  Model model;
  for (int n : {10, 50})
    if (static_cast<std::size_t>(n) <= generated.alarms.size())
      model.evidence[fmt::format("labels{}", n)] = generated.labels(n);
  model.queries["alarms"] = generated.alarms;
  model.queries["true_alarms"] = generated.true_alarms;
  model.graph = std::move(generated.graph);
  io::write_model(model, a.output);
  if (a.json) {
    print_json({{"file", a.output},
                {"variables", model.graph.num_variables},
                {"factors", model.graph.num_factors()},
                {"edges", model.graph.num_edges()},
                {"alarms", model.queries["alarms"].size()},
                {"true_alarms", model.queries["true_alarms"].size()},
                {"seed", a.seed}});
    return;
  }
  write_out("{}: {}, {} ({} true)\n", a.output, sizes_of(model.graph),
            counted(std::ssize(model.queries["alarms"]), "alarm"), model.queries["true_alarms"].size());
}

/// Points-to constraints with the sizes of a program.
void generate_constraints(GenerateArguments const& a) {
  if (a.like.empty() && !a.variables)
    throw UsageError("give --like NAME, or --variables V (and --statements C, their number)");
  auto options = a.like.empty() ? points_to::GeneratorOptions{.num_variables = *a.variables,
                                                              .num_constraints = a.statements.value_or(*a.variables)}
                                : points_to::options_like(a.like);
  options.seed = a.seed;
  auto const system = points_to::generate(options);
  io::write_constraints(system, a.output);
  if (a.json)
    print_json({{"file", a.output},
                {"variables", system.num_variables},
                {"objects", system.num_objects()},
                {"constraints", system.num_constraints()},
                {"seed", a.seed}});
  else
    write_out("{}: {}\n", a.output, sizes_of(system));
}

/// The true alarms of a world that is sampled from a model.
void generate_oracle(GenerateArguments const& a) {
  keep_apart({{"--oracle", a.oracle}}, {{"OUT", a.output}});
  if (a.output.ends_with(".h5"))
    throw UsageError(fmt::format("{}: true alarms are written as text, not as a model", a.output));
  io::require_writable(a.output);
  auto model = read_model(a.oracle);
  auto const alarms = find_query(a.oracle, model, "alarms");
  bool const knows_rules = !model.rules.empty();
  if (knows_rules && a.probability) {  // of rules, so that a clause folded from several holds where each does
    auto of_rule = model.rules.probabilities;
    for (double& p : of_rule)
      if (p > 0 && p < 1) p = *a.probability;
    analysis::set_rule_probabilities(model, of_rule);
  }
  auto const world = sample_world(model.graph, a.seed, knows_rules ? std::nullopt : a.probability, a.oracle);
  io::VariableNames const names(model.graph);
  std::string text;
  std::size_t num_true = 0;
  for (Index v : alarms) {
    if (!world[v]) continue;
    ++num_true;
    text += names.line_for(v) + "\n";
  }
  io::write_atomically(a.output, text);
  if (a.json)
    print_json({{"file", a.output}, {"alarms", alarms.size()}, {"true_alarms", num_true}, {"seed", a.seed}});
  else
    write_out("{}: {} of {} alarms are true\n", a.output, num_true, alarms.size());
}

CLI::Validator known_benchmark() {
  return CLI::Validator(
      [](std::string& name) {
        auto known = known_benchmarks();
        std::ranges::copy(points_to::known_programs(), std::back_inserter(known));
        if (std::find(known.begin(), known.end(), name) != known.end()) return std::string();
        return fmt::format("there is no benchmark '{}'; known are {}", name, fmt::join(known, ", "));
      },
      "");
}

}  // namespace

void add_generate(CLI::App& app, int&) {
  auto* command = app.add_subcommand(
      "generate", "Make a synthetic derivation graph, a truth for a model, or points-to constraints");
  auto a = std::make_shared<GenerateArguments>();
  command
      ->add_option("OUT", a->output,
                   "File to write: .h5, or .fg, .causal_fg for the graph alone; with --oracle a text file; with "
                   "--constraints .h5 "
                   "or .cons.txt")
      ->required();
  auto* like = command
                   ->add_option("--like", a->like,
                                "The sizes of a benchmark of the FastLBP paper: " +
                                    fmt::format("{}", fmt::join(known_benchmarks(), ", ")))
                   ->check(known_benchmark());
  command->add_option(
      "--edges", a->edges,
      "With --like: how to read the paper's edge counts, bn (Bayesian-network edges, the default) or fg (factor-graph "
      "edges). With --variables: the number of factor-graph edges (default 3.6 a variable)");
  command->add_option("--variables", a->variables, "Any size: number of variables, tuples and clauses")
      ->check(CLI::Range(8, 1 << 30))
      ->excludes(like);
  command->add_option("--oracle", a->oracle, "A model: write the true alarms of a world that is sampled from it")
      ->excludes(like)
      ->excludes("--variables")
      ->excludes("--edges");
  auto* constraints =
      command->add_flag("--constraints", a->constraints,
                        "Make points-to constraints; with --like the sizes of a program of the paper on "
                        "GPUs (2012): " +
                            fmt::format("{}", fmt::join(points_to::known_programs(), ", ")));
  command
      ->add_option("--statements", a->statements,
                   "With --constraints and --variables: number of constraints (default: as many)")
      ->check(CLI::Range(std::int64_t{0}, std::int64_t{1} << 30))
      ->needs(constraints)
      ->excludes(like);
  command->add_option("--alarms", a->alarms, "Number of alarms")->check(at_least(0))->excludes("--oracle");
  command
      ->add_option("--probability", a->probability,
                   "Probability of every rule (default 0.999); with --oracle of those that are not certain, or of "
                   "clauses where the model does not know its rules (default: as in the model)")
      ->check(number_that([](double x) { return x > 0 && x < 1; }, "a number above 0 and below 1"));
  command->add_option("--seed", a->seed, "The same seed gives the same graph on every machine")
      ->check(at_least(0))
      ->capture_default_str();
  command->add_flag("--json", a->json, "Print JSON");
  command->add_flag("--no-names", a->no_names, "Leave out names of variables")->excludes("--oracle");
  for (auto const* of_models : {"--edges", "--oracle", "--alarms", "--probability", "--no-names"})
    constraints->excludes(of_models);
  command->footer(
      "The file also holds the queries `alarms` and `true_alarms` (a sampled truth), and the evidence sets `labels10` "
      "and\n"
      "`labels50`, where there are so many: alarms labelled by that truth.\n\nExamples:\n  hornbill generate --like "
      "ftp ftp.h5\n  hornbill generate --oracle model.h5 --probability 0.9 --seed 3 true_alarms.txt\n"
      "  hornbill generate --constraints --like tshark tshark.h5");
  command->callback([a] {
    if (a->constraints)
      generate_constraints(*a);
    else if (a->oracle.empty())
      generate_model(*a);
    else
      generate_oracle(*a);
  });
}

}  // namespace hornbill::cli
