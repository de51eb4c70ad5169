#include <hornbill/detail/elim/scopes.hpp>

#include <algorithm>
#include <iterator>

namespace hornbill::elim::detail {

std::vector<Index> united(std::vector<Index> const& a, std::vector<Index> const& b, std::span<Index const> place) {
  std::vector<Index> result;
  std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result), [&](Index v, Index w) { return place[v] < place[w]; });
  return result;
}

bool fit_together(std::vector<Index> const& a, std::vector<Index> const& b, int most_variables, std::span<Index const> place) {
  auto const joined = united(a, b, place);
  return std::ssize(joined) <= most_variables || joined.size() == std::max(a.size(), b.size());
}

}  // namespace hornbill::elim::detail
