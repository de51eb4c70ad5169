/// \file
/// Weighted constraint satisfaction problems: toulbar2's formats.
#pragma once

#include <string>
#include <vector>

#include <hornbill/tables/table_network.hpp>

namespace hornbill::io {

/// Reads `.wcsp`: variables' domain sizes, and cost functions in extension, shared ones too. Costs of the upper bound
/// or more are forbidden: infinite_cost. A function without variables is a constant.
/// \throws CapacityError for tables that do not fit into memory
/// \throws InputError naming the line; the keyword, for a function in intension (global cost functions among them),
/// which is not read
tables::CostNetwork read_wcsp(std::string const& file);

/// Reads `.cfn`: the same with names of variables and values, decimal costs that may be negative, and objectives to be
/// maximised. Functions are dense or sparse tables, or share another's table. Costs, which may have exponents, are kept
/// exactly, in units of the last decimal that any of them has, where their sums leave room; otherwise they are rounded
/// to as many decimals as do. `inf` is forbidden. Each function's least cost is taken out of it, into the offset.
/// \param warnings  if there, is told where costs were rounded
/// \source toulbar2: The CFN format; JSON in which quotes, commas, colons and the tags of the problem may be missing
/// \throws CapacityError for tables that do not fit into memory
/// \throws InputError naming the line and what is wrong there; the type, for a function that is no table (global and
/// arithmetic ones), which is not read
tables::CostNetwork read_cfn(std::string const& file, std::vector<std::string>* warnings = nullptr);

/// Whether a file's ending is that of either format.
bool is_cost_network(std::string const& file);

/// Reads either, by the file's ending.
tables::CostNetwork read_cost_network(std::string const& file, std::vector<std::string>* warnings = nullptr);

}  // namespace hornbill::io
