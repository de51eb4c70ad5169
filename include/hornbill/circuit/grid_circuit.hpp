/// \file
/// Circuits of variables on a grid, such as the pixels of an image.
#pragma once

#include <cstdint>
#include <vector>

#include <hornbill/circuit/circuit.hpp>
#include <hornbill/circuit/structures.hpp>

namespace hornbill::circuit {

/// Variables on a grid, and the places where boxes of them may be divided.
struct Grid {
  std::vector<Index> shape;                      ///< variables along each axis; those along the last one are adjacent
  std::vector<std::vector<Index>> split_points;  ///< [axes], ascending: first coordinates of second parts

  /// Of a valid grid.   \throws as validate()
  Index num_variables() const;
};
/// \throws InputError for a grid without variables, and for split points that do not ascend within their axis
/// \throws ShapeError for split points of more or fewer axes; CapacityError beyond 2^31 - 1 variables
void validate(Grid const& grid);

/// A grid whose axes are split every few variables.   \param intervals  of each axis, or one for all
/// \throws InputError for numbers below 1, ShapeError for other numbers of intervals
Grid split_evenly(std::vector<Index> shape, std::vector<Index> const& intervals);

/// The variables of each cell, a box that no split point divides; cells along the last axis are adjacent.
/// \shape [cells][variables of the cell]   \throws as validate()
std::vector<std::vector<Index>> cells_of(Grid const& grid);

/// Each box between split points has a vector of sums over its divisions. A division is the product of the box's two
/// parts on both sides of a split point. Cells are products of inputs, mixed by blocks of sums; or they are trees of
/// latent variables.
/// \source Poon and Domingos 2011 (PD); sums take some of the divisions, and cells are trees, as in Liu et al. 2024
struct GridDivision {
  Grid grid;
  Index num_latents = 1;
  std::vector<InputChoice> inputs;  ///< [variables], or one for all of them
  /// Sums of one block take at most max_divisions of their box, chosen at random for each block.
  Index block_size = 32, max_divisions = 8;
  std::uint64_t seed = 1;             ///< of the choices
  std::vector<VariableTree> trees{};  ///< [cells], over each cell's variables (PD-HCLT); or none (PD)
};
/// \throws InputError for numbers below 1; ShapeError for inputs or trees of another number; and as validate()
/// \throws CapacityError where boxes have more than 2^31 - 1 sums
Circuit make_circuit(GridDivision const& division);

}  // namespace hornbill::circuit
