/// \file
/// Parameters learnt from samples.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <vector>

#include <hornbill/circuit/learning.hpp>
#include <hornbill/circuit/memory.hpp>
#include <hornbill/circuit/training_state.hpp>

namespace hornbill::circuit {

/// Checks that a training can go on from a state.
/// \param num_batches  of an epoch   \throws InputError naming the member
void validate(TrainingState const& state, TrainingOptions const& options, Offset num_batches, HostPlan const& plan,
              HostFlowPlan const& flow_plan);

/// Learns the parameters of a circuit.
///
///     Trainer<float, Exec> trainer(exec, circuit, plan, samples, {}, options, {parameters});
///     while (trainer.epoch() < options.epochs) trainer.update();
///     trainer.state().parameters
///
/// Batches are the same whatever the precision, and so are all steps of two runs on one backend and precision.
template <class Value, class ExecutionSpace>
class Trainer {
 public:
  using MemorySpace = typename ExecutionSpace::memory_space;

  /// \param plan     of the circuit   \param samples  valid ones; both circuit and samples must outlive the trainer
  /// \param weights  of samples, at least 0; none are all 1   \shape [samples]
  /// \param start    parameters to begin with, or where an earlier run stopped
  /// \throws CapacityError, ShapeError, InputError of options and of samples that all weigh nothing
  Trainer(ExecutionSpace const& exec, Circuit const& circuit, HostPlan const& plan, Samples const& samples,
          std::vector<double> weights, TrainingOptions const& options, TrainingState start);

  /// Goes on to the next update of parameters. Epochs end with one.
  /// \param after_batch  is called after each batch
  /// \return whether it ended an epoch: of the one before epoch(), finished() tells
  bool update(std::function<void()> const& after_batch = {});

  Offset epoch() const { return state_.epoch; }
  /// Of the epoch that ended last.
  EpochSums const& finished() const { return finished_; }
  /// Of the epoch that is under way.
  EpochSums const& under_way() const { return state_.sums; }
  /// What is needed to go on from here.   \note waits for the device
  TrainingState state() const;

 private:
  Offset num_batches() const { return (samples_.size() + options_.batch_size - 1) / options_.batch_size; }
  Plan<MemorySpace> const& pass_both_ways();
  void add_batch(std::vector<Offset> const& which);
  void learn(double weight);
  void follow_momentum(double weight);

  ExecutionSpace exec_;
  Circuit const& circuit_;
  Samples const& samples_;
  std::vector<double> weights_;
  double total_weight_ = 0;
  TrainingOptions options_;
  TrainingState state_;  ///< without what is on the device
  EpochSums finished_;
  std::vector<Offset> order_;  ///< of samples in this epoch
  Plan<MemorySpace> plan_;
  std::optional<Plan<MemorySpace>> plain_plan_;  ///< for batches of which matrix units are not certain
  FlowPlan<MemorySpace> flow_plan_;
  Distributions<MemorySpace> distributions_;
  DeviceParameters<Value, MemorySpace> parameters_;
  State<Value, MemorySpace> batch_;
  FlowState<Value, MemorySpace> batch_flows_;
  Flows<MemorySpace> flows_;
  Kokkos::View<double*, MemorySpace> sum_momentum_, input_momentum_;
  Samples nothing_;  ///< one sample of which no value is known
};

}  // namespace hornbill::circuit

#include <hornbill/circuit/detail/trainer.hpp>
