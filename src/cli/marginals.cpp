// hornbill marginals: exact marginals by a junction tree.
#include <algorithm>
#include <cmath>
#include <filesystem>
#include <limits>
#include <memory>
#include <numbers>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <hornbill/backend/registry.hpp>
#include <hornbill/config.hpp>
#include <hornbill/elim/elimination.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/uai.hpp>
#include <hornbill/jtree/calibration.hpp>

#include "commands.hpp"
#include "exact.hpp"
#include "solver.hpp"
#include "support.hpp"

namespace hornbill::cli {
namespace {

struct MarginalsArguments : ExactArguments {
  std::vector<std::string> each, joint;
  std::string top, against, name = "exact", precision = "double";
  int top_count = 10;
  bool exact = true;
};

/// What is to be propagated: what all sets observe alike is cut out of the tables.
struct Problem {
  tables::TableNetwork<double> network;
  HostEvidence cut;
  std::vector<HostEvidence> sets;
  std::vector<std::vector<Index>> joint;
  Index num_variables = 0;  // of the model; the network's others are of wide factors
};

struct SetResult {
  std::string name;                      // of --each
  std::vector<std::vector<double>> p;    // by variable and state
  std::vector<std::vector<double>> joint;
  double log_z = 0;
};

struct Result {
  elim::Order order;
  std::size_t num_cliques = 0, table_bytes = 0;
  Index sets_at_once = 1;
  std::size_t slice_bytes = 0;  // of the device, where tables go through it in slices; else 0
  double slices = 0;
  std::vector<std::vector<Index>> joint_scopes;
  std::vector<SetResult> sets;
  std::string device;
  double order_seconds = 0, setup_seconds = 0, seconds = 0;
};

std::vector<Index> variables_of(std::string const& list, io::Model const& model) {
  if (auto const one = io::find_variable(model.graph, list)) return {*one};  // a name may hold commas
  std::vector<Index> variables;
  for (std::size_t begin = 0; begin <= list.size();) {
    std::size_t const end = std::min(list.find(',', begin), list.size());
    auto const name = list.substr(begin, end - begin);
    auto const variable = io::find_variable(model.graph, name);
    if (!variable) throw InputError(fmt::format("--joint {}: '{}' is no variable of the model, neither by name nor by number", list, name));
    variables.push_back(*variable);
    begin = end + 1;
  }
  return variables;
}

Problem make_problem(MarginalsArguments const& a, io::Model const& model) {
  Problem problem;
  for (auto const& set : read_evidence_sets(a.file, model, a.evidence, a.each)) problem.sets.push_back(last_of_each_variable(set));
  auto const in_all = [&](Observation const& o) {
    return std::all_of(problem.sets.begin(), problem.sets.end(), [&](auto const& set) { return std::find(set.begin(), set.end(), o) != set.end(); });
  };
  for (auto const& o : problem.sets.front())
    if (o.is_hard() && in_all(o)) problem.cut.push_back(o);
  for (auto& set : problem.sets) std::erase_if(set, [&](Observation const& o) { return std::find(problem.cut.begin(), problem.cut.end(), o) != problem.cut.end(); });
  problem.network = tables::condition(tables::to_tables(model.graph), problem.cut);
  problem.num_variables = model.graph.num_variables;
  for (auto const& list : a.joint) problem.joint.push_back(variables_of(list, model));
  return problem;
}

/// A plan, and where its tables are to be.
struct Prepared {
  jtree::HostPlan plan;
  std::size_t table_bytes = 0, slice_bytes = 0;  // as of Result
};

/// For as many evidence sets at once as fit on the device; where not even one does, its tables are to go through it in slices.   \throws CapacityError
template <class Value>
Prepared prepare(ExactArguments const& a, Problem const& problem, jtree::JoinTree const& tree, Index sets) {
  auto const to_blame = blame(tree.order, problem.network);
  for (;; sets = (sets + 1) / 2) {
    Prepared prepared;
    try {
      prepared.plan = planned(a, to_blame, [&] { return jtree::make_plan(problem.network.cardinality, elim::scopes_of(problem.network), tree, {.num_sets = sets, .joint = problem.joint}); });
    } catch (CapacityError const&) {
      if (sets > 1) continue;
      throw;
    }
    prepared.table_bytes = tables::bytes_needed<Value>(prepared.plan.reductions);
    if (sets > 1 && !fit_on_device(a, prepared.table_bytes)) continue;
    prepared.slice_bytes = slice_bytes(a, prepared.table_bytes, "the junction tree", to_blame);
    return prepared;
  }
}

/// A set's marginals of the model's own variables.
template <class Value>
std::vector<std::vector<double>> marginals_of_set(Problem const& problem, std::vector<Offset> const& offsets, std::vector<Value> const& p, Index set, Index num_sets, HostFactorGraph const& graph) {
  std::vector<std::vector<double>> result;
  for (Index v = 0; v < problem.num_variables; ++v) {
    auto& of_variable = result.emplace_back();
    for (Offset i = offsets[v]; i < offsets[v + 1]; ++i) of_variable.push_back(static_cast<double>(p[i * num_sets + set]));
  }
  for (auto const& o : problem.cut) {
    result[o.variable].assign(static_cast<std::size_t>(graph.states(o.variable)), 0);
    result[o.variable][o.value] = 1;
  }
  return result;
}

/// Propagates evidence sets, as many at once as the plan has; of the last run some may be there twice.
/// \param exec  where the tables are   \param calibrate  sends messages
template <class Value, class Exec, class Calibrate>
void propagate(Exec const& exec, Problem const& problem, HostFactorGraph const& graph, jtree::HostPlan host, std::vector<std::size_t> const& which, Result& result, Calibrate const& calibrate) {
  using Semiring = tables::SumProduct<Value>;
  auto begin = Clock::now();
  auto const plan = jtree::make_plan(exec, std::move(host));
  auto state = jtree::make_state<Semiring>(exec, plan, tables::converted<Value>(problem.network));
  auto const at_once = static_cast<std::size_t>(plan.host.num_sets);
  Kokkos::View<Value*, typename Exec::memory_space> const p("hornbill::cli::marginals", static_cast<std::size_t>(plan.marginal_offsets.back()) * at_once);
  exec.fence("hornbill: set-up is timed by itself");
  result.setup_seconds += seconds_since(begin);
  for (std::size_t first = 0; first < which.size(); first += at_once) {
    std::vector<HostEvidence> sets;
    for (std::size_t s = 0; s < at_once; ++s) sets.push_back(problem.sets[which[std::min(first + s, which.size() - 1)]]);
    begin = Clock::now();
    jtree::observe(exec, plan, state, sets);
    calibrate(plan, state);
    jtree::marginals(exec, plan, state, p);
    auto const found = detail::to_vector(exec, p);
    result.seconds += seconds_since(begin);
    auto const log_z = jtree::log_partition(exec, plan, state);
    for (std::size_t s = 0; s < at_once && first + s < which.size(); ++s) {
      auto& of_set = result.sets[which[first + s]];
      of_set.log_z = log_z[s];
      of_set.p = marginals_of_set(problem, plan.marginal_offsets, found, static_cast<Index>(s), plan.host.num_sets, graph);
      of_set.joint.clear();
    }
    for (std::size_t j = 0; j < plan.host.joints.size(); ++j) {
      auto const of_sets = jtree::joint_marginal(exec, plan, state, j);
      for (std::size_t s = 0; s < at_once && first + s < which.size(); ++s) result.sets[which[first + s]].joint.push_back(of_sets[s]);
    }
  }
  result.joint_scopes.clear();
  for (std::size_t j = 0; j < plan.host.joints.size(); ++j) result.joint_scopes.push_back(plan.host.joint_scope(j));
}

/// A variable of which nothing is known, as its numbers became too small; or -1.
Index lost_variable(SetResult const& set) {
  for (std::size_t v = 0; v < set.p.size(); ++v)
    if (std::none_of(set.p[v].begin(), set.p[v].end(), [](double p) { return p > 0; })) return static_cast<Index>(v);
  return -1;
}

template <class Value>
Result solve(MarginalsArguments const& a, io::Model const& model, Problem const& problem) {
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  Result result;
  result.device = backend::describe(a.backend);
  auto const begin = Clock::now();
  auto scopes = elim::scopes_of(problem.network);
  scopes.insert(scopes.end(), problem.joint.begin(), problem.joint.end());
  auto const tree = jtree::make_join_tree(problem.network.cardinality, scopes, find_order(a, problem.network.cardinality, scopes, problem.network.variable_names));
  result.order = tree.order;
  result.num_cliques = tree.cliques.size();
  result.order_seconds = seconds_since(begin);
  std::vector<std::size_t> which(problem.sets.size());
  for (std::size_t s = 0; s < which.size(); ++s) {
    which[s] = s;
    result.sets.push_back({a.each.empty() ? "" : a.each[s], {}, {}, 0});
  }
  auto const run = [&](Prepared prepared) {
    result.slice_bytes = std::max(result.slice_bytes, prepared.slice_bytes);
    try {
      backend::visit(a.backend, [&](auto const& exec) {
        auto const in_slices = [&](auto const& plan, auto& state) { result.slices += jtree::calibrate_in_slices(exec, plan, state, prepared.slice_bytes); };
        auto const at_once = [&](auto const& plan, auto& state) { jtree::calibrate(exec, plan, state); };
        if (prepared.slice_bytes > 0) propagate<Value>(Kokkos::DefaultHostExecutionSpace(), problem, model.graph, std::move(prepared.plan), which, result, in_slices);
        else propagate<Value>(exec, problem, model.graph, std::move(prepared.plan), which, result, at_once);
      });
    } catch (CapacityError const& e) {
      throw CapacityError(fmt::format("{} on backend {}: {}", a.file, a.backend, e.what()));
    }
  };
  auto prepared = prepare<Value>(a, problem, tree, static_cast<Index>(which.size()));
  result.table_bytes = prepared.table_bytes;
  result.sets_at_once = prepared.plan.num_sets;
  run(std::move(prepared));
  if (result.sets_at_once == 1) return result;
  // Together, a set that is far less probable than another seems impossible: alone it shows what it is.
  std::erase_if(which, [&](std::size_t s) { return std::isfinite(result.sets[s].log_z) && lost_variable(result.sets[s]) < 0; });
  if (!which.empty()) run(prepare<Value>(a, problem, tree, 1));
  return result;
}

/// P(variable = 1); 0 where there is no such state.
std::vector<double> p_true_of(SetResult const& set) {
  std::vector<double> p_true;
  for (auto const& p : set.p) p_true.push_back(p.size() > 1 ? p[1] : 0);
  return p_true;
}

/// How far other marginals are off: those stored in the model, or of a file of the UAI competitions.
struct Difference {
  double largest = 0, mean = 0;
  Index variable = -1;
};

/// What --against names: marginals by variable and state, of stored ones P(variable = 1) alone.
std::vector<std::vector<double>> read_others(MarginalsArguments const& a, io::Model const& model) {
  std::vector<std::vector<double>> others;
  if (a.against.empty()) return others;
  bool const is_stored = model.marginals.contains(a.against);
  if (is_stored) {
    for (double p : model.marginals.at(a.against).p_true) others.push_back({p});
  } else if (std::filesystem::exists(a.against)) {
    others = io::read_uai_marginals(a.against);
  } else {
    throw InputError(fmt::format("--against {} is neither a file nor marginals stored in {}, where there are {}", a.against, a.file, model.marginals.empty() ? "none" : fmt::format("{}", fmt::join(names_of(model.marginals), ", "))));
  }
  if (std::ssize(others) != model.graph.num_variables) throw InputError(fmt::format("--against {}: {} variables, not {} as the model has", a.against, others.size(), model.graph.num_variables));
  for (Index v = 0; v < model.graph.num_variables && !is_stored; ++v)
    if (std::ssize(others[v]) != model.graph.states(v)) throw InputError(fmt::format("--against {}: variable {} has {} states, not {}", a.against, v, others[v].size(), model.graph.states(v)));
  return others;
}

Difference difference_from(std::vector<std::vector<double>> const& others, SetResult const& set) {
  Difference result;
  for (std::size_t v = 0; v < others.size(); ++v) {
    double largest = 0;
    if (others[v].size() == 1 && set.p[v].size() > 1) largest = std::abs(others[v][0] - set.p[v][1]);
    else if (others[v].size() == set.p[v].size())
      for (std::size_t s = 0; s < set.p[v].size(); ++s) largest = std::max(largest, std::abs(others[v][s] - set.p[v][s]));
    result.mean += largest / static_cast<double>(others.size());
    if (largest > result.largest || result.variable < 0) {
      result.largest = largest;
      result.variable = static_cast<Index>(v);
    }
  }
  return result;
}

std::string state_name(HostFactorGraph const& graph, Index variable, Index state) {
  return graph.state_names.empty() || graph.state_names[variable].empty() ? std::to_string(state) : graph.state_names[variable][state];
}

/// "a = yes, b = 2", of a cell of a joint marginal.
std::string describe_cell(HostFactorGraph const& graph, Problem const& problem, std::vector<Index> const& scope, std::size_t cell) {
  std::vector<std::string> words;
  for (std::size_t i = scope.size(); i-- > 0;) {
    auto const states = static_cast<std::size_t>(problem.network.cardinality[scope[i]]);
    auto state = static_cast<Index>(cell % states);
    for (auto const& o : problem.cut)
      if (o.variable == scope[i]) state = o.value;
    words.insert(words.begin(), fmt::format("{} = {}", graph.name_of(scope[i]), state_name(graph, scope[i], state)));
    cell /= states;
  }
  return fmt::format("{}", fmt::join(words, ", "));
}

void print_text(MarginalsArguments const& a, io::Model const& model, Problem const& problem, Result const& r, std::vector<Index> const& query, std::vector<std::vector<double>> const& others) {
  for (auto const& set : r.sets) {
    auto const label = set.name.empty() ? a.file : a.file + ", " + set.name;
    if (std::isinf(set.log_z)) continue;
    fmt::print("{}: partition function 10^{:.12g}\n", label, set.log_z / std::numbers::ln10);
    auto const p_true = p_true_of(set);
    for (Index v : most_probable(query, p_true, a.top_count)) fmt::print("    {:.6f}  {}\n", p_true[v], model.graph.name_of(v));
    for (std::size_t j = 0; j < set.joint.size(); ++j)
      for (std::size_t cell = 0; cell < set.joint[j].size(); ++cell) fmt::print("    {:.6f}  {}\n", set.joint[j][cell], describe_cell(model.graph, problem, r.joint_scopes[j], cell));
    if (others.empty()) continue;
    auto const d = difference_from(others, set);
    fmt::print("  against {}: largest difference {:.3g}, at {}; {:.3g} on average\n", a.against, d.largest, model.graph.name_of(d.variable), d.mean);
  }
  fmt::print("  order {}: width {}, {} cliques, {} of tables{}{}\n", a.order, r.order.width, r.num_cliques, human_bytes(static_cast<double>(r.table_bytes)),
             r.slice_bytes > 0 ? fmt::format(", through {} in {:.0f} slices", human_bytes(static_cast<double>(r.slice_bytes)), r.slices) : "", r.sets.size() > 1 ? fmt::format(", {} evidence sets at once", r.sets_at_once) : "");
  fmt::print("  order in {}, set-up in {}, propagation in {} on {} ({}, {})\n", human_seconds(r.order_seconds), human_seconds(r.setup_seconds), human_seconds(r.seconds), a.backend, r.device, a.precision);
}

void print_json(MarginalsArguments const& a, io::Model const& model, Result const& r, std::vector<Index> const& query, std::vector<std::vector<double>> const& others) {
  auto json = order_json(a, r.order, r.table_bytes);
  json.update({{"device", r.device}, {"precision", a.precision}, {"cliques", r.num_cliques}, {"sets_at_once", r.sets_at_once}, {"slices", static_cast<std::int64_t>(r.slices)}, {"order_seconds", r.order_seconds}, {"setup_seconds", r.setup_seconds}, {"seconds", r.seconds}});
  for (auto const& set : r.sets) {
    nlohmann::json answer;
    if (!set.name.empty()) answer["evidence"] = set.name;
    if (std::isinf(set.log_z)) answer["log10_z"] = nullptr;
    else answer["log10_z"] = set.log_z / std::numbers::ln10;
    for (Index v : std::isinf(set.log_z) ? std::vector<Index>{} : most_probable(query, p_true_of(set), a.top_count)) answer["top"].push_back({{"variable", v}, {"name", model.graph.name_of(v)}, {"p", set.p[v]}});
    for (std::size_t j = 0; j < set.joint.size(); ++j) {
      nlohmann::json names;
      for (Index v : r.joint_scopes[j]) names.push_back(model.graph.name_of(v));
      answer["joint"].push_back({{"variables", names}, {"p", set.joint[j]}});
    }
    if (!others.empty() && std::isfinite(set.log_z)) {
      auto const d = difference_from(others, set);
      answer["against"] = {{"name", a.against}, {"largest", d.largest}, {"mean", d.mean}, {"variable", model.graph.name_of(d.variable)}};
    }
    if (a.each.empty()) json.update(answer);
    else json["sets"].push_back(answer);
  }
  fmt::print("{}\n", json.dump());
}

void write(MarginalsArguments const& a, io::Model& model, Result const& r) {
  if (a.output.ends_with(".MAR")) return io::write_uai_marginals(r.sets.front().p, a.output);
  for (auto const& set : r.sets) {
    if (std::isinf(set.log_z)) continue;
    io::StoredMarginals marginals;
    marginals.p_true = p_true_of(set);
    auto evidence = a.evidence;
    if (!set.name.empty()) evidence.push_back(set.name);
    marginals.attributes = {{"method", "junction tree"}, {"backend", a.backend}, {"precision", a.precision}, {"log_z", fmt::format("{:.17g}", set.log_z)},
                            {"evidence", fmt::format("{}", fmt::join(evidence, " "))}, {"hornbill_version", HORNBILL_VERSION}};
    model.marginals[stored_name(a.name, set.name)] = std::move(marginals);
  }
  io::write_model(model, a.output);
}

void require_usable(MarginalsArguments const& a) {  // before hours of work, not after
  if (!a.output.empty() && !a.output.ends_with(".h5") && !a.output.ends_with(".hdf5") && !a.output.ends_with(".MAR")) throw UsageError(fmt::format("-o {}: marginals are written to .MAR or .h5 files", a.output));
  if (a.output.ends_with(".MAR") && a.each.size() > 1) throw UsageError("-o: a .MAR file holds the marginals of one evidence set; --each gives several, which fit into an .h5 file");
  io::validate_name(a.name, "set of marginals");
  require_names_apart(a.name, a.each);
}

int run_marginals(MarginalsArguments& a) {
  require_usable(a);
  auto others_read = a.each;
  if (!a.against.empty()) others_read.push_back(a.against);
  settle(a, others_read);
  auto model = read_model(a.file);
  auto const query = a.top.empty() ? std::vector<Index>{} : find_query(a.file, model, a.top);
  auto const others = read_others(a, model);
  auto const problem = make_problem(a, model);
  auto const result = a.precision == "float" ? solve<float>(a, model, problem) : solve<double>(a, model, problem);
  for (auto const& set : result.sets)
    if (Index const lost = std::isfinite(set.log_z) ? lost_variable(set) : -1; lost >= 0)
      throw NumericError(fmt::format("{}: numbers around {} became too small to tell its marginal; {}", a.file, model.graph.name_of(lost), a.precision == "float" ? "--precision double may" : "another --order may"));
  auto const is_impossible = [](SetResult const& set) { return std::isinf(set.log_z); };
  bool const none = std::all_of(result.sets.begin(), result.sets.end(), is_impossible);
  if (a.json) print_json(a, model, result, query, others);
  else if (!none) print_text(a, model, problem, result, query, others);
  if (!none && !a.output.empty()) write(a, model, result);
  for (auto const& set : result.sets)
    if (is_impossible(set)) throw ContradictionError(fmt::format("{}: nothing is possible{}{}", a.file, a.evidence.empty() && a.each.empty() ? "" : " under this evidence", set.name.empty() ? "" : ", " + set.name));
  return success;
}

}  // namespace

void add_marginals(CLI::App& app, int& exit_code) {
  auto* command = app.add_subcommand("marginals", "Marginals, exactly, by a junction tree");
  auto const a = std::make_shared<MarginalsArguments>();
  add_exact_options(*command, *a, "Model: .uai, .bif, .fg, .causal_fg, .h5", "Write the marginals: .MAR, as the UAI competitions do; or .h5, the model with P(variable = 1), as lbp does");
  add_slice_options(*command, *a);
  command->add_flag("--exact", a->exact, "No approximation; there is none here, so this says what is so (lbp approximates)");
  command->add_option("--each", a->each, "An evidence set as for --evidence; given several times, each is propagated on top of --evidence, as many at once as memory allows")->allow_extra_args(false)->option_text("SET");
  command->add_option("--joint", a->joint, "Print the joint marginal of variables, e.g. smoke,lung; may be given several times")->allow_extra_args(false)->option_text("A,B,...");
  command->add_option("--against", a->against, "Say how far other marginals are off: a .MAR file, or those stored under this name in FILE, e.g. by lbp")->check(not_empty());
  command->add_option("--name", a->name, "Name of the marginals in an .h5 file")->capture_default_str()->needs("--output");
  command->add_option("--precision", a->precision, "double or float")->check(CLI::IsMember({"double", "float"}))->capture_default_str();
  auto* top = command->add_option("--top", a->top, "Print the most probable variables of a query of FILE, e.g. alarms, or of all: by P(variable = 1)")->check(not_empty());
  command->add_option("--count", a->top_count, "How many of them")->check(at_least(1))->capture_default_str()->needs(top);
  command->footer(
      "Examples:\n"
      "  hornbill marginals alarm.bif --exact --evidence observed.txt -o posterior.MAR\n"
      "  hornbill marginals asia.bif --joint smoke,lung\n"
      "  hornbill lbp graph.h5 -o approximate.h5 --name lbp; hornbill marginals approximate.h5 --exact --against lbp");
  command->callback([a, &exit_code] { exit_code = run_marginals(*a); });
}

}  // namespace hornbill::cli
