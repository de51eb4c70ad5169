// Rounds of labelling: one more label, then a cold run beside a warm one; one JSON object a round.
#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/hornbill.hpp>

namespace hb = hornbill;
using nlohmann::json;

namespace {

struct Arguments {
  std::vector<std::string> graphs{"weblech"}, schedules{"seqfix"}, backends{hb::backend::names().back()};
  int rounds = 10, limit = 10000;
  double tolerance = 1e-6;
  std::string commit = HORNBILL_COMMIT;
};

json report_of(hb::bp::Report const& r) {
  return {{"stop", hb::bp::to_string(r.stop)}, {"iterations", r.iterations}, {"residual", r.residual}, {"seconds", r.elapsed_seconds}};
}

double largest_difference(std::vector<double> const& a, std::vector<double> const& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) largest = std::max(largest, std::abs(a[i] - b[i]));
  return largest;
}

template <class Exec>
void run_rounds(Exec const& exec, hb::GeneratedGraph const& generated, std::string const& schedule, json line, Arguments const& a) {
  auto const plan = hb::bp::make_plan(exec, generated.graph, hb::bp::strategy_named(schedule).value());
  auto const graph = hb::to_device<double>(exec, generated.graph);
  hb::Evidence evidence(exec, generated.graph, graph);
  auto warm = hb::bp::make_state(exec, graph, plan), cold = hb::bp::make_state(exec, graph, plan);
  hb::bp::Options const options{.max_iterations = a.limit, .tolerance = a.tolerance};
  auto from_nothing = options;
  from_nothing.warm_start = false;
  hb::bp::run(exec, graph, evidence, plan, warm, options);
  auto const labels = generated.labels(std::min<std::size_t>(a.rounds, generated.alarms.size()));
  for (std::size_t round = 0; round < labels.size(); ++round) {
    evidence.observe(labels[round]);
    evidence.commit(exec);
    line["round"] = round + 1;
    line["cold"] = report_of(hb::bp::run(exec, graph, evidence, plan, cold, from_nothing));
    line["warm"] = report_of(hb::bp::run(exec, graph, evidence, plan, warm, options));
    line["largest_difference"] = largest_difference(hb::bp::marginals(exec, graph, cold), hb::bp::marginals(exec, graph, warm));
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  CLI::App app{"Times cold and warm runs on generated graphs, label after label; one JSON object a round"};
  app.add_option("--graphs", a.graphs, "Benchmarks of the FastLBP paper")->delimiter(',')->capture_default_str();
  app.add_option("--schedules", a.schedules, "Built-in schedules")->delimiter(',')->check(CLI::IsMember(hb::bp::strategy_names()))->capture_default_str();
  app.add_option("--backends", a.backends, "Backends of this build")->delimiter(',')->capture_default_str();
  app.add_option("--rounds", a.rounds, "Labels, one more each round")->check(CLI::Range(1, 100000))->capture_default_str();
  app.add_option("--limit", a.limit, "Most iterations of a run")->capture_default_str();
  app.add_option("--tolerance", a.tolerance, "Of each run")->capture_default_str();
  app.add_option("--commit", a.commit, "The commit that was built, where it cannot be asked");
  CLI11_PARSE(app, argc, argv);
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  for (auto const& name : a.graphs) {
    auto const generated = hb::generate(hb::options_like(name));
    for (auto const& schedule : a.schedules)
      for (auto const& backend : a.backends) {
        json const line{{"case", "rounds"}, {"graph", name}, {"edges", generated.graph.num_edges()}, {"schedule", schedule}, {"backend", backend},
                        {"device", hb::backend::describe(backend)}, {"commit", a.commit}};
        hb::backend::visit(backend, [&](auto const& exec) { run_rounds(exec, generated, schedule, line, a); });
      }
  }
}
