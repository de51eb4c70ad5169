// Rounds of labelling: one more label, then a cold run beside warm ones, with local update and without; one JSON object
// a round.
#include <algorithm>
#include <cmath>
#include <random>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <hornbill/hornbill.hpp>

#include "commit.hpp"

namespace hb = hornbill;
using nlohmann::json;

namespace {

struct Arguments {
  std::vector<std::string> graphs{"weblech"}, models, schedules{"seqfix"}, backends{hb::backend::names().back()};
  int rounds = 10, limit = 10000;
  double tolerance = 1e-6;
  bool draw = false;
  std::string labels, commit = HORNBILL_COMMIT;
};

/// A graph, and the labels it is given one after another.
struct Case {
  std::string name;
  hb::HostFactorGraph graph;
  hb::HostEvidence labels;
};

Case generated_case(std::string const& name, int rounds) {
  auto generated = hb::generate(hb::options_like(name));
  auto labels = generated.labels(std::min<std::size_t>(rounds, generated.alarms.size()));
  return {name, std::move(generated.graph), std::move(labels)};
}

Case model_case(std::string const& file, Arguments const& a) {
  auto model = hb::io::read_model(file);
  auto const stored = model.evidence.find(a.labels);
  auto labels = stored != model.evidence.end() ? stored->second : hb::io::read_evidence_text(a.labels, model.graph);
  labels.resize(std::min<std::size_t>(a.rounds, labels.size()), hb::Observation::hard(0, 0));
  return {file, std::move(model.graph), std::move(labels)};
}

json report_of(hb::bp::Report const& r) {
  return {{"stop", hb::bp::to_string(r.stop)},
          {"iterations", r.iterations},
          {"local_work", r.local_work},
          {"residual", r.residual},
          {"seconds", r.elapsed_seconds}};
}

double largest_difference(std::vector<double> const& a, std::vector<double> const& b) {
  double largest = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    double const difference = std::abs(a[i] - b[i]);
    if (!(difference <= largest)) largest = difference;  // NaN stays
    if (std::isnan(largest)) break;
  }
  return largest;
}

template <class Exec>
void run_rounds(Exec const& exec, Case const& c, std::string const& schedule, json line, Arguments const& a) {
  auto const strategy = hb::bp::strategy_named(schedule).value();
  auto const plan = hb::bp::make_plan(exec, c.graph, strategy),
             plan_of_all = hb::bp::make_plan(exec, c.graph, strategy, {.local_update = false});
  auto const graph = hb::bp::to_device<double>(exec, c.graph);
  hb::bp::Evidence evidence(exec, c.graph, graph);
  auto local = hb::bp::make_state(exec, graph, plan), cold = hb::bp::make_state(exec, graph, plan_of_all),
       warm = hb::bp::make_state(exec, graph, plan_of_all);
  hb::bp::Options const options{.max_iterations = a.limit, .tolerance = a.tolerance};
  auto from_nothing = options;
  from_nothing.warm_start = false;
  hb::bp::run(exec, graph, evidence, plan, local, options);
  hb::bp::run(exec, graph, evidence, plan_of_all, warm, options);
  auto p_true = hb::bp::marginals(exec, graph, warm);
  std::mt19937 random(1);
  for (std::size_t round = 0; round < c.labels.size(); ++round) {
    auto label = c.labels[round];
    if (a.draw) label = hb::Observation::hard(label.variable, random() < p_true[label.variable] * 0x1p32);
    evidence.observe(label);
    evidence.commit(exec);
    line["round"] = round + 1;
    line["cold"] = report_of(hb::bp::run(exec, graph, evidence, plan_of_all, cold, from_nothing));
    line["warm"] = report_of(hb::bp::run(exec, graph, evidence, plan_of_all, warm, options));
    line["local"] = report_of(hb::bp::run(exec, graph, evidence, plan, local, options));
    p_true = hb::bp::marginals(exec, graph, cold);
    line["label"] = label.value;
    line["largest_difference"] = largest_difference(p_true, hb::bp::marginals(exec, graph, local));
    fmt::print("{}\n", line.dump());
    std::fflush(stdout);
  }
}

void measure(Arguments const& a) {
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  for (auto const& name : a.models.empty() ? a.graphs : a.models) {
    auto const c = a.models.empty() ? generated_case(name, a.rounds) : model_case(name, a);
    for (auto const& schedule : a.schedules)
      for (auto const& backend : a.backends) {
        json const line{{"case", "rounds"},     {"graph", c.name},    {"edges", c.graph.num_edges()},
                        {"schedule", schedule}, {"backend", backend}, {"device", hb::backend::describe(backend)},
                        {"commit", a.commit}};
        hb::backend::visit(backend, [&](auto const& exec) { run_rounds(exec, c, schedule, line, a); });
      }
  }
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  CLI::App app{"Times cold and warm runs on generated graphs, label after label; one JSON object a round"};
  app.add_option("--graphs", a.graphs, "Benchmarks of the FastLBP paper")->delimiter(',')->capture_default_str();
  auto* const models = app.add_option("--models", a.models, "Files of models, in place of graphs; with --labels")
                           ->delimiter(',')
                           ->check(CLI::ExistingFile);
  models->needs(app.add_option("--labels", a.labels, "Of models: an evidence set stored in them, or a text file"));
  app.add_flag("--draw", a.draw,
               "Draw the labels' values from the marginals of the round before, in place of their own");
  app.add_option("--schedules", a.schedules, "Built-in schedules")
      ->delimiter(',')
      ->check(CLI::IsMember(hb::bp::strategy_names()))
      ->capture_default_str();
  app.add_option("--backends", a.backends, "Backends of this build")->delimiter(',')->capture_default_str();
  app.add_option("--rounds", a.rounds, "Labels, one more each round")
      ->check(CLI::Range(1, 100000))
      ->capture_default_str();
  app.add_option("--limit", a.limit, "Most iterations of a run")->capture_default_str();
  app.add_option("--tolerance", a.tolerance, "Of each run")->capture_default_str();
  app.add_option("--commit", a.commit, "The commit that was built, where it cannot be asked");
  CLI11_PARSE(app, argc, argv);
  try {
    measure(a);
  } catch (hb::InputError const& e) {
    fmt::print(stderr, "perf_rounds: {}\n", e.what());
    return 3;
  }
}
