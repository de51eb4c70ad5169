// Files: every format both ways, and everything that can be wrong with them.
#include <cmath>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <functional>

#include <sys/resource.h>
#include <unistd.h>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/graph/generate.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>
#include <hornbill/io/model.hpp>
#include <hornbill/io/text_formats.hpp>

#include "../src/io/hdf5.hpp"
#include "../src/io/memory.hpp"
#include "../src/io/table_factor.hpp"
#include "support/random_graphs.hpp"

using namespace hornbill;
namespace fs = std::filesystem;

namespace {

/// A folder that goes with the test.
struct Folder {
  fs::path path = fs::temp_directory_path() / fmt::format("hornbill_test_{}", ::getpid());
  Folder() { fs::create_directories(path); }
  ~Folder() { fs::remove_all(path); }
  std::string operator/(std::string const& name) const { return (path / name).string(); }
};

void write_text(std::string const& file, std::string const& text) { std::ofstream(file) << text; }

void check_equal(HostFactorGraph const& a, HostFactorGraph const& b) {
  CHECK(a.num_variables == b.num_variables);
  CHECK(a.factor_type == b.factor_type);
  CHECK(a.factor_offsets == b.factor_offsets);
  CHECK(a.factor_variables == b.factor_variables);
  CHECK(a.cardinality == b.cardinality);
  CHECK(a.table_values == b.table_values);
  CHECK(a.variable_names == b.variable_names);
  REQUIRE(a.p1.size() == b.p1.size());
  for (std::size_t i = 0; i < a.p1.size(); ++i) {
    CHECK(a.p1[i] == doctest::Approx(b.p1[i]).epsilon(1e-15));
    CHECK(a.p2[i] == doctest::Approx(b.p2[i]).epsilon(1e-15));
  }
}

HostFactorGraph small_graph() {
  FactorGraphBuilder builder(3);
  builder.add_prior(0, 0.9).add_prior(1, 0.8).add_conjunction(2, std::vector<Index>{0, 1}, 0.7);
  return std::move(builder).build();
}

/// Writes `small_graph` by hand, with one dataset changed by `spoil`.
void write_spoiled(std::string const& file, std::function<void(HostFactorGraph&)> const& spoil) {
  Model model;
  model.graph = small_graph();
  spoil(model.graph);
  io::write_hdf5(model, file);
}

template <class Function>
void check_refused(Function&& function, std::string const& message) {
  try {
    function();
    FAIL_CHECK("nothing was thrown; expected: " << message);
  } catch (Error const& e) {
    CHECK_MESSAGE(std::string(e.what()).find(message) != std::string::npos, "'", e.what(), "' does not contain '",
                  message, "'");
  }
}

}  // namespace

TEST_CASE("io: HDF5 both ways, with all that a model holds") {
  Folder folder;
  Model model;
  model.graph = test::random_graph(7, {.num_variables = 300, .num_factors = 3000, .tables = 0.3, .max_states = 5});
  for (Index v = 0; v < model.graph.num_variables; ++v)
    model.graph.variable_names.push_back(fmt::format("größe_{}", v));
  model.schedules["a"] = {ScheduleKind::order, {3, 1, 2}, {}, {}, {}};
  model.schedules["b"] = {ScheduleKind::batches, {3, 1, 2}, {0, 2, 3}, {}, {}};
  model.schedules["c"] = {ScheduleKind::partial_order, {}, {}, {0, 1}, {5, 6}};
  model.evidence["hard"] = {Observation::hard(3, 1), Observation::hard(4, 0)};
  model.evidence["mixed"] = {Observation::hard(3, 1), Observation::soft(4, 0.25, 0.5)};
  model.queries["alarms"] = {5, 2};
  model.marginals["lbp"] = {std::vector<double>(300, 0.5), {}, {{"stop", "converged"}}};
  model.messages["lbp"] = {std::vector<double>(model.graph.num_messages(), -std::numeric_limits<double>::infinity()),
                           model.evidence["mixed"]};
  model.messages["of nothing observed"] = {std::vector<double>(model.graph.num_messages(), 0.5), HostEvidence{}};
  model.messages["of unknown evidence"] = {std::vector<double>(model.graph.num_messages(), 0.5), std::nullopt};
  model.rules = {{"R0", "R1"}, {0.5, 1}, std::vector<Offset>(model.graph.num_factors() + 1, 3), {1, 0, 1}};
  model.rules.offsets.front() = 0;
  io::write_model(model, folder / "m.h5");
  auto const read = io::read_model(folder / "m.h5");
  check_equal(read.graph, model.graph);
  CHECK(read.rules.names == model.rules.names);
  CHECK(read.rules.probabilities == model.rules.probabilities);
  CHECK(read.rules.offsets == model.rules.offsets);
  CHECK(read.rules.of_factors == model.rules.of_factors);
  CHECK(read.schedules.at("b").batch_offsets == model.schedules["b"].batch_offsets);
  CHECK(read.schedules.at("c").before == model.schedules["c"].before);
  CHECK(read.schedules.at("a").edges == model.schedules["a"].edges);
  CHECK(read.evidence.at("hard")[1].value == 0);
  CHECK(read.evidence.at("mixed")[0].value == 1);
  CHECK(!read.evidence.at("mixed")[1].is_hard());
  CHECK(read.evidence.at("mixed")[1].likelihoods[0] == 0.25);
  CHECK(read.queries.at("alarms") == model.queries["alarms"]);
  CHECK(read.marginals.at("lbp").attributes.at("stop") == "converged");
  for (auto const& [name, messages] : model.messages) {
    CHECK(read.messages.at(name).log_odds == messages.log_odds);
    CHECK(read.messages.at(name).evidence == messages.evidence);
  }
  CHECK(read.marginals.at("lbp").p_states.empty());
  // nothing left beside it
  for (auto const& entry : fs::directory_iterator(folder.path)) CHECK(entry.path().filename() == "m.h5");
}

TEST_CASE("io: evidence and marginals of variables of several states come back from HDF5") {
  Folder folder;
  Model model;
  FactorGraphBuilder builder;
  for (Index states : {2, 3, 1, 200}) builder.add_variable("", states);
  model.graph = std::move(builder).build();
  std::vector<double> many(200, 0.25);
  many[7] = 0;
  model.evidence["likely"] = {Observation::soft(1, {0.5, 0, 0.25}), Observation::hard(0, 1),
                              Observation::soft(3, many)};
  model.evidence["of three"] = {Observation::soft(1, {0.5, 0, 0.25})};
  model.evidence["binary"] = {Observation::soft(0, {0.5, 0.25}), Observation::hard(3, 150)};
  model.marginals["lbp"] = {{0.5, 0.25, 0, 0.1}, std::vector<double>(206, 0.5), {}};
  io::write_model(model, folder / "m.h5");
  auto const read = io::read_model(folder / "m.h5");
  CHECK(read.evidence == model.evidence);
  CHECK(read.marginals.at("lbp").p_states == model.marginals.at("lbp").p_states);

  auto const refuse = [&](HostEvidence const& evidence, std::string const& message) {
    auto spoiled = model;
    spoiled.evidence["e"] = evidence;
    io::write_model(spoiled, folder / "spoiled.h5");
    check_refused([&] { io::read_model(folder / "spoiled.h5"); }, (folder / "spoiled.h5") + ":/evidence/e" + message);
  };
  refuse({Observation::soft(1, {0.5, 0.25})}, ": entry 0: variable 1 has 3 states, so 3 likelihoods are needed, not 2");
  refuse({Observation::soft(1, {0.5})}, "/likelihood: has 1 entries, too few for the states of variable 1");
  refuse({Observation::soft(0, {1, 2, 3})}, "/likelihood: has 3 entries; 2 are needed");
  refuse({Observation::soft(1, {0.5, 0.25, std::nan("")})}, ": entry 0: variable 1: likelihood nan");
  model.marginals["lbp"].p_states.pop_back();
  io::write_model(model, folder / "m.h5");
  check_refused([&] { io::read_model(folder / "m.h5"); }, "/state_marginals/lbp: has 205 entries; 206 are needed");
}

TEST_CASE("io: tables of a file are refused where all together are too many for the machine") {
  auto const fail = [](std::string const& message) { throw InputError(message); };
  io::TableRoom room("sparse.fg", io::host_memory_bytes() >> 24);  // so that 2^24 entries fill it
  std::vector<Index> const states{1 << 10, 1 << 12};
  for (int table = 0; table < 4; ++table) CHECK(room.take(states, fail) == 1 << 22);
  CHECK_THROWS_WITH_AS(room.take(states, fail), doctest::Contains("sparse.fg: its tables do not fit: "), CapacityError);
  room.give_back(2 << 22);  // one that was refused, and one more
  CHECK(room.take(states, fail) == 1 << 22);
  CHECK_THROWS_AS(room.take({1 << 13, 1 << 12}, fail), InputError);
}

TEST_CASE("evidence: what rules out as much as other evidence") {
  HostEvidence const hard{Observation::hard(3, 1), Observation::hard(4, 2)};
  CHECK(rules_out_as_much(hard, hard));
  CHECK(rules_out_as_much(hard, {}));
  CHECK(!rules_out_as_much({}, hard));
  CHECK(rules_out_as_much({hard[1], Observation::soft(5, 1, 2), hard[0]}, hard));
  CHECK(!rules_out_as_much({hard[0]}, hard));
  CHECK(!rules_out_as_much({Observation::hard(3, 0), hard[1]}, hard));
  CHECK(!rules_out_as_much({hard[0], Observation::hard(4, 1)}, hard));
  CHECK(rules_out_as_much({}, {Observation::soft(3, 0.1, 1)}));
  CHECK(!rules_out_as_much({}, {Observation::soft(3, 0, 1)}));
  CHECK(rules_out_as_much({hard[0]}, {Observation::soft(3, 0, 1)}));
  CHECK(rules_out_as_much({Observation::soft(3, 0, 1)}, {hard[0]}));
  CHECK(!rules_out_as_much({hard[0], Observation::soft(3, 1, 1)}, {hard[0]}));  // the last counts
  auto const none_of = [](std::vector<double> likelihoods) {
    return HostEvidence{Observation::soft(4, std::move(likelihoods))};
  };
  CHECK(rules_out_as_much({hard[1]}, none_of({0, 1, 1})));
  CHECK(rules_out_as_much(none_of({0, 0, 1}), {hard[1]}));
  CHECK(rules_out_as_much(none_of({0, 1, 0}), none_of({1, 1, 0})));
  CHECK(!rules_out_as_much({hard[1]}, none_of({1, 1, 0})));
  CHECK(!rules_out_as_much(none_of({0, 1, 1}), {hard[1]}));
  CHECK(!rules_out_as_much(none_of({0, 1, 1}), none_of({1, 1, 0})));
}

TEST_CASE("io: large arrays are compressed") {
  Folder folder;
  auto const generated = generate(options_like("luindex"));
  Model model;
  model.graph = generated.graph;
  model.graph.variable_names.clear();
  io::write_hdf5(model, folder / "g.h5");
  // less than p1 and p2 alone would take raw
  CHECK(fs::file_size(folder / "g.h5") < 8 * model.graph.factor_variables.size());
}

TEST_CASE("io: .fg and .causal_fg both ways; AND and OR are recognised in tables") {
  Folder folder;
  auto const graph = test::random_graph(8, {.num_variables = 50, .num_factors = 80, .deterministic = true});
  io::write_causal_fg(graph, folder / "g.causal_fg");
  auto const causal = io::read_causal_fg(folder / "g.causal_fg");
  io::write_fg(graph, folder / "g.fg");
  auto const dense = io::read_fg(folder / "g.fg");
  CHECK(dense.table_values.empty());  // all were recognised
  CHECK(causal.factor_variables == graph.factor_variables);
  auto const factor_of = factors_of_edges(graph);
  for (Index a = 0; a < graph.num_factors(); ++a) {
    // A factor of one body variable is an AND and an OR alike, and some tables have several heads: compare as tables.
    auto arity = static_cast<int>(graph.variables_of(a).size());
    if (arity == 1)
      CHECK(dense.p1[a] ==
            doctest::Approx(graph.factor_type[a] == FactorType::conjunction ? graph.p1[a] : graph.p2[a]));
    if (arity > 2) {
      CHECK(dense.factor_type[a] == graph.factor_type[a]);
      CHECK(dense.p1[a] == doctest::Approx(graph.p1[a]).epsilon(1e-15));
      CHECK(causal.p2[a] == doctest::Approx(graph.p2[a]).epsilon(1e-15));
      CHECK(causal.factor_type[a] == graph.factor_type[a]);
    }
  }
}

TEST_CASE("io: .fg with tables of other cardinality keeps them") {
  Folder folder;
  auto const graph = test::random_graph(9, {.num_variables = 30, .num_factors = 50, .tables = 1, .max_states = 4});
  io::write_fg(graph, folder / "g.fg");
  auto const read = io::read_fg(folder / "g.fg");
  for (Index a = 0; a < graph.num_factors(); ++a) {
    auto const before = graph.table_of(a), after = read.table_of(a);
    if (read.factor_type[a] == FactorType::table)
      CHECK(std::equal(before.begin(), before.end(), after.begin(), after.end()));
  }
}

TEST_CASE("io: files that are no models are refused by name") {
  Folder folder;
  check_refused([&] { io::read_model(folder / "none.h5"); }, "none.h5: no such file");
  check_refused([&] { io::read_model(folder / "none.xyz"); },
                "none.xyz: has no known ending: .h5, .causal_fg, .fg, .uai and .bif are known");
  write_text(folder / "text.h5", "no HDF5 at all");
  check_refused([&] { io::read_model(folder / "text.h5"); }, "text.h5: is not an HDF5 file");
  check_refused([&] { io::read_model(folder.path.string() + "/.h5"); }, "no such file");
  Model model;
  model.graph = generate({}).graph;
  io::write_hdf5(model, folder / "whole.h5");
  auto const size = fs::file_size(folder / "whole.h5");
  for (auto part : {size / 4, size / 2, size - 100}) {
    fs::copy_file(folder / "whole.h5", folder / "part.h5", fs::copy_options::overwrite_existing);
    fs::resize_file(folder / "part.h5", part);
    check_refused([&] { io::read_model(folder / "part.h5"); },
                  "part.h5: is an HDF5 file but cannot be opened: it is truncated");
  }
  {
    io::hdf5::Writer out(folder / "new.h5");
    out.write_attribute("/", "hornbill_format", std::int64_t{3});
    io::write_atomically(folder / "new.h5", out.image());
  }
  check_refused([&] { io::read_model(folder / "new.h5"); }, "new.h5:/@hornbill_format: is 3, from a newer Hornbill");
  {
    io::hdf5::Writer out(folder / "foreign.h5");
    out.write("/x", std::vector<double>{1});
    io::write_atomically(folder / "foreign.h5", out.image());
  }
  check_refused([&] { io::read_model(folder / "foreign.h5"); },
                "foreign.h5:/@hornbill_format: this attribute is missing");
}

TEST_CASE("io: what is wrong inside a model is named by file, dataset and entry") {
  Folder folder;
  std::string const file = folder / "bad.h5";
  auto refuse = [&](std::function<void(HostFactorGraph&)> const& spoil, std::string const& message) {
    write_spoiled(file, spoil);
    check_refused([&] { io::read_model(file); }, file + ":" + message);
  };
  refuse([](auto& g) { g.factor_offsets[2] = 0; }, "/graph/factor_offsets: entry 2 decreases (1 -> 0)");
  refuse([](auto& g) { g.factor_offsets[0] = 1; }, "/graph/factor_offsets: entry 0 is 1, not 0");
  refuse([](auto& g) { g.factor_offsets.pop_back(); }, "/graph/factor_offsets: 3 entries, but 3 factors need 4");
  refuse([](auto& g) { g.factor_offsets[3] = 9; },
         "/graph/factor_offsets: entry 3 is 9, but the array it points into has 5 entries");
  refuse([](auto& g) { g.factor_variables[3] = 3; },
         "/graph/factor_variables: entry 3 (factor 2) is variable 3, but variables are 0 to 2");
  refuse([](auto& g) { g.factor_variables[3] = -1; }, "/graph/factor_variables: entry 3 (factor 2) is variable -1");
  refuse([](auto& g) { g.factor_variables[4] = 0; },
         "/graph/factor_variables: entry 4: variable 0 is twice in factor 2");
  refuse([](auto& g) { g.p1[1] = 1.5; }, "/graph/p1: entry 1 is 1.5, not a probability");
  refuse([](auto& g) { g.p2[2] = std::nan(""); }, "/graph/p2: entry 2 is nan, not a probability");
  refuse([](auto& g) { g.p2[0] = -0.1; }, "/graph/p2: entry 0 is -0.1, not a probability");
  refuse([](auto& g) { g.p1.pop_back(); }, "/graph/p1: 2 entries for 3 factors");
  refuse([](auto& g) { g.factor_type[1] = static_cast<FactorType>(7); }, "/graph/factor_type: entry 1 is 7; known are");
  refuse([](auto& g) { g.factor_type[1] = FactorType::table; },
         "/graph/table_offsets: is missing, but factor 1 is a table");
  refuse([](auto& g) { g.cardinality = {2, 3, 2}; }, "/graph/cardinality: entry 1 is 3, but factor 1 is a Horn factor");
  refuse([](auto& g) { g.variable_names = {"a"}; }, "/graph/variable_names: 1 entries for 3 variables");
  refuse([](auto& g) { g.factor_offsets[1] = 0; }, "/graph/factor_offsets: factor 0 has no head");
}

TEST_CASE("io: schedules, evidence and queries that do not fit the graph") {
  Folder folder;
  std::string const file = folder / "bad.h5";
  auto refuse = [&](std::function<void(Model&)> const& spoil, std::string const& message) {
    Model model;
    model.graph = small_graph();
    spoil(model);
    io::write_hdf5(model, file);
    check_refused([&] { io::read_model(file); }, file + ":" + message);
  };
  refuse(
      [](auto& m) {
        m.schedules["s"] = {ScheduleKind::partial_order, {}, {}, {0, 1}, {1, 0}};
      },
      "/schedules/s:before: entry 0 (edge 0 before edge 1) lies on a cycle");
  refuse(
      [](auto& m) {
        m.schedules["s"] = {ScheduleKind::batches, {0, 2}, {0, 2}, {0}, {2}};
      },
      "/schedules/s:batch_offsets: batch 0 violates the order");
  refuse(
      [](auto& m) {
        m.schedules["s"] = {ScheduleKind::order, {0, 99}, {}, {}, {}};
      },
      "/schedules/s:edges: entry 1 is edge 99");
  refuse(
      [](auto& m) {
        m.evidence["e"] = {Observation::hard(0, 1), Observation::hard(9, 1)};
      },
      "/evidence/e: entry 1: evidence on variable 9, which is unknown");
  refuse([](auto& m) { m.evidence["e"] = {Observation::hard(0, 2)}; },
         "/evidence/e: entry 0: variable 0 is given the value 2");
  refuse([](auto& m) { m.evidence["e"] = {Observation::soft(0, -1, 2)}; },
         "/evidence/e: entry 0: variable 0: likelihood -1");
  refuse([](auto& m) { m.queries["q"] = {0, 3}; }, "/queries/q: entry 1 is variable 3");
  refuse([](auto& m) { m.marginals["x"] = {{0.5}, {}, {}}; }, "/marginals/x: has 1 entries; 3 are needed");
}

TEST_CASE("io: an array larger than the machine, or than its file can hold, is refused before it is read") {
  Folder folder;
  auto const declare = [&](hsize_t size) {
    write_spoiled(folder / "huge.h5", [](auto&) {});
    io::hdf5::Handle file(H5Fopen((folder / "huge.h5").c_str(), H5F_ACC_RDWR, H5P_DEFAULT), H5Fclose);
    H5Ldelete(file.get(), "/graph/factor_variables", H5P_DEFAULT);
    hsize_t const chunk = 1024;  // chunks that were never written take no space
    io::hdf5::Handle space(H5Screate_simple(1, &size, nullptr), H5Sclose),
        properties(H5Pcreate(H5P_DATASET_CREATE), H5Pclose);
    H5Pset_chunk(properties.get(), 1, &chunk);
    io::hdf5::Handle dataset(H5Dcreate2(file.get(), "/graph/factor_variables", H5T_STD_I32LE, space.get(), H5P_DEFAULT,
                                        properties.get(), H5P_DEFAULT),
                             H5Dclose);
    REQUIRE(static_cast<bool>(dataset));
  };
  declare(hsize_t{1} << 45);
  CHECK_THROWS_WITH_AS(io::read_model(folder / "huge.h5"),
                       doctest::Contains("/graph/factor_variables: does not fit: 281474976710656 bytes are needed"),
                       CapacityError);
  declare(hsize_t{1} << 22);
  CHECK_THROWS_WITH_AS(io::read_model(folder / "huge.h5"),
                       doctest::Contains("/graph/factor_variables: is said to have 33554432 bytes, more than a file"),
                       InputError);
}

TEST_CASE("io: text formats name the line") {
  Folder folder;
  auto refuse = [&](std::string const& name, std::string const& text, std::string const& message) {
    write_text(folder / name, text);
    check_refused([&] { io::read_model(folder / name); }, (folder / name) + ":" + message);
  };
  refuse("a.causal_fg", "2\n\n0\nI\n0.5\n",
         "line 6: the file ends where the head of a factor is needed: it is truncated");
  refuse("b.causal_fg", "1\n\n0\n?\n", "line 4: '?' is no kind of factor");
  refuse("c.causal_fg", "1\n\n0\n*1.5\n0\n\n", "line 4: 1.5 is not a probability");
  refuse("d.causal_fg", "1\n\n0\n*\n1\n0\n", "line 6: variable 0 is head and body");
  refuse("e.causal_fg", "1\n\n0\nI\nnan\n", "line 5: nan is not a probability");
  refuse("f.causal_fg", "1\n\n0\nI\n0.5\n\n7\n", "line 7: '7' follows the last of 1 factors");
  refuse("g.causal_fg", "x\n", "line 1: 'x' is not the number of factors");
  refuse("a.fg", "1\n\n2\n0 0\n2 2\n0\n", "line 4: variable 0 is twice in one factor");
  refuse("b.fg", "1\n\n1\n0\n2\n1\n2 0.5\n", "line 7: a table index is 2; 0 to 1 are possible");
  refuse("c.fg", "1\n\n1\n0\n2\n1\n1 -0.5\n", "line 7: table entry -0.5");
  refuse("d.fg", "2\n\n1\n0\n2\n1\n1 1\n\n1\n0\n3\n1\n0 1\n",
         "line 13: variable 0 has 3 states here, but 2 in an earlier factor");
  write_text(folder / "repeated.causal_fg", "# comment\n1\n\n2\n+0.9;0.2\n3\n0 1 0\n");
  auto const graph = io::read_causal_fg(folder / "repeated.causal_fg");
  CHECK(graph.factor_variables == std::vector<Index>{2, 0, 1});
  CHECK(graph.p1[0] == doctest::Approx(0.8));  // the parameters of an OR speak of head = 0
  CHECK(graph.p2[0] == doctest::Approx(0.1));
}

TEST_CASE("io: labels with gaps are names") {
  Folder folder;
  write_text(folder / "a.fg", "2\n\n2\n0 9\n2 2\n4\n0 1\n1 2\n2 3\n3 4\n\n1\n2\n3\n3\n0 1\n1 2\n2 3\n");
  auto const graph = io::read_fg(folder / "a.fg");
  CHECK(graph.num_variables == 3);
  CHECK(graph.variable_names == std::vector<std::string>{"0", "2", "9"});
  CHECK(graph.cardinality == std::vector<Index>{2, 3, 2});
  CHECK(graph.factor_variables == std::vector<Index>{0, 2, 1});
  io::write_fg(graph, folder / "b.fg");
  check_equal(io::read_fg(folder / "b.fg"), graph);
  CHECK(io::read_fg(folder / "b.fg").variable_names == graph.variable_names);
  write_text(folder / "a.causal_fg", "2\n\n3\nI\n0.25\n\n2000000000\n*0.5\n1\n3\n");
  auto const causal = io::read_causal_fg(folder / "a.causal_fg");
  CHECK(causal.num_variables == 2);
  CHECK(causal.variable_names == std::vector<std::string>{"3", "2000000000"});
  io::write_causal_fg(causal, folder / "b.causal_fg");
  CHECK(io::read_causal_fg(folder / "b.causal_fg").variable_names == causal.variable_names);
  write_text(folder / "e", "2000000000 true\n");  // by name
  CHECK(io::read_evidence_text(folder / "e", causal) == HostEvidence{Observation::hard(1, 1)});
  write_text(folder / "whole.fg", "1\n\n2\n1 0\n2 2\n4\n0 1\n1 2\n2 3\n3 4\n");
  CHECK(io::read_fg(folder / "whole.fg").variable_names.empty());
  check_refused(
      [&] {
        write_text(folder / "c.fg", "2\n\n1\n7\n2\n1\n0 1\n\n1\n7\n3\n1\n0 1\n");
        io::read_fg(folder / "c.fg");
      },
      "line 13: variable 7 has 3 states here, but 2 in an earlier factor");
}

TEST_CASE("io: text evidence, by number or name, hard or soft") {
  Folder folder;
  auto graph = small_graph();
  graph.variable_names = {"a", "b", "c"};
  write_text(folder / "e", "# labels\n0 1\nb false\n2 0.5 0.25  # soft\n\n");
  auto const evidence = io::read_evidence_text(folder / "e", graph);
  REQUIRE(evidence.size() == 3);
  CHECK(evidence[0].value == 1);
  CHECK(evidence[1].variable == 1);
  CHECK(evidence[1].value == 0);
  CHECK(evidence[2].likelihoods[1] == 0.25);
  auto refuse = [&](std::string const& text, std::string const& message) {
    write_text(folder / "e", text);
    check_refused([&] { io::read_evidence_text(folder / "e", graph); }, (folder / "e") + ":" + message);
  };
  refuse("0 1\n5 1\n", "line 2: '5' is no variable of the model, neither by name nor by number");
  refuse("d 1\n", "line 1: 'd' is no variable of the model, neither by name nor by number");
  refuse("0 2\n", "line 1: variable 0 is given the value 2");
  refuse("0\n", "line 1: `variable value`");
  refuse("0 1 2 3\n", "line 1: 3 words follow a: a value is needed, or a likelihood for each of its 2 states");

  graph = [] {
    FactorGraphBuilder builder;
    builder.add_variable("weather", 3);
    return std::move(builder).build();
  }();
  write_text(folder / "e", "weather 0.5 0 2.5e-1\n");
  CHECK(io::read_evidence_text(folder / "e", graph) == HostEvidence{Observation::soft(0, {0.5, 0, 0.25})});
  refuse("weather 0.5 1\n", "line 1: 2 words follow weather: a value is needed, or a likelihood for each of its 3");
  refuse("weather 0 0 0\n", "line 1: variable 0: all likelihoods are 0");
}

namespace {

/// No file may become larger than this, as on a disk that is full.
struct SmallFiles {
  explicit SmallFiles(rlim_t bytes) {
    getrlimit(RLIMIT_FSIZE, &before);
    auto const limit = rlimit{bytes, before.rlim_max};
    setrlimit(RLIMIT_FSIZE, &limit);
    handler = std::signal(SIGXFSZ, SIG_IGN);
  }
  ~SmallFiles() {
    setrlimit(RLIMIT_FSIZE, &before);
    std::signal(SIGXFSZ, handler);
  }
  rlimit before{};
  void (*handler)(int);
};

}  // namespace

TEST_CASE("io: an interrupted writer leaves the old file and nothing else; bad targets are named") {
  Folder folder;
  write_text(folder / "old", "old");
  fs::permissions(folder / "old", fs::perms::owner_read | fs::perms::owner_write);
  {
    SmallFiles const no_space(1000);
    check_refused([&] { io::write_atomically(folder / "old", std::string(5000, 'x')); },
                  "cannot be written: File too large");
  }
  std::string text;
  std::ifstream(folder / "old") >> text;
  CHECK(text == "old");
  CHECK(std::distance(fs::directory_iterator(folder.path), fs::directory_iterator{}) == 1);
  io::write_atomically(folder / "old", "new");
  std::ifstream(folder / "old") >> text;
  CHECK(text == "new");
  CHECK(fs::status(folder / "old").permissions() == (fs::perms::owner_read | fs::perms::owner_write));
  check_refused([&] { io::write_model({}, folder / "missing/x.h5"); }, "does not exist");
  check_refused([&] { io::write_model({}, folder / "x.txt"); }, "has no known ending");
  for (std::string name : {"", ".", "a/b"}) {
    Model named;
    named.queries[name] = {};
    check_refused([&] { io::write_model(named, folder / "x.h5"); }, "cannot be the name of a query");
  }
  check_refused([&] { io::write_atomically("/dev/full/x", "text"); }, "does not exist");
  Model tables;
  tables.graph = test::random_graph(1, {.tables = 1});
  check_refused([&] { io::write_model(tables, folder / "x.causal_fg"); },
                "is a table, which .causal_fg cannot express");
  FactorGraphBuilder wide(40);
  std::vector<Index> body(39);
  for (Index i = 0; i < 39; ++i) body[i] = i + 1;
  wide.add_disjunction(0, body);
  Model model;
  model.graph = std::move(wide).build();
  check_refused([&] { io::write_model(model, folder / "x.fg"); },
                "factor 0 has 40 variables, so its table would have 2^40 entries");
}

TEST_CASE("graph: the builder refuses bad factors and stays usable") {
  FactorGraphBuilder builder(2);
  CHECK_THROWS_AS(builder.add_prior(2, 0.5), InputError);
  CHECK_THROWS_AS(builder.add_prior(0, 1.1), InputError);
  CHECK_THROWS_AS(builder.add_conjunction(0, std::vector<Index>{1, 1}), InputError);
  CHECK_THROWS_AS(builder.add_table(std::vector<Index>{0, 1}, std::vector<double>{1, 2, 3}), InputError);
  CHECK_THROWS_AS(builder.add_table(std::vector<Index>{0}, std::vector<double>{0, 0}), InputError);
  CHECK_THROWS_AS(builder.add_table(std::vector<Index>{0}, std::vector<double>{1, -1}), InputError);
  std::vector<Index> many;
  for (int i = 0; i < 21; ++i) many.push_back(builder.add_variable());
  CHECK_THROWS_AS(builder.add_table(many, std::vector<double>{1}), CapacityError);
  builder.add_conjunction(0, std::vector<Index>{1}, 0.5);
  auto const graph = std::move(builder).build();
  CHECK_NOTHROW(validate(graph));
  CHECK(graph.num_factors() == 1);
}
