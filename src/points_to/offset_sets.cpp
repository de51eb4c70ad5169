#include "offset_sets.hpp"

#include <algorithm>

#include <hornbill/points_to/detail/fields.hpp>

namespace hornbill::points_to {

OffsetSets::OffsetSets(HostPlan const& plan, SetPool& pool) : plan_(plan), pool_(pool) {
  for (Index o = 0; o < plan.num_objects(); ++o)
    if (plan.object_sizes[o] > 1) with_fields_.push_back(o);
  for (std::size_t o = 0; o < plan.object_periods.size(); ++o) {
    if (plan.object_periods[o] == 0) continue;
    with_period_.resize(plan.object_periods.size() / 64 + 1);
    with_period_[o / 64] |= std::uint64_t{1} << o % 64;
  }
}

SetId OffsetSets::shifted(SetId objects, Index offset) {
  auto const by = static_cast<std::uint32_t>(offset);
  if (auto const known = shifted_(objects, by); known != PairMap::none) return known;
  auto set = pool_.shift(objects, by, objects_beyond(offset));
  if (!with_period_.empty()) set = pool_.unite(set, beyond_the_end(objects, offset));
  return shifted_(objects, by) = set;
}

/// Where an offset leads from objects that have a period and no more fields than it.
SetId OffsetSets::beyond_the_end(SetId objects, Index offset) {
  elements_.clear();
  pool_.for_each(pool_.shift(objects, 0, with_period_), [&](Index o) {
    if (plan_.object_sizes[o] > offset) return;
    Index const first = plan_.first_field[o];
    elements_.push_back(first +
                        detail::field_at(o - first + offset, plan_.object_sizes[first], plan_.object_periods[o]));
  });
  std::ranges::sort(elements_);
  return pool_.of(elements_);
}

/// Bits of the objects that have more fields than an offset.
std::span<std::uint64_t const> OffsetSets::objects_beyond(Index offset) {
  if (static_cast<std::size_t>(offset) >= beyond_.size()) beyond_.resize(static_cast<std::size_t>(offset) + 1);
  auto& mask = beyond_[offset];
  if (!mask.empty()) return mask;
  mask.resize(plan_.object_sizes.size() / 64 + 1);
  auto const add = [&](Index o) {
    if (plan_.object_sizes[o] > offset) mask[o / 64] |= std::uint64_t{1} << o % 64;
  };
  if (offset > 0)
    std::ranges::for_each(with_fields_, add);
  else
    for (Index o = 0; o < plan_.num_objects(); ++o) add(o);
  return mask;
}

SetId OffsetSets::fields(SetId objects, Index stride) {
  auto const by = static_cast<std::uint32_t>(stride);
  if (auto const known = fields_(objects, by); known != PairMap::none) return known;
  elements_.clear();
  Index object = -1;
  pool_.for_each(objects, [&](Index o) {
    Index const first = plan_.first_field[o];
    if (first != object) add_fields(object);
    if (first != object)
      is_remainder_.assign(detail::distance_of_fields(stride, std::max(plan_.object_sizes[first], 1),
                                                      plan_.period_of(first), plan_.is_function[first] != 0),
                           false);
    object = first;
    if (!is_stop(o) && plan_.object_sizes[o] > 0) elements_.push_back(o);
    is_remainder_[static_cast<std::size_t>(o - first) % is_remainder_.size()] = true;
  });
  add_fields(object);
  if (!plan_.is_stop.empty()) std::ranges::sort(elements_);
  return fields_(objects, by) = pool_.of(elements_);
}

/// Those whose positions have the remainders that were found.
void OffsetSets::add_fields(Index object) {
  if (object < 0) return;
  auto const apart = is_remainder_.size(), size = static_cast<std::size_t>(plan_.object_sizes[object]);
  for (std::size_t k = 0; k < size; ++k)
    if (is_remainder_[k % apart] && is_stop(object + static_cast<Index>(k)))
      elements_.push_back(object + static_cast<Index>(k));
}

}  // namespace hornbill::points_to
