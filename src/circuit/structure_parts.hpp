// Parts of several structures. Internal to src/circuit.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include <hornbill/circuit/builder.hpp>
#include <hornbill/circuit/structures.hpp>

namespace hornbill::circuit {

/// \throws InputError naming the number
void require_positive(char const* name, std::int64_t value);

/// \throws InputError for indicators and literals: structures that learn their inputs have none
void refuse_indicators(InputChoice const& choice);

/// Distributions of a variable; of indicators, one for each value.
Index add_inputs(CircuitBuilder& builder, Index variable, InputChoice const& choice, Index size);

/// Variables, each behind all of its children.   \throws InputError where parents are not a tree
std::vector<Index> from_leaves_to_root(VariableTree const& tree);

/// A tree of latent variables over some variables: variable i of the tree is variables[i].
/// \return the vector of the root's sums, of num_roots nodes
Index add_hidden_tree(CircuitBuilder& builder, HiddenTree const& hidden, std::span<Index const> variables,
                      Index num_roots);

}  // namespace hornbill::circuit
