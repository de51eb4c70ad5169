#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include <hornbill/elim/elimination.hpp>
#include <hornbill/error.hpp>

namespace hornbill::elim {
HostPlan make_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes, Order order) {
  HostPlan plan;
  plan.order = std::move(order);
  plan.reductions = tables::HostReductions(cardinality);
  auto const& variables = plan.order.variables;
  if (variables.size() != cardinality.size()) throw ShapeError("variables of the elimination order", cardinality.size(), variables.size());
  std::vector<Index> place(variables.size());
  for (std::size_t i = 0; i < variables.size(); ++i) place[variables[i]] = static_cast<Index>(i);
  auto const before = [&](Index v, Index w) { return place[v] < place[w]; };
  std::vector<std::vector<Index>> buckets(variables.size());  // tables, by place in the order
  std::vector<Index> rest;                                    // those without variables
  auto const put = [&](Index table) {
    auto const& scope = plan.reductions.tables()[table].scope;
    (scope.empty() ? rest : buckets[place[scope.front()]]).push_back(table);
  };
  for (auto const& scope : scopes) {
    std::vector<Index> sorted(scope.begin(), scope.end());
    std::sort(sorted.begin(), sorted.end(), before);
    plan.given.push_back(sorted);
    put(plan.reductions.add_table(std::move(sorted)));
  }
  for (std::size_t i = 0; i < variables.size(); ++i) {
    std::vector<Index> scope{variables[i]};
    for (Index table : buckets[i]) scope.insert(scope.end(), plan.reductions.tables()[table].scope.begin() + 1, plan.reductions.tables()[table].scope.end());
    std::sort(scope.begin(), scope.end(), before);
    scope.erase(std::unique(scope.begin(), scope.end()), scope.end());
    auto inputs = tables::merge_for(plan.reductions, buckets[i], plan.reductions.states_of(scope), place);
    scope.erase(scope.begin());
    put(plan.reductions.add_reduction(std::move(inputs), std::move(scope), {variables[i]}));
  }
  plan.result = plan.reductions.add_reduction(tables::merge_small(plan.reductions, std::move(rest), 1, place), {}, {});
  return plan;
}

}  // namespace hornbill::elim
