#include <hornbill/analysis/learn.hpp>

#include <algorithm>
#include <cmath>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <hornbill/bp/expected_counts.hpp>
#include <hornbill/detail/log_odds.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/bayesian_network.hpp>

namespace hornbill::analysis {
namespace {

constexpr double least = 1e-6;           // of a rule that is learned, and of what it lacks to 1
constexpr double min_product = 0x1p-39;  // so that plans laid out before stay right: Inference::set_probabilities()

/// Of a clause of these rules.
double product_of(std::span<Index const> rules, std::vector<double> const& of_rule) {
  double product = 1;
  for (Index r : rules) {
    if (of_rule[r] == 0) return 0;
    product = std::max(product * of_rule[r], min_product);
  }
  return product;
}

/// What one rule was seen to do.
struct Trials {
  double tried = 0, held = 0;
};

class Learner {
 public:
  Learner(std::vector<LabelledRun>& runs, LearnOptions const& options) : runs_(runs), options_(options) {
    for (auto& run : runs_) {
      if (run.model->rules.empty())
        throw InputError(run.name, "/rules", "says nothing of rules; `hornbill clauses model` makes models that do");
      if (!orders_.contains(run.model)) orders_.emplace(run.model, network_order(run.model->graph, run.name));
      for (auto const& o : run.labels) run.inference->observe(o);
      collect_rules(run);
    }
    for (auto const& name : options_.fixed)
      if (!learned_.rules.contains(name))
        throw InputError(fmt::format("the rule '{}', which is to stay as it is, is in no model", name));
  }

  Learned learn() {
    for (auto& run : runs_) take_probabilities(run);
    while (may_step()) {
      auto const start = log_odds();
      step();
      auto const first = log_odds();
      if (!may_step()) break;
      step();
      if (may_step()) leap(start, first, log_odds());
    }
    LearnStep last;  // what the probabilities came to
    auto const trials = expect(last);
    for (auto& [name, rule] : learned_.rules) rule.tried = trials.at(name).tried;
    learned_.log_likelihood = last.log_likelihood;
    learned_.unconverged = std::max(learned_.unconverged, last.unconverged);
    return std::move(learned_);
  }

 private:
  void collect_rules(LabelledRun const& run) {
    auto const& rules = run.model->rules;
    for (std::size_t r = 0; r < rules.names.size(); ++r) {
      double const p = rules.probabilities[r];
      auto const [known, is_new] = learned_.rules.try_emplace(rules.names[r], LearnedRule{p, p, 0});
      if (!is_new && known->second.before != p)
        throw InputError(
            run.name, "/rules",
            fmt::format("the rule {} starts with the probability {}, and with {} in another run; give one for all",
                        rules.names[r], p, known->second.before));
    }
  }

  bool is_fixed(std::string const& name, LearnedRule const& rule) const {
    return rule.before == 0 || rule.before == 1 || options_.fixed.contains(name);
  }

  bool may_step() const { return steps_ < options_.max_steps && !learned_.converged; }

  /// One step of expectation maximisation.   \return the objective before it
  double step() {
    LearnStep now;
    auto const trials = expect(now);
    double const objective = now.log_likelihood + log_prior();
    now.change = maximise(trials);
    for (auto& run : runs_) take_probabilities(run);
    ++steps_;
    learned_.converged = now.change <= options_.tolerance;
    learned_.steps.push_back(now);
    learned_.unconverged = std::max(learned_.unconverged, now.unconverged);
    reached_ = objective;
    if (options_.progress) options_.progress(now);
    return objective;
  }

  /// A step from where the last two lead to. Steps are short where labels say little, and each much like the one
  /// before; where the leap goes too far, it is taken back.   Source: Varadhan and Roland: Simple and globally
  /// convergent methods for accelerating the convergence of any EM algorithm, 2008: scheme S3, here in log-odds
  void leap(std::vector<double> const& start, std::vector<double> const& first, std::vector<double> const& second) {
    double of_step = 0, of_turn = 0;
    for (std::size_t r = 0; r < start.size(); ++r) {
      double const step = first[r] - start[r], turn = second[r] - first[r] - step;
      of_step += step * step;
      of_turn += turn * turn;
    }
    if (of_turn == 0) return;
    double const length = std::max(1.0, std::sqrt(of_step / of_turn));
    auto ahead = start;
    for (std::size_t r = 0; r < start.size(); ++r)
      ahead[r] += 2 * length * (first[r] - start[r]) + length * length * (second[r] - 2 * first[r] + start[r]);
    double const before = reached_;
    set_log_odds(ahead);
    if (step() >= before) return;
    learned_.converged = false;
    learned_.steps.pop_back();
    set_log_odds(second);
  }

  /// Of the rules that are learned.
  std::vector<double> log_odds() const {
    std::vector<double> result;
    for (auto const& [name, rule] : learned_.rules)
      if (!is_fixed(name, rule)) result.push_back(std::log(rule.probability / (1 - rule.probability)));
    return result;
  }

  void set_log_odds(std::vector<double> const& values) {
    std::size_t next = 0;
    for (auto& [name, rule] : learned_.rules)
      if (!is_fixed(name, rule))
        rule.probability = std::clamp(hornbill::detail::probability(values[next++]), least, 1 - least);
    for (auto& run : runs_) take_probabilities(run);
  }

  /// What the prior adds to the log-likelihood, but for a constant.
  double log_prior() const {
    double sum = 0;
    for (auto const& [name, rule] : learned_.rules)
      if (!is_fixed(name, rule))
        sum += options_.prior *
               (rule.before * std::log(rule.probability) + (1 - rule.before) * std::log(1 - rule.probability));
    return sum;
  }

  /// Of one run, the probability of each of its rules.
  std::vector<double> probabilities_of(LabelledRun const& run) const {
    std::vector<double> result;
    for (auto const& name : run.model->rules.names) result.push_back(learned_.rules.at(name).probability);
    return result;
  }

  void take_probabilities(LabelledRun& run) {
    set_rule_probabilities(*run.model, probabilities_of(run));
    run.inference->set_probabilities(run.model->graph);
  }

  /// Expectation: what every rule did in all runs, given the labels.
  std::map<std::string, Trials> expect(LearnStep& now) {
    std::map<std::string, Trials> trials;
    for (auto& run : runs_) {
      auto const& graph = run.model->graph;
      auto const report = run.inference->run(options_.inference);
      if (report.stop == bp::Stop::contradiction)
        throw ContradictingLabels(run.name, graph.name_of(report.contradiction));
      now.unconverged += report.stop != bp::Stop::converged;
      auto const to_variables = run.inference->factor_messages(), to_factors = run.inference->variable_messages();
      now.log_likelihood += bp::log_evidence(graph, orders_.at(run.model), run.labels, to_variables);
      auto const of_run = count(run, bp::expected_counts(graph, to_variables, to_factors));
      for (std::size_t r = 0; r < of_run.size(); ++r) {
        auto& of_rule = trials[run.model->rules.names[r]];
        of_rule.tried += of_run[r].tried;
        of_rule.held += of_run[r].held;
      }
    }
    return trials;
  }

  std::vector<Trials> count(LabelledRun const& run, bp::ExpectedCounts const& counts) const {
    auto const& rules = run.model->rules;
    auto const of_rule = probabilities_of(run);
    std::vector<Trials> trials(rules.names.size());
    for (Index a = 0; a < run.model->graph.num_factors(); ++a) {
      double const p = run.model->graph.p1[a], missed = counts.tried[a] - counts.fired[a];
      for (Index r : rules.of(a)) {
        trials[r].tried += counts.tried[a];
        trials[r].held += counts.fired[a] + (p < 1 ? missed * std::max(0.0, of_rule[r] - p) / (1 - p) : 0);
      }
    }
    return trials;
  }

  /// Maximisation.   \return the largest change
  double maximise(std::map<std::string, Trials> const& trials) {
    double change = 0;
    for (auto& [name, rule] : learned_.rules) {
      auto const& of_rule = trials.at(name);
      if (is_fixed(name, rule) || of_rule.tried + options_.prior <= 0) continue;
      double const p = std::clamp((of_rule.held + options_.prior * rule.before) / (of_rule.tried + options_.prior),
                                  least, 1 - least);
      change = std::max(change, std::abs(p - std::exchange(rule.probability, p)));
    }
    return change;
  }

  std::vector<LabelledRun>& runs_;
  LearnOptions const& options_;
  std::map<Model const*, std::vector<Index>> orders_;  ///< of the models' factors
  Learned learned_;
  int steps_ = 0;       ///< also those that were taken back
  double reached_ = 0;  ///< objective before the last step
};

}  // namespace

ContradictingLabels::ContradictingLabels(std::string const& run, std::string const& variable)
    : InputError(run, "",
                 fmt::format("the labels contradict each other, or what is certain of the model, at {}", variable)) {}

void set_rule_probabilities(Model& model, std::vector<double> const& probabilities) {
  if (probabilities.size() != model.rules.names.size())
    throw ShapeError("probabilities of rules", model.rules.names.size(), probabilities.size());
  model.rules.probabilities = probabilities;
  if (model.rules.empty()) return;
  for (Index a = 0; a < model.graph.num_factors(); ++a)
    if (auto const rules = model.rules.of(a); !rules.empty()) model.graph.p1[a] = product_of(rules, probabilities);
}

Learned learn_rules(std::vector<LabelledRun>& runs, LearnOptions const& options) {
  return Learner(runs, options).learn();
}

}  // namespace hornbill::analysis
