/// \file
/// Launch constants for NVIDIA GPUs; see backends/cuda/notes.md.
#pragma once

#include <hornbill/backend/tuning.hpp>

namespace hornbill::backend {

template <>
struct TuningOf<Kokkos::Cuda> {
  static constexpr Tuning value{.bp = {.lanes = true,
                                       .team_size = 256,
                                       .teams_at_once = 5,
                                       .wide_team_size = 512,
                                       .teams_of_parts = 128,
                                       .stretch_team_size = 512,
                                       .stretch_batch = 2048,
                                       .sequential_below = 0,
                                       .record = true,
                                       .check_every = 10,
                                       .chromatic_from = 0,
                                       .local_share = 0.1,
                                       .max_local_edges = 8192,
                                       .local_longest = 1024},
                                .tables = {.team_size = 256, .decode_team_size = 128}};
};

}  // namespace hornbill::backend
