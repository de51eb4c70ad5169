// Fields at an offset from the objects of a set. Internal to src/points_to.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <hornbill/points_to/detail/fields.hpp>
#include <hornbill/points_to/plan.hpp>

#include "set_pool.hpp"

namespace hornbill::points_to {

/// Equations (5) and (6) of hornbill/points_to/README.md, for sets; each is formed once between calls of clear().
class OffsetSets {
 public:
  OffsetSets(HostPlan const& plan, SetPool& pool);
  SetId shifted(SetId objects, Index offset);
  /// Fields of the functions among them, by their number.
  SetId function_fields(SetId objects, Index number);
  /// \param stride  0 for all fields
  SetId fields(SetId objects, Index stride);
  /// Forgets which were formed, as the pool forgets sets.
  void clear() { shifted_ = fields_ = functions_ = PairMap(); }

 private:
  std::span<std::uint64_t const> objects_beyond(Index offset);
  SetId at_offset(SetId objects, Index offset, bool is_number = false);
  void add_met_fields(Index object, Index stride);
  void find_remainders(Index step);
  bool is_one_among(detail::ObjectFields::Places const& places, Index step) const;
  SetId take_row(Index low, Index high);

  HostPlan const& plan_;
  SetPool& pool_;
  detail::ObjectFields const of_;
  PairMap shifted_, fields_, functions_;
  std::vector<Index> with_fields_;                      // objects that an offset of 1 or more may lead from
  std::map<Index, std::vector<std::uint64_t>> beyond_;  // by offset, where it was asked for
  std::vector<std::uint64_t> with_period_;              // a bit for each object; none if none has one
  std::vector<std::uint64_t> is_function_;              // a bit for each object
  std::vector<std::uint64_t> row_;                      // a bit for each object of a set that is being made
  std::vector<Index> places_;                           // in an object
  std::vector<Index> remainders_;                       // of these, divided by a step, ascending
  std::vector<Index> elements_;
};

}  // namespace hornbill::points_to
