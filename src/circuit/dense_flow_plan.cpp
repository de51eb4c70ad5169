#include "dense_flow_plan.hpp"

#include <algorithm>
#include <ranges>
#include <span>
#include <utility>

namespace hornbill::circuit {
namespace {

/// Columns of a group are at most this part of all sum tiles and terms, or so many, if one layer has not more.
constexpr std::size_t parts_of_columns = 8, few_columns = 512;

class DenseFlowPlanner {
 public:
  DenseFlowPlanner(HostPlan const& plan, HostFlowPlan& flow) : plan_(plan), flow_(flow), dense_(flow.dense) {}

  void plan() {
    plan_products();
    find_layers();
    order_parameters();
    for (std::size_t step = 0; step < flow_.steps.size();) step = plan_group(step);
  }

 private:
  bool is_dense(FlowStep const& step) const { return plan_.dense.is_dense(step.layer); }
  Layer const& layer_of(FlowStep const& step) const { return plan_.layers[static_cast<std::size_t>(step.layer)]; }
  DenseLayer const& dense_layer_of(FlowStep const& step) const {
    return plan_.dense.layers[static_cast<std::size_t>(step.layer)];
  }

  /// Of each term, in the order of HostFlowPlan::terms, its matrices by sum tile.
  void plan_products() {
    dense_.product_offsets.assign(flow_.terms.size() + 1, 0);
    for (auto& step : flow_.steps) {
      std::vector<std::vector<TileProduct>> of_columns;
      if (is_dense(step)) {
        auto const& layer = layer_of(step);
        auto const& dense = dense_layer_of(step);
        dense_.max_outputs = std::max(dense_.max_outputs, step.terms_end - step.dense_begin);
        of_columns.resize(static_cast<std::size_t>(dense.terms_end - dense.terms_begin));
        for (Index s = layer.begin; s < layer.end; ++s)
          for (auto p = plan_.dense.product_offsets[static_cast<std::size_t>(s)];
               p < plan_.dense.product_offsets[static_cast<std::size_t>(s) + 1]; ++p) {
            auto const& product = plan_.dense.products[static_cast<std::size_t>(p)];
            of_columns[static_cast<std::size_t>(product.column)].push_back({product.weights, s - layer.begin});
          }
        number_columns(dense);
      }
      for (Index i = step.terms_begin; i < step.terms_end; ++i) {
        if (i >= step.dense_begin) {
          auto const& own = of_columns[static_cast<std::size_t>(column_of(i))];
          dense_.products.insert(dense_.products.end(), own.begin(), own.end());
        }
        dense_.product_offsets[static_cast<std::size_t>(i) + 1] = std::ssize(dense_.products);
      }
      step.dense_run =
          run_of_equal_columns(std::span(dense_.product_offsets)
                                   .subspan(static_cast<std::size_t>(step.dense_begin),
                                            static_cast<std::size_t>(step.terms_end - step.dense_begin) + 1),
                               dense_.products);
    }
  }

  Index column_of(Index i) const {
    return column_of_term_[static_cast<std::size_t>(flow_.terms[static_cast<std::size_t>(i)])];
  }

  void number_columns(DenseLayer const& layer) {
    column_of_term_.resize(plan_.terms.size(), -1);
    for (Index c = layer.terms_begin; c < layer.terms_end; ++c)
      column_of_term_[static_cast<std::size_t>(plan_.dense.terms[static_cast<std::size_t>(c)])] = c - layer.terms_begin;
  }

  /// Of each tile of sums the step in which it is.
  void find_layers() {
    step_of_tile_.assign(plan_.tiles.size(), -1);
    column_of_tile_.assign(plan_.tiles.size(), -1);
    for (std::size_t i = 0; i < flow_.steps.size(); ++i) {
      auto const& layer = layer_of(flow_.steps[i]);
      if (!is_dense(flow_.steps[i])) continue;
      for (Index s = layer.begin; s < layer.end; ++s)
        step_of_tile_[static_cast<std::size_t>(plan_.sum_tiles[static_cast<std::size_t>(s)])] = static_cast<Index>(i);
    }
  }

  /// Whether all uses are of layers that are dense, and in one place of their tiles.
  bool is_dense(ParameterTile const& tile) const {
    auto const& first = flow_.parameter_uses[static_cast<std::size_t>(tile.uses_begin)];
    return std::all_of(flow_.parameter_uses.begin() + tile.uses_begin, flow_.parameter_uses.begin() + tile.uses_end,
                       [&](ParameterUse const& use) {
                         return step_of_tile_[static_cast<std::size_t>(use.tile)] >= 0 &&
                                use.first_row == first.first_row && use.first_column == first.first_column;
                       });
  }

  void order_parameters() {
    auto const dense = std::ranges::stable_partition(flow_.parameter_tiles,
                                                     [&](ParameterTile const& tile) { return !is_dense(tile); });
    flow_.num_plain_parameters = static_cast<Index>(dense.begin() - flow_.parameter_tiles.begin());
    // uses by step, so that those of a group lie one behind the other
    for (auto& tile : dense)
      std::stable_sort(flow_.parameter_uses.begin() + tile.uses_begin, flow_.parameter_uses.begin() + tile.uses_end,
                       [&](ParameterUse const& a, ParameterUse const& b) {
                         return step_of_tile_[static_cast<std::size_t>(a.tile)] <
                                step_of_tile_[static_cast<std::size_t>(b.tile)];
                       });
    next_use_.resize(flow_.parameter_tiles.size());
    tiles_of_step_.resize(flow_.steps.size());
    for (std::size_t t = static_cast<std::size_t>(flow_.num_plain_parameters); t < next_use_.size(); ++t) {
      next_use_[t] = flow_.parameter_tiles[t].uses_begin;
      tiles_of_step_[step_of_use(next_use_[t])].push_back(static_cast<Index>(t));
    }
  }

  std::size_t step_of_use(Offset use) const {
    return static_cast<std::size_t>(
        step_of_tile_[static_cast<std::size_t>(flow_.parameter_uses[static_cast<std::size_t>(use)].tile)]);
  }

  /// Plans the group that begins with a step.   \return the step behind it
  std::size_t plan_group(std::size_t first) {
    if (!is_dense(flow_.steps[first])) return first + 1;
    auto const most = std::max((plan_.sum_tiles.size() + plan_.terms.size()) / parts_of_columns, few_columns);
    DenseGroup group{};
    group.sums_begin = static_cast<Index>(dense_.sums.size());
    group.terms_begin = static_cast<Index>(dense_.terms.size());
    group.parameters_begin = static_cast<Index>(dense_.parameters.size());
    std::size_t columns = 0, last = first;
    for (; last < flow_.steps.size(); ++last) {
      auto const& step = flow_.steps[last];
      if (!is_dense(step)) continue;
      auto const& layer = layer_of(step);
      auto const& dense = dense_layer_of(step);
      columns += static_cast<std::size_t>(layer.end - layer.begin + dense.terms_end - dense.terms_begin);
      if (columns > most && last > first) break;
      for (Index s = layer.begin; s < layer.end; ++s) {
        Index const tile = plan_.sum_tiles[static_cast<std::size_t>(s)];
        column_of_tile_[static_cast<std::size_t>(tile)] = static_cast<Index>(dense_.sums.size()) - group.sums_begin;
        dense_.sums.push_back(tile);
      }
      for (Index c = dense.terms_begin; c < dense.terms_end; ++c) {
        Index const term = plan_.dense.terms[static_cast<std::size_t>(c)];
        column_of_term_[static_cast<std::size_t>(term)] = static_cast<Index>(dense_.terms.size()) - group.terms_begin;
        dense_.terms.push_back(term);
      }
    }
    for (std::size_t step = first; step < last; ++step)
      for (Index tile : std::exchange(tiles_of_step_[step], {})) plan_parameters(tile, last);
    group.sums_end = static_cast<Index>(dense_.sums.size());
    group.terms_end = static_cast<Index>(dense_.terms.size());
    group.parameters_end = static_cast<Index>(dense_.parameters.size());
    plan_strips(group);
    dense_.max_sums = std::max(dense_.max_sums, group.sums_end - group.sums_begin);
    dense_.max_terms = std::max(dense_.max_terms, group.terms_end - group.terms_begin);
    dense_.groups.push_back(group);
    return last;
  }

  /// A tile's uses before step `last`; the others are of a later group.
  void plan_parameters(Index t, std::size_t last) {
    auto const& tile = flow_.parameter_tiles[static_cast<std::size_t>(t)];
    auto& use = next_use_[static_cast<std::size_t>(t)];
    auto const& first = flow_.parameter_uses[static_cast<std::size_t>(use)];
    auto const begin = std::ssize(dense_.uses);
    for (; use < tile.uses_end && step_of_use(use) < last; ++use) {
      auto const& of = flow_.parameter_uses[static_cast<std::size_t>(use)];
      dense_.uses.push_back(
          {column_of_tile_[static_cast<std::size_t>(of.tile)], column_of_term_[static_cast<std::size_t>(of.term)]});
    }
    dense_.parameters.push_back({t, first.first_row, first.first_column, begin, std::ssize(dense_.uses)});
    if (use < tile.uses_end) tiles_of_step_[step_of_use(use)].push_back(t);
  }

  /// Sums of a tile's uses, in their order.
  auto sums_of(DenseParameters const& parameters) const {
    return std::span(dense_.uses)
               .subspan(static_cast<std::size_t>(parameters.uses_begin),
                        static_cast<std::size_t>(parameters.uses_end - parameters.uses_begin)) |
           std::views::transform(&DenseUse::sum);
  }

  static Index part_of(Index count, Index i, Index parts) { return static_cast<Index>(Offset{count} * i / parts); }

  /// Orders a group's parameters by their sums, and cuts those with the same ones into strips of about as many.
  void plan_strips(DenseGroup& group) {
    auto const first = dense_.parameters.begin() + group.parameters_begin;
    auto const before = [&](DenseParameters const& a, DenseParameters const& b) {
      return std::ranges::lexicographical_compare(sums_of(a), sums_of(b));
    };
    std::stable_sort(first, dense_.parameters.end(), before);
    group.strips_begin = static_cast<Index>(dense_.strips.size());
    for (auto begin = first; begin != dense_.parameters.end();) {
      auto const end = std::find_if(begin, dense_.parameters.end(), [&](auto const& of) { return before(*begin, of); });
      auto const count = static_cast<Index>(end - begin), strips = (count - 1) / max_tiles_of_strip + 1;
      auto const at = static_cast<Index>(begin - first);
      for (Index s = 0; s < strips; ++s)
        dense_.strips.push_back({at + part_of(count, s, strips), at + part_of(count, s + 1, strips)});
      group.max_uses = std::max(group.max_uses, static_cast<Index>(begin->uses_end - begin->uses_begin));
      begin = end;
    }
    group.strips_end = static_cast<Index>(dense_.strips.size());
    dense_.max_parameters = std::max(dense_.max_parameters, group.num_parameters());
  }

  HostPlan const& plan_;
  HostFlowPlan& flow_;
  HostDenseFlowPlan& dense_;
  std::vector<Index> column_of_term_, column_of_tile_, step_of_tile_;
  std::vector<Offset> next_use_;                   ///< [parameter tiles] of those that matrix units do
  std::vector<std::vector<Index>> tiles_of_step_;  ///< by the step of their next use
};

}  // namespace

void plan_dense_flows(HostPlan const& plan, HostFlowPlan& flow) {
  flow.num_plain_parameters = static_cast<Index>(flow.parameter_tiles.size());
  if (!plan.dense.layers.empty()) DenseFlowPlanner(plan, flow).plan();
}

}  // namespace hornbill::circuit
