/// \file
/// Schedules of the user's own, as a model keeps them; bp/schedule.hpp makes batches of them.
#pragma once

#include <cstdint>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill {

/// How a schedule is stored in a file (`schedules/<name>`, attribute `kind`).
enum class ScheduleKind : std::uint8_t {
  order,          ///< a total order: `edges`
  partial_order,  ///< `before[i]` precedes `after[i]`; edges not named are bound by nothing
  batches         ///< ready-made batches: `edges` grouped by `batch_offsets`
};

/// A schedule as found in a file. Edges that it does not name are never updated, except in a partial order,
/// which covers all edges.
struct StoredSchedule {
  ScheduleKind kind = ScheduleKind::order;
  std::vector<Offset> edges;          ///< edge ids; for `order` and `batches`
  std::vector<Offset> batch_offsets;  ///< [B+1], into edges; for `batches`
  std::vector<Offset> before, after;  ///< [M], pairs of edge ids; for `partial_order`, and as a check for `batches`
};

}  // namespace hornbill
