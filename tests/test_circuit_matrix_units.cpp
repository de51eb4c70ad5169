// Layers by matrix units: on backends that have none the same steps are done by plain loops.
#include <algorithm>
#include <cmath>
#include <random>
#include <tuple>

#include <doctest/doctest.h>
#include <fmt/format.h>

#include <hornbill/circuit.hpp>
#include <hornbill/error.hpp>
#include <reference/circuit.hpp>

#include "support/cells.hpp"
#include "support/compare.hpp"
#include "support/random_circuits.hpp"

using namespace hornbill;
using circuit::InputKind, circuit::MatrixUnits, circuit::NodeKind, circuit::Samples;
using circuit::detail::from_half, circuit::detail::to_half;

namespace {

/// A circuit with matrix units, or without.
template <class T>
struct Evaluation {
  using Memory = typename T::Memory;
  typename T::Exec exec;
  circuit::Plan<Memory> plan;
  circuit::FlowPlan<Memory> flow_plan;
  circuit::DeviceParameters<float, Memory> parameters;
  circuit::State<float, Memory> state;
  circuit::FlowState<float, Memory> of_batch;
  circuit::Flows<Memory> flows;

  Evaluation(test::RandomCircuit const& made, circuit::PlanOptions const& options, Index batch_size)
      : plan(make_plan(exec, circuit::make_plan(made.circuit, options))),
        flow_plan(make_flow_plan(exec, circuit::make_flow_plan(plan.host))),
        parameters(circuit::to_device<float>(exec, plan, made.parameters)),
        state(circuit::make_state<float>(exec, plan, batch_size)),
        of_batch(make_flow_state(exec, plan, flow_plan, state)),
        flows(make_flows(exec, plan, flow_plan)) {}

  void run(Samples const& samples, std::vector<double> const& weights = {}) {
    auto const count = static_cast<Index>(samples.size());
    observe(exec, plan, state, samples, 0, count);
    forward(exec, plan, parameters, state);
    backward(exec, plan, flow_plan, parameters, state, of_batch);
    add_flows(exec, plan, flow_plan, parameters, state, of_batch, weights, flows);
  }

  std::vector<double> logs(Offset count) {
    auto result = detail::to_vector(exec, state.log_likelihood);
    result.resize(static_cast<std::size_t>(count));
    return result;
  }
  Offset uncertain(Offset count) {
    auto const certain = detail::to_vector(exec, state.is_certain);
    return std::count(certain.begin(), certain.begin() + count, 0);
  }
};

std::vector<double> expected_logs(test::RandomCircuit const& made, Samples const& samples) {
  std::vector<double> result;
  for (Offset s = 0; s < samples.size(); ++s)
    result.push_back(
        static_cast<double>(reference::circuit_log_values(made.circuit, made.parameters, samples, s).back()));
  return result;
}

/// Flows of parameters of sums, over all samples.
std::vector<double> expected_parameter_flows(test::RandomCircuit const& made, Samples const& samples,
                                             std::vector<double> const& weights) {
  std::vector<double> result(made.parameters.sum.size());
  for (Offset s = 0; s < samples.size(); ++s) {
    if (!weights.empty() && weights[static_cast<std::size_t>(s)] == 0) continue;
    auto const logs = reference::circuit_log_values(made.circuit, made.parameters, samples, s);
    if (std::isinf(logs.back())) continue;
    auto const flows = reference::circuit_flows(made.circuit, made.parameters, samples, s, logs);
    for (std::size_t i = 0; i < result.size(); ++i)
      result[i] += (weights.empty() ? 1 : weights[static_cast<std::size_t>(s)]) * static_cast<double>(flows.sum[i]);
  }
  return result;
}

test::RandomCircuit with_parameters(circuit::Circuit made, unsigned seed) {
  auto parameters = circuit::initial_parameters(made, seed);
  return {std::move(made), std::move(parameters)};
}

Offset dense_layers(circuit::HostPlan const& plan) {
  return std::ranges::count_if(plan.dense.layers, &circuit::DenseLayer::is_dense);
}

/// Structures with tiles that are full, or nearly.
std::vector<std::pair<std::string, test::RandomCircuit>> dense_circuits() {
  circuit::InputChoice const letters{InputKind::categorical, 7};
  std::vector<std::pair<std::string, test::RandomCircuit>> result;
  for (Index states : {40, 64, 150})
    result.emplace_back(fmt::format("chain of {} states", states),
                        with_parameters(make_circuit(circuit::HiddenMarkovModel{6, states, letters}), 1));
  result.emplace_back("chain, not homogeneous",
                      with_parameters(make_circuit(circuit::HiddenMarkovModel{5, 128, letters, false}), 2));
  circuit::VariableTree const tree{{-1, 0, 0, 1, 1, 1, 1, 1, 2}};
  result.emplace_back(
      "tree",
      with_parameters(make_circuit(circuit::HiddenTree{tree, 96, std::vector<circuit::InputChoice>(9, letters)}), 3));
  result.emplace_back("random tensor network",
                      with_parameters(make_circuit(circuit::RandomTensorNetwork{16, 70, 3, 2, 2, letters}), 4));
  return result;
}

}  // namespace

TEST_CASE("circuit matrix units: halves are rounded to the nearest") {
  std::mt19937 random(1);
  for (int i = 0; i < 100'000; ++i) {
    float const value =
        std::ldexp(std::uniform_real_distribution<float>(-1, 1)(random), static_cast<int>(random() % 45) - 30);
    float const found = from_half(to_half(value));
    int exponent = 0;
    std::frexp(value, &exponent);
    float const place = std::ldexp(1.0f, std::max(exponent - 11, -24));
    REQUIRE(std::abs(found - value) <= place / 2);
    REQUIRE(std::remainder(found, place) == 0);
  }
  CHECK(to_half(1) == 0x3c00);
  CHECK(to_half(0x1p15f) == 0x7800);
  CHECK(to_half(0x1p-24f) == 1);
  CHECK(to_half(0x1p-25f) == 0);  // half a unit: to the even one
  CHECK(to_half(0x1.8p-24f) == 2);
  CHECK(from_half(0x8001) == -0x1p-24f);
}

namespace {

/// Planes of tiles, one behind the other.
std::vector<std::uint16_t> planes_of(std::vector<float> const& values, Index num_planes) {
  constexpr Index size = circuit::tile_size;
  std::vector<std::uint16_t> result(values.size() * static_cast<std::size_t>(num_planes));
  for (std::size_t i = 0; i < values.size(); ++i) {
    auto const t = static_cast<Index>(i / (size * size)), in_tile = static_cast<Index>(i % (size * size));
    circuit::detail::store_planes(result.data() + circuit::detail::planes_of(t, num_planes), num_planes, in_tile / size,
                                  in_tile % size, std::ldexp(values[i], circuit::detail::plane_shift));
  }
  return result;
}

/// A number as planes hold it, but for what two of them lack.
double held(float value, Index num_planes) {
  if (num_planes == 2) return value;
  constexpr auto shift = circuit::detail::plane_shift;
  return std::ldexp(static_cast<double>(from_half(to_half(std::ldexp(value, shift)))), -shift);
}

/// Tiles of random numbers, the lists of outputs that are sums of their products, and these sums.
class TileSums {
 public:
  static constexpr Index tile = circuit::tile_size, weight_tiles = 7, columns = 7;

  /// \param run  outputs that have the same columns: of one run in four there are none   \param blocks  of samples
  /// \param used_blocks  of them   \param stride  from 64 * blocks on
  TileSums(Index outputs, Index run, Index num_planes, Index blocks = 2, Index used_blocks = 2, Offset stride = 128)
      : outputs_(outputs),
        run_(run),
        num_planes_(num_planes),
        blocks_(blocks),
        used_blocks_(used_blocks),
        samples_(used_blocks * tile),
        stride_(stride) {
    std::mt19937 random(1);
    auto const numbers = [&](Index tiles) {
      std::vector<float> result(static_cast<std::size_t>(tiles * tile * tile));
      for (float& value : result) value = std::uniform_real_distribution<float>(0, 1)(random);
      return result;
    };
    weights_ = numbers(weight_tiles);
    values_ = numbers(columns * blocks_);
    for (Index t = 0; t < weight_tiles; ++t) weight_exponents_.push_back(-static_cast<Offset>(random() % 4));
    for (Offset i = 0; i < columns * stride_; ++i)
      column_exponents_.push_back(static_cast<Offset>(random() % 40) - 5000);
    for (Index first = 0; first < outputs; first += run) {
      std::vector<Index> of_run(static_cast<std::size_t>((1 + first / run) % 4));
      for (Index& column : of_run) column = static_cast<Index>(random() % columns);
      for (Index o = first; o < first + run; ++o) {
        for (Index column : of_run) products_.push_back({static_cast<Index>(random() % weight_tiles), column});
        offsets_.push_back(std::ssize(products_));
      }
    }
  }

  template <class Exec>
  void check(Exec const& exec, bool is_transposed) const {
    auto const view = [&]<class V>(std::vector<V> const& of) {
      return detail::to_view<V, typename Exec::memory_space>(exec, "hornbill::test::numbers", of);
    };
    auto const weights = view(planes_of(weights_, num_planes_)), values = view(planes_of(values_, num_planes_));
    auto const weight_exponents = view(weight_exponents_), column_exponents = view(column_exponents_);
    auto const products = view(products_);
    auto const offsets = view(offsets_);
    auto const sums = view(std::vector<float>(static_cast<std::size_t>(outputs_ * tile * stride_)));
    auto const exponents = view(std::vector<circuit::Exponent>(static_cast<std::size_t>(outputs_ * stride_)));
    multiply(exec, circuit::detail::TileProducts{weights.data(), weight_exponents.data(), values.data(),
                                                 column_exponents.data(), products.data(), offsets.data(), nullptr,
                                                 nullptr, sums.data(), exponents.data(), outputs_, blocks_,
                                                 used_blocks_, stride_, run_, num_planes_, is_transposed});
    compare(detail::to_vector(exec, sums), detail::to_vector(exec, exponents), is_transposed);
  }

 private:
  static std::size_t entry(Index t, Index r, Index c) { return static_cast<std::size_t>((t * tile + r) * tile + c); }

  double sum(Index o, Index r, Index b, bool is_transposed, circuit::Exponent unit) const {
    double result = 0;
    for (Offset p = offsets_[static_cast<std::size_t>(o)]; p < offsets_[static_cast<std::size_t>(o) + 1]; ++p) {
      auto const& [w, c] = products_[static_cast<std::size_t>(p)];
      auto const power = weight_exponents_[static_cast<std::size_t>(w)] +
                         column_exponents_[static_cast<std::size_t>(c * stride_ + b)] - unit;
      for (Index k = 0; k < tile; ++k)
        result += held(weights_[is_transposed ? entry(w, k, r) : entry(w, r, k)], num_planes_) *
                  held(values_[entry(c * blocks_ + b / tile, k, b % tile)], num_planes_) *
                  std::ldexp(1.0, static_cast<int>(power));
    }
    return result;
  }

  void compare(std::vector<float> const& found, std::vector<circuit::Exponent> const& units, bool is_transposed) const {
    double largest = 0, mean = 0;
    Offset count = 0;
    for (Index o = 0; o < outputs_; ++o)
      for (Index b = o % 3; b < samples_; b += 3)
        for (Index r = 0; r < tile; r += 9) {
          auto const unit = units[static_cast<std::size_t>(o * stride_ + b)];
          auto const value = static_cast<double>(found[static_cast<std::size_t>((o * tile + r) * stride_ + b)]);
          if (offsets_[static_cast<std::size_t>(o)] == offsets_[static_cast<std::size_t>(o) + 1]) {
            REQUIRE(value == 0);
            REQUIRE(unit == circuit::no_exponent);
            continue;
          }
          double const error = value / sum(o, r, b, is_transposed, unit) - 1;
          largest = std::max(largest, std::abs(error));
          mean += error;
          ++count;
        }
    mean /= static_cast<double>(count);
    CHECK(largest < 6e-7);
    // sums that are cut off are too small by 4e-8 or more. Those of one plane are cut off four times, and stay so: its
    // numbers are rounded to 2e-4
    CHECK(std::abs(mean) < (num_planes_ == 2 ? 3e-8 : 2e-7));
  }

  Index outputs_, run_, num_planes_, blocks_, used_blocks_, samples_;
  Offset stride_;
  std::vector<float> weights_, values_;  ///< [tiles, 64, 64]
  std::vector<circuit::Exponent> weight_exponents_, column_exponents_;
  std::vector<circuit::TileProduct> products_;
  std::vector<Offset> offsets_{0};
};

/// Tiles of random shares of sums and values of terms, and parameters between them.
class TileFlows {
 public:
  static constexpr Index tile = circuit::tile_size, sums = 4, terms = 7, blocks = 3, used_blocks = 2, rows = 61,
                         columns = 50;
  static constexpr Offset stride = 208;

  /// \param uses  of each parameter
  TileFlows(Index strips, Index uses, Index num_planes) : num_planes_(num_planes) {
    std::mt19937 random(1);
    auto const numbers = [&](Index tiles) {
      std::vector<float> result(static_cast<std::size_t>(tiles * blocks * tile * tile));
      for (float& value : result) value = std::uniform_real_distribution<float>(0.25, 1)(random);
      return result;
    };
    shares_ = numbers(sums);
    values_ = numbers(terms);
    // a sample in eight is far below the others, and one in eleven has no flow
    for (Index i = 0; i < sums * stride; ++i)
      share_exponents_.push_back(i % 11 == 0 ? circuit::no_exponent : 5000 + static_cast<Offset>(random() % 5));
    for (Index i = 0; i < terms * stride; ++i)
      value_exponents_.push_back(-5000 - static_cast<Offset>(random() % 9) - (random() % 8 == 0 ? 20 : 0));
    for (Index s = 0; s < strips; ++s) {
      auto const begin = static_cast<Index>(parameters_.size()), end = begin + 1 + s % circuit::max_tiles_of_strip;
      std::vector<Index> sums_of_uses(static_cast<std::size_t>(s % 5 == 4 ? 1 : uses));
      for (Index& sum : sums_of_uses) sum = static_cast<Index>(random() % sums);
      for (Index p = begin; p < end; ++p) {
        auto const first = std::ssize(uses_);
        for (Index sum : sums_of_uses) uses_.push_back({sum, static_cast<Index>(random() % terms)});
        tiles_.push_back({Offset{p} * rows * columns, columns, rows, columns, 0, 0});
        parameters_.push_back(
            {p, static_cast<std::uint8_t>(p % 4), static_cast<std::uint8_t>(p % 15), first, std::ssize(uses_)});
      }
      strips_.push_back({begin, end});
    }
    for (std::size_t i = 0; i < parameters_.size() * rows * columns; ++i)
      weights_.push_back(i % 7 == 0 ? 0 : static_cast<float>(random() % 100));
    uses_of_parameter_ = uses;
  }

  template <class Exec>
  void check(Exec const& exec) const {
    auto const view = [&]<class V>(std::vector<V> const& of) {
      return detail::to_view<V, typename Exec::memory_space>(exec, "hornbill::test::numbers", of);
    };
    auto const shares = view(planes_of(shares_, num_planes_)), values = view(planes_of(values_, num_planes_));
    auto const share_exponents = view(share_exponents_), value_exponents = view(value_exponents_);
    auto const parameters = view(parameters_);
    auto const uses = view(uses_);
    auto const strips = view(strips_);
    auto const tiles = view(tiles_);
    auto const weights = view(weights_);
    auto const flows = view(std::vector<double>(weights_.size(), 1));
    auto const turns = view(std::vector<unsigned>(parameters_.size()));
    auto const add = [&] {
      add_parameter_flows(
          exec, circuit::detail::ParameterProducts{
                    shares.data(), values.data(), share_exponents.data(), value_exponents.data(), parameters.data(),
                    uses.data(), strips.data(), tiles.data(), weights.data(), 0.5, flows.data(), turns.data(),
                    static_cast<Index>(parameters_.size()), static_cast<Index>(strips_.size()), uses_of_parameter_,
                    blocks, used_blocks, stride, num_planes_});
      return detail::to_vector(exec, flows);
    };
    auto const once = add();
    compare(once);
    auto const twice = add();
    for (std::size_t i = 0; i < twice.size(); ++i) REQUIRE(std::abs(twice[i] + 1 - 2 * once[i]) <= 1e-14 * once[i]);
  }

 private:
  /// Of a parameter of weight 1.
  double flow(circuit::DenseParameters const& of, Index row, Index column) const {
    double result = 0;
    for (Offset u = of.uses_begin; u < of.uses_end; ++u)
      for (Index b = 0; b < used_blocks * tile; ++b) {
        auto const& [sum, term] = uses_[static_cast<std::size_t>(u)];
        auto const power = share_exponents_[static_cast<std::size_t>(sum * stride + b)] +
                           value_exponents_[static_cast<std::size_t>(term * stride + b)];
        if (power < -1000) continue;
        result += held(shares_[entry(sum, b, row + of.first_row)], num_planes_) *
                  held(values_[entry(term, b, column + of.first_column)], num_planes_) *
                  std::ldexp(1.0, static_cast<int>(power));
      }
    return result;
  }
  static std::size_t entry(Index of, Index b, Index i) {
    return static_cast<std::size_t>(((of * blocks + b / tile) * tile + i) * tile + b % tile);
  }

  void compare(std::vector<double> const& found) const {
    double largest = 0, mean = 0;
    Offset count = 0;
    for (std::size_t p = 0; p < parameters_.size(); ++p)
      for (Index i = static_cast<Index>(p % 13); i < rows * columns; i += 29) {
        auto const at = p * rows * columns + static_cast<std::size_t>(i);
        double const expected =
            0.5 * static_cast<double>(weights_[at]) * flow(parameters_[p], i / columns, i % columns);
        if (expected == 0) {
          REQUIRE(found[at] == 1);
          continue;
        }
        double const error = (found[at] - 1) / expected - 1;
        largest = std::max(largest, std::abs(error));
        mean += error;
        ++count;
      }
    mean /= static_cast<double>(count);
    CHECK(largest < 6e-7);
    CHECK(std::abs(mean) <
          3e-7);  // 64 samples are summed up by units, and those far below the largest are cut off more
  }

  Index num_planes_, uses_of_parameter_;
  std::vector<float> shares_, values_;  ///< [tiles, blocks, 64, 64]
  std::vector<circuit::Exponent> share_exponents_, value_exponents_;
  std::vector<circuit::DenseParameters> parameters_;
  std::vector<circuit::DenseUse> uses_;
  std::vector<circuit::DenseStrip> strips_;
  std::vector<circuit::ParameterTile> tiles_;
  std::vector<float> weights_;
};

}  // namespace

TEST_CASE_TEMPLATE("circuit matrix units: sums of products of tiles", T, HORNBILL_FLOAT_CELLS) {
  // on a GPU units of work for all multiprocessors, of one to three outputs
  constexpr Index outputs = circuit::detail::runs_on_host<typename T::Exec> ? 12 : 384;
  typename T::Exec const exec;
  for (Index num_planes : {1, 2}) {
    CAPTURE(num_planes);
    for (Index run : {1, 2, 3, 4, 6, 12}) {
      CAPTURE(run);
      TileSums const tile_sums(outputs, run, num_planes);
      for (bool is_transposed : {false, true}) tile_sums.check(exec, is_transposed);
    }
    // the last unit of a run has fewer
    for (auto const& [of_runs, run] : {std::pair(385, 5), std::pair(352, 8), std::pair(308, 7)})
      TileSums(outputs == 12 ? 2 * run : of_runs, run, num_planes).check(exec, false);
    // rows with room for more samples than there are; and too few outputs for two blocks of samples at a time
    TileSums(outputs / 2, 2, num_planes, 6, 4, 6 * 64 + 16).check(exec, true);
    TileSums(12, 1, num_planes, 3, 3, 3 * 64).check(exec, false);
  }
}

TEST_CASE_TEMPLATE("circuit matrix units: flows of parameters between tiles", T, HORNBILL_FLOAT_CELLS) {
  bool const is_host = circuit::detail::runs_on_host<typename T::Exec>;
  for (Index num_planes : {1, 2}) {
    TileFlows(7, 33, num_planes).check(typename T::Exec());  // few strips, which a GPU does in parts
    TileFlows(is_host ? 20 : 500, 3, num_planes).check(typename T::Exec());
  }
}

TEST_CASE("circuit matrix units: outputs with the same columns") {
  std::vector<circuit::TileProduct> const products{{0, 5}, {1, 6}, {2, 5}, {3, 6}, {4, 5}, {5, 5}, {6, 7}, {7, 7}};
  auto const run = [&](std::vector<Offset> const& offsets) { return circuit::run_of_equal_columns(offsets, products); };
  CHECK(run({0, 2, 4}) == 2);
  CHECK(run({0, 2, 4, 5, 6}) == 2);
  CHECK(run({0, 2, 4, 5, 6, 7}) == 1);
  CHECK(run({4, 5, 6, 7, 8}) == 2);
  CHECK(run({4, 5, 6, 6, 6, 6, 6}) == 2);  // some have no columns
  CHECK(run({0}) == 1);
}

TEST_CASE_TEMPLATE("circuit matrix units: likelihoods and flows of dense circuits", T, HORNBILL_FLOAT_CELLS) {
  for (auto const& [name, made] : dense_circuits()) {
    CAPTURE(name);
    constexpr Index count = 70;
    auto const samples = test::random_samples(made.circuit, 5, count, true);
    std::vector<double> weights;
    for (Index s = 0; s < count; ++s) weights.push_back(s % 9 == 2 ? 0.5 + s % 5 : 0);  // of few: the oracle is slow
    auto const logs = expected_logs(made, samples), flows = expected_parameter_flows(made, samples, weights);
    auto const check = [&](circuit::Planes planes, double tolerance) {
      Evaluation<T> evaluation(made, {.matrix_units = MatrixUnits::always, .planes = planes}, 130);
      CHECK(dense_layers(evaluation.plan.host) > 0);
      CHECK(evaluation.flow_plan.host.num_plain_parameters < std::ssize(evaluation.flow_plan.host.parameter_tiles));
      evaluation.run(samples, weights);
      CHECK(evaluation.uncertain(count) == 0);
      auto const of_planes = fmt::format("{}, {} planes", name, static_cast<int>(planes));
      auto const found = evaluation.logs(count);
      test::check_close(found, logs, tolerance, of_planes);
      test::check_close(detail::to_vector(evaluation.exec, evaluation.flows.sum), flows, 1.5 * tolerance,
                        of_planes + ", flows");
      return found;
    };
    auto const exact = check(circuit::Planes::two, 2e-5), rounded = check(circuit::Planes::one, 1e-3);
    CHECK(exact != rounded);
  }
}

TEST_CASE_TEMPLATE("circuit matrix units: batches of any size have the same bits", T, HORNBILL_FLOAT_CELLS) {
  auto const made = with_parameters(make_circuit(circuit::HiddenMarkovModel{4, 128, {InputKind::categorical, 7}}), 1);
  auto const samples = test::random_samples(made.circuit, 5, 130, true);
  for (auto planes : {circuit::Planes::one, circuit::Planes::two}) {
    auto const plan = circuit::make_plan(made.circuit, {.matrix_units = MatrixUnits::always, .planes = planes});
    auto const all = circuit::log_likelihoods<float>(typename T::Exec(), made.circuit, plan, made.parameters, samples);
    for (Index batch_size : {7, 64, 128}) {
      auto const again = circuit::log_likelihoods<float>(typename T::Exec(), made.circuit, plan, made.parameters,
                                                         samples, {.batch_size = batch_size});
      CHECK_MESSAGE(again.log_likelihood == all.log_likelihood, "batches of ", batch_size);
    }
  }
}

TEST_CASE_TEMPLATE("circuit matrix units: random circuits", T, HORNBILL_FLOAT_CELLS) {
  Offset dense = 0;
  for (unsigned seed = 0; seed < 6; ++seed) {
    auto const made = test::random_circuit(seed, 2 + static_cast<Index>(seed % 5),
                                           {.zeros = seed % 2 == 0 ? 0.4 : 0, .largest_vector = 90});
    auto const samples = test::random_samples(made.circuit, seed, 3, seed % 3 == 0);
    Evaluation<T> evaluation(made, {.matrix_units = MatrixUnits::always}, 3);
    dense += dense_layers(evaluation.plan.host);
    evaluation.run(samples);
    CHECK_MESSAGE(evaluation.uncertain(3) == 0, "seed ", seed);
    test::check_close(evaluation.logs(3), expected_logs(made, samples), 2e-5, fmt::format("seed {}", seed));
    test::check_close(detail::to_vector(evaluation.exec, evaluation.flows.sum),
                      expected_parameter_flows(made, samples, {}), 3e-5, fmt::format("seed {}, flows", seed));
  }
  CHECK(dense > 5);
}

TEST_CASE_TEMPLATE("circuit matrix units: what is certain is right", T, HORNBILL_FLOAT_CELLS) {
  Offset uncertain = 0, all = 0;
  for (unsigned seed = 0; seed < 20; ++seed) {
    Index const states = 64;
    auto made =
        with_parameters(make_circuit(circuit::HiddenMarkovModel{12, states, {InputKind::categorical, 5}}), seed);
    std::mt19937 random(seed);
    double const spread = 1 + seed % 8;
    auto const skew = [&](std::vector<double>& values, std::size_t first, std::size_t count) {
      double sum = 0;
      for (std::size_t i = first; i < first + count; ++i) {
        values[i] = random() % 4 == 0 ? 0 : std::pow(10.0, -spread * static_cast<double>(random() % 5));
        sum += values[i];
      }
      values[first] += 1e-3;
      for (std::size_t i = first; i < first + count; ++i) values[i] /= sum + 1e-3;
    };
    for (std::size_t i = 0; i < made.parameters.sum.size(); i += 64) skew(made.parameters.sum, i, 64);
    for (std::size_t i = 0; i < made.parameters.input.size(); i += 5) skew(made.parameters.input, i, 5);
    auto const samples = test::random_samples(made.circuit, seed, 40, false);
    Evaluation<T> evaluation(made, {.matrix_units = MatrixUnits::always}, 40);
    evaluation.run(samples);
    auto const certain = detail::to_vector(evaluation.exec, evaluation.state.is_certain);
    auto const found = evaluation.logs(40), expected = expected_logs(made, samples);
    for (std::size_t s = 0; s < 40; ++s)
      if (certain[s] != 0 && found[s] != expected[s])
        CHECK_MESSAGE(std::abs(found[s] - expected[s]) <= 2e-5, "seed ", seed, ", sample ", s);
    // flows of samples that have some, of which few are taken: the oracle is slow
    auto const known = detail::to_vector(evaluation.exec, evaluation.of_batch.is_known);
    std::vector<double> weights(40);
    for (std::size_t s = 0; s < 40; s += 4) weights[s] = known[s];
    Kokkos::deep_copy(evaluation.exec, evaluation.flows.sum, 0);
    add_flows(evaluation.exec, evaluation.plan, evaluation.flow_plan, evaluation.parameters, evaluation.state,
              evaluation.of_batch, weights, evaluation.flows);
    test::check_close(detail::to_vector(evaluation.exec, evaluation.flows.sum),
                      expected_parameter_flows(made, samples, weights), 1e-4, fmt::format("flows, seed {}", seed));
    uncertain += evaluation.uncertain(40);
    all += 40;
    // whatever is not certain is found in another way
    auto const likelihoods = circuit::log_likelihoods<float>(
        evaluation.exec, made.circuit, circuit::make_plan(made.circuit, {.matrix_units = MatrixUnits::always}),
        made.parameters, samples);
    test::check_close(likelihoods.log_likelihood, expected, 2e-5, fmt::format("seed {}", seed));
  }
  CHECK(uncertain > 0);
  CHECK(uncertain < all);
}

TEST_CASE("circuit matrix units: layers of single edges are left to others") {
  auto const made = test::random_circuit(3, 5, {.largest_vector = 4});
  auto plan = circuit::make_plan(made.circuit);
  circuit::add_dense_plan(plan);
  CHECK(plan.dense.layers.empty());
}
