/// \file
/// Best states of what was eliminated.
#pragma once

#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables {

/// Variables whose best joint state is that for which the product of some tables is best.
struct HostDecodeStep {
  std::vector<Index> inputs;      ///< tables; their other variables are told by later steps
  std::vector<Index> eliminated;  ///< the slowest first
};

/// The steps that tell what reductions eliminated, of those that some table is made by.   \param result  e.g. a table
/// without variables
std::vector<HostDecodeStep> decode_steps(HostReductions const& reductions, Index result);

namespace detail {

struct DecodeStep {
  Offset first_input = 0, last_input = 0;
  Offset first_variable = 0, last_variable = 0;
  Offset states = 1;  ///< joint ones
};
struct DecodeInput {
  Offset begin = 0;  ///< of its table
  Index table = 0;
  Offset first_term = 0, last_term = 0;  ///< variables that are known
  Offset first_stride = 0;               ///< of those that are looked for
};
struct DecodeTerm {
  Offset stride = 0;
  Index variable = 0;
};
struct DecodeVariable {
  Index variable = 0, states = 0;
};

/// Steps as kernels see them.
template <class MemorySpace>
struct DecodeSteps {
  Kokkos::View<DecodeStep const*, MemorySpace> steps;
  Kokkos::View<DecodeInput const*, MemorySpace> inputs;
  Kokkos::View<DecodeTerm const*, MemorySpace> terms;
  Kokkos::View<DecodeVariable const*, MemorySpace> variables;
  Kokkos::View<Offset const*, MemorySpace> strides;
};

}  // namespace detail

/// Steps on a device; those that need no other first.
template <class MemorySpace>
struct DecodePlan {
  detail::DecodeSteps<MemorySpace> on_device;
  std::vector<Launch> launches;  ///< of steps, in order
};

/// Copies steps to where they will run; waits for `exec`.   \param steps  in an order of elimination
template <class ExecutionSpace>
DecodePlan<typename ExecutionSpace::memory_space> make_decode_plan(ExecutionSpace const& exec,
                                                                   HostReductions const& host,
                                                                   std::vector<HostDecodeStep> const& steps);

/// Scratch of decode(), of one run at a time: where the variables that are known put each input.
/// \shape [inputs of all steps]
template <class ExecutionSpace>
Kokkos::View<Offset*, typename ExecutionSpace::memory_space> make_decode_scratch(
    ExecutionSpace const& exec, DecodePlan<typename ExecutionSpace::memory_space> const& plan);

/// A best assignment: of several best states (probabilities: to rounding) the first; where nothing is possible, any.
/// \async yes
/// \param known  of make_decode_scratch()   \param[out] assignment  of the variables of all steps   \shape [V]
template <class Semiring, class ExecutionSpace>
void decode(ExecutionSpace const& exec, DecodePlan<typename ExecutionSpace::memory_space> const& plan,
            TableValues<typename Semiring::Value, typename ExecutionSpace::memory_space> const& values,
            Kokkos::View<Offset*, typename ExecutionSpace::memory_space> const& known,
            Kokkos::View<Index*, typename ExecutionSpace::memory_space> const& assignment);

}  // namespace hornbill::tables

#include <hornbill/tables/detail/decode.hpp>
