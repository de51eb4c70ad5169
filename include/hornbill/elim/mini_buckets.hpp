/// \file
/// Bounds where exact elimination is too wide: buckets in parts.
#pragma once

#include <span>
#include <vector>

#include <hornbill/elim/elimination.hpp>

namespace hornbill::elim {

struct MiniBucketOptions {
  int most_variables = 10;     ///< z: of the tables of one part together, the variable that is eliminated included
  bool match_moments = false;  ///< parts of a bucket agree on what each state of its variable costs before they go apart, which tightens bounds
};

/// Plans elimination by mini-buckets, MBE(z): where a bucket's tables have more than z variables together, they go into parts, each eliminated
/// by itself. The result is at most the least cost, or at least the largest product; what the assignment comes to (value_of) is the other
/// bound. Tables go into parts by the size of their scopes: the widest first, each where it fits. A table of more than z variables is a part.
///
/// With match_moments, costs are shifted between the parts of a bucket so that their least costs by state of the variable are equal.
/// \source Dechter and Rish: Mini-buckets: a general scheme for bounded inference, 2003; Ihler, Flerova, Dechter and Otten: Join-graph based
/// cost-shifting schemes, 2012, section 4.1
/// \throws InputError for parts of no variable, CapacityError
HostPlan make_mini_bucket_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes, Order order, MiniBucketOptions const& options = {});

}  // namespace hornbill::elim
