#include "dereferences.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/points_to/solution.hpp>

namespace hornbill::points_to {
namespace {

Index pointer_of(Constraint const& c) { return c.kind == ConstraintKind::store ? c.destination : c.source; }
bool is_dereference(Constraint const& c) {
  return c.kind != ConstraintKind::address_of && c.kind != ConstraintKind::copy;
}

/// The constraints by pointer, in their order, with where those of each pointer begin.
std::vector<Index> sort_by_pointer(HostPlan const& plan, std::vector<Constraint>& sorted) {
  std::vector<Index> begins(static_cast<std::size_t>(plan.num_variables) + 1);
  for (auto const& c : plan.constraints)
    if (is_dereference(c)) ++begins[pointer_of(c) + 1];
  for (std::size_t v = 1; v < begins.size(); ++v) begins[v] += begins[v - 1];
  sorted.resize(static_cast<std::size_t>(begins.back()));
  auto next = begins;
  for (auto const& c : plan.constraints)
    if (is_dereference(c)) sorted[next[pointer_of(c)]++] = c;
  return begins;
}

}  // namespace

Dereferences dereferences_of(HostPlan const& plan) {
  Dereferences dereferences;
  auto const begins = sort_by_pointer(plan, dereferences.constraints);
  auto cycles = plan.hybrid_cycles;
  std::ranges::sort(cycles);
  auto cycle = cycles.begin();
  for (Index pointer = 0; pointer < plan.num_variables; ++pointer) {
    if (begins[pointer] == begins[pointer + 1]) continue;
    while (cycle != cycles.end() && cycle->first < pointer) ++cycle;
    bool const has_cycle = cycle != cycles.end() && cycle->first == pointer;
    dereferences.list.push_back({pointer, begins[pointer], begins[pointer + 1], has_cycle ? cycle->second : -1});
  }
  return dereferences;
}

void require_part_of(Solution const& earlier, HostPlan const& plan) {
  if (earlier.set_of_variable.size() > static_cast<std::size_t>(plan.num_variables))
    throw InputError(fmt::format("the earlier solution has {} variables; there are {}", earlier.set_of_variable.size(),
                                 plan.num_variables));
  for (Index s = 0; s < earlier.num_sets(); ++s)
    if (auto const objects = earlier.objects_of_set(s); !objects.empty() && objects.back() >= plan.num_objects())
      throw InputError(fmt::format("the earlier solution has object {}; objects are 0 to {}", objects.back(),
                                   plan.num_objects() - 1));
}

}  // namespace hornbill::points_to
