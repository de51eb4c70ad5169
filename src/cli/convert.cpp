// hornbill convert: between file formats.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/io/constraint_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/io/text_formats.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

/// What a text format cannot hold of a model, in words.
std::vector<std::string> what_is_lost(Model const& model, std::string const& out) {
  std::vector<std::string> lost;
  if (io::is_hdf5(out)) return lost;
  auto count = [&](std::size_t n, char const* what) {
    if (n > 0) lost.push_back(fmt::format("{} {}", n, what));
  };
  bool const has_labels = out.ends_with("fg") && io::has_labels_for_names(model.graph);
  std::vector<bool> is_used(model.graph.num_variables);
  for (Index v : model.graph.factor_variables) is_used[v] = true;
  count(model.schedules.size(), "schedules");
  count(model.evidence.size(), "evidence sets");
  count(model.queries.size(), "queries");
  count(model.marginals.size(), "sets of marginals");
  count(model.messages.size(), "sets of messages");
  count(model.rules.names.size(), "rules");
  count(model.graph.state_names.empty()
            ? 0
            : std::ranges::count_if(model.graph.state_names, [](auto const& names) { return !names.empty(); }),
        "variables' names of states");
  count(has_labels ? 0 : model.graph.variable_names.size(), "names of variables");
  if (!out.ends_with(".uai")) count(std::ranges::count(is_used, false), "variables without factors");
  return lost;
}

void convert_model(std::string const& in, std::string const& out, bool as_json) {
  auto const model = read_model(in);
  io::write_model(model, out);
  auto const lost = what_is_lost(model, out);
  for (auto const& what : lost) fmt::print(stderr, "hornbill: {}: holds factors alone; left out: {}\n", out, what);
  if (as_json)
    print_json({{"file", out},
                {"variables", model.graph.num_variables},
                {"factors", model.graph.num_factors()},
                {"edges", model.graph.num_edges()},
                {"left_out", lost}});
  else
    write_out("{}: {}\n", out, sizes_of(model.graph));
}

void convert_constraints(std::string const& in, std::string const& out, bool as_json) {
  auto const points_to = io::read_points_to(in);
  io::write_points_to(points_to, out);
  auto const& system = points_to.constraints;
  std::vector<std::string> lost;
  if (points_to.solution && io::is_constraint_text(out)) lost.push_back("the solution");
  for (auto const& what : lost) fmt::print(stderr, "hornbill: {}: holds constraints alone; left out: {}\n", out, what);
  if (as_json)
    print_json({{"file", out},
                {"variables", system.num_variables},
                {"objects", system.num_objects()},
                {"constraints", system.num_constraints()},
                {"left_out", lost}});
  else
    write_out("{}: {}\n", out, sizes_of(system));
}

}  // namespace

void add_convert(CLI::App& app, int&) {
  auto* command = app.add_subcommand(
      "convert", "Convert a model, or points-to constraints, between formats, by the files' endings");
  struct Arguments {
    std::string in, out;
    bool json = false;
  };
  auto a = std::make_shared<Arguments>();
  command->add_option("IN", a->in, "File to read: .h5, .fg, .causal_fg, .uai or .bif; of constraints .h5 or .cons.txt")
      ->required();
  command->add_option("OUT", a->out, "File to write: .h5, .fg, .causal_fg or .uai; of constraints .h5 or .cons.txt")
      ->required();
  command->footer(
      ".h5         all: graph, names, rules, schedules, evidence, queries, marginals\n"
      ".fg         libDAI's factor graphs; AND and OR are recognised in tables when reading\n"
      ".causal_fg  Horn factors of libDAI's extension\n"
      ".cons.txt   points-to constraints; NAME.nodes.txt lies beside it, and where there are names, places or calls,\n"
      "            NAME.objnames.txt, NAME.places.txt and NAME.calls.txt\n"
      "\n"
      "The text formats of models hold the graph alone. OUT appears whole or not at all.");
  command->add_flag("--json", a->json, "Print JSON");
  command->callback([a] { (holds_points_to(a->in) ? convert_constraints : convert_model)(a->in, a->out, a->json); });
}

}  // namespace hornbill::cli
