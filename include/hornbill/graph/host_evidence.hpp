/// \file
/// Observations on the host: what files and command lines give, and `Evidence` puts on the device.
#pragma once

#include <string>
#include <vector>

#include <hornbill/graph/host_factor_graph.hpp>
#include <hornbill/types.hpp>

namespace hornbill {

/// One observation: the variable's value, or (binary variables) a likelihood for each value.
struct Observation {
  Index variable = 0;
  Index value = -1;  ///< the observed state, or -1 for soft evidence
  /// P(observation | variable = 0), P(observation | variable = 1); soft evidence only
  double likelihood[2] = {1, 1};

  static Observation hard(Index variable, Index value) { return {variable, value, {1, 1}}; }
  static Observation soft(Index variable, double l0, double l1) { return {variable, -1, {l0, l1}}; }
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

/// Checks variable, value and likelihoods.   \throws InputError, without a place
void validate(Observation const& observation, HostFactorGraph const& graph);

/// The same of a set.
/// \param source  how messages begin, e.g. the file's name and the evidence set
/// \throws InputError naming the entry
void validate(HostEvidence const& evidence, HostFactorGraph const& graph, std::string const& source);

}  // namespace hornbill
