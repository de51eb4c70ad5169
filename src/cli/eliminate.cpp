// hornbill map, hornbill partition: exact answers by bucket elimination.
#include <cmath>
#include <memory>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/backend/registry.hpp>
#include <hornbill/elim/elimination.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/cost_network_file.hpp>

#include "commands.hpp"
#include "conflict.hpp"
#include "map.hpp"
#include "output.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

/// An elimination that fits.   \throws CapacityError with the width to blame
template <class Value>
Prepared<elim::HostPlan> prepare(ExactArguments const& a, tables::TableNetwork<Value> const& network, elim::Order order,
                                 bool counts = false) {
  auto const to_blame = blame(a, order, network);
  Prepared<elim::HostPlan> prepared;
  prepared.plan = planned(
      a, to_blame, [&] { return elim::make_plan(network.cardinality, elim::scopes_of(network), std::move(order)); });
  auto const& reductions = prepared.plan.reductions;
  prepared.table_bytes = counts ? tables::bytes_needed<tables::Counted<tables::Cost>>(reductions)
                                : tables::bytes_needed<Value>(reductions);
  prepared.slice_bytes = slice_bytes(a, prepared.table_bytes, "elimination", to_blame);
  return prepared;
}

template <class Value>
struct Solved {
  elim::Elimination<Value> result;
  Prepared<elim::HostPlan> prepared;
  std::string device;
  double order_seconds = 0, plan_seconds = 0, seconds = 0;
};

/// Runs what was prepared, and adds its time.
template <class Semiring>
elim::Elimination<typename Semiring::Value> run(ExactArguments const& a,
                                                tables::TableNetwork<typename Semiring::Value> const& network,
                                                Prepared<elim::HostPlan> const& prepared, double& seconds) {
  auto const begin = Clock::now();
  try {
    auto result = backend::visit(a.backend, [&]<class Exec>(Exec const& exec) {
      return prepared.slice_bytes > 0
                 ? elim::eliminate_in_slices<Semiring>(exec, network, prepared.plan, prepared.slice_bytes)
                 : elim::eliminate<Semiring>(exec, network, prepared.plan);
    });
    seconds += seconds_since(begin);
    return result;
  } catch (CapacityError const& e) {
    throw CapacityError(fmt::format("{} on backend {}: {}", a.file, a.backend, e.what()));
  }
}

/// \param counts  whether as much memory is to be there as counting takes
template <class Semiring>
Solved<typename Semiring::Value> solve(ExactArguments const& a,
                                       tables::TableNetwork<typename Semiring::Value> const& network,
                                       bool counts = false) {
  Solved<typename Semiring::Value> solved;
  auto begin = Clock::now();
  auto order = find_order(a, network.cardinality, elim::scopes_of(network), network.variable_names);
  solved.order_seconds = seconds_since(begin);
  begin = Clock::now();
  solved.prepared = prepare(a, network, std::move(order), counts);
  solved.plan_seconds = seconds_since(begin);
  solved.device = backend::describe(a.backend);
  solved.result = run<Semiring>(a, network, solved.prepared, solved.seconds);
  return solved;
}

template <class Value>
void print(ExactArguments const& a, Solved<Value> const& solved, nlohmann::json answer, std::string const& text) {
  auto const& [plan, table_bytes, slice_bytes] = solved.prepared;
  auto const& order = plan.order;
  if (a.json) {
    answer.update(order_json(a, order, table_bytes));
    answer.update({{"device", solved.device},
                   {"order_seconds", solved.order_seconds},
                   {"plan_seconds", solved.plan_seconds},
                   {"seconds", solved.seconds},
                   {"slices", static_cast<std::int64_t>(solved.result.slices)}});
    if constexpr (std::is_floating_point_v<Value>)
      answer["arithmetic"] = solved.result.took_logarithms ? "logarithms" : "double";
    print_json(answer);
    return;
  }
  write_out(
      "{}\n  order {}: width {}, {:.4g} cells combined, {} of tables{}\n"
      "  order in {}, plan in {}, elimination in {} on {} ({}{})\n",
      text, a.order, order.width, order.total_cells, human_bytes(static_cast<double>(table_bytes)),
      slices_text(slice_bytes, solved.result.slices), human_seconds(solved.order_seconds),
      human_seconds(solved.plan_seconds), human_seconds(solved.seconds), a.backend, solved.device,
      solved.result.took_logarithms ? ", logarithms" : "");
}

std::string count_text(double count) {
  if (count == 1) return "1 assignment has it";
  return std::isinf(count) ? "more than 10^308 assignments have it" : fmt::format("{:.16g} assignments have it", count);
}

/// \param costs  those observed, of one type or the other
template <class T>
int minimise(MapArguments const& a, ObservedCosts const& observed, tables::TableNetwork<T> const& costs) {
  auto const& network = observed.network;
  auto solved = solve<tables::MinSum<T>>(a, costs, a.count);
  auto const word = network.is_maximised ? "maximum" : "minimum";
  auto const least = tables::widened(solved.result.value);
  if (least >= network.upper_bound) {
    auto const bound = network.objective(network.upper_bound);
    auto const conflict =
        explain_conflict(a, observed.unobserved(), observed.evidence, a.evidence, conflict_deadline());
    nlohmann::json answer{{word, nullptr}, {"bound", number(bound)}};
    answer.update(conflict.json);
    print(a, solved, std::move(answer),
          fmt::format("{}: every assignment comes to the bound, {}, or worse{}", a.file, bound, to_text(conflict)));
    return contradiction;
  }
  auto const objective = network.objective(least);
  auto const assignment = complete(observed.evidence, network.num_variables(), solved.result.assignment);
  auto answer = assignment_json(network, assignment);
  answer[word] = number(objective);
  auto text = fmt::format("{}: {} {}", a.file, word, objective);
  if (a.count) {
    double const count =
        run<tables::CountedMinSum<tables::Cost>>(a, elim::counted(network), solved.prepared, solved.seconds)
            .value.count;
    if (count < 1e15)
      answer["count"] = static_cast<std::int64_t>(count);
    else
      answer["count"] = count;
    text += fmt::format("; {}", count_text(count));
  }
  write_assignment(a, assignment);
  print(a, solved, std::move(answer), fmt::format("{}\n  {}", text, describe_assignment(a, network, assignment)));
  return success;
}

int minimise_cost(MapArguments const& a) {
  auto const observed = read_costs(a);
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  auto const narrow = tables::narrowed(observed.network);
  return narrow ? minimise(a, observed, *narrow) : minimise<tables::Cost>(a, observed, observed.network);
}

int maximise_probability(ExactArguments const& a) {
  auto const observed = read_tables(a);
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  auto const solved = solve<tables::MaxProduct<double>>(a, observed.network);
  if (solved.result.value == 0) fail_impossible(a, observed, "no assignment", {{"log10_value", nullptr}});
  auto const assignment = complete(observed.evidence, observed.num_variables, solved.result.assignment);
  double const log10_value = elim::log10_of(solved.result);
  write_assignment(a, assignment);
  auto answer = assignment_json(observed.network, assignment);
  answer["log10_value"] = log10_value;
  print(a, solved, std::move(answer),
        fmt::format("{}: largest value {}\n  {}", a.file, power_of_ten(log10_value),
                    describe_assignment(a, observed.network, assignment)));
  return success;
}

int partition(ExactArguments const& a) {
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  auto const observed = read_tables(a);
  auto const solved = solve<tables::SumProduct<double>>(a, observed.network);
  if (solved.result.value == 0) fail_impossible(a, observed, "nothing", {{"log10_z", nullptr}});
  double const log10_z = elim::log10_of(solved.result);
  if (!a.output.empty()) io::write_atomically(a.output, fmt::format("PR\n{:.15g}\n", log10_z));
  print(a, solved, {{"log10_z", log10_z}}, fmt::format("{}: partition function {}", a.file, power_of_ten(log10_z)));
  return success;
}

}  // namespace

namespace {

/// By an order that is made for this alone: --order and --tries are of the question that was asked.
template <class Semiring>
auto value_within_reason(ExactArguments a, tables::TableNetwork<typename Semiring::Value> const& network) {
  constexpr double max_cells = 1e8;  // a second or so on a CPU
  a.order = "min_fill";
  a.options.tries = 1;
  auto order = find_order(a, network.cardinality, elim::scopes_of(network), network.variable_names, max_cells);
  if (order.total_cells > max_cells)
    throw CapacityError(fmt::format("{}: too many cells for a question beside the one that was asked", a.file));
  double seconds = 0;
  return run<Semiring>(a, network, prepare(a, network, std::move(order)), seconds).value;
}

}  // namespace

bool is_possible(ExactArguments const& a, tables::TableNetwork<double> const& network) {
  return value_within_reason<tables::SumProduct<double>>(a, network) != 0;
}
bool is_possible(ExactArguments const& a, tables::CostNetwork const& network) {
  return value_within_reason<tables::MinSum<tables::Cost>>(a, network) < network.upper_bound;
}

void fail_impossible(ExactArguments const& a, ObservedTables const& observed, std::string const& what,
                     nlohmann::json answer) {
  auto const conflict = explain_conflict(a, observed.unobserved(), observed.evidence, a.evidence, conflict_deadline());
  if (a.json) {
    answer["file"] = a.file;
    answer.update(conflict.json);
    print_json(answer);
  }
  throw ContradictionError(fmt::format("{}: {} is possible{}", a.file, what, to_text(conflict)));
}

nlohmann::json number(std::string const& decimal) { return nlohmann::json::parse(decimal); }

namespace {

/// Puts a network that was read under evidence.
template <class Network>
void observe(Observed<Network>& observed, HostEvidence evidence) {
  observed.evidence = std::move(evidence);
  if (observed.evidence.empty()) return;
  auto network = tables::condition(observed.network, observed.evidence);
  observed.given = std::exchange(observed.network, std::move(network));
}

}  // namespace

ObservedTables read_tables(ExactArguments const& a) {
  auto const model = read_model(a.file);
  auto const evidence = last_of_each_variable(read_evidence(a.file, model, a.evidence));
  ObservedTables observed;
  observed.network = tables::to_tables(model.graph);
  observed.num_variables = model.graph.num_variables;
  observe(observed, evidence);
  return observed;
}

ObservedCosts read_costs(ExactArguments const& a) {
  auto network = read_cost_network(a.file);
  if (a.evidence.empty()) return {std::move(network), {}, {}};
  Model variables;  // evidence is of these, whatever ties them together
  variables.graph.num_variables = network.num_variables();
  variables.graph.cardinality = network.cardinality;
  variables.graph.variable_names = network.variable_names;
  variables.graph.state_names = network.state_names;
  ObservedCosts observed{std::move(network), {}, {}};
  try {
    observe(observed, last_of_each_variable(read_evidence(a.file, variables, a.evidence)));
    return observed;
  } catch (InputError const& e) {
    throw InputError(fmt::format("{}, evidence of {}: {}", a.file, fmt::join(a.evidence, ", "), e.what()));
  }
}

std::vector<Index> complete(HostEvidence const& evidence, Index num_variables, std::vector<Index> assignment) {
  assignment.resize(static_cast<std::size_t>(num_variables));
  for (auto const& o : evidence)
    if (o.is_hard()) assignment[o.variable] = o.value;
  return assignment;
}

void write_assignment(ExactArguments const& a, std::vector<Index> const& assignment) {
  if (!a.output.empty())
    io::write_atomically(a.output, fmt::format("MPE\n{} {}\n", assignment.size(), fmt::join(assignment, " ")));
}

std::string none_found(ExactArguments const& a) {
  return a.output.empty() ? "no possible assignment was found"
                          : "no possible assignment was found, so nothing is written";
}

void add_map(CLI::App& app, int& exit_code) {
  auto* command =
      app.add_subcommand("map", "The best assignment: of least cost, or most probable; exactly, or with bounds");
  auto const a = std::make_shared<MapArguments>();
  a->where_too_wide = "--mini-buckets bounds the best";
  add_exact_options(*command, *a, "Costs: .wcsp, .cfn; or probabilities: .uai, .bif, .fg, .causal_fg, .h5",
                    "Write the assignment, as the UAI competitions do (MPE)");
  command->get_option("--output")->check(text_file());
  add_slice_options(*command, *a);
  auto* z = command
                ->add_option("--mini-buckets", a->mini_buckets,
                             "Where exact elimination is too wide: eliminate in parts of so many variables, which "
                             "bounds the best, and finds an assignment; larger parts mostly do better, not always")
                ->check(at_least(1));
  auto* gap = command
                  ->add_option("--bound-gap", a->bound_gap,
                               "The same with ever larger parts (from --mini-buckets, or 2), until the bound and what "
                               "was found are so close (probabilities: their decimal logarithms)")
                  ->check(at_least(0));
  command->add_option("--time-limit", a->time_limit, "Seconds after which parts become no larger (0: none)")
      ->check(at_least(0))
      ->needs(gap);
  auto* match =
      command->add_flag("--match-moments", a->match_moments,
                        "Also with costs shifted between the parts of a bucket, which bounds some models far tighter "
                        "and others less tightly: the better of both is kept, for about three times the work");
  auto* by = command
                 ->add_option("--partition-by", a->partition_by,
                              "How tables go into parts: size (the widest first, each where it fits) or content "
                              "(together what loses most by being apart: often tighter bounds; takes much longer)")
                 ->check(CLI::IsMember({"size", "content"}))
                 ->capture_default_str();
  auto* count = command->add_flag(
      "--count", a->count,
      "Also count the assignments that are as good (costs): another elimination, in two to four times the memory");
  command->footer(
      "Exit code 4: --bound-gap was not reached, or no assignment was found.\n\nExamples:\n  hornbill map problem.wcsp "
      "--order min_fill --tries 100 -o best.MPE\n  hornbill map wide.wcsp --bound-gap 10 --time-limit 60 "
      "--match-moments");
  command->callback([a, z, gap, match, by, count, &exit_code] {
    settle(*a);
    bool const is_cost = io::is_cost_network(a->file), in_parts = z->count() + gap->count() > 0;
    if (match->count() + by->count() > 0 && !in_parts)
      throw UsageError("--match-moments and --partition-by are for --mini-buckets or --bound-gap");
    if (a->device_memory > 0 && in_parts)
      throw UsageError("--device-memory is for exact elimination; smaller --mini-buckets need less");
    if (count->count() > 0 && (in_parts || !is_cost))
      throw UsageError("--count is for costs that are minimised exactly");
    if (in_parts)
      exit_code = is_cost ? bound_cost(*a) : bound_probability(*a);
    else
      exit_code = is_cost ? minimise_cost(*a) : maximise_probability(*a);
  });
}

void add_partition(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "partition", "The partition function, exactly; of a Bayesian network the probability of the evidence");
  auto const a = std::make_shared<ExactArguments>();
  add_exact_options(*command, *a, "Model: .uai, .bif, .fg, .causal_fg, .h5",
                    "Write its decimal logarithm, as the UAI competitions do (PR)");
  command->get_option("--output")->check(text_file());
  add_slice_options(*command, *a);
  command->footer("Example:\n  hornbill partition alarm.bif --evidence observed.txt");
  command->callback([a, &exit_code] {
    settle(*a);
    exit_code = partition(*a);
  });
}

}  // namespace hornbill::cli
