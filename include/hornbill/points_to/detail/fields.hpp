/// \file
/// Which fields of an object an offset leads to (hornbill/points_to/README.md, equations (5) and (6)).
#pragma once

#include <Kokkos_Macros.hpp>

#include <hornbill/types.hpp>

namespace hornbill::points_to::detail {

/// The field at a position, where an object's last `period` fields stand for those behind them too.
/// \param size  fields of the object   \param position  from the first one, not below 0
/// \return -1 if there is none: the position is behind the last field, and the object has no period
KOKKOS_INLINE_FUNCTION Index field_at(Index position, Index size, Index period) {
  if (position < size) return position;
  return period == 0 ? -1 : size - period + (position - size) % period;
}

/// How far fields are apart that steps of `stride` fields, forwards and backwards, lead to. Steps go round in an object
/// with a period, so that they meet all fields at the greatest common divisor. They do not move within a function,
/// whose fields are no memory.
/// \param stride  0 for steps of any length, also in functions   \param size  fields of the object   \return at least 1
KOKKOS_INLINE_FUNCTION Index distance_of_fields(Index stride, Index size, Index period, bool is_function) {
  if (stride == 0) return 1;
  if (is_function) return size;
  while (period != 0) {
    Index const rest = stride % period;
    stride = period;
    period = rest;
  }
  return stride;
}

}  // namespace hornbill::points_to::detail
