#include <hornbill/circuit/block_sparsity.hpp>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "../graph/random.hpp"
#include "structure_parts.hpp"

namespace hornbill::circuit {
namespace {

/// Edges of a strip of sums, which all have the same children, to children of one block.
struct EdgePiece {
  std::size_t of;        ///< the block of edges that it is cut from
  Index child, columns;  ///< nodes
  Index row, column;     ///< of blocks, in the vectors of the sums and of the child
  bool is_square;        ///< both vectors have as many nodes, more than one block of them
};

void check_pattern(BlockPattern const& pattern) {
  if (auto const* random = std::get_if<RandomBlocks>(&pattern); random && !(random->share > 0 && random->share <= 1))
    throw InputError(
        fmt::format("the share of blocks that are kept is {}; it must be over 0, and at most 1", random->share));
  if (auto const* band = std::get_if<BandOfBlocks>(&pattern); band && band->width < 0)
    throw InputError(fmt::format("the width of a band of blocks is {}; it must be at least 0", band->width));
}

class BlockKeeper {
 public:
  BlockKeeper(Circuit const& circuit, Index block_size, BlockPattern const& pattern)
      : circuit_(circuit), block_size_(block_size), pattern_(pattern) {
    if (auto const* random = std::get_if<RandomBlocks>(&pattern)) random_ = Random(random->seed);
    if (auto const* list = std::get_if<ListedBlocks>(&pattern))
      listed_.insert(list->blocks.begin(), list->blocks.end());
  }

  Circuit keep() && {
    result_ = circuit_;
    result_.blocks.clear();
    result_.num_sum_parameters = 0;
    for (auto& vector : result_.vectors) {
      if (vector.kind != NodeKind::sum) continue;
      auto const begin = std::ssize(result_.blocks);
      keep_of(vector);
      vector.begin = begin;
      vector.end = std::ssize(result_.blocks);
    }
    require_used_list();
    validate(result_, "the circuit with fewer edges");
    return std::move(result_);
  }

 private:
  /// Tied vectors have blocks with the same parameters, in the same order.
  void keep_of(NodeVector const& vector) {
    auto const old = circuit_.blocks_of(vector);
    std::vector<Offset> key;
    for (auto const& block : old)
      key.insert(key.end(), {block.parameter, block.sum - vector.first, Offset{block.rows}, Offset{block.columns}});
    auto const [known, is_new] = kept_.try_emplace(key);
    if (is_new) {
      require_no_other_tie(vector);
      known->second = choose(vector);
    }
    for (auto [of, block] : known->second) {
      block.sum += vector.first;
      block.child += old[of].child;
      result_.blocks.push_back(block);
    }
  }

  void require_no_other_tie(NodeVector const& vector) {
    for (auto const& block : circuit_.blocks_of(vector)) {
      auto const [begin, end] = std::pair(block.parameter, block.parameter + Offset{block.rows} * block.columns);
      auto next = ends_.upper_bound(begin);  // the first range that ends behind `begin`
      if (next != ends_.end() && next->second < end)
        throw InputError(fmt::format(
            "sum node {} is tied to others whose edges are divided in other ways; no blocks of them can be dropped",
            vector.first));
      ends_.emplace(end, begin);
    }
  }

  struct Kept {
    std::size_t of;   ///< block of the vector
    EdgeBlock block;  ///< its sum counted from the vector's first, its child from the old block's first
  };

  std::vector<Kept> choose(NodeVector const& vector) {
    std::vector<Kept> kept;
    auto const ends = ends_of_strips(vector);
    auto strips = strips_of(vector, ends);
    Index first = 0;
    for (std::size_t s = 0; s < ends.size(); ++s) {
      Index const end = ends[s];
      choose_among(strips[s], vector, first);
      for (auto const& piece : strips[s]) {
        Index const child = piece.child - circuit_.blocks_of(vector)[piece.of].child;
        if (auto* last = kept.empty() ? nullptr : &kept.back(); last && last->of == piece.of &&
                                                                last->block.sum == first &&
                                                                last->block.child + last->block.columns == child)
          last->block.columns += piece.columns;
        else
          kept.push_back({piece.of, {first, child, end - first, piece.columns, 0}});
      }
      first = end;
    }
    for (auto& [of, block] : kept) {
      block.parameter = result_.num_sum_parameters;
      result_.num_sum_parameters += Offset{block.rows} * block.columns;
    }
    return kept;
  }

  /// Sums between two of these ends, counted from the vector's first, have the same children.
  std::vector<Index> ends_of_strips(NodeVector const& vector) const {
    std::set<Index> ends{vector.size};
    for (Offset end = block_size_; end < vector.size; end += block_size_) ends.insert(static_cast<Index>(end));
    for (auto const& block : circuit_.blocks_of(vector)) {
      if (block.sum > vector.first) ends.insert(block.sum - vector.first);
      ends.insert(block.sum - vector.first + block.rows);
    }
    return {ends.begin(), ends.end()};
  }

  std::vector<std::vector<EdgePiece>> strips_of(NodeVector const& vector, std::vector<Index> const& ends) const {
    std::vector<std::vector<EdgePiece>> strips(ends.size());
    auto const blocks = circuit_.blocks_of(vector);
    for (std::size_t b = 0; b < blocks.size(); ++b) {
      auto const& block = blocks[b];
      auto const& child = circuit_.vectors[static_cast<std::size_t>(circuit_.vector_of(block.child))];
      bool const is_square = child.size == vector.size && vector.size > block_size_;
      Index first = block.sum - vector.first;
      Index const last = first + block.rows;
      for (auto s = static_cast<std::size_t>(std::ranges::upper_bound(ends, first) - ends.begin()); first < last;
           first = ends[s++])
        for (Index at = block.child - child.first, behind = at + block.columns; at < behind;) {
          Index const columns = std::min(behind - at, block_size_ - at % block_size_);
          strips[s].push_back({b, child.first + at, columns, first / block_size_, at / block_size_, is_square});
          at += columns;
        }
    }
    return strips;
  }

  /// \param first  sum of the strip, counted from the vector's first
  void choose_among(std::vector<EdgePiece>& pieces, NodeVector const& vector, Index first) {
    if (auto const* random = std::get_if<RandomBlocks>(&pattern_)) {
      auto const count = std::max(1.0, std::round(random->share * static_cast<double>(pieces.size())));
      std::vector<EdgePiece> chosen;
      for (std::size_t i : random_.sample(static_cast<std::size_t>(count), pieces.size())) chosen.push_back(pieces[i]);
      pieces = std::move(chosen);
      return;
    }
    std::erase_if(pieces, [&](EdgePiece const& piece) { return piece.is_square && !is_in_pattern(piece); });
    if (pieces.empty())
      throw InputError(
          fmt::format("sum node {}, in row {} of blocks, keeps no edge", vector.first + first, first / block_size_));
  }

  bool is_in_pattern(EdgePiece const& piece) {
    if (auto const* band = std::get_if<BandOfBlocks>(&pattern_))
      return std::abs(piece.row - piece.column) <= band->width;
    bool const is_listed = listed_.contains({piece.row, piece.column});
    if (is_listed) used_.insert({piece.row, piece.column});
    return is_listed;
  }

  void require_used_list() const {
    for (auto const& block : listed_)
      if (!used_.contains(block))
        throw InputError(fmt::format("no sums have the block of edges in row {} and column {}, which is listed",
                                     block.first, block.second));
  }

  Circuit const& circuit_;
  Index block_size_;
  BlockPattern const& pattern_;
  Random random_{1};
  std::set<std::pair<Index, Index>> listed_, used_;
  std::map<std::vector<Offset>, std::vector<Kept>> kept_;  // by parameters, places, rows and columns of blocks
  std::map<Offset, Offset> ends_;                          // ends and begins of ranges of parameters
  Circuit result_;
};

}  // namespace

Circuit keep_blocks(Circuit const& circuit, Index block_size, BlockPattern const& pattern) {
  require_positive("the size of a block", block_size);
  check_pattern(pattern);
  return BlockKeeper(circuit, block_size, pattern).keep();
}

}  // namespace hornbill::circuit
