// Parts of a bucket by what its tables say.
#pragma once

#include <algorithm>
#include <cmath>
#include <compare>
#include <limits>
#include <map>
#include <span>
#include <utility>
#include <vector>

#include <hornbill/elim/detail/scopes.hpp>
#include <hornbill/elim/mini_buckets.hpp>
#include <hornbill/tables/detail/evaluate.hpp>
#include <hornbill/tables/detail/instantiate.hpp>
#include <hornbill/tables/detail/reorder.hpp>

namespace hornbill::elim::detail {

/// What is lost where two parts are apart.
struct Loss {
  double impossible = 0;  ///< share of cells of which only both together say that nothing is possible
  double mean = 0;        ///< of the others, of costs or logarithms
  auto operator<=>(Loss const&) const = default;
};

template <class Semiring, class ExecutionSpace>
class ByContent : public Partitioner {
 public:
  using Value = typename Semiring::Value;

  ByContent(ExecutionSpace const& exec, std::vector<std::vector<Value>> given, int max_variables)
      : values_(exec, std::move(given)), max_variables_(max_variables) {}

  std::vector<std::vector<Index>> divide(tables::HostReductions const& reductions, Index variable,
                                         std::vector<Index> const& tables, std::span<Index const> place) override {
    values_.bring_up_to_date(reductions);
    parts_.clear();
    losses_.clear();
    for (Index t : tables) parts_.push_back({{t}, reductions.tables()[t].scope});
    std::vector<Pair> pairs;
    for (std::size_t i = 0; i < parts_.size(); ++i) add_pairs_of(i, i, place, pairs);
    measure_all(reductions, variable, place, pairs);
    while (merge_best(reductions, variable, place)) {
    }
    std::vector<std::vector<Index>> result;
    for (auto& part : parts_)
      if (!part.tables.empty()) result.push_back(std::move(part.tables));
    return result;
  }

 private:
  struct Part {
    std::vector<Index> tables;  // none: it was merged into another
    std::vector<Index> scope;
  };
  using Pair = std::pair<std::size_t, std::size_t>;
  static constexpr Offset max_cells_at_once = Offset{1} << 24;

  /// \return whether there were two that fit together
  bool merge_best(tables::HostReductions const& reductions, Index variable, std::span<Index const> place) {
    if (losses_.empty()) return false;
    auto best = losses_.begin();
    for (auto it = losses_.begin(); it != losses_.end(); ++it)
      if (it->second > best->second) best = it;
    auto const [i, j] = best->first;
    parts_[i].tables.insert(parts_[i].tables.end(), parts_[j].tables.begin(), parts_[j].tables.end());
    parts_[i].scope = united(parts_[i].scope, parts_[j].scope, place);
    parts_[j] = {};
    std::erase_if(losses_, [&](auto const& entry) {
      return entry.first.first == i || entry.first.second == i || entry.first.first == j || entry.first.second == j;
    });
    std::vector<Pair> pairs;
    add_pairs_of(i, parts_.size(), place, pairs);
    measure_all(reductions, variable, place, pairs);
    return true;
  }

  /// A part with those of the first others that fit.
  void add_pairs_of(std::size_t part, std::size_t end, std::span<Index const> place, std::vector<Pair>& pairs) const {
    for (std::size_t k = 0; k < end; ++k)
      if (k != part && !parts_[k].tables.empty() &&
          fit_together(parts_[k].scope, parts_[part].scope, max_variables_, place))
        pairs.emplace_back(std::min(k, part), std::max(k, part));
  }

  void measure_all(tables::HostReductions const& reductions, Index variable, std::span<Index const> place,
                   std::span<Pair const> pairs) {
    while (!pairs.empty()) pairs = pairs.subspan(measure(reductions, variable, place, pairs));
  }

  /// Measures the first of some pairs, as many as fit into memory.   \return their number
  std::size_t measure(tables::HostReductions const& reductions, Index variable, std::span<Index const> place,
                      std::span<Pair const> pairs) {
    tables::detail::Evaluation<Semiring, ExecutionSpace> evaluation(reductions, values_);
    std::map<std::size_t, Index> apart;  // the tables that parts make, by part
    std::vector<Index> together;         // and pairs, by pair
    auto const reduce = [&](std::vector<Index> const& inputs, std::vector<Index> scope) {
      std::erase(scope, variable);
      return evaluation.add(inputs, std::move(scope), variable);
    };
    for (auto const& [i, j] : pairs) {
      for (std::size_t k : {i, j})
        if (!apart.contains(k)) apart[k] = reduce(parts_[k].tables, parts_[k].scope);
      auto both = parts_[i].tables;
      both.insert(both.end(), parts_[j].tables.begin(), parts_[j].tables.end());
      together.push_back(reduce(both, united(parts_[i].scope, parts_[j].scope, place)));
      if (evaluation.num_cells() >= max_cells_at_once) break;
    }
    evaluation.run();
    for (std::size_t p = 0; p < together.size(); ++p)
      losses_[pairs[p]] = loss(evaluation, apart[pairs[p].first], apart[pairs[p].second], together[p]);
    return together.size();
  }

  /// A cost, or minus a logarithm; infinite where nothing is possible.
  static double cost(Value value) {
    if constexpr (requires { Semiring::log_of(value); })
      return -Semiring::log_of(value);
    else
      return Semiring::is_zero(value) ? std::numeric_limits<double>::infinity() : static_cast<double>(value);
  }

  static Loss loss(tables::detail::Evaluation<Semiring, ExecutionSpace> const& evaluation, Index a, Index b,
                   Index both) {
    auto const& of_a = evaluation.cells(a);
    auto const& of_b = evaluation.cells(b);
    auto const& of_both = evaluation.cells(both);
    auto const exponent = (evaluation.exponent(both) - evaluation.exponent(a) - evaluation.exponent(b)) * std::log(2.0);
    double impossible = 0, sum = 0, possible = 0;
    evaluation.for_each_cell(both, a, b, [&](Offset cell, Offset in_a, Offset in_b) {
      double const apart = cost(of_a[in_a]) + cost(of_b[in_b]);
      if (std::isinf(apart)) return;
      double const together = cost(of_both[cell]) - exponent;
      if (std::isfinite(together)) {
        ++possible;
        sum += together - apart;
      } else if (together > 0) {  // else so many factors that their product is no number
        ++impossible;
      }
    });
    return {impossible / static_cast<double>(of_both.size()), possible > 0 ? sum / possible : 0};
  }

  tables::detail::HostedValues<Semiring, ExecutionSpace> values_;
  int max_variables_;
  std::vector<Part> parts_;
  std::map<Pair, Loss> losses_;  // of pairs that fit together
};

}  // namespace hornbill::elim::detail

namespace hornbill::elim {

template <class Semiring, class ExecutionSpace>
HostPlan make_content_plan(ExecutionSpace const& exec, tables::TableNetwork<typename Semiring::Value> const& network,
                           Order order, MiniBucketOptions const& options) {
  static_assert(Semiring::selects, "mini-buckets bound the best assignment, not a sum");
  tables::HostReductions given(network.cardinality);
  std::vector<Index> place(network.cardinality.size());
  if (order.variables.size() != place.size())
    throw ShapeError("variables of the elimination order", place.size(), order.variables.size());
  for (std::size_t i = 0; i < place.size(); ++i) place[order.variables[i]] = static_cast<Index>(i);
  for (auto const& table : network.tables) {
    auto scope = table.scope;
    std::sort(scope.begin(), scope.end(), [&](Index v, Index w) { return place[v] < place[w]; });
    given.add_table(std::move(scope));
  }
  detail::ByContent<Semiring, ExecutionSpace> by_content(
      exec, tables::detail::reordered(network, given, given.num_given()), options.max_variables);
  return make_mini_bucket_plan(network.cardinality, scopes_of(network), std::move(order), options, by_content);
}

}  // namespace hornbill::elim

#define HORNBILL_INSTANTIATE_ELIM_CONTENT(PREFIX, SPACE, SEMIRING) \
  PREFIX template HostPlan make_content_plan<SEMIRING, SPACE>(     \
      SPACE const&, tables::TableNetwork<typename SEMIRING::Value> const&, Order, MiniBucketOptions const&);

namespace hornbill::elim {
HORNBILL_EXTERN(HORNBILL_FOR_SELECTING, HORNBILL_INSTANTIATE_ELIM_CONTENT)
}  // namespace hornbill::elim
