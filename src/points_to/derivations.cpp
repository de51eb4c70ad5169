#include <hornbill/points_to/derivations.hpp>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "node_levels.hpp"
#include "ranked_facts.hpp"

namespace hornbill::points_to {

class Derivations::Implementation {
 public:
  Implementation(ConstraintSystem const& system, SolveOptions const& options)
      : facts_(system, options), system_(system), levels_(facts_) {}

  Solution const& solution() const { return facts_.solution(); }
  bool holds(Fact const& fact) const {
    bool const is_known = fact.variable >= 0 && fact.variable < system_.num_variables && fact.object >= 0 &&
                          fact.object < system_.num_objects();
    return is_known && facts_.has(facts_.num_rounds() - 1, fact);
  }

  /// Of derivations by premises of the same node those with a smaller level are taken; where one comes from elsewhere,
  /// none of these.
  std::vector<Derivation> of(Fact const& fact, std::size_t max) {
    std::vector<Derivation> found;
    int const round = facts_.round_of(fact);
    auto const& levels = levels_.of(fact, round);
    Index const level = levels.of(fact.variable);
    for_each(fact, round, [&](Derivation const& derivation, Fact const& premise, bool is_near) {
      if (is_near ? level > 1 && levels.of(premise.variable) < level : level == 1) found.push_back(derivation);
      return found.size() < max;
    });
    return found;
  }

 private:
  /// Calls function(derivation, last premise, whether that is near) for derivations whose other premise is of an
  /// earlier round, until it returns false.
  template <class Function>
  void for_each(Fact const& fact, int round, Function const& function) {
    for (Offset const c : facts_.into().of(fact.variable))
      if (!for_each_of(c, fact, round, function)) return;
    if (fact.variable >= system_.num_objects()) return;
    facts_.for_each_store_into(fact.variable, [&](Offset c) {
      auto const& [kind, source, pointer, offset] = system_.constraints[c];
      Fact const target{pointer, fact.variable}, stored{source, fact.object};
      return !facts_.has(round - 1, target) || !facts_.has(round, stored) ||
             function(Derivation{c, {target, stored}, 2}, stored, facts_.is_near(fact, stored, round));
    });
  }
  /// \return false where the function did
  template <class Function>
  bool for_each_of(Offset number, Fact const& fact, int round, Function const& function) {
    auto const& c = system_.constraints[number];
    if (facts_.is_copy(c)) {
      Fact const same{c.source, fact.object};
      return !facts_.has(round, same) ||
             function(Derivation{number, {same}, 1}, same, facts_.is_near(fact, same, round));
    }
    if (c.kind == ConstraintKind::address_of)
      return c.source != fact.object || function(Derivation{number, {}, 0}, fact, false);
    if (c.kind == ConstraintKind::load) return for_each_load(number, fact, round, function);
    return facts_.for_each_origin(c, fact.object, [&](Index from) {
      Fact const premise{c.source, from};
      return !facts_.has(round - 1, premise) || function(Derivation{number, {premise}, 1}, premise, false);
    });
  }
  template <class Function>
  bool for_each_load(Offset number, Fact const& fact, int round, Function const& function) {
    Index const pointer = system_.constraints[number].source;
    bool goes_on = true;
    facts_.pool().for_each_while(facts_.set(round - 1, pointer), [&](Index object) {
      Fact const target{pointer, object}, content{object, fact.object};
      if (object == system_.outside) {  // from which it is loaded itself
        if (fact.object == object) goes_on = function(Derivation{number, {target}, 1}, target, false);
      } else if (facts_.has(round, content)) {
        goes_on = function(Derivation{number, {target, content}, 2}, content, facts_.is_near(fact, content, round));
      }
      return goes_on;
    });
    return goes_on;
  }

  RankedFacts facts_;
  ConstraintSystem const& system_;
  NodeLevels levels_;
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
