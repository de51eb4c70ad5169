#include <hornbill/points_to/detail/host_arrays.hpp>

#include <algorithm>
#include <map>
#include <utility>

#include "dereferences.hpp"

namespace hornbill::points_to::detail {
namespace {

auto unsigned_of(Index index) { return static_cast<std::uint32_t>(index); }

/// As many as rows of workers have.
std::size_t words_of_mask(HostPlan const& plan) {
  return (static_cast<std::size_t>(plan.num_objects()) / Block::num_bits + 1) * Block::num_words;
}

/// A row of bits for each offset that occurs, of the objects that have more fields than it.
class Masks {
 public:
  explicit Masks(HostPlan const& plan) : plan_(plan) {
    for (Index o = 0; o < plan.num_objects(); ++o)
      if (plan.object_sizes[o] > 0) objects_.push_back(o);
  }
  void require(Index offset) { row_of_.try_emplace(offset, 0); }
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
  /// The offset of each row, and one more for all fields.
  std::vector<DeviceOffset> offsets() const {
    std::vector<DeviceOffset> offsets;
    for (auto const& [offset, row] : row_of_) offsets.push_back({unsigned_of(offset), row});
    offsets.push_back({0, DeviceOffset::any});
    return offsets;
  }
  std::uint32_t row_of(Index offset) const { return row_of_.at(offset); }

 private:
  HostPlan const& plan_;
  std::vector<Index> objects_;
  std::map<Index, std::uint32_t> row_of_;
};

void add_edges(HostPlan const& plan, HostArrays& arrays) {
  Masks masks(plan);
  for (auto const& c : plan.constraints)
    if (c.kind == ConstraintKind::offset) masks.require(c.offset);
  arrays.masks = masks.rows();
  arrays.offsets = masks.offsets();
  for (auto const& c : plan.constraints) {
    auto offset = no_offset;
    if (c.kind == ConstraintKind::offset) offset = masks.row_of(c.offset);
    if (c.kind == ConstraintKind::any_offset) offset = static_cast<std::uint32_t>(arrays.offsets.size()) - 1;
    if (c.kind == ConstraintKind::copy || offset != no_offset)
      arrays.edges.push_back({unsigned_of(c.source), unsigned_of(c.destination), shared_empty_set, offset});
  }
}

void add_dereferences(HostPlan const& plan, HostArrays& arrays) {
  auto const dereferences = dereferences_of(plan);
  auto const add = [&](Index begin, Index end, ConstraintKind kind, Index Constraint::*node) {
    for (Index i = begin; i < end; ++i)
      if (auto const& c = dereferences.constraints[i]; c.kind == kind) arrays.ends.push_back(unsigned_of(c.*node));
    return static_cast<std::uint32_t>(arrays.ends.size());
  };
  for (auto const& [pointer, begin, end, cycle] : dereferences.list) {
    auto const first = static_cast<std::uint32_t>(arrays.ends.size());
    auto const stores = add(begin, end, ConstraintKind::load, &Constraint::destination);
    auto const last = add(begin, end, ConstraintKind::store, &Constraint::source);
    if (first == last) continue;
    if (cycle >= 0) arrays.with_cycles.push_back(static_cast<std::uint32_t>(arrays.dereferences.size()));
    arrays.dereferences.push_back(
        {unsigned_of(pointer), first, stores, last, cycle < 0 ? no_node : unsigned_of(cycle)});
  }
}

void add_addresses(HostPlan const& plan, HostSets& sets) {
  std::vector<std::pair<Index, Index>> addresses;  // variable, object
  for (auto const& c : plan.constraints)
    if (c.kind == ConstraintKind::address_of) addresses.emplace_back(c.destination, c.source);
  std::ranges::sort(addresses);
  for (std::size_t i = 0; i < addresses.size(); ++i) {
    sets.objects.push_back(unsigned_of(addresses[i].second));
    if (i + 1 < addresses.size() && addresses[i + 1].first == addresses[i].first) continue;
    sets.nodes.push_back(unsigned_of(addresses[i].first));
    sets.set_of_node.push_back(sets.size());
    sets.begins.push_back(sets.objects.size());
  }
}

}  // namespace

HostArrays host_arrays(HostPlan const& plan) {
  HostArrays arrays;
  arrays.parents.resize(static_cast<std::size_t>(plan.num_variables));
  for (Index v = 0; v < plan.num_variables; ++v)
    arrays.parents[v] = unsigned_of(plan.representative[v] < 0 ? v : plan.representative[v]);
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
