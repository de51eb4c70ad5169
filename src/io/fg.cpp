#include <algorithm>
#include <iterator>
#include <span>

#include <fmt/format.h>

#include <hornbill/graph/factor_traits.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/text_formats.hpp>

#include "labels.hpp"
#include "table_factor.hpp"

namespace hornbill::io {
namespace {

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
  std::size_t convert(std::size_t index, std::vector<std::size_t> const& from,
                      std::vector<std::size_t> const& to) const {
    std::size_t result = 0;
    for (std::size_t i = 0; i < states_.size(); ++i) result += index / from[i] % states_[i] * to[i];
    return result;
  }
  std::span<Index const> states_;
  std::vector<std::size_t> from_, to_;
};

TableFactor read_block(TokenReader& in, TableRoom& room) {
  TableFactor block;
  Fail const fail = [&](std::string const& message) { in.fail(message); };
  auto const arity = in.require_count("the number of variables of a factor", 0, 64);
  block.variables = read_scope(in, arity, largest_label + 1);
  for (std::int64_t i = 0; i < arity; ++i)
    block.states.push_back(static_cast<Index>(in.require_count("a number of states", 1, 1 << 20)));
  auto const entries = room.take(block.states, fail);
  block.table.assign(entries, 0);
  Reorder const reorder(block.states);
  auto const listed = in.require_count("the number of table entries that are not 0", 0, entries);
  for (std::int64_t i = 0; i < listed; ++i) {
    auto const index = in.require_count("a table index", 0, entries - 1);
    block.table[reorder.to_last_fastest(index)] = read_entry(in);
  }
  return block;
}

/// What the file says of each factor beside its table.
struct Said {
  std::vector<Index> states;  ///< [E], of the edges' variables
  std::vector<int> lines;     ///< [F], where the factors begin
};

/// \throws InputError where factors differ in the number of states of a variable
std::vector<Index> cardinality_of(HostFactorGraph const& graph, Said const& said, TokenReader const& in) {
  std::vector<Index> cardinality(static_cast<std::size_t>(graph.num_variables), 0);  // 0 = not known yet
  for (Index a = 0; a < graph.num_factors(); ++a)
    for (auto e = graph.factor_offsets[a]; e < graph.factor_offsets[a + 1]; ++e) {
      Index const v = graph.factor_variables[e], states = said.states[e];
      if (cardinality[v] != 0 && cardinality[v] != states)
        in.fail_at(said.lines[a],
                   fmt::format("variable {} has {} states here, but {} in an earlier factor",
                               graph.variable_names.empty() ? std::to_string(v) : graph.variable_names[v], states,
                               cardinality[v]));
      cardinality[v] = states;
    }
  return cardinality;
}

}  // namespace

HostFactorGraph read_fg(std::string const& file, std::vector<std::string>* warnings) {
  TokenReader in(file);
  HostFactorGraph graph;
  Said said;
  TableRoom room(file, bytes_of_entry);
  auto const num_factors = in.require_count("the number of factors", 0, largest_variable_id());
  for (std::int64_t a = 0; a < num_factors; ++a) {
    auto block = read_block(in, room);
    // A table's variables keep their order; those of a Horn factor, which may not, have two states each.
    said.states.insert(said.states.end(), block.states.begin(), block.states.end());
    said.lines.push_back(in.line());
    auto const entries = std::ssize(block.table);
    append(graph, std::move(block), [&](std::string const& message) { in.fail(message); });
    if (!is_table(graph.factor_type.back())) room.give_back(entries);
  }
  if (auto extra = in.next()) in.fail(fmt::format("'{}' follows the last of {} factors", *extra, num_factors));
  number_variables(graph);
  auto cardinality = cardinality_of(graph, said, in);
  finish(graph, std::move(cardinality), file);
  in.tell(warnings);
  return graph;
}

void write_fg(HostFactorGraph const& graph, std::string const& file) {
  auto const labels = labels_of(graph);
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}\n", graph.num_factors());
  for (Index a = 0; a < graph.num_factors(); ++a) {
    auto const variables = graph.variables_of(a);
    auto const table = dense_table(graph, a, file);
    std::vector<Index> states, of_variables;
    for (Index v : variables) {
      states.push_back(graph.states(v));
      of_variables.push_back(labels[v]);
    }
    Reorder const reorder(states);
    fmt::format_to(out, "\n{}\n{}\n{}\n{}\n", variables.size(), fmt::join(of_variables, " "), fmt::join(states, " "),
                   table.size() - std::count(table.begin(), table.end(), 0.0));
    for (std::size_t i = 0; i < table.size(); ++i)  // the format's own order: first variable fastest
      if (double const value = table[reorder.to_last_fastest(i)]; value != 0) fmt::format_to(out, "{} {}\n", i, value);
  }
  write_atomically(file, {text.data(), text.size()});
}

}  // namespace hornbill::io
