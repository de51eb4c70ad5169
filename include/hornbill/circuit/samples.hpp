/// \file
/// Samples that a circuit is asked about.
#pragma once

#include <limits>
#include <string>
#include <vector>

#include <hornbill/circuit/circuit.hpp>

namespace hornbill::circuit {

/// Stands in Samples::values for a value that is not known.
inline constexpr double missing = std::numeric_limits<double>::quiet_NaN();

/// For a variable whose value is not known, how likely what was observed is under each of its values. It takes the
/// place of the variable's values in all samples.
struct SoftEvidence {
  Index variable;
  std::vector<double> likelihoods;  ///< [samples, categories], at least 0
};

/// Values of all variables, sample by sample.
struct Samples {
  Index num_variables = 0;
  std::vector<double> values;  ///< [samples, num_variables]: whole numbers of discrete variables; or `missing`
  std::vector<SoftEvidence> soft{};

  Offset size() const { return num_variables == 0 ? 0 : static_cast<Offset>(values.size()) / num_variables; }
  double value(Offset sample, Index variable) const {
    return values[static_cast<std::size_t>(sample * num_variables + variable)];
  }
};

/// Whether a number is a value of a variable.   \param categories  0 of real values, -1 of any whole numbers from 0
bool is_value(double number, Index categories);
/// Such values in words, e.g. "a whole number from 0 to 4".
std::string wanted_value(Index categories);

/// Of each variable of discrete values, one more than the largest, and at least 2.   \shape [num_variables]
std::vector<Index> categories_of(Samples const& samples);

/// Values of some of the variables, in that order, without soft evidence.   \shape [samples, variables.size()]
/// \param variables  of the samples, from 0 on
Samples select_variables(Samples const& samples, std::vector<Index> const& variables);

/// Checks that samples have the circuit's variables, that values of discrete ones are among their categories, and that
/// soft evidence is of discrete variables, each named once.
/// \param where  begins the message, e.g. a file's name
/// \throws InputError naming the sample, counted from 0, and the variable
void validate(Circuit const& circuit, Samples const& samples, std::string const& where);

}  // namespace hornbill::circuit
