#include <string>
#include <utility>

#include <fmt/format.h>

#include <hornbill/circuit/training.hpp>
#include <hornbill/error.hpp>

namespace hornbill::circuit {
namespace {

[[noreturn]] void refuse_state(char const* member, std::string const& why) {
  throw InputError("training", member, why);
}

void require_momentum(char const* name, std::vector<double> const& momentum, Offset size, bool is_wanted) {
  auto const wanted = is_wanted ? static_cast<std::size_t>(size) : 0;
  if (momentum.size() != wanted)
    refuse_state(name, fmt::format("has {} entries; {} are needed", momentum.size(), wanted));
}

void require_positive(char const* name, std::vector<double> const& values, std::size_t i) {
  if (!(values[i] >= 0)) refuse_state(name, fmt::format("entry {} is {}; it must be at least 0", i, values[i]));
}

}  // namespace

void validate(TrainingState const& state, TrainingOptions const& options, Offset num_batches, HostPlan const& plan,
              HostFlowPlan const& flow_plan) {
  constexpr Offset most = Offset{1} << 52;
  for (auto const& [name, count] : {std::pair("epoch", state.epoch), std::pair("updates", state.updates)})
    if (count < 0 || count > most) refuse_state(name, fmt::format("is {}; it must be from 0 to {}", count, most));
  Offset const at_a_time = options.update == Update::full_batch ? num_batches : options.batches_per_update;
  if (state.batch < 0 || state.batch >= num_batches || state.batch % at_a_time != 0)
    refuse_state("batch", fmt::format("is {}; an epoch has {}, and updates are behind {} of them", state.batch,
                                      num_batches, at_a_time));
  auto const& sums = state.sums;
  bool const is_sound = sums.weight >= 0 && sums.impossible >= 0 && sums.recomputed >= 0 &&
                        sums.impossible <= sums.samples && sums.recomputed <= sums.samples && sums.samples <= most;
  if (!is_sound) refuse_state("sums", "are of no samples that can be");
  bool const has_momentum = options.update == Update::anemone && !state.sum_momentum.empty();
  if (options.update == Update::anemone && state.updates > 0 && state.sum_momentum.empty() &&
      plan.num_sum_parameters > 0)
    refuse_state("sum_momentum", fmt::format("has no entries after {} updates", state.updates));
  require_momentum("sum_momentum", state.sum_momentum, plan.num_sum_parameters, has_momentum);
  require_momentum("input_momentum", state.input_momentum, flow_plan.num_statistics, has_momentum);
  for (std::size_t i = 0; i < state.sum_momentum.size(); ++i) require_positive("sum_momentum", state.sum_momentum, i);
  for (auto const& group : flow_plan.input_statistics) {
    auto const& input = plan.inputs[static_cast<std::size_t>(group.distributions)];
    for (Index c = 0; has_momentum && c < num_statistics(input.kind, input.num_categories); ++c)
      for (Index i = group.first; i < group.first + group.size; ++i)
        if (input.kind != InputKind::gaussian || c != 1)  // a first moment may be negative
          require_positive("input_momentum", state.input_momentum,
                           static_cast<std::size_t>(group.statistics + Offset{c} * input.size + i));
  }
}

}  // namespace hornbill::circuit
