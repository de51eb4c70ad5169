/// \file
/// Horn factors as tables, and tables as Horn factors.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill {

/// A conjunction or disjunction found in a table.
struct HornFactor {
  FactorType type = FactorType::conjunction;
  int head = 0;  ///< position of the head among the table's variables
  double p1 = 0, p2 = 0;
};

/// Recognises AND and OR in a dense table over `arity` binary variables, last variable fastest: P(head | body) for some
/// head, to 4 units in the last place; P(head = 0) to 1e-10 of itself, so that one printed as less than about 1e-6 may
/// stay a table. Of several readings the first head, then OR(1, 0), then AND is taken.
/// \return nothing if the table is neither
std::optional<HornFactor> recognise_horn_factor(std::span<double const> table, int arity);

/// The dense table of a Horn factor with its head first, last variable fastest.   \shape [2^arity]
std::vector<double> table_of_horn_factor(FactorType type, double p1, double p2, int arity);

}  // namespace hornbill
