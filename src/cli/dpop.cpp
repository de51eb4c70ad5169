// hornbill dpop: least costs by agents that exchange messages.
#include <algorithm>
#include <cstdint>
#include <limits>
#include <memory>
#include <tuple>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/backend/registry.hpp>
#include <hornbill/elim/dpop.hpp>
#include <hornbill/io/cost_network_file.hpp>

#include "commands.hpp"
#include "map.hpp"
#include "output.hpp"
#include "processes.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

using Semiring = tables::MinSum<tables::Cost>;

struct Run {
  elim::PseudoTree tree;
  elim::Distributed result;
  std::size_t table_bytes = 0;  // of all agents
  std::string device;
  double order_seconds = 0, seconds = 0;
};

elim::MiniBucketOptions options_of(MapArguments const& a) {
  return {.max_variables = a.mini_buckets.value_or(std::numeric_limits<int>::max()), .match_moments = a.match_moments};
}

/// What all agents keep, and what the largest makes besides: its output, and a copy of that on its way.
std::size_t bytes_of_agents(elim::HostPlan const& plan) {
  Offset largest = 0;
  for (auto const& table : plan.reductions.tables()) largest = std::max(largest, table.cells);
  return tables::bytes_needed<tables::Cost>(plan.reductions) +
         2 * static_cast<std::size_t>(largest) * sizeof(tables::Cost);
}

/// The tree, after it is known that its tables fit: sizes follow from scopes, so that no agent has to work to find out.
elim::PseudoTree find_tree(MapArguments const& a, tables::CostNetwork const& network, std::size_t& bytes) {
  auto const scopes = elim::scopes_of(network);
  auto const max_cells =
      a.mini_buckets ? std::numeric_limits<double>::infinity() : static_cast<double>(tables::max_table_cells);
  auto tree = elim::make_pseudo_tree(network.cardinality, scopes,
                                     find_order(a, network.cardinality, scopes, network.variable_names, max_cells));
  auto const to_blame = blame(a, tree.order, network);
  bytes = planned(a, to_blame, [&] {
    return bytes_of_agents(elim::make_mini_bucket_plan(network.cardinality, scopes, tree.order, options_of(a)));
  });
  require_bytes(a, bytes, "DPOP", to_blame);
  return tree;
}

Run solve(MapArguments const& a, tables::CostNetwork const& network, elim::Messenger& messenger) {
  auto settings = Kokkos::InitializationSettings().set_disable_warnings(true);
  if (int const threads = threads_of_process(); threads > 0) settings.set_num_threads(threads);
  Kokkos::ScopeGuard kokkos(settings);
  Run run;
  run.device = backend::describe(a.backend);
  auto begin = Clock::now();
  run.tree = find_tree(a, network, run.table_bytes);
  run.order_seconds = seconds_since(begin);
  begin = Clock::now();
  run.result = backend::visit(a.backend, [&]<class Exec>(Exec const& exec) {
    return elim::dpop(exec, network, run.tree, options_of(a), messenger);
  });
  run.seconds = seconds_since(begin);
  return run;
}

nlohmann::json to_json(elim::MessageCount const& count) {
  auto const whole = [](double number) { return static_cast<std::int64_t>(number); };
  return {{"messages", whole(count.messages)},
          {"bytes", whole(count.bytes)},
          {"largest_bytes", whole(count.largest_bytes)}};
}

std::string to_text(elim::MessageCount const& count) {
  return count.messages == 0 ? "no messages"
                             : fmt::format("{:.0f} messages, {}, the largest {}", count.messages,
                                           human_bytes(count.bytes), human_bytes(count.largest_bytes));
}

void print_work(MapArguments const& a, Run const& run, int num_ranks) {
  auto const& [tree, result] = std::tie(run.tree, run.result);
  write_out("  {} agents, tree of depth {}, width {}; {} of tables\n", tree.num_variables(), tree.depth,
            tree.order.width, human_bytes(static_cast<double>(run.table_bytes)));
  write_out("  UTIL: {}\n  VALUE: {}\n", to_text(result.util), to_text(result.value_messages));
  write_out("  simulated time {}; all agents' work {}\n", human_seconds(result.simulated_seconds),
            human_seconds(result.compute_seconds));
  write_out("  tree in {}, messages in {} on {} ({}), {}\n", human_seconds(run.order_seconds),
            human_seconds(run.seconds), a.backend, run.device,
            num_ranks == 1 ? "one process"
                           : fmt::format("{} processes of at most {} agents", num_ranks, result.largest_share));
}

nlohmann::json work_json(MapArguments const& a, Run const& run, bool is_exact, int num_ranks) {
  auto json = order_json(a, run.tree.order, run.table_bytes);
  json.update({{"device", run.device},
               {"exact", is_exact},
               {"depth", run.tree.depth},
               {"agents", run.tree.num_variables()},
               {"processes", num_ranks},
               {"util", to_json(run.result.util)},
               {"value", to_json(run.result.value_messages)},
               {"simulated_seconds", run.result.simulated_seconds},
               {"compute_seconds", run.result.compute_seconds},
               {"order_seconds", run.order_seconds},
               {"seconds", run.seconds}});
  return json;
}

/// What rank 0 says.
int report(MapArguments const& a, tables::CostNetwork const& network, Run const& run, int num_ranks) {
  auto const bound = std::min(run.result.value, network.upper_bound),
             found = std::min(elim::value_of<Semiring>(network, run.result.assignment), network.upper_bound);
  bool const is_possible = found < network.upper_bound, is_impossible = bound >= network.upper_bound,
             is_exact = run.result.is_exact || bound == found;
  if (is_possible) write_assignment(a, run.result.assignment);
  auto const bound_text = network.objective(bound), found_text = network.objective(found);
  if (a.json) {
    auto answer = work_json(a, run, is_exact, num_ranks);
    answer.update({{"bound", number(bound_text)},
                   {network.is_maximised ? "maximum" : "minimum",
                    is_exact && is_possible ? number(found_text) : nlohmann::json()}});
    if (is_impossible) answer["stop"] = "contradiction";
    if (is_possible) {
      answer["found"] = number(found_text);
      answer.update(assignment_json(network, run.result.assignment));
    }
    print_json(answer);
  } else {
    if (is_impossible)
      write_out("{}: every assignment comes to the bound, {}, or worse\n", a.file, bound_text);
    else if (is_exact)
      write_out("{}: {} {}\n", a.file, network.is_maximised ? "maximum" : "minimum", found_text);
    else
      write_out("{}: at best {}; {}\n", a.file, bound_text,
                is_possible ? fmt::format("{} was found", found_text) : none_found(a));
    if (is_possible) write_out("  {}\n", describe_assignment(a, network, run.result.assignment));
    print_work(a, run, num_ranks);
  }
  return is_impossible ? contradiction : is_possible ? success : not_converged;
}

int dpop(MapArguments const& a) {
  auto const messenger = join_processes();
  try {
    auto const network = read_cost_network(a.file);
    auto const run = solve(a, network, *messenger);
    return messenger->rank() == 0 ? report(a, network, run, messenger->num_ranks()) : success;
  } catch (...) {
    fail_processes();
    throw;
  }
}

}  // namespace

void add_dpop(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand(
      "dpop", "Least costs as agents find them, one a variable, by messages along a pseudo-tree (DPOP, ADPOP)");
  auto const a = std::make_shared<MapArguments>();
  a->where_too_wide = "--mini-buckets bounds the best";
  a->takes_evidence = false;
  a->order = "depth_first";
  add_exact_options(*command, *a, "Costs: .wcsp, .cfn", "Write the assignment, as the UAI competitions do (MPE)");
  command->get_option("--output")->check(text_file());
  command->remove_option(command->get_option("--evidence"));
  auto* z =
      command
          ->add_option(
              "--mini-buckets", a->mini_buckets,
              "ADPOP: an agent's tables go into parts of so many variables; bounds the best, and finds an assignment")
          ->check(at_least(1));
  command
      ->add_flag("--match-moments", a->match_moments,
                 "Shift costs between an agent's parts: often tighter bounds, not always")
      ->needs(z);
  command->footer(
      "Exit code 4: no assignment was found.\n\nAgents are divided among the processes that mpirun starts; without it "
      "all are in one.\n\nExamples:\n  hornbill dpop problem.wcsp\n  mpirun -n 4 hornbill dpop problem.wcsp "
      "--mini-buckets 6 --json");
  command->callback([a, &exit_code] {
    settle(*a);
    if (a->mini_buckets) a->where_too_wide = "smaller --mini-buckets need less";
    if (!io::is_cost_network(a->file))
      throw UsageError("dpop takes costs (.wcsp, .cfn); of probabilities, map finds the best assignment");
    exit_code = dpop(*a);
  });
}

}  // namespace hornbill::cli
