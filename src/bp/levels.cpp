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
      : graph_(graph),
        written_(graph.num_variables),
        read_(graph.num_variables),
        level_(graph.factor_variables.size(), -1) {}

  void add_run(Index factor, std::span<Offset const> run) {
    auto const variables = graph_.variables_of(factor);
    Offset const first_edge = graph_.factor_offsets[factor];
    TopTwo inputs;  // by position in the factor: the update at position j does not read variable j
    for (std::size_t i = 0; i < variables.size(); ++i)
      inputs.add(written_[variables[i]].largest_except(factor), static_cast<Index>(i));
    TopTwo outputs;
    for (Offset e : run) {
      auto const j = static_cast<Index>(e - first_edge);
      level_[e] =
          std::max(1 + inputs.largest_except(j), std::max(read_[variables[j]].largest_except(factor), Index{0}));
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
    return *std::find_if(first, predecessors.edges.begin() + predecessors.offsets[e + 1],
                         [&](Offset p) { return waiting[p] > 0; });
  };
  Offset e = std::find_if(waiting.begin(), waiting.end(), [](Offset w) { return w > 0; }) - waiting.begin();
  for (std::size_t step = 0; step < num_edges; ++step) e = waiting_predecessor(e);
  Offset const p = waiting_predecessor(e);
  std::size_t pair = 0;
  while (before[pair] != p || after[pair] != e) ++pair;
  throw InputError(
      source, "before",
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

namespace {

/// Walks back from edges along a partial order, and tells which edges an update reads.
class Ancestors {
 public:
  Ancestors(HostFactorGraph const& graph, std::vector<Offset> const& before, std::vector<Offset> const& after)
      : graph_(graph),
        predecessors_(group_by(after, before, graph.factor_variables.size())),
        factor_of_edge_(factors_of_edges(graph)),
        reader_(graph.num_variables, -1),
        visited_(graph.factor_variables.size(), -1) {}

  /// Calls visit(edge, is_read) for all that precedes `e`; goes on beyond an edge where go_on(edge) then holds.
  template <class Visit, class GoOn>
  void visit(Offset e, Visit&& visit, GoOn&& go_on) {
    Index const factor = factor_of_edge_[e];
    for (Index v : graph_.variables_of(factor)) reader_[v] = e;
    reader_[graph_.factor_variables[e]] = -1;
    stack_.assign(1, e);
    while (!stack_.empty()) {
      Offset const at = stack_.back();
      stack_.pop_back();
      for (Offset p : of(at)) {
        if (std::exchange(visited_[p], e) == e) continue;
        visit(p, factor_of_edge_[p] != factor && reader_[graph_.factor_variables[p]] == e);
        if (go_on(p)) stack_.push_back(p);
      }
    }
  }
  /// Direct predecessors.
  std::span<Offset const> of(Offset e) const {
    return std::span(predecessors_.edges)
        .subspan(predecessors_.offsets[e], predecessors_.offsets[e + 1] - predecessors_.offsets[e]);
  }

 private:
  HostFactorGraph const& graph_;
  Predecessors predecessors_;
  std::vector<Index> factor_of_edge_;
  std::vector<Offset> reader_;  // reader_[v] = e: update e reads the values written to v
  std::vector<Offset> visited_, stack_;
};

}  // namespace

std::vector<Index> levels_of_partial_order(HostFactorGraph const& graph, std::vector<Offset> const& before,
                                           std::vector<Offset> const& after, std::string const& source) {
  std::size_t const num_edges = graph.factor_variables.size();
  Ancestors ancestors(graph, before, after);
  std::vector<Index> level(num_edges, 0);
  std::vector<Index> above(num_edges, -1);  // largest level among all that precede an edge: bounds the search
  for (Offset e : sort_topologically(num_edges, before, after, source)) {
    for (Offset p : ancestors.of(e)) above[e] = std::max({above[e], level[p], above[p]});
    Index largest = -1;  // level of what e must read anew
    ancestors.visit(
        e, [&](Offset p, bool is_read) { largest = is_read ? std::max(largest, level[p]) : largest; },
        [&](Offset p) { return above[p] > largest; });
    level[e] = largest + 1;
  }
  return level;
}

std::optional<OrderViolation> find_order_violation(HostFactorGraph const& graph, std::vector<Offset> const& before,
                                                   std::vector<Offset> const& after,
                                                   std::vector<Offset> const& batch_of, std::string const& source) {
  std::size_t const num_edges = graph.factor_variables.size();
  Ancestors ancestors(graph, before, after);
  std::vector<Offset> above(num_edges, -1);  // latest batch among all that precede an edge
  for (Offset e : sort_topologically(num_edges, before, after, source)) {
    for (Offset p : ancestors.of(e)) above[e] = std::max({above[e], batch_of[p], above[p]});
    if (batch_of[e] < 0 || above[e] < batch_of[e]) continue;
    std::optional<OrderViolation> found;
    ancestors.visit(
        e,
        [&](Offset p, bool is_read) {
          if (!found && (batch_of[p] > batch_of[e] || (is_read && batch_of[p] == batch_of[e])))
            found = OrderViolation{p, e};
        },
        [&](Offset p) { return !found && above[p] >= batch_of[e]; });
    if (found) return found;
  }
  return std::nullopt;
}

}  // namespace hornbill::bp
