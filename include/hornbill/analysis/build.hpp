/// \file
/// From clauses without cycles to a model: the last step.
#pragma once

#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <hornbill/analysis/clauses.hpp>
#include <hornbill/graph/model.hpp>

namespace hornbill::analysis {

struct BuildOptions {
  /// The rule whose instances inputs are, if they are uncertain facts; without, they are certain and leave no trace.
  std::optional<std::string> rule_of_inputs = std::nullopt;
  std::optional<double> default_probability = std::nullopt;  ///< of rules for which none is given
};

/// Builds the factor graph of a Bayesian network: for each clause a variable that is true, with the product of its
/// rules' probabilities, where all of its premises are; for each tuple a variable that is true where one of its clauses
/// is. Bodies and disjunctions of any width.
///
/// Variables and factors are in topological order, a tuple behind the clauses that derive it. The model holds their
/// names (of clauses their lines, without inputs that are certain), the alarms as the query `alarms`, and the rules of
/// each clause.
/// \param probabilities  of rules; those that no clause is of are ignored
/// \param source, source_of_probabilities  how messages begin, e.g. the names of the files
/// \throws InputError naming the tuples of a cycle, or a rule without a probability
/// \source hornbill/analysis/README.md, step 6
Model build_model(ClauseSet const& clauses, std::map<std::string, double> const& probabilities,
                  std::span<Index const> alarms, BuildOptions const& options, std::string const& source,
                  std::string const& source_of_probabilities);

/// Writes `number: name` lines for the variables of a model from build_model(), as BINGO's drivers read them
/// (bnet-dict.out): clauses without their rules.
/// \throws InputError
void write_dictionary(Model const& model, std::string const& file);

}  // namespace hornbill::analysis
