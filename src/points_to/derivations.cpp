#include <hornbill/points_to/derivations.hpp>

#include <algorithm>
#include <deque>
#include <limits>
#include <map>
#include <span>
#include <unordered_map>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/points_to/detail/fields.hpp>

#include "host_solver.hpp"

namespace hornbill::points_to {
namespace {

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

}  // namespace

class Derivations::Implementation {
 public:
  Implementation(ConstraintSystem const& system, SolveOptions const& options)
      : system_(system),
        plan_(make_plan(system)),
        fields_{plan_.first_field.data(), plan_.object_sizes.data(),
                plan_.bytes_to_end.empty() ? nullptr : plan_.bytes_to_end.data(),
                plan_.object_periods.empty() ? nullptr : plan_.object_periods.data(), plan_.is_function.data()},
        solver_(plan_, options),
        into_(system, [](Constraint const& c) { return c.kind == ConstraintKind::store ? -1 : c.destination; }) {
    solver_.record(rounds_);
    solution_ = solver_.solve();
    for (Offset c = 0; c < system.num_constraints(); ++c)
      if (system.constraints[c].kind == ConstraintKind::store) stores_.push_back(c);
  }

  Solution const& solution() const { return solution_; }
  bool holds(Fact const& fact) const { return !rounds_.empty() && has(static_cast<int>(rounds_.size()) - 1, fact); }

  std::vector<Derivation> of(Fact const& fact, std::size_t max) {
    std::vector<Derivation> found;
    int const round = round_of(fact);
    auto const distance = distance_of(fact, round);
    for_each(fact, round, [&](Derivation const& derivation, bool is_of_round) {
      // Of one round are those whose last premise is one edge nearer.
      if (is_of_round &&
          (distance == 1 || distance_of(derivation.premises.at(static_cast<std::size_t>(derivation.num_premises) - 1),
                                        round) >= distance))
        return found.size() < max;
      if (is_of_round || distance == 1) found.push_back(derivation);
      return found.size() < max;
    });
    return found;
  }

 private:
  bool has(int round, Fact const& fact) const {
    return round >= 0 && solver_.pool().contains(rounds_[round][fact.variable], fact.object);
  }
  /// The one that added a fact.
  int round_of(Fact const& fact) const {
    int low = 0, high = static_cast<int>(rounds_.size()) - 1;
    while (low < high) {
      int const middle = (low + high) / 2;
      if (has(middle, fact))
        high = middle;
      else
        low = middle + 1;
    }
    return low;
  }

  /// Edges from what was there before a round, or from what needs no premise: 1 if a derivation has no premise of the
  /// round.
  int distance_of(Fact const& fact, int round) {
    auto& known = distances_[fact];
    if (known > 0) return known;
    int distance = 1;
    std::vector<Fact> level{fact}, next;
    std::map<Fact, bool> seen{{fact, true}};
    for (;; ++distance, level.swap(next)) {
      next.clear();
      for (auto const& one : level) {
        bool is_from_before = false;
        for_each(one, round, [&](Derivation const& derivation, bool is_of_round) {
          if (!is_of_round) return !(is_from_before = true);
          auto const& premise = derivation.premises.at(static_cast<std::size_t>(derivation.num_premises) - 1);
          if (seen.try_emplace(premise, true).second) next.push_back(premise);
          return true;
        });
        if (is_from_before) return distances_[fact] = distance;
      }
      if (next.empty())
        throw Error(fmt::format("variable {} points to object {} for no reason", fact.variable, fact.object));
    }
  }

  /// Calls function(derivation, whether its last premise is of the round) for derivations whose other premise is of an
  /// earlier round, until it returns false.
  template <class Function>
  void for_each(Fact const& fact, int round, Function const& function) {
    for (Offset const c : into_.of(fact.variable))
      if (!for_each_of(c, fact, round, function)) return;
    if (fact.variable >= system_.num_objects()) return;
    for (Offset const c : stores_) {
      auto const& [kind, source, pointer, offset] = system_.constraints[c];
      Fact const target{pointer, fact.variable}, stored{source, fact.object};
      if (!has(round - 1, target) || !has(round, stored)) continue;
      if (!function(Derivation{c, {target, stored}, 2}, !has(round - 1, stored))) return;
    }
  }
  /// \return false where the function did
  template <class Function>
  bool for_each_of(Offset number, Fact const& fact, int round, Function const& function) {
    auto const& c = system_.constraints[number];
    Fact const same{c.source, fact.object};
    switch (c.kind) {
      case ConstraintKind::address_of: return c.source != fact.object || function(Derivation{number, {}, 0}, false);
      case ConstraintKind::copy:
        return !has(round, same) || function(Derivation{number, {same}, 1}, !has(round - 1, same));
      case ConstraintKind::load: return for_each_load(number, fact, round, function);
      case ConstraintKind::offset:
        if (c.offset == 0 && plan_.object_sizes[fact.object] > 0)
          return !has(round, same) || function(Derivation{number, {same}, 1}, !has(round - 1, same));
        break;
      case ConstraintKind::any_offset:
      case ConstraintKind::function_offset: break;
      case ConstraintKind::store: return true;
    }
    return for_each_offset(number, fact, round, function);
  }
  template <class Function>
  bool for_each_load(Offset number, Fact const& fact, int round, Function const& function) {
    if (round == 0) return true;
    Index const pointer = system_.constraints[number].source;
    bool goes_on = true;
    solver_.pool().for_each_while(rounds_[round - 1][pointer], [&](Index target) {
      if (target == system_.outside) {  // from which it is loaded itself
        if (fact.object == target) goes_on = function(Derivation{number, {Fact{pointer, target}}, 1}, false);
        return goes_on;
      }
      Fact const content{target, fact.object};
      if (has(round, content))
        goes_on = function(Derivation{number, {Fact{pointer, target}, content}, 2}, !has(round - 1, content));
      return goes_on;
    });
    return goes_on;
  }
  template <class Function>
  bool for_each_offset(Offset number, Fact const& fact, int round, Function const& function) {
    auto const& c = system_.constraints[number];
    Index const first = plan_.first_field[fact.object];
    for (Index from = first; from < first + std::max<Index>(plan_.object_sizes[first], 1); ++from) {
      Fact const premise{c.source, from};
      if (leads(c, from, fact.object) && has(round - 1, premise) && !function(Derivation{number, {premise}, 1}, false))
        return false;
    }
    return true;
  }
  /// Whether an offset, or steps, lead from one field of an object to another one.
  bool leads(Constraint const& c, Index from, Index to) const {
    if (plan_.object_sizes[from] == 0) return false;
    if (c.kind == ConstraintKind::any_offset) return fields_.is_met(to, from, fields_.step_of(from, c.offset));
    if (c.kind == ConstraintKind::function_offset && plan_.is_function[from] == 0) return false;
    auto const [one, other] = fields_.at_offset(from, c.offset);
    return one == to || other == to;
  }

  ConstraintSystem const& system_;
  HostPlan plan_;
  detail::ObjectFields fields_;
  HostSolver solver_;
  SetsOfRounds rounds_;
  Solution solution_;
  ConstraintRows into_;  // constraints by the variable whose set they add to, without stores
  std::vector<Offset> stores_;
  std::map<Fact, int> distances_;
};

Derivations::Derivations(ConstraintSystem const& system, SolveOptions const& options)
    : implementation_(std::make_unique<Implementation>(system, options)) {}
Derivations::~Derivations() = default;

Solution const& Derivations::solution() const { return implementation_->solution(); }
bool Derivations::holds(Fact const& fact) const { return implementation_->holds(fact); }

std::vector<Derivation> Derivations::of(Fact const& fact, std::size_t max) {
  if (!holds(fact))
    throw InputError(fmt::format("variable {} does not point to object {}", fact.variable, fact.object));
  return implementation_->of(fact, max);
}

}  // namespace hornbill::points_to
