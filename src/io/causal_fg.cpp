#include <iterator>
#include <unordered_set>

#include <fmt/format.h>

#include <hornbill/graph/factor_traits.hpp>
#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/text_formats.hpp>

#include "labels.hpp"
#include "token_reader.hpp"

namespace hornbill::io {
namespace {

double parse_probability(TokenReader& in, std::string_view token) {
  auto const p = in.parse_rounded(token, "a probability");
  if (!std::isgreaterequal(p, 0) || !std::islessequal(p, 1))
    in.fail(fmt::format("{} is not a probability in [0, 1]", token));
  return p;
}

/// `[p][;q]` after the operator, with the format's defaults p = 1, q = 0.
std::pair<double, double> parse_parameters(TokenReader& in, std::string_view text) {
  auto const semicolon = text.find(';');
  auto const p = text.substr(0, semicolon);
  auto const q = semicolon == text.npos ? std::string_view{} : text.substr(semicolon + 1);
  return {p.empty() ? 1.0 : parse_probability(in, p), q.empty() ? 0.0 : parse_probability(in, q)};
}

std::vector<Index> read_body(TokenReader& in, Index head) {
  auto const size = in.require_count("the size of the body", 0, largest_variable_id());
  std::vector<Index> body;
  std::unordered_set<Index> seen;
  for (std::int64_t i = 0; i < size; ++i) {
    auto const v = static_cast<Index>(in.require_count("a body variable", 0, largest_label));
    if (v == head) in.fail(fmt::format("variable {} is head and body of the same factor", v));
    if (seen.insert(v).second) body.push_back(v);  // the format's own reader keeps sets: a repeated premise counts once
  }
  return body;
}

void append(HostFactorGraph& graph, FactorType type, Index head, std::vector<Index> const& body, double p1, double p2) {
  graph.factor_type.push_back(type);
  graph.factor_variables.push_back(head);
  graph.factor_variables.insert(graph.factor_variables.end(), body.begin(), body.end());
  graph.factor_offsets.push_back(graph.num_edges());
  graph.p1.push_back(p1);
  graph.p2.push_back(p2);
}

void read_block(TokenReader& in, HostFactorGraph& graph) {
  auto const head = static_cast<Index>(in.require_count("the head of a factor", 0, largest_label));
  auto const kind = in.require("the kind of a factor (I, * or +)");
  if (kind == "I") {
    double const p = parse_probability(in, in.require("a probability"));
    append(graph, FactorType::conjunction, head, {}, p, p);
    return;
  }
  if (kind[0] != '*' && kind[0] != '+')
    in.fail(fmt::format("'{}' is no kind of factor; I, * (AND) and + (OR) are", kind));
  auto const [p, q] = parse_parameters(in, kind.substr(1));
  auto const body = read_body(in, head);
  if (kind[0] == '*')
    append(graph, FactorType::conjunction, head, body, p, q);
  else  // p and q speak of head = 0
    append(graph, FactorType::disjunction, head, body, 1 - q, 1 - p);
}

}  // namespace

HostFactorGraph read_causal_fg(std::string const& file, std::vector<std::string>* warnings) {
  TokenReader in(file);
  HostFactorGraph graph;
  auto const num_factors = in.require_count("the number of factors", 0, largest_variable_id());
  for (std::int64_t a = 0; a < num_factors; ++a) read_block(in, graph);
  if (auto extra = in.next()) in.fail(fmt::format("'{}' follows the last of {} factors", *extra, num_factors));
  number_variables(graph);
  validate(graph, file);
  in.tell(warnings);
  return graph;
}

namespace {

/// The file has one block for conjunctions, and disjunctions as those of complements.
bool is_conjunction(FactorType type) {
  switch (type) {
    case FactorType::conjunction: return true;
    case FactorType::disjunction: return false;
    case FactorType::table: break;
  }
  fail_on_factor_type(type);
}

}  // namespace

void write_causal_fg(HostFactorGraph const& graph, std::string const& file) {
  for (Index a = 0; a < graph.num_factors(); ++a)
    if (is_table(graph.factor_type[a]))
      throw InputError(file, "",
                       fmt::format("factor {} is a table, which .causal_fg cannot express; write .fg or .h5", a));
  auto const labels = labels_of(graph);
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "{}\n", graph.num_factors());
  for (Index a = 0; a < graph.num_factors(); ++a) {
    auto const variables = graph.variables_of(a);
    bool const conjunction = is_conjunction(graph.factor_type[a]);
    double const p1 = graph.p1[a], p2 = graph.p2[a];
    fmt::format_to(out, "\n{}\n", labels[variables[0]]);
    if (variables.size() == 1) {
      fmt::format_to(out, "I\n{}\n", conjunction ? p1 : p2);
      continue;
    }
    double const p = conjunction ? p1 : 1 - p2, q = conjunction ? p2 : 1 - p1;
    fmt::format_to(out, "{}", conjunction ? '*' : '+');
    if (p != 1) fmt::format_to(out, "{}", p);
    if (q != 0) fmt::format_to(out, ";{}", q);
    fmt::format_to(out, "\n{}\n", variables.size() - 1);
    for (std::size_t i = 1; i < variables.size(); ++i)
      fmt::format_to(out, "{}{}", labels[variables[i]], i + 1 < variables.size() ? ' ' : '\n');
  }
  write_atomically(file, {text.data(), text.size()});
}

}  // namespace hornbill::io
