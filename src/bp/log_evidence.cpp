#include <array>
#include <cmath>
#include <limits>
#include <vector>

#include <hornbill/bp/expected_counts.hpp>
#include <hornbill/detail/log_odds.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>

namespace hornbill::bp {
namespace {

using hornbill::detail::log_complement;
using hornbill::detail::log_probability;
using hornbill::detail::log_sum;
using LogValues = std::array<double, 2>;  ///< of false and of true

/// The product of what a variable is told, but for any one of it: zeros are counted, not multiplied.
class Told {
 public:
  void multiply(LogValues const& message) {
    for (int x : {0, 1})
      if (std::isinf(message[x]))
        ++zeros_[x];
      else
        logs_[x] += message[x];
  }
  LogValues all() const { return {of(0, zeros_[0]), of(1, zeros_[1])}; }
  LogValues all_but(LogValues const& message) const {
    LogValues rest;
    for (int x : {0, 1}) rest[x] = std::isinf(message[x]) ? of(x, zeros_[x] - 1) : of(x, zeros_[x]) - message[x];
    return rest;
  }

 private:
  double of(int x, int zeros) const { return zeros > 0 ? -std::numeric_limits<double>::infinity() : logs_[x]; }

  std::array<double, 2> logs_{};
  std::array<int, 2> zeros_{};
};

/// Bethe's sums over variables and edges, factor by factor, once what their bodies are told from their heads' factors
/// is known.
class LogEvidence {
 public:
  LogEvidence(HostFactorGraph const& graph, HostEvidence const& evidence, std::span<double const> to_variables)
      : graph_(graph), to_variables_(to_variables), told_(graph.num_variables) {
    for (auto const& o : last_of_each_variable(evidence))
      told_[o.variable].multiply({log_likelihood(o, 0), log_likelihood(o, 1)});
    for (Index a = 0; a < graph.num_factors(); ++a)
      for (std::size_t i = 1; i < graph.variables_of(a).size(); ++i)
        told_[graph.variables_of(a)[i]].multiply(to_body(a, i));
  }

  double sum(std::span<Index const> order) {
    for (Index a : order) told_[graph_.variables_of(a)[0]].multiply(to_head(a));
    double result = -of_edges_;
    for (auto const& told : told_) {
      auto const [of_false, of_true] = told.all();
      result += log_sum(of_false, of_true);
    }
    return result;
  }

 private:
  static double log_likelihood(Observation const& o, int value) {
    return std::log(o.is_hard() ? static_cast<double>(o.value == value) : o.likelihoods[value]);
  }

  /// By the odds, so that what one value lacks to certainty is kept in the other.
  static LogValues normalised(LogValues const& values) {
    if (std::isinf(values[0]) && std::isinf(values[1])) return values;
    return of_log_odds(values[1] - values[0]);
  }
  static LogValues of_log_odds(double log_odds) { return {log_probability(-log_odds), log_probability(log_odds)}; }

  /// The message of a factor to a variable of its body.
  LogValues to_body(Index a, std::size_t i) const { return of_log_odds(to_variables_[graph_.factor_offsets[a] + i]); }

  /// The message of a factor to its head, whose body's variables have been told all.
  LogValues to_head(Index a) {
    auto const variables = graph_.variables_of(a);
    bool const decides = deciding_value(graph_.factor_type[a]);
    double log_undecided = 0;  // that none has the value that decides
    for (std::size_t i = 1; i < variables.size(); ++i) {
      auto const in = to_body(a, i), out = normalised(told_[variables[i]].all_but(in));
      log_undecided += out[!decides];
      // else its variable's sum is 0
      if (double const of_edge = log_sum(in[0] + out[0], in[1] + out[1]); !std::isinf(of_edge)) of_edges_ += of_edge;
    }
    double const log_decided = log_complement(log_undecided);
    double const fires = decides ? log_decided : log_undecided, does_not = decides ? log_undecided : log_decided,
                 p1 = graph_.p1[a], p2 = graph_.p2[a];
    return {log_sum(std::log(1 - p1) + fires, std::log(1 - p2) + does_not),
            log_sum(std::log(p1) + fires, std::log(p2) + does_not)};
  }

  HostFactorGraph const& graph_;
  std::span<double const> to_variables_;
  std::vector<Told> told_;
  double of_edges_ = 0;
};

}  // namespace

double log_evidence(HostFactorGraph const& graph, std::span<Index const> order, HostEvidence const& evidence,
                    std::span<double const> to_variables) {
  auto const edges = static_cast<std::size_t>(graph.num_edges()),
             factors = static_cast<std::size_t>(graph.num_factors());
  if (to_variables.size() < edges) throw ShapeError("messages to variables", edges, to_variables.size());
  if (order.size() != factors) throw ShapeError("factors in order", factors, order.size());
  validate(evidence, graph, "evidence");
  return LogEvidence(graph, evidence, to_variables).sum(order);
}

}  // namespace hornbill::bp
