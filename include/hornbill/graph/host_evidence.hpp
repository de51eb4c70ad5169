/// \file
/// Observations on the host: what files and command lines give, and `Evidence` puts on the device.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/types.hpp>

namespace hornbill {

/// One observation: the variable's value, or a likelihood for each of its values.
struct Observation {
  Index variable = 0;
  Index value = -1;  ///< the observed state, or -1 for soft evidence
  /// \shape [states of the variable], P(observation | variable = state); empty for hard evidence
  std::vector<double> likelihoods;

  static Observation hard(Index variable, Index value) { return {variable, value, {}}; }
  static Observation soft(Index variable, std::vector<double> likelihoods) {
    return {variable, -1, std::move(likelihoods)};
  }
  static Observation soft(Index variable, double l0, double l1) { return soft(variable, std::vector{l0, l1}); }
  bool is_hard() const { return value >= 0; }
  bool operator==(Observation const&) const = default;
};

/// A set of observations. Of several on one variable the last counts.
using HostEvidence = std::vector<Observation>;

/// The observations that count: one of each variable, in the order in which variables first come.
HostEvidence last_of_each_variable(HostEvidence const& evidence);

/// Whether all that one set rules out (a state not observed, one of likelihood 0), another rules out too: then what
/// follows from the one with certainty follows from the other.
bool rules_out_as_much(HostEvidence const& evidence, HostEvidence const& as);

/// Throws unless each likelihood is a finite number of at least 0, and one is above 0.   \throws InputError, without a
/// place
void validate_likelihoods(Observation const& observation);

/// Checks variable, value and likelihoods.   \throws InputError, without a place
void validate(Observation const& observation, HostFactorGraph const& graph);

/// The same of a set.
/// \param source  how messages begin, e.g. the file's name and the evidence set
/// \throws InputError naming the entry
void validate(HostEvidence const& evidence, HostFactorGraph const& graph, std::string const& source);

}  // namespace hornbill
