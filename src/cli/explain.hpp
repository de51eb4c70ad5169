// hornbill explain: what is found, and how it is shown.
#pragma once

#include <algorithm>
#include <optional>
#include <string>
#include <vector>

#include <hornbill/analysis/explain.hpp>

#include "solver.hpp"

namespace hornbill::cli {

struct ExplainArguments : SolverArguments {
  std::string alarm, dot;
  std::vector<std::string> evidence;
  int most_labels = 10;
  bool json = false;
};

/// What one label does to the alarm.
struct Influence {
  Observation label;
  double without = 0;  ///< P(alarm) where it is withdrawn
};

struct Explanation {
  Index alarm = 0;
  HostEvidence labels;              ///< one of each variable
  std::optional<Observation> own;   ///< what was said of the alarm itself, which is left out
  std::vector<double> p_true;       ///< of all variables, with the labels
  double unlabelled = 0;            ///< P(alarm) without any
  std::vector<double> holds;        ///< of each conjunction, the probability where its body is true
  std::optional<analysis::Derivation> derivation;
  std::optional<std::vector<Influence>> influences;  ///< those that moved the alarm most first; where they were asked for
  int unconverged = 0;              ///< runs that met a limit
  int runs = 0;

  /// What the derivation's probability cannot exceed: that of any of its tuples. Where there are cycles, the product of weights may be more.
  double bound() const {
    double least = p_true[alarm];
    for (auto const& step : derivation->steps) least = std::min(least, p_true[step.tuple]);
    return least;
  }
};

/// Labels that move the alarm by less are not shown: most of what the others do is how far from the fixed point runs stop.   \units log-odds
inline constexpr double least_move = 1e-3;

/// Log-odds by which a label moves the alarm; infinite where either side is certain.
double moved_by(Explanation const& explanation, Influence const& influence);

void print_explanation(Explanation const& explanation, io::Model const& model);
void print_explanation_json(Explanation const& explanation, io::Model const& model);
/// A file for Graphviz.   \throws InputError
void write_graphviz(Explanation const& explanation, io::Model const& model, std::string const& file);

}  // namespace hornbill::cli
