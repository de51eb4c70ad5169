#include <hornbill/elim/detail/scopes.hpp>

#include <algorithm>

namespace hornbill::elim::detail {

bool fit_together(std::vector<Index> const& a, std::vector<Index> const& b, int max_variables,
                  std::span<Index const> place) {
  auto const joined = united(a, b, place);
  return std::ssize(joined) <= max_variables || joined.size() == std::max(a.size(), b.size());
}

}  // namespace hornbill::elim::detail
