/// \file
/// Scopes of circuits, and structural properties that queries rest on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include <hornbill/circuit/circuit.hpp>

namespace hornbill::circuit {

/// Sets of variables, each kept once.
class ScopeTable {
 public:
  using Bits = std::vector<std::uint64_t>;

  explicit ScopeTable(Index num_variables) : words_((static_cast<std::size_t>(num_variables) + 63) / 64) {}

  Index singleton(Index variable);
  Index united(Index a, Index b);
  bool are_disjoint(Index a, Index b) const;
  /// How many variables it has.
  Index size(Index scope) const { return sizes_[static_cast<std::size_t>(scope)]; }
  std::vector<Index> variables(Index scope) const;
  /// Variables of `a` that are in `b`, or that are not.
  std::vector<Index> common(Index a, Index b) const;
  std::vector<Index> missing(Index a, Index b) const;
  Index num_scopes() const { return static_cast<Index>(sizes_.size()); }

 private:
  Index intern(Bits bits);
  std::uint64_t const* bits(Index scope) const { return all_.data() + static_cast<std::size_t>(scope) * words_; }

  std::size_t words_;
  std::vector<std::uint64_t> all_;  ///< [scopes, words_]
  std::vector<Index> sizes_;
  std::unordered_multimap<std::uint64_t, Index> by_hash_;
  std::unordered_map<std::uint64_t, Index> unions_;  ///< of pairs
};

/// Scopes of vectors.
struct Scopes {
  ScopeTable table;
  std::vector<Index> of_vector;  ///< [num_vectors], in the table
};

/// Scopes of a circuit whose children come before parents.
/// \throws InputError, as validate(): where a sum is not smooth or a product not decomposable
Scopes find_scopes(Circuit const& circuit, std::string const& where);

/// Products with the same scope have factors with the same scopes.   \return the first node that differs from an
/// earlier one, if there is one
std::optional<Index> first_unstructured_product(Circuit const& circuit, Scopes const& scopes);

/// Whether at most one child of each sum is not 0, for any values of the variables.
struct Determinism {
  enum class State : std::uint8_t {
    shown,
    not_shown,    ///< of `sum`, which may be deterministic all the same
    not_examined  ///< that would have taken too much memory or time
  } state = State::shown;
  Index sum = -1;
};
/// Looks, for each two children of a sum, for a variable of which no value is possible under both.
/// \param max_bytes  it may take
Determinism find_determinism(Circuit const& circuit, Parameters const& parameters,
                             std::size_t max_bytes = std::size_t{1} << 30);

/// The values of each variable by what the inputs say: num_categories, 0 of real values; -1 of variables without input.
/// \throws InputError where two inputs of a variable differ
std::vector<Index> variable_categories(Circuit const& circuit, std::string const& where);

/// Blocks that each sum node is in.
struct BlocksOfNodes {
  std::vector<Offset> offsets;  ///< [num_nodes + 1], into blocks
  std::vector<Index> blocks;    ///< in Circuit::blocks
};
BlocksOfNodes blocks_by_node(Circuit const& circuit);

/// Counts of a circuit.
struct Statistics {
  Index inputs = 0, products = 0, sums = 0;  ///< nodes
  Offset product_edges = 0, sum_edges = 0;
  Index depth = 0;          ///< edges on the longest path from the root to an input
  Index distributions = 0;  ///< sum nodes that are not tied to an earlier one
  Offset parameters = 0;    ///< of sums and inputs, tied ones once
  Index unreachable = 0;    ///< nodes that the root does not depend on
};
Statistics statistics_of(Circuit const& circuit);

}  // namespace hornbill::circuit
