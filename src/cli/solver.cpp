#include "solver.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <filesystem>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <hornbill/hornbill.hpp>
#include <hornbill/io/cost_network_file.hpp>
#include <hornbill/io/text_file.hpp>

#include "rank_session.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

CLI::Validator damping() {
  CLI::Validator const number = number_that([](double x) { return x >= 0 && x < 1; }, "auto or a number in [0, 1)");
  return CLI::Validator([number](std::string& text) { return text == "auto" ? std::string() : number(text); }, "");
}

void warn(std::vector<std::string> const& warnings) {
  for (auto const& warning : warnings) fmt::print(stderr, "hornbill: {}\n", warning);
}

}  // namespace

void add_solver_options(CLI::App& command, SolverArguments& a) {
  command
      .add_option("--schedule", a.schedule,
                  "auto (seqfix, or chromatic on a GPU or at least 4 CPU threads for each evidence set), " +
                      built_in_schedules() + ", or a schedule stored in the model")
      ->capture_default_str();
  command
      .add_option("--share", a.share,
                  "residual: the share of unsettled messages that a round updates; residual_random: the probability of "
                  "each (default 0.25, 0.5)")
      ->check(number_that([](double x) { return x > 0 && x <= 1; }, "a number in (0, 1]"));
  command.add_option("--seed", a.seed, "seqrnd, residual_random: of the random numbers (default 1)")
      ->check(at_least(0));
  command.add_option("--iterations", a.options.max_iterations, "Most iterations")
      ->check(at_least(0))
      ->capture_default_str();
  command
      .add_option("--tolerance", a.options.tolerance,
                  "Stop when no marginal changes by this much over an iteration (where steps are damped: divided by 1 "
                  "- damping; seqmax, residual: nor would by any message that waits); 0 runs all iterations")
      ->check(at_least(0))
      ->capture_default_str();
  command.add_option("--time-limit", a.options.time_limit, "Stop after so many seconds of iterations")
      ->check(at_least(0));
  command
      .add_option("--damping", a.damping,
                  "In [0, 1): log-odds become damping * old + (1 - damping) * new. auto: none at first; where 30 "
                  "iterations do not converge, and there is a tolerance to reach, some, with an extrapolation every 25 "
                  "iterations; with lbp --start-from from the first")
      ->check(damping())
      ->capture_default_str();
  command
      .add_option("--backend", a.backend,
                  "Where to run: " + fmt::format("{}", fmt::join(backend::names(), ", ")) + " (default: the last)")
      ->check(known_backend());
  command.add_option("--precision", a.precision, "Numbers to compute with")
      ->check(CLI::IsMember({"double", "float"}))
      ->capture_default_str();
  add_bytes_option(command, "--memory-limit", a.memory_limit,
                   "Bytes of device memory that may be used, e.g. 4G (default: all that is free)");
}

void settle(SolverArguments& a) {
  if (a.backend.empty()) a.backend = backend::names().back();
  if (a.damping != "auto") {
    a.options.damping = std::stod(a.damping);
    a.options.acceleration.after = -1;
  }
}

bool runs_one_set_at_a_time(bp::Strategy const& strategy) {
  return std::holds_alternative<bp::Residual>(strategy) || std::holds_alternative<bp::SeqMax>(strategy);
}

bp::Strategy choose_strategy(SolverArguments& a, Model const& model, Index sets) {
  if (a.schedule == "auto")
    a.schedule = backend::visit(a.backend, [&](auto const& exec) { return bp::suitable_schedule(exec, sets); });
  auto strategy = find_strategy(a.schedule, model, a.file);
  auto* const random = std::get_if<bp::SeqRnd>(&strategy);
  auto* const residual = std::get_if<bp::Residual>(&strategy);
  if (a.share && !residual) throw UsageError("--share is for the schedules residual and residual_random");
  if (a.seed && !random && !(residual && residual->randomised))
    throw UsageError("--seed is for the schedules seqrnd and residual_random");
  if (sets > 1 && runs_one_set_at_a_time(strategy))
    throw UsageError(fmt::format("--each: the schedule {} runs one evidence set at a time", a.schedule));
  if (random) a.seed = random->seed = a.seed.value_or(random->seed);
  if (residual) a.share = residual->share = a.share.value_or(residual->share);
  if (residual && residual->randomised) a.seed = residual->seed = a.seed.value_or(residual->seed);
  return strategy;
}

void require_memory(SolverArguments const& a, HostFactorGraph const& graph, bp::HostPlan const& plan) {
  std::size_t const needed =
      a.precision == "float" ? bp::bytes_needed<float>(graph, plan) : bp::bytes_needed<double>(graph, plan);
  std::size_t available = backend::available_bytes(a.backend);
  if (a.memory_limit > 0) available = std::min(available, a.memory_limit);
  if (needed > available)
    throw CapacityError(
        fmt::format("{} on backend {} (--precision float,{} or a larger --memory-limit where one is set, may help)",
                    a.file, a.backend, plan.sets > 1 ? " fewer --each," : ""),
        needed, available);
}

std::unique_ptr<bp::Inference> make_inference(SolverArguments const& a, Model const& model,
                                              bp::Strategy const& strategy, bp::PlanOptions const& options) {
  return backend::visit(a.backend, [&]<class Exec>(Exec const& exec) -> std::unique_ptr<bp::Inference> {
    auto const plan = bp::lay_out<Exec>(model.graph, bp::make_batches(model.graph, strategy), options);
    require_memory(a, model.graph, plan);
    if (a.precision == "float") return std::make_unique<bp::InferenceOn<Exec, float>>(exec, model.graph, plan);
    return std::make_unique<bp::InferenceOn<Exec, double>>(exec, model.graph, plan);
  });
}

double share_that_moved(std::vector<double> const& before, std::vector<double> const& after, double tolerance) {
  std::size_t moved = 0;
  for (std::size_t v = 0; v < after.size(); ++v) moved += std::abs(after[v] - before[v]) > tolerance;
  return static_cast<double>(moved) / static_cast<double>(std::max<std::size_t>(1, after.size()));
}

std::string what_may_help(SolverArguments const& a, bp::Stop stop) {
  std::string const more = stop == bp::Stop::time_limit ? "a longer --time-limit" : "more --iterations";
  return fmt::format("{}{} or {}", more, a.damping == "auto" ? "" : ", --damping auto",
                     a.schedule == "chromatic" ? "another --schedule" : "--schedule chromatic");
}

Model read_model(std::string const& file) {
  auto model = io::read_model(file);
  warn(model.warnings);
  return model;
}

tables::CostNetwork read_cost_network(std::string const& file) {
  std::vector<std::string> warnings;
  auto network = io::read_cost_network(file, &warnings);
  warn(warnings);
  return network;
}

HostEvidence read_evidence(std::string const& file, Model const& model, std::string const& source) {
  auto const stored = model.evidence.find(source);
  if (stored != model.evidence.end()) return stored->second;
  if (std::filesystem::exists(source)) {
    if (source.ends_with(".evid")) return io::read_uai_evidence(source, model.graph);
    auto const text = io::read_text(source);  // once: it may be a pipe
    if (auto const session = Session::parse_evidence(text, source, model.graph)) return *session;
    return io::parse_evidence(text, source, model.graph);
  }
  std::string known;
  for (auto const& [name, set] : model.evidence) known += (known.empty() ? "" : ", ") + name;
  throw InputError(file, "/evidence",
                   fmt::format("'{}' is neither an evidence set of this file ({}) nor a file", source,
                               known.empty() ? "there are none" : known));
}

HostEvidence read_evidence(std::string const& file, Model const& model, std::vector<std::string> const& sources) {
  constexpr int max_reported = 5;
  int changed = 0;
  HostEvidence all;
  std::unordered_map<Index, std::pair<Observation, std::string>> seen;  // and where
  for (auto const& source : sources)
    for (auto const& o : read_evidence(file, model, source)) {
      all.push_back(o);
      auto const [before, is_new] = seen.try_emplace(o.variable, o, source);
      if (is_new) continue;
      if (before->second.second != source && !(before->second.first == o) && ++changed <= max_reported)
        fmt::print(stderr, "hornbill: {} is observed otherwise in {} than in {}; the last counts\n",
                   model.graph.name_of(o.variable), source, before->second.second);
      before->second = {o, source};
    }
  if (changed > max_reported) fmt::print(stderr, "hornbill: and {} more variables\n", changed - max_reported);
  return all;
}

std::vector<HostEvidence> read_evidence_sets(std::string const& file, Model const& model,
                                             std::vector<std::string> const& evidence,
                                             std::vector<std::string> const& each) {
  auto const common = read_evidence(file, model, evidence);
  std::vector<HostEvidence> sets(std::max<std::size_t>(1, each.size()), common);
  for (std::size_t s = 0; s < each.size(); ++s) {
    auto const own = read_evidence(file, model, each[s]);
    sets[s].insert(sets[s].end(), own.begin(), own.end());
  }
  return sets;
}

std::string stored_name(std::string const& name, std::string const& set) {
  return set.empty() ? name : name + "_" + std::filesystem::path(set).filename().string();
}

void require_names_apart(std::string const& name, std::vector<std::string> const& each) {
  for (auto one = each.begin(); one != each.end(); ++one)
    if (std::any_of(each.begin(), one,
                    [&](auto const& other) { return stored_name(name, other) == stored_name(name, *one); }))
      throw UsageError(
          fmt::format("--each {}: marginals are stored under a file's name without its folder, and another evidence "
                      "set has that name; rename one",
                      *one));
}

std::vector<Index> most_probable(std::vector<Index> query, std::vector<double> const& p_true, int count) {
  std::sort(query.begin(), query.end(),
            [&](Index x, Index y) { return p_true[x] != p_true[y] ? p_true[x] > p_true[y] : x < y; });
  query.resize(std::min<std::size_t>(query.size(), static_cast<std::size_t>(count)));
  return query;
}

std::vector<Index> first_of_places(std::vector<Index> const& variables, HostFactorGraph const& graph) {
  std::vector<Index> first;
  std::set<std::string> places;
  for (Index v : variables)
    if (auto const name = graph.name_of(v); places.insert(name.substr(0, name.find(' '))).second) first.push_back(v);
  return first;
}

std::vector<Index> find_query(std::string const& file, Model const& model, std::string const& name) {
  auto const query = model.queries.find(name);
  if (query != model.queries.end()) return query->second;
  if (name == "all") {
    std::vector<Index> all(model.graph.num_variables);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::string known;
  for (auto const& [stored, variables] : model.queries) known += ", " + stored;
  throw InputError(file, "/queries",
                   fmt::format("there is no query '{}'; there {}", name,
                               known.empty() ? "is `all` alone (.h5 files can hold others)" : "are all" + known));
}

Progress::Progress(int most, char const* what) : max_(most), what_(what), shown_(shows_progress()) {}

Progress::~Progress() {
  if (drawn_) fmt::print(stderr, "\r{:60}\r", "");
}

void Progress::operator()(int done, double change) {
  auto const now = std::chrono::steady_clock::now();
  if (!shown_ || now - last_ < std::chrono::milliseconds(100)) return;
  last_ = now;
  drawn_ = true;
  int const width = 24, filled = max_ > 0 ? static_cast<int>(static_cast<double>(width) * done / max_) : 0;
  fmt::print(stderr, "\r[{:<{}}] {} of {} {} {:.2e} ", std::string(filled, '#'), width, done, max_, what_, change);
  std::fflush(stderr);
}

bp::Options with_progress(bp::Options options) {
  options.progress = [progress = std::make_shared<Progress>(options.max_iterations)](int iterations, double residual) {
    (*progress)(iterations, residual);
  };
  return options;
}

}  // namespace hornbill::cli
