/// \file
/// Which fields of an object an offset leads to (hornbill/points_to/README.md, equations (5) and (6)).
#pragma once

#include <Kokkos_Macros.hpp>

#include <hornbill/points_to/plan.hpp>
#include <hornbill/types.hpp>

namespace hornbill::points_to::detail {

/// The fields of all objects. A place in an object is given by the bytes from there to the object's end, both counted:
/// 1 is the last byte.
struct ObjectFields {
  Index const *first, *sizes;  ///< [num_objects] the object's first field; fields from this one to the last
  Index const* bytes_to_end;   ///< [num_objects] null where a field is a byte
  Index const* periods;        ///< [num_objects] in bytes; null where no object has one
  std::uint8_t const* is_function;

  /// The place of a field.
  KOKKOS_FUNCTION Index place_of(Index field) const { return (bytes_to_end ? bytes_to_end : sizes)[field]; }
  KOKKOS_FUNCTION Index period_of(Index field) const { return periods ? periods[field] : 0; }

  /// A field and -1; both of its ends where a place is within a field; -1 twice where an offset leads to nothing.
  struct Ends {
    Index first = -1, second = -1;
  };
  /// The field at an offset from another one (5). Where fields have bytes, functions have none, so that it leads
  /// nowhere.
  KOKKOS_FUNCTION Ends at_offset(Index field, Index offset) const {
    if (bytes_to_end && is_function[first[field]]) return {offset == 0 && sizes[field] > 0 ? field : -1};
    return at_number(field, offset);
  }
  /// The same of functions too, whose fields count as bytes (7).
  KOKKOS_FUNCTION Ends at_number(Index field, Index offset) const {
    Index place = place_of(field) - offset, begin = field;
    if (place <= 0) {
      Index const period = period_of(field);
      if (period == 0) return {};
      place = period - (-place) % period;
      begin = first[field];
    }
    Index const found = field_at(begin, place), last = field + sizes[field] - 1;
    if (place_of(found) == place) return {found};
    if (found < last) return {found, found + 1};
    return {found, period_of(field) > 0 ? field_at(first[field], period_of(field)) : -1};
  }

  /// How far bytes are apart that steps of `stride`, forwards and backwards, lead to. Steps go round in an object with
  /// a period, so that they meet all bytes at the greatest common divisor. They do not move within a function, whose
  /// fields are no memory.
  /// \param stride  0 for steps of any length, also in functions where a field is a byte   \return 1 to the object's bytes
  KOKKOS_FUNCTION Index step_of(Index field, Index stride) const {
    Index const object = first[field], bytes = place_of(object) > 0 ? place_of(object) : 1;
    if (is_function[object] && (stride > 0 || bytes_to_end)) return bytes;
    if (stride == 0) return 1;
    for (Index period = period_of(field); period != 0;) {
      Index const rest = stride % period;
      stride = period;
      period = rest;
    }
    return stride < bytes ? stride : bytes;
  }

  /// Places that lead to a field, which are in it, or within the one before: from `low` to `high`.
  struct Places {
    Index low, high;
  };
  KOKKOS_FUNCTION Places places_of(Index field) const {
    Index const low = sizes[field] > 1 ? place_of(field + 1) + 1 : 1;
    return {low, first[field] == field ? place_of(field) : place_of(field - 1) - 1};
  }
  /// Within the last field is before the first one that repeats, too. Empty for other fields.
  KOKKOS_FUNCTION Places places_before_period(Index field) const {
    bool const repeats = period_of(field) > 0 && period_of(field) == place_of(field);
    return {1, repeats ? place_of(field + sizes[field] - 1) - 1 : 0};
  }
  /// Whether steps from one field lead to another one of its object (6).   \param step  as of step_of()
  KOKKOS_FUNCTION bool is_met(Index field, Index from, Index step) const {
    auto const has_one = [&](Places const& places) {
      Index const rest = (places.high - place_of(from)) % step;
      return places.high - (rest < 0 ? rest + step : rest) >= places.low;
    };
    return has_one(places_of(field)) || has_one(places_before_period(field));
  }

 private:
  /// The last field, from one on, that begins at a place or before it.
  KOKKOS_FUNCTION Index field_at(Index begin, Index place) const {
    if (!bytes_to_end) return begin + sizes[begin] - place;
    Index low = begin, high = begin + sizes[begin] - 1;
    if (Index const most = bytes_to_end[begin] - place; most < high - low) high = low + most;  // each is a byte or more
    while (low < high) {
      Index const middle = low + (high - low + 1) / 2;
      if (bytes_to_end[middle] >= place)
        low = middle;
      else
        high = middle - 1;
    }
    return low;
  }
};

/// Those of a plan, on the host, as long as the plan is there.
inline ObjectFields fields_of(HostPlan const& plan) {
  auto const data_of = [](std::vector<Index> const& column) { return column.empty() ? nullptr : column.data(); };
  return {plan.first_field.data(), plan.object_sizes.data(), data_of(plan.bytes_to_end), data_of(plan.object_periods),
          plan.is_function.data()};
}

}  // namespace hornbill::points_to::detail
