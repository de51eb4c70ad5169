#include <hornbill/bp/detail/task_layout.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <span>

#include <fmt/format.h>

#include <hornbill/bp/detail/odds_tree.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::bp::detail {
namespace {

using bp::chunk_size;

template <class T>
Index size_of(std::vector<T> const& list) {
  if (list.size() > static_cast<std::size_t>(std::numeric_limits<Index>::max()))
    throw CapacityError(
        fmt::format("a plan of {} tasks is more than the 2^31 - 1 that a device can hold", list.size()));
  return static_cast<Index>(list.size());
}

/// Adds tasks to a plan, factor by factor.
class Layouter {
 public:
  Layouter(HostFactorGraph const& graph, bp::HostPlan& plan)
      : graph_(graph), plan_(plan), wide_(graph.factor_type.size(), -1) {}

  /// The edges of one factor that are updated together; ascending.
  void add(Index factor, std::span<Offset const> edges) {
    if (is_table(graph_.factor_type[factor])) return add_table(factor, edges);
    if (degree(factor) > chunk_size) return add_wide(factor, edges);
    plan_.chunks.push_back(make_chunk(factor, first_edge(factor), -1));
    for (Offset e : edges) want(plan_.chunks.back(), e);
  }

 private:
  Offset first_edge(Index factor) const { return graph_.factor_offsets[factor]; }
  Offset degree(Index factor) const { return graph_.factor_offsets[factor + 1] - first_edge(factor); }

  bp::Chunk make_chunk(Index factor, Offset first, Index node) const {
    bp::Chunk chunk{};
    chunk.factor = factor;
    chunk.first_edge = static_cast<Index>(first);
    chunk.node = node;
    chunk.count = static_cast<std::uint8_t>(std::min<Offset>(chunk_size, graph_.factor_offsets[factor + 1] - first));
    chunk.head = first == first_edge(factor);
    chunk.disjunction = is_complemented(graph_.factor_type[factor]);
    chunk.ordinary = are_ordinary(graph_.p1[factor], graph_.p2[factor]);
    return chunk;
  }
  static void want(bp::Chunk& chunk, Offset edge) { chunk.wanted |= 1u << (edge - chunk.first_edge); }

  void add_table(Index factor, std::span<Offset const> edges) {
    Index const first = size_of(plan_.table_edges);
    for (Offset e : edges) plan_.table_edges.push_back(static_cast<Index>(e));
    plan_.tables.push_back({factor, first, size_of(plan_.table_edges)});
  }

  void add_wide(Index factor, std::span<Offset const> edges) {
    bp::WideTask task = with_parts(factor);
    task.head_wanted = edges.front() == first_edge(factor);
    task.first_chunk = size_of(plan_.chunks);
    for (Offset e : edges.subspan(task.head_wanted)) {
      auto const block = static_cast<Index>((e - first_edge(factor)) / chunk_size);
      Index const node = task.first_node + block;
      if (size_of(plan_.chunks) == task.first_chunk || plan_.chunks.back().node != node)
        plan_.chunks.push_back(make_chunk(factor, first_edge(factor) + Offset{block} * chunk_size, node));
      want(plan_.chunks.back(), e);
    }
    task.last_chunk = size_of(plan_.chunks);
    plan_.wide.push_back(task);
  }

  /// A factor's parts and nodes are made when it is first met, and shared by all its tasks.
  bp::WideTask with_parts(Index factor) {
    if (wide_[factor] >= 0) return plan_.wide[wide_[factor]];
    wide_[factor] = size_of(plan_.wide);
    bp::WideTask task{};
    task.factor = factor;
    task.first_edge = static_cast<Index>(first_edge(factor));
    task.degree = static_cast<Index>(degree(factor));
    task.head_variable = graph_.factor_variables[first_edge(factor)];
    task.disjunction = is_complemented(graph_.factor_type[factor]);
    task.first_node = plan_.num_nodes;
    task.first_part = size_of(plan_.parts);
    for (Offset at = 0; at < degree(factor); at += chunk_size)
      plan_.parts.push_back(
          make_chunk(factor, first_edge(factor) + at, task.first_node + static_cast<Index>(at / chunk_size)));
    task.last_part = size_of(plan_.parts);
    plan_.num_nodes += NodeLevels(task.first_node, static_cast<Index>(degree(factor))).total();
    plan_.max_parts = std::max(plan_.max_parts, task.last_part - task.first_part);
    return task;
  }

  HostFactorGraph const& graph_;
  bp::HostPlan& plan_;
  std::vector<Index> wide_;  // the first task of each wide factor
};

/// Calls add() for each run of edges of one factor.
template <class Add>
void for_each_run(std::vector<Index> const& factor_of_edge, std::span<Offset const> edges, Add&& add) {
  std::vector<Offset> run;
  for (std::size_t begin = 0; begin < edges.size();) {
    Index const factor = factor_of_edge[edges[begin]];
    std::size_t end = begin + 1;
    while (end < edges.size() && factor_of_edge[edges[end]] == factor) ++end;
    run.assign(edges.begin() + begin, edges.begin() + end);
    std::sort(run.begin(), run.end());
    add(factor, std::span<Offset const>(run));
    begin = end;
  }
}

/// Packs narrow factors into warps: into each the largest that is left, and what still fits beside it.
class LanePacker {
 public:
  LanePacker(HostFactorGraph const& graph, std::vector<bp::Lane>& lanes) : graph_(graph), lanes_(lanes) {}

  void pack(std::span<bp::Chunk const> chunks) {
    for (auto const& chunk : chunks) of_size_[chunk.count].push_back(&chunk);
    std::array<std::size_t, chunk_size + 1> next{};
    for (int size = chunk_size; size > 0;) {
      if (next[size] == of_size_[size].size()) {
        --size;
        continue;
      }
      int const levels = std::bit_width(static_cast<unsigned>(size - 1));
      int free = bp::warp_size;
      for (int fitting = size; fitting > 0;) {
        if (fitting > free || next[fitting] == of_size_[fitting].size()) {
          --fitting;
          continue;
        }
        add(*of_size_[fitting][next[fitting]++], levels);
        free -= fitting;
      }
      for (; free > 0; --free) lanes_.push_back({0, 0, 0, bp::Lane::pack_levels(levels)});
    }
    for (auto& list : of_size_) list.clear();
  }

 private:
  void add(bp::Chunk const& chunk, int levels) {
    using bp::Lane;
    std::uint32_t const all = Lane::valid | Lane::pack_levels(levels) | (chunk.disjunction ? Lane::disjunction : 0) |
                              (chunk.ordinary ? Lane::ordinary : 0);
    for (int i = 0; i < chunk.count; ++i) {
      Index const edge = chunk.first_edge + i;
      std::uint32_t const own = (chunk.wanted >> i & 1u ? Lane::wanted : 0) | (i == 0 ? Lane::head : 0);
      lanes_.push_back({edge, graph_.factor_variables[edge], chunk.factor, all | own | Lane::pack(i, chunk.count)});
    }
  }

  HostFactorGraph const& graph_;
  std::vector<bp::Lane>& lanes_;
  std::array<std::vector<bp::Chunk const*>, chunk_size + 1> of_size_;
};

/// Tasks of batches, as chunks.
class BatchLayouter {
 public:
  BatchLayouter(HostFactorGraph const& graph, bool lanes, bp::HostPlan& plan)
      : lanes_(lanes),
        plan_(plan),
        factor_of_edge_(factors_of_edges(graph)),
        layouter_(graph, plan),
        packer_(graph, plan.lanes) {
    plan.offsets = {{}};
  }
  void add(std::span<Offset const> edges) {
    auto const first = plan_.offsets.back();
    for_each_run(factor_of_edge_, edges, [&](Index factor, auto run) { layouter_.add(factor, run); });
    if (lanes_) {
      pack_narrow(first);
      add_edges_without_lane(first);
    } else {
      plan_.edges.insert(plan_.edges.end(), edges.begin(), edges.end());
    }
    plan_.offsets.push_back({size_of(plan_.wide), size_of(plan_.chunks), size_of(plan_.lanes) / bp::warp_size,
                             size_of(plan_.tables), size_of(plan_.edges)});
  }

 private:
  /// Chunks of narrow factors become lanes; those of wide ones stay, and move up.
  void pack_narrow(bp::BatchOffsets const& first) {
    auto const begin = plan_.chunks.begin() + first.chunks;
    auto const narrow =
        std::stable_partition(begin, plan_.chunks.end(), [](auto const& chunk) { return chunk.node >= 0; });
    packer_.pack({narrow, plan_.chunks.end()});
    plan_.chunks.erase(narrow, plan_.chunks.end());
    Index at = first.chunks;  // in the order of their factors' tasks
    for (Index w = first.wide; w < size_of(plan_.wide); ++w) {
      auto& task = plan_.wide[w];
      Index const count = task.last_chunk - task.first_chunk;
      task.first_chunk = at;
      task.last_chunk = at += count;
    }
  }
  /// What is left to commit where lanes commit their own messages.
  void add_edges_without_lane(bp::BatchOffsets const& first) {
    auto& edges = plan_.edges;
    for (Index w = first.wide; w < size_of(plan_.wide); ++w)
      if (plan_.wide[w].head_wanted) edges.push_back(plan_.wide[w].first_edge);
    for (Index c = first.chunks; c < size_of(plan_.chunks); ++c)
      for (Index i = 0; i < plan_.chunks[c].count; ++i)
        if (plan_.chunks[c].wanted >> i & 1u) edges.push_back(plan_.chunks[c].first_edge + i);
    for (Index t = first.tables; t < size_of(plan_.tables); ++t)
      edges.insert(edges.end(), plan_.table_edges.begin() + plan_.tables[t].first,
                   plan_.table_edges.begin() + plan_.tables[t].last);
  }

  bool lanes_;
  bp::HostPlan& plan_;
  std::vector<Index> factor_of_edge_;
  Layouter layouter_;
  LanePacker packer_;
};

}  // namespace

void lay_out_batches(HostFactorGraph const& graph, bp::Batches const& batches, bool lanes, bp::HostPlan& plan) {
  BatchLayouter layouter(graph, lanes, plan);
  for (Offset b = 0; b < batches.num_batches(); ++b)
    layouter.add(std::span(batches.edges).subspan(batches.offsets[b], batches.offsets[b + 1] - batches.offsets[b]));
}

void lay_out_sequence(HostFactorGraph const& graph, std::vector<Offset> const& order, bp::HostPlan& plan) {
  using Kind = bp::Step::Kind;
  Layouter layouter(graph, plan);
  for_each_run(factors_of_edges(graph), order, [&](Index factor, auto run) {
    Index const chunk = size_of(plan.chunks), wide = size_of(plan.wide), table = size_of(plan.tables);
    layouter.add(factor, run);
    plan.sequence.push_back(size_of(plan.wide) > wide      ? bp::Step{Kind::wide, wide}
                            : size_of(plan.tables) > table ? bp::Step{Kind::table, table}
                                                           : bp::Step{Kind::chunk, chunk});
  });
}

bp::HostPlan lay_out_by_factor(HostFactorGraph const& graph, std::vector<Offset> edges) {
  bp::HostPlan plan;
  plan.mode = bp::Mode::sequential;
  std::sort(edges.begin(), edges.end());
  lay_out_sequence(graph, edges, plan);
  auto const factor_of_edge = factors_of_edges(graph);
  std::vector<Index> steps(graph.factor_type.size(), -1);
  Index next = 0;
  for (Offset e : edges)
    if (Index& step = steps[factor_of_edge[e]]; step < 0) step = next++;
  for (Offset e : edges_of_variables(graph).edges) plan.readers.push_back(steps[factor_of_edge[e]]);
  return plan;
}

void lay_out_rows(HostFactorGraph const& graph, bp::HostPlan& plan) {
  auto const of = edges_of_variables(graph);
  std::vector<bp::Row> parts;
  for (Index v = 0; v < graph.num_variables; ++v) {
    auto const first = static_cast<Index>(of.offsets[v]), count = static_cast<Index>(of.offsets[v + 1] - of.offsets[v]);
    if (graph.states(v) != 2) continue;
    if (count <= bp::small_row) {
      bp::SmallRow row{v, {-1, -1, -1}};
      for (Index i = 0; i < count; ++i) row.edge[i] = static_cast<Index>(of.edges[first + i]);
      plan.small_rows.push_back(row);
    } else if (count <= bp::medium_row) {
      plan.medium_rows.push_back({v, first, count});
    } else if (count <= bp::large_row) {
      plan.large_rows.push_back({v, first, count});
    } else if (count <= bp::long_row) {
      plan.long_rows.push_back({v, first, count});
    } else {
      Index const first_part = size_of(parts);
      for (Index at = 0; at < count; at += bp::long_row)
        parts.push_back({size_of(parts), first + at, std::min(bp::long_row, count - at)});
      plan.hubs.push_back({v, first_part, size_of(parts) - first_part});
    }
  }
  plan.num_part_sums = size_of(parts);
  plan.long_rows.insert(plan.long_rows.begin(), parts.begin(), parts.end());
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

}  // namespace hornbill::bp::detail
