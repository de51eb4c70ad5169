// Tiles of parameters.
#pragma once

#include <vector>

#include <hornbill/circuit/flow_plan.hpp>

namespace hornbill::circuit {

/// Tiles that have no parameter in common, each with its uses in `uses`. Where ties make segments overlap, these are
/// cut.
std::vector<ParameterTile> tiles_of_parameters(HostPlan const& plan, std::vector<ParameterUse>& uses);

}  // namespace hornbill::circuit
