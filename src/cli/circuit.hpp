// What the subcommands of `hornbill circuit` share.
#pragma once

#include <cstdint>
#include <string>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <hornbill/circuit.hpp>

namespace hornbill::cli {

/// Each adds itself to `circuit`.
void add_circuit_build(CLI::App& circuit);
void add_circuit_info(CLI::App& circuit);
void add_circuit_evaluate(CLI::App& circuit);
void add_circuit_train(CLI::App& circuit);
void add_circuit_convert(CLI::App& circuit);

/// Each adds itself to `circuit build`.
void add_circuit_grid(CLI::App& build);
void add_circuit_network(CLI::App& build);

/// Numbers that values are held in. Those of tf32 and bf16 are fp32's; of bf16 matrix units multiply fewer digits.
enum class Precision : std::uint8_t { fp32, tf32, bf16, fp64 };

/// Options of a run on a backend.
struct CircuitRun {
  std::string backend;
  Precision precision = Precision::fp32;
  Index batch_size = 512;
  std::size_t memory_limit = 0;  ///< bytes; 0: what there is
};
void add_run_options(CLI::App& command, CircuitRun& run);
/// Those of them that say where a run would be, and not how much memory it may take.
void add_backend_options(CLI::App& command, CircuitRun& run);
std::string name_of(Precision precision);

/// The plan of a circuit for a run.
circuit::HostPlan plan_of(circuit::Circuit const& circuit, CircuitRun const& run);

/// Calls function(Value()) with a number of those that values of the run are held in.
template <class Function>
auto visit_value(CircuitRun const& run, Function const& function) {
  return run.precision == Precision::fp64 ? function(double()) : function(float());
}

/// How a circuit would be evaluated and trained by a run.
nlohmann::json describe_plan(circuit::Circuit const& circuit, CircuitRun const& run);
/// Prints "layers" of that.
void print_layers(nlohmann::json const& layers);

/// Bytes that a run may take on its backend.
std::size_t usable_bytes(CircuitRun const& run);

/// The line on standard error that progress is shown in. It is cleared where this ends, also by an exception.
class ProgressLine {
 public:
  ProgressLine() = default;
  ProgressLine(ProgressLine const&) = delete;
  ProgressLine& operator=(ProgressLine const&) = delete;
  ~ProgressLine() { clear(); }
  static void clear();
};

/// "7 inputs, 5 products, 3 sums, 12 edges".
std::string sizes_of(circuit::Statistics const& statistics);

}  // namespace hornbill::cli
