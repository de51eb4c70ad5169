#include <hornbill/bp/factor_belief.hpp>

#include <string>

#include <hornbill/detail/log_odds.hpp>
#include <hornbill/error.hpp>

namespace hornbill::bp {
namespace {

/// The probability that log-odds give a value.
double probability_of(bool value, double log_odds) { return detail::probability(value ? log_odds : -log_odds); }

}  // namespace

double factor_belief(HostFactorGraph const& graph, Index factor, std::vector<bool> const& values,
                     std::span<double const> log_odds) {
  if (graph.factor_type[factor] == FactorType::table)
    throw InputError("factor " + std::to_string(factor) + " is a table; beliefs of factors are those of Horn factors");
  auto const messages = log_odds.subspan(graph.factor_offsets[factor], graph.variables_of(factor).size());
  if (values.size() != messages.size())
    throw ShapeError("values of a factor's variables", messages.size(), values.size());
  bool const is_and = graph.factor_type[factor] == FactorType::conjunction;
  // A conjunction is decided by its first false premise, a disjunction by its first true one.
  double undecided = 1, decided = 0, of_body = 1;
  bool fires = is_and;
  for (std::size_t i = 1; i < values.size(); ++i) {
    decided += undecided * probability_of(!is_and, messages[i]);
    undecided *= probability_of(is_and, messages[i]);
    of_body *= probability_of(values[i], messages[i]);
    fires = is_and ? fires && values[i] : fires || values[i];
  }
  double const head = probability_of(true, messages[0]), no_head = probability_of(false, messages[0]),
               p1 = graph.p1[factor], p2 = graph.p2[factor];
  auto const of_head = [&](double p) { return p * head + (1 - p) * no_head; };
  double const total =
      is_and ? undecided * of_head(p1) + decided * of_head(p2) : decided * of_head(p1) + undecided * of_head(p2);
  double const p = fires ? p1 : p2;
  double const value = (values[0] ? p * head : (1 - p) * no_head) * of_body;
  return total > 0 ? value / total : 0;
}

}  // namespace hornbill::bp
