#include <limits>
#include <utility>

#include <hornbill/elim/mini_buckets.hpp>

namespace hornbill::elim {

HostPlan make_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                   Order order) {
  // one part each
  return make_mini_bucket_plan(cardinality, scopes, std::move(order),
                               {.max_variables = std::numeric_limits<int>::max()});
}

}  // namespace hornbill::elim
