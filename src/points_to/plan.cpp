#include <hornbill/points_to/plan.hpp>

#include <algorithm>
#include <chrono>
#include <functional>
#include <numeric>

#include <hornbill/detail/huge_pages.hpp>

#include "hybrid_cycles.hpp"
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
  bool const have_periods = std::ranges::any_of(system.object_periods, [](Index period) { return period > 0; });
  auto const& places = system.bytes_to_end.empty() ? system.object_sizes : system.bytes_to_end;
  Index const largest = have_periods ? largest_offset + 1 : places.empty() ? 0 : std::ranges::max(places);
  auto constraints = hornbill::detail::vector_with_room<Constraint>(system.constraints.size());
  for (auto c : system.constraints) {
    bool const is_offset = c.kind == ConstraintKind::offset || c.kind == ConstraintKind::function_offset;
    if (is_offset && c.offset >= largest) continue;
    if (c.kind == ConstraintKind::offset && c.offset == 0 && zero_copies) c.kind = ConstraintKind::copy;
    constraints.push_back(c);
  }
  return constraints;
}

/// The first variable of those with a label; -1 of those without targets.   \shape [num_variables]
std::vector<Index> representatives(Labels const& labels, PlanReport& report) {
  auto const num_variables = labels.of_variable.size();
  std::vector<Index> representative(num_variables, -1);
  LabelMap first_of_label;
  Index num_nodes = 0, num_labels = 0;
  for (std::size_t v = 0; v < num_variables; ++v) {
    auto const label = labels.of_variable[v];
    if (label == no_targets) {
      ++report.without_targets;
      continue;
    }
    auto& first = first_of_label(label);
    if (first == LabelMap::none) {
      first = static_cast<std::uint32_t>(v);
      ++num_labels;
    }
    representative[v] = static_cast<Index>(first);
    if (labels.node_of[v] == static_cast<Index>(v))
      ++num_nodes;
    else
      ++report.merged_by_cycles;
  }
  report.merged_by_numbering = num_nodes - num_labels;
  return representative;
}

/// Sorts by a number below a bound, in time linear in both; equal ones stay in their order.
template <class Key>
void sort_by(std::vector<Constraint>& constraints, Index bound, Key const& key) {
  hornbill::detail::HugePageVector<Index> next(static_cast<std::size_t>(bound) + 1);
  for (auto const& c : constraints) ++next[key(c) + 1];
  std::partial_sum(next.begin(), next.end(), next.begin());
  auto sorted = hornbill::detail::vector_with_room<Constraint>(constraints.size());
  sorted.resize(constraints.size());
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
  sort_by(constraints, static_cast<Index>(representative.size()), [](Constraint const& c) { return c.source; });
  sort_by(constraints, static_cast<Index>(num_constraint_kinds),
          [](Constraint const& c) { return static_cast<Index>(c.kind); });
  for (auto begin = constraints.begin(), end = begin; begin != constraints.end(); begin = end) {
    end = std::find_if(begin, constraints.end(),
                       [&](Constraint const& c) { return c.kind != begin->kind || c.source != begin->source; });
    std::sort(begin, end, [](Constraint const& a, Constraint const& b) {
      return std::pair(a.destination, a.offset) < std::pair(b.destination, b.offset);
    });
  }
  constraints.erase(std::unique(constraints.begin(), constraints.end()), constraints.end());
  return constraints;
}

}  // namespace

HostPlan detail::make_plan(ConstraintSystem const& system, PlanOptions const& options,
                           std::function<Labels(std::vector<Constraint> const&)> const& label) {
  auto const start = std::chrono::steady_clock::now();
  validate(system, "constraints");
  HostPlan plan;
  plan.num_variables = system.num_variables;
  plan.object_sizes = system.object_sizes;
  plan.bytes_to_end = system.bytes_to_end;
  plan.object_periods = system.object_periods;
  plan.is_function = system.is_function;
  plan.outside = system.outside;
  plan.first_field = first_fields(system);
  auto constraints = simplified(system);
  plan.representative = representatives(label(constraints), plan.report);
  plan.constraints = reduced(std::move(constraints), plan.representative);
  if (options.hybrid_cycles) plan.hybrid_cycles = find_hybrid_cycles(plan);
  plan.report.constraints_left = static_cast<Offset>(plan.constraints.size());
  plan.report.hybrid_cycles = static_cast<Offset>(plan.hybrid_cycles.size());
  plan.report.elapsed_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  return plan;
}

HostPlan make_plan(ConstraintSystem const& system, PlanOptions const& options) {
  return detail::make_plan(system, options, [&](std::vector<Constraint> const& constraints) {
    return detail::label_variables(system, constraints, options);
  });
}

}  // namespace hornbill::points_to
