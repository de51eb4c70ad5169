#include <hornbill/elim/mini_buckets.hpp>

#include <algorithm>
#include <iterator>
#include <numeric>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

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
    auto const& variables = plan_.order.variables;
    if (variables.size() != cardinality.size()) throw ShapeError("variables of the elimination order", cardinality.size(), variables.size());
    place_.resize(variables.size());
    for (std::size_t i = 0; i < variables.size(); ++i) place_[variables[i]] = static_cast<Index>(i);
    buckets_.resize(variables.size());
  }

  HostPlan make(std::vector<std::span<Index const>> const& scopes) {
    for (auto const& scope : scopes) {
      std::vector<Index> sorted(scope.begin(), scope.end());
      std::sort(sorted.begin(), sorted.end(), before());
      plan_.given.push_back(sorted);
      put(plan_.reductions.add_table(std::move(sorted)));
    }
    for (std::size_t i = 0; i < buckets_.size(); ++i) eliminate(plan_.order.variables[i], buckets_[i]);
    plan_.result = plan_.reductions.add_reduction(tables::merge_small(plan_.reductions, std::move(rest_), 1, place_), {}, {});
    return std::move(plan_);
  }

 private:
  struct Before {
    std::vector<Index> const* place;
    bool operator()(Index v, Index w) const { return (*place)[v] < (*place)[w]; }
  };
  Before before() const { return {&place_}; }
  std::vector<Index> const& scope_of(Index table) const { return plan_.reductions.tables()[table].scope; }

  void put(Index table) { (scope_of(table).empty() ? rest_ : buckets_[place_[scope_of(table).front()]]).push_back(table); }

  void eliminate(Index v, std::vector<Index> const& tables) {
    plan_.decode.push_back({tables, {v}});
    auto parts = divide(v, tables);
    for (auto& part : parts) part.tables = tables::merge_for(plan_.reductions, std::move(part.tables), plan_.reductions.states_of(part.scope), place_);
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
        auto joined = united(part.scope, scope_of(t));
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

  std::vector<Index> united(std::vector<Index> const& a, std::vector<Index> const& b) const {
    std::vector<Index> result;
    std::set_union(a.begin(), a.end(), b.begin(), b.end(), std::back_inserter(result), before());
    return result;
  }

  HostPlan plan_;
  MiniBucketOptions options_;
  std::vector<Index> place_;
  std::vector<std::vector<Index>> buckets_;  // tables, by place in the order
  std::vector<Index> rest_;                  // those without variables
};

}  // namespace

HostPlan make_mini_bucket_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes, Order order, MiniBucketOptions const& options) {
  if (options.most_variables < 1) throw InputError(fmt::format("parts of a bucket have one variable or more, not {}", options.most_variables));
  return Planner(cardinality, std::move(order), options).make(scopes);
}

}  // namespace hornbill::elim
