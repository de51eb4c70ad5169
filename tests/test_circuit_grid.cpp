// Circuits of variables on a grid, and circuits that keep some blocks of their edges.
#include <cmath>

#include <doctest/doctest.h>

#include <hornbill/circuit.hpp>
#include <hornbill/error.hpp>

#include "support/cells.hpp"
#include "support/random_circuits.hpp"

using namespace hornbill;
using circuit::InputKind;

namespace {

using ListsOfIndices = std::vector<std::vector<Index>>;

std::vector<circuit::InputChoice> categorical(std::size_t variables, Index categories) {
  return std::vector<circuit::InputChoice>(variables, {InputKind::categorical, categories});
}

double total_probability(circuit::Circuit const& circuit) {
  auto const parameters = circuit::initial_parameters(circuit, 3);
  validate(circuit, parameters, "a circuit");
  double total = 0;
  for (double ll : circuit::log_likelihoods<double>(test::AnyHost(), circuit, make_plan(circuit), parameters,
                                                    test::all_samples(circuit))
                       .log_likelihood)
    total += std::exp(ll);
  return total;
}

Offset edges_of(circuit::Circuit const& circuit) { return circuit::statistics_of(circuit).sum_edges; }

}  // namespace

TEST_CASE("grids: cells lie between split points") {
  auto const grid = circuit::split_evenly({3, 4}, {2});
  CHECK(grid.split_points == ListsOfIndices{{2}, {2}});
  CHECK(circuit::cells_of(grid) == ListsOfIndices{{0, 1, 4, 5}, {2, 3, 6, 7}, {8, 9}, {10, 11}});
  CHECK(circuit::cells_of({{2, 2, 2}, {{}, {1}, {}}}) == ListsOfIndices{{0, 1, 4, 5}, {2, 3, 6, 7}});
  CHECK(circuit::split_evenly({5}, {9}).split_points == ListsOfIndices{{}});
  CHECK_THROWS_WITH_AS(circuit::cells_of({{4}, {{2, 2}}}), "axis 0 is split at 2; split points ascend from 1 to 3",
                       InputError);
  CHECK_THROWS_AS(circuit::cells_of({{4}, {{4}}}), InputError);
  CHECK_THROWS_AS(circuit::cells_of({{4, 0}, {{}, {}}}), InputError);
  CHECK_THROWS_AS(circuit::cells_of({{4, 4}, {{}}}), ShapeError);
  CHECK_THROWS_AS(circuit::cells_of({{1 << 16, 1 << 16}, {{}, {}}}), CapacityError);
  CHECK(grid.num_variables() == 12);
  CHECK(circuit::split_evenly({2'147'483'647}, {2'147'483'646}).split_points == ListsOfIndices{{2'147'483'646}});
  CHECK_THROWS_AS(circuit::split_evenly({4}, {0}), InputError);
  CHECK_THROWS_AS(circuit::split_evenly({4, 4, 4}, {1, 2}), ShapeError);
}

TEST_CASE("grids: PD has the size that PyJuice 2.6.3 says") {
  // 15.5 and 829 million edges. It counts 1,120 vectors more, with 33 edges a node: copies of sums for layers between
  // them and their users. 32 of its nodes are padding.
  constexpr Index copies = 1120;
  auto const check = [](Index latents, Offset nodes, Offset edges, Offset unit) {
    auto const statistics = circuit::statistics_of(make_circuit(
        circuit::GridDivision{circuit::split_evenly({28, 28}, {4}), latents, {{InputKind::categorical, 256}}}));
    CHECK(statistics.inputs + statistics.sums + copies * latents + 32 == nodes);
    CHECK((statistics.sum_edges + statistics.product_edges + copies * latents * 33 + unit / 2) / unit == edges);
    CHECK(statistics.unreachable == 0);
  };
  check(64, 172'001, 155, 100'000);
  check(512, 1'375'777, 829, 1'000'000);
}

TEST_CASE("grids: samples' probabilities add to 1") {
  circuit::GridDivision division{circuit::split_evenly({3, 3}, {1}), 5, categorical(9, 2)};
  division.block_size = 2;
  auto const full = make_circuit(division);
  CHECK(total_probability(full) == doctest::Approx(1).epsilon(1e-12));
  division.max_divisions = 2;
  auto const some = make_circuit(division);
  CHECK(total_probability(some) == doctest::Approx(1).epsilon(1e-12));
  CHECK(edges_of(some) < edges_of(full));
  CHECK(make_circuit(division) == some);
  division.seed = 2;
  CHECK_FALSE(make_circuit(division) == some);
  division.grid = {{3, 3}, {{1}, {}}};
  CHECK(total_probability(make_circuit(division)) == doctest::Approx(1).epsilon(1e-12));
  division.grid = {{9}, {{}}};  // a single cell, which is the root
  auto const cell = make_circuit(division);
  CHECK(circuit::statistics_of(cell).sums == 1);
  CHECK(total_probability(cell) == doctest::Approx(1).epsilon(1e-12));
}

TEST_CASE("grids: cells may be trees of latent variables") {
  circuit::GridDivision division{{{2, 4}, {{}, {2}}}, 3, categorical(8, 2)};
  division.trees = {{{-1, 0, 1, 2}}, {{1, -1, 1, 1}}};
  auto const circuit = make_circuit(division);
  CHECK(total_probability(circuit) == doctest::Approx(1).epsilon(1e-12));
  // a chain has sums over its three inner variables, a star over its middle; the root is over both
  CHECK(circuit::statistics_of(circuit).sums == (3 + 1) * 3 + 1);
  division.trees.pop_back();
  CHECK_THROWS_AS(make_circuit(division), ShapeError);
  division.trees.push_back({{-1, 0}});
  CHECK_THROWS_AS(make_circuit(division), ShapeError);
  CHECK(circuit::select_variables({3, {0, 1, 2, 3, 4, 5}}, {2, 0}).values == std::vector<double>{2, 0, 5, 3});
}

TEST_CASE("grids: bad numbers") {
  circuit::GridDivision const good{circuit::split_evenly({4}, {2}), 2, categorical(4, 2)};
  auto const refuse = [&](auto const& change) {
    auto division = good;
    change(division);
    CHECK_THROWS_AS(make_circuit(division), Error);
  };
  refuse([](auto& d) { d.num_latents = 0; });
  refuse([](auto& d) { d.block_size = 0; });
  refuse([](auto& d) { d.max_divisions = 0; });
  refuse([](auto& d) { d.inputs.pop_back(); });
  refuse([](auto& d) { d.inputs[1].kind = InputKind::indicator; });
  circuit::GridDivision const many{circuit::split_evenly({1000, 1000}, {1}), 1, {{InputKind::categorical, 2}}};
  CHECK_THROWS_AS(make_circuit(many), CapacityError);
}

TEST_CASE("blocks of edges: a share of each row is kept") {
  auto const full = make_circuit(circuit::HiddenMarkovModel{5, 40, {InputKind::categorical, 2}});
  auto const half = keep_blocks(full, 8, circuit::RandomBlocks{0.4, 1});  // 2 of 5 blocks
  CHECK(edges_of(half) == 4 * 40 * 16 + 16);
  CHECK(half.num_sum_parameters == 40 * 16 + 16);  // transitions of all steps are tied still
  CHECK(total_probability(half) == doctest::Approx(1).epsilon(1e-12));
  CHECK(keep_blocks(full, 8, circuit::RandomBlocks{0.4, 1}) == half);
  CHECK_FALSE(keep_blocks(full, 8, circuit::RandomBlocks{0.4, 2}) == half);
  auto const least = edges_of(keep_blocks(full, 7, circuit::RandomBlocks{1e-9, 1}));  // a block of each row: of 5 or 7
  CHECK(least >= 4 * 40 * 5 + 5);
  CHECK(least <= 4 * 40 * 7 + 7);
  CHECK(edges_of(keep_blocks(full, 1, circuit::RandomBlocks{0.25, 1})) == 4 * 40 * 10 + 10);
  CHECK(keep_blocks(full, 100, circuit::RandomBlocks{0.01, 1}) == full);
  CHECK_THROWS_AS(keep_blocks(full, 0, circuit::RandomBlocks{0.4, 1}), InputError);
  CHECK_THROWS_AS(keep_blocks(full, 8, circuit::RandomBlocks{0, 1}), InputError);
}

TEST_CASE("blocks of edges: bands and lists are of sums with as many children") {
  auto const full = make_circuit(circuit::HiddenMarkovModel{5, 40, {InputKind::categorical, 2}, false});
  auto const band = keep_blocks(full, 8, circuit::BandOfBlocks{1});
  CHECK(edges_of(band) == 4 * 64 * 13 + 40);  // 13 of 25 blocks; all edges of the root
  CHECK(total_probability(band) == doctest::Approx(1).epsilon(1e-12));
  circuit::ListedBlocks list{{{0, 4}, {1, 1}, {1, 3}, {2, 0}, {3, 0}, {4, 4}}};
  auto const listed = keep_blocks(full, 8, list);
  CHECK(edges_of(listed) == 4 * 64 * 6 + 40);
  CHECK(total_probability(listed) == doctest::Approx(1).epsilon(1e-12));
  list.blocks.emplace_back(5, 0);
  CHECK_THROWS_WITH_AS(keep_blocks(full, 8, list),
                       "no sums have the block of edges in row 5 and column 0, which is listed", InputError);
  list.blocks = {{0, 0}, {1, 1}, {2, 2}, {3, 3}};
  CHECK_THROWS_AS(keep_blocks(full, 8, list), InputError);  // nothing of row 4
  CHECK_THROWS_AS(keep_blocks(full, 8, circuit::BandOfBlocks{-1}), InputError);
}

TEST_CASE("blocks of edges: sums with children in several vectors, and edges in blocks of other sizes") {
  circuit::GridDivision division{circuit::split_evenly({2, 3}, {1}), 6, categorical(6, 2)};
  division.block_size = 4;
  division.max_divisions = 1;
  auto const grid = make_circuit(division);
  for (Index block_size : {1, 3, 4, 5}) {
    CAPTURE(block_size);
    auto const some = keep_blocks(grid, block_size, circuit::RandomBlocks{0.3, 5});
    CHECK(edges_of(some) < edges_of(grid));
    CHECK(total_probability(some) == doctest::Approx(1).epsilon(1e-12));
  }
}

TEST_CASE("blocks of edges: tied sums whose edges are divided in other ways are refused") {
  circuit::CircuitBuilder builder(1);
  auto const inputs = builder.add_inputs(0, InputKind::categorical, 2, 4);
  auto const sums = builder.add_sums(2, {inputs});
  builder.add_tied_sums(sums, {inputs});
  builder.add_sums(1, {sums, sums + 1});
  auto circuit = std::move(builder).build();
  CHECK_NOTHROW(keep_blocks(circuit, 2, circuit::RandomBlocks{0.5, 1}));
  auto const tied = circuit.vectors[2];
  auto const block = circuit.blocks[static_cast<std::size_t>(tied.begin)];
  circuit.blocks[static_cast<std::size_t>(tied.begin)].rows = 1;
  circuit.blocks.insert(circuit.blocks.begin() + tied.begin + 1,
                        {block.sum + 1, block.child, 1, block.columns, block.parameter + block.columns});
  ++circuit.vectors[2].end, ++circuit.vectors[3].begin, ++circuit.vectors[3].end;
  validate(circuit, "a circuit");
  CHECK_THROWS_AS(keep_blocks(circuit, 2, circuit::RandomBlocks{0.5, 1}), InputError);
}

TEST_CASE("blocks of edges: parameters that are tied at other places of their vectors are refused") {
  circuit::CircuitBuilder builder(1);
  auto const inputs = builder.add_inputs(0, InputKind::categorical, 2, 4);
  auto const sums = builder.add_sparse_sums(4, {{inputs, {{0, 0, 2, 4, 0}, {2, 0, 2, 4, 0}}}});
  builder.add_tied_sums(sums, {inputs});
  builder.add_sums(1, {sums, sums + 1});
  auto circuit = std::move(builder).build();
  CHECK_NOTHROW(keep_blocks(circuit, 2, circuit::BandOfBlocks{0}));
  auto const tied = circuit.blocks_of(circuit.vectors[2]).data() - circuit.blocks.data();
  std::swap(circuit.blocks[static_cast<std::size_t>(tied)].sum, circuit.blocks[static_cast<std::size_t>(tied) + 1].sum);
  validate(circuit, "a circuit");
  CHECK_THROWS_AS(keep_blocks(circuit, 2, circuit::BandOfBlocks{0}), InputError);
}
