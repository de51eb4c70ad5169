// hornbill convert: between file formats.
#include <memory>

#include <fmt/format.h>

#include <hornbill/io/model.hpp>

#include "commands.hpp"

namespace hornbill::cli {

void add_convert(CLI::App& app, int&) {
  auto* command = app.add_subcommand("convert", "Convert a model between formats, by the files' endings");
  struct Arguments {
    std::string in, out;
  };
  auto a = std::make_shared<Arguments>();
  command->add_option("IN", a->in, "Model to read: .h5, .fg or .causal_fg")->required();
  command->add_option("OUT", a->out, "File to write: .h5, .fg or .causal_fg")->required();
  command->footer(
      ".h5         all: graph, names, schedules, evidence, queries, marginals\n"
      ".fg         libDAI's factor graphs; AND and OR are recognised in tables when reading\n"
      ".causal_fg  Horn factors of libDAI's extension\n"
      "\n"
      "The text formats hold the graph alone. OUT appears whole or not at all.");
  command->callback([a] {
    auto const model = io::read_model(a->in);
    io::write_model(model, a->out);
    auto const lost = model.schedules.size() + model.evidence.size() + model.queries.size() + model.marginals.size();
    if (lost > 0 && !a->out.ends_with(".h5") && !a->out.ends_with(".hdf5"))
      fmt::print(stderr, "hornbill: {}: holds the graph alone; {} schedules, evidence sets, queries and marginals were left out\n", a->out, lost);
    fmt::print("{}: {} variables, {} factors, {} edges\n", a->out, model.graph.num_variables, model.graph.num_factors(), model.graph.num_edges());
  });
}

}  // namespace hornbill::cli
