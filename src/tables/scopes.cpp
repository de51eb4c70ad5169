#include <hornbill/tables/detail/scopes.hpp>

#include <algorithm>
#include <iterator>

namespace hornbill::tables::detail {

std::vector<Index> united(std::vector<Index> const& a, std::vector<Index> const& b, std::span<Index const> place) {
  std::vector<Index> result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result),
                 [&](Index v, Index w) { return place[v] < place[w]; });
  return result;
}

}  // namespace hornbill::tables::detail
