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
  SetId all_fields(SetId objects);
  /// Forgets which were formed, as the pool forgets sets.
  void clear() { shifted_ = all_fields_ = PairMap(); }

 private:
  std::span<std::uint64_t const> objects_beyond(Index offset);

  HostPlan const& plan_;
  SetPool& pool_;
  PairMap shifted_, all_fields_;
  std::vector<Index> with_fields_;                  // objects that an offset of 1 or more may lead from
  std::vector<std::vector<std::uint64_t>> beyond_;  // by offset, where it was asked for
  std::vector<Index> elements_;
};

}  // namespace hornbill::points_to
