#include <map>
#include <set>
#include <vector>

#include <doctest/doctest.h>
#include <reference/points_to.hpp>
#include <support/random_constraints.hpp>

#include <hornbill/error.hpp>
#include <hornbill/points_to.hpp>

using namespace hornbill;
using points_to::Constraint, points_to::ConstraintKind, points_to::Derivation, points_to::Fact;

namespace {

/// Whether a fact follows from the premises by the constraint alone: they are made addresses, and the rest is left out.
bool follows(points_to::ConstraintSystem const& system, Fact const& fact, Derivation const& derivation) {
  auto one = system;
  one.place_of_constraint.clear();
  one.constraints.clear();
  for (int i = 0; i < derivation.num_premises; ++i)
    one.constraints.push_back({ConstraintKind::address_of, derivation.premises[static_cast<std::size_t>(i)].object,
                               derivation.premises[static_cast<std::size_t>(i)].variable});
  one.constraints.push_back(system.constraints[derivation.constraint]);
  auto const set = reference::points_to_sets(one).at(static_cast<std::size_t>(fact.variable));
  return std::ranges::find(set, fact.object) != set.end();
}

/// Facts by depth, as far as derivations lead there without a cycle.
class Depths {
 public:
  Depths(points_to::Derivations& derivations, std::size_t max) : derivations_(derivations), max_(max) {}
  /// \return false on a cycle
  bool visit(Fact const& fact) {
    auto const [state, is_new] = states_.try_emplace(fact, State::open);
    if (!is_new) return state->second == State::closed;
    for (auto const& derivation : derivations_.of(fact, max_))
      for (int i = 0; i < derivation.num_premises; ++i)
        if (!visit(derivation.premises[static_cast<std::size_t>(i)])) return false;
    states_[fact] = State::closed;
    return true;
  }

 private:
  enum class State { open, closed };
  points_to::Derivations& derivations_;
  std::size_t max_;
  std::map<Fact, State> states_;
};

}  // namespace

TEST_CASE("points-to derivations: of a load through two pointers") {
  // p = &a; q = &a; x = &b; *p = x; y = *q
  points_to::ConstraintSystem system;
  system.object_sizes = {1, 1};
  system.is_function = {0, 0};
  system.num_variables = 6;
  Index const a = 0, b = 1, p = 2, q = 3, x = 4, y = 5;
  system.constraints = {{ConstraintKind::address_of, a, p},
                        {ConstraintKind::address_of, a, q},
                        {ConstraintKind::address_of, b, x},
                        {ConstraintKind::store, x, p},
                        {ConstraintKind::load, q, y}};
  points_to::Derivations derivations(system);
  CHECK(derivations.holds({y, b}));
  CHECK_FALSE(derivations.holds({y, a}));
  auto const loaded = derivations.of({y, b}, 5);
  REQUIRE(loaded.size() == 1);
  CHECK(loaded[0].constraint == 4);
  CHECK(loaded[0].premises == std::array{Fact{q, a}, Fact{a, b}});
  auto const stored = derivations.of({a, b}, 5);
  REQUIRE(stored.size() == 1);
  CHECK(stored[0].constraint == 3);
  CHECK(stored[0].premises == std::array{Fact{p, a}, Fact{x, b}});
  CHECK(derivations.of({x, b}, 5)[0].num_premises == 0);
  CHECK_THROWS_AS(derivations.of({y, a}, 1), InputError);
  std::vector<Fact> facts;
  for (auto const& step : explain(derivations, {y, b})) facts.push_back(step.fact);
  CHECK(facts == std::vector<Fact>{{x, b}, {p, a}, {a, b}, {q, a}, {y, b}});
  CHECK_THROWS_AS(explain(derivations, {y, a}), InputError);
}

TEST_CASE("points-to derivations: an offset of 0 is not an edge where there is null") {
  // p = &a; q = p; r = q; p = r; r = p + 0, beside a pointer to null
  points_to::ConstraintSystem system;
  system.object_sizes = {0, 1};
  system.is_function = {0, 0};
  system.num_variables = 6;
  Index const null = 0, a = 1, p = 2, q = 3, r = 4;
  system.constraints = {{ConstraintKind::address_of, a, p}, {ConstraintKind::copy, p, q},
                        {ConstraintKind::copy, q, r},       {ConstraintKind::copy, r, p},
                        {ConstraintKind::offset, p, r},     {ConstraintKind::address_of, null, 5}};
  points_to::Derivations derivations(system);
  auto const found = derivations.of({r, a}, 3);
  REQUIRE(!found.empty());
  CHECK(found[0].constraint == 2);
}

TEST_CASE("points-to derivations: each fact has some, they follow, and they have no cycle") {
  for (unsigned seed = 0; seed < 500; ++seed) {
    CAPTURE(seed);
    bool const is_large = seed % 25 == 0;
    auto const system =
        is_large ? test::random_constraints(seed, {.num_objects = 20, .num_pointers = 50, .num_constraints = 150})
                 : test::random_constraints(seed, {.num_objects = 10, .num_pointers = 14, .num_constraints = 40});
    points_to::Derivations derivations(system);
    auto const sets = reference::points_to_sets(system);
    Depths depths(derivations, 3);
    for (Index v = 0; v < system.num_variables; ++v)
      for (Index const o : sets[v]) {
        auto const found = derivations.of({v, o}, 3);
        CHECK(!found.empty());
        CHECK(found.size() <= 3);
        std::set<std::pair<Offset, std::vector<Fact>>> distinct;
        for (auto const& derivation : found) {
          CHECK(follows(system, {v, o}, derivation));
          for (int i = 0; i < derivation.num_premises; ++i)
            CHECK(derivations.holds(derivation.premises[static_cast<std::size_t>(i)]));
          CHECK(distinct
                    .emplace(derivation.constraint, std::vector(derivation.premises.begin(),
                                                                derivation.premises.begin() + derivation.num_premises))
                    .second);
        }
        CHECK(depths.visit({v, o}));
        std::set<Fact> explained;
        for (auto const& [fact, derivation] : explain(derivations, {v, o})) {
          for (int i = 0; i < derivation.num_premises; ++i)
            CHECK(explained.contains(derivation.premises[static_cast<std::size_t>(i)]));
          explained.insert(fact);
        }
        CHECK(explained.contains({v, o}));
      }
  }
}
