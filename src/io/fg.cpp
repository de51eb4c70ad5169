#include <algorithm>
#include <iterator>
#include <limits>
#include <span>

#include <fmt/format.h>

#include <hornbill/graph/horn_factor.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/text_formats.hpp>

#include "token_reader.hpp"

namespace hornbill::io {
namespace {

// A table larger than we run may still be a conjunction or disjunction, so more is read than is kept.
constexpr std::int64_t largest_table_read = std::int64_t{1} << 24;
std::int64_t const largest_label = largest_variable_id();

/// Strides of each variable in a table whose first (or last) variable is fastest.
std::vector<std::size_t> strides(std::span<Index const> states, bool first_fastest) {
  std::vector<std::size_t> result(states.size(), 1);
  if (first_fastest)
    for (std::size_t i = 1; i < states.size(); ++i) result[i] = result[i - 1] * states[i - 1];
  else
    for (std::size_t i = states.size(); i-- > 1;) result[i - 1] = result[i] * states[i];
  return result;
}

/// Index in a table with the last variable fastest of entry `index` of one with the first fastest.
class Reorder {
 public:
  explicit Reorder(std::span<Index const> states)
      : states_(states), from_(strides(states, true)), to_(strides(states, false)) {}
  std::size_t to_last_fastest(std::size_t index) const { return convert(index, from_, to_); }

 private:
  std::size_t convert(std::size_t index, std::vector<std::size_t> const& from, std::vector<std::size_t> const& to) const {
    std::size_t result = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) result += index / from[i] % states_[i] * to[i];
    return result;
  }
  std::span<Index const> states_;
  std::vector<std::size_t> from_, to_;
};

struct Block {
  std::vector<Index> variables, states;
  std::vector<double> table;  // last variable fastest
};

Block read_block(TokenReader& in) {
  Block block;
  auto const arity = in.require_count("the number of variables of a factor", 0, 64);
  std::int64_t entries = 1;
  for (std::int64_t i = 0; i < arity; ++i) {
    auto const v = static_cast<Index>(in.require_count("a variable", 0, largest_label));
    if (std::find(block.variables.begin(), block.variables.end(), v) != block.variables.end())
      in.fail(fmt::format("variable {} is twice in one factor", v));
    block.variables.push_back(v);
  }
  for (std::int64_t i = 0; i < arity; ++i) {
    block.states.push_back(static_cast<Index>(in.require_count("a number of states", 1, 1 << 20)));
    if ((entries *= block.states.back()) > largest_table_read)
      in.fail(fmt::format("the table has more than {} entries; split the factor, or write it to .causal_fg", largest_table_read));
  }
  block.table.assign(entries, 0);
  Reorder const reorder(block.states);
  auto const listed = in.require_count("the number of table entries that are not 0", 0, entries);
  for (std::int64_t i = 0; i < listed; ++i) {
    auto const index = in.require_count("a table index", 0, entries - 1);
    auto const value = in.require_number<double>("a table entry");
    if (!std::isgreaterequal(value, 0) || std::isinf(value)) in.fail(fmt::format("table entry {} is not a finite number of at least 0", value));
    block.table[reorder.to_last_fastest(index)] = value;
  }
  return block;
}

void append(HostFactorGraph& graph, Block block, TokenReader const& in) {
  bool const binary = std::all_of(block.states.begin(), block.states.end(), [](Index s) { return s == 2; });
  auto const horn = binary ? recognise_horn_factor(block.table, static_cast<int>(block.variables.size())) : std::nullopt;
  if (horn) {
    auto const head = block.variables.begin() + horn->head;
    std::rotate(block.variables.begin(), head, head + 1);
    block.table.clear();
  } else if (static_cast<Offset>(block.table.size()) > max_table_entries) {
    in.fail(fmt::format("the factor that ends here is neither AND nor OR, and its table has {} entries; at most {} are supported",
                        block.table.size(), max_table_entries));
  }
  graph.factor_type.push_back(horn ? horn->type : FactorType::table);
  graph.p1.push_back(horn ? horn->p1 : 0);
  graph.p2.push_back(horn ? horn->p2 : 0);
  graph.factor_variables.insert(graph.factor_variables.end(), block.variables.begin(), block.variables.end());
  graph.factor_offsets.push_back(graph.num_edges());
  graph.table_values.insert(graph.table_values.end(), block.table.begin(), block.table.end());
  graph.table_offsets.push_back(static_cast<Offset>(graph.table_values.size()));
}

/// Notes the number of states of a factor's variables; 0 = not known yet.
void note_states(std::vector<Index>& cardinality, Block const& block, TokenReader const& in) {
  for (std::size_t i = 0; i < block.variables.size(); ++i) {
    Index const v = block.variables[i];
    if (static_cast<std::size_t>(v) >= cardinality.size()) cardinality.resize(v + std::size_t{1}, 0);
    if (cardinality[v] != 0 && cardinality[v] != block.states[i])
      in.fail(fmt::format("variable {} has {} states here, but {} in an earlier factor", v, block.states[i], cardinality[v]));
    cardinality[v] = block.states[i];
  }
}

}  // namespace

HostFactorGraph read_fg(std::string const& file) {
  TokenReader in(file);
  HostFactorGraph graph;
  graph.table_offsets = {0};
  std::vector<Index> cardinality;
  auto const num_factors = in.require_count("the number of factors", 0, largest_label);
  for (std::int64_t a = 0; a < num_factors; ++a) {
    Block block = read_block(in);
    note_states(cardinality, block, in);
    append(graph, std::move(block), in);
  }
  if (auto extra = in.next()) in.fail(fmt::format("'{}' follows the last of {} factors", *extra, num_factors));
  graph.num_variables = static_cast<Index>(cardinality.size());
  std::replace(cardinality.begin(), cardinality.end(), 0, 2);
  if (std::any_of(cardinality.begin(), cardinality.end(), [](Index s) { return s != 2; })) graph.cardinality = std::move(cardinality);
  if (graph.table_values.empty()) graph.table_offsets.clear();
  validate(graph, file);
  return graph;
}

void write_fg(HostFactorGraph const& graph, std::string const& file) {
  for (Index a = 0; a < graph.num_factors(); ++a)
    if (auto const arity = graph.variables_of(a).size();
        graph.factor_type[a] != FactorType::table && (arity > 40 || (Offset{1} << arity) > max_table_entries))
      throw InputError(file, "", fmt::format("factor {} has {} variables, so its table would have 2^{} entries; .fg is limited "
                                             "to {}. Write .causal_fg or .h5", a, arity, arity, max_table_entries));
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}\n", graph.num_factors());
  for (Index a = 0; a < graph.num_factors(); ++a) {
    auto const variables = graph.variables_of(a);
    bool const is_table = graph.factor_type[a] == FactorType::table;
    auto const horn_table = is_table ? std::vector<double>{}
                                     : table_of_horn_factor(graph.factor_type[a], graph.p1[a], graph.p2[a], static_cast<int>(variables.size()));
    std::span<double const> const table = is_table ? graph.table_of(a) : std::span<double const>(horn_table);
    std::vector<Index> states;
    for (Index v : variables) states.push_back(graph.states(v));
    Reorder const reorder(states);
    fmt::format_to(out, "\n{}\n{}\n{}\n{}\n", variables.size(), fmt::join(variables, " "), fmt::join(states, " "),
              table.size() - std::count(table.begin(), table.end(), 0.0));
    for (std::size_t i = 0; i < table.size(); ++i)  // the format's own order: first variable fastest
      if (double const value = table[reorder.to_last_fastest(i)]; value != 0) fmt::format_to(out, "{} {}\n", i, value);
  }
  write_text_atomically(file, {text.data(), text.size()});
}

}  // namespace hornbill::io
