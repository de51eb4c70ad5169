// hornbill lbp: its results as text, JSON and HDF5.
#include <algorithm>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/backend/registry.hpp>
#include <hornbill/config.hpp>
#include <hornbill/io/uai.hpp>

#include "commands.hpp"
#include "lbp.hpp"
#include "output.hpp"
#include "state_marginals.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

nlohmann::json to_json(bp::Report const& report) {
  return {{"stop", to_string(report.stop)},
          {"converged", report.stop == bp::Stop::converged},
          {"iterations", report.iterations},
          {"residual", report.residual},
          {"run_seconds", report.elapsed_seconds}};
}

nlohmann::json report_json(LbpArguments const& a, Result const& r) {
  auto json = cli::to_json(r.statistics, r.analysis_seconds);
  json.update({{"file", a.file},
               {"schedule", a.schedule},
               {"backend", a.backend},
               {"device", backend::describe(a.backend)},
               {"precision", a.precision},
               {"damping", a.damping},
               {"setup_seconds", r.setup_seconds}});
  if (a.share) json["share"] = *a.share;
  if (a.seed) json["seed"] = *a.seed;
  return json;
}

void print_head(LbpArguments const& a, Result const& r) {
  auto const slowest = std::max_element(r.sets.begin(), r.sets.end(), [](auto const& x, auto const& y) {
                         return x.report.iterations < y.report.iterations;
                       })->report;
  double const each = slowest.iterations > 0 ? slowest.elapsed_seconds / slowest.iterations : 0;
  write_out("{} on {} ({}, {})\n", a.schedule, a.backend, backend::describe(a.backend), a.precision);
  write_out("  run {} ({} an iteration), schedule {} ({} batches), set-up {}\n", human_seconds(slowest.elapsed_seconds),
            human_seconds(each), human_seconds(r.analysis_seconds), r.statistics.num_batches,
            human_seconds(r.setup_seconds));
}

void print_set(LbpArguments const& a, SetResult const& set) {
  write_out("  {}{} after {} iterations, residual {:.3g}\n", set.name.empty() ? "" : set.name + ": ",
            to_string(set.report.stop), set.report.iterations, set.report.residual);
  if (set.report.stop != bp::Stop::converged && a.options.tolerance > 0)
    write_out("  not converged: marginals are those of the last iteration; {} may help\n",
              what_may_help(a, set.report.stop));
}

/// Whose probability is told; null where there is but one.
nlohmann::json second_state(HostFactorGraph const& graph, Index v) {
  return graph.states(v) > 1 ? nlohmann::json(graph.state_name(v, 1)) : nlohmann::json();
}

/// " = yes", where it is not simply whether the variable is true.
std::string state_text(HostFactorGraph const& graph, Index v) {
  bool const is_plain = graph.states(v) == 2 && graph.state_name(v, 1) == "1";
  return is_plain || graph.states(v) < 2 ? "" : fmt::format(" = {}", graph.state_name(v, 1));
}

/// Of a variable that is told too much.
std::string contradiction_text(HostFactorGraph const& graph, Index v) {
  if (graph.states(v) != 2) return fmt::format("can have none of its {} states", graph.states(v));
  if (state_text(graph, v).empty()) return "must be both true and false";
  return fmt::format("must be both {} and {}", graph.state_name(v, 1), graph.state_name(v, 0));
}

nlohmann::json set_json(LbpArguments const& a, Model const& model, SetResult const& set,
                        std::vector<Index> const& best) {
  if (set.report.stop == bp::Stop::contradiction)
    return {{"stop", "contradiction"},
            {"variable", set.report.contradiction},
            {"name", model.graph.name_of(set.report.contradiction)},
            {"iterations", set.report.iterations}};
  auto json = to_json(set.report);
  StateMarginals const marginals(model.graph, set.marginals);
  for (Index v : best)
    json["top"].push_back({{"variable", v},
                           {"name", model.graph.name_of(v)},
                           {"state", second_state(model.graph, v)},
                           {"p_true", set.marginals.p_true[v]},
                           {"states", state_names(model.graph, v)},
                           {"p", marginals.of(v)}});
  if (prints_marginals(a)) json["marginals"] = marginals.by_variable();
  return json;
}

}  // namespace

void print_result(LbpArguments const& a, Model const& model, Result const& result, std::vector<Index> const& query) {
  auto best = [&](SetResult const& set) {
    if (!a.is_by_place) return most_probable(query, set.marginals.p_true, a.top_count);
    auto const all = most_probable(query, set.marginals.p_true, static_cast<int>(query.size()));
    auto first = first_of_places(all, model.graph);
    first.resize(std::min(first.size(), static_cast<std::size_t>(a.top_count)));
    return first;
  };
  if (a.json) {
    bool const contradicted = result.sets.size() == 1 && result.sets[0].report.stop == bp::Stop::contradiction;
    auto json = contradicted ? nlohmann::json::object() : report_json(a, result);
    if (!contradicted && prints_marginals(a)) json.update(names_json(model.graph));
    if (a.each.empty())
      json.update(set_json(a, model, result.sets[0], best(result.sets[0])));
    else
      for (auto const& set : result.sets) {
        json["sets"].push_back(set_json(a, model, set, best(set)));
        json["sets"].back()["evidence"] = set.name;
      }
    print_json(json);
    return;
  }
  print_head(a, result);
  for (auto const& set : result.sets) {
    if (set.report.stop == bp::Stop::contradiction) continue;
    print_set(a, set);
    StateMarginals const marginals(model.graph, set.marginals);
    if (prints_marginals(a))
      print_first_marginals(
          model.graph, [&](Index v) { return marginals.of(v); },
          a.each.empty() ? "-o FILE.MAR writes all, --top prints some" : "-o FILE.h5 writes all, --top prints some");
    if (!a.top.empty()) write_out("  most probable of {}:\n", a.top);
    auto const first = best(set);
    if (!a.top.empty() && first.empty()) write_out("    none: this query has no variable\n");
    for (Index v : first)
      write_out("    {:.6f}  {}{}\n", set.marginals.p_true[v], model.graph.name_of(v), state_text(model.graph, v));
  }
}

void report_contradiction(LbpArguments const& a, Model const& model, SetResult const& set) {
  Index const v = set.report.contradiction;
  fmt::print(stderr,
             "hornbill: {}: the evidence{} contradicts itself: {} (variable {}) {}, found in iteration {}. Withdraw or "
             "soften an observation near it\n",
             a.file, set.name.empty() ? "" : " " + set.name, model.graph.name_of(v), v,
             contradiction_text(model.graph, v), set.report.iterations);
}

void write_result(LbpArguments const& a, Model& model, Result const& r) {
  if (a.output.ends_with(".MAR"))
    return io::write_uai_marginals(StateMarginals(model.graph, r.sets.front().marginals).by_variable(), a.output);
  for (auto const& set : r.sets) {
    if (set.report.stop == bp::Stop::contradiction) continue;
    StoredMarginals marginals = set.marginals;
    if (model.graph.is_binary()) marginals.p_states.clear();
    auto evidence = a.evidence;
    if (!set.name.empty()) evidence.push_back(set.name);
    marginals.attributes = {{"schedule", a.schedule},
                            {"backend", a.backend},
                            {"precision", a.precision},
                            {"stop", std::string(to_string(set.report.stop))},
                            {"iterations", std::to_string(set.report.iterations)},
                            {"residual", fmt::format("{:.17g}", set.report.residual)},
                            {"tolerance", fmt::format("{:.17g}", a.options.tolerance)},
                            {"damping", a.damping},
                            {"evidence", fmt::format("{}", fmt::join(evidence, " "))},
                            {"hornbill_version", HORNBILL_VERSION}};
    if (a.share) marginals.attributes["share"] = fmt::format("{:.17g}", *a.share);
    if (a.seed) marginals.attributes["seed"] = std::to_string(*a.seed);
    model.marginals[stored_name(a.name, set.name)] = std::move(marginals);
  }
  model.messages.erase(a.name);  // of an earlier run
  if (a.store_messages) model.messages[a.name] = r.messages;
  io::write_model(model, a.output);
}

int exit_code_of(LbpArguments const& a, Result const& result) {
  int code = success;
  for (auto const& set : result.sets) {
    // a number of iterations was asked for
    bool const did_all = a.options.tolerance == 0 && set.report.stop == bp::Stop::iteration_limit;
    if (set.report.stop == bp::Stop::contradiction) return contradiction;
    if (set.report.stop != bp::Stop::converged && !did_all) code = not_converged;
  }
  return code;
}

}  // namespace hornbill::cli
