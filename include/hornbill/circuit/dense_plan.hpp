/// \file
/// Sums whose edges fill tiles, for matrix units.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::circuit {

/// Where sums whose edges fill tiles are done by matrix units: on backends that have some, nowhere, or on all backends,
/// where they may be slow.
enum class MatrixUnits : std::uint8_t { automatic, never, always };

/// How exact the numbers are that they multiply: two planes of half precision have 22 bits, so that results are as
/// exact as those of single precision; one has 11 bits, more than BF16 has, and takes a third of the multiplications.
enum class Planes : std::uint8_t { one = 1, two = 2 };

/// A matrix between a sum tile and a term: that of segments which lie one behind the other in HostPlan::segments, with
/// zeros where there are no edges. Tied ones are one.
struct WeightTile {
  Offset segments_begin, segments_end;
};

/// A tile of weights times values of a term, or of sums.
struct TileProduct {
  Index weights, column;  ///< column: among those that are there at the time
};

/// A layer of sums whose edges fill tiles.
struct DenseLayer {
  bool is_dense;
  Index terms_begin, terms_end;  ///< in HostDensePlan::terms: each term of the layer once
  Index run = 1;                 ///< so many sum tiles, one behind the other, have the same columns
};

/// The layers that matrix units do.
struct HostDensePlan {
  std::vector<WeightTile> weight_tiles;
  std::vector<DenseLayer> layers;       ///< [layers of the plan]; none if no layer is dense
  std::vector<Index> terms;             ///< by layer
  std::vector<Offset> product_offsets;  ///< [sum tiles + 1]
  std::vector<TileProduct> products;    ///< of each sum tile; columns are those of the layer's terms
  Index max_terms = 0;                  ///< of a layer

  bool is_dense(Index layer) const { return !layers.empty() && layers[static_cast<std::size_t>(layer)].is_dense; }
};

/// The largest number such that outputs, cut into runs of so many, have the same columns within each run.
/// \param offsets  [outputs + 1] in `products`
Index run_of_equal_columns(std::span<Offset const> offsets, std::vector<TileProduct> const& products);

struct HostPlan;

/// Chooses the groups of sums whose edges fill enough of their tiles, and numbers these. A layer with groups of both
/// kinds becomes several.
void add_dense_plan(HostPlan& plan);

/// Parameters that are in one tile, or in a part of one, wherever they are used.
struct DenseParameters {
  Index tile;  ///< in HostFlowPlan::parameter_tiles
  std::uint8_t first_row, first_column;
  Offset uses_begin, uses_end;  ///< in HostDenseFlowPlan::uses
};

/// Columns of a group.
struct DenseUse {
  Index sum, term;
};

/// Parameters that are between the same sums at all of their uses, side by side: what reads these does several.
struct DenseStrip {
  Index begin, end;  ///< among the group's parameters, at most max_tiles_of_strip
};
inline constexpr Index max_tiles_of_strip = 3;

/// Layers whose flows of parameters are added at a time.
struct DenseGroup {
  Index sums_begin, sums_end;    ///< in HostDenseFlowPlan::sums
  Index terms_begin, terms_end;  ///< in HostDenseFlowPlan::terms
  Index parameters_begin, parameters_end;
  Index strips_begin, strips_end;
  Index max_uses;  ///< of a tile of parameters

  Index num_parameters() const { return parameters_end - parameters_begin; }
};

/// Flows that matrix units sum up.
struct HostDenseFlowPlan {
  std::vector<Offset> product_offsets;  ///< [terms of HostFlowPlan + 1]
  std::vector<TileProduct> products;    ///< of each term; columns are the layer's sum tiles
  std::vector<DenseGroup> groups;
  std::vector<Index> sums, terms;  ///< of groups: sum tiles, as tiles, and terms
  std::vector<DenseParameters> parameters;
  std::vector<DenseUse> uses;
  std::vector<DenseStrip> strips;
  Index max_outputs = 0;              ///< terms of a step
  Index max_parameters = 0;           ///< of a group
  Index max_sums = 0, max_terms = 0;  ///< columns of a group: no layer has more
};

}  // namespace hornbill::circuit
