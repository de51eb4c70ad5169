/// \file
/// How a circuit is trained, and how far that is.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <hornbill/circuit/circuit.hpp>
#include <hornbill/circuit/samples.hpp>

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
  bool keep_zeros = false;                  ///< whether parameters that are 0 stay 0
  std::uint64_t seed = 0;                   ///< of the samples' order in each epoch, of mini_batch and anemone
  std::size_t max_bytes = ~std::size_t{0};  ///< that the training may take on the device

  bool operator==(TrainingOptions const&) const = default;
};

/// Checks a training's options.   \throws InputError naming the option
void validate(TrainingOptions const& options);

/// A number of samples, their weights, and the parameters at the start that others do not have, but for chance.
std::uint64_t fingerprint(Samples const& samples, std::vector<double> const& weights, Parameters const& parameters);

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

}  // namespace hornbill::circuit
