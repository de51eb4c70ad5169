// Circuits and samples: sound HDF5 files whose arrays are anything, and texts.
#include <cstdio>
#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include <fuzzer/FuzzedDataProvider.h>

#include <hornbill/circuit/builder.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/checkpoint_file.hpp>
#include <hornbill/io/circuit_file.hpp>

#include "arrays.hpp"
#include "io/hdf5.hpp"
#include "targets.hpp"

namespace hornbill::fuzz {
namespace {

// Two variables: a categorical of three values and literals; products of both, one with listed factors; two sums.
std::pair<char const*, Integers> const integers_of_circuits[] = {{"/circuit/vectors/kind", {0, 0, 1, 1, 2}},
                                                                 {"/circuit/vectors/size", {2, 2, 2, 2, 1}},
                                                                 {"/circuit/vectors/entries", {1, 1, 2, 2, 2}},
                                                                 {"/circuit/inputs/kind", {0, 6}},
                                                                 {"/circuit/inputs/variable", {0, 1}},
                                                                 {"/circuit/inputs/num_categories", {3, 2}},
                                                                 {"/circuit/inputs/first_value", {0, 0}},
                                                                 {"/circuit/inputs/parameter", {0, 6}},
                                                                 {"/circuit/factors/child", {0, 2, 0, 2}},
                                                                 {"/circuit/factors/step", {1, 1, 0, 1}},
                                                                 {"/circuit/factors/list", {-1, -1, -1, 0}},
                                                                 {"/circuit/factor_children", {3, 2}},
                                                                 {"/circuit/blocks/sum", {8, 8}},
                                                                 {"/circuit/blocks/child", {4, 6}},
                                                                 {"/circuit/blocks/rows", {1, 1}},
                                                                 {"/circuit/blocks/columns", {2, 2}},
                                                                 {"/circuit/blocks/parameter", {0, 2}}};
std::pair<char const*, Numbers> const numbers_of_circuits[] = {
    {"/circuit/inputs/min_scale", {0, 0}},
    {"/circuit/sum_parameters", {0.25, 0.25, 0.25, 0.25}},
    {"/circuit/input_parameters", {0.5, 0.25, 0.25, 1, 0, 0}}};
std::pair<char const*, Strings> const strings_of_circuits[] = {{"/circuit/variable_names", {"a", "b"}}};

std::pair<char const*, Integers> const integers_of_nodes[] = {{"/node_type", {0, 0, 0, 0, 1, 1, 2, 2, 2}},
                                                              {"/child_ptr", {0, 0, 0, 0, 0, 2, 4, 6, 8, 10}},
                                                              {"/child", {0, 2, 1, 3, 4, 5, 4, 5, 6, 7}},
                                                              {"/param_id", {-1, -1, -1, -1, 1, 0, 1, 0, 2, 3}},
                                                              {"/in_var", {0, 0, 1, 1, -1, -1, -1, -1, -1}},
                                                              {"/in_row", {0, 1, 0, 1, -1, -1, -1, -1, -1}},
                                                              {"/vec_ptr", {0, 4, 6, 8, 9}}};
std::pair<char const*, Numbers> const numbers_of_nodes[] = {{"/sum_params", {0.25, 0.75, 0.5, 0.5}}};

/// A matrix that is spoiled, with a number of columns that divides its entries.
void write_matrix(FuzzedDataProvider& in, io::hdf5::Writer& out, char const* path, Numbers values,
                  std::size_t columns) {
  if (!spoil(in, values)) return;
  if (in.ConsumeIntegralInRange<int>(0, 7) == 0) columns = in.ConsumeIntegralInRange<std::size_t>(1, 4);
  values.resize((values.size() + columns - 1) / columns * columns);
  out.write_rows(path, values, columns);
}

circuit::Circuit some_circuit() {
  circuit::CircuitBuilder builder(2);
  auto const a = builder.add_inputs(0, circuit::InputKind::categorical, 3, 2);
  auto const b = builder.add_inputs(1, circuit::InputKind::gaussian, 0, 2);
  builder.add_sums(1, {builder.add_products({a, b})});
  return std::move(builder).build();
}

void read_again(io::StoredCircuit const& stored, std::string const& file) {
  validate(stored.circuit, file);
  validate(stored.circuit, stored.parameters, file);
  io::write_circuit(stored, file);
  if (io::read_circuit(file).circuit == stored.circuit) return;
  std::fprintf(stderr, "it does not hold that a circuit that is written is read again\n");
  std::abort();
}

}  // namespace

void circuit_h5(Input const& input) {
  FuzzedDataProvider in(reinterpret_cast<std::uint8_t const*>(input.bytes.data()), input.bytes.size());
  io::hdf5::Writer out(input.file);
  Integers numbers{2, 2};
  spoil(in, numbers);
  numbers.resize(2);
  out.write_attribute("/", "hornbill_format", numbers[0]);
  out.make_group("/circuit");
  out.write_attribute("/circuit", "num_variables", numbers[1]);
  write_arrays(in, out, integers_of_circuits, numbers_of_circuits, strings_of_circuits);
  put(input.file, out.image());
  read_again(io::read_circuit(input.file), input.file);
}

/// Attributes and momenta are anything; the circuit is sound.
void checkpoint_h5(Input const& input) {
  static auto const circuit = some_circuit();
  FuzzedDataProvider in(reinterpret_cast<std::uint8_t const*>(input.bytes.data()), input.bytes.size());
  io::Checkpoint checkpoint{{circuit, {{0.5, 0.5}, {0.5, 0.25, 0.25, 1, 0, 0, 0, 1, 0, 1}}}, {}, {}, "fp32", 7};
  auto& [stored, options, state, precision, fingerprint] = checkpoint;
  options.update = static_cast<circuit::Update>(in.ConsumeIntegralInRange<int>(0, 2));
  options.batch_size = in.ConsumeIntegral<Index>();
  options.batches_per_update = in.ConsumeIntegralInRange<Index>(0, 3);
  Numbers numbers{1, 1, 0, 0.1, -3, 2};
  spoil(in, numbers);
  numbers.resize(6);
  options.step_size = numbers[0];
  options.final_step_size = numbers[1];
  options.momentum = numbers[2];
  options.pseudocount = numbers[3];
  state.sums.log_likelihood = numbers[4];
  state.sums.weight = numbers[5];
  Integers counts{2, 1, 5, 9, 0, 1};
  spoil(in, counts);
  counts.resize(6);
  state.epoch = counts[0];
  state.batch = counts[1];
  state.updates = counts[2];
  state.sums.samples = counts[3];
  state.sums.impossible = counts[4];
  state.sums.recomputed = counts[5];
  state.sum_momentum = {0.5, 1};
  spoil(in, state.sum_momentum);
  std::vector<std::string> texts{precision};
  spoil(in, texts);
  precision = texts.empty() ? "" : texts[0];
  try {
    io::write_checkpoint(checkpoint, input.file);
  } catch (InputError const&) {
    return;  // a text that no attribute holds
  }
  auto const read = io::read_checkpoint(input.file);
  bool const is_same = read.options == options && read.state.sums == state.sums && read.state.epoch == state.epoch &&
                       read.state.sum_momentum == state.sum_momentum && read.stored.circuit == circuit;
  if (!is_same) std::abort();
}

void circuit_nodes_h5(Input const& input) {
  FuzzedDataProvider in(reinterpret_cast<std::uint8_t const*>(input.bytes.data()), input.bytes.size());
  io::hdf5::Writer out(input.file);
  write_arrays(in, out, integers_of_nodes, numbers_of_nodes, {});
  write_matrix(in, out, "/cat_params", {0.5, 0.25, 0.25, 1, 0, 0}, 3);
  put(input.file, out.image());
  read_again(io::read_circuit(input.file), input.file);
}

void samples_h5(Input const& input) {
  static auto const circuit = some_circuit();
  FuzzedDataProvider in(reinterpret_cast<std::uint8_t const*>(input.bytes.data()), input.bytes.size());
  io::hdf5::Writer out(input.file);
  write_matrix(in, out, "/x", {0, 0.5, 1, -2, 2, 0}, 2);
  write_matrix(in, out, "/x_missing", {0, 1, 0, 0, 1, 0}, 2);
  write_matrix(in, out, in.ConsumeBool() ? "/soft/0" : "/soft/b", {0.5, 1, 0, 0, 0, 1, 1, 1, 1}, 3);
  put(input.file, out.image());
  validate(circuit, io::read_samples(input.file, circuit), input.file);
}

void samples(Input const& input) {
  static auto const circuit = some_circuit();
  try {
    for (double weight : io::parse_weights(input.file, input.bytes, 3))
      if (!(weight >= 0)) std::abort();
  } catch (InputError const&) {
  }
  auto const whole = [&] { return io::parse_any_samples(input.file, input.bytes, io::ValueType::whole); };
  try {
    validate(circuit, io::parse_samples(input.file, input.bytes, circuit), input.file);
  } catch (InputError const&) {
  }
  auto const any = whole();
  for (double x : any.values)
    if (x == x && (x < 0 || x != static_cast<double>(static_cast<Index>(x)))) std::abort();
}

}  // namespace hornbill::fuzz
