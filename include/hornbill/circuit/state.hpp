/// \file
/// Memory of one evaluation of a circuit.
#pragma once

#include <cstddef>
#include <cstdint>

#include <Kokkos_Core.hpp>

#include <hornbill/circuit/plan.hpp>
#include <hornbill/circuit/samples.hpp>

namespace hornbill::circuit {

/// Columns that matrix units multiply: of each up to 64 values of each sample, as planes of half precision, with a
/// power of 2 for each sample.
template <class MemorySpace>
struct Columns {
  Kokkos::View<std::uint16_t*, MemorySpace> planes;  ///< [columns, blocks of 64 samples, planes, 64 values, 64 samples]
  Kokkos::View<Exponent*, MemorySpace> exponents;    ///< [columns, stride]
  Kokkos::View<float*, MemorySpace> errors, losses;  ///< [columns, stride] of each value, in units of 2^exponent
  Index blocks = 0;                                  ///< of samples
  Index num_planes = 0;
  Offset stride = 0;
};

/// Values of a batch of samples.
///
/// The value of node i of a tile t is values(row of i, sample) * 2^exponents(t, sample). All are at most 1; the
/// largest of a tile is from 1/2 on, unless its error is large, or it was too small for one power of 2. Whether samples
/// are certain is known from two numbers more: `smallest`, of values that are not 0, and `errors`, a bound of how far
/// each value can be from the true one because something was too small to be held.
template <class Value, class MemorySpace>
struct State {
  Index batch_size = 0;                             ///< most samples at a time
  Index num_samples = 0;                            ///< that are there now
  Offset stride = 0;                                ///< between rows: batch_size, rounded up
  Kokkos::View<Value*, MemorySpace> values;         ///< [num_rows, stride]
  Kokkos::View<Exponent*, MemorySpace> exponents;   ///< [tiles, stride]
  Kokkos::View<Value*, MemorySpace> smallest;       ///< [tiles, stride]
  Kokkos::View<Value*, MemorySpace> errors;         ///< [tiles, stride]
  Kokkos::View<double*, MemorySpace> samples;       ///< [num_variables, stride], NaN where a value is missing
  Kokkos::View<Offset*, MemorySpace> soft_offsets;  ///< [num_variables], into soft, -1 of variables without likelihoods
  Kokkos::View<double*, MemorySpace> soft;          ///< [categories of these variables, stride]
  Kokkos::View<double*, MemorySpace> log_likelihood;    ///< [stride], ln p(sample), or -infinity
  Kokkos::View<std::uint8_t*, MemorySpace> is_certain;  ///< [stride] whether that is right but for rounding
  Columns<MemorySpace> terms;                           ///< of a layer, where matrix units do some
};

/// Bytes that a state takes on the device, beside those of the plan, of parameters and of likelihoods.   \units bytes
template <class Value>
std::size_t bytes_of_state(HostPlan const& plan, Index batch_size);
extern template std::size_t bytes_of_state<float>(HostPlan const&, Index);
extern template std::size_t bytes_of_state<double>(HostPlan const&, Index);

/// Bytes that a plan takes there.   \units bytes
std::size_t bytes_of_plan(HostPlan const& plan);

/// Bytes that parameters take there.   \units bytes
template <class Value>
std::size_t bytes_of_parameters(HostPlan const& plan);
extern template std::size_t bytes_of_parameters<float>(HostPlan const&);
extern template std::size_t bytes_of_parameters<double>(HostPlan const&);

/// \param available  bytes for a state
/// \throws CapacityError naming the largest batch size that fits
template <class Value>
void require_fit(HostPlan const& plan, Index batch_size, std::size_t available);
extern template void require_fit<float>(HostPlan const&, Index, std::size_t);
extern template void require_fit<double>(HostPlan const&, Index, std::size_t);

/// Allocates a state.
/// \param max_bytes  it may take
/// \throws CapacityError naming the largest batch size that fits, before anything is allocated
template <class Value, class ExecutionSpace>
State<Value, typename ExecutionSpace::memory_space> make_state(ExecutionSpace const& exec,
                                                               Plan<typename ExecutionSpace::memory_space> const& plan,
                                                               Index batch_size,
                                                               std::size_t max_bytes = ~std::size_t{0});

/// Copies samples first to first + count - 1 to the device.
/// \param samples  valid ones of the circuit   \throws ShapeError of more samples than the state has room for
/// \note waits for `exec`
template <class Value, class ExecutionSpace>
void observe(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
             State<Value, typename ExecutionSpace::memory_space>& state, Samples const& samples, Offset first,
             Index count);

/// The same of any samples, by number.
template <class Value, class ExecutionSpace>
void observe(ExecutionSpace const& exec, Plan<typename ExecutionSpace::memory_space> const& plan,
             State<Value, typename ExecutionSpace::memory_space>& state, Samples const& samples,
             std::vector<Offset> const& which);

}  // namespace hornbill::circuit
