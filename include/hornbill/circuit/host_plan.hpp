/// \file
/// A circuit made ready to be evaluated: what follows from its structure alone.
#pragma once

#include <cstdint>
#include <vector>

#include <hornbill/circuit/circuit.hpp>
#include <hornbill/circuit/dense_plan.hpp>
#include <hornbill/circuit/fan_in_groups.hpp>

namespace hornbill::circuit {

/// An exponent of 2: of 64 bits, since those of factors add.
using Exponent = std::int64_t;

/// Exponent of values that are all 0.
inline constexpr Exponent no_exponent = -(Exponent{1} << 60);

/// Most nodes of a tile.
inline constexpr Index tile_size = 64;

/// Nodes of a stored vector, whose values have a common exponent of 2 for each sample.
struct Tile {
  Index row;   ///< of the first node's values
  Index size;  ///< at most tile_size
};

/// A tile of input nodes.
struct InputTile {
  Index tile;
  Index distributions;  ///< in HostPlan::inputs
  Index first;          ///< of the tile's nodes, within their vector
};

/// Distributions of a vector, with parameters where the device keeps them: those of categoricals apart, and category by
/// category, so that nodes of a tile have theirs side by side: that of node i is parameter + category * size + i.
struct InputPlan {
  InputKind kind;
  Index variable, num_categories, first_value, size;
  Offset parameter;
  double min_scale;
};

/// Where the parameters of a vector of inputs are: in Parameters::input one node's behind the other's, and on the
/// device, where those of categoricals are in a list of their own.
struct InputParameters {
  bool is_categorical;
  Offset host, device;
  Index nodes, each;

  /// Of parameter p of node i.
  Offset on_host(Index i, Index p) const { return host + Offset{i} * each + p; }
  Offset on_device(Index i, Index p) const {
    return device + (is_categorical ? Offset{p} * nodes + i : Offset{i} * each + p);
  }
};

/// Values that are multiplied: node i has row + i * step, or rows[list + i].
struct RowFactor {
  Index row, step;
  Offset list;
};

/// A tile of product nodes that are stored.
struct ProductTile {
  Index tile;
  Index first;  ///< of its nodes, within their vector
  Offset factors_begin, factors_end;
};

/// Factors of a term: value i is that of row + i * step, all of one tile.
struct TermFactor {
  Index tile, row, step;
};

/// Children of sums: at most tile_size values, each the product of its factors, which is formed where it is used and
/// not stored.
struct Term {
  Offset factors_begin, factors_end;
  Index size;
};

/// Edges between nodes of a sum tile and values of a term.
struct Segment {
  Index term;
  Index stride;      ///< between parameters of a row and of the next
  Offset parameter;  ///< of the first row and column
  std::uint8_t first_row, rows, first_column, columns;
};

/// Tiles that can be evaluated at the same time, once those before them are.
struct Layer {
  NodeKind kind;     ///< product or sum
  Index begin, end;  ///< in product_tiles or sum_tiles
};

/// Sum tiles of a layer that have about as many terms. Of a layer's groups that of most terms comes first.
struct SumGroup {
  Index begin, end;  ///< in sum_tiles
  Index fan_in;      ///< most terms of a tile
  Offset terms;      ///< of each tile, added
  Offset edges;      ///< from these

  /// Tiles of edges that all would have more, if each had as many terms as the one that has most. No kernel makes these
  /// up.
  Offset padding() const { return Offset{end - begin} * fan_in - terms; }
};

struct PlanOptions {
  /// products of more factors are stored, even if they are next to sums alone
  Index max_fused_factors = 4;
  MatrixUnits matrix_units = MatrixUnits::automatic;
  Planes planes = Planes::two;
  GroupOptions groups{};
};

/// Tiles, terms and layers.
struct HostPlan {
  Index num_variables = 0, num_nodes = 0, num_rows = 0;
  std::vector<Index> row_of_node;  ///< [num_nodes], -1 of products that are not stored
  std::vector<Tile> tiles;
  std::vector<Index> tile_of_row;  ///< [num_rows]
  std::vector<InputPlan> inputs;
  std::vector<InputTile> input_tiles;
  std::vector<ProductTile> product_tiles;
  std::vector<RowFactor> row_factors;
  std::vector<Index> factor_rows;  ///< of RowFactor::list
  std::vector<Term> terms;
  std::vector<TermFactor> term_factors;
  std::vector<Index> sum_tiles;            ///< tiles
  std::vector<Offset> segment_offsets;     ///< [sum_tiles + 1]
  std::vector<Segment> segments;           ///< of each sum tile, those of a term one behind the other
  std::vector<SumGroup> groups;            ///< by layer; matrix units do all of one or none
  std::vector<Layer> layers;               ///< behind the inputs; lay_out() may divide them between kernels
  std::vector<Index> variable_categories;  ///< [num_variables]
  Offset num_sum_parameters = 0, num_input_parameters = 0;
  Offset num_categorical = 0, num_scalars = 0;    ///< input parameters of categoricals, and of other kinds
  std::vector<InputParameters> input_parameters;  ///< of vectors of inputs, tied ones once
  MatrixUnits matrix_units = MatrixUnits::automatic;
  Planes planes = Planes::two;
  HostDensePlan dense;  ///< of a plan on a backend that uses it
  double elapsed_seconds = 0;
};

/// Plans the evaluation of a circuit that is valid.
/// \throws CapacityError where there are more values or edges than can be numbered
HostPlan make_plan(Circuit const& circuit, PlanOptions const& options = {});

/// Parameters of inputs in the device's order, and back.
struct DeviceOrder {
  std::vector<double> categorical, scalars;
};
DeviceOrder to_device_order(HostPlan const& plan, std::vector<double> const& input);
std::vector<double> from_device_order(HostPlan const& plan, DeviceOrder const& parameters);

}  // namespace hornbill::circuit
