#include <hornbill/bp/joint_beliefs.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include <hornbill/detail/log_odds.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>
#include <hornbill/graph/horn_factor.hpp>

namespace hornbill::bp {
namespace {

/// Logarithms of a factor's entries, last variable fastest.
std::vector<double> log_table(HostFactorGraph const& graph, Index factor) {
  auto const arity = graph.variables_of(factor).size();
  auto const own = graph.table_of(factor);
  std::vector<double> table(own.begin(), own.end());
  if (auto const type = graph.factor_type[factor]; !is_table(type)) {
    if (arity > 40 || Offset{1} << arity > max_table_entries)
      throw CapacityError(fmt::format("the joint belief of factor {} has 2^{} entries; there may be {}", factor, arity,
                                      max_table_entries));
    table = table_of_horn_factor(type, graph.p1[factor], graph.p2[factor], static_cast<int>(arity));
  }
  for (double& entry : table) entry = std::log(entry);
  return table;
}

/// Logarithms of what is given, which are replaced by probabilities.
void normalise(std::vector<double>& logs) {
  double const largest = *std::max_element(logs.begin(), logs.end());
  if (largest == -std::numeric_limits<double>::infinity()) return std::fill(logs.begin(), logs.end(), 0.0);
  double sum = 0;
  for (double& x : logs) sum += x = std::exp(x - largest);
  for (double& x : logs) x /= sum;
}

double largest_difference(std::vector<double> const& x, std::vector<double> const& y) {
  double largest = 0;
  for (std::size_t i = 0; i < x.size(); ++i) largest = std::max(largest, std::abs(x[i] - y[i]));
  return largest;
}

}  // namespace

JointBeliefs::JointBeliefs(HostFactorGraph const& graph) : graph_(graph), num_messages_(graph.num_messages()) {
  if (graph.cardinality.empty()) return;
  Offset row = graph.num_edges();
  for (Index v : graph.factor_variables) {
    state_rows_.push_back(row);
    if (graph.states(v) != 2) row += graph.states(v);
  }
}

std::vector<double> JointBeliefs::of(Index factor, std::span<double const> messages) const {
  require_shape(messages);
  auto belief = log_table(graph_, factor);
  multiply(belief, factor, messages);
  normalise(belief);
  return belief;
}

void JointBeliefs::multiply(std::vector<double>& log_table, Index factor, std::span<double const> messages) const {
  Offset edge = graph_.factor_offsets[factor];
  std::size_t repeats = log_table.size();  // entries that share the state of the variable and of those before it
  for (Index v : graph_.variables_of(factor)) {
    std::size_t const states = graph_.states(v);
    repeats /= states;
    for (std::size_t state = 0; state < states; ++state) {
      double const weight = states == 2 ? hornbill::detail::log_probability(state ? messages[edge] : -messages[edge])
                                        : messages[state_rows_[edge] + state];
      for (std::size_t first = state * repeats; first < log_table.size(); first += states * repeats)
        for (std::size_t i = first; i < first + repeats; ++i) log_table[i] += weight;
    }
    ++edge;
  }
}

Movement JointBeliefs::movement(std::span<double const> before, std::span<double const> after, double tolerance) const {
  require_shape(before);
  require_shape(after);
  Movement result;
  std::vector<double> old_belief, belief;  // room for all factors
  for (Index a = 0; a < graph_.num_factors(); ++a) {
    belief = old_belief = log_table(graph_, a);
    multiply(old_belief, a, before);
    multiply(belief, a, after);
    normalise(old_belief);
    normalise(belief);
    double const move = largest_difference(old_belief, belief);
    result.factors += move > tolerance;
    result.largest = std::max(result.largest, move);
  }
  return result;
}

void JointBeliefs::require_shape(std::span<double const> messages) const {
  if (messages.size() != num_messages_) throw ShapeError("messages to factors", num_messages_, messages.size());
}

}  // namespace hornbill::bp
