// Orders of elimination from a depth-first search.
#pragma once

#include <cstdint>
#include <vector>

#include "primal_graph.hpp"

namespace hornbill::elim {

/// Variables as a depth-first search leaves them, so that each is before its parent. From a variable it goes to that
/// neighbour which has the most neighbours behind it, then the most at all: so back edges are short and separators
/// small.
/// \param seed  of what decides between equals
std::vector<Index> depth_first_order(PrimalGraph const& graph, Index num_variables, std::uint64_t seed);

}  // namespace hornbill::elim
