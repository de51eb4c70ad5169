// Files of circuits and of samples.
#include <cmath>
#include <filesystem>
#include <fstream>
#include <functional>
#include <tuple>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/circuit.hpp>
#include <hornbill/error.hpp>
#include <hornbill/io/checkpoint_file.hpp>
#include <hornbill/io/circuit_file.hpp>
#include <reference/circuit.hpp>

#include "../src/io/hdf5.hpp"
#include "support/random_circuits.hpp"

using namespace hornbill;
using circuit::InputKind, circuit::NodeKind;

namespace {

std::string const dumped_circuits = HORNBILL_SOURCE_DIR "/../shared/data/circuits/";

/// A file that goes with its test.
class TemporaryFile {
 public:
  explicit TemporaryFile(std::string const& name)
      : file_((std::filesystem::temp_directory_path() / ("hornbill_test_circuit_" + name)).string()) {}
  ~TemporaryFile() { std::filesystem::remove(file_); }
  TemporaryFile(TemporaryFile const&) = delete;
  TemporaryFile& operator=(TemporaryFile const&) = delete;
  std::string const& name() const { return file_; }

 private:
  std::string file_;
};

void put(std::string const& file, std::string const& bytes) { std::ofstream(file, std::ios::binary) << bytes; }

/// Refuses what a function does, with a part of a message.
void refuse(std::function<void()> const& function, std::string const& message) {
  try {
    function();
    FAIL_CHECK("not refused: " << message);
  } catch (InputError const& e) {
    CHECK_MESSAGE(std::string(e.what()).find(message) != std::string::npos, std::string(e.what()));
  }
}

/// The arrays of a circuit given node by node: x0 and x1 of three values, two products, a mixture.
struct Lists {
  std::vector<std::int64_t> node_type{0, 0, 0, 0, 1, 1, 2}, child_ptr{0, 0, 0, 0, 0, 2, 4, 6}, child{0, 2, 1, 3, 4, 5},
      param_id{-1, -1, -1, -1, 1, 0}, in_var{0, 0, 1, 1, -1, -1, -1}, in_row{0, 1, 2, 3, -1, -1, -1},
      vec_ptr{0, 4, 6, 7};
  std::vector<double> sum_params{0.25, 0.75}, cat_params{0.5, 0.25, 0.25, 1, 0, 0, 0.25, 0.25, 0.5, 0, 0.5, 0.5};

  void write(std::string const& file) const {
    io::hdf5::Writer out(file);
    out.write("/node_type", node_type);
    out.write("/child_ptr", child_ptr);
    out.write("/child", child);
    out.write("/param_id", param_id);
    out.write("/in_var", in_var);
    out.write("/in_row", in_row);
    out.write("/vec_ptr", vec_ptr);
    out.write("/sum_params", sum_params);
    out.write_rows("/cat_params", cat_params, 3);
    put(file, out.image());
  }
};

void refuse_lists(std::function<void(Lists&)> const& change, std::string const& message) {
  TemporaryFile const file("lists.h5");
  Lists lists;
  change(lists);
  lists.write(file.name());
  refuse([&] { io::read_circuit(file.name()); }, message);
}

double log_value(io::StoredCircuit const& stored, circuit::Samples const& samples, Offset sample) {
  return static_cast<double>(reference::circuit_log_values(stored.circuit, stored.parameters, samples, sample).back());
}

}  // namespace

TEST_CASE("circuit file: what is written is read again") {
  TemporaryFile const file("written.h5");
  for (unsigned seed = 0; seed < 12; ++seed) {
    auto const made = test::random_circuit(seed, 5, {.real_values = true, .zeros = 0.2});
    io::StoredCircuit stored{made.circuit, made.parameters, {{"builder", "random"}}};
    if (seed % 2) stored.circuit.variable_names = {"a", "b", "c", "d e", "#"};
    io::write_circuit(stored, file.name());
    CHECK(io::holds_circuit(file.name()));
    auto const again = io::read_circuit(file.name());
    CHECK(again.circuit == stored.circuit);
    CHECK(again.parameters.sum == stored.parameters.sum);
    CHECK(again.parameters.input == stored.parameters.input);
    CHECK(again.attributes == stored.attributes);
  }
}

TEST_CASE("circuit file: what is wrong is named") {
  TemporaryFile const file("wrong.h5");
  auto const made = test::random_circuit(1, 3);
  io::write_circuit({made.circuit, made.parameters}, file.name());
  std::filesystem::resize_file(file.name(), std::filesystem::file_size(file.name()) / 2);
  refuse([&] { io::read_circuit(file.name()); }, "truncated or damaged");
  refuse([&] { io::read_circuit("circuit.txt"); }, "circuit.txt: has not the ending of a circuit: .h5");
  refuse([&] { io::read_circuit("/no/such/file.h5"); }, "no such file");
  io::hdf5::Writer out(file.name());
  out.write("/graph/p1", std::vector<double>{1});
  put(file.name(), out.image());
  refuse([&] { io::read_circuit(file.name()); }, "holds no circuit");
  CHECK_FALSE(io::holds_circuit(file.name()));
  auto damaged = made;
  damaged.parameters.sum[0] = -1;
  refuse([&] { io::write_circuit({damaged.circuit, damaged.parameters}, file.name()); }, "parameter 0 of sum node");
}

TEST_CASE("circuit file: nodes and edges by themselves are gathered in vectors and blocks") {
  TemporaryFile const file("lists.h5");
  Lists().write(file.name());
  auto const stored = io::read_circuit(file.name());
  CHECK(stored.circuit.num_variables == 2);
  REQUIRE(stored.circuit.num_vectors() == 4);  // the run of inputs is divided by variable
  CHECK(stored.circuit.vectors[1].first == 2);
  CHECK(stored.circuit.factors == std::vector<circuit::Factor>{{0}, {2}});
  CHECK(stored.circuit.blocks == std::vector<circuit::EdgeBlock>{{6, 4, 1, 2, 0}});
  CHECK(stored.parameters.sum == std::vector<double>{0.75, 0.25});
  circuit::Samples const samples{2, {0, 0}};
  CHECK(std::exp(log_value(stored, samples, 0)) == doctest::Approx(0.75 * 0.5 * 0.25 + 0.25 * 0));
}

TEST_CASE("circuit file: edges whose ties no block shares are blocks of their own") {
  // Two sums over the same children with the same parameters in another order.
  circuit::NodeLists nodes;
  nodes.num_variables = 1;
  nodes.kinds = {NodeKind::input, NodeKind::input, NodeKind::sum, NodeKind::sum, NodeKind::sum};
  nodes.child_offsets = {0, 0, 0, 2, 4, 6};
  nodes.children = {0, 1, 0, 1, 2, 3};
  nodes.parameters = {0, 1, 1, 0, 2, 3};
  nodes.variables = {0, 0, -1, -1, -1};
  nodes.rows = {0, 1, -1, -1, -1};
  nodes.run_offsets = {0, 2, 4, 5};
  nodes.sum_parameters = {0.25, 0.75, 0.5, 0.5};
  nodes.num_categories = 2;
  nodes.categorical = {0.5, 0.5, 1, 0};
  auto const gathered = circuit::gather(nodes, "lists");
  CHECK(gathered.circuit.blocks ==
        std::vector<circuit::EdgeBlock>{
            {2, 0, 1, 1, 0}, {2, 1, 1, 1, 1}, {3, 0, 1, 1, 1}, {3, 1, 1, 1, 0}, {4, 2, 1, 2, 2}});
  CHECK(distribution_owners(gathered.circuit, "lists") == std::vector<Index>{-1, -1, 2, 2, 4});
  CHECK(gathered.parameter_of == std::vector<Offset>{0, 1, 2, 3});
  nodes.parameters = {0, 0, 1, 1, 2, 3};
  refuse([&] { circuit::gather(nodes, "lists"); }, "lists: sum node 2 has the parameter 0 for two of its edges");
}

TEST_CASE("circuit file: any circuit is the same, node by node") {
  for (unsigned seed = 0; seed < 20; ++seed) {
    auto made = test::random_circuit(seed, 5);
    auto const& circuit = made.circuit;
    if (std::ranges::any_of(circuit.inputs, [](auto const& i) { return i.kind != InputKind::categorical; })) {
      // Categoricals of as many values in their place.
      circuit::Circuit changed = circuit;
      changed.num_input_parameters = 0;
      for (auto& vector : changed.vectors)
        if (vector.kind == NodeKind::input) {
          auto& input = changed.inputs[static_cast<std::size_t>(vector.begin)];
          input = {input.variable, InputKind::categorical, 4, 0, changed.num_input_parameters, 0};
          changed.num_input_parameters += Offset{vector.size} * 4;
        }
      made = {changed, circuit::initial_parameters(changed, seed)};
    }
    circuit::NodeLists nodes;
    nodes.num_variables = circuit.num_variables;
    nodes.child_offsets.push_back(0);
    nodes.run_offsets.push_back(0);
    nodes.sum_parameters = made.parameters.sum;
    nodes.categorical = made.parameters.input;
    for (auto const& vector : circuit.vectors) {
      auto const* input =
          vector.kind == NodeKind::input ? &circuit.inputs[static_cast<std::size_t>(vector.begin)] : nullptr;
      for (Index i = 0; i < vector.size; ++i) {
        nodes.kinds.push_back(vector.kind);
        nodes.variables.push_back(input ? input->variable : -1);
        nodes.rows.push_back(input ? static_cast<Index>(input->parameter / input->num_categories) + i : -1);
        if (input) nodes.num_categories = input->num_categories;
        for (auto e = vector.begin; e < vector.end; ++e) {
          if (vector.kind == NodeKind::product)
            nodes.children.push_back(circuit.factor_of(circuit.factors[static_cast<std::size_t>(e)], i));
          if (vector.kind != NodeKind::sum) continue;
          auto const& block = circuit.blocks[static_cast<std::size_t>(e)];
          Index const row = vector.first + i - block.sum;
          for (Index c = 0; row >= 0 && row < block.rows && c < block.columns; ++c) {
            nodes.children.push_back(block.child + c);
            nodes.parameters.push_back(block.parameter + Offset{row} * block.columns + c);
          }
        }
        nodes.parameters.resize(nodes.children.size(), -1);
        nodes.child_offsets.push_back(std::ssize(nodes.children));
      }
      nodes.run_offsets.push_back(vector.first + vector.size);
    }
    auto const gathered = circuit::gather(nodes, "lists");
    CHECK(gathered.circuit.num_vectors() == circuit.num_vectors());
    auto const samples = test::random_samples(circuit, seed, 3, false);
    for (Offset s = 0; s < samples.size(); ++s) {
      auto const expected = reference::circuit_log_values(made.circuit, made.parameters, samples, s);
      auto const actual = reference::circuit_log_values(gathered.circuit, gathered.parameters, samples, s);
      for (std::size_t n = 0; n < expected.size(); ++n)
        CHECK(static_cast<double>(actual[n]) == doctest::Approx(static_cast<double>(expected[n])).epsilon(1e-14));
    }
  }
}

TEST_CASE("circuit file: what is wrong with nodes by themselves is named") {
  refuse_lists([](Lists& l) { l.child[4] = 6; },
               "lists.h5: node 6 has the child 6, which is not in a run before it: a circuit has no cycle");
  refuse_lists([](Lists& l) { l.child[0] = 5; }, "node 4 has the child 5");
  refuse_lists(
      [](Lists& l) {
        l.child_ptr = {0, 0, 0, 0, 0, 2, 2, 4};
        l.child.resize(4);
        l.param_id = {-1, -1, 0, 1};
      },
      "product node 5 has no children");
  refuse_lists([](Lists& l) { l.child_ptr[4] = 1; }, "input node 3 has 1 children; inputs have none");
  refuse_lists([](Lists& l) { l.child_ptr[5] = 7; }, "child offsets: entry 6 decreases (7 -> 4)");
  refuse_lists([](Lists& l) { l.param_id[4] = 2; }, "edge 0 of sum node 6 has the parameter 2; there are 2");
  refuse_lists([](Lists& l) { l.in_row[3] = 4; }, "input node 3 has row 4 of the categorical parameters; there are 4");
  refuse_lists([](Lists& l) { l.in_var[3] = -1; }, "input node 3 is of variable -1; variables are 0 to 1");
  refuse_lists([](Lists& l) { l.node_type[3] = 3; }, "/node_type: entry 3 is 3; 0 to 2 are known");
  refuse_lists([](Lists& l) { l.vec_ptr = {0, 5, 6, 7}; }, "the nodes 0 and 4 are in one run, but are of two kinds");
  refuse_lists([](Lists& l) { l.in_var[2] = l.in_var[3] = 0; }, "product node 4 is not decomposable");
  refuse_lists([](Lists& l) { l.sum_params[0] = 0.5; }, "the parameters of sum node 6 add to 1.25");
  refuse_lists([](Lists& l) { l.cat_params[4] = 0.5; }, "the parameters of input node 1 add to 1.5");
}

TEST_CASE("samples: text") {
  auto const made = test::random_circuit(0, 3);
  auto circuit = made.circuit;
  circuit.variable_names = {"a", "b", "c"};
  auto const read = [&](std::string const& text) { return io::parse_samples("x.csv", text, circuit); };
  auto const samples = read("0, 1 ,0\r\n?,,1\n\n1,0,?");
  REQUIRE(samples.size() == 3);
  CHECK(samples.value(0, 1) == 1);
  CHECK(std::isnan(samples.value(1, 0)));
  CHECK(std::isnan(samples.value(1, 1)));
  CHECK(std::isnan(samples.value(2, 2)));
  CHECK(read("a,b,c\n0,0,0\n").size() == 1);
  refuse([&] { read("NA,NA,NA\n0,0,0\n"); }, "x.csv:line 1: the value of a is 'NA'");
  refuse([&] { read("+1,+1,+1\n"); }, "x.csv:line 1: the value of a is '+1'");
  refuse([&] { read("0;1;1\n"); }, "x.csv:line 1: has 1 values");
  CHECK(read("").size() == 0);
  auto const refuse_text = [&](std::string const& text, std::string const& message) {
    refuse([&] { read(text); }, message);
  };
  refuse_text("0,0\n", "x.csv:line 1: has 2 values; the circuit's variables are 3");
  refuse_text("0,0,0\n0,0,9\n", "x.csv:line 2: the value of c is '9'; it must be a whole number from 0 to");
  refuse_text("0,0.5,0\n", "line 1: the value of b is '0.5'");
  refuse_text("0,nan,0\n", "line 1: the value of b is 'nan'");
  refuse_text("0,-1,0\n", "line 1: the value of b is '-1'");
  refuse_text("0,0,0\na,b,c\n", "line 2: the value of a is 'a'");
}

TEST_CASE("samples: HDF5") {
  TemporaryFile const file("samples.h5");
  auto const circuit = test::random_circuit(0, 3).circuit;
  auto const categories = circuit::variable_categories(circuit, "c");
  auto const write = [&](std::vector<double> const& x, std::vector<double> const& mask,
                         std::vector<double> const& soft) {
    io::hdf5::Writer out(file.name());
    out.write_attribute("/", "hornbill_format", std::int64_t{2});
    out.write_rows("/x", x, 3);
    if (!mask.empty()) out.write_rows("/x_missing", mask, 3);
    if (!soft.empty()) out.write_rows("/soft/1", soft, static_cast<hsize_t>(categories[1]));
    put(file.name(), out.image());
  };
  std::vector<double> const likelihoods(2 * static_cast<std::size_t>(categories[1]), 0.5);
  write({0, 1, 0, 1, 0, 1}, {0, 0, 0, 1, 0, 0}, likelihoods);
  auto const samples = io::read_samples(file.name(), circuit);
  CHECK(samples.size() == 2);
  CHECK(std::isnan(samples.value(1, 0)));
  CHECK(samples.value(1, 2) == 1);
  REQUIRE(samples.soft.size() == 1);
  CHECK(samples.soft[0].variable == 1);
  CHECK(samples.soft[0].likelihoods == likelihoods);
  auto const refuse_file = [&](std::string const& message) {
    refuse([&] { io::read_samples(file.name(), circuit); }, message);
  };
  write({0, 1, 9}, {}, {});
  refuse_file("sample 0: the value of x2 is 9");
  write({0, circuit::missing, 0}, {0, 1, 0}, {});
  CHECK(std::isnan(io::read_samples(file.name(), circuit).value(0, 1)));
  write({0, circuit::missing, 0}, {}, {});
  refuse_file("/x: row 0 has no number in column 1; mark what is missing in /x_missing");
  write({0, 1, 0}, {0, 0, 0, 0, 0, 0}, {});
  refuse_file("/x_missing: has not the shape of /x");
  write({0, 1, 0}, {}, likelihoods);
  refuse_file("variable x1 has");
  io::hdf5::Writer out(file.name());
  out.write_attribute("/", "hornbill_format", std::int64_t{2});
  out.write_rows("/x", {0, 1, 0, 0, 1, 0}, 3);
  out.write_rows("/soft/1", likelihoods, 1);
  put(file.name(), out.image());
  refuse_file("/soft/1: has 1 columns");
}

TEST_CASE("circuit file: two dumps of PyJuice") {
  for (std::string const name : {"hmm", "hclt"}) {
    auto const file = dumped_circuits + "pyjuice_small_" + name + ".h5";
    if (!std::filesystem::exists(file)) continue;
    auto const stored = io::read_circuit(file);
    CHECK(stored.circuit.num_variables == (name == "hmm" ? 8 : 16));
    for (auto const& block : stored.circuit.blocks) CHECK(block.columns == 64);
    auto const samples = io::read_samples(file, stored.circuit);
    REQUIRE(samples.size() == 128);
    io::hdf5::Reader in(file);
    auto const ll = in.read<double>("/ll"), ll_fp32 = in.read<double>("/ll_fp32"),
               after = in.read<double>("/ll_after_em");
    auto const flows_there = in.read<double>("/sum_flows");
    auto const logp = in.read_rows("/logp"), flow = in.read_rows("/flow");
    reference::CircuitFlows flows;
    double largest = 0, largest_fp32 = 0, largest_node = 0;
    for (Offset s = 0; s < samples.size(); ++s) {
      auto const log_values = reference::circuit_log_values(stored.circuit, stored.parameters, samples, s);
      largest = std::max(largest, std::abs(static_cast<double>(log_values.back()) - ll[static_cast<std::size_t>(s)]));
      largest_fp32 = std::max(largest_fp32,
                              std::abs(static_cast<double>(log_values.back()) - ll_fp32[static_cast<std::size_t>(s)]));
      auto const of_sample = reference::circuit_flows(stored.circuit, stored.parameters, samples, s, log_values);
      for (std::size_t n = 0; n < log_values.size(); ++n) {
        auto const there = n * 128 + static_cast<std::size_t>(s);
        if (std::isnan(logp.values[there])) continue;  // of products, which it does not keep
        largest_node = std::max({largest_node, std::abs(static_cast<double>(log_values[n]) - logp.values[there]),
                                 std::abs(static_cast<double>(of_sample.nodes[n]) - flow.values[there])});
      }
      flows.add(of_sample);
    }
    // The other program's own errors: 0.003, and 0.0062 of its run in float32; 0.0043 of nodes.
    CHECK(largest < 0.004);
    CHECK(largest_fp32 < 0.007);
    CHECK(largest_node < 0.005);
    for (std::size_t p = 0; p < flows.sum.size(); ++p)
      CHECK(static_cast<double>(flows.sum[p]) == doctest::Approx(flows_there[p]).epsilon(0.01));
    auto const learnt = reference::circuit_em_step(stored.circuit, stored.parameters, flows, 0.5, 0.1);
    double largest_after = 0;
    for (Offset s = 0; s < samples.size(); ++s)
      largest_after = std::max(largest_after, std::abs(log_value({stored.circuit, learnt}, samples, s) -
                                                       after[static_cast<std::size_t>(s)]));
    CHECK(largest_after < 0.007);
    TemporaryFile const copy("copy.h5");
    io::write_circuit(stored, copy.name());
    CHECK(io::read_circuit(copy.name()).circuit == stored.circuit);
    MESSAGE(name, ": ", largest, ", in float32 ", largest_fp32, ", of nodes ", largest_node, ", after a step ",
            largest_after);
  }
}

TEST_CASE("circuit checkpoint: what is written is read again") {
  TemporaryFile const file("checkpoint.h5");
  for (auto update : {circuit::Update::full_batch, circuit::Update::anemone}) {
    auto const made = test::random_circuit(3, 4, {.real_values = true});
    bool const is_full = update == circuit::Update::full_batch;
    io::Checkpoint written{{made.circuit, made.parameters, {{"structure", "random"}}}, {}, {}, "fp64", ~0ULL};
    written.options = {.update = update,
                       .batch_size = 7,
                       .step_size = is_full ? 1 : 0.1,
                       .final_step_size = is_full ? 1 : 1.0 / 3,
                       .epochs = 12,
                       .momentum = is_full ? 0 : 0.9,
                       .pseudocount = 1e-3,
                       .keep_zeros = true,
                       .seed = ~0ULL};
    written.state = {{}, 3, 4, 5, {-1.0 / 3, 0.1 + 0.2, 6, 7, 8}, {}, {}};
    if (!is_full) written.state.sum_momentum = {1.0 / 3, 0};
    io::write_checkpoint(written, file.name());
    auto const read = io::read_checkpoint(file.name());
    CHECK(read.options == written.options);
    CHECK(read.state.sums == written.state.sums);
    CHECK(std::tuple(read.state.epoch, read.state.batch, read.state.updates) == std::tuple(3, 4, 5));
    CHECK(read.state.sum_momentum == written.state.sum_momentum);
    CHECK(read.stored.circuit == made.circuit);
    CHECK(read.stored.parameters.sum == made.parameters.sum);
    CHECK(std::tuple(read.precision, read.fingerprint) == std::tuple("fp64", ~0ULL));
    CHECK(io::read_circuit(file.name()).circuit == made.circuit);
    for (auto bad : {&circuit::TrainingOptions::momentum, &circuit::TrainingOptions::pseudocount}) {
      auto spoilt = written;
      spoilt.options.*bad = -1;
      io::write_checkpoint(spoilt, file.name());
      refuse([&] { io::read_checkpoint(file.name()); }, file.name() + ":/training");
    }
    auto spoilt = written;
    spoilt.state.batch = -1;
    io::write_checkpoint(spoilt, file.name());
    refuse([&] { io::read_checkpoint(file.name()); }, "/training@batch");
    spoilt.precision = "fp8";
    io::write_checkpoint(spoilt, file.name());
    refuse([&] { io::read_checkpoint(file.name()); }, "'fp8', which is not known");
  }
  io::write_circuit({test::random_circuit(3, 4).circuit, test::random_circuit(3, 4).parameters}, file.name());
  refuse([&] { io::read_checkpoint(file.name()); }, "holds no training");
}

TEST_CASE("circuit weights: as many as samples, none below 0") {
  CHECK(io::parse_weights("w.txt", "1\n 0.5 \n0\n", 3) == std::vector<double>{1, 0.5, 0});
  refuse([] { io::parse_weights("w.txt", "1\n-1\n", 2); }, "w.txt:line 2");
  refuse([] { io::parse_weights("w.txt", "1\nnan\n", 2); }, "'nan'");
  refuse([] { io::parse_weights("w.txt", "1\n\n", 2); }, "at least 0");
  refuse([] { io::parse_weights("w.txt", "1\n", 2); }, "has 1 weights; there are 2 samples");
}
