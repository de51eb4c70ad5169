/// \file
/// Probabilistic circuits.
#pragma once

#include <hornbill/circuit/backward.hpp>
#include <hornbill/circuit/block_sparsity.hpp>
#include <hornbill/circuit/builder.hpp>
#include <hornbill/circuit/circuit.hpp>
#include <hornbill/circuit/distributions.hpp>
#include <hornbill/circuit/fan_in_groups.hpp>
#include <hornbill/circuit/flow_plan.hpp>
#include <hornbill/circuit/flows.hpp>
#include <hornbill/circuit/forward.hpp>
#include <hornbill/circuit/grid_circuit.hpp>
#include <hornbill/circuit/initial_parameters.hpp>
#include <hornbill/circuit/learning.hpp>
#include <hornbill/circuit/memory.hpp>
#include <hornbill/circuit/network_circuit.hpp>
#include <hornbill/circuit/node_lists.hpp>
#include <hornbill/circuit/plan.hpp>
#include <hornbill/circuit/properties.hpp>
#include <hornbill/circuit/samples.hpp>
#include <hornbill/circuit/state.hpp>
#include <hornbill/circuit/structures.hpp>
#include <hornbill/circuit/training.hpp>
