/// \file
/// Launch constants for one CPU thread; see backends/serial/notes.md.
#pragma once

#include <limits>

#include <hornbill/backend/tuning.hpp>

namespace hornbill::backend {

template <>
struct TuningOf<Kokkos::Serial> {
  static constexpr Tuning value{.bp = {.lanes = false,
                                       .team_size = 1,
                                       .teams_at_once = 1,
                                       .wide_team_size = 1,
                                       .teams_of_parts = 1,
                                       .stretch_team_size = 1,
                                       .stretch_batch = std::numeric_limits<Offset>::max(),
                                       .sequential_below = std::numeric_limits<Offset>::max(),
                                       .record = false,
                                       .check_every = 1,
                                       .chromatic_from = std::numeric_limits<int>::max(),
                                       .local_share = 1,
                                       .max_local_edges = std::numeric_limits<Index>::max(),
                                       .local_longest = std::numeric_limits<Index>::max()},
                                .tables = {.team_size = 1, .decode_team_size = 1}};
};

}  // namespace hornbill::backend
