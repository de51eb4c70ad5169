#include <hornbill/elim/mini_buckets.hpp>

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

#include "variable_order.hpp"

namespace hornbill::elim {
namespace {

/// Tables of a bucket that are eliminated together.
struct Part {
  std::vector<Index> tables;
  std::vector<Index> scope;
};

class Planner {
 public:
  Planner(std::vector<Index> const& cardinality, Order order, MiniBucketOptions const& options) : options_(options) {
    plan_.order = std::move(order);
    plan_.reductions = tables::HostReductions(cardinality);
    in_order_ = VariableOrder(plan_.order.variables, cardinality.size());
    buckets_.resize(cardinality.size());
  }

  HostPlan make(std::vector<std::span<Index const>> const& scopes) {
    for (auto const& scope : scopes) put(plan_.reductions.add_table(in_order_.sorted(scope)));
    for (std::size_t i = 0; i < buckets_.size(); ++i) eliminate(plan_.order.variables[i], buckets_[i]);
    plan_.result = plan_.reductions.add_reduction(tables::merge_small(plan_.reductions, std::move(rest_), 1, in_order_.places()), {}, {});
    return std::move(plan_);
  }

 private:
  std::vector<Index> const& scope_of(Index table) const { return plan_.reductions.tables()[table].scope; }

  void put(Index table) { (scope_of(table).empty() ? rest_ : buckets_[in_order_.place_of(scope_of(table).front())]).push_back(table); }

  void eliminate(Index v, std::vector<Index> const& tables) {
    plan_.decode.push_back({tables, {v}});
    auto parts = divide(v, tables);
    for (auto& part : parts) part.tables = tables::merge_for(plan_.reductions, std::move(part.tables), plan_.reductions.states_of(part.scope), in_order_.places());
    if (parts.size() > 1) {
      plan_.is_exact = false;
      if (options_.match_moments) match(v, parts);
    }
    for (auto& part : parts) {
      part.scope.erase(part.scope.begin());
      put(plan_.reductions.add_reduction(std::move(part.tables), std::move(part.scope), {v}));
    }
  }

  /// The widest tables first, each into the first part where it fits.
  std::vector<Part> divide(Index v, std::vector<Index> tables) const {
    std::stable_sort(tables.begin(), tables.end(), [&](Index s, Index t) { return scope_of(s).size() > scope_of(t).size(); });
    std::vector<Part> parts;
    for (Index t : tables) {
      bool found = false;
      for (auto& part : parts) {
        auto joined = in_order_.united(part.scope, scope_of(t));
        if (std::ssize(joined) > options_.most_variables && joined.size() > part.scope.size()) continue;
        part.tables.push_back(t);
        part.scope = std::move(joined);
        found = true;
        break;
      }
      if (!found) parts.push_back({{t}, scope_of(t)});
    }
    if (parts.empty()) parts.push_back({{}, {v}});
    return parts;
  }

  /// Adds to each part a table over its variable that makes the parts' least costs equal, state by state.
  void match(Index v, std::vector<Part>& parts) {
    std::vector<Index> least;
    for (auto const& part : parts) least.push_back(plan_.reductions.add_reduction(part.tables, {v}, {part.scope.begin() + 1, part.scope.end()}));
    auto const shifts = plan_.reductions.add_shifts(least);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].tables.push_back(shifts[i]);
  }

  HostPlan plan_;
  MiniBucketOptions options_;
  VariableOrder in_order_;
  std::vector<std::vector<Index>> buckets_;  // tables, by place in the order
  std::vector<Index> rest_;                  // those without variables
};

}  // namespace

HostPlan make_mini_bucket_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes, Order order, MiniBucketOptions const& options) {
  if (options.most_variables < 1) throw InputError(fmt::format("parts of a bucket have one variable or more, not {}", options.most_variables));
  return Planner(cardinality, std::move(order), options).make(scopes);
}

}  // namespace hornbill::elim
