/// \file
/// Weighted constraint satisfaction problems: toulbar2's formats.
#pragma once

#include <string>

#include <hornbill/tables/table_network.hpp>

namespace hornbill::io {

/// Reads `.wcsp`: variables' domain sizes, and cost functions in extension, shared ones too. Costs of the upper bound or more are
/// forbidden: infinite_cost. A function without variables is a constant.
/// \throws InputError naming the line; the keyword, for a function in intension (global cost functions among them), which is not read
tables::CostNetwork read_wcsp(std::string const& file);

}  // namespace hornbill::io
