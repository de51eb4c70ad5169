#include <hornbill/detail/bp/task_layout.hpp>

#include <algorithm>
#include <span>

namespace hornbill::detail {
namespace {

using bp::Direction;
using bp::num_kernel_types;

int kernel_type(FactorType factor, Direction direction, bool wide) {
  for (int t = 0; t < num_kernel_types; ++t) {
    auto const& type = bp::kernel_types[t];
    if (type.factor != factor) continue;
    if (factor == FactorType::table || (type.direction == direction && type.wide == wide)) return t;
  }
  return -1;
}

class Layouter {
 public:
  explicit Layouter(HostFactorGraph const& graph) : graph_(graph), partials_of_(2 * graph.factor_type.size(), -1) {}

  /// The edges of one factor that are updated together; ascending.
  void add(Index factor, std::span<Offset const> edges) {
    FactorType const type = graph_.factor_type[factor];
    Offset const head = graph_.factor_offsets[factor], degree = graph_.factor_offsets[factor + 1] - head;
    if (type == FactorType::table) return add_task(factor, Direction::to_body, edges);
    if (static_cast<Offset>(edges.size()) == degree && degree > 1) return add_task(factor, Direction::to_all, {});
    bool const has_head = edges.front() == head;
    if (has_head) add_task(factor, Direction::to_head, {});
    if (edges.size() > (has_head ? 1u : 0u)) add_task(factor, Direction::to_body, edges.subspan(has_head));
  }
  void end_batch() {
    for (auto& list : layout_.lists) list.offsets.push_back(static_cast<Index>(list.factor.size()));
  }
  TaskLayout take() && { return std::move(layout_); }

 private:
  void add_task(Index factor, Direction direction, std::span<Offset const> edges) {
    auto const body = static_cast<Index>(graph_.factor_offsets[factor + 1] - graph_.factor_offsets[factor] - 1);
    bool const is_table = graph_.factor_type[factor] == FactorType::table;
    bool const wide = !is_table && body > bp::narrow_body;
    int const type = kernel_type(graph_.factor_type[factor], direction, wide);
    HostTaskList& list = layout_.lists[type];
    layout_.sequence.task.push_back(static_cast<Index>(list.factor.size()));
    layout_.sequence.type.push_back(type);
    list.factor.push_back(factor);
    if (direction == Direction::to_body) {
      for (Offset e : edges) list.edges.push_back(static_cast<Index>(e));
      list.edge_offsets.push_back(static_cast<Index>(list.edges.size()));
    }
    if (wide) list.workspace.push_back(workspace(factor, direction, body));
  }

  // The task to the head and the task to the body of one factor may run at the same time.
  Index workspace(Index factor, Direction direction, Index body) {
    Index& first = partials_of_[2 * static_cast<std::size_t>(factor) + (direction == Direction::to_head)];
    if (first < 0) {
      first = layout_.num_partials;
      layout_.num_partials += partials_of_body(body);
      layout_.largest_wide_body = std::max(layout_.largest_wide_body, body);
    }
    return first;
  }

  HostFactorGraph const& graph_;
  std::vector<Index> partials_of_;
  TaskLayout layout_;
};

/// Calls add() for each run of edges of one factor.
void add_runs(Layouter& layouter, std::vector<Index> const& factor_of_edge, std::span<Offset const> edges) {
  for (std::size_t begin = 0; begin < edges.size();) {
    Index const factor = factor_of_edge[edges[begin]];
    std::size_t end = begin + 1;
    while (end < edges.size() && factor_of_edge[edges[end]] == factor) ++end;
    std::vector<Offset> run(edges.begin() + begin, edges.begin() + end);
    std::sort(run.begin(), run.end());
    layouter.add(factor, run);
    begin = end;
  }
}

}  // namespace

Index partials_of_body(Index body_size) {
  Index total = 0;
  for (Index count = body_size; count > 1;) {
    count = (count + bp::body_fan_in - 1) / bp::body_fan_in;
    total += count;
  }
  return 2 * total;
}

TaskLayout lay_out_batches(HostFactorGraph const& graph, bp::Batches const& batches) {
  auto const factor_of_edge = factors_of_edges(graph);
  Layouter layouter(graph);
  for (Offset b = 0; b < batches.num_batches(); ++b) {
    add_runs(layouter, factor_of_edge,
             std::span(batches.edges).subspan(batches.offsets[b], batches.offsets[b + 1] - batches.offsets[b]));
    layouter.end_batch();
  }
  return std::move(layouter).take();
}

TaskLayout lay_out_sequence(HostFactorGraph const& graph, std::vector<Offset> const& order) {
  Layouter layouter(graph);
  add_runs(layouter, factors_of_edges(graph), order);
  layouter.end_batch();
  return std::move(layouter).take();
}

std::vector<bp::Segment> make_segments(bp::Batches const& batches, Offset largest_stretch_batch) {
  std::vector<bp::Segment> segments;
  for (Offset b = 0; b < batches.num_batches(); ++b) {
    bool const small = batches.offsets[b + 1] - batches.offsets[b] <= largest_stretch_batch;
    if (small && !segments.empty() && segments.back().mode == bp::Segment::Mode::stretch)
      segments.back().last = b + 1;
    else
      segments.push_back({small ? bp::Segment::Mode::stretch : bp::Segment::Mode::flat, b, b + 1});
  }
  return segments;
}

}  // namespace hornbill::detail
