/// \file
/// Memory that evaluating and training a circuit take on the device, known before anything is allocated.
#pragma once

#include <cstddef>

#include <hornbill/circuit/flow_plan.hpp>
#include <hornbill/circuit/samples.hpp>
#include <hornbill/circuit/training_state.hpp>

namespace hornbill::circuit {

/// Bytes of the parts of a run on the device.   \units bytes
struct MemoryEstimate {
  std::size_t plan = 0;        ///< tiles, terms and segments, and where flows go
  std::size_t parameters = 0;  ///< also as planes of matrix units
  std::size_t values = 0;      ///< of a batch, with its samples
  std::size_t flows = 0;       ///< of a batch, and sums of them; momentum; distributions
  std::size_t exact = 0;       ///< of the pass for samples with numbers too small for the precision
  std::size_t peak = 0;        ///< at a time, if some samples have such numbers
};

/// Memory of log_likelihoods().
/// \param plan             as lay_out() makes it
/// \param soft_categories  of all variables with likelihoods together, see soft_categories()
template <class Value>
MemoryEstimate estimate(Circuit const& circuit, HostPlan const& plan, Index batch_size, Offset soft_categories = 0);
extern template MemoryEstimate estimate<float>(Circuit const&, HostPlan const&, Index, Offset);
extern template MemoryEstimate estimate<double>(Circuit const&, HostPlan const&, Index, Offset);

/// Memory of a Trainer.
template <class Value>
MemoryEstimate estimate(Circuit const& circuit, HostPlan const& plan, HostFlowPlan const& flow_plan,
                        TrainingOptions const& options, Offset soft_categories = 0);
extern template MemoryEstimate estimate<float>(Circuit const&, HostPlan const&, HostFlowPlan const&,
                                               TrainingOptions const&, Offset);
extern template MemoryEstimate estimate<double>(Circuit const&, HostPlan const&, HostFlowPlan const&,
                                                TrainingOptions const&, Offset);

/// \throws CapacityError naming the largest batch size that fits, if `batch_size` takes more than `available` bytes
template <class Value>
void require_fit(Circuit const& circuit, HostPlan const& plan, Index batch_size, std::size_t available,
                 Offset soft_categories = 0);
extern template void require_fit<float>(Circuit const&, HostPlan const&, Index, std::size_t, Offset);
extern template void require_fit<double>(Circuit const&, HostPlan const&, Index, std::size_t, Offset);

/// The same of training, in TrainingOptions::max_bytes.
template <class Value>
void require_fit(Circuit const& circuit, HostPlan const& plan, HostFlowPlan const& flow_plan,
                 TrainingOptions const& options, Offset soft_categories = 0);
extern template void require_fit<float>(Circuit const&, HostPlan const&, HostFlowPlan const&, TrainingOptions const&,
                                        Offset);
extern template void require_fit<double>(Circuit const&, HostPlan const&, HostFlowPlan const&, TrainingOptions const&,
                                         Offset);

/// Categories of variables that samples have likelihoods of.   \throws ShapeError of samples of other variables
Offset soft_categories(HostPlan const& plan, Samples const& samples);

}  // namespace hornbill::circuit

namespace hornbill::circuit::detail {

/// Exact flows that are copied to the device at a time.
inline constexpr std::size_t exact_flows_at_a_time = std::size_t{1} << 20;

}  // namespace hornbill::circuit::detail
