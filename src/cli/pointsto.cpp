// hornbill pointsto: inclusion-based points-to analysis, and questions to its solution.
#include "pointsto.hpp"

#include <filesystem>
#include <limits>
#include <map>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <hornbill/backend/registry.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/factor_graph_file.hpp>

#include "commands.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

using points_to::ValueNumbering;

/// Systems below this are planned and solved on the host; with auto what is faster decides.
std::map<std::string, Offset> const solvers{
    {"auto", points_to::SolveOptions{}.host_below}, {"host", std::numeric_limits<Offset>::max()}, {"backend", 0}};

std::map<std::string, ValueNumbering> const numberings{
    {"none", ValueNumbering::none}, {"hvn", ValueNumbering::hash_values}, {"hu", ValueNumbering::hash_unions}};

constexpr char const* solving_options[] = {
    "--value-numbering", "--no-cycles", "--no-hybrid-cycles", "--no-hubs", "--backend", "--solver", "--memory"};

/// A line on a terminal that counts rounds, as long as this is there.
class RoundProgress {
 public:
  explicit RoundProgress(points_to::SolveOptions& options) : is_shown_(shows_progress()) {
    if (is_shown_)
      options.progress = [](int rounds, std::size_t sets) {
        fmt::print(stderr, "\rround {}, {} distinct sets ", rounds, sets);
      };
  }
  ~RoundProgress() {
    if (is_shown_) fmt::print(stderr, "\r{:60}\r", "");
  }
  RoundProgress(RoundProgress const&) = delete;
  RoundProgress& operator=(RoundProgress const&) = delete;

 private:
  bool is_shown_;
};

/// Plans and solves. A device is started only for a system that it gets.
class Solver {
  template <class Function>
  auto visit(Function const& function) {
    if (!kokkos_) kokkos_.emplace(Kokkos::InitializationSettings().set_disable_warnings(true));
    return backend::visit(backend_, function);
  }

 public:
  explicit Solver(PointsToArguments const& a)
      : a_(a), backend_(a.backend.empty() ? backend::names().back() : a.backend) {}

  std::string const& backend() const { return backend_; }
  points_to::HostPlan plan(points_to::ConstraintSystem const& system) {
    if (system.num_constraints() < a_.plan.host_below) return points_to::make_plan(system, a_.plan);
    return visit([&](auto const& exec) { return points_to::make_plan(exec, system, a_.plan); });
  }
  points_to::Solution solve(points_to::HostPlan const& plan, std::optional<points_to::Solution> const& earlier,
                            points_to::SolveOptions const& options) {
    if (points_to::is_for_host(plan, options))
      return earlier ? points_to::resume(plan, *earlier, options) : points_to::solve(plan, options);
    return visit([&](auto const& exec) {
      return earlier ? points_to::resume(exec, plan, *earlier, options) : points_to::solve(exec, plan, options);
    });
  }

 private:
  PointsToArguments const& a_;
  std::string backend_;
  std::optional<Kokkos::ScopeGuard> kokkos_;
};

void solve(PointsToArguments const& a, io::PointsTo& points_to, PointsToRun& run) {
  Solver solver(a);
  auto const plan = solver.plan(points_to.constraints);
  auto options = a.solve;
  try {
    RoundProgress const progress(options);
    points_to.solution = solver.solve(plan, points_to.solution, options);
  } catch (CapacityError const& e) {
    throw CapacityError(fmt::format("{}: {}, and more may be needed later; {}", a.file, e.what(),
                                    options.max_bytes > 0 ? "raise --memory" : "solve it where there is more memory"));
  }
  auto const& report = points_to.solution->report;
  run = {false, report.launches > 0 ? solver.backend() : "host", plan.report, report};
}

std::map<std::string, std::string> attributes_of(PointsToRun const& run) {
  auto const& [is_stored, backend, plan, solve] = run;
  std::map<std::string, std::string> attributes;
  auto const add = [&](char const* name, auto value) { attributes[name] = fmt::format("{}", value); };
  add("plan_seconds", plan.elapsed_seconds);
  add("merged_before_solving", plan.merged_by_cycles + plan.merged_by_numbering);
  add("without_targets", plan.without_targets);
  add("constraints_left", plan.constraints_left);
  add("backend", backend);
  add("rounds", solve.rounds);
  add("copy_edges", solve.copy_edges);
  add("load_edges", solve.load_edges);
  add("store_edges", solve.store_edges);
  add("hubs", solve.hubs);
  add("merged_by_cycles", solve.merged_by_cycles);
  add("merged_by_hybrid_cycles", solve.merged_by_hybrid_cycles);
  add("unions", solve.unions);
  add("set_bytes", solve.set_bytes);
  add("prepare_seconds", solve.prepare_seconds);
  add("collapse_seconds", solve.collapse_seconds);
  add("propagate_seconds", solve.propagate_seconds);
  add("expand_seconds", solve.expand_seconds);
  add("collect_seconds", solve.collect_seconds);
  add("solve_seconds", solve.elapsed_seconds);
  return attributes;
}

void run_points_to(PointsToArguments const& a) {
  if (!a.output.empty() && !io::is_hdf5(a.output))
    throw UsageError(fmt::format("-o {}: a solution is written to an .h5 file", a.output));
  if (!a.output.empty()) {
    if (std::error_code none; !std::filesystem::equivalent(a.output, a.file, none))
      keep_apart({{"FILE", a.file}}, {{"-o", a.output}});
    io::require_writable(a.output);
  }
  auto points_to =
      a.again ? io::PointsTo{.constraints = io::read_constraints(a.file), .solution = {}} : io::read_points_to(a.file);
  for (auto const& file : a.more) io::read_more_constraints(file, points_to.constraints);
  require_known(a, points_to.constraints);
  PointsToRun run{.is_stored = points_to.solution && a.more.empty(), .backend = {}, .plan = {}, .solve = {}};
  if (run.is_stored && !a.solving.empty())
    throw UsageError(
        fmt::format("{} holds a solution already, so that {} would change nothing; give --again to solve again", a.file,
                    fmt::join(a.solving, ", ")));
  if (!run.is_stored) {
    solve(a, points_to, run);
    points_to.attributes = attributes_of(run);
  }
  if (!a.output.empty()) io::write_points_to(points_to, a.output);
  print_points_to(a, points_to, run);
}

}  // namespace

void add_pointsto(CLI::App& app, int&) {
  auto* command = app.add_subcommand("pointsto", "Find what pointers may point to (Andersen's analysis)");
  auto a = std::make_shared<PointsToArguments>();
  command
      ->add_option("FILE", a->file,
                   "Constraints: NAME.cons.txt with NAME.nodes.txt beside it, or .h5, also with a solution")
      ->required();
  command->add_option("-o,--output", a->output, "Write constraints and solution to this .h5 file, which may be FILE")
      ->check(not_empty());
  command->add_option(
      "--add", a->more,
      "Further constraints (text); goes on from the solution in FILE, if it has one. They are kept only in -o");
  command->add_option("--query", a->queries,
                      "Print what a variable points to, and what points to an object; by name or number");
  command
      ->add_option("--may-alias", a->aliases, "Say whether two pointers may point to a common object; may be repeated")
      ->type_name("NAME NAME")
      ->allow_extra_args(false);
  command
      ->add_option("--why", a->reasons,
                   "Print why a pointer may point to an object: statements, each behind those that it needs; may be "
                   "repeated. One thread solves again for it")
      ->type_name("NAME NAME")
      ->allow_extra_args(false);
  command->add_flag("--calls", a->calls, "Print the functions that each call through a pointer may call");
  command->add_option("--count", a->count, "Print at most so many of a list; --json prints all")
      ->check(at_least(0))
      ->capture_default_str();
  command->add_flag("--again", a->again, "Solve again where FILE holds a solution");
  command
      ->add_option("--value-numbering", a->numbering,
                   "How variables with equal sets are found before solving: by values that flow in (hvn), by their "
                   "unions (hu), or not (none)")
      ->check(CLI::IsMember(names_of(numberings)))
      ->capture_default_str();
  command->add_flag_callback(
      "--no-cycles", [a] { a->plan.collapse_cycles = a->solve.collapse_cycles = false; },
      "Do not collapse cycles of copies");
  command->add_flag_callback(
      "--no-hybrid-cycles", [a] { a->plan.hybrid_cycles = false; },
      "Do not look for cycles through pointers before solving");
  command->add_flag_callback(
      "--no-hubs", [a] { a->solve.hubs = false; }, "Connect each target with each load and store, not through hubs");
  command
      ->add_option("--backend", a->backend,
                   fmt::format("Where to plan and solve: {} (default: the last)", fmt::join(backend::names(), ", ")))
      ->check(known_backend());
  command
      ->add_option("--solver", a->solver,
                   "Who plans and solves: host: one thread; backend: all threads of the backend; auto: the one that is "
                   "faster for a system of this size")
      ->check(CLI::IsMember(names_of(solvers)))
      ->capture_default_str();
  add_bytes_option(*command, "--memory", a->solve.max_bytes,
                   "Memory that sets may take (default: that of the machine, or of the device)");
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "The solution is the least one and does not depend on these options. Examples:\n"
      "  hornbill pointsto inputs/golden/points_to/list.cons.txt -o list.h5\n"
      "  hornbill pointsto list.h5 --query q --may-alias n p --why q x --calls");
  command->callback([a, command] {
    for (auto const* name : solving_options)
      if (command->get_option(name)->count() > 0) a->solving.emplace_back(name);
    a->plan.value_numbering = numberings.at(a->numbering);
    if (a->solver != "auto") a->plan.host_below = a->solve.host_below = solvers.at(a->solver);
    run_points_to(*a);
  });
}

}  // namespace hornbill::cli
