#include <hornbill/bp/schedule.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::bp {
namespace {

template <class... Cases>
struct Overload : Cases... {
  using Cases::operator()...;
};
template <class... Cases>
Overload(Cases...) -> Overload<Cases...>;

std::vector<Offset> all_edges(HostFactorGraph const& graph) {
  std::vector<Offset> edges(graph.factor_variables.size());
  std::iota(edges.begin(), edges.end(), Offset{0});
  return edges;
}

Batches one_batch(HostFactorGraph const& graph, Updates updates) {
  Batches one;
  one.edges = all_edges(graph);
  one.offsets = {0, graph.num_edges()};
  one.updates = updates;
  return one;
}

/// Groups edges by level; a counting sort, so ascending within a batch.
Batches group_by_level(std::vector<Index> const& level) {
  Batches batches;
  Index const highest = level.empty() ? -1 : *std::max_element(level.begin(), level.end());
  batches.offsets.assign(highest + 2, 0);
  for (Index l : level)
    if (l >= 0) ++batches.offsets[l + 1];
  std::partial_sum(batches.offsets.begin(), batches.offsets.end(), batches.offsets.begin());
  batches.edges.resize(batches.offsets.back());
  auto next = batches.offsets;
  for (std::size_t e = 0; e < level.size(); ++e)
    if (level[e] >= 0) batches.edges[next[level[e]]++] = static_cast<Offset>(e);
  // a colour may have no bodies
  batches.offsets.erase(std::unique(batches.offsets.begin(), batches.offsets.end()), batches.offsets.end());
  return batches;
}

Batches batches_of_order(HostFactorGraph const& graph, std::vector<Offset> order) {
  auto batches = group_by_level(levels_of_order(graph, order));
  batches.order = std::move(order);
  return batches;
}

Batches batches_of(HostFactorGraph const& graph, StoredSchedule const& schedule) {
  validate(schedule, graph, "schedule");
  switch (schedule.kind) {
    case ScheduleKind::order: return batches_of_order(graph, schedule.edges);
    case ScheduleKind::partial_order:
      return group_by_level(levels_of_partial_order(graph, schedule.before, schedule.after));
    case ScheduleKind::batches: break;
  }
  Batches batches;
  batches.edges = schedule.edges;
  batches.offsets = schedule.batch_offsets;
  for (Offset b = 0; b < batches.num_batches(); ++b)
    std::sort(batches.edges.begin() + batches.offsets[b], batches.edges.begin() + batches.offsets[b + 1]);
  return batches;
}

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

std::pair<std::string_view, Strategy> const built_in[] = {
    {"parall", Parall{}},     {"seqfix", SeqFix{}},
    {"topo", Topo{}},         {"chromatic", Chromatic{}},
    {"seqrnd", SeqRnd{}},     {"seqmax", SeqMax{}},
    {"residual", Residual{}}, {"residual_random", Residual{.share = 0.5, .randomised = true}}};

}  // namespace

std::optional<Strategy> strategy_named(std::string_view name) {
  for (auto const& [known, strategy] : built_in)
    if (name == known) return strategy;
  return std::nullopt;
}

std::vector<std::string_view> strategy_names() {
  std::vector<std::string_view> names;
  for (auto const& [name, strategy] : built_in) names.push_back(name);
  return names;
}

Batches make_batches(HostFactorGraph const& graph, Strategy const& strategy) {
  auto const start = std::chrono::steady_clock::now();
  Batches batches = std::visit(
      Overload{[&](Parall) { return one_batch(graph, Updates::simultaneous); },
               [&](SeqFix const& fixed) {
                 if (fixed.order.empty()) return batches_of_order(graph, all_edges(graph));
                 validate({ScheduleKind::order, fixed.order, {}, {}, {}}, graph, "schedule");
                 return batches_of_order(graph, fixed.order);
               },
               [&](Topo) { return batches_of_order(graph, topological_order(graph)); },
               [&](Chromatic) { return group_by_level(levels_of_colouring(graph, colours_of_factors(graph))); },
               [&](SeqRnd const& random) {
                 auto batches = batches_of_order(graph, random_order(graph, random, 0));
                 batches.reshuffled = random;
                 return batches;
               },
               [&](SeqMax) { return one_batch(graph, Updates::largest_first); },
               [&](Residual const& residual) {
                 if (!(std::isgreater(residual.share, 0) && std::islessequal(residual.share, 1)))
                   throw InputError(fmt::format("the share of RESIDUAL is {}; it must be in (0, 1]", residual.share));
                 auto batches = one_batch(graph, Updates::selected);
                 batches.selection = residual;
                 return batches;
               },
               [&](Custom const& custom) { return batches_of(graph, custom.schedule); }},
      strategy);
  batches.analysis_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return batches;
}

std::vector<Offset> random_order(HostFactorGraph const& graph, SeqRnd const& random, int iteration) {
  std::seed_seq seeds{static_cast<std::uint32_t>(random.seed), static_cast<std::uint32_t>(random.seed >> 32),
                      static_cast<std::uint32_t>(iteration)};
  std::mt19937_64 rng(seeds);
  std::vector<Index> factors(graph.num_factors());
  std::iota(factors.begin(), factors.end(), 0);
  // std::shuffle differs between libraries
  for (std::size_t i = factors.size(); i > 1; --i) std::swap(factors[i - 1], factors[rng() % i]);
  std::vector<Offset> order;
  order.reserve(graph.factor_variables.size());
  for (Index a : factors)
    for (Offset e = graph.factor_offsets[a]; e < graph.factor_offsets[a + 1]; ++e) order.push_back(e);
  return order;
}

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

BatchStatistics statistics(Batches const& batches) {
  BatchStatistics result;
  result.num_batches = batches.num_batches();
  result.num_edges = static_cast<Offset>(batches.edges.size());
  std::vector<Offset> sizes(result.num_batches);
  for (Offset b = 0; b < result.num_batches; ++b) sizes[b] = batches.offsets[b + 1] - batches.offsets[b];
  if (sizes.empty()) return result;
  std::sort(sizes.begin(), sizes.end());
  result.smallest = sizes.front();
  result.median = sizes[sizes.size() / 2];
  result.largest = sizes.back();
  return result;
}

}  // namespace hornbill::bp
