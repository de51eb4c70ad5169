// hornbill circuit: probabilistic circuits.
#include "circuit.hpp"

#include <algorithm>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hornbill/backend/registry.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/circuit_file.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {

std::string sizes_of(circuit::Statistics const& s) {
  return fmt::format("{}, {}, {}, {}", counted(s.inputs, "input"), counted(s.products, "product"),
                     counted(s.sums, "sum"), counted(s.product_edges + s.sum_edges, "edge"));
}

namespace {
std::map<std::string, Precision> const precisions{
    {"fp32", Precision::fp32}, {"tf32", Precision::tf32}, {"bf16", Precision::bf16}, {"fp64", Precision::fp64}};
}  // namespace

std::string name_of(Precision precision) {
  return std::ranges::find(precisions, precision, [](auto const& entry) { return entry.second; })->first;
}

circuit::HostPlan plan_of(circuit::Circuit const& circuit, CircuitRun const& run) {
  bool const is_rounded = run.precision == Precision::bf16;
  return make_plan(circuit, {.planes = is_rounded ? circuit::Planes::one : circuit::Planes::two});
}

void add_backend_options(CLI::App& command, CircuitRun& run) {
  run.backend = backend::names().back();
  command
      .add_option("--backend", run.backend,
                  fmt::format("Where to run: {} (default: the last)", fmt::join(backend::names(), ", ")))
      ->check(known_backend());
  command
      .add_option_function<std::string>(
          "--precision", [&run](std::string const& name) { run.precision = precisions.at(name); },
          "Numbers that values are held in (default: fp32). ln p of fp32 is right to 2e-5 where the circuit is less "
          "than some hundred layers deep. With bf16 matrix units of a GPU multiply 11 bits of fp32's numbers: ln p "
          "of 784 variables was off by 0.0025 at most with random parameters, and peaked ones lose more; a CPU "
          "computes as with fp32. tf32 is computed as fp32")
      ->check(CLI::IsMember(names_of(precisions)));
  command.add_option("--batch", run.batch_size, "Samples at a time")->check(at_least(1))->capture_default_str();
}

void add_run_options(CLI::App& command, CircuitRun& run) {
  add_backend_options(command, run);
  add_bytes_option(command, "--memory", run.memory_limit, "Memory that may be used (default: what is free)");
}

void ProgressLine::clear() {
  if (shows_progress()) fmt::print(stderr, "\r\033[K");
}

std::size_t usable_bytes(CircuitRun const& run) {
  auto const free = backend::available_bytes(run.backend);
  return run.memory_limit > 0 ? std::min(free, run.memory_limit) : free;
}

void add_circuit_convert(CLI::App& circuit) {
  auto* command = circuit.add_subcommand("convert", "Read a circuit of either layout, and write it in Hornbill's");
  struct Arguments {
    std::string in, out;
    bool json = false;
  };
  auto a = std::make_shared<Arguments>();
  command->add_option("IN", a->in, "Circuit: .h5")->required();
  command->add_option("OUT", a->out, "Circuit to write: .h5")->required();
  command->add_flag("--json", a->json, "Print JSON");
  command->callback([a] {
    keep_apart({{"IN", a->in}}, {{"OUT", a->out}});
    io::require_ending_of_circuit(a->out);
    io::require_writable(a->out);
    auto const stored = io::read_circuit(a->in);
    io::write_circuit(stored, a->out);
    auto const statistics = circuit::statistics_of(stored.circuit);
    if (a->json)
      print_json({{"file", a->out},
                  {"variables", stored.circuit.num_variables},
                  {"inputs", statistics.inputs},
                  {"products", statistics.products},
                  {"sums", statistics.sums},
                  {"edges", statistics.product_edges + statistics.sum_edges}});
    else
      write_out("{}: {}, {}\n", a->out, counted(stored.circuit.num_variables, "variable"), sizes_of(statistics));
  });
}

void add_circuit(CLI::App& app, int&) {
  auto* command =
      app.add_subcommand("circuit", "Probabilistic circuits: make them, train them, and ask how probable samples are");
  command->require_subcommand(1);
  add_circuit_build(*command);
  add_circuit_info(*command);
  add_circuit_evaluate(*command);
  add_circuit_train(*command);
  add_circuit_convert(*command);
}

}  // namespace hornbill::cli
