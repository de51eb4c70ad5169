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

/// The widest tables first, each into the first part where it fits.
class ByScopeSize : public Partitioner {
 public:
  explicit ByScopeSize(int max_variables) : max_variables_(max_variables) {}

  std::vector<std::vector<Index>> divide(tables::HostReductions const& reductions, Index,
                                         std::vector<Index> const& bucket, std::span<Index const> place) override {
    auto const scope_of = [&](Index t) -> auto const& { return reductions.tables()[t].scope; };
    auto tables = bucket;
    std::stable_sort(tables.begin(), tables.end(),
                     [&](Index s, Index t) { return scope_of(s).size() > scope_of(t).size(); });
    std::vector<Part> parts;
    for (Index t : tables) {
      auto const part = std::find_if(parts.begin(), parts.end(), [&](Part const& p) {
        return detail::fit_together(p.scope, scope_of(t), max_variables_, place);
      });
      if (part == parts.end()) {
        parts.push_back({{t}, scope_of(t)});
      } else {
        part->tables.push_back(t);
        part->scope = detail::united(part->scope, scope_of(t), place);
      }
    }
    std::vector<std::vector<Index>> result;
    for (auto& part : parts) result.push_back(std::move(part.tables));
    return result;
  }

 private:
  int max_variables_;
};

class Planner {
 public:
  Planner(std::vector<Index> const& cardinality, Order order, MiniBucketOptions const& options,
          Partitioner& partitioner)
      : options_(options), partitioner_(partitioner) {
    plan_.order = std::move(order);
    plan_.reductions = tables::HostReductions(cardinality);
    in_order_ = VariableOrder(plan_.order.variables, cardinality.size());
    buckets_.resize(cardinality.size());
  }

  HostPlan make(std::vector<std::span<Index const>> const& scopes, Index num_eliminated) {
    for (auto const& scope : scopes) put(plan_.reductions.add_table(in_order_.sorted(scope)));
    for (Index i = 0; i < num_eliminated; ++i) eliminate(plan_.order.variables[i], buckets_[i]);
    for (auto i = static_cast<std::size_t>(num_eliminated); i < buckets_.size(); ++i)
      plan_.left.insert(plan_.left.end(), buckets_[i].begin(), buckets_[i].end());
    plan_.result = plan_.reductions.add_reduction(
        tables::merge_small(plan_.reductions, std::move(rest_), 1, in_order_.places()), {}, {});
    return std::move(plan_);
  }

 private:
  std::vector<Index> const& scope_of(Index table) const { return plan_.reductions.tables()[table].scope; }

  void put(Index table) {
    (scope_of(table).empty() ? rest_ : buckets_[in_order_.place_of(scope_of(table).front())]).push_back(table);
  }

  void eliminate(Index v, std::vector<Index> const& tables) {
    plan_.decode.push_back({tables, {v}});
    auto parts = divide(v, tables);
    for (auto& part : parts) {
      double const combined = plan_.reductions.states_of(part.scope);
      part.tables = tables::merge_for(plan_.reductions, std::move(part.tables), combined,
                                      combined / plan_.reductions.cardinality()[v], in_order_.places());
    }
    if (parts.size() > 1) {
      plan_.is_exact = false;
      if (options_.match_moments) match(v, parts);
    }
    for (auto& part : parts) {
      part.scope.erase(part.scope.begin());
      put(plan_.reductions.add_reduction(std::move(part.tables), std::move(part.scope), {v}));
    }
  }

  /// A bucket in parts; most often it is one.
  std::vector<Part> divide(Index v, std::vector<Index> const& tables) {
    Part all{tables, {v}};
    for (Index t : tables) all.scope = in_order_.united(all.scope, scope_of(t));
    if (std::ssize(all.scope) <= options_.max_variables) return {std::move(all)};
    std::vector<Part> parts;
    auto lists = partitioner_.divide(plan_.reductions, v, tables, in_order_.places());
    require_all(tables, lists);
    for (auto& list : lists) {
      auto& part = parts.emplace_back(Part{std::move(list), {v}});
      for (Index t : part.tables) part.scope = in_order_.united(part.scope, scope_of(t));
    }
    return parts;
  }

  /// A partitioner may be anybody's.   \throws Error unless each table is in one part
  static void require_all(std::vector<Index> tables, std::vector<std::vector<Index>> const& lists) {
    std::vector<Index> divided;
    for (auto const& list : lists) divided.insert(divided.end(), list.begin(), list.end());
    std::sort(tables.begin(), tables.end());
    std::sort(divided.begin(), divided.end());
    if (divided != tables) throw Error("a partitioner has to put each table of a bucket into one part");
  }

  /// Adds to each part a table over its variable that makes the parts' least costs equal, state by state.
  void match(Index v, std::vector<Part>& parts) {
    std::vector<Index> least;
    for (auto const& part : parts)
      least.push_back(plan_.reductions.add_reduction(part.tables, {v}, {part.scope.begin() + 1, part.scope.end()}));
    auto const shifts = plan_.reductions.add_shifts(least);
    for (std::size_t i = 0; i < parts.size(); ++i) parts[i].tables.push_back(shifts[i]);
  }

  HostPlan plan_;
  MiniBucketOptions options_;
  Partitioner& partitioner_;
  VariableOrder in_order_;
  std::vector<std::vector<Index>> buckets_;  // tables, by place in the order
  std::vector<Index> rest_;                  // those without variables
};

void require_possible(std::vector<Index> const& cardinality, Index num_eliminated, MiniBucketOptions const& options) {
  if (options.max_variables < 1)
    throw InputError(fmt::format("parts of a bucket have one variable or more, not {}", options.max_variables));
  if (num_eliminated < 0 || num_eliminated > std::ssize(cardinality))
    throw ShapeError("variables to eliminate, at most", cardinality.size(), static_cast<std::size_t>(num_eliminated));
}

}  // namespace

HostPlan make_mini_bucket_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                               Order order, MiniBucketOptions const& options) {
  return make_partial_plan(cardinality, scopes, std::move(order), static_cast<Index>(cardinality.size()), options);
}

HostPlan make_partial_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                           Order order, Index num_eliminated, MiniBucketOptions const& options) {
  require_possible(cardinality, num_eliminated, options);
  ByScopeSize by_scope_size(options.max_variables);
  return Planner(cardinality, std::move(order), options, by_scope_size).make(scopes, num_eliminated);
}

HostPlan make_mini_bucket_plan(std::vector<Index> const& cardinality, std::vector<std::span<Index const>> const& scopes,
                               Order order, MiniBucketOptions const& options, Partitioner& partitioner) {
  auto const all = static_cast<Index>(cardinality.size());
  require_possible(cardinality, all, options);
  return Planner(cardinality, std::move(order), options, partitioner).make(scopes, all);
}

}  // namespace hornbill::elim
