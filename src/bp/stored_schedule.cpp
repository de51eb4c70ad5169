// Whether a stored schedule fits its graph: what readers of models ask, without the rest of propagation.
#include <optional>
#include <utility>

#include <fmt/format.h>

#include <hornbill/bp/schedule.hpp>
#include <hornbill/error.hpp>

namespace hornbill::bp {
namespace {

void require_edge_ids(std::vector<Offset> const& edges, Offset num_edges, std::string const& source,
                      char const* dataset) {
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (edges[i] < 0 || edges[i] >= num_edges)
      throw InputError(source, dataset,
                       fmt::format("entry {} is edge {}, but edges are 0 to {}", i, edges[i], num_edges - 1));
}

void require_distinct(std::vector<Offset> const& edges, Offset num_edges, std::string const& source) {
  std::vector<char> seen(num_edges, 0);
  for (std::size_t i = 0; i < edges.size(); ++i)
    if (std::exchange(seen[edges[i]], 1))
      throw InputError(source, "edges", fmt::format("entry {}: edge {} is there twice", i, edges[i]));
}

void require_batch_offsets(StoredSchedule const& schedule, std::string const& source) {
  auto const& offsets = schedule.batch_offsets;
  if (offsets.empty() || offsets.front() != 0) throw InputError(source, "batch_offsets", "must begin with 0");
  for (std::size_t b = 0; b + 1 < offsets.size(); ++b)
    if (offsets[b + 1] < offsets[b])
      throw InputError(source, "batch_offsets",
                       fmt::format("entry {} decreases ({} -> {})", b + 1, offsets[b], offsets[b + 1]));
  if (offsets.back() != static_cast<Offset>(schedule.edges.size()))
    throw InputError(source, "batch_offsets",
                     fmt::format("entry {} is {}, but there are {} edges", offsets.size() - 1, offsets.back(),
                                 schedule.edges.size()));
}

/// A partial order has no cycle, and batches that come with one respect it.
void require_order_respected(StoredSchedule const& schedule, HostFactorGraph const& graph, std::string const& source) {
  std::vector<Offset> batch_of(graph.factor_variables.size(), -1);
  if (schedule.kind == ScheduleKind::batches)
    for (std::size_t b = 0; b + 1 < schedule.batch_offsets.size(); ++b)
      for (Offset i = schedule.batch_offsets[b]; i < schedule.batch_offsets[b + 1]; ++i)
        batch_of[schedule.edges[i]] = static_cast<Offset>(b);
  auto const violation = find_order_violation(graph, schedule.before, schedule.after, batch_of, source);
  if (!violation) return;
  auto const [before, after] = *violation;
  throw InputError(
      source, "batch_offsets",
      fmt::format(
          "batch {} violates the order: by before/after, edge {} precedes edge {}{}, but their batches are {} and {}",
          batch_of[after], before, after, batch_of[before] == batch_of[after] ? ", which reads it" : "",
          batch_of[before], batch_of[after]));
}

}  // namespace

void validate(StoredSchedule const& schedule, HostFactorGraph const& graph, std::string const& source) {
  Offset const num_edges = graph.num_edges();
  require_edge_ids(schedule.edges, num_edges, source, "edges");
  require_edge_ids(schedule.before, num_edges, source, "before");
  require_edge_ids(schedule.after, num_edges, source, "after");
  if (schedule.before.size() != schedule.after.size())
    throw InputError(source, "after",
                     fmt::format("{} entries, but `before` has {}", schedule.after.size(), schedule.before.size()));
  require_distinct(schedule.edges, num_edges, source);
  if (schedule.kind == ScheduleKind::batches) require_batch_offsets(schedule, source);
  if (!schedule.before.empty()) require_order_respected(schedule, graph, source);
}

}  // namespace hornbill::bp
