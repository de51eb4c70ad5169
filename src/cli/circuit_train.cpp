// hornbill circuit train: parameters from samples.
#include <cmath>
#include <filesystem>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hornbill/backend/registry.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/checkpoint_file.hpp>

#include "circuit.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

using circuit::TrainingOptions, circuit::Update;

std::map<std::string, Update> const updates{
    {"full", Update::full_batch}, {"mini", Update::mini_batch}, {"anemone", Update::anemone}};

struct TrainArguments {
  std::string circuit, samples, output, weights, checkpoint;
  TrainingOptions options{.epochs = 20, .pseudocount = 0.1};
  std::optional<double> step_size, final_step_size, momentum;
  double checkpoint_seconds = 300;
  CircuitRun run;
  bool json = false;
};

/// Options with what was not given.   \throws UsageError for those that the update has not
TrainingOptions options_of(TrainArguments const& a) {
  auto options = a.options;
  bool const is_full = options.update == Update::full_batch, is_anemone = options.update == Update::anemone;
  auto const refuse = [&](bool is_given, char const* name) {
    if (is_given) throw UsageError(fmt::format("{}: --update {} has none", name, name_of(options.update)));
  };
  refuse(is_full && a.step_size, "--step-size");
  refuse(is_full && a.final_step_size, "--final-step-size");
  refuse(!is_anemone && a.momentum, "--momentum");
  refuse(is_full && options.batches_per_update > 1, "--batches-per-update");
  options.batch_size = a.run.batch_size;
  options.step_size = a.step_size.value_or(is_full ? 1 : is_anemone ? 0.4 : 0.1);
  options.final_step_size = a.final_step_size.value_or(options.step_size);
  options.momentum = a.momentum.value_or(is_anemone ? 0.9 : 0);
  return options;
}

/// What a training is made of.
struct Inputs {
  io::StoredCircuit stored;
  circuit::Samples samples;
  std::vector<double> weights;
  std::uint64_t fingerprint = 0;
};

Inputs read_inputs(TrainArguments const& a) {
  Inputs inputs{io::read_circuit(a.circuit), {}, {}};
  inputs.samples = io::read_samples(a.samples, inputs.stored.circuit);
  if (inputs.samples.size() == 0) throw InputError(a.samples, "", "has no samples");
  if (!a.weights.empty()) inputs.weights = io::read_weights(a.weights, inputs.samples.size());
  bool const is_nothing =
      !inputs.weights.empty() && std::ranges::all_of(inputs.weights, [](double w) { return w == 0; });
  if (is_nothing) throw InputError(a.weights, "", "gives no sample a weight above 0");
  if (std::isinf(std::accumulate(inputs.weights.begin(), inputs.weights.end(), 0.0)))
    throw InputError(a.weights, "", "has weights that add to more than a number can hold");
  inputs.fingerprint = fingerprint(inputs.samples, inputs.weights, inputs.stored.parameters);
  return inputs;
}

/// Checks that a checkpoint is of this training.   \throws InputError naming what differs
void require_same(io::Checkpoint const& checkpoint, Inputs const& inputs, TrainingOptions const& now,
                  TrainArguments const& a) {
  auto const refuse = [&](std::string const& what) {
    throw InputError(a.checkpoint, "", fmt::format("{}; give the same, or another --checkpoint", what));
  };
  if (!(checkpoint.stored.circuit == inputs.stored.circuit))
    refuse(fmt::format("is of another circuit than {}", a.circuit));
  if (checkpoint.fingerprint != inputs.fingerprint)
    refuse(fmt::format("is of other samples, weights or first parameters than {} and {}", a.samples, a.circuit));
  auto const& then = checkpoint.options;
  auto const compare = [&](char const* name, auto const& before, auto const& after) {
    if (before != after) refuse(fmt::format("was written with {} {}, not {}", name, before, after));
  };
  compare("--precision", checkpoint.precision, name_of(a.run.precision));
  compare("--update", std::string(name_of(then.update)), std::string(name_of(now.update)));
  compare("--batch", then.batch_size, now.batch_size);
  compare("--batches-per-update", then.batches_per_update, now.batches_per_update);
  compare("--step-size", then.step_size, now.step_size);
  compare("--final-step-size", then.final_step_size, now.final_step_size);
  compare("--momentum", then.momentum, now.momentum);
  compare("--pseudo-count", then.pseudocount, now.pseudocount);
  compare("--keep-zeros", then.keep_zeros, now.keep_zeros);
  compare("--seed", then.seed, now.seed);
  // a step size that does not change knows nothing of the last epoch
  if (now.step_size != now.final_step_size) compare("--epochs", then.epochs, now.epochs);
  if (checkpoint.state.epoch > now.epochs)
    refuse(fmt::format("has seen {} epochs, more than --epochs {}", checkpoint.state.epoch, now.epochs));
}

/// Where a training begins: anew, or at its checkpoint.
circuit::TrainingState start_of(Inputs const& inputs, TrainingOptions const& options, TrainArguments const& a) {
  if (a.checkpoint.empty() || !std::filesystem::exists(a.checkpoint)) return {inputs.stored.parameters};
  auto checkpoint = io::read_checkpoint(a.checkpoint);
  require_same(checkpoint, inputs, options, a);
  checkpoint.state.parameters = std::move(checkpoint.stored.parameters);
  if (!a.json && checkpoint.state.epoch == options.epochs)
    write_out("has seen all epochs, as {} says\n", a.checkpoint);
  else if (!a.json)
    write_out("goes on in epoch {}, as {} says\n", checkpoint.state.epoch + 1, a.checkpoint);
  return std::move(checkpoint.state);
}

/// An epoch, and how long it took.
struct TrainedEpoch {
  Offset number;
  circuit::EpochSums sums;
  Offset samples;  ///< that were seen in these seconds: fewer than all, where the epoch went on from a checkpoint
  double seconds;
};

/// Epochs as they end, and checkpoints.
class TrainingRun {
 public:
  TrainingRun(Inputs const& inputs, TrainingOptions const& options, TrainArguments const& a)
      : inputs_(inputs), options_(options), a_(a) {}

  template <class Value>
  circuit::Parameters run() {
    auto const plan = plan_of(inputs_.stored.circuit, a_.run);
    options_.max_bytes = usable_bytes(a_.run);
    auto start = start_of(inputs_, options_, a_);
    samples_before_ = start.sums.samples;
    return backend::visit(a_.run.backend, [&](auto const& exec) {
      auto trainer = trainer_of<Value>(exec, plan, std::move(start));
      train(trainer);
      return trainer.state().parameters;
    });
  }

  std::vector<TrainedEpoch> const& epochs() const { return epochs_; }

 private:
  /// \throws InputError naming the checkpoint, if it is that from which training cannot go on
  template <class Value, class Exec>
  circuit::Trainer<Value, Exec> trainer_of(Exec const& exec, circuit::HostPlan const& plan,
                                           circuit::TrainingState start) const {
    bool const goes_on = start.updates > 0;
    try {
      return {exec, inputs_.stored.circuit, plan, inputs_.samples, inputs_.weights, options_, std::move(start)};
    } catch (InputError const& e) {
      if (!goes_on) throw;
      throw InputError(a_.checkpoint, "", e.what());
    }
  }

  template <class Trainer>
  void train(Trainer& trainer) {
    ProgressLine const line;
    auto last_checkpoint = Clock::now();
    epoch_start_ = Clock::now();
    while (trainer.epoch() < options_.epochs) {
      bool const is_end = trainer.update([&] { show(trainer.epoch(), trainer.under_way()); });
      if (is_end)
        report({trainer.epoch(), trainer.finished(), trainer.finished().samples - std::exchange(samples_before_, 0),
                seconds_since(epoch_start_)});
      bool const is_due = is_end || seconds_since(last_checkpoint) >= a_.checkpoint_seconds;
      if (is_due && !a_.checkpoint.empty()) {  // a state is much to copy
        write_checkpoint(trainer.state());
        last_checkpoint = Clock::now();
      }
      if (is_end) epoch_start_ = Clock::now();
    }
  }

  void show(Offset epoch, circuit::EpochSums const& sums) const {
    if (!shows_progress()) return;
    fmt::print(stderr, "\repoch {} of {}: {} of {} samples, mean ln p {:.6f}, {:.0f} samples a second ", epoch + 1,
               options_.epochs, sums.samples, inputs_.samples.size(), sums.mean_log_likelihood(),
               static_cast<double>(sums.samples - samples_before_) / seconds_since(epoch_start_));
  }

  void report(TrainedEpoch const& epoch) {
    ProgressLine::clear();
    epochs_.push_back(epoch);
    if (a_.json) return;
    auto const& sums = epoch.sums;
    write_out("epoch {}: mean ln p {:.6f}", epoch.number, sums.mean_log_likelihood());
    if (sums.impossible > 0) write_out(", {} impossible and skipped", counted(sums.impossible, "sample"));
    if (sums.recomputed > 0) write_out(", {} computed again", counted(sums.recomputed, "sample"));
    write_out(", {}\n", human_seconds(epoch.seconds));
    flush_output();
  }

  void write_checkpoint(circuit::TrainingState state) const {
    io::Checkpoint checkpoint{inputs_.stored, options_, std::move(state), name_of(a_.run.precision),
                              inputs_.fingerprint};
    checkpoint.stored.parameters = std::exchange(checkpoint.state.parameters, {});
    io::write_checkpoint(checkpoint, a_.checkpoint);
  }

  Inputs const& inputs_;
  TrainingOptions options_;
  TrainArguments const& a_;
  std::vector<TrainedEpoch> epochs_;
  Clock::time_point epoch_start_;
  Offset samples_before_ = 0;  ///< of the epoch that a checkpoint is in
};

nlohmann::json to_json(TrainedEpoch const& epoch) {
  auto const& sums = epoch.sums;
  return {{"epoch", epoch.number},
          {"mean_log_likelihood", sums.weight > 0 ? nlohmann::json(sums.mean_log_likelihood()) : nlohmann::json()},
          {"impossible", sums.impossible},
          {"recomputed", sums.recomputed},
          {"seconds", epoch.seconds},
          {"samples_per_second", static_cast<double>(epoch.samples) / epoch.seconds}};
}

void run_train(TrainArguments const& a) {
  auto const options = options_of(a);
  keep_apart({{"CIRCUIT", a.circuit}, {"SAMPLES", a.samples}, {"--weights", a.weights}},
             {{"-o", a.output}, {"--checkpoint", a.checkpoint}});
  for (auto const& file : {a.output, a.checkpoint}) {
    if (file.empty()) continue;
    io::require_ending_of_circuit(file);
    io::require_writable(file);
  }
  auto inputs = read_inputs(a);
  Kokkos::ScopeGuard const kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  TrainingRun run(inputs, options, a);
  auto parameters = visit_value(a.run, [&]<class Value>(Value) { return run.run<Value>(); });
  inputs.stored.parameters = std::move(parameters);
  inputs.stored.attributes["training"] =
      fmt::format("{}, {} epochs, {}", name_of(options.update), options.epochs, name_of(a.run.precision));
  io::write_circuit(inputs.stored, a.output);
  if (!a.json) return write_out("{}: trained on {}\n", a.output, counted(inputs.samples.size(), "sample"));
  auto epochs = nlohmann::json::array();
  for (auto const& epoch : run.epochs()) epochs.push_back(to_json(epoch));
  print_json({{"file", a.output},
              {"samples", inputs.samples.size()},
              {"update", name_of(options.update)},
              {"epochs", epochs},
              {"precision", name_of(a.run.precision)},
              {"backend", a.run.backend}});
}

void add_step_options(CLI::App& command, TrainArguments& a) {
  auto const is_step = number_that([](double n) { return n > 0 && n <= 1; }, "a number above 0, and at most 1");
  command
      .add_option_function<std::string>(
          "--update", [&a](std::string const& name) { a.options.update = updates.at(name); },
          "Whose flows parameters follow (default: full): of all samples at a time (full), of some batches (mini), or "
          "of these and those before, each parameter as far as they have to do with it (anemone)")
      ->check(CLI::IsMember(names_of(updates)));
  command.add_option("--epochs", a.options.epochs, "How often all samples are seen")
      ->check(at_least(1))
      ->capture_default_str();
  command
      .add_option("--step-size", a.step_size, "How far parameters go at a time (default: 0.1 of mini, 0.4 of anemone)")
      ->check(is_step);
  command
      .add_option("--final-step-size", a.final_step_size,
                  "The same in the last epoch; it changes evenly until then (default: as in the first)")
      ->check(is_step);
  command.add_option("--batches-per-update", a.options.batches_per_update, "Batches of mini and anemone")
      ->check(at_least(1))
      ->capture_default_str();
  command.add_option("--momentum", a.momentum, "What anemone keeps of earlier flows (default: 0.9)")
      ->check(number_that([](double n) { return n >= 0 && n < 1; }, "a number of at least 0, and below 1"));
  command
      .add_option("--pseudo-count", a.options.pseudocount,
                  "Samples that each distribution sees beside the true ones; see `include/hornbill/circuit/README.md`")
      ->check(number_that([](double n) { return n >= 0 && std::isfinite(n); }, "a number of at least 0"))
      ->capture_default_str();
  command.add_flag("--keep-zeros", a.options.keep_zeros, "Parameters that are 0 stay 0");
  command.add_option("--seed", a.options.seed, "Of the order of samples, of mini and anemone")->capture_default_str();
}

}  // namespace

void add_circuit_train(CLI::App& circuit) {
  auto* command = circuit.add_subcommand("train", "Learn a circuit's parameters from samples");
  auto a = std::make_shared<TrainArguments>();
  command->add_option("CIRCUIT", a->circuit, "Circuit: .h5; training begins with its parameters")->required();
  command->add_option("SAMPLES", a->samples, "Samples: text or .h5, as of `evaluate`")->required();
  command->add_option("-o,--output", a->output, "Circuit to write: .h5")->required();
  command->add_option("--weights", a->weights, "Weights of samples: a text with a number for each, a line each");
  add_step_options(*command, *a);
  command->add_option("--checkpoint", a->checkpoint,
                      "File to write after each epoch, and to go on from if it is there: .h5, which is also a circuit");
  command
      ->add_option("--checkpoint-seconds", a->checkpoint_seconds,
                   "Write it within epochs too, of mini and anemone, after so many seconds")
      ->check(at_least(0))
      ->capture_default_str();
  add_run_options(*command, a->run);
  command->add_flag("--json", a->json, "Print JSON");
  command->footer("Example: hornbill circuit train hclt.h5 train.csv --update anemone --epochs 50 -o model.h5");
  command->callback([a] { run_train(*a); });
}

}  // namespace hornbill::cli
