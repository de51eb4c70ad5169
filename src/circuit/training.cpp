#include <hornbill/circuit/training_state.hpp>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <numeric>
#include <random>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::circuit {

char const* name_of(Update update) {
  static constexpr std::array<char const*, 3> names{"full", "mini", "anemone"};
  return names.at(static_cast<std::size_t>(update));
}

void validate(TrainingOptions const& options) {
  auto const require = [](bool is_right, char const* name, double value, char const* wanted) {
    if (!is_right) throw InputError("training", name, fmt::format("is {}; it must be {}", value, wanted));
  };
  require(options.batch_size >= 1, "batch_size", options.batch_size, "at least 1");
  require(options.batches_per_update >= 1, "batches_per_update", options.batches_per_update, "at least 1");
  for (auto const& [name, size] :
       {std::pair("step_size", options.step_size), std::pair("final_step_size", options.final_step_size)}) {
    require(std::isfinite(size) && size > 0 && size <= 1, name, size, "more than 0, and at most 1");
    if (options.update == Update::full_batch) require(size == 1, name, size, "1 where the update is full");
  }
  require(std::isfinite(options.momentum) && options.momentum >= 0 && options.momentum < 1, "momentum",
          options.momentum, "at least 0, and less than 1");
  if (options.update != Update::anemone)
    require(options.momentum == 0, "momentum", options.momentum, "0 where the update is not anemone");
  require(std::isfinite(options.pseudocount) && options.pseudocount >= 0, "pseudocount", options.pseudocount,
          "at least 0");
}

double step_size_of(TrainingOptions const& options, Offset epoch) {
  if (options.epochs <= 1 || epoch <= 0) return options.step_size;
  double const part = std::min(1.0, static_cast<double>(epoch) / static_cast<double>(options.epochs - 1));
  return options.step_size + part * (options.final_step_size - options.step_size);
}

std::vector<Offset> order_of(TrainingOptions const& options, Offset num_samples, Offset epoch) {
  std::vector<Offset> order(static_cast<std::size_t>(num_samples));
  std::iota(order.begin(), order.end(), Offset{0});
  if (options.update == Update::full_batch) return order;
  // by hand: that of the standard library may differ from one to the next
  std::seed_seq seeds{options.seed & 0xffffffffU, options.seed >> 32U, static_cast<std::uint64_t>(epoch)};
  std::mt19937_64 random(seeds);
  for (auto i = order.size(); i > 1; --i) std::swap(order[i - 1], order[static_cast<std::size_t>(random() % i)]);
  return order;
}

std::uint64_t fingerprint(Samples const& samples, std::vector<double> const& weights, Parameters const& parameters) {
  std::uint64_t hash = 0xcbf29ce484222325U;  // FNV-1a, of 64-bit words
  auto const add = [&](std::uint64_t word) { hash = (hash ^ word) * 0x100000001b3U; };
  auto const add_all = [&](std::vector<double> const& values) {
    add(values.size());
    for (double value : values) add(value == value ? std::bit_cast<std::uint64_t>(value) : 1);
  };
  add(static_cast<std::uint64_t>(samples.num_variables));
  add_all(samples.values);
  for (auto const& [variable, likelihoods] : samples.soft) {
    add(static_cast<std::uint64_t>(variable));
    add_all(likelihoods);
  }
  add_all(weights);
  add_all(parameters.sum);
  add_all(parameters.input);
  return hash;
}

}  // namespace hornbill::circuit
