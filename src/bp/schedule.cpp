#include <hornbill/bp/schedule.hpp>

#include <algorithm>
#include <chrono>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/format.h>

#include <hornbill/detail/overload.hpp>
#include <hornbill/error.hpp>

namespace hornbill::bp {
namespace {

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
      hornbill::detail::Overload{
          [&](Parall) { return one_batch(graph, Updates::simultaneous); },
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
