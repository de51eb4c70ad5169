#include <hornbill/io/factor_graph_file.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string_view>

#include <fmt/format.h>

#include <hornbill/bp/schedule.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/model.hpp>

#include "hdf5.hpp"
#include "hdf5_file.hpp"
#include "token_reader.hpp"

namespace hornbill::io {
namespace {

/// Of all variables together.
std::size_t num_states(HostFactorGraph const& graph) {
  std::size_t states = 0;
  for (Index v = 0; v < graph.num_variables; ++v) states += static_cast<std::size_t>(graph.states(v));
  return states;
}

/// One variable's after another's.
void read_state_names(hdf5::Reader const& in, HostFactorGraph& graph) {
  auto const all = in.read_strings("/graph/state_names");
  std::size_t next = 0;
  for (Index v = 0; v < graph.num_variables; ++v) {
    auto const states = static_cast<std::size_t>(graph.states(v));
    if (all.size() - next < states)
      throw InputError(in.file(), "/graph/state_names",
                       fmt::format("has {} entries, too few for the states of variable {}", all.size(), v));
    graph.state_names.emplace_back(all.begin() + static_cast<std::ptrdiff_t>(next),
                                   all.begin() + static_cast<std::ptrdiff_t>(next + states));
    next += states;
  }
  if (next != all.size())
    throw InputError(in.file(), "/graph/state_names", fmt::format("has {} entries for {} states", all.size(), next));
}

// --- reading
// ----------------------------------------------------------------------------------------------------------

HostFactorGraph read_graph(hdf5::Reader const& in) {
  if (!in.has("/graph") && in.has("/constraints"))
    throw InputError(in.file(), "", "holds points-to constraints, not a model: pointsto, info and convert read it");
  if (!in.has("/graph") && in.has("/circuit"))
    throw InputError(in.file(), "", "holds a probabilistic circuit, not a model: `hornbill circuit` reads it");
  HostFactorGraph graph;
  auto const num_variables = in.read_integer_attribute("/graph", "num_variables");
  if (num_variables < 0 || num_variables > largest_variable_id() + 1)
    throw InputError(in.file(), "/graph@num_variables",
                     fmt::format("is {}; 0 to {} fit this machine", num_variables, largest_variable_id() + 1));
  graph.num_variables = static_cast<Index>(num_variables);
  for (auto type : in.read<std::int64_t>("/graph/factor_type")) {
    if (type < 0 || type >= static_cast<std::int64_t>(num_factor_types))
      throw InputError(
          in.file(), "/graph/factor_type",
          fmt::format("entry {} is {}; known are {}", graph.factor_type.size(), type, known_factor_types()));
    graph.factor_type.push_back(static_cast<FactorType>(type));
  }
  graph.factor_offsets = in.read<Offset>("/graph/factor_offsets");
  graph.factor_variables = in.read<Index>("/graph/factor_variables");
  graph.p1 = in.read<double>("/graph/p1");
  graph.p2 = in.read<double>("/graph/p2");
  if (in.has("/graph/cardinality")) graph.cardinality = in.read<Index>("/graph/cardinality");
  if (in.has("/graph/table_offsets")) {
    graph.table_offsets = in.read<Offset>("/graph/table_offsets");
    graph.table_values = in.read<double>("/graph/table_values");
  }
  if (in.has("/graph/variable_names")) graph.variable_names = in.read_strings("/graph/variable_names");
  validate(graph, in.file());
  if (in.has("/graph/state_names")) read_state_names(in, graph);
  return graph;
}

StoredSchedule read_schedule(hdf5::Reader const& in, std::string const& path, HostFactorGraph const& graph) {
  StoredSchedule schedule;
  auto const kind = in.read_string_attribute(path, "kind");
  if (kind == "order")
    schedule.kind = ScheduleKind::order;
  else if (kind == "partial_order")
    schedule.kind = ScheduleKind::partial_order;
  else if (kind == "batches")
    schedule.kind = ScheduleKind::batches;
  else
    throw InputError(in.file(), path + "@kind",
                     fmt::format("is '{}'; known are order, partial_order and batches", kind));
  if (schedule.kind != ScheduleKind::partial_order) schedule.edges = in.read<Offset>(path + "/edges");
  if (schedule.kind == ScheduleKind::batches) schedule.batch_offsets = in.read<Offset>(path + "/batch_offsets");
  if (schedule.kind == ScheduleKind::partial_order || in.has(path + "/before")) {
    schedule.before = in.read<Offset>(path + "/before");
    schedule.after = in.read<Offset>(path + "/after");
  }
  bp::validate(schedule, graph, in.file() + ":" + path);
  return schedule;
}

/// The likelihoods of soft observations, as a row for each observation or those of the soft ones one after another.
void read_likelihoods(hdf5::Reader const& in, std::string const& path, HostFactorGraph const& graph,
                      HostEvidence& evidence) {
  auto const rank = in.rank(path);
  if (rank > 2) throw InputError(in.file(), path, fmt::format("has {} dimensions; 1 or 2 are needed", rank));
  bool const is_rows = rank == 2;
  auto const rows = is_rows ? in.read_rows(path) : hdf5::Rows{in.read<double>(path), 0};
  if (is_rows && rows.values.size() != evidence.size() * rows.columns)
    throw InputError(in.file(), path, fmt::format("has not a row for each of {} observations", evidence.size()));
  std::size_t next = 0;
  for (std::size_t i = 0; i < evidence.size(); ++i) {
    auto& o = evidence[i];
    if (!o.is_hard()) {
      auto const count = is_rows ? rows.columns : static_cast<std::size_t>(graph.states(o.variable));
      if (rows.values.size() - next < count)
        throw InputError(
            in.file(), path,
            fmt::format("has {} entries, too few for the states of variable {}", rows.values.size(), o.variable));
      auto const first = rows.values.begin() + static_cast<std::ptrdiff_t>(next);
      o.likelihoods.assign(first, first + static_cast<std::ptrdiff_t>(count));
      next += count;
    } else if (is_rows) {
      next += rows.columns;
    }
  }
  if (next != rows.values.size())
    throw InputError(in.file(), path, fmt::format("has {} entries; {} are needed", rows.values.size(), next));
}

HostEvidence read_evidence(hdf5::Reader const& in, std::string const& path, HostFactorGraph const& graph) {
  auto const variables = in.read<Index>(path + "/variable");
  bool const hard = in.has(path + "/value"), soft = in.has(path + "/likelihood");
  if (!hard && !soft) throw InputError(in.file(), path, "has neither `value` nor `likelihood`");
  auto const values = hard ? in.read<Index>(path + "/value") : std::vector<Index>(variables.size(), -1);
  if (values.size() != variables.size())
    throw InputError(in.file(), path + "/value",
                     fmt::format("has {} entries for {} variables", values.size(), variables.size()));
  HostEvidence evidence;
  for (std::size_t i = 0; i < variables.size(); ++i) {
    if (values[i] < (soft ? -1 : 0))
      throw InputError(in.file(), path + "/value",
                       fmt::format("entry {} (variable {}) is {}; 0 or more is needed", i, variables[i], values[i]));
    if (variables[i] < 0 || variables[i] >= graph.num_variables)
      throw InputError(in.file() + ":" + path, "",
                       fmt::format("entry {}: evidence on variable {}, which is unknown: variables are 0 to {}", i,
                                   variables[i], graph.num_variables - 1));
    evidence.push_back({variables[i], values[i], {}});
  }
  if (soft) read_likelihoods(in, path + "/likelihood", graph, evidence);
  validate(evidence, graph, in.file() + ":" + path);
  return evidence;
}

std::vector<Index> read_query(hdf5::Reader const& in, std::string const& path, HostFactorGraph const& graph) {
  auto query = in.read<Index>(path);
  for (std::size_t i = 0; i < query.size(); ++i)
    if (query[i] < 0 || query[i] >= graph.num_variables)
      throw InputError(
          in.file(), path,
          fmt::format("entry {} is variable {}, but variables are 0 to {}", i, query[i], graph.num_variables - 1));
  return query;
}

std::vector<double> read_sized(hdf5::Reader const& in, std::string const& path, std::size_t size) {
  auto values = in.read<double>(path);
  if (values.size() != size)
    throw InputError(in.file(), path, fmt::format("has {} entries; {} are needed", values.size(), size));
  return values;
}

StoredMessages read_messages(hdf5::Reader const& in, std::string const& name, HostFactorGraph const& graph) {
  StoredMessages messages;
  messages.log_odds = read_sized(in, "/messages/" + name, graph.num_messages());
  if (in.has("/evidence_of_messages/" + name))
    messages.evidence = read_evidence(in, "/evidence_of_messages/" + name, graph);
  return messages;
}

RuleInstances read_rules(hdf5::Reader const& in, HostFactorGraph const& graph) {
  RuleInstances rules;
  if (!in.has("/rules")) return rules;
  rules.names = in.read_strings("/rules/names");
  rules.probabilities = read_sized(in, "/rules/probabilities", rules.names.size());
  rules.offsets = in.read<Offset>("/rules/offsets");
  rules.of_factors = in.read<Index>("/rules/of_factors");
  for (std::size_t r = 0; r < rules.names.size(); ++r)
    if (!std::isgreaterequal(rules.probabilities[r], 0) || !std::islessequal(rules.probabilities[r], 1))
      throw InputError(in.file(), "/rules/probabilities",
                       fmt::format("entry {} is {}; 0 to 1 are possible", r, rules.probabilities[r]));
  bool const fits = rules.offsets.size() == graph.factor_type.size() + 1 && rules.offsets.front() == 0 &&
                    std::is_sorted(rules.offsets.begin(), rules.offsets.end()) &&
                    rules.offsets.back() == static_cast<Offset>(rules.of_factors.size());
  if (!fits)
    throw InputError(in.file(), "/rules/offsets",
                     fmt::format("must be {} numbers that rise from 0 to {}, the size of of_factors",
                                 graph.factor_type.size() + 1, rules.of_factors.size()));
  for (std::size_t i = 0; i < rules.of_factors.size(); ++i)
    if (rules.of_factors[i] < 0 || static_cast<std::size_t>(rules.of_factors[i]) >= rules.names.size())
      throw InputError(
          in.file(), "/rules/of_factors",
          fmt::format("entry {} is {}, but there are {} rules", i, rules.of_factors[i], rules.names.size()));
  return rules;
}

// --- writing
// ----------------------------------------------------------------------------------------------------------

void write_graph(hdf5::Writer& out, HostFactorGraph const& graph) {
  out.make_group("/graph");
  out.write_attribute("/graph", "num_variables", static_cast<std::int64_t>(graph.num_variables));
  std::vector<std::uint8_t> types;
  for (FactorType type : graph.factor_type) types.push_back(static_cast<std::uint8_t>(type));
  out.write("/graph/factor_type", types);
  out.write("/graph/factor_offsets", graph.factor_offsets);
  out.write("/graph/factor_variables", graph.factor_variables);
  out.write("/graph/p1", graph.p1);
  out.write("/graph/p2", graph.p2);
  if (!graph.cardinality.empty()) out.write("/graph/cardinality", graph.cardinality);
  if (graph.has_tables()) {
    out.write("/graph/table_offsets", graph.table_offsets);
    out.write("/graph/table_values", graph.table_values);
  }
  if (!graph.variable_names.empty()) out.write_strings("/graph/variable_names", graph.variable_names);
  if (!graph.state_names.empty()) {
    std::vector<std::string> all;
    for (auto const& of_variable : graph.state_names) all.insert(all.end(), of_variable.begin(), of_variable.end());
    out.write_strings("/graph/state_names", all);
  }
}

void write_schedule(hdf5::Writer& out, std::string const& path, StoredSchedule const& schedule) {
  out.make_group(path);
  char const* const kinds[] = {"order", "partial_order", "batches"};
  out.write_attribute(path, "kind", std::string(kinds[static_cast<int>(schedule.kind)]));
  if (schedule.kind != ScheduleKind::partial_order) out.write(path + "/edges", schedule.edges);
  if (schedule.kind == ScheduleKind::batches) out.write(path + "/batch_offsets", schedule.batch_offsets);
  if (schedule.kind == ScheduleKind::partial_order || !schedule.before.empty()) {
    out.write(path + "/before", schedule.before);
    out.write(path + "/after", schedule.after);
  }
}

/// Of binary variables as rows, which earlier versions read too.
void write_likelihoods(hdf5::Writer& out, std::string const& path, HostEvidence const& evidence) {
  std::vector<double> rows, of_soft;
  bool all_binary = true;
  for (auto const& o : evidence) {
    all_binary = all_binary && (o.is_hard() || o.likelihoods.size() == 2);
    if (o.is_hard()) {
      rows.insert(rows.end(), {1, 1});
    } else {
      rows.insert(rows.end(), o.likelihoods.begin(), o.likelihoods.end());
      of_soft.insert(of_soft.end(), o.likelihoods.begin(), o.likelihoods.end());
    }
  }
  if (all_binary)
    out.write_rows(path, rows, 2);
  else
    out.write(path, of_soft);
}

void write_evidence(hdf5::Writer& out, std::string const& path, HostEvidence const& evidence) {
  std::vector<Index> variables, wide_values;
  std::vector<std::int8_t> values;
  bool any_soft = false, any_hard = false, fits_in_int8 = true;
  for (auto const& o : evidence) {
    variables.push_back(o.variable);
    wide_values.push_back(o.value);
    values.push_back(static_cast<std::int8_t>(o.value));
    (o.is_hard() ? any_hard : any_soft) = true;
    fits_in_int8 = fits_in_int8 && o.value <= std::numeric_limits<std::int8_t>::max();
  }
  out.write(path + "/variable", variables);
  if ((any_hard || !any_soft) && fits_in_int8) out.write(path + "/value", values);
  if (any_hard && !fits_in_int8) out.write(path + "/value", wide_values);
  if (any_soft) write_likelihoods(out, path + "/likelihood", evidence);
}

void write_rules(hdf5::Writer& out, RuleInstances const& rules) {
  if (rules.empty()) return;
  out.write_strings("/rules/names", rules.names);
  out.write("/rules/probabilities", rules.probabilities);
  out.write("/rules/offsets", rules.offsets);
  out.write("/rules/of_factors", rules.of_factors);
}

Model read_from(hdf5::Reader const& in) {
  hdf5::require_format(in);
  Model model;
  model.graph = read_graph(in);
  for (auto const& name : in.children("/schedules"))
    model.schedules[name] = read_schedule(in, "/schedules/" + name, model.graph);
  for (auto const& name : in.children("/evidence"))
    model.evidence[name] = read_evidence(in, "/evidence/" + name, model.graph);
  for (auto const& name : in.children("/queries"))
    model.queries[name] = read_query(in, "/queries/" + name, model.graph);
  for (auto const& name : in.children("/marginals")) {
    std::string const path = "/marginals/" + name;
    auto& marginals = model.marginals[name];
    marginals.p_true = read_sized(in, path, model.graph.num_variables);
    if (in.has("/state_marginals/" + name))
      marginals.p_states = read_sized(in, "/state_marginals/" + name, num_states(model.graph));
    for (auto& [key, value] : in.string_attributes(path)) marginals.attributes[key] = value;
  }
  for (auto const& name : in.children("/messages")) model.messages[name] = read_messages(in, name, model.graph);
  model.rules = read_rules(in, model.graph);
  return model;
}

std::string image_of_model(Model const& model, std::string const& file) {
  hdf5::Writer out(file);
  hdf5::write_format(out);
  write_graph(out, model.graph);
  for (auto const& [name, schedule] : model.schedules) write_schedule(out, "/schedules/" + name, schedule);
  for (auto const& [name, evidence] : model.evidence) write_evidence(out, "/evidence/" + name, evidence);
  for (auto const& [name, query] : model.queries) out.write("/queries/" + name, query);
  for (auto const& [name, marginals] : model.marginals) {
    out.write("/marginals/" + name, marginals.p_true);
    if (!marginals.p_states.empty()) out.write("/state_marginals/" + name, marginals.p_states);
    for (auto const& [key, value] : marginals.attributes) out.write_attribute("/marginals/" + name, key, value);
  }
  for (auto const& [name, messages] : model.messages) {
    out.write("/messages/" + name, messages.log_odds);
    if (messages.evidence) write_evidence(out, "/evidence_of_messages/" + name, *messages.evidence);
  }
  write_rules(out, model.rules);
  return out.image();
}

}  // namespace

bool is_hdf5(std::string const& file) { return file.ends_with(".h5") || file.ends_with(".hdf5"); }

Model read_hdf5(std::string const& file) { return hdf5::read_file(file, read_from, image_of_model); }

void write_hdf5(Model const& model, std::string const& file) {
  auto require_names = [](auto const& map, char const* what) {
    for (auto const& [name, item] : map) validate_name(name, what);
  };
  require_names(model.schedules, "schedule");
  require_names(model.evidence, "evidence set");
  require_names(model.queries, "query");
  require_names(model.marginals, "set of marginals");
  require_names(model.messages, "set of messages");
  write_atomically(file, image_of_model(model, file));
}

}  // namespace hornbill::io
