#include <reference/circuit.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <utility>

namespace hornbill::reference {
namespace {

using circuit::Circuit, circuit::InputDistributions, circuit::InputKind, circuit::NodeKind, circuit::NodeVector,
    circuit::Parameters, circuit::Samples;

constexpr long double minus_infinity = -std::numeric_limits<long double>::infinity();

long double log_of(long double p) { return p > 0 ? std::log(p) : minus_infinity; }

/// ln of a sum of numbers whose logarithms are given.
long double log_sum_exp(std::vector<long double> const& logs) {
  long double largest = minus_infinity, sum = 0;
  for (auto log : logs) largest = std::max(largest, log);
  if (largest == minus_infinity) return minus_infinity;
  for (auto log : logs) sum += log == minus_infinity ? 0 : std::exp(log - largest);
  return largest + std::log(sum);
}

long double log_binomial_coefficient(int n, int k) {
  return std::lgamma(n + 1.0L) - std::lgamma(k + 1.0L) - std::lgamma(n - k + 1.0L);
}

long double logistic(long double t) { return 1 / (1 + std::exp(-t)); }

/// A node of an input vector.
class InputNode {
 public:
  InputNode(Circuit const& circuit, Parameters const& parameters, NodeVector const& vector, Index i)
      : input_(circuit.inputs[vector.begin]),
        value_(input_.first_value + i),
        first_(input_.parameter + Offset{i} * circuit::num_parameters(input_.kind, input_.num_categories)),
        p_(parameters.input.data() + first_) {}

  InputDistributions const& input() const { return input_; }
  Offset first_parameter() const { return first_; }

  long double log_probability(double x) const {
    int const n = input_.num_categories - 1, k = static_cast<int>(x);
    switch (input_.kind) {
      case InputKind::categorical: return log_of(p_[k]);
      case InputKind::bernoulli: return log_of(k == 1 ? p_[0] : 1.0L - p_[0]);
      case InputKind::binomial:
        return log_binomial_coefficient(n, k) + (k == 0 ? 0 : k * log_of(p_[0])) +
               (k == n ? 0 : (n - k) * log_of(1.0L - p_[0]));
      case InputKind::gaussian: {
        long double const z = (static_cast<long double>(x) - p_[0]) / p_[1];
        return -z * z / 2 - std::log(static_cast<long double>(p_[1])) -
               std::log(2 * std::numbers::pi_v<long double>) / 2;
      }
      case InputKind::discretised_logistic: return log_bin(k, n);
      case InputKind::indicator:
      case InputKind::literal: break;
    }
    return k == value_ ? 0 : minus_infinity;
  }

 private:
  /// A difference of two values of the logistic function, on the side of the mean where they are small.
  long double log_bin(int k, int n) const {
    long double const mean = p_[0], scale = p_[1];
    long double const low = (k - 0.5L - mean) / scale, high = (k + 0.5L - mean) / scale;
    if (k == 0) return log_of(logistic(high));
    if (k == n) return log_of(logistic(-low));
    return log_of(low > 0 ? logistic(-low) - logistic(-high) : logistic(high) - logistic(low));
  }

  InputDistributions const& input_;
  int value_;
  Offset first_;
  double const* p_;
};

/// Likelihoods of a variable's values, or nothing.
double const* soft_of(Samples const& samples, Offset sample, Index variable, Index categories) {
  for (auto const& soft : samples.soft)
    if (soft.variable == variable) return soft.likelihoods.data() + sample * categories;
  return nullptr;
}

long double log_input(InputNode const& node, Samples const& samples, Offset sample) {
  auto const& input = node.input();
  if (auto const* likelihoods = soft_of(samples, sample, input.variable, input.num_categories)) {
    std::vector<long double> terms;
    for (int c = 0; c < input.num_categories; ++c) terms.push_back(log_of(likelihoods[c]) + node.log_probability(c));
    return log_sum_exp(terms);
  }
  double const x = samples.value(sample, input.variable);
  return std::isnan(x) ? 0 : node.log_probability(x);
}

/// Calls function(child, parameter) for the edges of a sum node.
template <class Function>
void for_each_edge(Circuit const& circuit, NodeVector const& vector, Index node, Function const& function) {
  for (auto b = vector.begin; b < vector.end; ++b) {
    auto const& block = circuit.blocks[b];
    if (node < block.sum || node >= block.sum + block.rows) continue;
    for (Index c = 0; c < block.columns; ++c)
      function(block.child + c, block.parameter + Offset{node - block.sum} * block.columns + c);
  }
}

}  // namespace

std::vector<long double> circuit_log_values(Circuit const& circuit, Parameters const& parameters,
                                            Samples const& samples, Offset sample) {
  std::vector<long double> log_values;
  for (auto const& vector : circuit.vectors)
    for (Index i = 0; i < vector.size; ++i) {
      long double log_value = 0;
      std::vector<long double> terms;
      switch (vector.kind) {
        case NodeKind::input: log_value = log_input(InputNode(circuit, parameters, vector, i), samples, sample); break;
        case NodeKind::product:
          for (auto f = vector.begin; f < vector.end; ++f)
            log_value += log_values[circuit.factor_of(circuit.factors[f], i)];
          break;
        case NodeKind::sum:
          for_each_edge(circuit, vector, vector.first + i, [&](Index child, Offset parameter) {
            terms.push_back(log_of(parameters.sum[parameter]) + log_values[child]);
          });
          log_value = log_sum_exp(terms);
          break;
      }
      log_values.push_back(log_value);
    }
  return log_values;
}

void CircuitFlows::add(CircuitFlows const& other) {
  for (auto part : {&CircuitFlows::nodes, &CircuitFlows::sum, &CircuitFlows::input}) {
    (this->*part).resize((other.*part).size());
    for (std::size_t i = 0; i < (other.*part).size(); ++i) (this->*part)[i] += (other.*part)[i];
  }
}

CircuitFlows circuit_flows(Circuit const& circuit, Parameters const& parameters, Samples const& samples, Offset sample,
                           std::vector<long double> const& log_values) {
  CircuitFlows flows{std::vector<long double>(log_values.size()), std::vector<long double>(parameters.sum.size()),
                     std::vector<long double>(parameters.input.size())};
  flows.nodes.back() = 1;
  for (auto vector = circuit.vectors.rbegin(); vector != circuit.vectors.rend(); ++vector)
    for (Index i = vector->size; i-- > 0;) {
      Index const node = vector->first + i;
      long double const flow = flows.nodes[node];
      if (flow == 0) continue;
      switch (vector->kind) {
        case NodeKind::product:
          for (auto f = vector->begin; f < vector->end; ++f)
            flows.nodes[circuit.factor_of(circuit.factors[f], i)] += flow;
          break;
        case NodeKind::sum:
          for_each_edge(circuit, *vector, node, [&](Index child, Offset parameter) {
            long double const of_edge =
                flow * std::exp(log_of(parameters.sum[parameter]) + log_values[child] - log_values[node]);
            flows.nodes[child] += of_edge;
            flows.sum[parameter] += of_edge;
          });
          break;
        case NodeKind::input: {
          InputNode const input(circuit, parameters, *vector, i);
          auto const& [variable, kind, categories, first_value, first, min_scale] = input.input();
          if (kind != InputKind::categorical) break;
          auto const* likelihoods = soft_of(samples, sample, variable, categories);
          for (int c = 0; c < categories; ++c)
            if (likelihoods)
              flows.input[input.first_parameter() + c] +=
                  flow * std::exp(log_of(likelihoods[c]) + input.log_probability(c) - log_values[node]);
            else if (double const x = samples.value(sample, variable); x == c)
              flows.input[input.first_parameter() + c] += flow;
          break;
        }
      }
    }
  return flows;
}

Parameters circuit_em_step(Circuit const& circuit, Parameters const& parameters, CircuitFlows const& flows, double step,
                           double pseudocount) {
  auto result = parameters;
  auto const mix = [&](double& theta, double old, long double flow, long double total, std::size_t count) {
    theta = static_cast<double>((1.0L - step) * old +
                                step * (flow + static_cast<long double>(pseudocount) / count) / (total + pseudocount));
  };
  auto const learn = [&](std::vector<Offset> const& distribution, std::vector<double> Parameters::*theta,
                         std::vector<long double> const& flow) {
    long double total = 0;
    for (Offset p : distribution) total += flow[p];
    if (total + pseudocount > 0)
      for (Offset p : distribution)
        mix((result.*theta)[p], (parameters.*theta)[p], flow[p], total, distribution.size());
  };
  for (auto const& vector : circuit.vectors)
    for (Index i = 0; i < vector.size; ++i) {
      std::vector<Offset> distribution;
      if (vector.kind == NodeKind::sum) {
        for_each_edge(circuit, vector, vector.first + i,
                      [&](Index, Offset parameter) { distribution.push_back(parameter); });
        learn(distribution, &Parameters::sum, flows.sum);
      } else if (vector.kind == NodeKind::input) {
        InputNode const input(circuit, parameters, vector, i);
        if (input.input().kind != InputKind::categorical) continue;
        for (int c = 0; c < input.input().num_categories; ++c) distribution.push_back(input.first_parameter() + c);
        learn(distribution, &Parameters::input, flows.input);
      }
    }
  return result;
}

}  // namespace hornbill::reference
