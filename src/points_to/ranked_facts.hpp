// Facts, and the rounds of the solver that added them. Internal to src/points_to.
#pragma once

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include <hornbill/points_to/derivations.hpp>
#include <hornbill/points_to/detail/fields.hpp>

#include "host_solver.hpp"

namespace hornbill::points_to {

/// Constraints by a variable.
class ConstraintRows {
 public:
  template <class VariableOf>
  ConstraintRows(ConstraintSystem const& system, VariableOf const& variable_of)
      : begins_(static_cast<std::size_t>(system.num_variables) + 1) {
    for (auto const& c : system.constraints)
      if (Index const v = variable_of(c); v >= 0) ++begins_[v + 1];
    for (std::size_t v = 1; v < begins_.size(); ++v) begins_[v] += begins_[v - 1];
    constraints_.resize(static_cast<std::size_t>(begins_.back()));
    auto next = begins_;
    for (Offset c = 0; c < system.num_constraints(); ++c)
      if (Index const v = variable_of(system.constraints[c]); v >= 0) constraints_[next[v]++] = c;
  }
  std::span<Offset const> of(Index variable) const {
    return std::span(constraints_)
        .subspan(static_cast<std::size_t>(begins_[variable]),
                 static_cast<std::size_t>(begins_[variable + 1] - begins_[variable]));
  }

 private:
  std::vector<Offset> begins_, constraints_;
};

/// A solution whose facts have ranks: the round that added one; the variable's node in that round, in the order in
/// which sets went along; and within a node how many edges it is away from what comes from elsewhere (node_levels.hpp).
class RankedFacts {
 public:
  RankedFacts(ConstraintSystem const& system, SolveOptions const& options);

  ConstraintSystem const& system() const { return system_; }
  Solution const& solution() const { return solution_; }
  SetPool const& pool() const { return solver_.pool(); }
  ConstraintRows const& into() const { return into_; }
  ConstraintRows const& copies_from() const { return copies_from_; }
  std::span<Offset const> stores() const { return stores_; }
  /// Calls function(store) for stores through pointers to an object, until it returns false.
  template <class Function>
  bool for_each_store_into(Index object, Function const& function) const {
    for (std::size_t i = store_begins_[object]; i < store_begins_[object + 1]; ++i)
      for (Offset const c : *stores_into_[i])
        if (!function(c)) return false;
    return true;
  }
  int num_rounds() const { return static_cast<int>(rounds_.size()); }
  /// Whether a constraint is an edge of a round, as a plan takes it.
  bool is_copy(Constraint const& c) const {
    return c.kind == ConstraintKind::copy || (c.kind == ConstraintKind::offset && c.offset == 0 && zero_copies_);
  }

  /// What a variable had at the end of a round; nothing before the first one.
  SetId set(int round, Index variable) const { return round < 0 ? empty_set : rounds_[round].sets[variable]; }
  Index root(int round, Index variable) const { return rounds_[round].roots[variable]; }
  bool has(int round, Fact const& fact) const { return pool().contains(set(round, fact.variable), fact.object); }
  int round_of(Fact const& fact) const;
  /// Whether a premise is of the same round and node as what follows from it, so that their order is not known.
  bool is_near(Fact const& fact, Fact const& premise, int round) const {
    return root(round, premise.variable) == root(round, fact.variable) && !has(round - 1, premise);
  }
  /// Variables that are one node in a round, ascending.
  std::span<Index const> members(int round, Index root);
  /// Whether an offset, or steps, lead from one field of an object to another one.
  bool leads(Constraint const& constraint, Index from, Index to) const;
  /// Calls function(o) for fields o of an object's, from which an offset leads to it, until it returns false.
  template <class Function>
  bool for_each_origin(Constraint const& constraint, Index object, Function const& function) const {
    Index const first = plan_.first_field[object];
    for (Index from = first; from < first + plan_.object_sizes[first]; ++from)
      if (leads(constraint, from, object) && !function(from)) return false;
    return true;
  }

 private:
  struct Members {
    std::vector<Index> begins, variables;  // by root
  };
  ConstraintSystem const& system_;
  HostPlan plan_;
  detail::ObjectFields fields_;
  HostSolver solver_;
  std::vector<RoundOfSets> rounds_;
  Solution solution_;
  bool zero_copies_;            // whether an offset of 0 is a copy, as a plan makes it
  ConstraintRows into_;         // constraints by the variable whose set they add to, without stores
  ConstraintRows copies_from_;  // by source
  std::vector<Offset> stores_;
  std::map<SetId, std::vector<Offset>> stores_by_targets_;  // of their pointers, in the end
  std::vector<std::size_t> store_begins_;                   // [objects+1], into stores_into_
  std::vector<std::vector<Offset> const*> stores_into_;     // of stores_by_targets_
  std::vector<Members> members_;                            // by round, where they were asked for
};

}  // namespace hornbill::points_to
