#include <algorithm>
#include <map>
#include <numeric>
#include <tuple>

#include <hornbill/circuit/host_plan.hpp>

namespace hornbill::circuit {
namespace {

/// Products of a layer are done by matrix units where so much of their tiles is filled.
constexpr double least_fill = 0.25;
/// Rows may be missing where columns are filled so far, and all such tiles are few beside the others.
constexpr double least_fill_of_columns = 0.5;
constexpr std::size_t most_others = 4, always_allowed = 64;

/// How full the tiles of a layer are.
struct Fill {
  std::size_t tiles = 0;
  Offset edges = 0, columns = 0;

  double of_edges() const { return static_cast<double>(edges) / (static_cast<double>(tiles) * tile_size * tile_size); }
  double of_columns() const { return static_cast<double>(columns) / (static_cast<double>(tiles) * tile_size); }
};

class DensePlanner {
 public:
  explicit DensePlanner(HostPlan const& plan) : plan_(plan) {}

  HostDensePlan plan() && {
    choose_layers();
    if (std::ranges::none_of(dense_.layers, &DenseLayer::is_dense)) return {};
    dense_.product_offsets.push_back(0);
    column_of_term_.assign(plan_.terms.size(), -1);
    for (std::size_t l = 0; l < plan_.layers.size(); ++l)
      if (plan_.layers[l].kind == NodeKind::sum) plan_layer(l);
    return std::move(dense_);
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

  Fill fill_of(Layer const& layer) const {
    Fill fill;
    for (Index s = layer.begin; s < layer.end; ++s)
      for_each_product(s, [&](Offset first, Offset last) {
        ++fill.tiles;
        for (auto i = first; i < last; ++i) {
          fill.edges += Offset{segment(i).rows} * segment(i).columns;
          fill.columns += segment(i).columns;
        }
      });
    return fill;
  }

  void choose_layers() {
    std::vector<Fill> fills;
    std::size_t filled = 0;
    for (auto const& layer : plan_.layers) {
      fills.push_back(layer.kind == NodeKind::sum ? fill_of(layer) : Fill{});
      bool const is_dense = fills.back().tiles > 0 && fills.back().of_edges() >= least_fill;
      if (is_dense) filled += fills.back().tiles;
      dense_.layers.push_back({is_dense, 0, 0});
    }
    std::size_t room = filled == 0 ? 0 : std::max(filled / most_others, always_allowed);
    for (std::size_t l = 0; l < fills.size(); ++l) {
      auto& is_dense = dense_.layers[l].is_dense;
      if (is_dense || fills[l].tiles == 0 || fills[l].tiles > room) continue;
      if (fills[l].of_columns() < least_fill_of_columns) continue;
      room -= fills[l].tiles;
      is_dense = true;
    }
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

  HostPlan const& plan_;
  HostDensePlan dense_;
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

HostDensePlan make_dense_plan(HostPlan const& plan) { return DensePlanner(plan).plan(); }

}  // namespace hornbill::circuit
