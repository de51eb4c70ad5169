// Fields at an offset from the objects of a set. Internal to src/points_to.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hornbill/points_to/plan.hpp>

#include "set_pool.hpp"

namespace hornbill::points_to {

/// Equations (5) and (6) of hornbill/points_to/README.md, for sets; each is formed once between calls of clear().
class OffsetSets {
 public:
  OffsetSets(HostPlan const& plan, SetPool& pool);
  SetId shifted(SetId objects, Index offset);
  /// \param stride  0 for all fields
  SetId fields(SetId objects, Index stride);
  /// Forgets which were formed, as the pool forgets sets.
  void clear() { shifted_ = fields_ = PairMap(); }

 private:
  std::span<std::uint64_t const> objects_beyond(Index offset);
  SetId beyond_the_end(SetId objects, Index offset);
  void add_fields(Index object);
  bool is_stop(Index field) const { return plan_.is_stop.empty() || plan_.is_stop[field] != 0; }

  HostPlan const& plan_;
  SetPool& pool_;
  PairMap shifted_, fields_;
  std::vector<Index> with_fields_;                  // objects that an offset of 1 or more may lead from
  std::vector<std::vector<std::uint64_t>> beyond_;  // by offset, where it was asked for
  std::vector<std::uint64_t> with_period_;          // a bit for each object; none if none has one
  std::vector<bool> is_remainder_;                  // of positions that steps lead to in an object
  std::vector<Index> elements_;
};

}  // namespace hornbill::points_to
