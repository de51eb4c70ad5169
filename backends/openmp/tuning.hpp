/// \file
/// Launch constants for CPU threads; see backends/openmp/notes.md.
#pragma once

#include <limits>

#include <hornbill/backend/tuning.hpp>

namespace hornbill::backend {

template <>
struct TuningOf<Kokkos::OpenMP> {
  static constexpr Tuning value{.bp = {.lanes = false,
                                       .team_size = 1,
                                       .teams_at_once = 1,
                                       .wide_team_size = 1,
                                       .teams_of_parts = 64,
                                       .stretch_team_size = 1,
                                       .stretch_batch = 1024,
                                       .sequential_below = 16384,
                                       .record = false,
                                       .check_every = 1,
                                       .chromatic_from = 4,
                                       .local_share = 1,
                                       .max_local_edges = std::numeric_limits<Index>::max(),
                                       .local_longest = std::numeric_limits<Index>::max()},
                                .tables = {.team_size = 1, .decode_team_size = 1}};
};

}  // namespace hornbill::backend
