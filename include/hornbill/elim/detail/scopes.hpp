// Scopes in the order of elimination.
#pragma once

#include <span>
#include <vector>

#include <hornbill/tables/detail/scopes.hpp>

namespace hornbill::elim::detail {

using tables::detail::united;

/// Whether tables of these scopes may be in one part of a bucket: they have few variables together, or one has all of
/// them.
bool fit_together(std::vector<Index> const& a, std::vector<Index> const& b, int max_variables,
                  std::span<Index const> place);

}  // namespace hornbill::elim::detail
