// Points-to analysis by one thread of the host, by backends and by other schemes on them; one JSON object for each.
#include <algorithm>
#include <cstdio>
#include <functional>
#include <random>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include <hornbill/hornbill.hpp>
#include <hornbill/io/constraint_file.hpp>
#include <hornbill/points_to/detail/stopwatch.hpp>

#include "commit.hpp"
#include "peers/list_solver.hpp"
#include "peers/representations.hpp"

namespace hb = hornbill;
using hb::points_to::ConstraintSystem, hb::points_to::HostPlan, hb::points_to::PlanOptions;
using hb::points_to::Solution, hb::points_to::SolveOptions, hb::points_to::SolveReport, hb::points_to::ValueNumbering;
using nlohmann::json;

namespace {

struct Arguments {
  std::vector<std::string> files, like, backends{hb::backend::names().back()};
  int repeats = 5;
  int derivations = 0;
  bool plans = false, devices = false, lists = false, representations = false;
  std::string commit = HORNBILL_COMMIT;
};

bool is_same(Solution const& a, Solution const& b) {
  return a.set_of_variable == b.set_of_variable && a.set_offsets == b.set_offsets && a.set_objects == b.set_objects;
}

template <class Report, class Get>
double median(std::vector<Report> const& reports, Get const& get) {
  std::vector<double> values;
  for (auto const& report : reports) values.push_back(std::invoke(get, report));
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
  line.update({{"solve_seconds", median(reports, &SolveReport::elapsed_seconds)},
               {"collapse_seconds", median(reports, &SolveReport::collapse_seconds)},
               {"propagate_seconds", median(reports, &SolveReport::propagate_seconds)},
               {"expand_seconds", median(reports, &SolveReport::expand_seconds)},
               {"prepare_seconds", median(reports, &SolveReport::prepare_seconds)},
               {"collect_seconds", median(reports, &SolveReport::collect_seconds)},
               {"set_bytes", r.set_bytes},
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

/// A plan, and the median time of making it.
template <class MakePlan>
std::pair<HostPlan, double> planned(int repeats, MakePlan const& make_plan) {
  std::vector<hb::points_to::PlanReport> reports;
  HostPlan plan;
  for (int i = 0; i < repeats; ++i) {
    plan = make_plan();
    reports.push_back(plan.report);
  }
  return {std::move(plan), median(reports, &hb::points_to::PlanReport::elapsed_seconds)};
}

std::pair<HostPlan, double> planned(ConstraintSystem const& system, PlanOptions const& options, int repeats) {
  return planned(repeats, [&] { return hb::points_to::make_plan(system, options); });
}

json with_plan(json line, HostPlan const& plan, double plan_seconds) {
  line.update({{"constraints_left", plan.report.constraints_left}, {"plan_seconds", plan_seconds}});
  return line;
}

/// With a plan that the backend makes; its first one is not counted.
void measure_own_plan(json line, ConstraintSystem const& system, auto const& exec, Arguments const& a,
                      Solution const& expected) {
  auto const make_plan = [&] { return hb::points_to::make_plan(exec, system, {.host_below = 0}); };
  make_plan();
  auto const [plan, plan_seconds] = planned(a.repeats, make_plan);
  line["plans"] = true;
  print_runs(with_plan(line, plan, plan_seconds), a, &expected,
             [&, &made = plan] { return hb::points_to::solve(exec, made, {.host_below = 0}); });
}

/// All but one of what saves work.
void measure_devices(json const& line, ConstraintSystem const& system, auto const& exec, Arguments const& a,
                     Solution const& expected) {
  struct Variant {
    char const* name;
    PlanOptions plan;
    SolveOptions solve;
  };
  for (auto const& [name, plan_options, solve_options] :
       std::vector<Variant>{{"no value numbering", {.value_numbering = ValueNumbering::none}, {}},
                            {"HVN, not HU", {.value_numbering = ValueNumbering::hash_values}, {}},
                            {"no cycles", {.collapse_cycles = false}, {.collapse_cycles = false}},
                            {"no hybrid cycles", {.hybrid_cycles = false}, {}},
                            {"no hubs", {}, {.hubs = false}}}) {
    auto of = line;
    of["devices"] = name;
    auto const [plan, plan_seconds] = planned(system, plan_options, a.repeats);
    auto options = solve_options;
    options.host_below = 0;
    print_runs(with_plan(of, plan, plan_seconds), a, &expected,
               [&] { return hb::points_to::solve(exec, plan, options); });
  }
}

/// The scheme of 2012, which knows cycles before solving and hybrid ones.
template <class ExecutionSpace>
void measure_lists(json line, ConstraintSystem const& system, ExecutionSpace const& exec, Arguments const& a,
                   Solution const& expected) {
  auto const [plan, plan_seconds] = planned(system, {.value_numbering = ValueNumbering::none}, a.repeats);
  std::vector<hb::perf::ListReport> reports;
  bool has_sets = true;
  for (int i = 0; i < a.repeats; ++i) {
    hb::perf::ListSolver<ExecutionSpace> const solver(exec, plan);
    reports.push_back(solver.report());
    if (i == 0) has_sets = solver.has_sets_of(expected);
  }
  line = with_plan(line, plan, plan_seconds);
  line.update({{"solver", "lists"},
               {"solve_seconds", median(reports, &hb::perf::ListReport::seconds)},
               {"rounds", reports.back().rounds},
               {"set_bytes", reports.back().set_bytes},
               {"same_bits", has_sets}});
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

/// Ways to keep the sets of the solution.
template <class ExecutionSpace>
void measure_representations(json const& line, ConstraintSystem const& system, ExecutionSpace const& exec,
                             Arguments const& a, Solution const& solution) {
  auto const num_objects = static_cast<std::size_t>(system.num_objects());
  for (auto const& [name, bytes, seconds] :
       hb::perf::Representations<ExecutionSpace>(exec, solution, num_objects).measure(a.repeats)) {
    auto of = line;
    of.update({{"case", "sets"}, {"representation", name}, {"set_bytes", bytes}, {"union_seconds", seconds}});
    of.update({{"distinct_sets", solution.num_sets()}, {"objects_of_sets", solution.set_objects.size()}});
    fmt::print("{}\n", of.dump());
  }
  std::fflush(stdout);
}

/// Facts of random variables, and all that they follow from, three derivations of each.
void measure_derivations(json line, ConstraintSystem const& system, Arguments const& a) {
  using hb::points_to::Fact;
  hb::points_to::detail::Stopwatch watch;
  hb::points_to::Derivations derivations(system);
  line.update({{"case", "derivations"}, {"solve_seconds", watch.lap()}});
  std::mt19937 random(1);
  std::set<Fact> seen;
  std::vector<Fact> work;
  auto const add = [&](Fact const& fact) {
    if (seen.insert(fact).second) work.push_back(fact);
  };
  for (int i = 0; i < a.derivations && system.num_variables > 0; ++i) {
    auto const variable = static_cast<hb::Index>(random() % static_cast<unsigned>(system.num_variables));
    if (auto const objects = derivations.solution().objects_of(variable); !objects.empty())
      add({variable, objects[random() % objects.size()]});
  }
  auto const begun = work.size();
  std::size_t count = 0;
  for (std::size_t i = 0; i < work.size(); ++i)
    for (auto const& derivation : derivations.of(Fact(work[i]), 3)) {
      ++count;
      for (int k = 0; k < derivation.num_premises; ++k) add(derivation.premises.at(static_cast<std::size_t>(k)));
    }
  line.update({{"begun_with", begun}, {"facts", seen.size()}, {"derivations", count}, {"seconds", watch.lap()}});
  fmt::print("{}\n", line.dump());
  std::fflush(stdout);
}

void measure_system(std::string const& name, ConstraintSystem const& system, Arguments const& a) {
  auto const [plan, plan_seconds] = planned(system, {}, a.repeats);
  json const line{{"case", "points_to"},
                  {"program", name},
                  {"variables", system.num_variables},
                  {"constraints", system.num_constraints()},
                  {"commit", a.commit}};
  auto of = line;
  of.update({{"backend", "host"}, {"device", "one thread"}});
  auto const expected =
      print_runs(with_plan(of, plan, plan_seconds), a, nullptr, [&] { return hb::points_to::solve(plan); });
  if (a.derivations > 0) measure_derivations(line, system, a);
  for (auto const& backend : a.backends) {
    of.update({{"backend", backend}, {"device", hb::backend::describe(backend)}});
    hb::backend::visit(backend, [&](auto const& exec) {
      print_runs(with_plan(of, plan, plan_seconds), a, &expected,
                 [&] { return hb::points_to::solve(exec, plan, {.host_below = 0}); });
      if (a.plans) measure_own_plan(of, system, exec, a, expected);
      if (a.devices) measure_devices(of, system, exec, a, expected);
      if (a.lists) measure_lists(of, system, exec, a, expected);
      if (a.representations && expected.num_sets() > 1) measure_representations(of, system, exec, a, expected);
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
  app.add_flag("--plans", a.plans, "Also with plans that backends make by themselves");
  app.add_flag("--devices", a.devices, "Also without each device that saves work, e.g. value numbering");
  app.add_flag("--lists", a.lists, "Also by lists of 128-byte elements, a list a variable, as on GPUs in 2012");
  app.add_flag("--representations", a.representations, "Also unions of the solution's sets, kept in several ways");
  app.add_option("--derivations", a.derivations,
                 "Also derivations of facts of so many random variables, all the way down");
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
