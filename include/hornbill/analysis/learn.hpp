/// \file
/// Probabilities of rules from labelled alarms, by expectation maximisation.
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include <hornbill/bp/inference.hpp>
#include <hornbill/graph/model.hpp>

namespace hornbill::analysis {

/// Gives a model's rules these probabilities, and each clause their product, but no less than 2^-39 where none of them
/// is 0.
/// \shape [R]
/// \throws ShapeError
void set_rule_probabilities(Model& model, std::vector<double> const& probabilities);

/// A model and what was said of its alarms. Several runs may be of one model, and rules are the same where their names
/// are.
struct LabelledRun {
  std::string name;        ///< how messages call it, e.g. by its files
  Model* model = nullptr;  ///< its p1 become those of the rules that are learned
  HostEvidence labels;
  std::unique_ptr<bp::Inference> inference;  ///< over the model, without evidence yet
};

struct LearnStep {
  double log_likelihood = 0;  ///< of all labels with the probabilities before the step, in Bethe's approximation
  double change = 0;          ///< the largest of any rule's probability
  int unconverged = 0;        ///< runs whose inference met a limit
};

struct LearnOptions {
  int max_steps = 1000;
  /// stop when a step changes no probability by more: where labels say little, steps are short
  double tolerance = 1e-6;
  /// Each rule counts as tried so many times before, with the success that its probability at the start says. 0: the
  /// likelihood alone.
  double prior = 1;
  std::set<std::string> fixed = {};  ///< rules to leave as they are
  bp::Options inference = {};
  std::function<void(LearnStep const&)> progress = nullptr;
};

struct LearnedRule {
  double before = 0, probability = 0;
  double tried = 0;  ///< expected instances whose premises hold, in all runs
};

struct Learned {
  std::map<std::string, LearnedRule> rules;
  std::vector<LearnStep> steps;  ///< that were kept
  double log_likelihood = 0;     ///< with these probabilities
  int unconverged = 0;           ///< runs whose inference met a limit, the most of any step
  bool converged = false;
};

/// Labels that contradict each other, or what is certain of the model.
class ContradictingLabels : public InputError {
 public:
  ContradictingLabels(std::string const& run, std::string const& variable);
};

/// Finds probabilities of rules under which the labels are likely. Each step infers, from the probabilities so far, how
/// often each rule was tried and how often it held, and takes the quotient:
///
///     p = (held + prior * p_start) / (tried + prior)
///
/// and, after every two steps, a third from where they lead to. A clause that several rules were folded into is as many
/// trials, each of which counts as held as often as the others allow: held_r = fired + (tried - fired) (p_r - p) / (1 -
/// p), with p the product of all. Rules of probability 0 or 1 stay as they are, and others within [1e-6, 1 - 1e-6].
/// \throws InputError if a model knows nothing of rules or is no Bayesian network (see network_order()), a rule starts
/// with several probabilities, or a fixed rule is unknown
/// \throws ContradictingLabels
/// \source Dempster, Laird, Rubin: Maximum likelihood from incomplete data via the EM algorithm, 1977; Varadhan and
/// Roland: Simple and globally convergent methods for accelerating the convergence of any EM algorithm, 2008
Learned learn_rules(std::vector<LabelledRun>& runs, LearnOptions const& options);

}  // namespace hornbill::analysis
