#include "table_factor.hpp"

#include <algorithm>
#include <utility>

#include <hornbill/graph/factor_traits.hpp>
#include <hornbill/graph/horn_factor.hpp>

namespace hornbill::io {

std::vector<Index> read_scope(TokenReader& in, std::int64_t arity, std::int64_t num_variables) {
  std::vector<Index> variables;
  for (std::int64_t i = 0; i < arity; ++i) {
    auto const v = static_cast<Index>(in.require_count("a variable", 0, num_variables - 1));
    if (std::find(variables.begin(), variables.end(), v) != variables.end())
      in.fail(fmt::format("variable {} is twice in one factor", v));
    variables.push_back(v);
  }
  return variables;
}

std::int64_t TableRoom::take(std::vector<Index> const& states, Fail const& fail) {
  std::int64_t entries = 1;
  for (Index s : states)
    if ((entries *= s) > largest_table_read)
      fail(fmt::format("the table has more than {} entries; split it into tables of fewer variables",
                       largest_table_read));
  taken_ += static_cast<std::size_t>(entries) * bytes_of_entry_;
  if (taken_ > host_memory_bytes())
    throw CapacityError(fmt::format("{}: its tables do not fit: {} bytes and more are needed, this machine has {}",
                                    file_, taken_, host_memory_bytes()));
  return entries;
}

double read_entry(TokenReader& in) {
  auto const value = in.parse_rounded(in.require("a table entry"), "a table entry");
  if (!std::isgreaterequal(value, 0) || std::isinf(value))
    in.fail(fmt::format("table entry {} is not a finite number of at least 0", value));
  return value;
}

void append(HostFactorGraph& graph, TableFactor factor, Fail const& fail) {
  if (std::all_of(factor.table.begin(), factor.table.end(), [](double value) { return value == 0; }))
    fail(factor.variables.empty()
             ? "a factor without variables is 0, so that nothing is possible"
             : fmt::format("all entries of the table over {} {} are 0, so that nothing is possible",
                           factor.variables.size() == 1 ? "the variable" : "the variables",
                           fmt::join(factor.variables, ", ")));
  bool const binary = std::all_of(factor.states.begin(), factor.states.end(), [](Index s) { return s == 2; });
  auto const horn =
      binary ? recognise_horn_factor(factor.table, static_cast<int>(factor.variables.size())) : std::nullopt;
  if (horn) {
    auto const head = factor.variables.begin() + horn->head;
    std::rotate(factor.variables.begin(), head, head + 1);
    factor.table.clear();
  } else if (static_cast<Offset>(factor.table.size()) > max_table_entries) {
    fail(
        fmt::format("the factor over {} variables is neither AND nor OR, and its table has {} entries; at most {} are "
                    "supported: split it into tables of fewer variables",
                    factor.variables.size(), factor.table.size(), max_table_entries));
  }
  graph.factor_type.push_back(horn ? horn->type : FactorType::table);
  graph.p1.push_back(horn ? horn->p1 : 0);
  graph.p2.push_back(horn ? horn->p2 : 0);
  graph.factor_variables.insert(graph.factor_variables.end(), factor.variables.begin(), factor.variables.end());
  graph.factor_offsets.push_back(graph.num_edges());
  graph.table_values.insert(graph.table_values.end(), factor.table.begin(), factor.table.end());
  if (graph.table_offsets.empty()) graph.table_offsets = {0};
  graph.table_offsets.push_back(static_cast<Offset>(graph.table_values.size()));
}

std::vector<double> dense_table(HostFactorGraph const& graph, Index factor, std::string const& file) {
  if (is_table(graph.factor_type[factor])) {
    auto const table = graph.table_of(factor);
    return {table.begin(), table.end()};
  }
  auto const arity = graph.variables_of(factor).size();
  if (arity > 40 || (Offset{1} << arity) > max_table_entries)
    throw InputError(file, "",
                     fmt::format("factor {} has {} variables, so its table would have 2^{} entries; this format is "
                                 "limited to {}. Write .causal_fg or .h5",
                                 factor, arity, arity, max_table_entries));
  return table_of_horn_factor(graph.factor_type[factor], graph.p1[factor], graph.p2[factor], static_cast<int>(arity));
}

void finish(HostFactorGraph& graph, std::vector<Index> cardinality, std::string const& file) {
  graph.num_variables = static_cast<Index>(cardinality.size());
  if (std::any_of(cardinality.begin(), cardinality.end(), [](Index s) { return s != 2; }))
    graph.cardinality = std::move(cardinality);
  if (graph.table_values.empty()) graph.table_offsets.clear();
  validate(graph, file);
}

}  // namespace hornbill::io
