// hornbill explain: what is found, and how it is shown.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <hornbill/analysis/explain.hpp>
#include <hornbill/detail/log_odds.hpp>

#include "solver.hpp"

namespace hornbill::cli {

struct ExplainArguments : SolverArguments {
  std::string alarm, dot;
  std::vector<std::string> evidence;
  int max_labels = 10;
  bool json = false;
};

/// What one label does to the alarm.
struct Influence {
  Observation label;
  double without = 0;  ///< the alarm's log-odds where it is withdrawn
};

struct Explanation {
  Index alarm = 0;
  HostEvidence labels;             ///< one of each variable
  std::optional<Observation> own;  ///< what was said of the alarm itself, which is left out
  std::vector<double> log_odds;    ///< of all variables, with the labels
  double unlabelled = 0;           ///< the alarm's log-odds without any
  std::vector<double> holds;       ///< of each conjunction, the probability where its body is true
  std::optional<analysis::Derivation> derivation;
  /// those that moved the alarm most first; where they were asked for
  std::optional<std::vector<Influence>> influences;
  int unconverged = 0;  ///< runs that met a limit
  int runs = 0;

  double p_true(Index variable) const { return detail::probability(log_odds[variable]); }
  /// The logarithm of what the derivation's probability cannot exceed: that of any of its tuples. Where there are
  /// cycles, weights may say more.
  double log_bound() const {
    double least = log_odds[alarm];
    for (auto const& step : derivation->steps) least = std::min(least, log_odds[step.tuple]);
    return detail::log_probability(least);
  }
};

/// Labels that move the alarm by less are not shown: most of what the others do is how far from the fixed point runs
/// stop.
/// \units log-odds
inline constexpr double min_move = 1e-3;

/// Log-odds by which a label moves the alarm; infinite where either side is certain.
double moved_by(Explanation const& explanation, Influence const& influence);

void print_explanation(Explanation const& explanation, Model const& model);
void print_explanation_json(Explanation const& explanation, Model const& model);
/// A file for Graphviz.   \throws InputError
void write_graphviz(Explanation const& explanation, Model const& model, std::string const& file);

}  // namespace hornbill::cli
