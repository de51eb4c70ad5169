#include <hornbill/bp/factor_belief.hpp>

#include <string>

#include <hornbill/detail/log_odds.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>

namespace hornbill::bp {
namespace {

/// The probability that log-odds give a value.
double probability_of(bool value, double log_odds) {
  return hornbill::detail::probability(value ? log_odds : -log_odds);
}

}  // namespace

double factor_belief(HostFactorGraph const& graph, Index factor, std::vector<bool> const& values,
                     std::span<double const> log_odds) {
  auto const type = graph.factor_type[factor];
  if (is_table(type))
    throw InputError("factor " + std::to_string(factor) + " is a table; beliefs of factors are those of Horn factors");
  auto const messages = log_odds.subspan(graph.factor_offsets[factor], graph.variables_of(factor).size());
  if (values.size() != messages.size())
    throw ShapeError("values of a factor's variables", messages.size(), values.size());
  bool const decides = deciding_value(type);  // the first of the body that has it
  double undecided = 1, decided = 0, of_body = 1;
  bool all = true, some = false;
  for (std::size_t i = 1; i < values.size(); ++i) {
    decided += undecided * probability_of(decides, messages[i]);
    undecided *= probability_of(!decides, messages[i]);
    of_body *= probability_of(values[i], messages[i]);
    all = all && values[i];
    some = some || values[i];
  }
  double const head = probability_of(true, messages[0]), no_head = probability_of(false, messages[0]),
               p1 = graph.p1[factor], p2 = graph.p2[factor];
  auto const of_head = [&](double p) { return p * head + (1 - p) * no_head; };
  double const total =
      decides ? decided * of_head(p1) + undecided * of_head(p2) : undecided * of_head(p1) + decided * of_head(p2);
  double const p = fires(type, all, some) ? p1 : p2;
  double const value = (values[0] ? p * head : (1 - p) * no_head) * of_body;
  return total > 0 ? value / total : 0;
}

}  // namespace hornbill::bp
