#include <hornbill/circuit/grid_circuit.hpp>

#include <algorithm>
#include <functional>
#include <limits>
#include <numeric>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "../graph/random.hpp"
#include "structure_parts.hpp"

namespace hornbill::circuit {
namespace {

std::size_t at(Index i) { return static_cast<std::size_t>(i); }

/// Checks that boxes have no more sums than a circuit has nodes, before there are any.
void check_boxes(Grid const& grid, Index num_latents) {
  double boxes = 1;
  for (auto const& points : grid.split_points) {
    auto const cells = static_cast<double>(points.size() + 1);
    boxes *= 0.5 * cells * (cells + 1);
  }
  if (constexpr auto most = std::numeric_limits<Index>::max(); boxes * num_latents > most)
    throw CapacityError(fmt::format("{:.0f} boxes of {} sums are more than {} nodes; fewer split points make fewer",
                                    boxes, num_latents, most));
}

/// Bounds of cells along an axis: 0, the split points, the end.
std::vector<std::vector<Index>> bounds_of(Grid const& grid) {
  auto bounds = grid.split_points;
  for (std::size_t axis = 0; axis < bounds.size(); ++axis) {
    bounds[axis].insert(bounds[axis].begin(), 0);
    bounds[axis].push_back(grid.shape[axis]);
  }
  return bounds;
}

/// Calls a function with all coordinates from `begin` to before `end`, the last axis fastest.
template <class Function>
void for_each_place(std::vector<Index> const& begin, std::vector<Index> const& end, Function const& function) {
  auto place = begin;
  for (bool goes_on = true; goes_on;) {
    function(place);
    std::size_t axis = place.size();
    while (axis > 0 && ++place[axis - 1] == end[axis - 1]) {
      place[axis - 1] = begin[axis - 1];
      --axis;
    }
    goes_on = axis > 0;
  }
}

/// Of a place, where those along the last axis follow each other.
Index number_of(std::vector<Index> const& place, std::vector<Index> const& shape) {
  Index number = 0;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) number = number * shape[axis] + place[axis];
  return number;
}

/// Cells from `begin` to before `end` along each axis.
struct Box {
  std::vector<Index> begin, end;

  Index num_cells() const {
    Index cells = 1;
    for (std::size_t axis = 0; axis < begin.size(); ++axis) cells *= end[axis] - begin[axis];
    return cells;
  }
};

/// Of a range of cells along an axis, among all such ranges; those that end earlier come first.
Index number_of_range(Index begin, Index end) { return static_cast<Index>(Offset{end} * (end - 1) / 2) + begin; }

class GridBuilder {
 public:
  explicit GridBuilder(GridDivision const& division)
      : division_(division),
        cells_(cells_of(division.grid)),
        builder_(division.grid.num_variables()),
        random_(division.seed) {
    for (auto const& points : division.grid.split_points) {
      shape_.push_back(static_cast<Index>(points.size()) + 1);
      num_ranges_.push_back(number_of_range(0, shape_.back() + 1));
    }
  }

  Circuit build() && {
    auto boxes = all_boxes();
    vectors_.resize(boxes.size());
    for (auto const& box : boxes) {
      bool const is_root = &box == &boxes.back();
      vectors_[at(number_of_box(box))] =
          box.num_cells() == 1 ? add_cell(number_of(box.begin, shape_), is_root) : add_box(box, is_root);
    }
    return std::move(builder_).build();
  }

 private:
  /// All boxes, parts before what they are parts of; the whole grid is last.
  std::vector<Box> all_boxes() const {
    auto const origin = std::vector<Index>(shape_.size(), 0);
    std::vector<Box> boxes;
    for_each_place(origin, shape_, [&](std::vector<Index> const& begin) {
      auto first_end = begin, last_end = shape_;
      for (auto& e : first_end) ++e;
      for (auto& e : last_end) ++e;
      for_each_place(first_end, last_end, [&](std::vector<Index> const& end) { boxes.push_back({begin, end}); });
    });
    std::ranges::stable_sort(boxes, {}, &Box::num_cells);
    return boxes;
  }

  Index number_of_box(Box const& box) const {
    std::vector<Index> ranges;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis)
      ranges.push_back(number_of_range(box.begin[axis], box.end[axis]));
    return number_of(ranges, num_ranges_);
  }

  Index add_cell(Index cell, bool is_root) {
    auto const& variables = cells_[at(cell)];
    std::vector<InputChoice> choices;
    for (Index v : variables) choices.push_back(division_.inputs[division_.inputs.size() == 1 ? 0 : at(v)]);
    if (!division_.trees.empty())
      return add_hidden_tree(builder_, {division_.trees[at(cell)], division_.num_latents, choices}, variables,
                             is_root ? 1 : division_.num_latents);
    std::vector<Index> inputs;
    for (std::size_t i = 0; i < variables.size(); ++i)
      inputs.push_back(add_inputs(builder_, variables[i], choices[i], division_.num_latents));
    // sums over the inputs of one variable are no distributions that its inputs could not be
    if (inputs.size() == 1 && !is_root) return inputs.front();
    Index const product = builder_.add_products(inputs);
    if (is_root) return builder_.add_sums(1, {product});
    CircuitBuilder::Pattern pattern{product, {}};
    for_each_block([&](Index first, Index size) { pattern.blocks.push_back({first, first, size, size, 0}); });
    return builder_.add_sparse_sums(division_.num_latents, {pattern});
  }

  Index add_box(Box const& box, bool is_root) {
    std::vector<std::pair<Index, Index>> divisions;
    for (std::size_t axis = 0; axis < shape_.size(); ++axis)
      for (Index split = box.begin[axis] + 1; split < box.end[axis]; ++split) {
        auto first = box, second = box;
        first.end[axis] = second.begin[axis] = split;
        divisions.emplace_back(vectors_[at(number_of_box(first))], vectors_[at(number_of_box(second))]);
      }
    std::vector<CircuitBuilder::Pattern> patterns(divisions.size());
    if (is_root)
      for (auto& pattern : patterns) pattern.blocks.push_back({0, 0, 1, division_.num_latents, 0});
    else
      for_each_block([&](Index first, Index size) {
        for (std::size_t d : random_.sample(at(division_.max_divisions), divisions.size()))
          add_rows(patterns[d].blocks, first, size);
      });
    for (std::size_t d = 0; d < patterns.size(); ++d)
      if (!patterns[d].blocks.empty())
        patterns[d].child = builder_.add_products({divisions[d].first, divisions[d].second});
    std::erase_if(patterns, [](auto const& pattern) { return pattern.blocks.empty(); });
    return builder_.add_sparse_sums(is_root ? 1 : division_.num_latents, patterns);
  }

  /// Edges of some more sums to all nodes of a child; those of sums that follow each other are one block.
  void add_rows(std::vector<EdgeBlock>& blocks, Index first, Index rows) const {
    if (!blocks.empty() && blocks.back().sum + blocks.back().rows == first)
      blocks.back().rows += rows;
    else
      blocks.push_back({first, 0, rows, division_.num_latents, 0});
  }

  template <class Function>
  void for_each_block(Function const& function) const {
    for (Index first = 0; first < division_.num_latents; first += division_.block_size)
      function(first, std::min(division_.block_size, division_.num_latents - first));
  }

  GridDivision const& division_;
  std::vector<std::vector<Index>> cells_;
  CircuitBuilder builder_;
  Random random_;
  std::vector<Index> shape_, num_ranges_;  // cells, and pairs of bounds, along each axis
  std::vector<Index> vectors_;             // of boxes
};

}  // namespace

Index Grid::num_variables() const {
  validate(*this);
  return std::accumulate(shape.begin(), shape.end(), Index{1}, std::multiplies<>());
}

void validate(Grid const& grid) {
  auto const& [shape, split_points] = grid;
  require_positive("the number of a grid's axes", std::ssize(shape));
  if (split_points.size() != shape.size())
    throw ShapeError("axes with split points", shape.size(), split_points.size());
  Offset variables = 1;
  for (std::size_t axis = 0; axis < shape.size(); ++axis) {
    require_positive(fmt::format("the number of variables along axis {}", axis).c_str(), shape[axis]);
    variables *= shape[axis];
    if (variables > std::numeric_limits<Index>::max())
      throw CapacityError(fmt::format("the grid has more than {} variables", std::numeric_limits<Index>::max()));
    Index last = 0;
    for (Index point : split_points[axis]) {
      if (point <= last || point >= shape[axis])
        throw InputError(
            fmt::format("axis {} is split at {}; split points ascend from 1 to {}", axis, point, shape[axis] - 1));
      last = point;
    }
  }
}

Grid split_evenly(std::vector<Index> shape, std::vector<Index> const& intervals) {
  if (intervals.size() != 1 && intervals.size() != shape.size())
    throw ShapeError("intervals of split points", shape.size(), intervals.size());
  Grid grid{std::move(shape), {}};
  for (std::size_t axis = 0; axis < grid.shape.size(); ++axis) {
    Index const interval = intervals.size() == 1 ? intervals.front() : intervals[axis];
    require_positive("the interval of split points", interval);
    auto& points = grid.split_points.emplace_back();
    for (Offset point = interval; point < grid.shape[axis]; point += interval)
      points.push_back(static_cast<Index>(point));
  }
  return grid;
}

std::vector<std::vector<Index>> cells_of(Grid const& grid) {
  validate(grid);
  auto const bounds = bounds_of(grid);
  std::vector<Index> cells;
  for (auto const& of_axis : bounds) cells.push_back(static_cast<Index>(of_axis.size()) - 1);
  std::vector<std::vector<Index>> result;
  for_each_place(std::vector<Index>(cells.size(), 0), cells, [&](std::vector<Index> const& cell) {
    std::vector<Index> begin, end;
    for (std::size_t axis = 0; axis < cells.size(); ++axis) {
      begin.push_back(bounds[axis][at(cell[axis])]);
      end.push_back(bounds[axis][at(cell[axis] + 1)]);
    }
    auto& variables = result.emplace_back();
    for_each_place(begin, end,
                   [&](std::vector<Index> const& place) { variables.push_back(number_of(place, grid.shape)); });
  });
  return result;
}

Circuit make_circuit(GridDivision const& division) {
  auto const variables = at(division.grid.num_variables());
  if (division.inputs.size() != variables && division.inputs.size() != 1)
    throw ShapeError("inputs", variables, division.inputs.size());
  require_positive("the number of latent states", division.num_latents);
  require_positive("the size of a block", division.block_size);
  require_positive("the number of divisions that a sum takes", division.max_divisions);
  check_boxes(division.grid, division.num_latents);
  for (auto const& input : division.inputs) refuse_indicators(input);
  if (!division.trees.empty()) {
    auto const cells = cells_of(division.grid);
    if (division.trees.size() != cells.size()) throw ShapeError("trees of cells", cells.size(), division.trees.size());
    for (std::size_t c = 0; c < cells.size(); ++c)
      if (division.trees[c].parents.size() != cells[c].size())
        throw ShapeError(fmt::format("variables of the tree of cell {}", c), cells[c].size(),
                         division.trees[c].parents.size());
  }
  return GridBuilder(division).build();
}

}  // namespace hornbill::circuit
