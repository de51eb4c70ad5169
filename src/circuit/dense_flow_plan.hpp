// Flows that matrix units sum up.
#pragma once

#include <hornbill/circuit/flow_plan.hpp>

namespace hornbill::circuit {

/// Fills HostFlowPlan::dense, and puts parameter tiles that matrix units do behind the others.
void plan_dense_flows(HostPlan const& plan, HostFlowPlan& flow);

}  // namespace hornbill::circuit
