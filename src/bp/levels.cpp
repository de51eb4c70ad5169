// Levels of total and partial orders: the division of a schedule into batches.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hornbill/bp/schedule.hpp>
#include <hornbill/error.hpp>

namespace hornbill::bp {
namespace {

/// The two largest levels seen, of distinct factors, so that "the largest of another factor" is one comparison.
class TopTwo {
 public:
  void add(Index level, Index factor) {
    if (factor == first_factor_) {
      first_ = std::max(first_, level);
    } else if (level > first_) {
      second_ = std::exchange(first_, level);
      first_factor_ = factor;
    } else {
      second_ = std::max(second_, level);
    }
  }
  Index largest_except(Index factor) const { return factor == first_factor_ ? second_ : first_; }

 private:
  Index first_ = -1, second_ = -1, first_factor_ = -1;
};

/// Levels of one total order, a run of edges of one factor at a time: such edges neither read nor overwrite each other,
/// so a run costs time linear in its length and its factor's degree.
class OrderLevels {
 public:
  explicit OrderLevels(HostFactorGraph const& graph)
      : graph_(graph), written_(graph.num_variables), read_(graph.num_variables), level_(graph.factor_variables.size(), -1) {}

  void add_run(Index factor, std::span<Offset const> run) {
    auto const variables = graph_.variables_of(factor);
    Offset const first_edge = graph_.factor_offsets[factor];
    TopTwo inputs;  // by position in the factor: the update at position j does not read variable j
    for (std::size_t i = 0; i < variables.size(); ++i)
      inputs.add(written_[variables[i]].largest_except(factor), static_cast<Index>(i));
    TopTwo outputs;
    for (Offset e : run) {
      auto const j = static_cast<Index>(e - first_edge);
      level_[e] = std::max(1 + inputs.largest_except(j), std::max(read_[variables[j]].largest_except(factor), Index{0}));
      outputs.add(level_[e], j);
    }
    for (Offset e : run) written_[graph_.factor_variables[e]].add(level_[e], factor);
    for (std::size_t i = 0; i < variables.size(); ++i)
      if (Index const last_read = outputs.largest_except(static_cast<Index>(i)); last_read >= 0)
        read_[variables[i]].add(last_read, factor);
  }

  std::vector<Index> take() && { return std::move(level_); }

 private:
  HostFactorGraph const& graph_;
  std::vector<TopTwo> written_, read_;  // [V]
  std::vector<Index> level_;            // [E]
};

/// Lists of direct predecessors in CSR form.
struct Predecessors {
  std::vector<Offset> offsets, edges;
};

Predecessors group_by(std::vector<Offset> const& keys, std::vector<Offset> const& values, std::size_t num_keys) {
  Predecessors result{std::vector<Offset>(num_keys + 1, 0), std::vector<Offset>(values.size())};
  for (Offset k : keys) ++result.offsets[k + 1];
  for (std::size_t k = 0; k < num_keys; ++k) result.offsets[k + 1] += result.offsets[k];
  auto next = result.offsets;
  for (std::size_t i = 0; i < keys.size(); ++i) result.edges[next[keys[i]]++] = values[i];
  return result;
}

std::vector<Offset> sort_topologically(std::size_t num_edges, std::vector<Offset> const& before,
                                       std::vector<Offset> const& after, std::string const& source) {
  auto const successors = group_by(before, after, num_edges);
  std::vector<Offset> waiting(num_edges, 0), sorted;
  for (Offset e : after) ++waiting[e];
  for (std::size_t e = 0; e < num_edges; ++e)
    if (waiting[e] == 0) sorted.push_back(static_cast<Offset>(e));
  for (std::size_t i = 0; i < sorted.size(); ++i)
    for (Offset s = successors.offsets[sorted[i]]; s < successors.offsets[sorted[i] + 1]; ++s)
      if (--waiting[successors.edges[s]] == 0) sorted.push_back(successors.edges[s]);
  if (sorted.size() == num_edges) return sorted;

  // Every edge still waiting has a predecessor still waiting: going back from one for long enough ends on a cycle.
  auto const predecessors = group_by(after, before, num_edges);
  auto waiting_predecessor = [&](Offset e) {
    auto const first = predecessors.edges.begin() + predecessors.offsets[e];
    return *std::find_if(first, predecessors.edges.begin() + predecessors.offsets[e + 1], [&](Offset p) { return waiting[p] > 0; });
  };
  Offset e = std::find_if(waiting.begin(), waiting.end(), [](Offset w) { return w > 0; }) - waiting.begin();
  for (std::size_t step = 0; step < num_edges; ++step) e = waiting_predecessor(e);
  Offset const p = waiting_predecessor(e);
  std::size_t pair = 0;
  while (before[pair] != p || after[pair] != e) ++pair;
  throw InputError(source, "before",
                   fmt::format("entry {} (edge {} before edge {}) lies on a cycle; a strict partial order has none", pair, p, e));
}

}  // namespace

std::vector<Index> levels_of_order(HostFactorGraph const& graph, std::vector<Offset> const& order) {
  auto const factor_of_edge = factors_of_edges(graph);
  OrderLevels levels(graph);
  for (std::size_t begin = 0; begin < order.size();) {
    Index const factor = factor_of_edge[order[begin]];
    std::size_t end = begin + 1;
    while (end < order.size() && factor_of_edge[order[end]] == factor) ++end;
    levels.add_run(factor, std::span(order).subspan(begin, end - begin));
    begin = end;
  }
  return std::move(levels).take();
}

std::vector<Index> levels_of_partial_order(HostFactorGraph const& graph, std::vector<Offset> const& before,
                                           std::vector<Offset> const& after, std::string const& source) {
  std::size_t const num_edges = graph.factor_variables.size();
  auto const sorted = sort_topologically(num_edges, before, after, source);
  auto const predecessors = group_by(after, before, num_edges);
  auto const factor_of_edge = factors_of_edges(graph);
  std::vector<Index> level(num_edges, 0);
  std::vector<Index> above(num_edges, -1);      // largest level among all that precede an edge: bounds the search
  std::vector<Offset> reader(graph.num_variables, -1);  // reader[v] = e: update e reads the values written to v
  std::vector<Offset> visited(num_edges, -1), stack;
  for (Offset e : sorted) {
    Index const factor = factor_of_edge[e];
    for (Index v : graph.variables_of(factor)) reader[v] = e;
    reader[graph.factor_variables[e]] = -1;
    Index largest = -1;  // level of what e must read anew
    stack.assign(1, e);
    while (!stack.empty()) {
      Offset const at = stack.back();
      stack.pop_back();
      for (Offset i = predecessors.offsets[at]; i < predecessors.offsets[at + 1]; ++i) {
        Offset const p = predecessors.edges[i];
        if (at == e) above[e] = std::max({above[e], level[p], above[p]});
        if (std::exchange(visited[p], e) == e) continue;
        if (factor_of_edge[p] != factor && reader[graph.factor_variables[p]] == e) largest = std::max(largest, level[p]);
        if (above[p] > largest) stack.push_back(p);
      }
    }
    level[e] = largest + 1;
  }
  return level;
}

}  // namespace hornbill::bp
