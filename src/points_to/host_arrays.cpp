#include <hornbill/points_to/detail/host_arrays.hpp>

#include <algorithm>
#include <map>
#include <span>
#include <utility>

#include "components.hpp"
#include "dereferences.hpp"

namespace hornbill::points_to::detail {
namespace {

auto unsigned_of(Index index) { return static_cast<std::uint32_t>(index); }

/// As many as rows of workers have.
std::size_t words_of_mask(HostPlan const& plan) {
  return (static_cast<std::size_t>(plan.num_objects()) / Block::num_bits + 1) * Block::num_words;
}

/// A row of bits for each offset that occurs, of the objects that have more fields than it; and the steps that occur.
class Masks {
 public:
  explicit Masks(HostPlan const& plan) : plan_(plan) {
    for (Index o = 0; o < plan.num_objects(); ++o)
      if (plan.object_sizes[o] > 0) objects_.push_back(o);
  }
  void require(Constraint const& c) { numbers_of(c.kind).try_emplace(c.offset, 0); }
  std::vector<std::uint64_t> rows() {
    auto const words = words_of_mask(plan_);
    std::vector<std::uint64_t> rows(words * row_of_.size());
    std::uint32_t row = 0;
    for (auto& [offset, number] : row_of_) {  // the offsets ascend, so fewer and fewer objects are left
      std::erase_if(objects_, [&](Index o) { return plan_.object_sizes[o] <= offset; });
      for (Index const o : objects_) rows[row * words + unsigned_of(o) / 64] |= std::uint64_t{1} << unsigned_of(o) % 64;
      number = row++;
    }
    return rows;
  }
  /// The offset of each row, then those of functions, then steps.
  std::vector<DeviceOffset> offsets() {
    std::vector<DeviceOffset> offsets;
    for (auto const& [offset, row] : row_of_) offsets.push_back({unsigned_of(offset), row, false});
    for (auto& [offset, number] : of_functions_) {
      number = static_cast<std::uint32_t>(offsets.size());
      offsets.push_back({unsigned_of(offset), 0, true});
    }
    for (auto& [step, number] : steps_) {
      number = static_cast<std::uint32_t>(offsets.size());
      offsets.push_back({unsigned_of(step), DeviceOffset::steps, false});
    }
    return offsets;
  }
  /// A constraint's in offsets().
  std::uint32_t number_of(Constraint const& c) { return numbers_of(c.kind).at(c.offset); }

 private:
  std::map<Index, std::uint32_t>& numbers_of(ConstraintKind kind) {
    return kind == ConstraintKind::offset ? row_of_ : kind == ConstraintKind::any_offset ? steps_ : of_functions_;
  }

  HostPlan const& plan_;
  std::vector<Index> objects_;
  std::map<Index, std::uint32_t> row_of_, of_functions_, steps_;
};

/// Those of one kind, which are neighbours.
std::span<Constraint const> of_kind(HostPlan const& plan, ConstraintKind kind) {
  return std::ranges::equal_range(plan.constraints, kind, {}, &Constraint::kind);
}

/// Variables on one side of constraints of a kind, by those on the other side.
Rows by_variable(HostPlan const& plan, ConstraintKind kind, Index Constraint::*variable, Index Constraint::*entry) {
  return rows_of(plan.num_variables, [&](auto const& add) {
    for (auto const& c : of_kind(plan, kind)) add(c.*variable, c.*entry);
  });
}

void add_edges(HostPlan const& plan, HostArrays& arrays) {
  auto const copies = of_kind(plan, ConstraintKind::copy), offsets = of_kind(plan, ConstraintKind::offset),
             steps = of_kind(plan, ConstraintKind::any_offset),
             of_functions = of_kind(plan, ConstraintKind::function_offset);
  Masks masks(plan);
  for (auto const& c : offsets) masks.require(c);
  for (auto const& c : steps) masks.require(c);
  for (auto const& c : of_functions) masks.require(c);
  arrays.masks = masks.rows();
  arrays.offsets = masks.offsets();
  arrays.edges.reserve(copies.size() + offsets.size() + steps.size() + of_functions.size());
  auto const add = [&](Constraint const& c, std::uint32_t offset) {
    arrays.edges.push_back({unsigned_of(c.source), unsigned_of(c.destination), shared_empty_set, offset});
  };
  for (auto const& c : copies) add(c, no_offset);
  for (auto const& c : offsets) add(c, masks.number_of(c));
  for (auto const& c : steps) add(c, masks.number_of(c));
  for (auto const& c : of_functions) add(c, masks.number_of(c));
}

void add_dereferences(HostPlan const& plan, HostArrays& arrays) {
  auto const loads = by_variable(plan, ConstraintKind::load, &Constraint::source, &Constraint::destination);
  auto const stores = by_variable(plan, ConstraintKind::store, &Constraint::destination, &Constraint::source);
  auto cycles = plan.hybrid_cycles;
  std::ranges::sort(cycles);
  auto cycle = cycles.begin();
  arrays.ends.reserve(loads.targets.size() + stores.targets.size());
  auto const add = [&](std::span<Index const> ends) {
    auto const first = static_cast<std::uint32_t>(arrays.ends.size());
    arrays.ends.insert(arrays.ends.end(), ends.begin(), ends.end());
    return first;
  };
  for (Index pointer = 0; pointer < plan.num_variables; ++pointer) {
    if (loads.of(pointer).empty() && stores.of(pointer).empty()) continue;
    while (cycle != cycles.end() && cycle->first < pointer) ++cycle;
    bool const has_cycle = cycle != cycles.end() && cycle->first == pointer;
    if (has_cycle) arrays.with_cycles.push_back(static_cast<std::uint32_t>(arrays.dereferences.size()));
    auto const first_load = add(loads.of(pointer)), first_store = add(stores.of(pointer));
    arrays.dereferences.push_back({unsigned_of(pointer), first_load, first_store,
                                   static_cast<std::uint32_t>(arrays.ends.size()),
                                   has_cycle ? unsigned_of(cycle->second) : no_node});
  }
}

void add_addresses(HostPlan const& plan, HostSets& sets) {
  auto const objects = by_variable(plan, ConstraintKind::address_of, &Constraint::destination, &Constraint::source);
  sets.objects.assign(objects.targets.begin(), objects.targets.end());
  for (Index v = 0; v < plan.num_variables; ++v) {
    if (objects.of(v).empty()) continue;
    sets.nodes.push_back(unsigned_of(v));
    sets.set_of_node.push_back(sets.size());
    sets.begins.push_back(static_cast<std::uint64_t>(objects.offsets[v + 1]));
  }
  if (plan.outside < 0) return;
  sets.nodes.push_back(unsigned_of(plan.num_variables));
  sets.set_of_node.push_back(sets.size());
  sets.objects.push_back(unsigned_of(plan.outside));
  sets.begins.push_back(sets.objects.size());
}

}  // namespace

HostArrays host_arrays(HostPlan const& plan) {
  HostArrays arrays;
  arrays.parents.resize(static_cast<std::size_t>(plan.num_variables));
  for (Index v = 0; v < plan.num_variables; ++v)
    arrays.parents[v] = unsigned_of(plan.representative[v] < 0 ? v : plan.representative[v]);
  if (plan.outside >= 0) arrays.parents.push_back(unsigned_of(plan.num_variables));
  add_addresses(plan, arrays.addresses);
  add_edges(plan, arrays);
  add_dereferences(plan, arrays);
  return arrays;
}

HostSets sets_of(Solution const& earlier, HostPlan const& plan) {
  require_part_of(earlier, plan);
  HostSets sets;
  for (Index s = 0; s < earlier.num_sets(); ++s) {
    for (Index const o : earlier.objects_of_set(s)) sets.objects.push_back(unsigned_of(o));
    sets.begins.push_back(sets.objects.size());
  }
  for (std::size_t v = 0; v < earlier.set_of_variable.size(); ++v) {
    sets.nodes.push_back(static_cast<std::uint32_t>(v));
    sets.set_of_node.push_back(unsigned_of(earlier.set_of_variable[v]));
  }
  return sets;
}

}  // namespace hornbill::points_to::detail
