// Points-to analysis by one thread of the host and by backends; one JSON object for each.
#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <hornbill/hornbill.hpp>
#include <hornbill/io/constraint_file.hpp>

#include "commit.hpp"

namespace hb = hornbill;
using hb::points_to::HostPlan, hb::points_to::Solution, hb::points_to::SolveReport;
using nlohmann::json;

namespace {

struct Arguments {
  std::vector<std::string> files, like, backends{hb::backend::names().back()};
  int repeats = 5;
  std::string commit = HORNBILL_COMMIT;
};

bool is_same(Solution const& a, Solution const& b) {
  return a.set_of_variable == b.set_of_variable && a.set_offsets == b.set_offsets && a.set_objects == b.set_objects;
}

template <class Get>
double median(std::vector<SolveReport> const& reports, Get const& get) {
  std::vector<double> values;
  for (auto const& report : reports) values.push_back(get(report));
  std::ranges::sort(values);
  return values[values.size() / 2];
}

/// One solver's runs. The first is not counted, since a device gets its memory in it.
template <class Solve>
Solution print_runs(json line, Arguments const& a, Solution const* expected, Solve const& solve) {
  auto solution = solve();
  std::vector<SolveReport> reports;
  for (int i = 0; i < a.repeats; ++i) {
    solution = solve();
    reports.push_back(solution.report);
  }
  auto const& r = solution.report;
  line.update({{"solve_seconds", median(reports, [](auto const& report) { return report.elapsed_seconds; })},
               {"collapse_seconds", median(reports, [](auto const& report) { return report.collapse_seconds; })},
               {"propagate_seconds", median(reports, [](auto const& report) { return report.propagate_seconds; })},
               {"expand_seconds", median(reports, [](auto const& report) { return report.expand_seconds; })},
               {"rounds", r.rounds},
               {"edges", r.copy_edges + r.load_edges + r.store_edges},
               {"hubs", r.hubs},
               {"launches", r.launches},
               {"looks", r.looks},
               {"growths", r.growths},
               {"distinct_sets", solution.num_sets()},
               {"facts", solution.num_facts()}});
  if (expected) line["same_bits"] = is_same(solution, *expected);
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
  return solution;
}

void measure_system(std::string const& name, hb::points_to::ConstraintSystem const& system, Arguments const& a) {
  std::vector<double> plan_seconds;
  HostPlan plan;
  for (int i = 0; i < a.repeats; ++i) {
    plan = hb::points_to::make_plan(system);
    plan_seconds.push_back(plan.report.elapsed_seconds);
  }
  std::ranges::sort(plan_seconds);
  json const line{{"case", "points_to"},
                  {"program", name},
                  {"variables", system.num_variables},
                  {"constraints", system.num_constraints()},
                  {"constraints_left", plan.report.constraints_left},
                  {"plan_seconds", plan_seconds[plan_seconds.size() / 2]},
                  {"commit", a.commit}};
  auto of = line;
  of.update({{"backend", "host"}, {"device", "one thread"}});
  auto const expected = print_runs(of, a, nullptr, [&] { return hb::points_to::solve(plan); });
  for (auto const& backend : a.backends) {
    of.update({{"backend", backend}, {"device", hb::backend::describe(backend)}});
    hb::backend::visit(backend, [&](auto const& exec) {
      print_runs(of, a, &expected, [&] { return hb::points_to::solve(exec, plan, {.host_below = 0}); });
    });
  }
}

void measure(Arguments const& a) {
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  for (auto const& file : a.files) {
    auto name = file.substr(file.find_last_of('/') + 1);
    for (std::string_view const ending : {".cons.txt", ".h5"})
      if (name.ends_with(ending)) name.resize(name.size() - ending.size());
    measure_system(name, hb::io::read_constraints(file), a);
  }
  for (auto const& name : a.like) measure_system(name, hb::points_to::generate(hb::points_to::options_like(name)), a);
}

}  // namespace

int main(int argc, char** argv) {
  Arguments a;
  CLI::App app{"Times the solving of points-to constraints, transfers included; one JSON object for each solver"};
  app.add_option("FILE", a.files, "Constraints")->check(CLI::ExistingFile);
  app.add_option("--like", a.like, "Generated constraints of a program's size, e.g. linux")->delimiter(',');
  app.add_option("--backends", a.backends, "Beside one thread of the host")->delimiter(',')->capture_default_str();
  app.add_option("--repeats", a.repeats, "Runs; times are medians")->check(CLI::PositiveNumber)->capture_default_str();
  app.add_option("--commit", a.commit, "The commit that was built")->capture_default_str();
  CLI11_PARSE(app, argc, argv);
  try {
    measure(a);
  } catch (std::exception const& e) {
    fmt::print(stderr, "{}\n", e.what());
    return 1;
  }
}
