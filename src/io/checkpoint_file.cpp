// Checkpoints: a circuit's file, and the group /training.
#include <hornbill/io/checkpoint_file.hpp>

#include <array>
#include <cmath>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/circuit_file.hpp>

#include "circuit_layout.hpp"
#include "hdf5.hpp"
#include "hdf5_file.hpp"
#include "number.hpp"

namespace hornbill::io {
namespace {

using circuit::TrainingOptions, circuit::TrainingState, circuit::Update;

constexpr char const* group = "/training";

/// Attributes of the group, as texts: so numbers keep all their digits.
class Attributes {
 public:
  explicit Attributes(hdf5::Reader const& in) : in_(in) {}

  template <class T>
  T number(std::string const& name) const {
    auto const text = in_.read_string_attribute(group, name);
    auto const parsed = parse_number<T>(text);
    if (parsed.state != Parsed<T>::State::good) refuse(name, fmt::format("is '{}'; it must be a number", text));
    return parsed.value;
  }
  Offset count(std::string const& name) const {
    auto const value = number<Offset>(name);
    if (value < 0) refuse(name, fmt::format("is {}; it must be at least 0", value));
    return value;
  }
  double finite(std::string const& name) const {
    auto const value = number<double>(name);
    if (!std::isfinite(value)) refuse(name, fmt::format("is {}; it must be finite", value));
    return value;
  }
  std::string one_of(std::string const& name, std::initializer_list<char const*> names) const {
    auto text = in_.read_string_attribute(group, name);
    for (auto const* known : names)
      if (text == known) return text;
    refuse(name, fmt::format("is '{}', which is not known", text));
  }
  std::string const& file() const { return in_.file(); }
  [[noreturn]] void refuse(std::string const& name, std::string const& why) const {
    throw InputError(in_.file(), fmt::format("{}@{}", group, name), why);
  }

 private:
  hdf5::Reader const& in_;
};

Update update_named(std::string const& name) {
  for (auto update : {Update::full_batch, Update::mini_batch})
    if (name == name_of(update)) return update;
  return Update::anemone;
}

TrainingOptions read_options(Attributes const& in) {
  TrainingOptions options;
  options.update = update_named(
      in.one_of("update", {name_of(Update::full_batch), name_of(Update::mini_batch), name_of(Update::anemone)}));
  options.batch_size = in.number<Index>("batch_size");
  options.batches_per_update = in.number<Index>("batches_per_update");
  options.step_size = in.finite("step_size");
  options.final_step_size = in.finite("final_step_size");
  options.epochs = in.count("epochs");
  options.momentum = in.finite("momentum");
  options.pseudocount = in.finite("pseudocount");
  options.keep_zeros = in.one_of("keep_zeros", {"0", "1"}) == "1";
  options.seed = in.number<std::uint64_t>("seed");
  try {
    validate(options);
  } catch (InputError const& e) {
    throw InputError(in.file(), group, e.what());
  }
  return options;
}

void write_options(hdf5::Writer& out, TrainingOptions const& options) {
  auto const write = [&](char const* name, auto const& value) {
    out.write_attribute(group, name, fmt::format("{}", value));
  };
  write("update", name_of(options.update));
  write("batch_size", options.batch_size);
  write("batches_per_update", options.batches_per_update);
  write("step_size", options.step_size);
  write("final_step_size", options.final_step_size);
  write("epochs", options.epochs);
  write("momentum", options.momentum);
  write("pseudocount", options.pseudocount);
  write("keep_zeros", options.keep_zeros ? 1 : 0);
  write("seed", options.seed);
}

std::vector<double> read_momentum(hdf5::Reader const& in, std::string const& name) {
  auto const path = fmt::format("{}/{}", group, name);
  auto values = in.read<double>(path);
  for (std::size_t i = 0; i < values.size(); ++i)
    if (!std::isfinite(values[i])) throw InputError(in.file(), path, fmt::format("entry {} is {}", i, values[i]));
  return values;
}

TrainingState read_state(hdf5::Reader const& in, Attributes const& attributes) {
  TrainingState state;
  state.epoch = attributes.count("epoch");
  state.batch = attributes.count("batch");
  state.updates = attributes.count("updates");
  state.sums = {attributes.finite("sum_of_log_likelihoods"), attributes.finite("weight"),
                attributes.count("samples_seen"), attributes.count("impossible"), attributes.count("recomputed")};
  state.sum_momentum = read_momentum(in, "sum_momentum");
  state.input_momentum = read_momentum(in, "input_momentum");
  return state;
}

void write_state(hdf5::Writer& out, TrainingState const& state) {
  auto const write = [&](char const* name, auto value) { out.write_attribute(group, name, fmt::format("{}", value)); };
  write("epoch", state.epoch);
  write("batch", state.batch);
  write("updates", state.updates);
  write("sum_of_log_likelihoods", state.sums.log_likelihood);
  write("weight", state.sums.weight);
  write("samples_seen", state.sums.samples);
  write("impossible", state.sums.impossible);
  write("recomputed", state.sums.recomputed);
  out.write(fmt::format("{}/sum_momentum", group), state.sum_momentum);
  out.write(fmt::format("{}/input_momentum", group), state.input_momentum);
}

Checkpoint read_training(hdf5::Reader const& in) {
  if (!in.has(group) || !in.has("/circuit"))
    throw InputError(in.file(), "", fmt::format("holds no training: there must be the groups /circuit and {}", group));
  Checkpoint checkpoint;
  checkpoint.stored = read_circuit_group(in);
  Attributes const attributes(in);
  checkpoint.options = read_options(attributes);
  checkpoint.precision = attributes.one_of("precision", {"fp32", "tf32", "bf16", "fp64"});
  checkpoint.fingerprint = attributes.number<std::uint64_t>("fingerprint");
  checkpoint.state = read_state(in, attributes);
  return checkpoint;
}

std::string image_of_checkpoint(Checkpoint const& checkpoint, std::string const& file) {
  hdf5::Writer out(file);
  hdf5::write_format(out);
  write_circuit_group(out, checkpoint.stored);
  out.make_group(group);
  write_options(out, checkpoint.options);
  out.write_attribute(group, "precision", checkpoint.precision);
  out.write_attribute(group, "fingerprint", fmt::format("{}", checkpoint.fingerprint));
  write_state(out, checkpoint.state);
  return out.image();
}

}  // namespace

Checkpoint read_checkpoint(std::string const& file) {
  require_ending_of_circuit(file);
  return hdf5::read_file(file, read_training, image_of_checkpoint);
}

void write_checkpoint(Checkpoint const& checkpoint, std::string const& file) {
  require_ending_of_circuit(file);
  write_atomically(file, image_of_checkpoint(checkpoint, file));
}

}  // namespace hornbill::io
