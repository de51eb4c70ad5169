// What depends on itself, for error messages.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include <hornbill/types.hpp>

namespace hornbill {

/// Follows causes back until one comes again.
/// \param cause  one of each thing's, where it has any   \param start  a thing whose causes never end
/// \return things each of which comes from the one before it, the first from the last
std::vector<Index> cycle_of_causes(std::vector<Index> const& cause, Index start);

/// "a -> b -> a"; of long ones the first few.
std::string describe_cycle(std::vector<Index> const& cycle, std::function<std::string(Index)> const& name_of);

}  // namespace hornbill
