#include <hornbill/points_to/plan.hpp>

#include <algorithm>
#include <chrono>
#include <numeric>

#include "components.hpp"
#include "value_numbering.hpp"

namespace hornbill::points_to {
namespace {

/// Whether an offset of 0 is a copy: null and others of size 0 pass copies alone.
bool offset_zero_copies(ConstraintSystem const& system) {
  return std::ranges::none_of(system.constraints, [&](Constraint const& c) {
    return c.kind == ConstraintKind::address_of && system.object_sizes[c.source] == 0;
  });
}

/// Offsets of 0 as copies where they are, and without offsets that reach no field.
std::vector<Constraint> simplified(ConstraintSystem const& system) {
  bool const zero_copies = offset_zero_copies(system);
  Index const largest = system.object_sizes.empty() ? 0 : std::ranges::max(system.object_sizes);
  std::vector<Constraint> constraints;
  constraints.reserve(system.constraints.size());
  for (auto c : system.constraints) {
    if (c.kind == ConstraintKind::offset && c.offset >= largest) continue;
    if (c.kind == ConstraintKind::offset && c.offset == 0 && zero_copies) c.kind = ConstraintKind::copy;
    constraints.push_back(c);
  }
  return constraints;
}

/// Numbers nodes: cycles of copies, and variables on none.
std::pair<std::vector<Index>, Index> nodes_of(ConstraintSystem const& system,
                                              std::vector<Constraint> const& constraints, bool collapse_cycles) {
  std::vector<Index> node_of(system.num_variables);
  if (!collapse_cycles) {
    std::iota(node_of.begin(), node_of.end(), 0);
    return {node_of, system.num_variables};
  }
  Components components;
  components.find(rows_of(system.num_variables, [&](auto const& add) {
    for (auto const& c : constraints)
      if (c.kind == ConstraintKind::copy) add(c.source, c.destination);
  }));
  for (Index v = 0; v < system.num_variables; ++v) node_of[v] = components[v];
  return {node_of, components.count()};
}

/// The first variable of each node or label.
std::vector<Index> firsts(std::vector<Index> const& node_of, std::vector<Label> const& labels, PlanReport& report) {
  std::vector<Index> representative(node_of.size());
  std::vector<Index> first_of_node(labels.size(), -1);
  LabelMap first_of_label;
  for (std::size_t v = 0; v < node_of.size(); ++v) {
    auto const node = node_of[v];
    if (labels[node] == no_targets) {
      representative[v] = -1;
      ++report.without_targets;
      continue;
    }
    if (first_of_node[node] >= 0) {
      ++report.merged_by_cycles;
    } else {
      auto& first = first_of_label(labels[node]);
      if (first == LabelMap::none)
        first = static_cast<std::uint32_t>(v);
      else
        ++report.merged_by_numbering;
      first_of_node[node] = static_cast<Index>(first);
    }
    representative[v] = first_of_node[node];
  }
  return representative;
}

/// Sorts by a number below a bound, in time linear in both; equal ones stay in their order.
template <class Key>
void sort_by(std::vector<Constraint>& constraints, Index bound, Key const& key) {
  std::vector<Index> next(static_cast<std::size_t>(bound) + 1);
  for (auto const& c : constraints) ++next[key(c) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  std::vector<Constraint> sorted(constraints.size());
  for (auto const& c : constraints) sorted[next[key(c)]++] = c;
  constraints = std::move(sorted);
}

/// The same between representatives, sorted by kind, source, destination and offset, without what says nothing.
std::vector<Constraint> reduced(std::vector<Constraint> constraints, std::vector<Index> const& representative) {
  std::erase_if(constraints, [&](Constraint& c) {
    if (c.kind != ConstraintKind::address_of) c.source = representative[c.source];
    c.destination = representative[c.destination];
    return c.source < 0 || c.destination < 0 || (c.kind == ConstraintKind::copy && c.source == c.destination);
  });
  auto const num_variables = static_cast<Index>(representative.size());
  Index largest = 0;
  for (auto const& c : constraints) largest = std::max(largest, c.offset);
  if (largest > 0) sort_by(constraints, largest + 1, [](Constraint const& c) { return c.offset; });
  sort_by(constraints, num_variables, [](Constraint const& c) { return c.destination; });
  sort_by(constraints, num_variables, [](Constraint const& c) { return c.source; });
  sort_by(constraints, 1 + static_cast<Index>(ConstraintKind::any_offset),
          [](Constraint const& c) { return static_cast<Index>(c.kind); });
  constraints.erase(std::unique(constraints.begin(), constraints.end()), constraints.end());
  return constraints;
}

/// Pointers p with a path of copies from what is loaded through p to what is stored through p: a target's content and
/// that path will be a cycle. A path that passes through other pointers counts only where it passes through p alone.
std::vector<std::pair<Index, Index>> find_hybrid_cycles(HostPlan const& plan) {
  Index const n = plan.num_variables;
  Components components;
  components.find(rows_of(2 * n, [&](auto const& add) {
    for (auto const& c : plan.constraints) {
      if (c.kind == ConstraintKind::copy) add(c.source, c.destination);
      if (c.kind == ConstraintKind::load) add(c.source + n, c.destination);
      if (c.kind == ConstraintKind::store) add(c.source, c.destination + n);
    }
  }));
  std::vector<std::pair<Index, Index>> found;
  auto const order = components.order();
  for (std::size_t begin = 0, end = 0; begin < order.size(); begin = end) {
    while (end < order.size() && components[order[end]] == components[order[begin]]) ++end;
    auto const members = order.subspan(begin, end - begin);
    auto const is_content = [&](Index node) { return node >= n; };
    if (members.size() < 2 || std::ranges::count_if(members, is_content) != 1) continue;
    auto const content = std::ranges::find_if(members, is_content);
    found.emplace_back(*content - n, content == members.begin() ? members[1] : members[0]);
  }
  return found;
}

}  // namespace

HostPlan make_plan(ConstraintSystem const& system, PlanOptions const& options) {
  auto const start = std::chrono::steady_clock::now();
  validate(system, "constraints");
  HostPlan plan;
  plan.num_variables = system.num_variables;
  plan.object_sizes = system.object_sizes;
  plan.first_field = first_fields(system);
  auto constraints = simplified(system);
  auto const [node_of, num_nodes] = nodes_of(system, constraints, options.collapse_cycles);
  std::vector<Label> labels(num_nodes);
  if (options.value_numbering == ValueNumbering::none)
    std::iota(labels.begin(), labels.end(), 1);
  else
    labels = label_nodes(system, constraints, node_of, num_nodes, options.value_numbering);
  plan.representative = firsts(node_of, labels, plan.report);
  plan.constraints = reduced(std::move(constraints), plan.representative);
  if (options.hybrid_cycles) plan.hybrid_cycles = find_hybrid_cycles(plan);
  plan.report.constraints_left = static_cast<Offset>(plan.constraints.size());
  plan.report.hybrid_cycles = static_cast<Offset>(plan.hybrid_cycles.size());
  plan.report.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return plan;
}

}  // namespace hornbill::points_to
