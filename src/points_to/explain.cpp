#include <algorithm>
#include <limits>
#include <map>
#include <set>
#include <span>

#include <fmt/format.h>

#include <hornbill/error.hpp>
#include <hornbill/points_to/derivations.hpp>

namespace hornbill::points_to {
namespace {

std::span<Fact const> premises_of(Derivation const& derivation) {
  return std::span(derivation.premises).first(static_cast<std::size_t>(derivation.num_premises));
}

/// Calls function(fact) for a fact and those behind it, each once, behind those that next_of(fact) lists. Without
/// recursion, since derivations may be long.
template <class NextOf, class Function>
void for_each_behind(Fact const& fact, NextOf const& next_of, Function const& function) {
  struct Open {
    Fact fact;
    std::vector<Fact> next;
  };
  std::set<Fact> seen{fact};
  std::vector<Open> open{{fact, next_of(fact)}};
  while (!open.empty()) {
    auto& [here, next] = open.back();
    if (next.empty()) {
      function(here);
      open.pop_back();
      continue;
    }
    auto const premise = next.back();
    next.pop_back();
    if (seen.insert(premise).second) open.push_back({premise, next_of(premise)});
  }
}

}  // namespace

std::vector<ExplainedFact> explain(Derivations& derivations, Fact const& fact) {
  constexpr std::size_t most_of_fact = 4, most_facts = 5000;
  struct Known {
    std::vector<Derivation> derivations;
    std::size_t depth = 0;
    Derivation best;
  };
  std::map<Fact, Known> known;
  auto const all_premises = [&](Fact const& one) {
    auto& entry = known[one];
    entry.derivations = derivations.of(one, known.size() < most_facts ? most_of_fact : 1);
    if (entry.derivations.empty())
      throw Error(fmt::format("variable {} points to object {} for no reason", one.variable, one.object));
    std::vector<Fact> premises;
    for (auto const& derivation : entry.derivations)
      premises.insert(premises.end(), premises_of(derivation).begin(), premises_of(derivation).end());
    return premises;
  };
  for_each_behind(fact, all_premises, [&](Fact const& one) {
    auto& entry = known[one];
    entry.depth = std::numeric_limits<std::size_t>::max();
    for (auto const& derivation : entry.derivations) {
      std::size_t depth = 0;
      for (auto const& premise : premises_of(derivation)) depth = std::max(depth, known[premise].depth + 1);
      if (depth >= entry.depth) continue;
      entry.depth = depth;
      entry.best = derivation;
    }
  });
  std::vector<ExplainedFact> steps;
  auto const best_premises = [&](Fact const& one) {
    auto const premises = premises_of(known[one].best);
    return std::vector<Fact>(premises.begin(), premises.end());
  };
  for_each_behind(fact, best_premises, [&](Fact const& one) { steps.push_back({one, known[one].best}); });
  return steps;
}

}  // namespace hornbill::points_to
