/// \file
/// Reductions of tables that are in the host's memory, and together larger than a device's: they go through it in slices.
#pragma once

#include <cstddef>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables {

/// A reduction with the states of its output's slowest variables given, so that its tables are small enough.
struct HostSlices {
  HostReductions reductions{{}};  ///< of slices: those of the inputs are given, in their order
  std::vector<Index> fixed;       ///< variables, the slowest first
  double count = 1;               ///< joint states of these
};

/// As few variables given as it takes for a slice to fit.
/// \param reduction  its number   \param most_bytes  on the device
/// \throws CapacityError where even one row of the output needs more
template <class Value>
HostSlices make_slices(HostReductions const& host, Index reduction, std::size_t most_bytes);

/// Runs all reductions, one after another, in slices of their outputs; waits for `exec`.
/// \param values  of make_values() for the host's memory, the given ones set   \param most_bytes  on the device
/// \return slices that went through the device   \throws CapacityError as make_slices()
template <class Semiring, class ExecutionSpace>
double reduce_in_slices(ExecutionSpace const& exec, HostReductions const& host, TableValues<typename Semiring::Value, Kokkos::HostSpace> const& values, std::size_t most_bytes);
/// The same of some.   \param wanted  numbers of reductions, ascending
template <class Semiring, class ExecutionSpace>
double reduce_in_slices(ExecutionSpace const& exec, HostReductions const& host, TableValues<typename Semiring::Value, Kokkos::HostSpace> const& values, std::vector<Index> const& wanted,
                        std::size_t most_bytes);

}  // namespace hornbill::tables

#include <hornbill/detail/tables/slices.hpp>
