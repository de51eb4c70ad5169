#include <algorithm>
#include <limits>
#include <map>
#include <numeric>
#include <tuple>
#include <utility>

#include <hornbill/circuit/flow_plan.hpp>

#include "dense_flow_plan.hpp"
#include "parameter_tiles.hpp"

namespace hornbill::circuit {
namespace {

class FlowPlanner {
 public:
  explicit FlowPlanner(HostPlan const& plan) : plan_(plan) {}

  HostFlowPlan plan() && {
    find_segments_of_terms();
    count_uses();
    choose_writes();
    plan_steps();
    plan_inputs();
    flow_.parameter_tiles = tiles_of_parameters(plan_, flow_.parameter_uses);
    plan_dense_flows(plan_, flow_);
    return std::move(flow_);
  }

 private:
  Term const& term(Index t) const { return plan_.terms[static_cast<std::size_t>(t)]; }
  TermFactor const& factor(Offset f) const { return plan_.term_factors[static_cast<std::size_t>(f)]; }

  /// Calls function(row) for the rows of a term's factor.
  template <class Function>
  static void for_each_row(Term const& term, TermFactor const& factor, Function const& function) {
    for (Index i = 0; i < (factor.step == 0 ? 1 : term.size); ++i) function(factor.row + i);
  }

  /// Calls function(row of a factor, row of the product) for all nodes of a tile of products.
  template <class Function>
  void for_each_factor(ProductTile const& product, Function const& function) const {
    auto const [row, size] = plan_.tiles[static_cast<std::size_t>(product.tile)];
    for (auto f = product.factors_begin; f < product.factors_end; ++f) {
      auto const& [first, step, list] = plan_.row_factors[static_cast<std::size_t>(f)];
      for (Index i = 0; i < size; ++i) {
        Index const node = product.first + i;
        function(list < 0 ? first + node * step : plan_.factor_rows[static_cast<std::size_t>(list + node)], row + i);
      }
    }
  }

  void find_segments_of_terms() {
    flow_.term_offsets.assign(plan_.terms.size() + 1, 0);
    for (auto const& segment : plan_.segments) ++flow_.term_offsets[static_cast<std::size_t>(segment.term) + 1];
    std::partial_sum(flow_.term_offsets.begin(), flow_.term_offsets.end(), flow_.term_offsets.begin());
    flow_.term_segments.resize(plan_.segments.size());
    auto next = flow_.term_offsets;
    for (std::size_t s = 0; s < plan_.sum_tiles.size(); ++s)
      for (auto i = plan_.segment_offsets[s]; i < plan_.segment_offsets[s + 1]; ++i) {
        auto& place = next[static_cast<std::size_t>(plan_.segments[static_cast<std::size_t>(i)].term)];
        flow_.term_segments[static_cast<std::size_t>(place++)] = {i, plan_.sum_tiles[s]};
      }
  }

  void count_uses() {
    uses_.assign(static_cast<std::size_t>(plan_.num_rows), 0);
    for (std::size_t t = 0; t < plan_.terms.size(); ++t) {
      if (flow_.term_offsets[t] == flow_.term_offsets[t + 1]) continue;  // no sum has an edge to it
      auto const& term = plan_.terms[t];
      for (auto f = term.factors_begin; f < term.factors_end; ++f)
        for_each_row(term, factor(f), [&](Index row) { add_uses(row, 1); });
    }
    for (auto const& product : plan_.product_tiles)
      for_each_factor(product, [&](Index row, Index) { add_uses(row, 2); });  // so that it is gathered
    for (Index row = 0; row < plan_.num_rows; ++row)
      if (uses_[static_cast<std::size_t>(row)] == 0 && row != plan_.row_of_node.back())
        flow_.unused_rows.push_back(row);
  }

  /// Up to 2.
  void add_uses(Index row, int count) {
    auto& uses = uses_[static_cast<std::size_t>(row)];
    uses = static_cast<std::uint8_t>(std::min(uses + count, 2));
  }

  void choose_writes() {
    for (auto const& term : plan_.terms)
      for (auto f = term.factors_begin; f < term.factors_end; ++f) {
        bool writes = true;
        for_each_row(term, factor(f), [&](Index row) { writes = writes && uses_[static_cast<std::size_t>(row)] == 1; });
        flow_.writes.push_back(writes);
      }
  }

  void plan_steps() {
    auto terms_of = terms_by_layer();
    flow_.own_rows.assign(plan_.terms.size(), -1);
    has_flow_.assign(static_cast<std::size_t>(plan_.num_rows), false);
    for (auto l = plan_.layers.size(); l-- > 0;) {
      auto const terms_begin = static_cast<Index>(flow_.terms.size()),
                 gathers_begin = static_cast<Index>(flow_.gathers.size());
      auto const dense = std::ranges::stable_partition(terms_of[l], [&](Index t) { return !is_dense(t, l); });
      auto const dense_begin = terms_begin + static_cast<Index>(dense.begin() - terms_of[l].begin());
      flow_.terms.insert(flow_.terms.end(), terms_of[l].begin(), terms_of[l].end());
      auto const& layer = plan_.layers[l];
      plan_gathers(layer.kind == NodeKind::product ? flows_of_products(layer) : flows_of_terms(terms_of[l]));
      flow_.steps.push_back({static_cast<Index>(l), terms_begin, static_cast<Index>(flow_.terms.size()), dense_begin,
                             gathers_begin, static_cast<Index>(flow_.gathers.size())});
    }
  }

  /// Whether matrix units do a term's flow: all sums that have it are of one layer, which they do.
  bool is_dense(Index t, std::size_t layer) const {
    auto const& [kind, begin, end] = plan_.layers[layer];
    if (!plan_.dense.is_dense(static_cast<Index>(layer))) return false;
    auto const first = plan_.segment_offsets[static_cast<std::size_t>(begin)],
               last = plan_.segment_offsets[static_cast<std::size_t>(end)];
    auto const i = static_cast<std::size_t>(t);
    return std::all_of(flow_.term_segments.begin() + flow_.term_offsets[i],
                       flow_.term_segments.begin() + flow_.term_offsets[i + 1],
                       [&](TermSegment const& of) { return of.segment >= first && of.segment < last; });
  }

  /// Terms by the first layer of which they are: there the last of their sums has its flow.
  std::vector<std::vector<Index>> terms_by_layer() const {
    constexpr Index none = std::numeric_limits<Index>::max();
    std::vector<Index> first(plan_.terms.size(), none);
    for (std::size_t l = 0; l < plan_.layers.size(); ++l) {
      auto const& [kind, begin, end] = plan_.layers[l];
      if (kind != NodeKind::sum) continue;
      for (auto i = plan_.segment_offsets[static_cast<std::size_t>(begin)];
           i < plan_.segment_offsets[static_cast<std::size_t>(end)]; ++i) {
        auto& of_term = first[static_cast<std::size_t>(plan_.segments[static_cast<std::size_t>(i)].term)];
        of_term = std::min(of_term, static_cast<Index>(l));
      }
    }
    std::vector<std::vector<Index>> result(plan_.layers.size());
    for (std::size_t t = 0; t < first.size(); ++t)
      if (first[t] != none) result[static_cast<std::size_t>(first[t])].push_back(static_cast<Index>(t));
    return result;
  }

  /// A row that gets a flow, and where from.
  struct Part {
    Index row, source;
  };

  std::vector<Part> flows_of_terms(std::vector<Index> const& terms) {
    std::vector<Part> parts;
    Index next = 0;
    for (Index t : terms) {
      auto const& of = term(t);
      auto const writes = [&](Offset f) { return flow_.writes[static_cast<std::size_t>(f)] != 0; };
      bool is_apart = false;
      for (auto f = of.factors_begin; f < of.factors_end; ++f) {
        if (writes(f)) continue;
        is_apart = true;
        for (Index i = 0; i < of.size; ++i) parts.push_back({factor(f).row + i * factor(f).step, -1 - (next + i)});
      }
      if (!is_apart) continue;
      flow_.own_rows[static_cast<std::size_t>(t)] = next;
      next += of.size;
    }
    flow_.num_own_rows = std::max(flow_.num_own_rows, next);
    return parts;
  }

  std::vector<Part> flows_of_products(Layer const& layer) const {
    std::vector<Part> parts;
    for (Index p = layer.begin; p < layer.end; ++p)
      for_each_factor(plan_.product_tiles[static_cast<std::size_t>(p)], [&](Index row, Index product) {
        parts.push_back({row, product});
      });
    return parts;
  }

  void plan_gathers(std::vector<Part> parts) {
    std::ranges::stable_sort(parts, {}, &Part::row);
    for (std::size_t i = 0; i < parts.size();) {
      Index const row = parts[i].row;
      auto const begin = std::ssize(flow_.sources);
      for (; i < parts.size() && parts[i].row == row; ++i) flow_.sources.push_back(parts[i].source);
      flow_.gathers.push_back({row, !has_flow_[static_cast<std::size_t>(row)], begin, std::ssize(flow_.sources)});
      has_flow_[static_cast<std::size_t>(row)] = true;
    }
  }

  /// Tiles of inputs with the same parameters, which lie in the same place of their vectors.
  void plan_inputs() {
    flow_.num_statistics = plan_.num_categorical;
    std::map<std::tuple<bool, Offset, Index>, std::vector<Index>> tiles;  // by parameters and first node
    for (std::size_t i = 0; i < plan_.input_tiles.size(); ++i) {
      auto const& [tile, distributions, first] = plan_.input_tiles[i];
      auto const& input = plan_.inputs[static_cast<std::size_t>(distributions)];
      if (!is_indicator(input.kind))
        tiles[{input.kind != InputKind::categorical, input.parameter, first}].push_back(static_cast<Index>(i));
    }
    Offset statistics = 0, weights = 0;
    for (auto const& [key, uses] : tiles) {
      auto const& [tile, distributions, first] = plan_.input_tiles[static_cast<std::size_t>(uses.front())];
      auto const& input = plan_.inputs[static_cast<std::size_t>(distributions)];
      if (first == 0) {
        statistics = input.parameter;
        weights = flow_.num_input_nodes;
        flow_.num_input_nodes += input.size;
        if (input.kind != InputKind::categorical) {
          statistics = flow_.num_statistics;
          flow_.num_statistics += Offset{input.size} * num_statistics(input.kind, input.num_categories);
        }
      }
      auto const begin = std::ssize(flow_.input_uses);
      flow_.input_uses.insert(flow_.input_uses.end(), uses.begin(), uses.end());
      flow_.input_statistics.push_back({distributions, first, plan_.tiles[static_cast<std::size_t>(tile)].size,
                                        statistics, weights, begin, std::ssize(flow_.input_uses)});
    }
  }

  HostPlan const& plan_;
  HostFlowPlan flow_;
  std::vector<std::uint8_t> uses_;  ///< [rows] 0, 1, or 2 of more
  std::vector<bool> has_flow_;      ///< [rows] of those that are gathered
};

}  // namespace

HostFlowPlan make_flow_plan(HostPlan const& plan) { return FlowPlanner(plan).plan(); }

}  // namespace hornbill::circuit
