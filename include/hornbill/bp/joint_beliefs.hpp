/// \file
/// Joint beliefs of factors' variables, whole, and how far they move: what libDAI looks at.
#pragma once

#include <span>
#include <vector>

#include <hornbill/bp/movement.hpp>
#include <hornbill/graph/host_factor_graph.hpp>

namespace hornbill::bp {

/// Joint beliefs by their definition, `b(x) = f(x) product over v of m(v -> f)(x_v)`, normalised. They have an entry
/// for every combination of states, so this is for factors whose tables one would write down.
/// \source Mooij: libDAI, 2010, which compares them after each iteration
class JointBeliefs {
 public:
  /// Keeps a reference to the graph.
  explicit JointBeliefs(HostFactorGraph const& graph);

  /// The belief of every combination of states of a factor's variables; all 0 where the messages contradict the factor.
  /// \shape [product of cardinalities], last variable fastest
  /// \param messages  variable-to-factor messages, as bp::variable_messages has them
  /// \throws ShapeError if these are not as many as the graph's   \throws CapacityError beyond max_table_entries
  std::vector<double> of(Index factor, std::span<double const> messages) const;

  /// How many factors move by more than the tolerance, and how far the farthest: by the largest change of any entry, as
  /// messages go from `before` to `after`. With as many zeros, which are uniform messages, it starts from uniform
  /// beliefs.
  /// \throws ShapeError, CapacityError as above
  Movement movement(std::span<double const> before, std::span<double const> after, double tolerance) const;

 private:
  void require_shape(std::span<double const> messages) const;
  void multiply(std::vector<double>& log_table, Index factor, std::span<double const> messages) const;
  HostFactorGraph const& graph_;
  std::size_t num_messages_;
  std::vector<Offset> state_rows_;  ///< [E], of entries for states behind the edges' own; empty if all are binary
};

}  // namespace hornbill::bp
