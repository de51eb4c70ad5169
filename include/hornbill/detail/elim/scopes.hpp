// Scopes in the order of elimination.
#pragma once

#include <span>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::elim::detail {

/// Of two lists in order, all that is in either.   \param place  of each variable in the order
std::vector<Index> united(std::vector<Index> const& a, std::vector<Index> const& b, std::span<Index const> place);

/// Whether tables of these scopes may be in one part of a bucket: they have few variables together, or one has all of them.
bool fit_together(std::vector<Index> const& a, std::vector<Index> const& b, int most_variables, std::span<Index const> place);

}  // namespace hornbill::elim::detail
