// hornbill lbp: loopy belief propagation.
#include <algorithm>
#include <chrono>
#include <filesystem>
#include <memory>
#include <numeric>
#include <optional>

#include <fmt/format.h>

#include <hornbill/hornbill.hpp>
#include <hornbill/io/atomic_file.hpp>

#include "commands.hpp"
#include "lbp.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

HostEvidence read_evidence(LbpArguments const& a, io::Model const& model, std::string const& source) {
  auto const stored = model.evidence.find(source);
  if (stored != model.evidence.end()) return stored->second;
  if (std::filesystem::exists(source)) return io::read_evidence_text(source, model.graph);
  std::string known;
  for (auto const& [name, set] : model.evidence) known += (known.empty() ? "" : ", ") + name;
  throw InputError(a.file, "/evidence", fmt::format("'{}' is neither an evidence set of this file ({}) nor a file", source, known.empty() ? "there are none" : known));
}

/// What --evidence gives, and with it each set of --each, where there are any.
std::vector<HostEvidence> gather_evidence(LbpArguments const& a, io::Model const& model) {
  HostEvidence common;
  auto append = [&](HostEvidence& to, std::string const& source) {
    auto const set = read_evidence(a, model, source);
    to.insert(to.end(), set.begin(), set.end());
  };
  for (auto const& source : a.evidence) append(common, source);
  std::vector<HostEvidence> sets(std::max<std::size_t>(1, a.each.size()), common);
  for (std::size_t s = 0; s < a.each.size(); ++s) append(sets[s], a.each[s]);
  return sets;
}

void require_memory(LbpArguments const& a, HostFactorGraph const& graph, bp::HostPlan const& plan) {
  std::size_t const needed = a.precision == "float" ? bp::bytes_needed<float>(graph, plan) : bp::bytes_needed<double>(graph, plan);
  std::size_t available = backend::available_bytes(a.backend);
  if (a.memory_limit > 0) available = std::min(available, a.memory_limit);
  if (needed > available) throw CapacityError(fmt::format("{} on backend {}", a.file, a.backend), needed, available);
}

/// One line that is overwritten, on a terminal only.
class Progress {
 public:
  explicit Progress(int max_iterations) : max_iterations_(max_iterations), shown_(shows_progress()) {}
  ~Progress() {
    if (drawn_) fmt::print(stderr, "\r{:60}\r", "");
  }
  void operator()(int iterations, double residual) {
    auto const now = std::chrono::steady_clock::now();
    if (!shown_ || now - last_ < std::chrono::milliseconds(100)) return;
    last_ = now;
    drawn_ = true;
    int const width = 24, done = max_iterations_ > 0 ? static_cast<int>(static_cast<double>(width) * iterations / max_iterations_) : 0;
    fmt::print(stderr, "\r[{:<{}}] {} of {} iterations, residual {:.2e} ", std::string(done, '#'), width, iterations, max_iterations_, residual);
    std::fflush(stderr);
  }

 private:
  int max_iterations_;
  bool shown_, drawn_ = false;
  std::chrono::steady_clock::time_point last_{};
};

/// Starts from stored messages; what they say with certainty stands where no evidence for it has gone.
template <class Value, class Exec, class Graph, class State>
void start_from(Exec const& exec, Graph const& graph, io::StoredMessages const& messages, std::vector<HostEvidence> const& observed,
                EvidenceSets<Value, typename Exec::memory_space> const& evidence, State& state) {
  auto const stands = [&](HostEvidence const& set) { return messages.evidence && rules_out_as_much(set, *messages.evidence); };
  if (std::all_of(observed.begin(), observed.end(), stands)) bp::set_factor_messages(exec, graph, messages.log_odds, evidence, state);
  else bp::set_factor_messages(exec, graph, messages.log_odds, state);
}

template <class Value, class Exec>
Result solve(Exec const& exec, LbpArguments const& a, io::Model const& model, bp::Strategy const& strategy, std::vector<HostEvidence> const& observed) {
  Result result;
  auto const begin = std::chrono::steady_clock::now();
  auto const batches = bp::make_batches(model.graph, strategy);
  auto const host_plan = bp::lay_out<Exec>(model.graph, batches, {.sets = static_cast<Index>(observed.size()), .local_update = false});
  require_memory(a, model.graph, host_plan);
  auto const plan = bp::make_plan(exec, host_plan);
  auto const graph = to_device<Value>(exec, model.graph);
  EvidenceSets evidence(exec, model.graph, graph, observed);
  auto state = bp::make_state(exec, graph, plan);
  if (!a.start.empty()) start_from(exec, graph, model.messages.at(a.start), observed, evidence, state);
  result.setup_seconds = std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count() - batches.analysis_seconds;
  result.analysis_seconds = batches.analysis_seconds;
  result.statistics = plan.statistics;
  bp::Options options = a.options;
  auto progress = std::make_shared<Progress>(options.max_iterations);
  options.progress = [progress](int iterations, double residual) { (*progress)(iterations, residual); };
  auto const reports = bp::run(exec, graph, evidence, plan, state, options);
  for (std::size_t s = 0; s < reports.size(); ++s)
    result.sets.push_back({a.each.empty() ? "" : a.each[s], reports[s], bp::marginals(exec, graph, state, static_cast<Index>(s))});
  if (a.store_messages) result.messages = {bp::factor_messages(exec, graph, state), observed.front()};
  return result;
}

std::vector<Index> find_query(LbpArguments const& a, io::Model const& model) {
  auto const query = model.queries.find(a.top);
  if (query != model.queries.end()) return query->second;
  if (a.top == "all") {
    std::vector<Index> all(model.graph.num_variables);
    std::iota(all.begin(), all.end(), 0);
    return all;
  }
  std::string known = "all";
  for (auto const& [name, variables] : model.queries) known += ", " + name;
  throw InputError(a.file, "/queries", fmt::format("there is no query '{}'; there are {}", a.top, known));
}

/// The strategy with --seed and --share, where it has them; and these as they are then, to be reported.
bp::Strategy with_parameters(LbpArguments& a, bp::Strategy strategy) {
  auto* const random = std::get_if<bp::SeqRnd>(&strategy);
  auto* const residual = std::get_if<bp::Residual>(&strategy);
  if (a.share && !residual) throw UsageError("--share is for the schedules residual and residual_random");
  if (a.each.size() > 1 && std::holds_alternative<bp::SeqMax>(strategy)) throw UsageError("--each: the schedule seqmax runs one evidence set at a time");
  if (a.seed && !random && !(residual && residual->randomised)) throw UsageError("--seed is for the schedules seqrnd and residual_random");
  if (random) a.seed = random->seed = a.seed.value_or(random->seed);
  if (residual) a.share = residual->share = a.share.value_or(residual->share);
  if (residual && residual->randomised) a.seed = residual->seed = a.seed.value_or(residual->seed);
  return strategy;
}

void require_usable_output(LbpArguments const& a) {  // before hours of work, not after
  if (!a.output.empty() && !a.output.ends_with(".h5") && !a.output.ends_with(".hdf5"))
    throw UsageError(fmt::format("-o {}: marginals are written to .h5 files", a.output));
  if (a.store_messages && a.output.empty()) throw UsageError("--store-messages needs -o OUT");
  if (a.store_messages && a.each.size() > 1) throw UsageError("--store-messages stores those of one evidence set; --each gives several");
  for (auto one = a.each.begin(); one != a.each.end(); ++one)
    if (std::any_of(a.each.begin(), one, [&](auto const& other) { return stored_name(a, other) == stored_name(a, *one); }))
      throw UsageError(fmt::format("--each {}: an evidence set of that name is given twice", *one));
  if (!a.output.empty()) io::require_writable(a.output);
  io::validate_name(a.name, "set of marginals");
}

int run_lbp(LbpArguments& a) {
  require_usable_output(a);
  if (a.backend.empty()) a.backend = backend::names().back();
  if (!a.start.empty()) a.options.acceleration.after = 0;  // plain iterations would lead away from where damped ones have led
  if (a.damping != "auto") {
    a.options.damping = std::stod(a.damping);
    a.options.acceleration.after = -1;
  }
  auto model = io::read_model(a.file);
  auto const observed = gather_evidence(a, model);
  if (!a.start.empty() && !model.messages.contains(a.start))
    throw InputError(a.file, "/messages", fmt::format("there are no messages '{}' to start from; --store-messages stores them", a.start));
  auto const query = a.top.empty() ? std::vector<Index>{} : find_query(a, model);

  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  if (a.schedule == "auto") a.schedule = backend::visit(a.backend, [&](auto const& exec) { return bp::suitable_schedule(exec, static_cast<Index>(observed.size())); });
  auto const strategy = with_parameters(a, find_strategy(a.schedule, model, a.file));
  Result const result = backend::visit(a.backend, [&](auto const& exec) {
    return a.precision == "float" ? solve<float>(exec, a, model, strategy, observed) : solve<double>(exec, a, model, strategy, observed);
  });
  bool const any = std::any_of(result.sets.begin(), result.sets.end(), [](auto const& set) { return set.report.stop != bp::Stop::contradiction; });
  if (any || a.json) print_result(a, model, result, query);
  for (auto const& set : result.sets)
    if (set.report.stop == bp::Stop::contradiction) report_contradiction(a, model, set);
  if (any && !a.output.empty()) write_result(a, model, result);
  return exit_code_of(a, result);
}

CLI::Validator damping() {
  CLI::Validator const number = number_that([](double x) { return x >= 0 && x < 1; }, "auto or a number in [0, 1)");
  return CLI::Validator([number](std::string& text) { return text == "auto" ? std::string() : number(text); }, "");
}

}  // namespace

void add_lbp(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("lbp", "Marginals by loopy belief propagation");
  auto a = std::make_shared<LbpArguments>();
  command->add_option("FILE", a->file, "Model: .h5, .fg or .causal_fg")->required();
  command->add_option("--schedule", a->schedule, "auto (seqfix, or chromatic on a GPU or at least 4 CPU threads for each evidence set), " + built_in_schedules() + ", or a schedule stored in FILE")->capture_default_str();
  command->add_option("--share", a->share, "residual: the share of unsettled messages that a round updates; residual_random: the probability of each (default 0.25, 0.5)")->check(number_that([](double x) { return x > 0 && x <= 1; }, "a number in (0, 1]"));
  command->add_option("--seed", a->seed, "seqrnd, residual_random: of the random numbers (default 1)");
  command->add_option("--evidence", a->evidence, "An evidence set of FILE, or a text file with lines `variable value` (or `variable l0 l1`, soft); may be given several times: of several on a variable the last counts")->allow_extra_args(false)->option_text("SET");
  command->add_option("--each", a->each, "An evidence set as for --evidence; given several times, each is run by itself on top of --evidence, all at once, and stored as NAME_SET")->allow_extra_args(false)->option_text("SET");
  command->add_option("--iterations", a->options.max_iterations, "Most iterations")->check(at_least(0))->capture_default_str();
  command->add_option("--tolerance", a->options.tolerance, "Stop when no marginal changes by this much over an iteration (where steps are damped: divided by 1 - damping; seqmax, residual: nor would by any message that waits); 0 runs all iterations")->check(at_least(0))->capture_default_str();
  command->add_option("--time-limit", a->options.time_limit, "Stop after so many seconds of iterations")->check(at_least(0));
  command->add_option("--damping", a->damping, "In [0, 1): log-odds become damping * old + (1 - damping) * new. auto: none at first; where 30 iterations do not converge, and there is a tolerance to reach, some, with an extrapolation every 25 iterations; with --start-from from the first")->check(damping())->capture_default_str();
  command->add_option("--backend", a->backend, "Where to run: " + fmt::format("{}", fmt::join(backend::names(), ", ")) + " (default: the last)")->check(known_backend());
  command->add_option("--precision", a->precision, "Numbers to compute with")->check(CLI::IsMember({"double", "float"}))->capture_default_str();
  command->add_option("-o,--output", a->output, "Write the model with the marginals to this .h5 file");
  command->add_option("--name", a->name, "Name of the marginals (and messages) in the output")->capture_default_str();
  command->add_flag("--store-messages", a->store_messages, "Write the messages too, for a warm start");
  command->add_option("--start-from", a->start, "Start from messages of this name in FILE, as --store-messages stored them. Where hard evidence of theirs is not given again, nearly as many iterations follow as from nothing");
  command->add_option("--top", a->top, "Print the most probable variables of a query of FILE, e.g. alarms, or of all");
  command->add_option("--count", a->top_count, "How many of them")->check(at_least(1))->capture_default_str();
  command->add_option("--memory-limit", a->memory_limit, "Bytes of device memory that may be used (default: all that is free)");
  command->add_flag("--json", a->json, "Print JSON");
  command->footer(
      "Schedules: seqfix updates in file order, each update reading all before it: libDAI's SEQFIX, message for message;\n"
      "topo follows the derivations and back, and needs the fewest iterations where they have few cycles;\n"
      "parall updates everything at once: more iterations, each the cheapest, above all on a GPU;\n"
      "chromatic needs fewer iterations than parall and few large batches: made for a GPU or many CPU threads;\n"
      "seqrnd is seqfix with the factors in a fresh random order each iteration;\n"
      "seqmax updates one message at a time, always that which would change most: libDAI's SEQMAX, by one thread;\n"
      "residual and residual_random compute all messages and let some take their place: those of largest residual, or any.\n"
      "\n"
      "With labels plain propagation often swings for ever. --damping auto, the default, then damps it and extrapolates from the\n"
      "last iterations to where they lead (reduced rank extrapolation); it converges on most graphs in hundreds of iterations.\n"
      "Where a limit is met first, the marginals are those of the last iteration and the exit code is 4. --damping 0 is libDAI's\n"
      "iteration.\n"
      "\n"
      "--evidence also takes sets that `hornbill generate` stores: labels10, labels50.\n"
      "\n"
      "Examples:\n"
      "  hornbill lbp graph.h5 --top alarms\n"
      "  hornbill lbp graph.h5 --evidence labels10 --schedule chromatic -o result.h5\n"
      "  hornbill lbp graph.h5 --evidence labels10 --each if_true.txt --each if_false.txt --top alarms\n"
      "  hornbill lbp graph.h5 --schedule parall --iterations 200 --tolerance 0 --precision float --json");
  command->callback([a, &exit_code] { exit_code = run_lbp(*a); });
}

}  // namespace hornbill::cli
