// hornbill map --mini-buckets, --bound-gap: bounds on the best assignment where exact elimination is too wide.
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/backend/registry.hpp>
#include <hornbill/elim/mini_buckets.hpp>
#include <hornbill/io/cost_network_file.hpp>

#include "commands.hpp"
#include "conflict.hpp"
#include "map.hpp"
#include "output.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

/// Costs: the less the better.
template <class T>
struct Costs {
  using Semiring = tables::MinSum<T>;
  using Answer = tables::Cost;
  static constexpr bool is_whole = true;
  tables::CostNetwork const& costs;
  tables::TableNetwork<T> const& network;

  Answer bound_of(elim::Elimination<T> const& result) const {
    return std::min(tables::widened(result.value), costs.upper_bound);
  }
  Answer value_of(std::vector<Index> const& assignment) const {
    return std::min(elim::value_of<tables::MinSum<tables::Cost>>(costs, assignment), costs.upper_bound);
  }
  bool is_impossible(Answer bound) const { return bound >= costs.upper_bound; }
  Answer worst() const { return costs.upper_bound; }
  Answer loosest() const { return std::numeric_limits<Answer>::lowest(); }
  static bool is_better(Answer a, Answer b) { return a < b; }
  double gap(Answer bound, Answer value) const {
    return static_cast<double>(value - bound) * std::pow(10.0, -costs.decimals);
  }
  bool are_same(Answer bound, Answer value) const { return bound == value; }
  std::string text(Answer answer) const { return costs.objective(answer); }
};

/// Probabilities as decimal logarithms: the more the better.
struct Probabilities {
  using Semiring = tables::MaxProduct<double>;
  using Answer = double;
  static constexpr bool is_whole = false;
  tables::TableNetwork<double> const& network;

  Answer bound_of(elim::Elimination<double> const& result) const { return elim::log10_of(result); }
  Answer value_of(std::vector<Index> const& assignment) const {
    long double sum = 0;  // so that only the bound is rounded
    for (auto const& table : network.tables)
      sum += std::log10(static_cast<long double>(network.entry(table, assignment)));
    return static_cast<double>(sum);
  }
  bool is_impossible(Answer bound) const { return bound == worst(); }
  Answer worst() const { return -std::numeric_limits<double>::infinity(); }
  Answer loosest() const { return std::numeric_limits<double>::infinity(); }
  static bool is_better(Answer a, Answer b) { return a > b; }
  double gap(Answer bound, Answer value) const {
    return std::isinf(value) ? (std::isinf(bound) ? 0 : std::numeric_limits<double>::infinity()) : bound - value;
  }
  /// But for rounding, of which every product adds some, so that a bound may even seem worse than what was found: a
  /// little, as more would be a mistake that is to be seen. Nothing found is not the same as any bound.
  bool are_same(Answer bound, Answer value) const {
    auto const products = static_cast<double>(network.tables.size() + network.cardinality.size());
    return std::isfinite(value) &&
           bound - value <= 4 * std::numeric_limits<double>::epsilon() * (products + std::abs(value)) &&
           value - bound < 1e-6;
  }
  std::string text(Answer answer) const { return power_of_ten(answer); }
};

template <class Problem>
struct Bounds {
  typename Problem::Answer bound, value;  // the best that there can be, and the best that was found
  std::vector<Index> assignment = {};     // none where no possible one was found
  int z = 0;                              // of the last elimination
  int matched_z = 0;                      // of the last with moments matched
  bool is_exact = false, took_logarithms = false;
  std::string device = "", stop = "";
  elim::Order order = {};
  double order_seconds = 0, seconds = 0;
  double last_seconds = 0, last_work = 0;  // of the last z
};

/// How many values a plan reads, to tell by how much longer than another it will take.
double work_of(elim::HostPlan const& plan) {
  double work = 0;
  for (auto const& reduction : plan.reductions.reductions())
    work += static_cast<double>(plan.reductions.tables()[reduction.output].cells) *
            plan.reductions.states_of(reduction.eliminated) * static_cast<double>(reduction.inputs.size());
  return work;
}

/// \throws CapacityError
template <class Problem>
void require_plan_bytes(MapArguments const& a, elim::HostPlan const& plan, elim::MiniBucketOptions const& options) {
  auto const bytes = tables::bytes_needed<typename Problem::Semiring::Value>(plan.reductions);
  require_bytes(a, bytes, fmt::format("elimination by mini-buckets of {} variables", options.max_variables),
                "Fewer, by --mini-buckets, need less");
}

/// \throws CapacityError
template <class Problem>
elim::HostPlan plan_by_size(MapArguments const& a, Problem const& problem, elim::MiniBucketOptions const& options,
                            elim::Order const& order) {
  auto plan =
      elim::make_mini_bucket_plan(problem.network.cardinality, elim::scopes_of(problem.network), order, options);
  require_plan_bytes<Problem>(a, plan, options);
  return plan;
}

/// The same by what tables say, which has to be computed.   \throws CapacityError
template <class Problem>
elim::HostPlan plan_by_content(MapArguments const& a, Problem const& problem, elim::MiniBucketOptions const& options,
                               elim::Order const& order) {
  try {
    auto plan = backend::visit(a.backend, [&]<class Exec>(Exec const& exec) {
      return elim::make_content_plan<typename Problem::Semiring>(exec, problem.network, order, options);
    });
    require_plan_bytes<Problem>(a, plan, options);
    return plan;
  } catch (std::bad_alloc const&) {
    throw CapacityError(
        fmt::format("{}: memory was not enough to compare the parts of {} variables", a.file, options.max_variables));
  }
}

/// The plan of one elimination.   \param by_size  that of the same options   \throws CapacityError
template <class Problem>
elim::HostPlan plan_of(MapArguments const& a, Problem const& problem, elim::MiniBucketOptions const& options,
                       elim::Order const& order, elim::HostPlan by_size) {
  return a.partition_by == "content" && !by_size.is_exact ? plan_by_content(a, problem, options, order)
                                                          : std::move(by_size);
}

/// Runs a plan, and keeps what is better than before.
template <class Problem>
void eliminate(MapArguments const& a, Problem const& problem, elim::HostPlan const& plan, Bounds<Problem>& b) {
  auto const result = backend::visit(a.backend, [&]<class Exec>(Exec const& exec) {
    return elim::eliminate<typename Problem::Semiring>(exec, problem.network, plan);
  });
  b.is_exact = plan.is_exact;
  b.took_logarithms = b.took_logarithms || result.took_logarithms;
  if (auto const bound = problem.bound_of(result); Problem::is_better(b.bound, bound)) b.bound = bound;
  if (auto const value = problem.value_of(result.assignment); Problem::is_better(value, b.value)) {
    b.value = value;
    b.assignment = result.assignment;
  }
  // but for rounding they are the same
  if (!Problem::is_whole && b.is_exact && problem.gap(b.bound, b.value) < 1e-6) b.bound = b.value;
  if (problem.are_same(b.bound, b.value)) {  // the parts were as good as the whole
    b.bound = b.value;
    b.is_exact = true;
  }
}

/// Elimination by mini-buckets of z variables, unless something speaks against it.
/// \return what: "memory", "time", or nothing
template <class Problem>
std::string tighten(MapArguments const& a, Problem const& problem, int z, Clock::time_point start, Bounds<Problem>& b) {
  try {
    elim::MiniBucketOptions const options{.max_variables = z};
    auto by_size = plan_by_size(a, problem, options, b.order);
    double const work = work_of(by_size);
    if (a.time_limit > 0 && b.z > 0 && seconds_since(start) + b.last_seconds * work / b.last_work > a.time_limit)
      return "time";
    b.last_work = work;
    eliminate(a, problem, plan_of(a, problem, options, b.order, std::move(by_size)), b);
    b.z = z;
    return "";
  } catch (CapacityError const& e) {
    if (b.z == 0 && std::string(e.what()).starts_with(a.file)) throw;  // nothing is known yet
    if (b.z == 0)
      throw CapacityError(fmt::format("{}: {}. Fewer variables, by --mini-buckets, need less", a.file, e.what()));
    return "memory";
  }
}

/// The same once more with moments matched, which is better for some models and worse for others.
template <class Problem>
void match_moments(MapArguments const& a, Problem const& problem, Bounds<Problem>& b) {
  try {
    elim::MiniBucketOptions const options{.max_variables = b.z, .match_moments = true};
    eliminate(a, problem, plan_of(a, problem, options, b.order, plan_by_size(a, problem, options, b.order)), b);
    b.matched_z = b.z;
  } catch (CapacityError const&) {
    // What is known without it stands.
  }
}

/// Why to stop, now that bounds are known; nothing to go on.
template <class Problem>
std::string reason_to_stop(MapArguments const& a, Problem const& problem, Clock::time_point start,
                           Bounds<Problem> const& b) {
  if (b.is_exact) return "exact";
  if (a.bound_gap && problem.gap(b.bound, b.value) <= *a.bound_gap) return "gap";
  return a.time_limit > 0 && seconds_since(start) >= a.time_limit ? "time" : "";
}

/// With --bound-gap, z goes up until bounds are close enough, or nothing more can be done.
template <class Problem>
Bounds<Problem> find_bounds(MapArguments const& a, Problem const& problem) {
  Bounds<Problem> b{.bound = problem.loosest(), .value = problem.worst(), .device = backend::describe(a.backend)};
  auto const begin = Clock::now();
  b.order = find_order(a, problem.network.cardinality, elim::scopes_of(problem.network), problem.network.variable_names,
                       std::numeric_limits<double>::infinity());
  b.order_seconds = seconds_since(begin);
  for (int z = a.mini_buckets.value_or(2); b.stop.empty(); ++z) {
    auto const begin_of_z = Clock::now();
    b.stop = tighten(a, problem, z, begin, b);
    if (!b.stop.empty()) break;
    b.stop = reason_to_stop(a, problem, begin, b);
    if (b.stop.empty() && a.match_moments) {
      match_moments(a, problem, b);
      b.stop = reason_to_stop(a, problem, begin, b);
    }
    b.last_seconds = seconds_since(begin_of_z);
    b.seconds += b.last_seconds;
    if (b.stop.empty() && !a.bound_gap) b.stop = "once";
  }
  return b;
}

/// Whether there is less than was asked for: a wider gap, or no assignment.
template <class Problem>
bool is_short(Bounds<Problem> const& b) {
  return b.stop == "memory" || b.stop == "time" || b.assignment.empty();
}

/// \param assignment  of the model's variables   \param conflict  in words, where nothing is possible
template <class Problem>
void print(MapArguments const& a, Problem const& problem, Bounds<Problem> const& b,
           std::vector<Index> const& assignment, nlohmann::json answer, std::string const& conflict = "") {
  if (a.json) {
    answer.update({{"file", a.file},
                   {"backend", a.backend},
                   {"device", b.device},
                   {"order", a.order},
                   {"width", b.order.width},
                   {"mini_buckets", b.z},
                   {"match_moments", a.match_moments},
                   {"matched_mini_buckets", b.matched_z},
                   {"partition_by", a.partition_by},
                   {"stop", problem.is_impossible(b.bound) ? "contradiction" : b.stop},
                   {"order_seconds", b.order_seconds},
                   {"seconds", b.seconds}});
    if (!Problem::is_whole) answer["arithmetic"] = b.took_logarithms ? "logarithms" : "double";
    print_json(answer);
    return;
  }
  if (problem.is_impossible(b.bound))
    write_out("{}: every assignment comes to the bound, {}, or worse{}\n", a.file, problem.text(b.bound), conflict);
  else if (b.is_exact)
    write_out("{}: {}, exactly\n", a.file, problem.text(b.value));
  else if (b.assignment.empty())
    write_out("{}: at best {}; {}\n", a.file, problem.text(b.bound), none_found(a));
  else
    write_out("{}: at best {}; {} was found\n", a.file, problem.text(b.bound), problem.text(b.value));
  if (!assignment.empty()) write_out("  {}\n", describe_assignment(a, problem.network, assignment));
  auto const matched = a.match_moments && !b.is_exact && b.matched_z < b.z
                           ? (b.matched_z == 0 ? std::string(", no moments matched")
                                               : fmt::format(", moments matched with up to {}", b.matched_z))
                           : "";
  write_out("  order {}: width {}, mini-buckets of {} variables{}{}\n", a.order, b.order.width, b.z, matched,
            b.stop == "memory" ? "; more do not fit into memory"
            : b.stop == "time" ? "; more would take longer than the time limit"
                               : "");
  write_out("  order in {}, elimination in {} on {} ({}{})\n", human_seconds(b.order_seconds), human_seconds(b.seconds),
            a.backend, b.device, b.took_logarithms ? ", logarithms" : "");
}

template <class T>
int bound_costs(MapArguments const& a, ObservedCosts const& observed, tables::TableNetwork<T> const& costs) {
  auto const& network = observed.network;
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  Costs<T> const problem{network, costs};
  auto const b = find_bounds(a, problem);
  auto const assignment =
      b.assignment.empty() ? b.assignment : complete(observed.evidence, network.num_variables(), b.assignment);
  if (!assignment.empty()) write_assignment(a, assignment);
  auto const bound = number(network.objective(b.bound)),
             found = number(network.objective(b.assignment.empty() ? network.upper_bound : b.value));
  nlohmann::json answer{{"lower_bound", network.is_maximised ? found : bound},
                        {"upper_bound", network.is_maximised ? bound : found},
                        {"exact", b.is_exact}};
  if (!assignment.empty()) answer.update(assignment_json(network, assignment));
  bool const is_impossible = b.bound >= network.upper_bound;
  auto const conflict =
      is_impossible ? explain_conflict(a, observed.unobserved(), observed.evidence, a.evidence, conflict_deadline())
                    : Conflict();
  if (is_impossible) answer["contradiction"] = conflict.json.value("contradiction", nlohmann::json());
  print(a, problem, b, assignment, answer, to_text(conflict));
  return is_impossible ? contradiction : is_short(b) ? not_converged : success;
}

}  // namespace

int bound_cost(MapArguments const& a) {
  auto const observed = read_costs(a);
  auto const narrow = a.match_moments ? std::nullopt : tables::narrowed(observed.network);  // shifts may add up
  return narrow ? bound_costs(a, observed, *narrow) : bound_costs<tables::Cost>(a, observed, observed.network);
}

int bound_probability(MapArguments const& a) {
  auto const observed = read_tables(a);
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  Probabilities const problem{observed.network};
  auto const b = find_bounds(a, problem);
  if (problem.is_impossible(b.bound)) fail_impossible(a, observed, "no assignment", {{"log10_upper_bound", nullptr}});
  nlohmann::json answer{{"log10_upper_bound", b.bound}, {"exact", b.is_exact}};
  std::vector<Index> assignment;
  if (!b.assignment.empty()) {
    assignment = complete(observed.evidence, observed.num_variables, b.assignment);
    write_assignment(a, assignment);
    answer["log10_value"] = b.value;
    answer.update(assignment_json(observed.network, assignment));
  }
  print(a, problem, b, assignment, answer);
  return is_short(b) ? not_converged : success;
}

}  // namespace hornbill::cli
