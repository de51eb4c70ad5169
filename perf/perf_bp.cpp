// Time of loopy belief propagation by graph, schedule, backend and precision; one JSON object a line.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <iterator>
#include <map>
#include <numeric>
#include <sstream>
#include <string>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <hornbill/hornbill.hpp>

#include "commit.hpp"
#include "counted_bytes.hpp"
#include "graphs.hpp"

namespace hb = hornbill;
using nlohmann::json;

namespace {

std::vector<std::string> words(std::string const& text) {
  std::istringstream in(text);
  return {std::istream_iterator<std::string>(in), {}};
}

struct Arguments {
  std::vector<std::string> graphs = hb::known_benchmarks(), schedules = words("parall seqfix"), backends,
                           precisions = words("double float");
  int iterations = 50, repeats = 5;
  std::vector<hb::Index> sets{1};
  bool kernels = false, accelerate = false;
  std::string commit = HORNBILL_COMMIT;
  hb::bp::Execution execution = hb::bp::Execution::automatic;
};

std::map<hb::bp::Execution, char const*> const execution_names{{hb::bp::Execution::automatic, "automatic"},
                                                               {hb::bp::Execution::batched, "batched"},
                                                               {hb::bp::Execution::sequential, "sequential"}};

double seconds_of(auto&& function) {
  auto const begin = std::chrono::steady_clock::now();
  function();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

hb::bp::Strategy strategy_of(std::string const& name) {
  if (auto const strategy = hb::bp::strategy_named(name)) return *strategy;
  throw hb::InputError("unknown schedule " + name);
}

/// Seconds of a kernel's launch, on average over a run; on CPUs, where a launch returns when it is done.
std::map<std::string, double> seconds_by_kernel(auto&& run) {
  static std::map<std::string, double> seconds;
  static std::map<std::string, int> launches;
  static std::string running;
  static std::chrono::steady_clock::time_point begin;
  seconds.clear();
  launches.clear();
  namespace tools = Kokkos::Tools::Experimental;
  auto const start = [](char const* label, std::uint32_t, std::uint64_t*) {
    running = label;
    begin = std::chrono::steady_clock::now();
  };
  auto const stop = [](std::uint64_t) {
    auto const name = running.substr(running.rfind(':') + 1);
    seconds[name] += std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
    ++launches[name];
  };
  tools::set_begin_parallel_for_callback(start);
  tools::set_begin_parallel_reduce_callback(start);
  tools::set_end_parallel_for_callback(stop);
  tools::set_end_parallel_reduce_callback(stop);
  run();
  tools::set_begin_parallel_for_callback(nullptr);
  tools::set_begin_parallel_reduce_callback(nullptr);
  tools::set_end_parallel_for_callback(nullptr);
  tools::set_end_parallel_reduce_callback(nullptr);
  for (auto& [name, total] : seconds) total /= launches[name];
  return seconds;
}

/// Bytes a second that a copy of a long array reads and writes, where `exec` runs.
template <class Exec>
double copy_bytes_per_second(Exec const& exec) {
  Kokkos::View<double*, typename Exec::memory_space> const from("hornbill::perf::from", 1 << 25),
      to("hornbill::perf::to", 1 << 25);
  double best = 0;
  for (int i = 0; i < 5; ++i) {
    double const seconds = seconds_of([&] {
      Kokkos::parallel_for(
          "hornbill::perf::copy", Kokkos::RangePolicy<Exec>(exec, 0, 1 << 25),
          KOKKOS_LAMBDA(int k) { to(k) = from(k); });
      exec.fence();
    });
    best = std::max(best, 2 * sizeof(double) * static_cast<double>(from.extent(0)) / seconds);
  }
  return best;
}

/// Runs from a cold start: `iterations` a repeat for the time of one, and once to convergence; of several empty
/// evidence sets at once.
template <class Value, class Exec>
json measure(Exec const& exec, hb::HostFactorGraph const& host, hb::bp::Batches const& batches, Arguments const& a,
             hb::Index sets) {
  hb::bp::Plan<typename Exec::memory_space> plan;
  hb::bp::HostPlan host_plan;
  double const plan_seconds = seconds_of([&] {
    host_plan = hb::bp::lay_out<Exec>(host, batches, {a.execution, sets, false});
    plan = hb::bp::make_plan(exec, host_plan);
  });
  hb::bp::FactorGraph<Value, typename Exec::memory_space> graph;
  double const upload_seconds = seconds_of([&] { graph = hb::bp::to_device<Value>(exec, host); });
  hb::bp::EvidenceSets evidence(exec, host, graph, std::vector<hb::HostEvidence>(sets));
  auto state = hb::bp::make_state(exec, graph, plan);
  hb::bp::Options options{.max_iterations = a.iterations,
                          .tolerance = a.accelerate ? 1e-300 : 0,
                          .warm_start = false,
                          .check_every = a.accelerate ? 0 : a.iterations};
  hb::bp::run(exec, graph, evidence, plan, state, options);  // warm-up
  std::vector<double> each;
  for (int i = 0; i < a.repeats; ++i) {
    auto const report = hb::bp::run(exec, graph, evidence, plan, state, options).front();
    each.push_back(report.elapsed_seconds / std::max(1, report.iterations));
  }
  std::sort(each.begin(), each.end());
  auto const converged =
      hb::bp::run(exec, graph, evidence, plan, state, {.max_iterations = 1000, .tolerance = 1e-6, .warm_start = false})
          .front();
  auto const p_true = hb::bp::marginals(exec, graph, state);
  double const median = each[each.size() / 2];
  hb::perf::CountedBytes<Value> const counted(host, host_plan);
  std::map<std::string, double> kernels;
  if (a.kernels) kernels = seconds_by_kernel([&] { hb::bp::run(exec, graph, evidence, plan, state, options); });
  return {{"plan_seconds", plan_seconds},
          {"counted_bytes", counted.bytes()},
          {"launches", counted.launches()},
          {"kernel_seconds", kernels},
          {"copy_bytes_per_second", a.kernels ? json(copy_bytes_per_second(exec)) : json()},
          {"upload_seconds", upload_seconds},
          {"median_iteration_seconds", median},
          {"fastest_iteration_seconds", each.front()},
          {"slowest_iteration_seconds", each.back()},
          {"edges_per_second", static_cast<double>(host.num_edges()) * sets / median},
          {"nanoseconds_per_edge", 1e9 * median / (static_cast<double>(host.num_edges()) * sets)},
          {"iterations_to_1e-6", converged.iterations},
          {"stop", hb::bp::to_string(converged.stop)},
          {"residual", converged.residual},
          {"seconds_to_1e-6", converged.elapsed_seconds},
          {"checksum", std::accumulate(p_true.begin(), p_true.end(), 0.0)}};
}

struct Combination {
  std::string backend, precision;
  hb::Index sets;
};
std::vector<Combination> combinations(Arguments const& a) {
  std::vector<Combination> all;
  for (auto const& backend : a.backends)
    for (auto const& precision : a.precisions)
      for (hb::Index sets : a.sets) all.push_back({backend, precision, sets});
  return all;
}

void measure_graph(std::string const& name, Arguments const& a) {
  auto const file = (std::filesystem::temp_directory_path() / fmt::format("hornbill_perf_{}.h5", ::getpid())).string();
  hb::Model model;
  model.graph = hb::perf::graph_named(name);
  hb::io::write_model(model, file);
  double const load_seconds = seconds_of([&] { model = hb::io::read_model(file); });
  std::filesystem::remove(file);
  for (auto const& schedule : a.schedules) {
    auto const strategy = strategy_of(schedule);
    auto const batches = hb::bp::make_batches(model.graph, strategy);
    for (auto const& combination : combinations(a)) {
      auto const& backend = combination.backend;
      auto const& precision = combination.precision;
      hb::Index const sets = combination.sets;
      json line{{"case", "bp"},
                {"graph", name},
                {"variables", model.graph.num_variables},
                {"edges", model.graph.num_edges()},
                {"schedule", schedule},
                {"batches", batches.num_batches()},
                {"backend", backend},
                {"precision", precision},
                {"sets", sets},
                {"iterations", a.iterations},
                {"repeats", a.repeats},
                {"execution", execution_names.at(a.execution)},
                {"load_seconds", load_seconds},
                {"analysis_seconds", batches.analysis_seconds},
                {"commit", a.commit},
                {"kokkos", KOKKOS_VERSION}};
      try {
        line["device"] = hb::backend::describe(backend);
        line.update(hb::backend::visit(backend, [&](auto const& exec) {
          return precision == "float" ? measure<float>(exec, model.graph, batches, a, sets)
                                      : measure<double>(exec, model.graph, batches, a, sets);
        }));
      } catch (std::exception const& e) {
        line["error"] = e.what();
      }
      fmt::print("{}\n", line.dump());
      std::fflush(stdout);
    }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  a.backends.push_back(hb::backend::names().back());
  CLI::App app{"Times belief propagation on generated graphs; one JSON object a line"};
  app.add_option("--graphs", a.graphs,
                 "Benchmarks of the FastLBP paper; hub: 10^5 neighbours of a variable and of a factor; tables: 10^5 of "
                 "64 entries; or a number of edges")
      ->delimiter(',');
  app.add_option("--schedules", a.schedules, fmt::format("{}", fmt::join(hb::bp::strategy_names(), ", ")))
      ->delimiter(',');
  app.add_option("--backends", a.backends, "Backends of this build")->delimiter(',');
  app.add_option("--precisions", a.precisions, "double, float")->delimiter(',');
  app.add_option("--sets", a.sets, "Evidence sets at once")->delimiter(',')->check(CLI::Range(1, 100000));
  app.add_flag("--kernels", a.kernels, "On CPUs: seconds of each kernel, and the bandwidth of a copy");
  app.add_option("--iterations", a.iterations, "Iterations timed together")->check(CLI::Range(1, 1000000));
  app.add_flag("--accelerate", a.accelerate,
               "Time them as hornbill lbp would run them, with acceleration from the 31st on");
  app.add_option("--repeats", a.repeats, "Timings; their median is reported")->check(CLI::Range(1, 1000));
  app.add_option("--execution", a.execution, "How batches are run: automatic, batched, sequential")
      ->transform(CLI::CheckedTransformer(
          std::map<std::string, hb::bp::Execution>{{"automatic", hb::bp::Execution::automatic},
                                                   {"batched", hb::bp::Execution::batched},
                                                   {"sequential", hb::bp::Execution::sequential}}));
  app.add_option("--commit", a.commit, "The commit that was built, where it cannot be asked");
  CLI11_PARSE(app, argc, argv);
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  for (auto const& graph : a.graphs) measure_graph(graph, a);
}
