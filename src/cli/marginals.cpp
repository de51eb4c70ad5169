// hornbill marginals: exact marginals by a junction tree.
#include <algorithm>
#include <functional>
#include <memory>

#include <fmt/format.h>

#include <hornbill/backend/registry.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>
#include <hornbill/io/names.hpp>

#include "commands.hpp"
#include "marginals.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

std::vector<Index> variables_of(std::string const& list, io::VariableNames const& known) {
  if (auto const one = known.find(io::Word{list})) return {*one};  // a name may hold commas
  std::vector<Index> variables;
  for (auto const& word : io::words_of_list(list)) {
    auto const variable = known.find(word);
    if (!variable)
      throw InputError(
          fmt::format("--joint {}: '{}' is no variable of the model, neither by name nor by number", list, word.text));
    if (std::find(variables.begin(), variables.end(), *variable) != variables.end())
      throw UsageError(fmt::format("--joint {}: {} is listed twice", list, word.text));
    variables.push_back(*variable);
  }
  return variables;
}

MarginalsProblem make_problem(MarginalsArguments const& a, Model const& model) {
  MarginalsProblem problem;
  for (auto const& set : read_evidence_sets(a.file, model, a.evidence, a.each))
    problem.sets.push_back(last_of_each_variable(set));
  auto const in_all = [&](Observation const& o) {
    return std::all_of(problem.sets.begin(), problem.sets.end(),
                       [&](auto const& set) { return std::find(set.begin(), set.end(), o) != set.end(); });
  };
  for (auto const& o : problem.sets.front())
    if (o.is_hard() && in_all(o)) problem.cut.push_back(o);
  for (auto& set : problem.sets)
    std::erase_if(set, [&](Observation const& o) {
      return std::find(problem.cut.begin(), problem.cut.end(), o) != problem.cut.end();
    });
  problem.network = tables::condition(tables::to_tables(model.graph), problem.cut);
  problem.num_variables = model.graph.num_variables;
  io::VariableNames const known(model.graph);
  for (auto const& list : a.joint) {
    problem.joint.push_back(variables_of(list, known));
    cells_of_joint(model.graph, problem.joint.back());  // before any work
  }
  if (!a.top.empty()) problem.query = find_query(a.file, model, a.top);
  std::erase_if(problem.query, [&](Index v) { return model.graph.states(v) < 2; });  // nothing is 1 there
  problem.others = read_others(a, model);
  return problem;
}

void require_usable(MarginalsArguments const& a) {  // before hours of work, not after
  if (!a.output.empty() && !io::is_hdf5(a.output) && !a.output.ends_with(".MAR"))
    throw UsageError(fmt::format("-o {}: marginals are written to .MAR or .h5 files", a.output));
  if (a.output.ends_with(".MAR") && a.each.size() > 1)
    throw UsageError(
        "-o: a .MAR file holds the marginals of one evidence set; --each gives several, which fit into an .h5 file");
  io::validate_name(a.name, "set of marginals");
  if (!a.output.empty()) require_names_apart(a.name, a.each);
}

int run_marginals(MarginalsArguments& a) {
  require_usable(a);
  auto others_read = a.each;
  if (!a.against.empty()) others_read.push_back(a.against);
  settle(a, others_read);
  auto model = read_model(a.file);
  auto const problem = make_problem(a, model);
  auto const result = find_marginals(a, model, problem);
  bool const is_some_possible =
      std::any_of(result.sets.begin(), result.sets.end(), std::mem_fn(&MarginalsOfSet::is_possible));
  if (a.json)
    print_json(a, model, problem, result);
  else if (is_some_possible)
    print_text(a, model, problem, result);
  if (is_some_possible && !a.output.empty()) write_marginals(a, model, result);
  std::vector<std::string> failures;
  for (auto const& set : result.sets)
    if (set.conflict)
      failures.push_back(fmt::format("{}: nothing is possible{}", label_of(a, set), to_text(*set.conflict)));
  if (!failures.empty()) throw ContradictionError(fmt::format("{}", fmt::join(failures, "\nhornbill: ")));
  return success;
}

}  // namespace

void add_marginals(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("marginals", "Marginals, exactly, by a junction tree");
  auto const a = std::make_shared<MarginalsArguments>();
  a->where_too_wide = "lbp approximates marginals";
  add_exact_options(*command, *a, "Model: .uai, .bif, .fg, .causal_fg, .h5",
                    "Write the marginals: .MAR, as the UAI competitions do; or .h5, as lbp does");
  add_slice_options(*command, *a);
  command->add_flag("--exact", a->exact,
                    "No approximation; there is none here, so this says what is so (lbp approximates)");
  command
      ->add_option("--each", a->each,
                   "An evidence set as for --evidence; given several times, each is propagated on top of --evidence, "
                   "as many at once as memory allows")
      ->allow_extra_args(false)
      ->option_text("SET");
  command
      ->add_option("--joint", a->joint,
                   "Print the joint marginal of variables, e.g. smoke,lung; may be given several times. Without it, "
                   "--top, --against and -o, the first marginals are printed (--json: all)")
      ->allow_extra_args(false)
      ->option_text("A,B,...");
  command
      ->add_option(
          "--against", a->against,
          "Say how far other marginals are off: a .MAR file, or those stored under this name in FILE, e.g. by lbp")
      ->check(not_empty());
  command->add_option("--name", a->name, "Name of the marginals in an .h5 file")
      ->capture_default_str()
      ->needs("--output");
  command->add_option("--precision", a->precision, "double or float")
      ->check(CLI::IsMember({"double", "float"}))
      ->capture_default_str();
  auto* top = command
                  ->add_option("--top", a->top,
                               "Print the most probable variables of a query of FILE, e.g. alarms, or of all: by "
                               "P(variable = 1), the second of its states")
                  ->check(not_empty());
  command->add_option("--count", a->top_count, "How many of them")
      ->check(at_least(1))
      ->capture_default_str()
      ->needs(top);
  command->footer(
      "Examples:\n"
      "  hornbill marginals alarm.bif --exact --evidence observed.txt -o posterior.MAR\n"
      "  hornbill marginals asia.bif --joint smoke,lung\n"
      "  hornbill lbp graph.h5 -o approximate.h5 --name lbp; hornbill marginals approximate.h5 --exact --against lbp");
  command->callback([a, &exit_code] { exit_code = run_marginals(*a); });
}

}  // namespace hornbill::cli
