#include <hornbill/elim/order.hpp>

#include <algorithm>
#include <optional>
#include <random>
#include <set>
#include <tuple>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "depth_first.hpp"
#include "primal_graph.hpp"

namespace hornbill::elim {
namespace {

double score(PrimalGraph& graph, Index v, Heuristic heuristic) {
  switch (heuristic) {
    case Heuristic::min_fill: return graph.fill(v);
    case Heuristic::min_weight: return graph.cells(v);
    default: return static_cast<double>(graph.neighbours(v).size());
  }
}

/// What elimination in an order comes to that was given up: no table may have so many cells.
struct TooLarge {
  Index variable = -1;
  int width = 0;
  double cells = 0;
};

bool is_too_large(PrimalGraph const& graph, Index v, double most_cells, TooLarge& too_large) {
  double const cells = graph.table_cells(v);
  if (cells <= most_cells) return false;
  if (too_large.variable < 0 || cells < too_large.cells) too_large = {v, static_cast<int>(graph.neighbours(v).size()), cells};  // of several orders the mildest
  return true;
}

[[noreturn]] void fail(TooLarge const& too_large, double most_cells, std::string const& which) {
  throw CapacityError(fmt::format("elimination is too wide: in {} a variable ({}) has {} neighbours when its turn comes, and the table over these {:.3g} cells; {:.3g} are possible", which, too_large.variable,
                                  too_large.width, too_large.cells, most_cells));
}

/// Greedily, always the variable of the least score; none where a table would be larger than it may be.
std::vector<Index> greedy(PrimalGraph graph, Index num_variables, Heuristic heuristic, std::uint64_t seed, double most_cells, TooLarge& too_large) {
  std::mt19937_64 random(seed);
  std::vector<std::tuple<double, std::uint64_t, Index>> key;
  for (Index v = 0; v < num_variables; ++v) key.emplace_back(score(graph, v, heuristic), random(), v);
  std::set<std::tuple<double, std::uint64_t, Index>> left(key.begin(), key.end());
  std::vector<Index> order;
  while (!left.empty()) {
    auto const [least, tie, v] = *left.begin();
    left.erase(left.begin());
    order.push_back(v);
    if (heuristic == Heuristic::degree) continue;
    if (heuristic != Heuristic::min_width && is_too_large(graph, v, most_cells, too_large)) return {};
    auto const around = graph.neighbours(v);
    std::set<Index> changed(around.begin(), around.end());
    graph.eliminate(v, heuristic != Heuristic::min_width);
    if (heuristic == Heuristic::min_fill && least > 0)  // also of those next to a new edge's both ends
      for (Index w : around) changed.insert(graph.neighbours(w).begin(), graph.neighbours(w).end());
    for (Index w : changed) {
      left.erase(key[w]);
      auto& of_w = std::get<double>(key[w]);
      // Where no edge was added, w has lost just the pairs of v and those that were not v's neighbours: told without looking at a hub's others.
      if (heuristic == Heuristic::min_fill && least == 0) of_w -= static_cast<double>(graph.neighbours(w).size() + 1 - around.size());
      else of_w = score(graph, w, heuristic);
      left.insert(key[w]);
    }
  }
  return order;
}

/// What an order costs; nothing where a table would be larger than it may be.
std::optional<Order> measure(PrimalGraph graph, std::vector<Index> variables, double most_cells, TooLarge& too_large) {
  Order order;
  for (Index v : variables) {
    if (is_too_large(graph, v, most_cells, too_large)) return std::nullopt;
    order.width = std::max(order.width, static_cast<int>(graph.neighbours(v).size()));
    double const cells = graph.cells(v);
    order.total_cells += cells;
    if (cells > order.largest_cells) {
      order.largest_cells = cells;
      order.widest = v;
    }
    graph.eliminate(v);
  }
  order.variables = std::move(variables);
  return order;
}

}  // namespace

Order make_order(std::span<Index const> cardinality, std::vector<std::span<Index const>> const& scopes, OrderOptions const& options) {
  if (options.tries < 1) throw InputError(fmt::format("{} tries make no elimination order", options.tries));
  PrimalGraph const graph(cardinality, scopes);
  auto const num_variables = static_cast<Index>(cardinality.size());
  std::mt19937_64 seeds(options.seed);
  std::optional<Order> best;
  TooLarge too_large;
  for (int i = 0; i < options.tries; ++i) {
    auto variables = options.heuristic == Heuristic::depth_first ? depth_first_order(graph, num_variables, seeds()) : greedy(graph, num_variables, options.heuristic, seeds(), options.most_cells, too_large);
    if (variables.size() != cardinality.size()) continue;
    auto order = measure(graph, std::move(variables), options.most_cells, too_large);
    if (order && (!best || order->total_cells < best->total_cells)) best = std::move(order);
  }
  if (!best) fail(too_large, options.most_cells, options.tries == 1 ? "the order that was tried" : fmt::format("the mildest of {} orders that were tried", options.tries));
  return *best;
}

Order measure_order(std::span<Index const> cardinality, std::vector<std::span<Index const>> const& scopes, std::vector<Index> variables, double most_cells) {
  std::vector<bool> seen(cardinality.size());
  for (Index v : variables) {
    if (v < 0 || static_cast<std::size_t>(v) >= seen.size()) throw InputError(fmt::format("the elimination order has the variable {}; variables are 0 to {}", v, std::ssize(seen) - 1));
    if (seen[v]) throw InputError(fmt::format("the elimination order has the variable {} twice", v));
    seen[v] = true;
  }
  if (variables.size() != seen.size())
    throw InputError(fmt::format("the elimination order lacks the variable {}", std::find(seen.begin(), seen.end(), false) - seen.begin()));
  TooLarge too_large;
  auto const order = measure(PrimalGraph(cardinality, scopes), std::move(variables), most_cells, too_large);
  if (!order) fail(too_large, most_cells, "this order");
  return *order;
}

}  // namespace hornbill::elim
