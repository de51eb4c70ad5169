#include "offset_sets.hpp"

#include <algorithm>

namespace hornbill::points_to {

OffsetSets::OffsetSets(HostPlan const& plan, SetPool& pool)
    : plan_(plan),
      pool_(pool),
      of_(detail::fields_of(plan)),
      is_function_(plan.object_sizes.size() / 64 + 1),
      row_(plan.object_sizes.size() / 64 + 1) {
  for (Index o = 0; o < plan.num_objects(); ++o) {
    if (plan.object_sizes[o] > 1) with_fields_.push_back(o);
    if (plan.is_function[o]) is_function_[o / 64] |= std::uint64_t{1} << o % 64;
  }
  for (std::size_t o = 0; o < plan.object_periods.size(); ++o) {
    if (plan.object_periods[o] == 0) continue;
    with_period_.resize(plan.object_periods.size() / 64 + 1);
    with_period_[o / 64] |= std::uint64_t{1} << o % 64;
  }
}

/// Fields of a byte are shifted a word at a time.
SetId OffsetSets::shifted(SetId objects, Index offset) {
  auto const by = static_cast<std::uint32_t>(offset);
  if (auto const known = shifted_(objects, by); known != PairMap::none) return known;
  SetId set = empty_set;
  if (of_.bytes_to_end) {
    set = at_offset(objects, offset);
  } else {
    set = pool_.shift(objects, by, objects_beyond(offset));
    if (!with_period_.empty()) set = pool_.unite(set, at_offset(pool_.shift(objects, 0, with_period_), offset));
  }
  return shifted_(objects, by) = set;
}

SetId OffsetSets::function_fields(SetId objects, Index number) {
  auto const by = static_cast<std::uint32_t>(number);
  if (auto const known = functions_(objects, by); known != PairMap::none) return known;
  auto const set = at_offset(pool_.shift(objects, 0, is_function_), number, true);
  return functions_(objects, by) = set;
}

SetId OffsetSets::at_offset(SetId objects, Index offset, bool is_number) {
  Index low = plan_.num_objects(), high = -1;
  auto const add = [&](Index field) {
    if (field < 0) return;
    row_[field / 64] |= std::uint64_t{1} << field % 64;
    low = std::min(low, field);
    high = std::max(high, field);
  };
  pool_.for_each(objects, [&](Index o) {
    auto const found = is_number ? of_.at_number(o, offset) : of_.at_offset(o, offset);
    add(found.first);
    add(found.second);
  });
  return take_row(low, high);
}

/// The set of the row's bits from one field to another one, which are 0 then.
SetId OffsetSets::take_row(Index low, Index high) {
  elements_.clear();
  for (Index word = low / 64; word <= high / 64 && low <= high; ++word) {
    for (auto bits = row_[word]; bits != 0; bits &= bits - 1)
      elements_.push_back(word * 64 + static_cast<Index>(std::countr_zero(bits)));
    row_[word] = 0;
  }
  return pool_.of(elements_);
}

/// Bits of the objects that have more fields than an offset.
std::span<std::uint64_t const> OffsetSets::objects_beyond(Index offset) {
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
  places_.clear();
  pool_.for_each(objects, [&](Index o) {
    if (Index const first = plan_.first_field[o]; first != object) {
      add_met_fields(object, stride);
      object = first;
      places_.clear();
    }
    places_.push_back(of_.place_of(o));
  });
  add_met_fields(object, stride);
  return fields_(objects, by) = pool_.of(elements_);
}

/// Those that steps lead to from the places that were found in an object.
void OffsetSets::add_met_fields(Index object, Index stride) {
  if (object < 0) return;
  auto const size = static_cast<std::size_t>(plan_.object_sizes[object]);
  auto const step = places_.size() == size ? 1 : of_.step_of(object, stride);  // where all are there, none is missing
  if (step > 1) find_remainders(step);
  for (Index field = object; field < object + plan_.object_sizes[object]; ++field)
    if (step == 1 || is_one_among(of_.places_of(field), step) || is_one_among(of_.places_before_period(field), step))
      elements_.push_back(field);
}

void OffsetSets::find_remainders(Index step) {
  remainders_.clear();
  for (Index const place : places_) remainders_.push_back(place % step);
  std::ranges::sort(remainders_);
}

bool OffsetSets::is_one_among(detail::ObjectFields::Places const& places, Index step) const {
  if (places.low > places.high) return false;
  if (places.high - places.low + 1 >= step) return true;
  auto const low = places.low % step, high = places.high % step;
  auto const from_low = std::ranges::lower_bound(remainders_, low);
  if (low <= high) return from_low != remainders_.end() && *from_low <= high;
  return from_low != remainders_.end() || remainders_.front() <= high;
}

}  // namespace hornbill::points_to
