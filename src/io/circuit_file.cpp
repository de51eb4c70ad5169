// Circuits in HDF5: in Hornbill's layout, or node by node as other programs dump them.
#include <hornbill/io/circuit_file.hpp>

#include <algorithm>
#include <limits>
#include <type_traits>

#include <fmt/format.h>

#include <hornbill/circuit/node_lists.hpp>
#include <hornbill/circuit/properties.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>

#include "circuit_layout.hpp"
#include "hdf5.hpp"
#include "hdf5_file.hpp"
#include "token_reader.hpp"

namespace hornbill::io {
namespace {

using circuit::Circuit, circuit::InputKind, circuit::NodeKind;

/// Entries that belong to something of which there are `size`.
template <class T>
std::vector<T> read_sized(hdf5::Reader const& in, std::string const& path, std::size_t size) {
  auto values = in.read<T>(path);
  if (values.size() != size)
    throw InputError(in.file(), path, fmt::format("has {} entries; {} are needed", values.size(), size));
  return values;
}

/// Numbers of a kind, each of which must be known.
template <class Kind>
std::vector<Kind> read_kinds(hdf5::Reader const& in, std::string const& path, std::size_t count) {
  std::vector<Kind> kinds;
  for (auto number : in.read<std::int64_t>(path)) {
    if (number < 0 || number >= static_cast<std::int64_t>(count))
      throw InputError(in.file(), path,
                       fmt::format("entry {} is {}; 0 to {} are known", kinds.size(), number, count - 1));
    kinds.push_back(static_cast<Kind>(number));
  }
  return kinds;
}

constexpr std::size_t num_node_kinds = 3;

Index require_num_variables(hdf5::Reader const& in, std::string const& object, std::int64_t number) {
  if (number < 0 || number > largest_variable_id() + 1)
    throw InputError(in.file(), object,
                     fmt::format("is {}; 0 to {} variables fit this machine", number, largest_variable_id() + 1));
  return static_cast<Index>(number);
}

// --- Hornbill's layout ----------------------------------------------------------------------------------------------

void read_inputs(hdf5::Reader const& in, Circuit& circuit) {
  auto const kinds = read_kinds<InputKind>(in, "/circuit/inputs/kind", circuit::num_input_kinds);
  auto const variables = read_sized<Index>(in, "/circuit/inputs/variable", kinds.size());
  auto const categories = read_sized<Index>(in, "/circuit/inputs/num_categories", kinds.size());
  auto const values = read_sized<Index>(in, "/circuit/inputs/first_value", kinds.size());
  auto const parameters = read_sized<Offset>(in, "/circuit/inputs/parameter", kinds.size());
  auto const scales = read_sized<double>(in, "/circuit/inputs/min_scale", kinds.size());
  for (std::size_t i = 0; i < kinds.size(); ++i)
    circuit.inputs.push_back({variables[i], kinds[i], categories[i], values[i], parameters[i], scales[i]});
}

void read_factors(hdf5::Reader const& in, Circuit& circuit) {
  auto const children = in.read<Index>("/circuit/factors/child");
  auto const steps = read_sized<Index>(in, "/circuit/factors/step", children.size());
  auto const lists = read_sized<Offset>(in, "/circuit/factors/list", children.size());
  for (std::size_t f = 0; f < children.size(); ++f) circuit.factors.push_back({children[f], steps[f], lists[f]});
  circuit.factor_children = in.read<Index>("/circuit/factor_children");
}

void read_blocks(hdf5::Reader const& in, Circuit& circuit) {
  auto const sums = in.read<Index>("/circuit/blocks/sum");
  auto const children = read_sized<Index>(in, "/circuit/blocks/child", sums.size());
  auto const rows = read_sized<Index>(in, "/circuit/blocks/rows", sums.size());
  auto const columns = read_sized<Index>(in, "/circuit/blocks/columns", sums.size());
  auto const parameters = read_sized<Offset>(in, "/circuit/blocks/parameter", sums.size());
  for (std::size_t b = 0; b < sums.size(); ++b)
    circuit.blocks.push_back({sums[b], children[b], rows[b], columns[b], parameters[b]});
}

/// Vectors, whose entries are in the order of theirs: an input has one, others as many as `entries` says.
void read_vectors(hdf5::Reader const& in, Circuit& circuit) {
  auto const kinds = read_kinds<NodeKind>(in, "/circuit/vectors/kind", num_node_kinds);
  auto const sizes = read_sized<Index>(in, "/circuit/vectors/size", kinds.size());
  auto const entries = read_sized<Offset>(in, "/circuit/vectors/entries", kinds.size());
  Offset next[num_node_kinds] = {};
  std::int64_t node = 0;
  for (std::size_t v = 0; v < kinds.size(); ++v) {
    auto& begin = next[static_cast<std::size_t>(kinds[v])];
    if (sizes[v] < 1 || node + sizes[v] > std::numeric_limits<Index>::max())
      throw InputError(in.file(), "/circuit/vectors/size",
                       fmt::format("entry {} is {}; vectors have at least 1 node, and all together at most {}", v,
                                   sizes[v], std::numeric_limits<Index>::max()));
    if (entries[v] < 0 || entries[v] > std::numeric_limits<Index>::max())
      throw InputError(in.file(), "/circuit/vectors/entries", fmt::format("entry {} is {}", v, entries[v]));
    circuit.vectors.push_back({kinds[v], static_cast<Index>(node), sizes[v], begin, begin + entries[v]});
    begin += entries[v];
    node += sizes[v];
  }
}

void write_vectors(hdf5::Writer& out, Circuit const& circuit) {
  std::vector<std::uint8_t> kinds;
  std::vector<Index> sizes;
  std::vector<Offset> entries;
  for (auto const& vector : circuit.vectors) {
    kinds.push_back(static_cast<std::uint8_t>(vector.kind));
    sizes.push_back(vector.size);
    entries.push_back(vector.end - vector.begin);
  }
  out.write("/circuit/vectors/kind", kinds);
  out.write("/circuit/vectors/size", sizes);
  out.write("/circuit/vectors/entries", entries);
}

/// A member of all entries, as an array.
template <class Entry, class T>
std::vector<std::conditional_t<std::is_enum_v<T>, std::uint8_t, T>> column(std::vector<Entry> const& entries,
                                                                           T Entry::*member) {
  using Number = std::conditional_t<std::is_enum_v<T>, std::uint8_t, T>;
  std::vector<Number> values;
  values.reserve(entries.size());
  for (auto const& entry : entries) values.push_back(static_cast<Number>(entry.*member));
  return values;
}

}  // namespace

StoredCircuit read_circuit_group(hdf5::Reader const& in) {
  hdf5::require_format(in);
  StoredCircuit stored;
  auto& circuit = stored.circuit;
  circuit.num_variables =
      require_num_variables(in, "/circuit@num_variables", in.read_integer_attribute("/circuit", "num_variables"));
  read_vectors(in, circuit);
  read_inputs(in, circuit);
  read_factors(in, circuit);
  read_blocks(in, circuit);
  stored.parameters = {in.read<double>("/circuit/sum_parameters"), in.read<double>("/circuit/input_parameters")};
  circuit.num_sum_parameters = std::ssize(stored.parameters.sum);
  circuit.num_input_parameters = std::ssize(stored.parameters.input);
  if (in.has("/circuit/variable_names")) circuit.variable_names = in.read_strings("/circuit/variable_names");
  for (auto& [key, value] : in.string_attributes("/circuit")) stored.attributes[key] = value;
  validate(circuit, in.file());
  validate(circuit, stored.parameters, in.file());
  return stored;
}

void write_circuit_group(hdf5::Writer& out, StoredCircuit const& stored) {
  using circuit::InputDistributions, circuit::Factor, circuit::EdgeBlock;
  auto const& circuit = stored.circuit;
  write_vectors(out, circuit);
  out.write_attribute("/circuit", "num_variables", std::int64_t{circuit.num_variables});
  out.write("/circuit/inputs/kind", column(circuit.inputs, &InputDistributions::kind));
  out.write("/circuit/inputs/variable", column(circuit.inputs, &InputDistributions::variable));
  out.write("/circuit/inputs/num_categories", column(circuit.inputs, &InputDistributions::num_categories));
  out.write("/circuit/inputs/first_value", column(circuit.inputs, &InputDistributions::first_value));
  out.write("/circuit/inputs/parameter", column(circuit.inputs, &InputDistributions::parameter));
  out.write("/circuit/inputs/min_scale", column(circuit.inputs, &InputDistributions::min_scale));
  out.write("/circuit/factors/child", column(circuit.factors, &Factor::child));
  out.write("/circuit/factors/step", column(circuit.factors, &Factor::step));
  out.write("/circuit/factors/list", column(circuit.factors, &Factor::list));
  out.write("/circuit/factor_children", circuit.factor_children);
  out.write("/circuit/blocks/sum", column(circuit.blocks, &EdgeBlock::sum));
  out.write("/circuit/blocks/child", column(circuit.blocks, &EdgeBlock::child));
  out.write("/circuit/blocks/rows", column(circuit.blocks, &EdgeBlock::rows));
  out.write("/circuit/blocks/columns", column(circuit.blocks, &EdgeBlock::columns));
  out.write("/circuit/blocks/parameter", column(circuit.blocks, &EdgeBlock::parameter));
  out.write("/circuit/sum_parameters", stored.parameters.sum);
  out.write("/circuit/input_parameters", stored.parameters.input);
  if (!circuit.variable_names.empty()) out.write_strings("/circuit/variable_names", circuit.variable_names);
  for (auto const& [key, value] : stored.attributes) out.write_attribute("/circuit", key, value);
}

namespace {

std::string image_of_circuit(StoredCircuit const& stored, std::string const& file) {
  hdf5::Writer out(file);
  hdf5::write_format(out);
  write_circuit_group(out, stored);
  return out.image();
}

// --- node by node ---------------------------------------------------------------------------------------------------

StoredCircuit read_node_lists(hdf5::Reader const& in) {
  circuit::NodeLists nodes;
  nodes.kinds = read_kinds<NodeKind>(in, "/node_type", num_node_kinds);
  nodes.child_offsets = in.read<Offset>("/child_ptr");
  nodes.children = in.read<Index>("/child");
  nodes.parameters = in.read<Offset>("/param_id");
  nodes.variables = in.read<Index>("/in_var");
  nodes.rows = in.read<Index>("/in_row");
  nodes.sum_parameters = in.read<double>("/sum_params");
  std::int64_t largest = -1;
  for (auto variable : nodes.variables) largest = std::max<std::int64_t>(largest, variable);
  nodes.num_variables = require_num_variables(in, "/in_var", largest + 1);
  auto [values, columns] = in.read_rows("/cat_params");
  if (columns > static_cast<std::size_t>(std::numeric_limits<Index>::max()))
    throw InputError(in.file(), "/cat_params", fmt::format("has {} columns", columns));
  nodes.num_categories = static_cast<Index>(columns);
  nodes.categorical = std::move(values);
  if (in.has("/vec_ptr")) {
    nodes.run_offsets = in.read<Offset>("/vec_ptr");
  } else {
    for (std::size_t n = 0; n <= nodes.kinds.size(); ++n) nodes.run_offsets.push_back(static_cast<Offset>(n));
  }
  auto gathered = circuit::gather(nodes, in.file());
  return {std::move(gathered.circuit), std::move(gathered.parameters)};
}

StoredCircuit read_either(hdf5::Reader const& in) {
  if (in.has("/circuit")) return read_circuit_group(in);
  if (in.has("/node_type")) return read_node_lists(in);
  throw InputError(in.file(), "", "holds no circuit: there is neither a group /circuit nor a dataset /node_type");
}

// --- samples in HDF5 ------------------------------------------------------------------------------------------------

/// A variable by its name or number; -1 if there is none.
Index variable_named(Circuit const& circuit, std::string const& name) {
  auto const named = std::ranges::find(circuit.variable_names, name);
  if (named != circuit.variable_names.end()) return static_cast<Index>(named - circuit.variable_names.begin());
  auto const number = parse_number<Index>(name);
  bool const is_variable =
      number.state == Parsed<Index>::State::good && number.value >= 0 && number.value < circuit.num_variables;
  return is_variable ? number.value : -1;
}

void require_value(hdf5::Reader const& in, circuit::Samples const& samples, std::size_t i) {
  auto const columns = static_cast<std::size_t>(samples.num_variables);
  if (samples.values[i] != samples.values[i])
    throw InputError(
        in.file(), "/x",
        fmt::format("row {} has no number in column {}; mark what is missing in /x_missing", i / columns, i % columns));
}

/// The datasets `x` and `x_missing`.   \param num_variables  that there must be; 0: any number
circuit::Samples read_values(hdf5::Reader const& in, std::size_t num_variables) {
  if (!in.has("/x")) throw InputError(in.file(), "/x", "is missing: samples are its rows, a value of each variable");
  auto [values, columns] = in.read_rows("/x");
  if (num_variables > 0 && columns != num_variables)
    throw InputError(in.file(), "/x",
                     fmt::format("has {} columns; the circuit has {} variables", columns, num_variables));
  if (columns == 0 || columns > static_cast<std::size_t>(largest_variable_id()))
    throw InputError(in.file(), "/x", fmt::format("has {} columns", columns));
  circuit::Samples samples{static_cast<Index>(columns), std::move(values)};
  if (in.has("/x_missing")) {
    auto const mask = in.read_rows("/x_missing");
    if (mask.columns != columns || mask.values.size() != samples.values.size())
      throw InputError(in.file(), "/x_missing", "has not the shape of /x");
    for (std::size_t i = 0; i < samples.values.size(); ++i)
      if (mask.values[i] != 0)
        samples.values[i] = circuit::missing;
      else
        require_value(in, samples, i);
  } else {
    for (std::size_t i = 0; i < samples.values.size(); ++i) require_value(in, samples, i);
  }
  return samples;
}

/// Likelihoods in `soft`, by a variable's name or number; where `by_number`, by its number alone.
circuit::Samples read_samples_of(hdf5::Reader const& in, Circuit const& circuit, bool by_number) {
  auto samples = read_values(in, static_cast<std::size_t>(circuit.num_variables));
  auto const categories = circuit::variable_categories(circuit, in.file());
  for (auto const& name : in.children("/soft")) {
    auto const path = "/soft/" + name;
    auto const variable = by_number ? parse_number<Index>(name).value : variable_named(circuit, name);
    if (variable < 0) throw InputError(in.file(), path, "is of no variable of the circuit");
    auto [likelihoods, columns] = in.read_rows(path);
    if (Index const count = categories[static_cast<std::size_t>(variable)];
        count > 0 && columns != static_cast<std::size_t>(count))
      throw InputError(in.file(), path, fmt::format("has {} columns; the variable has {} categories", columns, count));
    samples.soft.push_back({variable, std::move(likelihoods)});
  }
  validate(circuit, samples, in.file());
  return samples;
}

std::string image_of_samples(circuit::Samples const& samples, std::string const& file) {
  hdf5::Writer out(file);
  hdf5::write_format(out);
  auto const columns = static_cast<hsize_t>(samples.num_variables);
  auto values = samples.values;
  std::vector<double> mask(values.size());
  for (std::size_t i = 0; i < values.size(); ++i)
    if (values[i] != values[i]) {
      mask[i] = 1;
      values[i] = 0;
    }
  out.write_rows("/x", values, columns);
  out.write_rows("/x_missing", mask, columns);
  for (auto const& [variable, likelihoods] : samples.soft)
    if (samples.size() > 0)
      out.write_rows(fmt::format("/soft/{}", variable), likelihoods,
                     likelihoods.size() / static_cast<std::size_t>(samples.size()));
  return out.image();
}

}  // namespace

void require_ending_of_circuit(std::string const& file) {
  if (!is_hdf5(file)) throw InputError(file, "", "has not the ending of a circuit: .h5 (HDF5)");
}

StoredCircuit read_circuit(std::string const& file) {
  require_ending_of_circuit(file);
  return hdf5::read_file(file, read_either, image_of_circuit);
}

void write_circuit(StoredCircuit const& stored, std::string const& file) {
  require_ending_of_circuit(file);
  validate(stored.circuit, file);
  validate(stored.circuit, stored.parameters, file);
  write_atomically(file, image_of_circuit(stored, file));
}

bool holds_circuit(std::string const& file) {
  auto const has_group = [](hdf5::Reader const& in) { return in.has("/circuit") || in.has("/node_type"); };
  if (hdf5::has_checksums(file)) return has_group(hdf5::Reader(file));
  return hdf5::image_by_child(file, [&](hdf5::Reader const& in) { return std::string(has_group(in) ? "1" : "0"); }) ==
         "1";
}

circuit::Samples read_samples(std::string const& file, Circuit const& circuit) {
  if (!is_hdf5(file)) return parse_samples(file, read_text(file), circuit);
  if (hdf5::has_checksums(file)) return read_samples_of(hdf5::Reader(file), circuit, false);
  auto const image = hdf5::image_by_child(
      file, [&](hdf5::Reader const& in) { return image_of_samples(read_samples_of(in, circuit, false), file); });
  return read_samples_of(hdf5::Reader(file, image), circuit, true);
}

circuit::Samples read_any_samples(std::string const& file, ValueType type) {
  if (!is_hdf5(file)) return parse_any_samples(file, read_text(file), type);
  auto samples = hdf5::read_file(
      file, [](hdf5::Reader const& in) { return read_values(in, 0); }, image_of_samples);
  Index const categories = type == ValueType::real ? 0 : -1;
  for (std::size_t i = 0; i < samples.values.size(); ++i)
    if (double const x = samples.values[i]; x == x && !circuit::is_value(x, categories))
      throw InputError(
          file, "/x",
          fmt::format("row {} has {} in column {}; it must be {}", i / static_cast<std::size_t>(samples.num_variables),
                      x, i % static_cast<std::size_t>(samples.num_variables), circuit::wanted_value(categories)));
  return samples;
}

}  // namespace hornbill::io
