#include "ranked_facts.hpp"

#include <algorithm>

namespace hornbill::points_to {
namespace {

/// The order of nodes in a round is known where cycles are collapsed.
SolveOptions collapsing(SolveOptions options) {
  options.collapse_cycles = true;
  return options;
}

}  // namespace

RankedFacts::RankedFacts(ConstraintSystem const& system, SolveOptions const& options)
    : system_(system),
      plan_(make_plan(system)),
      fields_(detail::fields_of(plan_)),
      solver_(plan_, collapsing(options)),
      zero_copies_(std::ranges::none_of(system.constraints,
                                        [&](Constraint const& c) {
                                          return c.kind == ConstraintKind::address_of &&
                                                 system.object_sizes[c.source] == 0;
                                        })),
      into_(system, [](Constraint const& c) { return c.kind == ConstraintKind::store ? -1 : c.destination; }),
      copies_from_(system, [&](Constraint const& c) { return is_copy(c) ? c.source : -1; }) {
  solver_.record(rounds_);
  solution_ = solver_.solve();
  members_.resize(rounds_.size());
  for (Offset c = 0; c < system.num_constraints(); ++c)
    if (system.constraints[c].kind == ConstraintKind::store) stores_.push_back(c);
  for (Offset const c : stores_)
    stores_by_targets_[set(num_rounds() - 1, system.constraints[c].destination)].push_back(c);
  auto const for_each_target = [&](auto const& function) {
    for (auto const& [targets, stores] : stores_by_targets_)
      pool().for_each_while(targets, [&, of = &stores](Index object) {
        function(object, of);
        return true;
      });
  };
  store_begins_.resize(static_cast<std::size_t>(system.num_objects()) + 1);
  for_each_target([&](Index object, auto const*) { ++store_begins_[object + 1]; });
  for (std::size_t o = 1; o < store_begins_.size(); ++o) store_begins_[o] += store_begins_[o - 1];
  stores_into_.resize(store_begins_.back());
  auto next = store_begins_;
  for_each_target([&](Index object, auto const* stores) { stores_into_[next[object]++] = stores; });
}

int RankedFacts::round_of(Fact const& fact) const {
  int low = 0, high = num_rounds() - 1;
  while (low < high) {
    int const middle = (low + high) / 2;
    if (has(middle, fact))
      high = middle;
    else
      low = middle + 1;
  }
  return low;
}

std::span<Index const> RankedFacts::members(int round, Index root) {
  auto& [begins, variables] = members_[round];
  auto const& roots = rounds_[round].roots;
  if (begins.empty()) {
    // Hubs are no variables, but may be roots.
    begins.resize(static_cast<std::size_t>(roots.empty() ? 0 : std::ranges::max(roots)) + 2);
    for (Index const r : roots) ++begins[r + 1];
    for (std::size_t r = 1; r < begins.size(); ++r) begins[r] += begins[r - 1];
    variables.resize(roots.size());
    auto next = begins;
    for (std::size_t v = 0; v < roots.size(); ++v) variables[next[roots[v]]++] = static_cast<Index>(v);
  }
  return std::span(variables).subspan(begins[root], static_cast<std::size_t>(begins[root + 1] - begins[root]));
}

bool RankedFacts::leads(Constraint const& constraint, Index from, Index to) const {
  if (plan_.object_sizes[from] == 0) return false;
  if (constraint.kind == ConstraintKind::any_offset)
    return fields_.is_met(to, from, fields_.step_of(from, constraint.offset));
  bool const is_number = constraint.kind == ConstraintKind::function_offset;
  if (is_number && plan_.is_function[from] == 0) return false;
  auto const [one, other] =
      is_number ? fields_.at_number(from, constraint.offset) : fields_.at_offset(from, constraint.offset);
  return one == to || other == to;
}

}  // namespace hornbill::points_to
