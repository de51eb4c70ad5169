/// \file
/// Circuits, vector by vector.
#pragma once

#include <span>
#include <string>
#include <vector>

#include <hornbill/circuit/circuit.hpp>

namespace hornbill::circuit {

/// Builds a circuit. Functions return the new vector's number; children are vectors that are there already.
///
///     CircuitBuilder builder(2);
///     auto const a = builder.add_inputs(0, InputKind::categorical, 3, 4);   // four distributions of x0, three values
///     auto const b = builder.add_inputs(1, InputKind::bernoulli, 2, 4);
///     auto const root = builder.add_sums(1, {builder.add_products({a, b})});
///     auto const circuit = std::move(builder).build();
class CircuitBuilder {
 public:
  explicit CircuitBuilder(Index num_variables) { circuit_.num_variables = num_variables; }

  /// Distributions of a variable, with parameters of their own.   \param min_scale  of Gaussians and logistics
  Index add_inputs(Index variable, InputKind kind, Index num_categories, Index size, double min_scale = 0);
  /// Distributions with the parameters of another input vector.
  Index add_tied_inputs(Index variable, Index like);
  /// Indicators, or literals, of size values from the first on.
  Index add_indicators(Index variable, InputKind kind, Index num_categories, Index first_value, Index size);

  /// Node i is the product of node i of each vector; of vectors with a single node, that node.
  Index add_products(std::span<Index const> children);
  Index add_products(std::initializer_list<Index> children) { return add_products(std::span(children)); }
  /// Nodes of any factors.   \param factors  nodes, [factors, size]; those of one factor are all of one vector
  Index add_listed_products(Index size, std::vector<std::vector<Index>> const& factors);

  /// Sums over all nodes of some vectors, with parameters of their own.
  Index add_sums(Index size, std::span<Index const> children);
  Index add_sums(Index size, std::initializer_list<Index> children) { return add_sums(size, std::span(children)); }
  /// The same with the parameters of another sum vector, whose children are as many.
  Index add_tied_sums(Index like, std::span<Index const> children);
  Index add_tied_sums(Index like, std::initializer_list<Index> children) {
    return add_tied_sums(like, std::span(children));
  }
  /// Sums with a pattern of edges. Nodes are numbered within their vectors, and parameters, which are new, as they are
  /// here; EdgeBlock::child is of the vector `child`.
  struct Pattern {
    Index child;                    ///< a vector
    std::vector<EdgeBlock> blocks;  ///< `parameter` is ignored
  };
  Index add_sparse_sums(Index size, std::vector<Pattern> const& patterns);

  Index size_of(Index vector) const { return circuit_.vectors.at(static_cast<std::size_t>(vector)).size; }
  Index first_of(Index vector) const { return circuit_.vectors.at(static_cast<std::size_t>(vector)).first; }
  Circuit const& circuit() const { return circuit_; }

  /// \throws InputError as validate() does, and ShapeError
  Circuit build() &&;

 private:
  Index add_vector(NodeKind kind, Index size, Offset begin, Offset end);

  Circuit circuit_;
};

}  // namespace hornbill::circuit
