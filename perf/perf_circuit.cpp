// Evaluation of probabilistic circuits of known structures; one JSON object for each structure and precision.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <hornbill/hornbill.hpp>

#include "commit.hpp"

namespace hb = hornbill;
namespace circuit = hornbill::circuit;
using nlohmann::json;

namespace {

struct Arguments {
  std::vector<std::string> circuits{"hmm,512"}, backends{hb::backend::names().back()}, precisions{"fp32"};
  hb::Index batch = 512;
  int repeats = 20;
  bool checks = false, learning = false;
  std::string commit = HORNBILL_COMMIT;
};

double seconds_since(std::chrono::steady_clock::time_point start) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
}

double median(std::vector<double> values) {
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// A random tree, as deep as Chow-Liu trees of images are.
circuit::VariableTree random_tree(hb::Index num_variables) {
  std::mt19937 random(1);
  circuit::VariableTree tree{{-1}};
  for (hb::Index v = 1; v < num_variables; ++v)
    tree.parents.push_back(static_cast<hb::Index>(random() % static_cast<unsigned>(std::min(v, 32))) +
                           std::max(v - 32, 0));
  return tree;
}

/// "hmm,STATES", "hclt,LATENTS", "rat,LATENTS" or "pd,LATENTS": the structures of table 1 of Liu et al. 2024.
circuit::Circuit circuit_named(std::string const& name) {
  auto const comma = name.find(',');
  auto const kind = name.substr(0, comma);
  auto const size = static_cast<hb::Index>(std::stol(name.substr(comma + 1)));
  circuit::InputChoice const pixels{circuit::InputKind::categorical, 256};
  if (kind == "hmm") return make_circuit(circuit::HiddenMarkovModel{32, size, {circuit::InputKind::categorical, 1000}});
  if (kind == "hclt")
    return make_circuit(circuit::HiddenTree{random_tree(784), size, std::vector<circuit::InputChoice>(784, pixels)});
  if (kind == "rat") return make_circuit(circuit::RandomTensorNetwork{784, size, 5, 2, 2, pixels});
  if (kind == "pd") return make_circuit(circuit::GridDivision{circuit::split_evenly({28, 28}, {4}), size, {pixels}});
  throw hb::InputError(fmt::format("circuit '{}' is not known; there are hmm, hclt, rat and pd", name));
}

circuit::Samples random_samples(circuit::Circuit const& of, hb::Index count) {
  std::mt19937 random(2);
  circuit::Samples samples{of.num_variables, {}};
  auto const categories = circuit::variable_categories(of, "the circuit");
  for (hb::Index s = 0; s < count; ++s)
    for (hb::Index c : categories) samples.values.push_back(static_cast<double>(random() % static_cast<unsigned>(c)));
  return samples;
}

/// How far likelihoods are from those in double precision, in nats.
void add_errors(json& line, std::vector<double> const& found, std::vector<double> const& expected) {
  double largest = 0, sum = 0;
  for (std::size_t s = 0; s < expected.size(); ++s) {
    largest = std::max(largest, std::abs(found[s] - expected[s]));
    sum += found[s] - expected[s];
  }
  line["largest_error"] = largest;
  line["mean_error"] = sum / static_cast<double>(expected.size());
}

/// Median time of some runs, after one that warms up, and the least.
struct Times {
  double median, least;
};
template <class Exec, class Run>
Times time_of(Exec const& exec, int repeats, Run const& run) {
  std::vector<double> seconds;
  for (int i = 0; i <= repeats; ++i) {
    exec.fence("hornbill: before a measured run");
    auto const start = std::chrono::steady_clock::now();
    run();
    exec.fence("hornbill: after a measured run");
    if (i > 0) seconds.push_back(seconds_since(start));
  }
  return {median(seconds), *std::ranges::min_element(seconds)};
}

/// The pass from the root to the inputs, the sums of flows of a batch, and a step of expectation maximisation.
template <class Value, class Exec>
void add_learning(json& line, Exec const& exec, circuit::Circuit const& made,
                  circuit::Plan<typename Exec::memory_space> const& plan,
                  circuit::DeviceParameters<Value, typename Exec::memory_space>& parameters,
                  circuit::State<Value, typename Exec::memory_space> const& state, Arguments const& a) {
  auto const start = std::chrono::steady_clock::now();
  auto const host = circuit::make_flow_plan(plan.host);
  line["flow_plan_ms"] = 1e3 * seconds_since(start);
  auto const flow_plan = make_flow_plan(exec, host);
  auto const distributions = make_distributions(exec, sum_distributions(made));
  auto const of_batch = make_flow_state(exec, plan, flow_plan, state);
  auto const flows = make_flows(exec, plan, flow_plan);
  auto const ms = [&](auto const& run) { return 1e3 * time_of(exec, a.repeats, run).median; };
  line["nodes_ms"] = ms([&] { backward(exec, plan, flow_plan, parameters, state, of_batch); });
  line["parameters_ms"] = ms([&] { add_flows(exec, plan, flow_plan, parameters, state, of_batch, {}, flows); });
  line["em_ms"] =
      ms([&] { em_step<Value>(exec, plan, flow_plan, distributions, flows, {}, {}, {.step_size = 1e-6}, parameters); });
  circuit::TrainingOptions const options{.batch_size = a.batch};
  auto const bytes = circuit::estimate<Value>(made, plan.host, flow_plan.host, options);
  line["training_bytes"] = bytes.values + bytes.flows + circuit::bytes_of_plan(flow_plan.host);
  line["exact_bytes"] = bytes.exact;
}

template <class Value, class Exec>
std::vector<double> measure(json line, Exec const& exec, circuit::Circuit const& made, circuit::HostPlan const& host,
                            circuit::Parameters const& parameters, circuit::Samples const& samples, double edges,
                            Arguments const& a, std::vector<double> const* expected) {
  auto const plan = make_plan(exec, host);
  auto on_device = circuit::to_device<Value>(exec, plan, parameters);
  auto state = circuit::make_state<Value>(exec, plan, a.batch);
  observe(exec, plan, state, samples, 0, a.batch);
  auto const forward_time = time_of(exec, a.repeats, [&] { forward(exec, plan, on_device, state); });
  auto found = hb::detail::to_vector(exec, state.log_likelihood);
  auto const certain = hb::detail::to_vector(exec, state.is_certain);
  found.resize(static_cast<std::size_t>(a.batch));
  line.update({{"forward_ms", 1e3 * forward_time.median},
               {"least_ms", 1e3 * forward_time.least},
               {"tera_operations_a_second", 2e-12 * edges * a.batch / forward_time.median},
               {"state_bytes", circuit::bytes_of_state<Value>(plan.host, a.batch)},
               {"parameter_bytes", circuit::bytes_of_parameters<Value>(plan.host)},
               {"plan_bytes", circuit::bytes_of_plan(plan.host)},
               {"uncertain", std::count(certain.begin(), certain.begin() + a.batch, 0)}});
  if (expected) add_errors(line, found, *expected);
  if (a.learning) add_learning(line, exec, made, plan, on_device, state, a);
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
  return found;
}

/// Parameters as floats hold them: rounding them is no error of an evaluation.
void round_to_floats(circuit::Parameters& parameters) {
  for (auto* values : {&parameters.sum, &parameters.input})
    for (double& value : *values) value = static_cast<float>(value);
}

void measure_circuit(std::string const& name, Arguments const& a) {
  auto const made = circuit_named(name);
  auto parameters = circuit::initial_parameters(made, 1);
  round_to_floats(parameters);
  auto const samples = random_samples(made, a.batch);
  auto const statistics = circuit::statistics_of(made);
  auto const start = std::chrono::steady_clock::now();
  auto plan = circuit::make_plan(made);
  double const plan_seconds = seconds_since(start);
  for (auto const& backend : a.backends) {
    json line{{"circuit", name},
              {"nodes", statistics.inputs + statistics.sums},
              {"edges", statistics.sum_edges + statistics.product_edges},
              {"batch", a.batch},
              {"plan_ms", 1e3 * plan_seconds},
              {"layers", plan.layers.size()},
              {"backend", backend},
              {"device", hb::backend::describe(backend)},
              {"commit", a.commit}};
    hb::backend::visit(backend, [&](auto const& exec) {
      auto const edges = static_cast<double>(statistics.sum_edges);
      std::vector<double> exact;
      line["precision"] = "fp64";
      if (a.checks) exact = measure<double>(line, exec, made, plan, parameters, samples, edges, a, nullptr);
      for (auto const& precision : a.precisions) {
        line["precision"] = precision;
        plan.planes = precision == "bf16" ? circuit::Planes::one : circuit::Planes::two;
        measure<float>(line, exec, made, plan, parameters, samples, edges, a, a.checks ? &exact : nullptr);
      }
    });
  }
}

}  // namespace

int main(int argc, char** argv) {
  CLI::App app{"Measure the evaluation of probabilistic circuits"};
  Arguments a;
  app.add_option("CIRCUIT", a.circuits,
                 "hmm,STATES (32 steps), or hclt,LATENTS, rat,LATENTS or pd,LATENTS (784 variables)")
      ->capture_default_str();
  app.add_option("--backends", a.backends, "Where to run")->delimiter(',')->capture_default_str();
  app.add_option("--batch", a.batch, "Samples at a time")->capture_default_str();
  app.add_option("--repeats", a.repeats, "Runs that are timed")->capture_default_str();
  app.add_option("--precisions", a.precisions, "fp32, or bf16, with which matrix units of a GPU multiply 11 bits")
      ->delimiter(',')
      ->check(CLI::IsMember({"fp32", "bf16"}))
      ->capture_default_str();
  app.add_flag("--checks", a.checks, "Run in double precision too, and say how far likelihoods are from it");
  app.add_flag("--learning", a.learning, "Time the pass from the root, sums of flows, and a step of learning");
  app.add_option("--commit", a.commit, "Commit to name in results");
  CLI11_PARSE(app, argc, argv);
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  for (auto const& name : a.circuits) try {
      measure_circuit(name, a);
    } catch (hb::Error const& e) {
      fmt::print("{}\n", json{{"circuit", name}, {"error", e.what()}, {"commit", a.commit}}.dump());
    }
}
