// hornbill convert: between file formats.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

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
  if (out.ends_with(".h5") || out.ends_with(".hdf5")) return lost;
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
  count(has_labels ? 0 : model.graph.variable_names.size(), "names of variables");
  if (!out.ends_with(".uai")) count(std::ranges::count(is_used, false), "variables without factors");
  return lost;
}

}  // namespace

void add_convert(CLI::App& app, int&) {
  auto* command = app.add_subcommand("convert", "Convert a model between formats, by the files' endings");
  struct Arguments {
    std::string in, out;
    bool json = false;
  };
  auto a = std::make_shared<Arguments>();
  command->add_option("IN", a->in, "Model to read: .h5, .fg, .causal_fg, .uai or .bif")->required();
  command->add_option("OUT", a->out, "File to write: .h5, .fg, .causal_fg or .uai")->required();
  command->footer(
      ".h5         all: graph, names, rules, schedules, evidence, queries, marginals\n"
      ".fg         libDAI's factor graphs; AND and OR are recognised in tables when reading\n"
      ".causal_fg  Horn factors of libDAI's extension\n"
      "\n"
      "The text formats hold the graph alone. OUT appears whole or not at all.");
  command->add_flag("--json", a->json, "Print JSON");
  command->callback([a] {
    auto const model = read_model(a->in);
    io::write_model(model, a->out);
    auto const lost = what_is_lost(model, a->out);
    for (auto const& what : lost) fmt::print(stderr, "hornbill: {}: holds factors alone; left out: {}\n", a->out, what);
    if (a->json)
      print_json({{"file", a->out},
                  {"variables", model.graph.num_variables},
                  {"factors", model.graph.num_factors()},
                  {"edges", model.graph.num_edges()},
                  {"left_out", lost}});
    else
      write_out("{}: {} variables, {} factors, {} edges\n", a->out, model.graph.num_variables,
                model.graph.num_factors(), model.graph.num_edges());
  });
}

}  // namespace hornbill::cli
