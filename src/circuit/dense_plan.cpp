#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include <hornbill/circuit/host_plan.hpp>

namespace hornbill::circuit {
namespace {

/// Products of a group are done by matrix units where so much of their tiles is filled.
constexpr double least_fill = 0.25;
/// Rows may be missing where columns are filled so far, and all such tiles are few beside the others.
constexpr double least_fill_of_columns = 0.5;
constexpr std::size_t most_others = 4, always_allowed = 64;

/// How full the tiles of a group are.
struct Fill {
  std::size_t tiles = 0;
  Offset edges = 0, columns = 0;

  double of_edges() const { return static_cast<double>(edges) / (static_cast<double>(tiles) * tile_size * tile_size); }
  double of_columns() const { return static_cast<double>(columns) / (static_cast<double>(tiles) * tile_size); }
};

class DensePlanner {
 public:
  explicit DensePlanner(HostPlan& plan) : plan_(plan) {}

  void plan() && {
    choose_groups();
    if (std::ranges::find(is_dense_, true) == is_dense_.end()) return;
    cut_layers();
    dense_.product_offsets.push_back(0);
    column_of_term_.assign(plan_.terms.size(), -1);
    for (std::size_t l = 0; l < plan_.layers.size(); ++l)
      if (plan_.layers[l].kind == NodeKind::sum) plan_layer(l);
    plan_.dense = std::move(dense_);
  }

 private:
  /// Calls function(first segment, behind the last) for each sum tile's segments of a term.
  template <class Function>
  void for_each_product(Index sum_tile, Function const& function) const {
    auto const s = static_cast<std::size_t>(sum_tile);
    for (auto first = plan_.segment_offsets[s]; first < plan_.segment_offsets[s + 1];) {
      auto last = first;
      while (last < plan_.segment_offsets[s + 1] && segment(last).term == segment(first).term) ++last;
      function(first, last);
      first = last;
    }
  }
  Segment const& segment(Offset i) const { return plan_.segments[static_cast<std::size_t>(i)]; }

  Fill fill_of(SumGroup const& group) const {
    Fill fill;
    for (Index s = group.begin; s < group.end; ++s)
      for_each_product(s, [&](Offset first, Offset last) {
        ++fill.tiles;
        for (auto i = first; i < last; ++i) {
          fill.edges += Offset{segment(i).rows} * segment(i).columns;
          fill.columns += segment(i).columns;
        }
      });
    return fill;
  }

  void choose_groups() {
    std::vector<Fill> fills;
    std::size_t filled = 0;
    for (auto const& group : plan_.groups) {
      fills.push_back(fill_of(group));
      is_dense_.push_back(fills.back().of_edges() >= least_fill);
      if (is_dense_.back()) filled += fills.back().tiles;
    }
    std::size_t room = filled == 0 ? 0 : std::max(filled / most_others, always_allowed);
    for (std::size_t g = 0; g < fills.size(); ++g) {
      if (is_dense_[g] || fills[g].tiles > room || fills[g].of_columns() < least_fill_of_columns) continue;
      room -= fills[g].tiles;
      is_dense_[g] = true;
    }
  }

  /// Gives each kernel its layers: groups one behind the other that are of one kind.
  void cut_layers() {
    std::vector<Layer> layers;
    std::size_t group = 0;
    for (auto const& layer : plan_.layers) {
      if (layer.kind != NodeKind::sum) {
        layers.push_back(layer);
        dense_.layers.push_back({false, 0, 0});
        continue;
      }
      for (Index begin = layer.begin; begin < layer.end; begin = plan_.groups[group++].end) {
        bool const is_first = begin == layer.begin;
        if (is_first || is_dense_[group] != dense_.layers.back().is_dense) {
          layers.push_back({NodeKind::sum, begin, begin});
          dense_.layers.push_back({is_dense_[group], 0, 0});
        }
        layers.back().end = plan_.groups[group].end;
      }
    }
    plan_.layers = std::move(layers);
  }

  void plan_layer(std::size_t l) {
    auto const& layer = plan_.layers[l];
    auto& dense = dense_.layers[l];
    dense.terms_begin = dense.terms_end = static_cast<Index>(dense_.terms.size());
    for (Index s = layer.begin; s < layer.end; ++s) {
      if (dense.is_dense)
        for_each_product(s, [&](Offset first, Offset last) {
          dense_.products.push_back({weights_of(first, last), column_of(segment(first).term, dense.terms_begin)});
        });
      dense_.product_offsets.push_back(std::ssize(dense_.products));
    }
    dense.terms_end = static_cast<Index>(dense_.terms.size());
    auto const outputs = static_cast<std::size_t>(layer.end - layer.begin);
    dense.run = run_of_equal_columns(
        std::span(dense_.product_offsets).subspan(static_cast<std::size_t>(layer.begin), outputs + 1), dense_.products);
    dense_.max_terms = std::max(dense_.max_terms, dense.terms_end - dense.terms_begin);
  }

  /// Among the layer's terms; other layers may have had it too.
  Index column_of(Index term, Index first) {
    auto& known = column_of_term_[static_cast<std::size_t>(term)];
    if (known < first) {
      known = static_cast<Index>(dense_.terms.size());
      dense_.terms.push_back(term);
    }
    return known - first;
  }

  /// The number of a matrix, which is the same where parameters and places are.
  Index weights_of(Offset first, Offset last) {
    std::vector<std::tuple<Offset, Index, int, int, int, int>> key;
    for (auto i = first; i < last; ++i) {
      auto const& of = segment(i);
      key.emplace_back(of.parameter, of.stride, of.first_row, of.rows, of.first_column, of.columns);
    }
    auto const [known, is_new] = weights_.try_emplace(std::move(key), static_cast<Index>(dense_.weight_tiles.size()));
    if (is_new) dense_.weight_tiles.push_back({first, last});
    return known->second;
  }

  HostPlan& plan_;
  HostDensePlan dense_;
  std::vector<bool> is_dense_;  ///< [groups]
  std::vector<Index> column_of_term_;
  std::map<std::vector<std::tuple<Offset, Index, int, int, int, int>>, Index> weights_;
};

}  // namespace

Index run_of_equal_columns(std::span<Offset const> offsets, std::vector<TileProduct> const& products) {
  auto const columns_of = [&](std::size_t output) {
    return std::span(products).subspan(static_cast<std::size_t>(offsets[output]),
                                       static_cast<std::size_t>(offsets[output + 1] - offsets[output]));
  };
  Index run = 0, length = 0;
  for (std::size_t o = 0; o + 1 < offsets.size(); ++o) {
    ++length;
    bool const ends = o + 2 == offsets.size() || !std::ranges::equal(columns_of(o), columns_of(o + 1), {},
                                                                     &TileProduct::column, &TileProduct::column);
    if (!ends) continue;
    run = std::gcd(run, length);
    length = 0;
  }
  return std::max(run, 1);
}

void add_dense_plan(HostPlan& plan) {
  if (plan.dense.layers.empty()) DensePlanner(plan).plan();
}

}  // namespace hornbill::circuit
