/// \file
/// Reductions of tables that are in the host's memory, and together larger than a device's: they go through it in
/// slices.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include <Kokkos_Core.hpp>

#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables {

/// Reductions whose tables are together small enough: one, with the states of its output's slowest variables given; or
/// several as they are.
struct HostSlices {
  HostReductions reductions{{}};
  /// tables that its given ones are slices of, in their order; first those without a fixed variable
  std::vector<Index> sources;
  std::vector<Index> targets;  ///< tables that its others are slices of, in their order
  std::vector<Index> fixed;    ///< variables whose states are given, the slowest first
  double count = 1;            ///< joint states of these
};

/// As few variables given as it takes for a slice to fit, and none of what fits together.
/// \param wanted  numbers of reductions, ascending   \param max_bytes  on the device
/// \throws CapacityError where even one row of an output needs more
template <class Value>
std::vector<HostSlices> make_slices(HostReductions const& host, std::span<Index const> wanted, std::size_t max_bytes);

/// Runs all reductions in slices of their outputs, those that fit together at once; waits for `exec`.
/// \param values  of make_values() for the host's memory, the given ones set   \param max_bytes  on the device
/// \return slices that went through the device   \throws CapacityError as make_slices()
template <class Semiring, class ExecutionSpace>
double reduce_in_slices(ExecutionSpace const& exec, HostReductions const& host,
                        TableValues<typename Semiring::Value, Kokkos::HostSpace> const& values, std::size_t max_bytes);
/// The same of some.   \param wanted  numbers of reductions, ascending
template <class Semiring, class ExecutionSpace>
double reduce_in_slices(ExecutionSpace const& exec, HostReductions const& host,
                        TableValues<typename Semiring::Value, Kokkos::HostSpace> const& values,
                        std::span<Index const> wanted, std::size_t max_bytes);

}  // namespace hornbill::tables

#include <hornbill/tables/detail/slices.hpp>
