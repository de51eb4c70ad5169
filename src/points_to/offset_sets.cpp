#include "offset_sets.hpp"

#include <algorithm>
#include <utility>

namespace hornbill::points_to {

OffsetSets::OffsetSets(HostPlan const& plan, SetPool& pool) : plan_(plan), pool_(pool) {
  for (Index o = 0; o < plan.num_objects(); ++o)
    if (plan.object_sizes[o] > 1) with_fields_.push_back(o);
}

SetId OffsetSets::shifted(SetId objects, Index offset) {
  auto const by = static_cast<std::uint32_t>(offset);
  if (auto const known = shifted_(objects, by); known != PairMap::none) return known;
  auto const set = pool_.shift(objects, by, objects_beyond(offset));
  return shifted_(objects, by) = set;
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

SetId OffsetSets::all_fields(SetId objects) {
  if (auto const known = all_fields_(objects, 0); known != PairMap::none) return known;
  elements_.clear();
  Index last = -1;
  pool_.for_each(objects, [&](Index o) {
    Index const first = plan_.first_field[o];
    if (std::exchange(last, first) == first) return;
    for (Index k = 0; k < plan_.object_sizes[first]; ++k) elements_.push_back(first + k);
  });
  return all_fields_(objects, 0) = pool_.of(elements_);
}

}  // namespace hornbill::points_to
