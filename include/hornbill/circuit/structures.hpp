/// \file
/// Circuits of known structures.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include <hornbill/circuit/circuit.hpp>
#include <hornbill/circuit/samples.hpp>

namespace hornbill::circuit {

/// Distributions of a variable's inputs.
struct InputChoice {
  InputKind kind = InputKind::categorical;
  Index num_categories = 2;
  double min_scale = 0;  ///< of Gaussians and logistics
};

/// A hidden Markov model of a sequence: variable t is what step t emits.
/// \source Rabiner and Juang 1986
struct HiddenMarkovModel {
  Index num_steps = 1, num_states = 1;
  InputChoice emission{};
  bool is_homogeneous = true;  ///< all steps have the same transitions, and the same emissions
};
/// \throws InputError for numbers below 1
Circuit make_circuit(HiddenMarkovModel const& model);

/// Variables are divided at random, again and again; each set of them has a vector of sums.
/// \source Peharz et al. 2020 (RAT-SPN)
struct RandomTensorNetwork {
  Index num_variables = 1, num_latents = 1;
  Index depth = 1;            ///< how often variables are divided, unless there are too few
  Index num_repetitions = 1;  ///< divisions of all variables, which the root mixes
  Index num_parts = 2;        ///< into which variables are divided at a time
  InputChoice input{};
  std::uint64_t seed = 1;
};
/// \throws InputError for numbers below 1
Circuit make_circuit(RandomTensorNetwork const& network);

/// A tree over variables.
struct VariableTree {
  std::vector<Index> parents;  ///< [num_variables], -1 of the root
};

struct ChowLiuOptions {
  Index num_bins = 32;  ///< values of variables with more categories, and real ones, are put in so many bins
  /// most samples that are looked at, evenly spread over all
  Offset max_samples = 20000;
};
/// The tree of largest mutual information between neighbours, of samples in which both have a value. Its root is in the
/// middle, so that no path is longer than need be.
/// \param num_categories  [num_variables], 0 of real values
/// \source Chow and Liu 1968
/// \cost num_variables^2 / 2 times samples, and times bins^2
/// \throws InputError without samples
VariableTree chow_liu_tree(Samples const& samples, std::vector<Index> const& num_categories,
                           ChowLiuOptions const& options = {});

/// A latent variable for each variable, in a tree: a variable depends on its latent one, and that on its parent's.
/// \source Liu and Van den Broeck 2021 (HCLT)
struct HiddenTree {
  VariableTree tree;
  Index num_latents = 1;
  std::vector<InputChoice> inputs;  ///< [num_variables]
  /// whether leaves have latent variables of their own. They add no distribution that the circuit would not have: a
  /// leaf's inputs, one for each state of its parent's latent variable, are mixtures anyway.
  bool has_latent_leaves = false;
};
/// \throws InputError for numbers below 1, and where parents are not a tree
Circuit make_circuit(HiddenTree const& hidden);

/// A circuit of a tree of discrete variables without latent ones, with its parameters: P(x | parent) is
/// (count + alpha) / (count of the parent + alpha num_categories). It is deterministic.
/// \source Chow and Liu 1968
struct FittedTree {
  Circuit circuit;
  Parameters parameters;
};
/// \throws InputError for variables that are not discrete
FittedTree fit_tree(VariableTree const& tree, Samples const& samples, std::vector<Index> const& num_categories,
                    double alpha);

}  // namespace hornbill::circuit
