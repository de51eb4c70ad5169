/// \file
/// The pass from the root to the inputs.
#pragma once

#include <vector>

#include <hornbill/circuit/flows.hpp>

namespace hornbill::circuit {

/// Copies a plan to where it will run.
/// \note waits for `exec`
template <class ExecutionSpace>
FlowPlan<typename ExecutionSpace::memory_space> make_flow_plan(ExecutionSpace const& exec, HostFlowPlan host);

/// Allocates flows of the batches of a state.
template <class Value, class ExecutionSpace>
FlowState<Value, typename ExecutionSpace::memory_space> make_flow_state(
    ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
    FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan,
    State<Value, typename ExecutionSpace::memory_space> const& state);

/// Sums of flows, all 0.
template <class ExecutionSpace>
Flows<typename ExecutionSpace::memory_space> make_flows(
    ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
    FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan);

/// Flows of all stored nodes, from the root to the inputs, after forward(). FlowState::is_known is 0 of samples that
/// are impossible or not certain, and of those where something was too large to be held.
///
/// \source Liu et al. 2024, equation 2 and algorithm 2
/// \async yes
/// \determinism bitwise on each backend, whatever samples are beside one in a batch
template <class Value, class ExecutionSpace>
void backward(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
              FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan,
              DeviceParameters<Value, typename ExecutionSpace::memory_space> const& parameters,
              State<Value, typename ExecutionSpace::memory_space> const& state,
              FlowState<Value, typename ExecutionSpace::memory_space> const& flows);

/// Adds flows of the batch's known samples, after backward().
/// \param weights  of the batch's samples, at least 0; none are all 1   \shape [num_samples]
/// \throws ShapeError   \async yes   \determinism bitwise on each backend
template <class Value, class ExecutionSpace>
void add_flows(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
               FlowPlan<typename ExecutionSpace::memory_space> const& flow_plan,
               DeviceParameters<Value, typename ExecutionSpace::memory_space> const& parameters,
               State<Value, typename ExecutionSpace::memory_space> const& state,
               FlowState<Value, typename ExecutionSpace::memory_space> const& of_batch,
               std::vector<double> const& weights, Flows<typename ExecutionSpace::memory_space> const& sums);

/// Exact flows of samples that backward() does not know, from exact values: adds those of sums, and puts those of
/// inputs in their rows, for add_flows() to add. For few samples: the host does it, node by node.
/// \param which  samples, by number   \param places  where they are in the batch   \shape [which]
/// \param weights  of the batch's samples; none are all 1
/// \return by sample of `which`: ln p, -infinity where one is impossible, and so has no flows
/// \note waits for `exec`
template <class Value, class ExecutionSpace>
std::vector<double> add_exact_flows(ExecutionSpace const& exec, Circuit const& circuit,
                                    Plan<typename ExecutionSpace::memory_space> const& plan,
                                    Parameters const& parameters,
                                    State<Value, typename ExecutionSpace::memory_space> const& state,
                                    FlowState<Value, typename ExecutionSpace::memory_space> const& of_batch,
                                    Samples const& samples, std::vector<Offset> const& which,
                                    std::vector<Index> const& places, std::vector<double> const& weights,
                                    Flows<typename ExecutionSpace::memory_space> const& sums);

}  // namespace hornbill::circuit

#include <hornbill/circuit/detail/backward.hpp>
