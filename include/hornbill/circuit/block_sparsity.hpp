/// \file
/// Circuits whose sums keep some blocks of their edges.
#pragma once

#include <cstdint>
#include <utility>
#include <variant>
#include <vector>

#include <hornbill/circuit/circuit.hpp>

namespace hornbill::circuit {

/// Of each row of blocks, a share that is chosen at random: the nearest number of blocks, and at least one.
struct RandomBlocks {
  double share = 1;  ///< over 0, up to 1
  std::uint64_t seed = 1;
};
/// Blocks at most so many from the diagonal: of a hidden Markov model, transitions between near states.
struct BandOfBlocks {
  Index width = 0;
};
/// Blocks (row, column), counted from 0.
struct ListedBlocks {
  std::vector<std::pair<Index, Index>> blocks;
};
/// A band and a list are of sums that have as many children in a vector as the sums are; edges to other vectors, such
/// as those of the root, are all kept.
using BlockPattern = std::variant<RandomBlocks, BandOfBlocks, ListedBlocks>;

/// The circuit with fewer edges. Edges of a sum vector to a child vector are cut into blocks of block_size by
/// block_size. Parameters are new and numbered anew; those that were tied still are.
/// \source Liu et al. 2024, appendix C.1
/// \throws InputError for a block size below 1, a share or a width out of range, a listed block that no vector has, a
///   row of blocks that has none left, and for tied sums whose edges are divided in other ways
Circuit keep_blocks(Circuit const& circuit, Index block_size, BlockPattern const& pattern);

}  // namespace hornbill::circuit
