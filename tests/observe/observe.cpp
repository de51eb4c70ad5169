// Checks points-to sets against runs of the program: each object that a load, a store or a call through a pointer meets
// must be in the pointer's set.
//
//     hornbill_observe instrument PROGRAM.bc... -o OUT.bc --constraints OUT.h5
//     clang OUT.bc hornbill_recorder.a -lstdc++ -o program; HORNBILL_OBSERVATIONS=seen.txt ./program
//     hornbill_observe check OUT.h5 seen.txt
#include <algorithm>
#include <fstream>
#include <map>
#include <set>
#include <sstream>
#include <tuple>

#include <fmt/format.h>
#include <fmt/ostream.h>
#include <CLI/CLI.hpp>

#include <hornbill/error.hpp>
#include <hornbill/io/constraint_file.hpp>
#include <hornbill/points_to/detail/fields.hpp>
#include <hornbill/points_to/plan.hpp>
#include <hornbill/points_to/solve.hpp>

#include "instrument.hpp"

namespace hornbill::observe {
namespace {

/// Sites lie beside constraints, a line each: the variable of an address, and the site's place.
std::string sites_file(std::string const& constraints) { return constraints + ".sites"; }

void write(Instrumented const& instrumented, std::string const& file) {
  io::write_constraints(instrumented.constraints, file);
  std::ofstream out(sites_file(file));
  for (auto const& site : instrumented.sites) fmt::print(out, "{} {}\n", site.pointer, site.what);
  if (!out.flush()) throw InputError(sites_file(file), "", "cannot be written");
}

std::vector<Site> read_sites(std::string const& file) {
  std::ifstream in(file);
  if (!in) throw InputError(file, "", "cannot be read");
  std::vector<Site> sites;
  for (std::string line; std::getline(in, line);) {
    auto const space = line.find(' ');
    sites.push_back({std::stoi(line.substr(0, space)), line.substr(space + 1)});
  }
  return sites;
}

using Observation = std::tuple<Index, Index, Index>;  // site, object, byte

std::set<Observation> read_observations(std::string const& file) {
  std::ifstream in(file);
  if (!in) throw InputError(file, "", "cannot be read");
  std::set<Observation> observations;
  for (std::string line; std::getline(in, line);) {
    if (line.starts_with('#')) continue;
    std::istringstream words(line);
    Index site = 0, object = 0, byte = 0;
    if (words >> site >> object >> byte) observations.emplace(site, object, byte);
  }
  return observations;
}

class Check {
 public:
  explicit Check(points_to::ConstraintSystem const& system)
      : system_(system), plan_(points_to::make_plan(system)), solution_(points_to::solve(plan_)) {}

  bool has(Index pointer, Index object, Index byte) {
    if (pointer < 0) return false;
    auto const& objects = objects_of(pointer);
    auto const is_there = [&](Index field) { return std::ranges::binary_search(objects, field); };
    auto const [first, second] = points_to::detail::fields_of(plan_).at_offset(object, byte);
    return is_there(first) || (second >= 0 && is_there(second));
  }
  std::size_t size(Index pointer) { return pointer < 0 ? 0 : objects_of(pointer).size(); }
  std::string name(Index variable) const {
    if (variable < 0) return "nothing";
    auto const& names = system_.variable_names;
    return names.empty() || names[variable].empty() ? fmt::format("variable {}", variable) : names[variable];
  }

 private:
  std::vector<Index> const& objects_of(Index pointer) {
    auto const [at, is_new] = objects_.try_emplace(solution_.set_of_variable[pointer]);
    if (is_new) at->second = objects_with_outside(solution_, system_, pointer);
    return at->second;
  }

  points_to::ConstraintSystem const& system_;
  points_to::HostPlan plan_;
  points_to::Solution solution_;
  std::map<Index, std::vector<Index>> objects_;  // by set
};

/// \return how many observations are missing in the sets
std::size_t check(std::string const& constraints, std::string const& observations_file) {
  auto const system = io::read_points_to(constraints).constraints;
  auto const sites = read_sites(sites_file(constraints));
  Check check(system);
  auto const observations = read_observations(observations_file);
  std::set<Index> met;
  std::size_t missing = 0;
  for (auto const& [site, object, byte] : observations) {
    auto const& [pointer, what] = sites.at(static_cast<std::size_t>(site));
    met.insert(site);
    if (check.has(pointer, object, byte)) continue;
    if (++missing <= 20)
      fmt::print("missing: {}: {} met {} + {}, which is not among its {} targets\n", what, check.name(pointer),
                 check.name(object), byte, check.size(pointer));
  }
  fmt::print("{} observations at {} of {} sites, {} of them missing\n", observations.size(), met.size(), sites.size(),
             missing);
  return missing;
}

}  // namespace
}  // namespace hornbill::observe

int main(int argc, char** argv) {
  using namespace hornbill;
  CLI::App app("Checks points-to sets against runs of a program.");
  app.require_subcommand(1);
  std::vector<std::string> files;
  std::string output, constraints, observations;
  extract::Options options;
  auto* const instrument = app.add_subcommand("instrument", "Write bitcode that records what accesses meet");
  instrument->add_option("FILES", files, "bitcode")->required();
  instrument->add_option("-o", output, "bitcode that is written")->required();
  instrument->add_option("--constraints", constraints, "HDF5 file of constraints that is written")->required();
  auto* const check = app.add_subcommand("check", "Look for observations in points-to sets");
  check->add_option("CONSTRAINTS", constraints)->required();
  check->add_option("OBSERVATIONS", observations)->required();
  CLI11_PARSE(app, argc, argv);
  try {
    if (check->parsed()) return observe::check(constraints, observations) == 0 ? 0 : 1;
    observe::write(observe::instrument(files, options, output), constraints);
  } catch (std::exception const& e) {
    fmt::print(stderr, "hornbill_observe: {}\n", e.what());
    return 3;
  }
}
