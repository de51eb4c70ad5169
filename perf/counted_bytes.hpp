// Bytes that an iteration must move, kernel by kernel: what it reads and writes, each entry once a batch. And its
// launches.
#pragma once

#include <algorithm>
#include <bit>
#include <cstddef>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json.hpp>

#include <hornbill/hornbill.hpp>

namespace hornbill::perf {

template <class T>
std::size_t bytes_of(std::vector<T> const& list) {
  return list.size() * sizeof(T);
}

/// Bytes and launches of an iteration by kernel: what describes tasks, and tables, once, all else for each evidence
/// set.
template <class Value>
class CountedBytes {
 public:
  CountedBytes(HostFactorGraph const& graph, bp::HostPlan const& plan)
      : graph_(graph),
        plan_(plan),
        value_(sizeof(Value) * plan.sets),
        sum_(sizeof(bp::detail::Accumulator<Value>) * plan.sets),
        node_(sizeof(bp::detail::Node<Value>) * plan.sets),
        seen_(graph.num_variables, -1) {
    for (Index v = 0; v < graph.num_variables; ++v) slots_ += entries(v);
    for (Index v : graph.factor_variables) messages_ += entries(v);
    bool const selected = plan.mode == bp::Mode::selected;
    if (plan.mode == bp::Mode::simultaneous || selected) count_messages(0);
    if (selected) count_selection();
    if (plan.mode == bp::Mode::simultaneous || selected) count_sums();
    if (plan.mode == bp::Mode::sequential) add("run_sequence", bytes_of_sequence());
    for (auto const& segment : plan.segments) {
      stretch_ = segment.mode == bp::Segment::Mode::stretch;
      if (stretch_) ++launches_["run_stretch"];
      for (Offset b = segment.first; b < segment.last; ++b) {
        count_messages(b);
        count_commits(b);
      }
    }
    stretch_ = false;
    add("beliefs", (sum_ + 2 * value_) * slots_);
    count_acceleration(bp::Acceleration{}.window);
  }
  nlohmann::json bytes() const { return bytes_; }
  nlohmann::json launches() const { return launches_; }

 private:
  static constexpr std::size_t parameters = sizeof(bp::detail::HornParameters<Value>);

  void add(std::string const& kernel, std::size_t bytes) {
    bytes_[stretch_ ? "run_stretch" : kernel] += bytes;
    if (!stretch_) ++launches_[kernel];
  }
  /// Whether a variable is new since restart().
  bool is_new(Index v) { return std::exchange(seen_[v], round_) != round_; }
  /// Entries of a variable, and of a message to it: one if it is binary, else one for each state.
  std::size_t entries(Index v) const { return graph_.states(v) == 2 ? 1 : static_cast<std::size_t>(graph_.states(v)); }
  void restart() { ++round_; }

  void count_messages(Offset b) {
    auto const begin = plan_.offsets[b], end = plan_.offsets[b + 1];
    if (begin.warps != end.warps) add("narrow_to_variable", bytes_of_lanes(begin, end));
    if (begin.wide != end.wide) add("wide_to_variable", bytes_of_wide(begin, end));
    if (plan_.lanes.empty() && begin.chunks != end.chunks) add("factor_to_variable", bytes_of_chunks(begin, end));
    if (begin.tables != end.tables) add("table_to_variable", bytes_of_tables(begin, end));
  }
  std::size_t bytes_of_tables(bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
    std::size_t bytes = 0;
    restart();
    for (Index t = begin.tables; t < end.tables; ++t) {
      bytes += bytes_of_table(plan_.tables[t]);
      for (Index v : graph_.variables_of(plan_.tables[t].factor)) bytes += is_new(v) ? sum_ * entries(v) : 0;
    }
    return bytes;
  }
  /// The table, its messages, and weights and totals of its variables' states, plain numbers that are written and read
  /// again; not its variables' sums.
  std::size_t bytes_of_table(bp::TableTask const& task) const {
    std::size_t bytes = sizeof(task) + sizeof(Value) * graph_.table_of(task.factor).size();
    for (Index v : graph_.variables_of(task.factor))
      bytes += 4 * sizeof(Index) + value_ * (entries(v) + 4 * static_cast<std::size_t>(graph_.states(v)));
    for (Index i = task.first; i < task.last; ++i)
      bytes += sizeof(Index) + value_ * entries(graph_.factor_variables[plan_.table_edges[i]]);
    return bytes;
  }
  std::size_t bytes_of_lanes(bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
    std::size_t bytes = 0;
    restart();
    for (Index i = begin.warps * bp::warp_size; i < end.warps * bp::warp_size; ++i) {
      auto const& lane = plan_.lanes[i];
      bytes += sizeof(bp::Lane);
      if (!lane.is(bp::Lane::valid)) continue;
      bytes += value_ * (1 + lane.is(bp::Lane::wanted)) + (lane.is(bp::Lane::head) ? parameters : 0) +
               (is_new(lane.variable) ? sum_ : 0);
    }
    return bytes;
  }
  std::size_t bytes_of_members(bp::Chunk const& chunk) {
    std::size_t bytes = sizeof(bp::Chunk);
    for (Index i = 0; i < chunk.count; ++i)
      bytes += sizeof(Index) + value_ * (1 + (chunk.wanted >> i & 1u)) +
               (is_new(graph_.factor_variables[chunk.first_edge + i]) ? sum_ : 0);
    return bytes;
  }
  std::size_t bytes_of_wide(bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
    std::size_t bytes = 0;
    restart();
    for (Index w = begin.wide; w < end.wide; ++w) {
      auto const& task = plan_.wide[w];
      bytes += sizeof(task) + parameters + 2 * node_ * static_cast<std::size_t>(task.last_part - task.first_part);
      for (Index part = task.first_part; part < task.last_part; ++part) bytes += bytes_of_members(plan_.parts[part]);
      for (Index i = task.first_chunk; i < task.last_chunk && !plan_.lanes.empty(); ++i)
        bytes += plan_.max_parts > bp::warp_size ? bytes_of_members(plan_.chunks[i])
                                                 : sizeof(bp::Chunk) + value_ * std::popcount(plan_.chunks[i].wanted);
    }
    return bytes;
  }
  std::size_t bytes_of_chunks(bp::BatchOffsets const& begin, bp::BatchOffsets const& end) {
    std::size_t bytes = 0;
    restart();
    for (Index i = begin.chunks; i < end.chunks; ++i) bytes += parameters + bytes_of_members(plan_.chunks[i]);
    return bytes;
  }

  /// Each variable's sum once, though it is read for each edge: caches are to keep it.
  std::size_t bytes_of_sequence() const {
    std::size_t tables = 0, edges_of_tables = 0;
    for (auto const& task : plan_.tables) {
      tables += bytes_of_table(task);
      edges_of_tables += graph_.variables_of(task.factor).size();
    }
    auto const edges_of_clauses = static_cast<std::size_t>(graph_.num_edges()) - edges_of_tables;
    return bytes_of(plan_.sequence) + bytes_of(plan_.chunks) + bytes_of(plan_.parts) + bytes_of(plan_.wide) +
           (sizeof(Index) + 2 * value_) * edges_of_clauses + tables + 2 * sum_ * slots_ +
           parameters * graph_.factor_type.size() + 2 * node_ * static_cast<std::size_t>(plan_.num_nodes);
  }

  /// Pending and old message read, message written, and the variable's sum read and written.
  void count_commits(Offset b) {
    auto const begin = plan_.offsets[b], end = plan_.offsets[b + 1];
    if (begin.warps != end.warps) {
      std::size_t bytes = 0;
      restart();
      for (Index i = begin.warps * bp::warp_size; i < end.warps * bp::warp_size; ++i)
        bytes +=
            sizeof(bp::Lane) + (plan_.lanes[i].is(bp::Lane::wanted) ? bytes_of_commit(plan_.lanes[i].variable) : 0);
      add("commit_lanes", bytes);
    }
    count_pending(begin.edges, end.edges);
  }
  void count_pending(Index first, Index last) {
    if (first == last) return;
    std::size_t bytes = 0;
    restart();
    for (Index i = first; i < last; ++i)
      bytes += 2 * sizeof(Index) + bytes_of_commit(graph_.factor_variables[plan_.edges[i]]);
    add("commit_pending", bytes);
  }
  std::size_t bytes_of_commit(Index v) { return entries(v) * (3 * value_ + (is_new(v) ? 2 * sum_ : 0)); }

  /// RESIDUAL: residuals of what is pending, of which a share takes its place; at a judgement they are looked at again.
  void count_selection() {
    auto const edges = static_cast<std::size_t>(graph_.num_edges());
    std::size_t const residuals = sizeof(float) * messages_;
    add("measure_residuals", sizeof(Index) * edges + 2 * value_ * messages_ + sum_ * slots_ + residuals);
    add("choose_threshold", 2 * sizeof(Index) * bp::detail::num_bins);
    add("commit_selected",
        (plan_.selection.randomised ? 0 : residuals) +
            static_cast<std::size_t>(plan_.selection.share *
                                     static_cast<double>((sizeof(Index) * edges + 3 * value_ * messages_))));
    add("residuals", residuals);
  }

  void count_sums() {
    auto const edges =
        static_cast<std::size_t>(std::count_if(graph_.factor_variables.begin(), graph_.factor_variables.end(),
                                               [&](Index v) { return graph_.states(v) == 2; }));
    std::size_t in_long = 0, listed = 0;  // edges; those that Row names by variable_edges
    for (auto const& row : plan_.long_rows) in_long += static_cast<std::size_t>(row.count);
    for (auto const* rows : {&plan_.medium_rows, &plan_.large_rows})
      for (auto const& row : *rows) listed += static_cast<std::size_t>(row.count);
    auto const parts = static_cast<std::size_t>(plan_.num_part_sums),
               in_rows = plan_.small_rows.size() + plan_.medium_rows.size() + plan_.large_rows.size();
    add("sum_rows", bytes_of(plan_.small_rows) + bytes_of(plan_.medium_rows) + bytes_of(plan_.large_rows) +
                        sizeof(Index) * listed + value_ * (edges - in_long) + 2 * sum_ * in_rows);
    std::size_t const of_long = bytes_of(plan_.long_rows) + (sizeof(Index) + value_) * in_long +
                                2 * sum_ * (plan_.long_rows.size() - parts) + sum_ * parts;
    bytes_["sum_rows"] += of_long;  // no launch of their own
    if (!plan_.hubs.empty()) add("sum_hubs", bytes_of(plan_.hubs) + sum_ * parts + 2 * sum_ * plan_.hubs.size());
    if (!graph_.cardinality.empty()) count_states();
  }
  void count_states() {
    std::size_t bytes = 0;
    for (Index v : graph_.factor_variables)
      if (graph_.states(v) != 2) bytes += sizeof(Index) + value_ * entries(v);
    for (Index v = 0; v < graph_.num_variables; ++v)
      if (graph_.states(v) != 2) bytes += 2 * sum_ * entries(v);
    add("sum_states", bytes);
  }
  /// Of a whole cycle.
  void count_acceleration(std::size_t window) {
    auto const edges = static_cast<std::size_t>(graph_.num_edges()), number = sizeof(float) * plan_.sets;
    add("begin_window", sizeof(Index) * edges + value_ * slots_ + (2 * value_ + number) * messages_);
    for (std::size_t i = 0; i < window; ++i) add("keep_changes", (3 * value_ + number) * messages_);
    add("sum_products", (window + 1) * number * messages_);
    add("move_messages", ((window - 1) * number + 2 * value_) * messages_);
  }

  HostFactorGraph const& graph_;
  bp::HostPlan const& plan_;
  std::size_t const value_, sum_, node_;
  std::vector<Index> seen_;
  std::size_t slots_ = 0, messages_ = 0;
  Index round_ = -1;
  bool stretch_ = false;
  std::map<std::string, std::size_t> bytes_, launches_;
};

}  // namespace hornbill::perf
