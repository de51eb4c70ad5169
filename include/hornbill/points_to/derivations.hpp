/// \file
/// Why a variable may point to an object: derivations of single facts, on demand (hornbill/points_to/README.md).
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include <hornbill/points_to/constraints.hpp>
#include <hornbill/points_to/plan.hpp>
#include <hornbill/points_to/solution.hpp>
#include <hornbill/points_to/solve.hpp>

namespace hornbill::points_to {

/// An object is in a variable's set.
struct Fact {
  Index variable = 0, object = 0;

  auto operator<=>(Fact const&) const = default;
};

/// A constraint of the system, and the facts from which another one follows by it: none for address_of; two for loads
/// and stores, that of the pointer first; else one.
struct Derivation {
  Offset constraint = 0;
  std::array<Fact, 2> premises{};
  int num_premises = 0;
};

/// Derivations by the system's own constraints, whatever the plan and the solver made one.
///
/// There are 10^8 derivations and more of all facts of a program, so they are looked for when they are asked for. The
/// solver keeps each round's sets. A fact has a rank: the round that added it, and in this round how many edges it is
/// away from what was there before. Derivations are from facts of smaller rank, so they have no cycle, however many are
/// taken of each fact; and each fact has one.
class Derivations {
 public:
  /// Solves a system, on the host, by one thread.   \throws InputError as validate() does; CapacityError as solve()
  /// does
  explicit Derivations(ConstraintSystem const& system, SolveOptions const& options = {});
  ~Derivations();
  Derivations(Derivations const&) = delete;
  Derivations& operator=(Derivations const&) = delete;

  /// All sets.
  Solution const& solution() const;
  bool holds(Fact const& fact) const;
  /// At most so many derivations of a fact that holds, from facts of smaller rank.
  /// \param max  at least 1   \throws InputError if the fact does not hold
  std::vector<Derivation> of(Fact const& fact, std::size_t max);

 private:
  class Implementation;
  std::unique_ptr<Implementation> implementation_;
};

/// A fact, and why it holds.
struct ExplainedFact {
  Fact fact;
  Derivation derivation;
};

/// One derivation of a fact, down to addresses: the facts that it needs, each behind its premises, the fact itself
/// last. Of derivations that are looked at, a few of each fact, it is one of smallest depth.
/// \throws InputError if the fact does not hold
std::vector<ExplainedFact> explain(Derivations& derivations, Fact const& fact);

}  // namespace hornbill::points_to
