/// \file
/// Probabilistic circuits: their structure, and their parameters.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <hornbill/circuit/input_kind.hpp>
#include <hornbill/types.hpp>

namespace hornbill::circuit {

/// The numbers are those of files.
enum class NodeKind : std::uint8_t { input, product, sum };

/// "input", "product" or "sum".
char const* name_of(NodeKind kind);

/// Nodes first to first + size - 1: of one kind, with one scope, and without edges among them.
struct NodeVector {
  NodeKind kind;
  Index first, size;
  /// the vector's entries [begin, end) in Circuit::inputs (one entry), factors or blocks, by its kind
  Offset begin, end;

  bool operator==(NodeVector const&) const = default;
};

/// The distributions of an input vector's nodes, all of one kind and over one variable.
struct InputDistributions {
  Index variable;
  InputKind kind;
  /// values of the variable are 0 to num_categories - 1; 0 of a Gaussian. A binomial has num_categories - 1 trials.
  Index num_categories;
  /// of indicators and literals: the value that the first node is 1 for; that of node i is first_value + i
  Index first_value = 0;
  /// where the first node's parameters begin in Parameters::input, one node's behind the other's. Vectors with the same
  /// parameters are tied.
  Offset parameter = 0;
  /// of Gaussians and logistics: the smallest sigma or scale, which learning keeps to
  double min_scale = 0;

  bool operator==(InputDistributions const&) const = default;
};

/// One factor of each node of a product vector. The factors of all nodes lie in one vector.
struct Factor {
  Index child;       ///< of the vector's first node
  Index step = 1;    ///< node i has the factor child + i * step; 0 or 1
  Offset list = -1;  ///< or, where this is not negative, Circuit::factor_children[list + i]

  bool operator==(Factor const&) const = default;
};

/// Edges of a sum vector: each of the nodes sum to sum + rows - 1 has each of child to child + columns - 1 as a child,
/// all of them of one vector. A single edge is a block of one row and one column.
struct EdgeBlock {
  Index sum, child, rows, columns;
  /// of rows x columns parameters in Parameters::sum, row by row. Blocks with the same parameters are tied.
  Offset parameter;

  bool operator==(EdgeBlock const&) const = default;
};

/// A directed acyclic graph of input, product and sum nodes; the last node is the root.
///
/// p_n(x) = f_n(x) of an input, the product of p_c(x) over the children c of a product, and the sum of
/// theta_nc p_c(x) over the children of a sum.                                      \source Liu et al. 2024, equation 1
///
/// Nodes are in vectors, children before parents. Tied parameters are whole distributions: two sum nodes have all of
/// their parameters in common, or none.
struct Circuit {
  Index num_variables = 0;
  std::vector<NodeVector> vectors;
  std::vector<InputDistributions> inputs;
  std::vector<Factor> factors;
  std::vector<Index> factor_children;  ///< of Factor::list
  std::vector<EdgeBlock> blocks;
  Offset num_sum_parameters = 0;
  Offset num_input_parameters = 0;
  std::vector<std::string> variable_names;  ///< [num_variables], or none

  Index num_nodes() const { return vectors.empty() ? 0 : vectors.back().first + vectors.back().size; }
  Index num_vectors() const { return static_cast<Index>(vectors.size()); }
  /// The vector of a node.
  Index vector_of(Index node) const;
  /// The distributions of an input vector.
  InputDistributions const& input_of(NodeVector const& vector) const {
    return inputs[static_cast<std::size_t>(vector.begin)];
  }
  /// The factors of a product vector.
  std::span<Factor const> factors_of(NodeVector const& vector) const {
    return {factors.data() + vector.begin, factors.data() + vector.end};
  }
  /// The blocks of a sum vector.
  std::span<EdgeBlock const> blocks_of(NodeVector const& vector) const {
    return {blocks.data() + vector.begin, blocks.data() + vector.end};
  }
  /// Factor of node `i` of a product vector.
  Index factor_of(Factor const& factor, Index i) const {
    return factor.list < 0 ? factor.child + i * factor.step
                           : factor_children[static_cast<std::size_t>(factor.list) + static_cast<std::size_t>(i)];
  }
  /// "x3", or the variable's name.
  std::string name_of_variable(Index variable) const;

  bool operator==(Circuit const&) const = default;
};

/// The numbers that are learnt.
struct Parameters {
  std::vector<double> sum;    ///< [num_sum_parameters], >= 0; those of one sum node add to 1
  std::vector<double> input;  ///< [num_input_parameters], see input_kind.hpp
};

/// Checks that nodes have children, all of them before them; that children of a sum have the same scope (smoothness)
/// and those of a product disjoint ones (decomposability); and that parameters are tied whole.
/// \param where  begins the message, e.g. a file's name
/// \throws InputError naming the node, its scope and the variables
void validate(Circuit const& circuit, std::string const& where);

/// Parameters of one distribution may add to 1 +- this.
inline constexpr double normalisation_tolerance = 1e-5;

/// Checks the number of parameters, and that each is in range: those of a distribution are not negative and add to 1.
/// \throws InputError naming the node and the parameter
void validate(Circuit const& circuit, Parameters const& parameters, std::string const& where);

/// Of each sum node the first one that has its parameters: itself, where it is not tied to one before it; -1 of
/// other nodes.   \shape [num_nodes]
/// \throws InputError where two nodes have some parameters in common, but not all
std::vector<Index> distribution_owners(Circuit const& circuit, std::string const& where);

}  // namespace hornbill::circuit
