// hornbill map, hornbill partition: exact answers by bucket elimination.
#include <array>
#include <chrono>
#include <cmath>
#include <filesystem>
#include <memory>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/backend/registry.hpp>
#include <hornbill/elim/elimination.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/cost_network_file.hpp>

#include "commands.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

struct EliminateArguments {
  std::string file, order = "min_fill", backend, output;
  std::vector<std::string> evidence;
  elim::OrderOptions options{.tries = 10};
  std::size_t memory_limit = 0;
  bool json = false;
};

constexpr std::array heuristics{std::pair{"min_fill", elim::Heuristic::min_fill}, std::pair{"min_degree", elim::Heuristic::min_degree}, std::pair{"min_width", elim::Heuristic::min_width},
                                std::pair{"min_weight", elim::Heuristic::min_weight}, std::pair{"degree", elim::Heuristic::degree}};

/// The order that --order names, or gives as a file.
template <class Value>
elim::Order find_order(EliminateArguments const& a, tables::TableNetwork<Value> const& network) {
  auto options = a.options;
  for (auto const& [name, heuristic] : heuristics)
    if (a.order == name) {
      options.heuristic = heuristic;
      return elim::make_order(network.cardinality, elim::scopes_of(network), options);
    }
  if (!std::filesystem::exists(a.order)) throw InputError(fmt::format("--order {} is neither a heuristic nor a file", a.order));
  auto variables = elim::read_order(a.order, network.variable_names, network.num_variables());
  try {
    return elim::measure_order(network.cardinality, elim::scopes_of(network), std::move(variables));
  } catch (InputError const& e) {
    throw InputError(fmt::format("{}: {}", a.order, e.what()));
  }
}

/// \throws CapacityError with the width to blame
template <class Value>
elim::HostPlan plan_within_memory(EliminateArguments const& a, tables::TableNetwork<Value> const& network, elim::Order order) {
  auto const blame = fmt::format("The width is {}, at {}, where {:.3g} cells are combined; another --order, more --tries or evidence may help", order.width, order.widest < 0 ? "no variable" : network.name_of(order.widest), order.largest_cells);
  elim::HostPlan plan;
  try {
    plan = elim::make_plan(network.cardinality, elim::scopes_of(network), std::move(order));
  } catch (CapacityError const& e) {
    throw CapacityError(fmt::format("{}: {}. {}", a.file, e.what(), blame));
  }
  std::size_t available = backend::available_bytes(a.backend);
  if (a.memory_limit > 0) available = std::min(available, a.memory_limit);
  if (std::size_t const needed = elim::bytes_needed<Value>(plan); needed > available)
    throw CapacityError(fmt::format("{} on backend {}: elimination needs {}, and {} are available. {}", a.file, a.backend, human_bytes(static_cast<double>(needed)), human_bytes(static_cast<double>(available)), blame));
  return plan;
}

template <class Value>
struct Solved {
  elim::Elimination<Value> result;
  elim::HostPlan plan;
  std::string device;
  double order_seconds = 0, seconds = 0;
};

template <class Semiring>
Solved<typename Semiring::Value> solve(EliminateArguments const& a, tables::TableNetwork<typename Semiring::Value> const& network) {
  using Clock = std::chrono::steady_clock;
  auto const since = [](Clock::time_point begin) { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  Solved<typename Semiring::Value> solved;
  auto begin = Clock::now();
  auto order = find_order(a, network);
  solved.order_seconds = since(begin);
  solved.plan = plan_within_memory(a, network, std::move(order));
  solved.device = backend::describe(a.backend);
  begin = Clock::now();
  solved.result = backend::visit(a.backend, [&]<class Exec>(Exec const& exec) { return elim::eliminate<Semiring>(exec, network, solved.plan); });
  solved.seconds = since(begin);
  return solved;
}

template <class Value>
void print(EliminateArguments const& a, Solved<Value> const& solved, nlohmann::json answer, std::string const& text) {
  auto const& order = solved.plan.order;
  if (a.json) {
    answer.update({{"file", a.file}, {"backend", a.backend}, {"device", solved.device}, {"order", a.order}, {"width", order.width}, {"total_cells", order.total_cells}, {"largest_cells", order.largest_cells}, {"table_bytes", elim::bytes_needed<Value>(solved.plan)},
                   {"order_seconds", solved.order_seconds}, {"seconds", solved.seconds}});
    fmt::print("{}\n", answer.dump());
    return;
  }
  fmt::print("{}\n  order {}: width {}, {:.4g} cells combined, {} of tables\n  order in {}, elimination in {} on {} ({})\n", text, a.order, order.width, order.total_cells, human_bytes(static_cast<double>(elim::bytes_needed<Value>(solved.plan))),
             human_seconds(solved.order_seconds), human_seconds(solved.seconds), a.backend, solved.device);
}

/// In the form of the UAI competitions.
void write_assignment(EliminateArguments const& a, std::vector<Index> const& assignment) {
  if (!a.output.empty()) io::write_text_atomically(a.output, fmt::format("MPE\n{} {}\n", assignment.size(), fmt::join(assignment, " ")));
}

int minimise_cost(EliminateArguments const& a) {
  if (!a.evidence.empty()) throw UsageError("--evidence is for models of probabilities; a cost of the upper bound rules a value out");
  auto const network = io::read_wcsp(a.file);
  auto const solved = solve<tables::MinSum<tables::Cost>>(a, network);
  if (solved.result.value >= network.upper_bound) {
    print(a, solved, {{"minimum", nullptr}, {"upper_bound", network.upper_bound}}, fmt::format("{}: every assignment costs the upper bound, {}, or more", a.file, network.upper_bound));
    return contradiction;
  }
  write_assignment(a, solved.result.assignment);
  print(a, solved, {{"minimum", solved.result.value}, {"assignment", solved.result.assignment}}, fmt::format("{}: minimum {}", a.file, solved.result.value));
  return success;
}

/// A model's tables under evidence.
struct ObservedTables {
  tables::TableNetwork<double> network;
  HostEvidence evidence;
  Index num_variables = 0;  ///< of the model; the network's others are of wide factors
};

ObservedTables read_tables(EliminateArguments const& a) {
  auto const model = read_model(a.file);
  auto const evidence = last_of_each_variable(read_evidence(a.file, model, a.evidence));
  return {tables::condition(tables::to_tables(model.graph), evidence), evidence, model.graph.num_variables};
}

int maximise_probability(EliminateArguments const& a) {
  auto const observed = read_tables(a);
  auto const solved = solve<tables::MaxProduct<double>>(a, observed.network);
  if (solved.result.value == 0) throw ContradictionError(fmt::format("{}: no assignment is possible{}", a.file, a.evidence.empty() ? "" : " under this evidence"));
  auto assignment = solved.result.assignment;
  assignment.resize(static_cast<std::size_t>(observed.num_variables));
  for (auto const& o : observed.evidence)
    if (o.is_hard()) assignment[o.variable] = o.value;
  double const log10_value = std::log10(solved.result.value) + solved.result.exponent * std::log10(2.0);
  write_assignment(a, assignment);
  print(a, solved, {{"log10_value", log10_value}, {"assignment", assignment}}, fmt::format("{}: largest value 10^{:.12g}", a.file, log10_value));
  return success;
}

int partition(EliminateArguments const& a) {
  auto const solved = solve<tables::SumProduct<double>>(a, read_tables(a).network);
  if (solved.result.value == 0) throw ContradictionError(fmt::format("{}: nothing is possible{}", a.file, a.evidence.empty() ? "" : " under this evidence"));
  double const log10_z = std::log10(solved.result.value) + solved.result.exponent * std::log10(2.0);
  if (!a.output.empty()) io::write_text_atomically(a.output, fmt::format("PR\n{:.15g}\n", log10_z));
  print(a, solved, {{"log10_z", log10_z}}, fmt::format("{}: partition function 10^{:.12g}", a.file, log10_z));
  return success;
}

std::shared_ptr<EliminateArguments> add_options(CLI::App& command, std::string const& files, std::string const& output) {
  auto a = std::make_shared<EliminateArguments>();
  command.add_option("FILE", a->file, files)->required();
  command.add_option("--evidence", a->evidence, "An evidence set of FILE, or a text file, as for lbp, or .evid of the UAI competitions; may be given several times")->allow_extra_args(false)->option_text("SET");
  command.add_option("--order", a->order, "Which variable is eliminated next: min_fill, min_degree, min_width, min_weight (the smallest table), degree (once, as GpuBE), or a file that lists them")->capture_default_str();
  command.add_option("--tries", a->options.tries, "Orders to make, of which the one with the fewest cells is taken")->check(at_least(1))->capture_default_str();
  command.add_option("--seed", a->options.seed, "Of what decides between equals in an order")->check(at_least(0))->capture_default_str();
  command.add_option("--backend", a->backend, "Where to run: " + fmt::format("{}", fmt::join(backend::names(), ", ")) + " (default: the last)")->check(known_backend());
  command.add_option("--memory-limit", a->memory_limit, "Bytes that may be used (default: all that is free)")->check(at_least(1));
  command.add_option("-o,--output", a->output, output)->check(not_empty());
  command.add_flag("--json", a->json, "Print JSON");
  return a;
}

void settle(EliminateArguments& a) {
  if (a.backend.empty()) a.backend = backend::names().back();
  std::vector<NamedFile> read{{"FILE", a.file}, {"--order", a.order}};
  for (auto const& source : a.evidence) read.push_back({"--evidence", source});
  keep_apart(read, {{"--output", a.output}});
  if (!a.output.empty()) io::require_writable(a.output);
}

}  // namespace

void add_map(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("map", "The best assignment, exactly: of least cost, or most probable");
  auto const a = add_options(*command, "Costs to minimise: .wcsp; or probabilities: .uai, .bif, .fg, .causal_fg, .h5", "Write the assignment, as the UAI competitions do (MPE)");
  command->footer("Example:\n  hornbill map problem.wcsp --order min_fill --tries 100 -o best.MPE");
  command->callback([a, &exit_code] {
    settle(*a);
    exit_code = a->file.ends_with(".wcsp") ? minimise_cost(*a) : maximise_probability(*a);
  });
}

void add_partition(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("partition", "The partition function, exactly; of a Bayesian network the probability of the evidence");
  auto const a = add_options(*command, "Model: .uai, .bif, .fg, .causal_fg, .h5", "Write its decimal logarithm, as the UAI competitions do (PR)");
  command->footer("Example:\n  hornbill partition alarm.bif --evidence observed.txt");
  command->callback([a, &exit_code] {
    settle(*a);
    exit_code = partition(*a);
  });
}

}  // namespace hornbill::cli
