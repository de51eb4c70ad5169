#include <algorithm>
#include <cmath>
#include <iterator>
#include <numeric>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include <hornbill/io/atomic_file.hpp>
#include <hornbill/io/uai.hpp>

#include "table_factor.hpp"

namespace hornbill::io {
namespace {

constexpr int max_variables_of_a_factor = 64;

/// Whether a product is no longer what its factors multiply to.
bool is_lost(double a, double b) {
  double const product = a * b;
  return a > 0 && b > 0 &&
         (product == 0 || std::isinf(product) || (!std::isnormal(product) && std::isnormal(a) && std::isnormal(b)));
}

/// Multiplies a factor without variables into one that has some.
void multiply(std::vector<TableFactor>& factors, double constant, TokenReader const& in) {
  if (constant == 1) return;
  if (factors.empty()) in.fail("no factor has a variable");
  for (double& value : factors.front().table) {
    if (is_lost(value, constant))
      in.fail(
          fmt::format("the factors without variables multiply to {:g}, by which an entry of the first table becomes "
                      "too small or large for a number; leave them out, and multiply the result by them",
                      constant));
    value *= constant;
  }
}

/// Rows of P(last variable | others) that do not add to one, in words: the first of each factor.
void check_rows(std::vector<TableFactor> const& factors, std::string const& file, std::vector<std::string>& warnings) {
  constexpr double tolerated = 1e-5;  // printed digits
  for (auto const& factor : factors) {
    auto const states = static_cast<std::size_t>(factor.states.back());
    for (std::size_t begin = 0; begin < factor.table.size(); begin += states) {
      double const sum = std::accumulate(factor.table.begin() + static_cast<std::ptrdiff_t>(begin),
                                         factor.table.begin() + static_cast<std::ptrdiff_t>(begin + states), 0.0);
      if (std::abs(sum - 1) <= tolerated) continue;
      warnings.push_back(
          fmt::format("{}: in the table over the variables {}, row {} adds to {}, not to 1 as in a BAYES network, and "
                      "was used as it is",
                      file, fmt::join(factor.variables, ", "), begin / states, sum));
      break;
    }
  }
}

struct WholeNumber {
  std::int64_t value;
  int line;
};

std::vector<WholeNumber> read_whole_numbers(TokenReader& in) {
  std::vector<WholeNumber> numbers;
  while (auto const token = in.next()) numbers.push_back({in.parse<std::int64_t>(*token, "a whole number"), in.line()});
  return numbers;
}

/// How many samples an evidence file holds, if that many follow their number, each as long as it says; otherwise 0.
std::int64_t num_samples(std::vector<WholeNumber> const& numbers) {
  std::size_t at = 1;
  for (std::int64_t sample = 0; sample < numbers.front().value; ++sample) {
    if (at >= numbers.size() || numbers[at].value < 0) return 0;
    at += 1 + 2 * static_cast<std::size_t>(std::min<std::int64_t>(numbers[at].value, std::ssize(numbers)));
  }
  return at == numbers.size() ? numbers.front().value : 0;
}

/// Where an evidence file does not hold as many observations as it says.
[[noreturn]] void fail_to_count(TokenReader const& in, std::vector<WholeNumber> const& numbers) {
  if (numbers.empty()) in.fail("the number of observed variables is needed, and a variable and its value for each");
  if (num_samples(numbers) > 1)
    in.fail_at(
        numbers.front().line,
        fmt::format("{} samples are given; one is read: write each into a file of its own (marginals --each takes "
                    "several)",
                    num_samples(numbers)));
  auto const [count, line] = numbers.front();
  if (count < 0) in.fail_at(line, fmt::format("the number of observed variables is {}", count));
  if (numbers.size() - 1 < 2 * static_cast<std::size_t>(count))
    in.fail_at(numbers.back().line, fmt::format("{} variables are said to be observed, and {} numbers follow; {} are "
                                                "needed, a variable and its value for each",
                                                count, numbers.size() - 1, 2 * static_cast<std::size_t>(count)));
  in.fail_at(numbers[2 * static_cast<std::size_t>(count) + 1].line,
             fmt::format("'{}' follows the last of {} observations",
                         numbers[2 * static_cast<std::size_t>(count) + 1].value, count));
}

}  // namespace

HostFactorGraph read_uai(std::string const& file, std::vector<std::string>* warnings) {
  TokenReader in(file);
  Fail const fail = [&](std::string const& message) { in.fail(message); };
  auto const kind = in.require("BAYES or MARKOV");
  if (kind != "BAYES" && kind != "MARKOV")
    in.fail(fmt::format("'{}' is not a kind of network: BAYES and MARKOV are", kind));
  auto const num_variables = in.require_count("the number of variables", 0, largest_variable_id());
  std::vector<Index> cardinality;
  for (std::int64_t v = 0; v < num_variables; ++v)
    cardinality.push_back(static_cast<Index>(in.require_count("a number of states", 1, 1 << 20)));
  auto const num_factors = in.require_count("the number of factors", 0, largest_variable_id());
  std::vector<std::vector<Index>> scopes;
  for (std::int64_t a = 0; a < num_factors; ++a)
    scopes.push_back(read_scope(
        in, in.require_count("the number of variables of a factor", 0, max_variables_of_a_factor), num_variables));
  HostFactorGraph graph;
  std::vector<TableFactor> factors;
  std::vector<int> lines;  // where their tables begin
  double constant = 1;
  TableRoom room(file, bytes_of_entry);
  for (auto const& scope : scopes) {
    TableFactor factor{scope, {}, {}};
    for (Index v : scope) factor.states.push_back(cardinality[v]);
    auto const entries = room.take(factor.states, fail);
    auto const listed = in.require_count("the number of entries of a table", 0, largest_table_read);
    int const line = in.line();
    if (listed != entries)
      in.fail(fmt::format("the table of factor {} is said to have {} entries; its variables need {}",
                          &scope - scopes.data(), listed, entries));
    for (std::int64_t i = 0; i < entries; ++i) factor.table.push_back(read_entry(in));
    if (scope.empty()) {
      if (factor.table[0] == 0) in.fail("a factor without variables is 0, so that nothing is possible");
      if (is_lost(constant, factor.table[0]))
        in.fail(
            "the factors without variables multiply to what is too small or large for a number; leave them out, and "
            "multiply the result by them");
      constant *= factor.table[0];
    } else {
      factors.push_back(std::move(factor));
      lines.push_back(line);
    }
  }
  if (auto const extra = in.next()) in.fail(fmt::format("'{}' follows the last of {} factors", *extra, num_factors));
  if (kind == "BAYES" && warnings) check_rows(factors, file, *warnings);
  multiply(factors, constant, in);
  for (std::size_t a = 0; a < factors.size(); ++a)
    append(graph, std::move(factors[a]), [&](std::string const& message) { in.fail_at(lines[a], message); });
  finish(graph, std::move(cardinality), file);
  in.tell(warnings);
  return graph;
}

void write_uai(HostFactorGraph const& graph, std::string const& file) {
  fmt::memory_buffer text;
  auto out = std::back_inserter(text);
  fmt::format_to(out, "MARKOV\n{}\n", graph.num_variables);
  for (Index v = 0; v < graph.num_variables; ++v) fmt::format_to(out, "{}{}", v > 0 ? " " : "", graph.states(v));
  fmt::format_to(out, "\n{}\n", graph.num_factors());
  for (Index a = 0; a < graph.num_factors(); ++a)
    fmt::format_to(out, "{} {}\n", graph.variables_of(a).size(), fmt::join(graph.variables_of(a), " "));
  for (Index a = 0; a < graph.num_factors(); ++a) {
    auto const table = dense_table(graph, a, file);
    fmt::format_to(out, "\n{}\n{}\n", table.size(), fmt::join(table, " "));
  }
  write_atomically(file, {text.data(), text.size()});
}

HostEvidence read_uai_evidence(std::string const& file, HostFactorGraph const& graph) {
  TokenReader in(file);
  auto const numbers = read_whole_numbers(in);
  auto const is_count = [&](std::size_t at) {
    return at < numbers.size() && numbers[at].value >= 0 &&
           numbers.size() - at - 1 == 2 * static_cast<std::size_t>(numbers[at].value);
  };
  // Of the competitions some put the number of samples first, which was always one.
  std::size_t const first = !is_count(0) && is_count(1) && numbers[0].value == 1 ? 1 : 0;
  if (!is_count(first)) fail_to_count(in, numbers);
  HostEvidence evidence;
  std::unordered_map<Index, std::pair<Index, int>> seen;  // value and line
  for (std::size_t i = first + 1; i < numbers.size(); i += 2) {
    auto const [variable, line] = numbers[i];
    auto const value = numbers[i + 1].value;
    if (variable < 0 || variable >= graph.num_variables)
      in.fail_at(line, fmt::format("variable {} is unknown: variables are 0 to {}", variable, graph.num_variables - 1));
    auto const v = static_cast<Index>(variable);
    if (value < 0 || value >= graph.states(v))
      in.fail_at(numbers[i + 1].line, fmt::format("variable {} cannot have the value {}: its values are 0 to {}", v,
                                                  value, graph.states(v) - 1));
    auto const [before, is_new] = seen.try_emplace(v, static_cast<Index>(value), line);
    if (!is_new && before->second.first != value)
      in.fail_at(line, fmt::format("variable {} is observed otherwise than on line {}; keep one of the two", v,
                                   before->second.second));
    if (is_new) evidence.push_back(Observation::hard(v, static_cast<Index>(value)));
  }
  return evidence;
}

}  // namespace hornbill::io
