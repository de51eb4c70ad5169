#include <hornbill/graph/host_factor_graph.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>

namespace hornbill {
namespace {

bool is_probability(double p) { return std::isgreaterequal(p, 0) && std::islessequal(p, 1); }  // quietly false for NaN

void require_offsets(std::vector<Offset> const& offsets, std::size_t count, std::size_t end, std::string const& source,
                     char const* dataset) {
  if (offsets.size() != count + 1)
    throw InputError(source, dataset,
                     fmt::format("{} entries, but {} factors need {}", offsets.size(), count, count + 1));
  if (offsets.front() != 0) throw InputError(source, dataset, fmt::format("entry 0 is {}, not 0", offsets.front()));
  for (std::size_t i = 0; i < count; ++i)
    if (offsets[i + 1] < offsets[i])
      throw InputError(source, dataset,
                       fmt::format("entry {} decreases ({} -> {})", i + 1, offsets[i], offsets[i + 1]));
  if (static_cast<std::size_t>(offsets.back()) != end)
    throw InputError(
        source, dataset,
        fmt::format("entry {} is {}, but the array it points into has {} entries", count, offsets.back(), end));
}

void require_variables(HostFactorGraph const& graph, std::string const& source) {
  char const* dataset = "/graph/factor_variables";
  std::vector<Index> last_factor_of(graph.num_variables, -1);
  for (Index a = 0; a < graph.num_factors(); ++a) {
    for (Offset e = graph.factor_offsets[a]; e < graph.factor_offsets[a + 1]; ++e) {
      Index const v = graph.factor_variables[e];
      if (v < 0 || v >= graph.num_variables)
        throw InputError(source, dataset,
                         fmt::format("entry {} (factor {}) is variable {}, but variables are 0 to {}", e, a, v,
                                     graph.num_variables - 1));
      if (last_factor_of[v] == a)
        throw InputError(source, dataset, fmt::format("entry {}: variable {} is twice in factor {}", e, v, a));
      last_factor_of[v] = a;
    }
  }
}

void require_horn_factor(HostFactorGraph const& graph, Index a, std::string const& source) {
  auto const variables = graph.variables_of(a);
  if (variables.empty()) throw InputError(source, "/graph/factor_offsets", fmt::format("factor {} has no head", a));
  for (auto [p, dataset] : {std::pair{graph.p1[a], "/graph/p1"}, std::pair{graph.p2[a], "/graph/p2"}})
    if (!is_probability(p))
      throw InputError(source, dataset, fmt::format("entry {} is {}, not a probability in [0, 1]", a, p));
  for (Index v : variables)
    if (graph.states(v) != 2)
      throw InputError(source, "/graph/cardinality",
                       fmt::format("entry {} is {}, but factor {} is a Horn factor and needs binary variables", v,
                                   graph.states(v), a));
}

void require_table(std::span<Index const> variables, std::span<double const> table, HostFactorGraph const& graph,
                   Index a, std::string const& source) {
  double entries = 1;
  for (Index v : variables) entries *= graph.states(v);
  if (entries > static_cast<double>(max_table_entries))
    throw CapacityError(
        fmt::format("{}:/graph/table_values: the table of factor {} has {:.4g} entries; at most {} are "
                    "supported. Split the factor, or write it as a conjunction or disjunction",
                    source, a, entries, max_table_entries));
  if (table.size() != static_cast<std::size_t>(entries))
    throw InputError(source, "/graph/table_offsets",
                     fmt::format("factor {} has {} table entries; its variables need {}", a, table.size(), entries));
  bool some_positive = false;
  for (std::size_t i = 0; i < table.size(); ++i) {
    if (!std::isgreaterequal(table[i], 0) || std::isinf(table[i]))
      throw InputError(
          source, "/graph/table_values",
          fmt::format("entry {} of factor {} is {}; finite values of at least 0 are needed", i, a, table[i]));
    some_positive = some_positive || table[i] > 0;
  }
  if (!some_positive)
    throw InputError(source, "/graph/table_values",
                     fmt::format("all entries of factor {} are 0: nothing is possible", a));
}

}  // namespace

Offset HostFactorGraph::num_messages() const {
  Offset count = num_edges();
  if (!cardinality.empty())
    for (Index v : factor_variables) count += states(v) == 2 ? 0 : states(v);
  return count;
}

bool HostFactorGraph::is_binary() const {
  return std::all_of(cardinality.begin(), cardinality.end(), [](Index states) { return states == 2; });
}

std::string HostFactorGraph::name_of(Index variable) const {
  return variable_names.empty() || variable_names[variable].empty() ? fmt::format("variable {}", variable)
                                                                    : variable_names[variable];
}

std::string HostFactorGraph::state_name(Index variable, Index state) const {
  return state_names.empty() || state_names[variable].empty() ? std::to_string(state) : state_names[variable][state];
}

void validate(HostFactorGraph const& graph, std::string const& source) {
  std::size_t const num_factors = graph.factor_type.size();
  if (graph.num_variables < 0)
    throw InputError(source, "/graph/num_variables", fmt::format("is {}; 0 or more are needed", graph.num_variables));
  require_offsets(graph.factor_offsets, num_factors, graph.factor_variables.size(), source, "/graph/factor_offsets");
  for (auto [array, dataset] : {std::pair{&graph.p1, "/graph/p1"}, std::pair{&graph.p2, "/graph/p2"}})
    if (array->size() != num_factors)
      throw InputError(source, dataset, fmt::format("{} entries for {} factors", array->size(), num_factors));
  auto const num_variables = static_cast<std::size_t>(graph.num_variables);
  if (!graph.cardinality.empty() && graph.cardinality.size() != num_variables)
    throw InputError(source, "/graph/cardinality",
                     fmt::format("{} entries for {} variables", graph.cardinality.size(), num_variables));
  if (!graph.variable_names.empty() && graph.variable_names.size() != num_variables)
    throw InputError(source, "/graph/variable_names",
                     fmt::format("{} entries for {} variables", graph.variable_names.size(), num_variables));
  if (!graph.state_names.empty() && graph.state_names.size() != num_variables)
    throw InputError(source, "/graph/state_names",
                     fmt::format("of {} variables; there are {}", graph.state_names.size(), num_variables));
  for (std::size_t v = 0; v < graph.state_names.size(); ++v)
    if (graph.state_names[v].size() != static_cast<std::size_t>(graph.states(static_cast<Index>(v))))
      throw InputError(source, "/graph/state_names",
                       fmt::format("{} for variable {}, which has {} states", graph.state_names[v].size(), v,
                                   graph.states(static_cast<Index>(v))));
  for (std::size_t v = 0; v < graph.cardinality.size(); ++v)
    if (graph.cardinality[v] < 1)
      throw InputError(source, "/graph/cardinality",
                       fmt::format("entry {} is {}; 1 or more are needed", v, graph.cardinality[v]));
  if (graph.has_tables())
    require_offsets(graph.table_offsets, num_factors, graph.table_values.size(), source, "/graph/table_offsets");
  require_variables(graph, source);
  for (Index a = 0; a < graph.num_factors(); ++a) {
    auto const type = static_cast<unsigned>(graph.factor_type[a]);
    if (type >= num_factor_types)
      throw InputError(source, "/graph/factor_type",
                       fmt::format("entry {} is {}; known are {}", a, type, known_factor_types()));
    if (is_table(graph.factor_type[a]) && !graph.has_tables())
      throw InputError(source, "/graph/table_offsets", fmt::format("is missing, but factor {} is a table", a));
    if (is_table(graph.factor_type[a]))
      require_table(graph.variables_of(a), graph.table_of(a), graph, a, source);
    else
      require_horn_factor(graph, a, source);
  }
}

VariableEdges edges_of_variables(HostFactorGraph const& graph) {
  VariableEdges result;
  result.offsets.assign(static_cast<std::size_t>(graph.num_variables) + 1, 0);
  for (Index v : graph.factor_variables) ++result.offsets[v + 1];
  std::partial_sum(result.offsets.begin(), result.offsets.end(), result.offsets.begin());
  result.edges.resize(graph.factor_variables.size());
  auto next = result.offsets;
  for (Offset e = 0; e < graph.num_edges(); ++e) result.edges[next[graph.factor_variables[e]]++] = e;
  return result;
}

std::vector<Index> factors_of_edges(HostFactorGraph const& graph) {
  std::vector<Index> result(graph.factor_variables.size());
  for (Index a = 0; a < graph.num_factors(); ++a)
    for (Offset e = graph.factor_offsets[a]; e < graph.factor_offsets[a + 1]; ++e) result[e] = a;
  return result;
}

FactorGraphBuilder::FactorGraphBuilder(Index num_variables) : last_factor_of_(num_variables, -1) {
  graph_.num_variables = num_variables;
}

Index FactorGraphBuilder::add_variable(std::string name, Index cardinality) {
  if (cardinality < 1) throw InputError(fmt::format("variable '{}': cardinality {} is less than 1", name, cardinality));
  Index const v = graph_.num_variables++;
  last_factor_of_.push_back(-1);
  if (!name.empty() && graph_.variable_names.empty()) graph_.variable_names.resize(v);
  if (!name.empty() || !graph_.variable_names.empty()) {
    graph_.variable_names.resize(v);
    graph_.variable_names.push_back(std::move(name));
  }
  if (cardinality != 2 && graph_.cardinality.empty()) graph_.cardinality.assign(v, 2);
  if (cardinality != 2 || !graph_.cardinality.empty()) graph_.cardinality.push_back(cardinality);
  return v;
}

FactorGraphBuilder& FactorGraphBuilder::add_prior(Index variable, double p) {
  add_factor(FactorType::conjunction, variable, {}, p, p);
  return *this;
}

FactorGraphBuilder& FactorGraphBuilder::add_conjunction(Index head, std::span<Index const> body, double p1, double p2) {
  add_factor(FactorType::conjunction, head, body, p1, p2);
  return *this;
}

FactorGraphBuilder& FactorGraphBuilder::add_disjunction(Index head, std::span<Index const> body, double p1, double p2) {
  add_factor(FactorType::disjunction, head, body, p1, p2);
  return *this;
}

void FactorGraphBuilder::add_edge(Index v) {
  Index const a = graph_.num_factors();
  if (v < 0 || v >= graph_.num_variables)
    throw InputError(fmt::format("factor {}: variable {} is not one of 0 to {}", a, v, graph_.num_variables - 1));
  if (last_factor_of_[v] == a) throw InputError(fmt::format("factor {}: variable {} is twice in it", a, v));
  last_factor_of_[v] = a;
  graph_.factor_variables.push_back(v);
}

void FactorGraphBuilder::discard_unfinished_factor() {
  for (Offset e = graph_.factor_offsets.back(); e < graph_.num_edges(); ++e)
    last_factor_of_[graph_.factor_variables[e]] = -1;
  graph_.factor_variables.resize(graph_.factor_offsets.back());
}

void FactorGraphBuilder::finish_factor(FactorType type, double p1, double p2) {
  graph_.factor_type.push_back(type);
  graph_.factor_offsets.push_back(graph_.num_edges());
  graph_.p1.push_back(p1);
  graph_.p2.push_back(p2);
  if (graph_.has_tables()) graph_.table_offsets.push_back(static_cast<Offset>(graph_.table_values.size()));
}

void FactorGraphBuilder::add_factor(FactorType type, Index head, std::span<Index const> body, double p1, double p2) {
  Index const a = graph_.num_factors();
  if (!is_probability(p1) || !is_probability(p2))
    throw InputError(fmt::format("factor {}: parameters {} and {} must be probabilities in [0, 1]", a, p1, p2));
  try {
    add_edge(head);
    for (Index v : body) add_edge(v);
    for (Offset e = graph_.factor_offsets.back(); e < graph_.num_edges(); ++e)
      if (Index const v = graph_.factor_variables[e]; graph_.states(v) != 2)
        throw InputError(
            fmt::format("factor {}: variable {} has {} states; Horn factors need binary ones", a, v, graph_.states(v)));
  } catch (...) {
    discard_unfinished_factor();
    throw;
  }
  finish_factor(type, p1, p2);
}

FactorGraphBuilder& FactorGraphBuilder::add_table(std::span<Index const> variables, std::span<double const> values) {
  try {
    for (Index v : variables) add_edge(v);
    require_table(variables, values, graph_, graph_.num_factors(), "factor graph");
  } catch (...) {
    discard_unfinished_factor();
    throw;
  }
  if (!graph_.has_tables()) graph_.table_offsets.assign(graph_.factor_offsets.size(), 0);
  graph_.table_values.insert(graph_.table_values.end(), values.begin(), values.end());
  finish_factor(FactorType::table, 0, 0);
  return *this;
}

HostFactorGraph FactorGraphBuilder::build() && {
  if (!graph_.variable_names.empty()) graph_.variable_names.resize(graph_.num_variables);
  return std::move(graph_);
}

}  // namespace hornbill
