// hornbill circuit build pd, pd-hclt: circuits of variables on a grid.
#include <charconv>
#include <memory>

#include <fmt/format.h>

#include <hornbill/circuit/grid_circuit.hpp>

#include "circuit_build.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

struct GridArguments {
  BuildArguments build;
  circuit::ChowLiuOptions tree;
  std::vector<Index> shape, intervals;
  std::vector<std::string> split_points;  ///< of each axis
  Index max_divisions = circuit::GridDivision{}.max_divisions;
};

/// "4,8,12", or "none".   \throws UsageError
std::vector<Index> points_of(std::string const& text) {
  std::vector<Index> points;
  if (text == "none") return points;
  for (char const *at = text.data(), *end = at + text.size();;) {
    auto const [behind, error] = std::from_chars(at, end, points.emplace_back());
    if (error != std::errc() || (behind != end && *behind != ','))
      throw UsageError(fmt::format("--split-points {}: write an axis as 4,8,12, or as none", text));
    if (behind == end) return points;
    at = behind + 1;
  }
}

/// \throws UsageError for numbers of axes that differ
circuit::Grid grid_of(GridArguments const& a) {
  if (a.split_points.empty()) {
    if (a.intervals.size() != 1 && a.intervals.size() != a.shape.size())
      throw UsageError(fmt::format("--split-every: intervals are {}, axes {}; give one interval, or one for each axis",
                                   a.intervals.size(), a.shape.size()));
    return circuit::split_evenly(a.shape, a.intervals);
  }
  if (a.split_points.size() != a.shape.size())
    throw UsageError(fmt::format("--split-points: lists of points are {}, axes {}; give one list for each axis",
                                 a.split_points.size(), a.shape.size()));
  circuit::Grid grid{a.shape, {}};
  for (auto const& text : a.split_points) grid.split_points.push_back(points_of(text));
  return grid;
}

void add_grid_options(CLI::App& command, GridArguments& a) {
  command.add_option("--shape", a.shape, "Variables along each axis, such as 28,28; the last axis is the fastest")
      ->required()
      ->delimiter(',')
      ->check(at_least(1));
  auto* every =
      command.add_option("--split-every", a.intervals, "Boxes are split every so many variables; or 4,7 by axis")
          ->delimiter(',')
          ->check(at_least(1));
  auto* points = command.add_option("--split-points", a.split_points,
                                    "Where boxes are split, an axis after the other, such as 4,8,12 7,14");
  auto* where = command.add_option_group("splits");
  where->add_options(every, points);
  where->require_option(1);
  command.add_option("--latents", a.build.latents, "Sums of each box")->required()->check(at_least(1));
  command.add_option("--divisions", a.max_divisions, "Divisions of its box that a block of sums takes, at most")
      ->check(at_least(1))
      ->capture_default_str();
}

circuit::GridDivision division_of(GridArguments const& a, std::vector<circuit::InputChoice> inputs) {
  return {grid_of(a),
          a.build.latents,
          std::move(inputs),
          a.build.block_size.value_or(default_block_size),
          a.max_divisions,
          a.build.seed,
          {}};
}

void build_pd(GridArguments const& a) {
  require_output(a.build);
  write_random(a.build, "pd", make_circuit(division_of(a, {choice_of(a.build, 0)})));
}

void build_pd_hclt(GridArguments const& a) {
  require_output(a.build);
  auto const [samples, categories] = read_build_samples(a.build);
  auto division = division_of(a, choices_of(a.build, categories));
  Index const variables = division.grid.num_variables();
  if (variables != std::ssize(categories))
    throw UsageError(fmt::format("--shape: the grid has {}, {} has {}", counted(variables, "variable"), a.build.samples,
                                 categories.size()));
  for (auto const& cell : cells_of(division.grid)) {
    std::vector<Index> of_cell;
    for (Index v : cell) of_cell.push_back(categories[static_cast<std::size_t>(v)]);
    division.trees.push_back(chow_liu_tree(select_variables(samples, cell), of_cell, a.tree));
  }
  write_random(a.build, "pd-hclt", make_circuit(division));
}

}  // namespace

void add_circuit_grid(CLI::App& build) {
  auto* pd = build.add_subcommand("pd", "Boxes of a grid of variables, such as pixels, divided at all split points");
  auto a = std::make_shared<GridArguments>();
  add_grid_options(*pd, *a);
  add_input_options(*pd, a->build, false);
  add_sparsity_options(*pd, a->build);
  a->build.has_blocks = true;
  add_output(*pd, a->build);
  pd->footer("Example: hornbill circuit build pd --shape 28,28 --split-every 4 --latents 64 --categories 256 -o pd.h5");
  pd->callback([a] { build_pd(*a); });

  auto* pd_hclt = build.add_subcommand("pd-hclt", "The same, with trees of latent variables in the smallest boxes");
  auto b = std::make_shared<GridArguments>();
  pd_hclt->add_option("SAMPLES", b->build.samples, "Samples: text or .h5")->required();
  add_grid_options(*pd_hclt, *b);
  add_input_options(*pd_hclt, b->build, true);
  add_tree_options(*pd_hclt, b->tree);
  add_sparsity_options(*pd_hclt, b->build);
  b->build.has_blocks = true;
  add_output(*pd_hclt, b->build);
  pd_hclt->footer(
      "Example: hornbill circuit build pd-hclt train.csv --shape 28,28 --split-every 4 --latents 64 -o pd.h5");
  pd_hclt->callback([b] { build_pd_hclt(*b); });
}

}  // namespace hornbill::cli
