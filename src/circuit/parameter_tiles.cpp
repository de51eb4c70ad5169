#include "parameter_tiles.hpp"

#include <algorithm>
#include <tuple>

namespace hornbill::circuit {
namespace {

/// A matrix of parameters, and one use of it.
struct Piece {
  Offset parameter;
  Index stride, rows, columns;
  ParameterUse use;

  auto shape() const { return std::tuple(parameter, stride, rows, columns); }
  Offset end() const { return parameter + Offset{rows - 1} * stride + columns; }

  /// Some of its rows and columns.
  Piece part(Index row, Index num_rows, Index column, Index num_columns) const {
    return {parameter + Offset{row} * stride + column,
            num_rows == 1 ? num_columns : stride,
            num_rows,
            num_columns,
            {use.tile, use.term, static_cast<std::uint8_t>(use.first_row + row),
             static_cast<std::uint8_t>(use.first_column + column)}};
  }
};

std::vector<Piece> pieces_of(HostPlan const& plan) {
  std::vector<Piece> pieces;
  pieces.reserve(plan.segments.size());
  for (std::size_t s = 0; s < plan.sum_tiles.size(); ++s)
    for (auto i = plan.segment_offsets[s]; i < plan.segment_offsets[s + 1]; ++i) {
      auto const& of = plan.segments[static_cast<std::size_t>(i)];
      Piece const whole{
          of.parameter, of.stride, of.rows, of.columns, {plan.sum_tiles[s], of.term, of.first_row, of.first_column}};
      pieces.push_back(whole.part(0, of.rows, 0, of.columns));
    }
  return pieces;
}

void sort(std::vector<Piece>& pieces) { std::ranges::stable_sort(pieces, {}, &Piece::shape); }

using Place = std::vector<Piece>::const_iterator;

/// Behind the pieces that lie side by side in the same rows as the first one.
Place end_of_band(Place first, Place end) {
  auto last = first;
  auto next = first;
  for (; next != end && next->stride == first->stride && next->rows == first->rows; ++next) {
    if (next->shape() == last->shape()) continue;
    bool const is_beside = next->parameter >= last->parameter + last->columns &&
                           next->parameter + next->columns <= first->parameter + first->stride;
    if (!is_beside) break;
    last = next;
  }
  return next;
}

/// Where a matrix of `stride` columns is cut by pieces of it: rows and columns.
struct Cuts {
  std::vector<Offset> rows, columns;
};

void sort_unique(std::vector<Offset>& values) {
  std::ranges::sort(values);
  values.erase(std::ranges::unique(values).begin(), values.end());
}

Cuts cuts_of(Place begin, Place end, Offset origin, Index stride) {
  Cuts cuts;
  for (auto piece = begin; piece != end; ++piece) {
    Offset const row = (piece->parameter - origin) / stride, column = (piece->parameter - origin) % stride;
    cuts.rows.insert(cuts.rows.end(), {row, row + piece->rows});
    cuts.columns.insert(cuts.columns.end(), {column, column + piece->columns});
  }
  sort_unique(cuts.rows);
  sort_unique(cuts.columns);
  return cuts;
}

/// Calls function(first, count) for the parts of [first, first + count) between cuts.
template <class Function>
void for_each_part(std::vector<Offset> const& cuts, Offset first, Index count, Function const& function) {
  for (auto cut = std::ranges::lower_bound(cuts, first); *cut < first + count; ++cut)
    function(static_cast<Index>(*cut - first), static_cast<Index>(*(cut + 1) - *cut));
}

/// Cuts pieces that overlap, so that those which still do are the same.
void cut(Place begin, Place end, std::vector<Piece>& out) {
  Offset const origin = begin->parameter;
  Index stride = 1;
  for (auto piece = begin; piece != end; ++piece) stride = std::max(stride, piece->stride);
  bool const is_one_matrix = std::all_of(begin, end, [&](Piece const& piece) {
    return (piece.stride == stride || piece.rows == 1) && (piece.parameter - origin) % stride + piece.columns <= stride;
  });
  auto const cuts = is_one_matrix ? cuts_of(begin, end, origin, stride) : Cuts{};
  for (auto piece = begin; piece != end; ++piece) {
    if (!is_one_matrix) {  // edges by themselves
      for (Index r = 0; r < piece->rows; ++r)
        for (Index c = 0; c < piece->columns; ++c) out.push_back(piece->part(r, 1, c, 1));
      continue;
    }
    Offset const row = (piece->parameter - origin) / stride, column = (piece->parameter - origin) % stride;
    for_each_part(cuts.rows, row, piece->rows, [&](Index r, Index rows) {
      for_each_part(cuts.columns, column, piece->columns,
                    [&](Index c, Index columns) { out.push_back(piece->part(r, rows, c, columns)); });
    });
  }
}

/// Cuts all pieces that overlap others.
std::vector<Piece> disjoint(std::vector<Piece> const& pieces) {
  std::vector<Piece> result;
  result.reserve(pieces.size());
  for (auto first = pieces.begin(); first != pieces.end();) {
    auto last = first;
    Offset end = 0;
    int bands = 0;
    for (; last != pieces.end() && (bands == 0 || last->parameter < end); ++bands) {
      auto const next = end_of_band(last, pieces.end());
      for (; last != next; ++last) end = std::max(end, last->end());
    }
    if (bands == 1)
      result.insert(result.end(), first, last);
    else
      cut(first, last, result);
    first = last;
  }
  return result;
}

}  // namespace

std::vector<ParameterTile> tiles_of_parameters(HostPlan const& plan, std::vector<ParameterUse>& uses) {
  auto pieces = pieces_of(plan);
  sort(pieces);
  pieces = disjoint(pieces);
  sort(pieces);
  std::vector<ParameterTile> tiles;
  for (std::size_t i = 0; i < pieces.size();) {
    auto const& first = pieces[i];
    auto const begin = std::ssize(uses);
    for (; i < pieces.size() && pieces[i].shape() == first.shape(); ++i) uses.push_back(pieces[i].use);
    tiles.push_back({first.parameter, first.stride, first.rows, first.columns, begin, std::ssize(uses)});
  }
  return tiles;
}

}  // namespace hornbill::circuit
