// Points-to analysis beside its definition, and beside itself with other options.
#include <hornbill/error.hpp>
#include <hornbill/points_to.hpp>
#include <reference/points_to.hpp>

#include "support/cells.hpp"
#include "support/random_constraints.hpp"

using namespace hornbill;
using points_to::Constraint, points_to::ConstraintKind, points_to::ConstraintSystem, points_to::ValueNumbering;

namespace {

struct Devices {
  points_to::PlanOptions plan;
  points_to::SolveOptions solve;
};

/// Each combination has a number below num_devices; 0 has all.
constexpr unsigned num_devices = 3 * 2 * 2 * 2;
/// With numbers behind these the host forgets sets whenever they have doubled.
constexpr unsigned num_host_devices = 2 * num_devices;
Devices devices_of(unsigned number) {
  Devices devices;
  devices.plan.value_numbering = static_cast<ValueNumbering>(2 - number % 3);
  devices.plan.hybrid_cycles = number / 3 % 2 == 0;
  devices.plan.collapse_cycles = devices.solve.collapse_cycles = number / 6 % 2 == 0;
  devices.solve.hubs = number / 12 % 2 == 0;
  if (number >= num_devices) devices.solve.forget_above = 0;
  return devices;
}

points_to::Solution solve(ConstraintSystem const& system, Devices const& devices = {}) {
  return points_to::solve(points_to::make_plan(system, devices.plan), devices.solve);
}

bool is_same(points_to::Solution const& a, points_to::Solution const& b) {
  return a.set_of_variable == b.set_of_variable && a.set_offsets == b.set_offsets && a.set_objects == b.set_objects;
}

bool has_sets(points_to::Solution const& solution, std::vector<std::vector<Index>> const& sets) {
  for (std::size_t v = 0; v < sets.size(); ++v)
    if (!std::ranges::equal(solution.objects_of(static_cast<Index>(v)), sets[v])) return false;
  return true;
}

/// A random system; their sizes differ.
ConstraintSystem system_of(unsigned seed) {
  auto const below = [&](unsigned n) { return static_cast<Index>(seed % n); };
  test::RandomConstraintOptions options{.num_objects = 1 + below(23),
                                        .num_pointers = below(31),
                                        .num_constraints = 20 + below(61),
                                        .largest_object = 1 + below(7)};
  if (seed % 50 == 0) options = {.num_objects = 150, .num_pointers = 100, .num_constraints = 250, .largest_object = 9};
  if (seed % 50 == 1) options.num_objects = 0, options.num_pointers = 9;
  return test::random_constraints(seed, options);
}

}  // namespace

TEST_CASE("points-to: random systems have the sets of the definition") {
  for (unsigned seed = 0; seed < 10000; ++seed) {
    auto const system = system_of(seed);
    REQUIRE_MESSAGE(has_sets(solve(system, devices_of(seed % num_host_devices)), reference::points_to_sets(system)),
                    "seed ", seed);
  }
}

TEST_CASE("points-to: sets that are forgotten leave the solution as it is, and memory") {
  auto const system = points_to::generate({.num_variables = 12000, .num_constraints = 14000});
  auto const kept = solve(system), forgotten = solve(system, devices_of(num_devices));
  CHECK(is_same(kept, forgotten));
  CHECK(forgotten.report.set_bytes < kept.report.set_bytes / 2);
  // They are forgotten before memory comes to an end.
  Devices devices;
  devices.solve.max_bytes = static_cast<std::size_t>(kept.report.set_bytes) * 2 / 3;
  CHECK(is_same(kept, solve(system, devices)));
}

TEST_CASE("points-to: no device changes the solution") {
  for (unsigned seed = 0; seed < 60; ++seed) {
    auto const system = test::random_constraints(
        seed, {.num_objects = 300, .num_pointers = 300, .num_constraints = 900, .largest_object = 12});
    auto const solution = solve(system);
    for (unsigned number = 1; number < num_host_devices; ++number)
      REQUIRE_MESSAGE(is_same(solve(system, devices_of(number)), solution), "seed ", seed, ", devices ", number);
  }
}

namespace {

/// On a backend, however small the system is.
template <class Exec>
points_to::Solution solve_on(ConstraintSystem const& system, Devices devices) {
  devices.solve.host_below = 0;
  return points_to::solve(Exec(), points_to::make_plan(system, devices.plan), devices.solve);
}

}  // namespace

TEST_CASE_TEMPLATE("points-to: backends find the sets of the definition", T, HORNBILL_DOUBLE_CELLS) {
  using Exec = typename T::Exec;
  for (unsigned seed = 0; seed < 150; ++seed) {
    auto const system = system_of(seed);
    REQUIRE_MESSAGE(has_sets(solve_on<Exec>(system, devices_of(seed % num_devices)), reference::points_to_sets(system)),
                    "seed ", seed);
  }
}

TEST_CASE_TEMPLATE("points-to: plans of a backend have the solution of the host's", T, HORNBILL_DOUBLE_CELLS) {
  using Exec = typename T::Exec;
  for (unsigned seed = 0; seed < 400; ++seed) {
    auto const system = system_of(seed);
    auto devices = devices_of(seed % num_devices);
    devices.plan.host_below = 0;
    auto const plan = points_to::make_plan(Exec(), system, devices.plan);
    REQUIRE_MESSAGE(has_sets(points_to::solve(plan, devices.solve), reference::points_to_sets(system)), "seed ", seed);
  }
}

TEST_CASE_TEMPLATE("points-to: all backends make one plan, which leaves little more than the host's", T,
                   HORNBILL_DOUBLE_CELLS) {
  points_to::PlanOptions const on_backend{.host_below = 0};
  for (unsigned seed = 0; seed < 3; ++seed) {
    auto const system = points_to::generate({.num_variables = 20000, .num_constraints = 23000, .seed = seed});
    auto const by_host = points_to::make_plan(system),
               plan = points_to::make_plan(typename T::Exec(), system, on_backend),
               same = points_to::make_plan(Kokkos::DefaultHostExecutionSpace(), system, on_backend);
    CHECK(plan.report.constraints_left <= by_host.report.constraints_left * 21 / 20);
    CHECK(plan.representative == same.representative);
    CHECK(plan.constraints == same.constraints);
    CHECK(plan.hybrid_cycles == same.hybrid_cycles);
    CHECK(is_same(points_to::solve(plan), points_to::solve(by_host)));
  }
}

TEST_CASE_TEMPLATE("points-to: the host labels chains that are too long for a backend", T, HORNBILL_DOUBLE_CELLS) {
  for (Index length : {400, 700}) {
    ConstraintSystem chain;
    chain.num_variables = 1 + length;
    chain.object_sizes = {1};
    chain.is_function = {0};
    chain.constraints.push_back({ConstraintKind::address_of, 0, length});
    for (Index v = 1; v < length; ++v) chain.constraints.push_back({ConstraintKind::copy, v + 1, v});
    auto const plan = points_to::make_plan(typename T::Exec(), chain, {.host_below = 0});
    CHECK(plan.constraints == std::vector<Constraint>{{ConstraintKind::address_of, 0, 1}});
  }
  CHECK(points_to::make_plan(typename T::Exec(), ConstraintSystem{}, {.host_below = 0}).constraints.empty());
}

TEST_CASE_TEMPLATE("points-to: a backend's plan merges variables of many values, but not of very many", T,
                   HORNBILL_DOUBLE_CELLS) {
  for (Index num_objects : {255, 300}) {
    ConstraintSystem system;
    system.num_variables = num_objects + 2;
    system.object_sizes.assign(static_cast<std::size_t>(num_objects), 1);
    system.is_function.assign(static_cast<std::size_t>(num_objects), 0);
    for (Index o = 0; o < num_objects; ++o) {  // the same for both, in other orders
      system.constraints.push_back({ConstraintKind::address_of, o, num_objects});
      system.constraints.push_back({ConstraintKind::address_of, num_objects - 1 - o, num_objects + 1});
    }
    auto const plan = points_to::make_plan(typename T::Exec(), system, {.host_below = 0});
    auto const first = static_cast<std::size_t>(num_objects);
    bool const are_one = plan.representative[first] == plan.representative[first + 1];
    CHECK(are_one == (num_objects <= 256));
    CHECK(has_sets(points_to::solve(plan), reference::points_to_sets(system)));
  }
}

TEST_CASE_TEMPLATE("points-to: no device changes the solution of a backend", T, HORNBILL_DOUBLE_CELLS) {
  auto const system = test::random_constraints(
      7, {.num_objects = 1000, .num_pointers = 1000, .num_constraints = 3000, .largest_object = 40});
  auto const solution = solve(system);
  for (unsigned number = 0; number < num_devices; ++number)
    REQUIRE_MESSAGE(is_same(solve_on<typename T::Exec>(system, devices_of(number)), solution), "devices ", number);
}

TEST_CASE_TEMPLATE("points-to: backends give the bits of the host, each time", T, HORNBILL_DOUBLE_CELLS) {
  using Exec = typename T::Exec;
  auto const generated = points_to::generate({.num_variables = 6000, .num_constraints = 7000});
  auto const random = test::random_constraints(
      7, {.num_objects = 3000, .num_pointers = 3000, .num_constraints = 9000, .largest_object = 40});
  for (auto const& system : {generated, random}) {
    auto const solution = solve(system);
    for (int time = 0; time < 10; ++time) REQUIRE(is_same(solve_on<Exec>(system, {}), solution));
    // All of a device's memory is enlarged on the way.
    auto const grown = solve_on<Exec>(system, {.plan = {}, .solve = {.max_bytes = std::size_t{1} << 23}});
    CHECK(is_same(grown, solution));
    CHECK(grown.report.growths > 0);
    CHECK_THROWS_AS(solve_on<Exec>(system, {.plan = {}, .solve = {.max_bytes = 1000}}), CapacityError);
  }
}

TEST_CASE_TEMPLATE("points-to: backends go on from an earlier solution", T, HORNBILL_DOUBLE_CELLS) {
  using Exec = typename T::Exec;
  for (unsigned seed = 0; seed < 50; ++seed) {
    auto const all = test::random_constraints(seed, {.num_constraints = 70});
    auto some = all;
    some.constraints.resize(seed % (all.constraints.size() + 1));
    auto devices = devices_of(seed % num_devices);
    devices.solve.host_below = 0;
    auto const resumed =
        points_to::resume(Exec(), points_to::make_plan(all, devices.plan), solve(some, devices), devices.solve);
    REQUIRE_MESSAGE(is_same(resumed, solve(all)), "seed ", seed);
  }
}

TEST_CASE("points-to: more constraints end where all of them do") {
  for (unsigned seed = 0; seed < 2000; ++seed) {
    auto const all = test::random_constraints(seed, {.num_constraints = 70});
    auto some = all;
    some.constraints.resize(seed % (all.constraints.size() + 1));
    auto const devices = devices_of(seed % num_devices);
    auto const resumed =
        points_to::resume(points_to::make_plan(all, devices.plan), solve(some, devices), devices.solve);
    REQUIRE_MESSAGE(is_same(resumed, solve(all)), "seed ", seed);
  }
  ConstraintSystem larger = test::random_constraints(1), smaller = larger;
  smaller.num_variables -= 2;
  smaller.constraints.clear();
  CHECK_THROWS_WITH_AS(points_to::resume(points_to::make_plan(smaller), solve(larger)),
                       doctest::Contains("the earlier solution has 40 variables; there are 38"), InputError);
}

TEST_CASE("points-to: sets are numbered by the first variable that has each") {
  ConstraintSystem system;
  system.object_sizes = {1, 1};
  system.is_function = {0, 0};
  system.num_variables = 6;
  system.constraints = {
      {ConstraintKind::address_of, 1, 4}, {ConstraintKind::address_of, 0, 3}, {ConstraintKind::copy, 4, 2}};
  auto const solution = solve(system);
  CHECK(solution.set_of_variable == std::vector<Index>{0, 0, 1, 2, 1, 0});
  CHECK(solution.set_offsets == std::vector<Offset>{0, 0, 1, 2});
  CHECK(solution.set_objects == std::vector<Index>{1, 0});
  CHECK(solution.num_facts() == 3);
}

TEST_CASE("points-to: what does not become equal is not made so") {
  // x = y; *a = x; y = *a is a cycle only where a points to something
  ConstraintSystem system;
  system.object_sizes = {1, 1};
  system.is_function = {0, 0};
  system.num_variables = 6;
  Index const x = 2, y = 3, a = 4, b = 5;
  system.constraints = {{ConstraintKind::address_of, 0, x},
                        {ConstraintKind::copy, y, x},
                        {ConstraintKind::store, x, a},
                        {ConstraintKind::load, a, y}};
  CHECK(solve(system).objects_of(y).empty());
  system.constraints.push_back({ConstraintKind::copy, b, a});
  CHECK(solve(system).objects_of(y).empty());
  system.constraints.push_back({ConstraintKind::address_of, 1, b});
  CHECK(solve(system).objects_of(y).size() == 1);
}

TEST_CASE("points-to: an offset of 0 does not pass objects without fields") {
  ConstraintSystem system;
  system.object_sizes = {0, 1};
  system.is_function = {0, 0};
  system.num_variables = 4;
  system.constraints = {
      {ConstraintKind::address_of, 0, 2}, {ConstraintKind::address_of, 1, 2}, {ConstraintKind::offset, 2, 3, 0}};
  CHECK(std::ranges::equal(solve(system).objects_of(3), std::vector<Index>{1}));
}

TEST_CASE("points-to: what is said of plans") {
  ConstraintSystem system;
  system.object_sizes = {1};
  system.is_function = {0};
  system.num_variables = 6;  // 1 and 2 are a cycle, 3 copies it, 4 points to nothing, 5 copies 4
  system.constraints = {{ConstraintKind::address_of, 0, 1},
                        {ConstraintKind::copy, 1, 2},
                        {ConstraintKind::copy, 2, 1},
                        {ConstraintKind::copy, 1, 3},
                        {ConstraintKind::copy, 4, 5}};
  auto const report = points_to::make_plan(system).report;
  CHECK(report.merged_by_cycles == 1);
  CHECK(report.merged_by_numbering == 1);
  CHECK(report.without_targets == 2);
  CHECK(report.constraints_left == 1);
}

TEST_CASE("points-to: sets that do not fit are an error") {
  auto const system = test::random_constraints(1, {.num_objects = 3000, .num_pointers = 3000, .num_constraints = 9000});
  CHECK_THROWS_AS(solve(system, {{}, {.max_bytes = 1000}}), CapacityError);
}

TEST_CASE("points-to: generated constraints are sound, of the sizes asked for, and the same again") {
  for (auto const& [variables, constraints] : std::vector<std::pair<Index, Offset>>{
           {16, 0}, {16, 40}, {17, 1000}, {1000, 1000}, {5000, 20000}, {20000, 16}, {300000, 5000}}) {
    CAPTURE(variables);
    auto const system = points_to::generate({.num_variables = variables, .num_constraints = constraints, .seed = 3});
    points_to::validate(system, "generated");
    CHECK(system.num_variables == variables);
    CHECK(system.num_constraints() == constraints);
    CHECK(points_to::generate({.num_variables = variables, .num_constraints = constraints, .seed = 3}).constraints ==
          system.constraints);
  }
  CHECK_THROWS_WITH_AS(points_to::generate({.num_variables = 15}), doctest::Contains("15 variables are too few"),
                       InputError);
  auto const like = points_to::options_like("vim");
  CHECK(like.num_variables == 246000);
  CHECK(like.num_constraints == 108000);
  CHECK_THROWS_WITH_AS(points_to::options_like("emacs"),
                       doctest::Contains("there is no program 'emacs'; known are ex, perl"), InputError);
}

TEST_CASE("points-to: generated constraints have the sets of the definition") {
  auto const system = points_to::generate({.num_variables = 1500, .num_constraints = 1600});
  auto const solution = solve(system);
  CHECK(has_sets(solution, reference::points_to_sets(system)));
  CHECK(solution.num_facts() > 1500);
  for (unsigned number = 1; number < num_devices; ++number) CHECK(is_same(solve(system, devices_of(number)), solution));
}
