// Scopes in the order that all tables list their variables in.
#pragma once

#include <span>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill::tables::detail {

/// Of two lists in order, all that is in either.   \param place  of each variable in the order
std::vector<Index> united(std::vector<Index> const& a, std::vector<Index> const& b, std::span<Index const> place);

}  // namespace hornbill::tables::detail
