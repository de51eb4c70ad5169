#include <algorithm>
#include <chrono>
#include <functional>
#include <limits>
#include <map>
#include <numeric>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <hornbill/circuit/host_plan.hpp>
#include <hornbill/circuit/properties.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace {

constexpr Offset most = std::numeric_limits<Index>::max();

/// Numbers things by an Index.
Index numbered(std::size_t size, char const* what) {
  if (static_cast<Offset>(size) > most)
    throw CapacityError(fmt::format("the circuit needs more than {} {}", most, what));
  return static_cast<Index>(size);
}

class Planner {
 public:
  Planner(Circuit const& circuit, PlanOptions const& options) : circuit_(circuit), options_(options) {}

  HostPlan plan() && {
    auto const start = std::chrono::steady_clock::now();
    plan_.num_variables = circuit_.num_variables;
    plan_.num_nodes = circuit_.num_nodes();
    plan_.num_sum_parameters = circuit_.num_sum_parameters;
    plan_.num_input_parameters = circuit_.num_input_parameters;
    plan_.matrix_units = options_.matrix_units;
    plan_.planes = options_.planes;
    plan_.variable_categories = variable_categories(circuit_, "the circuit");
    choose_stored();
    place_rows();
    find_depths();
    plan_inputs();
    plan_layers();
    for (auto const& layer : plan_.layers)
      if (layer.kind == NodeKind::sum) group_sums(layer);
    plan_.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    return std::move(plan_);
  }

 private:
  NodeVector const& vector(Index v) const { return circuit_.vectors[static_cast<std::size_t>(v)]; }
  Index vector_of_factor(Factor const& factor) const { return circuit_.vector_of(circuit_.factor_of(factor, 0)); }
  Index row_of(Index node) const { return plan_.row_of_node[static_cast<std::size_t>(node)]; }

  /// A product is formed where it is used, if only sums use it, and its factors are few and in a row.
  void choose_stored() {
    is_stored_.assign(circuit_.vectors.size(), true);
    for (Index v = 0; v + 1 < circuit_.num_vectors(); ++v) {
      if (vector(v).kind != NodeKind::product) continue;
      auto const factors = circuit_.factors_of(vector(v));
      is_stored_[static_cast<std::size_t>(v)] =
          std::ssize(factors) > options_.max_fused_factors ||
          std::ranges::any_of(factors, [](Factor const& f) { return f.list >= 0; });
    }
    for (auto const& parent : circuit_.vectors)
      if (parent.kind == NodeKind::product)
        for (auto const& factor : circuit_.factors_of(parent))
          is_stored_[static_cast<std::size_t>(vector_of_factor(factor))] = true;
  }

  /// Stored vectors in their order, tile by tile.
  void place_rows() {
    plan_.row_of_node.assign(static_cast<std::size_t>(circuit_.num_nodes()), -1);
    first_tile_.assign(circuit_.vectors.size(), -1);
    for (Index v = 0; v < circuit_.num_vectors(); ++v) {
      if (!is_stored_[static_cast<std::size_t>(v)]) continue;
      auto const& nodes = vector(v);
      first_tile_[static_cast<std::size_t>(v)] = numbered(plan_.tiles.size(), "tiles");
      for (Index i = 0; i < nodes.size; i += tile_size) {
        Index const size = std::min(tile_size, nodes.size - i);
        plan_.tile_of_row.insert(plan_.tile_of_row.end(), static_cast<std::size_t>(size),
                                 numbered(plan_.tiles.size(), "tiles"));
        plan_.tiles.push_back({plan_.num_rows + i, size});
      }
      std::iota(plan_.row_of_node.begin() + nodes.first, plan_.row_of_node.begin() + nodes.first + nodes.size,
                plan_.num_rows);
      plan_.num_rows += nodes.size;
    }
  }

  /// Of stored vectors, by stored vectors below them; of others the same of their deepest factor.
  void find_depths() {
    for (std::size_t v = 0; v < circuit_.vectors.size(); ++v) {
      auto const& nodes = circuit_.vectors[v];
      Index depth = 0;
      auto const see = [&](Index child) {
        depth = std::max(depth, depth_[static_cast<std::size_t>(child)] + (is_stored_[v] ? 1 : 0));
      };
      if (nodes.kind == NodeKind::product)
        for (auto const& factor : circuit_.factors_of(nodes)) see(vector_of_factor(factor));
      if (nodes.kind == NodeKind::sum)
        for (auto const& block : circuit_.blocks_of(nodes)) see(circuit_.vector_of(block.child));
      depth_.push_back(depth);
    }
  }

  void plan_inputs() {
    for (Index v = 0; v < circuit_.num_vectors(); ++v) {
      auto const& nodes = vector(v);
      if (nodes.kind != NodeKind::input) continue;
      auto const& input = circuit_.input_of(nodes);
      Offset const place = num_parameters(input.kind, input.num_categories) > 0 ? place_of_parameters(nodes, input) : 0;
      auto const distributions = numbered(plan_.inputs.size(), "inputs");
      plan_.inputs.push_back(
          {input.kind, input.variable, input.num_categories, input.first_value, nodes.size, place, input.min_scale});
      for (Index i = 0, tile = first_tile_[static_cast<std::size_t>(v)]; i < nodes.size; i += tile_size, ++tile)
        plan_.input_tiles.push_back({tile, distributions, i});
    }
  }

  /// Where the device keeps them; tied vectors have one place.
  Offset place_of_parameters(NodeVector const& nodes, InputDistributions const& input) {
    bool const is_categorical = input.kind == InputKind::categorical;
    auto& count = is_categorical ? plan_.num_categorical : plan_.num_scalars;
    auto const [known, is_new] = place_of_.try_emplace(input.parameter, count);
    if (is_new) {
      Index const each = num_parameters(input.kind, input.num_categories);
      plan_.input_parameters.push_back({is_categorical, input.parameter, count, nodes.size, each});
      count += Offset{nodes.size} * each;
    }
    return known->second;
  }

  /// Products and sums by depth.
  void plan_layers() {
    std::vector<Index> order;
    for (Index v = 0; v < circuit_.num_vectors(); ++v)
      if (is_stored_[static_cast<std::size_t>(v)] && vector(v).kind != NodeKind::input) order.push_back(v);
    auto const rank = [&](Index v) { return std::pair(depth_[static_cast<std::size_t>(v)], vector(v).kind); };
    std::ranges::stable_sort(order, {}, rank);
    terms_.resize(circuit_.vectors.size());
    plan_.segment_offsets.push_back(0);
    for (std::size_t i = 0; i < order.size(); ++i) {
      auto const kind = vector(order[i]).kind;
      auto const count = [&] {
        return numbered(kind == NodeKind::sum ? plan_.sum_tiles.size() : plan_.product_tiles.size(), "tiles");
      };
      if (i == 0 || rank(order[i]) != rank(order[i - 1])) plan_.layers.push_back({kind, count(), 0});
      if (kind == NodeKind::sum)
        plan_sums(order[i]);
      else
        plan_products(order[i]);
      plan_.layers.back().end = count();
    }
  }

  void plan_products(Index v) {
    auto const begin = std::ssize(plan_.row_factors);
    for (auto const& factor : circuit_.factors_of(vector(v))) {
      plan_.row_factors.push_back({row_of(circuit_.factor_of(factor, 0)), factor.step, -1});
      if (factor.list < 0) continue;
      plan_.row_factors.back().list = std::ssize(plan_.factor_rows);
      for (Index i = 0; i < vector(v).size; ++i) plan_.factor_rows.push_back(row_of(circuit_.factor_of(factor, i)));
    }
    for (Index i = 0, tile = first_tile_[static_cast<std::size_t>(v)]; i < vector(v).size; i += tile_size, ++tile)
      plan_.product_tiles.push_back({tile, i, begin, std::ssize(plan_.row_factors)});
  }

  void plan_sums(Index v) {
    auto const& nodes = vector(v);
    auto const of_tiles = blocks_by_tile(nodes);
    for (std::size_t t = 0; t < of_tiles.size(); ++t) {
      Index const tile = first_tile_[static_cast<std::size_t>(v)] + static_cast<Index>(t);
      auto const begin = plan_.segments.size();
      for (auto const* block : of_tiles[t])
        add_segments(*block, nodes.first + static_cast<Index>(t) * tile_size,
                     plan_.tiles[static_cast<std::size_t>(tile)].size);
      std::stable_sort(plan_.segments.begin() + static_cast<std::ptrdiff_t>(begin), plan_.segments.end(),
                       [](Segment const& a, Segment const& b) { return a.term < b.term; });
      plan_.sum_tiles.push_back(tile);
      plan_.segment_offsets.push_back(std::ssize(plan_.segments));
    }
  }

  /// Divides sum tiles of a layer by their numbers of terms. Those with most come first, as they take longest.
  void group_sums(Layer const& layer) {
    std::vector<Offset> fan_ins;
    for (Index s = layer.begin; s < layer.end; ++s) fan_ins.push_back(terms_of_tile(s));
    auto const groups = group_by_fan_in(fan_ins, options_.groups);
    auto const group_of = [&](Index s) { return groups.group_of(fan_ins[static_cast<std::size_t>(s - layer.begin)]); };
    std::vector<Index> order(fan_ins.size());
    std::iota(order.begin(), order.end(), layer.begin);
    std::ranges::stable_sort(order, std::greater(), group_of);
    for (std::size_t i = 0; i < order.size(); ++i) {
      Index const place = layer.begin + static_cast<Index>(i);
      if (i == 0 || group_of(order[i]) != group_of(order[i - 1])) plan_.groups.push_back({place, 0, 0, 0, 0});
      auto& group = plan_.groups.back();
      auto const terms = fan_ins[static_cast<std::size_t>(order[i] - layer.begin)];
      group.end = place + 1;
      group.fan_in = std::max(group.fan_in, static_cast<Index>(terms));
      group.terms += terms;
      for (auto const& segment : segments_of(order[i])) group.edges += Offset{segment.rows} * segment.columns;
    }
    if (!std::ranges::is_sorted(order)) reorder_sums(layer, order);
  }

  std::span<Segment const> segments_of(Index sum_tile) const {
    auto const begin = plan_.segment_offsets[static_cast<std::size_t>(sum_tile)];
    auto const end = plan_.segment_offsets[static_cast<std::size_t>(sum_tile) + 1];
    return std::span(plan_.segments).subspan(static_cast<std::size_t>(begin), static_cast<std::size_t>(end - begin));
  }

  Offset terms_of_tile(Index sum_tile) const {
    Offset count = 0;
    Index last = -1;
    for (auto const& segment : segments_of(sum_tile))
      if (std::exchange(last, segment.term) != segment.term) ++count;
    return count;
  }

  void reorder_sums(Layer const& layer, std::vector<Index> const& order) {
    auto const begin = static_cast<std::size_t>(layer.begin);
    auto const first = plan_.segment_offsets[begin];
    std::vector<Index> tiles;
    std::vector<Offset> counts;
    std::vector<Segment> segments;
    for (Index s : order) {
      tiles.push_back(plan_.sum_tiles[static_cast<std::size_t>(s)]);
      auto const of_tile = segments_of(s);
      counts.push_back(std::ssize(of_tile));
      segments.insert(segments.end(), of_tile.begin(), of_tile.end());
    }
    for (std::size_t i = 0; i < order.size(); ++i)
      plan_.segment_offsets[begin + i + 1] = plan_.segment_offsets[begin + i] + counts[i];
    std::ranges::copy(tiles, plan_.sum_tiles.begin() + layer.begin);
    std::ranges::copy(segments, plan_.segments.begin() + first);
  }

  /// Blocks of a sum vector that have edges from nodes of each tile.
  std::vector<std::vector<EdgeBlock const*>> blocks_by_tile(NodeVector const& nodes) const {
    std::vector<std::vector<EdgeBlock const*>> result((static_cast<std::size_t>(nodes.size) + tile_size - 1) /
                                                      tile_size);
    for (auto const& block : circuit_.blocks_of(nodes)) {
      auto const first = static_cast<std::size_t>((block.sum - nodes.first) / tile_size);
      auto const last = static_cast<std::size_t>((block.sum - nodes.first + block.rows - 1) / tile_size);
      for (auto t = first; t <= last; ++t) result[t].push_back(&block);
    }
    return result;
  }

  /// Edges of a block from some of a vector's nodes.
  void add_segments(EdgeBlock const& block, Index first, Index size) {
    Index const begin = std::max(block.sum, first), end = std::min(block.sum + block.rows, first + size);
    Index const child = circuit_.vector_of(block.child);
    auto const first_column = block.child - vector(child).first;
    auto const [first_of_child, end_of_child] = terms_of(child);
    auto const behind = std::upper_bound(first_node_of_term_.begin() + first_of_child,
                                         first_node_of_term_.begin() + end_of_child, first_column);
    auto term = static_cast<Index>(behind - first_node_of_term_.begin()) - 1;
    Index term_begin = first_node_of_term_[static_cast<std::size_t>(term)];
    for (Index column = first_column; column < first_column + block.columns; ++term) {
      Index const term_end = term_begin + plan_.terms[static_cast<std::size_t>(term)].size;
      Index const count = std::min(term_end, first_column + block.columns) - column;
      plan_.segments.push_back({term, block.columns,
                                block.parameter + Offset{begin - block.sum} * block.columns + (column - first_column),
                                static_cast<std::uint8_t>(begin - first), static_cast<std::uint8_t>(end - begin),
                                static_cast<std::uint8_t>(column - term_begin), static_cast<std::uint8_t>(count)});
      column += count;
      term_begin = term_end;
    }
  }

  /// Makes a vector's terms, once.   \return the first, and the one behind the last
  std::pair<Index, Index> terms_of(Index v) {
    auto& known = terms_[static_cast<std::size_t>(v)];
    if (known.second > 0) return known;
    known.first = numbered(plan_.terms.size(), "terms");
    auto const& nodes = vector(v);
    std::vector<Factor> factors{{nodes.first, 1, -1}};
    if (!is_stored_[static_cast<std::size_t>(v)]) {
      auto const own = circuit_.factors_of(nodes);
      factors.assign(own.begin(), own.end());
    }
    for (Index i = 0; i < nodes.size;) {
      Index size = std::min(tile_size, nodes.size - i);
      auto const begin = std::ssize(plan_.term_factors);
      for (auto const& factor : factors) {
        Index const row = row_of(factor.child) + i * factor.step,
                    tile = plan_.tile_of_row[static_cast<std::size_t>(row)];
        auto const& [first_row, rows] = plan_.tiles[static_cast<std::size_t>(tile)];
        if (factor.step == 1) size = std::min(size, first_row + rows - row);
        plan_.term_factors.push_back({tile, row, factor.step});
      }
      plan_.terms.push_back({begin, std::ssize(plan_.term_factors), size});
      first_node_of_term_.push_back(i);
      i += size;
    }
    known.second = numbered(plan_.terms.size(), "terms");
    return known;
  }

  Circuit const& circuit_;
  PlanOptions const& options_;
  HostPlan plan_;
  std::vector<bool> is_stored_;                 ///< [vectors]
  std::map<Offset, Offset> place_of_;           ///< of parameters of inputs, on the device
  std::vector<Index> first_tile_, depth_;       ///< [vectors]
  std::vector<std::pair<Index, Index>> terms_;  ///< [vectors]; 0 and 0 where there are none yet
  std::vector<Index> first_node_of_term_;       ///< [terms], within its vector
};

}  // namespace

HostPlan make_plan(Circuit const& circuit, PlanOptions const& options) { return Planner(circuit, options).plan(); }

namespace {

/// Calls function(host's place, device's place) for all parameters, in the order of the device.
template <class Function>
void for_each_parameter(InputParameters const& of, Function const& function) {
  Index const outer = of.is_categorical ? of.each : of.nodes, inner = of.is_categorical ? of.nodes : of.each;
  for (Index a = 0; a < outer; ++a)
    for (Index b = 0; b < inner; ++b) {
      Index const i = of.is_categorical ? b : a, p = of.is_categorical ? a : b;
      function(static_cast<std::size_t>(of.on_host(i, p)), static_cast<std::size_t>(of.on_device(i, p)));
    }
}

}  // namespace

DeviceOrder to_device_order(HostPlan const& plan, std::vector<double> const& input) {
  DeviceOrder result{std::vector<double>(static_cast<std::size_t>(plan.num_categorical)),
                     std::vector<double>(static_cast<std::size_t>(plan.num_scalars))};
  for (auto const& of : plan.input_parameters) {
    auto& list = of.is_categorical ? result.categorical : result.scalars;
    for_each_parameter(of, [&](std::size_t host, std::size_t device) { list[device] = input[host]; });
  }
  return result;
}

std::vector<double> from_device_order(HostPlan const& plan, DeviceOrder const& parameters) {
  std::vector<double> result(static_cast<std::size_t>(plan.num_input_parameters));
  for (auto const& of : plan.input_parameters) {
    auto const& list = of.is_categorical ? parameters.categorical : parameters.scalars;
    for_each_parameter(of, [&](std::size_t host, std::size_t device) { result[host] = list[device]; });
  }
  return result;
}

}  // namespace hornbill::circuit
