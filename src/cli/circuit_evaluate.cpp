// hornbill circuit evaluate: how probable samples are.
#include <cmath>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hornbill/backend/registry.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/circuit_file.hpp>

#include "circuit.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

struct EvaluateArguments {
  std::string circuit, samples, output;
  CircuitRun run;
  bool json = false;
};

/// Likelihoods, and how long they took.
struct Evaluated {
  circuit::Likelihoods likelihoods;
  double seconds = 0;
};

template <class Value>
Evaluated evaluate(EvaluateArguments const& a, io::StoredCircuit const& stored, circuit::Samples const& samples) {
  circuit::EvaluateOptions options{.batch_size = a.run.batch_size};
  auto const plan = plan_of(stored.circuit, a.run);
  options.max_bytes = usable_bytes(a.run);
  if (shows_progress())
    options.progress = [&](Offset done) { fmt::print(stderr, "\r{} of {} samples ", done, samples.size()); };
  ProgressLine const line;
  auto const start = Clock::now();
  auto likelihoods = backend::visit(a.run.backend, [&](auto const& exec) {
    return circuit::log_likelihoods<Value>(exec, stored.circuit, plan, stored.parameters, samples, options);
  });
  double const seconds = seconds_since(start);
  return {std::move(likelihoods), seconds};
}

/// What many likelihoods come to.
struct Summary {
  double mean = 0;                 ///< of samples that are possible
  std::vector<Offset> impossible;  ///< samples
};
Summary summary_of(circuit::Likelihoods const& likelihoods) {
  Summary summary;
  double sum = 0;
  for (std::size_t s = 0; s < likelihoods.log_likelihood.size(); ++s)
    if (double const log = likelihoods.log_likelihood[s]; std::isinf(log))
      summary.impossible.push_back(static_cast<Offset>(s));
    else
      sum += log;
  auto const possible = likelihoods.log_likelihood.size() - summary.impossible.size();
  summary.mean = possible > 0 ? sum / static_cast<double>(possible) : 0;
  return summary;
}

void write_likelihoods(std::string const& file, circuit::Likelihoods const& likelihoods) {
  std::string text;
  for (double log : likelihoods.log_likelihood) text += fmt::format("{}\n", log);
  io::write_atomically(file, text);
}

/// "0, 7, 12, ...".
std::string first_of(std::vector<Offset> const& samples) {
  constexpr std::size_t most = 10;
  auto const end = samples.begin() + static_cast<std::ptrdiff_t>(std::min(samples.size(), most));
  return fmt::format("{}{}", fmt::join(samples.begin(), end, ", "), samples.size() > most ? ", ..." : "");
}

void run_evaluate(EvaluateArguments const& a) {
  keep_apart({{"CIRCUIT", a.circuit}, {"SAMPLES", a.samples}}, {{"-o", a.output}});
  if (!a.output.empty()) io::require_writable(a.output);
  auto const stored = io::read_circuit(a.circuit);
  auto const samples = io::read_samples(a.samples, stored.circuit);
  if (samples.size() == 0) throw InputError(a.samples, "", "has no samples");
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  auto const [likelihoods, seconds] =
      visit_value(a.run, [&]<class Value>(Value) { return evaluate<Value>(a, stored, samples); });
  if (!a.output.empty()) write_likelihoods(a.output, likelihoods);
  auto const [mean, impossible] = summary_of(likelihoods);
  double const bits = -mean / std::log(2.0) / stored.circuit.num_variables;
  Offset const possible = samples.size() - std::ssize(impossible);
  auto const if_possible = [&](double value) { return possible > 0 ? nlohmann::json(value) : nlohmann::json(); };
  if (a.json)
    return print_json({{"samples", samples.size()},
                       {"mean_log_likelihood", if_possible(mean)},
                       {"bits_per_variable", if_possible(bits)},
                       {"impossible", impossible},
                       {"recomputed", likelihoods.recomputed},
                       {"seconds", seconds},
                       {"samples_per_second", static_cast<double>(samples.size()) / seconds},
                       {"precision", name_of(a.run.precision)},
                       {"backend", a.run.backend}});
  if (possible > 0)
    write_out("mean ln p {:.6f} ({:.4f} bits a variable) of {}\n", mean, bits, counted(possible, "sample"));
  if (!impossible.empty())
    write_out("  impossible: {}, in rows (from 0) {}\n", counted(std::ssize(impossible), "sample"),
              first_of(impossible));
  if (likelihoods.recomputed > 0)
    write_out("  {} had values too small for {}, and {} computed again\n", counted(likelihoods.recomputed, "sample"),
              name_of(a.run.precision), likelihoods.recomputed == 1 ? "was" : "were");
  write_out("  {} on {} ({}), {:.0f} samples a second\n", human_seconds(seconds), a.run.backend,
            backend::describe(a.run.backend), static_cast<double>(samples.size()) / seconds);
}

}  // namespace

void add_circuit_evaluate(CLI::App& circuit) {
  auto* command = circuit.add_subcommand("evaluate", "Say how probable samples are");
  auto a = std::make_shared<EvaluateArguments>();
  command->add_option("CIRCUIT", a->circuit, "Circuit: .h5")->required();
  command
      ->add_option("SAMPLES", a->samples,
                   "Samples: a text with a line of values for each, separated by commas, `?` where one is missing; or "
                   "the dataset `x` of an .h5 file")
      ->required();
  command->add_option("-o,--output", a->output, "Write ln p of each sample to this text file, a line each")
      ->check(text_file());
  add_run_options(*command, a->run);
  command->add_flag("--json", a->json, "Print JSON");
  command->footer("Example: hornbill circuit evaluate model.h5 test.csv");
  command->callback([a] { run_evaluate(*a); });
}

}  // namespace hornbill::cli
