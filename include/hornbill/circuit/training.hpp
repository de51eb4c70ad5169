/// \file
/// Parameters learnt from samples.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <hornbill/circuit/learning.hpp>

namespace hornbill::circuit {

/// Which flows parameters follow. The numbers are those of files.
enum class Update : std::uint8_t {
  full_batch,  ///< those of all samples: an epoch is a step, and none makes the samples less likely
  mini_batch,  ///< those of some batches, by a part of the way
  /// Those of some batches and of those before, each parameter by as much as they have to do with it: with W the weight
  /// of the batches, m the momentum and TD(n) the flow that node n has without any evidence,
  ///
  ///     F <- m F + (1 - m) flows / W,    theta <- a F / (1 - m^updates) + (1 - a) TD(n) theta,  normalised
  ///
  /// \source Liu, Shao and Van den Broeck 2025
  anemone,
};

/// "full", "mini" or "anemone".
char const* name_of(Update update);

struct TrainingOptions {
  Update update = Update::full_batch;
  Index batch_size = 512;        ///< samples at a time
  Index batches_per_update = 1;  ///< of mini_batch and anemone
  double step_size = 1;          ///< in the first epoch; more than 0, at most 1; 1 of full_batch
  double final_step_size = 1;    ///< in epoch `epochs`; between them it changes evenly
  Offset epochs = 1;             ///< that are planned
  double momentum = 0;           ///< of anemone; at least 0, less than 1
  /// of samples of the whole set that each distribution sees beside the true ones, see em_step(); batches have their
  /// share of it
  double pseudocount = 0;
  bool keep_zeros = false;  ///< whether parameters that are 0 stay 0
  std::uint64_t seed = 0;   ///< of the samples' order in each epoch, of mini_batch and anemone
  std::size_t max_bytes = ~std::size_t{0};

  bool operator==(TrainingOptions const&) const = default;
};

/// Checks a training's options.   \throws InputError naming the option
void validate(TrainingOptions const& options);

/// Step size of an epoch, counted from 0.
double step_size_of(TrainingOptions const& options, Offset epoch);

/// Order of an epoch's samples.
std::vector<Offset> order_of(TrainingOptions const& options, Offset num_samples, Offset epoch);

/// What an epoch has seen so far.
struct EpochSums {
  double log_likelihood = 0;  ///< of possible samples, by weight, under the parameters before each update
  double weight = 0;          ///< of these
  Offset samples = 0;         ///< of any kind
  Offset impossible = 0;      ///< which were skipped
  Offset recomputed = 0;      ///< that had to be computed exactly

  double mean_log_likelihood() const { return weight > 0 ? log_likelihood / weight : 0; }
  bool operator==(EpochSums const&) const = default;
};

/// All that a run needs to go on where it stopped, bit for bit.
struct TrainingState {
  Parameters parameters;
  Offset epoch = 0;                                      ///< that is under way, counted from 0
  Offset batch = 0;                                      ///< of it, that comes next
  Offset updates = 0;                                    ///< that have been
  EpochSums sums{};                                      ///< of this epoch
  std::vector<double> sum_momentum{}, input_momentum{};  ///< see Flows; none before the first update of anemone
};

/// Bytes that training takes on the device, beside plans and parameters.   \units bytes
template <class Value>
std::size_t bytes_of_training(HostPlan const& plan, HostFlowPlan const& flow_plan, TrainingOptions const& options);
extern template std::size_t bytes_of_training<float>(HostPlan const&, HostFlowPlan const&, TrainingOptions const&);
extern template std::size_t bytes_of_training<double>(HostPlan const&, HostFlowPlan const&, TrainingOptions const&);

/// \throws CapacityError naming the largest batch size that fits in TrainingOptions::max_bytes
template <class Value>
void require_fit(HostPlan const& plan, HostFlowPlan const& flow_plan, TrainingOptions const& options);
extern template void require_fit<float>(HostPlan const&, HostFlowPlan const&, TrainingOptions const&);
extern template void require_fit<double>(HostPlan const&, HostFlowPlan const&, TrainingOptions const&);

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
  /// \return whether it ended an epoch: of the one before epoch(), finished() tells
  bool update();

  Offset epoch() const { return state_.epoch; }
  /// Of the epoch that ended last.
  EpochSums const& finished() const { return finished_; }
  /// Of the epoch that is under way.
  EpochSums const& under_way() const { return state_.sums; }
  /// What is needed to go on from here.   \note waits for the device
  TrainingState state() const;

 private:
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
