// hornbill circuit info: what a circuit is made of, and how it would be evaluated.
#include <array>
#include <memory>

#include <fmt/format.h>

#include <hornbill/io/circuit_file.hpp>

#include "circuit.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

using nlohmann::json;

struct CircuitInfoArguments {
  std::string file;
  CircuitRun run;
  bool layers = false, json = false;
};

/// How many variables have inputs of each kind. Their categories, where all have as many.
json inputs_of(circuit::Circuit const& circuit) {
  std::array<std::vector<bool>, circuit::num_input_kinds> variables;
  for (auto const& input : circuit.inputs) {
    auto& of_kind = variables.at(static_cast<std::size_t>(input.kind));
    of_kind.resize(static_cast<std::size_t>(circuit.num_variables));
    of_kind[static_cast<std::size_t>(input.variable)] = true;
  }
  json result = json::object();
  for (std::size_t k = 0; k < variables.size(); ++k)
    if (!variables[k].empty())
      result[circuit::name_of(static_cast<circuit::InputKind>(k))] =
          std::count(variables[k].begin(), variables[k].end(), true);
  return result;
}

std::string determinism_of(io::StoredCircuit const& stored) {
  auto const [state, sum] = circuit::find_determinism(stored.circuit, stored.parameters);
  switch (state) {
    case circuit::Determinism::State::shown: return "yes";
    case circuit::Determinism::State::not_shown: return fmt::format("not shown, sum node {} is the first", sum);
    case circuit::Determinism::State::not_examined: break;
  }
  return "not examined, which would take too much memory";
}

json describe(io::StoredCircuit const& stored, CircuitRun const& run) {
  auto const& circuit = stored.circuit;
  auto const statistics = circuit::statistics_of(circuit);
  auto const scopes = circuit::find_scopes(circuit, "the circuit");
  auto const unstructured = first_unstructured_product(circuit, scopes);
  json result{
      {"variables", circuit.num_variables},
      {"variables_by_input", inputs_of(circuit)},
      {"inputs", statistics.inputs},
      {"products", statistics.products},
      {"sums", statistics.sums},
      {"vectors", circuit.num_vectors()},
      {"product_edges", statistics.product_edges},
      {"sum_edges", statistics.sum_edges},
      {"parameters", statistics.parameters},
      {"distributions_of_sums", statistics.distributions},
      {"depth", statistics.depth},
      {"unreachable_nodes", statistics.unreachable},
      {"scopes", scopes.table.num_scopes()},
      {"smooth", "yes"},
      {"decomposable", "yes"},
      {"structured_decomposable",
       unstructured ? fmt::format("no, product node {} divides its scope as none before it", *unstructured) : "yes"},
      {"deterministic", determinism_of(stored)}};
  result.update(describe_plan(circuit, run));
  return result;
}

void print_object(json const& object, std::string const& indent) {
  for (auto const& [key, value] : object.items()) {
    if (value.is_array()) continue;  // print_layers()
    std::string label = key;
    std::replace(label.begin(), label.end(), '_', ' ');
    if (value.is_object()) {
      write_out("{}{}\n", indent, label);
      print_object(value, indent + "  ");
      continue;
    }
    auto const text = key.starts_with("bytes") ? human_bytes(value.get<double>())
                      : key == "seconds"       ? human_seconds(value.get<double>())
                      : value.is_string()      ? value.get<std::string>()
                                               : value.dump();
    write_out("{}{:<{}} {}\n", indent, label, 28 - indent.size(), text);
  }
}

}  // namespace

void add_circuit_info(CLI::App& circuit) {
  auto* command = circuit.add_subcommand("info", "Say what a circuit is made of, and what evaluating it takes");
  auto a = std::make_shared<CircuitInfoArguments>();
  command->add_option("CIRCUIT", a->file, "Circuit: .h5")->required();
  add_backend_options(*command, a->run);
  command->add_flag("--layers", a->layers, "Print each layer, its groups of sums, and what does them");
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "Deterministic: at most one child of each sum is not 0. Structured decomposable: products with the same scope\n"
      "divide it in the same way. Groups are of sums with about as many terms, tiles of up to 64 children. Matrix "
      "units\n"
      "multiply whole tiles of edges; zeros that fill them up are padding. The exact pass is for samples with numbers\n"
      "too small for the precision. Example:\n"
      "  hornbill circuit info model.h5");
  command->callback([a] {
    auto const description = describe(io::read_circuit(a->file), a->run);
    if (a->json) return print_json(description);
    write_out("{}\n", a->file);
    print_object(description, "  ");
    if (a->layers) print_layers(description["layers"]);
  });
}

}  // namespace hornbill::cli
