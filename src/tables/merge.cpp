// Products of tables that are small together.
#include <algorithm>
#include <limits>

#include <hornbill/tables/detail/scopes.hpp>
#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables {
namespace {

// So few factors, each of which may be far below its table's largest value, that their product is not below the
// smallest number.
constexpr std::size_t max_factors = 8;

/// What may be merged.
struct MergeLimit {
  double max_cells = 1;       ///< of a table that is made
  bool equal_scopes = false;  ///< tables of the same variables in any case
};

/// Goes through the tables in an order in which neighbours have much in common, and multiplies runs of them.
std::vector<Index> merge_once(HostReductions& reductions, std::vector<Index> inputs, MergeLimit limit,
                              std::span<Index const> place) {
  auto const before = [&](Index v, Index w) { return place[v] < place[w]; };
  auto const scope_of = [&](Index t) -> auto const& { return reductions.tables()[t].scope; };
  std::stable_sort(inputs.begin(), inputs.end(), [&](Index s, Index t) {
    return std::lexicographical_compare(scope_of(s).begin(), scope_of(s).end(), scope_of(t).begin(), scope_of(t).end(),
                                        before);
  });
  std::vector<Index> result, group, scope;
  auto const finish = [&] {
    if (group.size() == 1) result.push_back(group.front());
    if (group.size() > 1) result.push_back(reductions.add_reduction(group, scope, {}));
    group.clear();
    scope.clear();
  };
  for (Index t : inputs) {
    auto joined = detail::united(scope, scope_of(t), place);
    bool const is_small =
        reductions.states_of(joined) <= limit.max_cells || (limit.equal_scopes && scope == scope_of(t));
    if (group.size() == max_factors || (!group.empty() && !is_small)) {
      finish();
      joined = scope_of(t);
    }
    group.push_back(t);
    scope = std::move(joined);
  }
  finish();
  return result;
}

std::vector<Index> merge(HostReductions& reductions, std::vector<Index> inputs, MergeLimit limit,
                         std::span<Index const> place) {
  for (std::size_t before = 0; before != inputs.size();) {
    before = inputs.size();
    inputs = merge_once(reductions, std::move(inputs), limit, place);
  }
  return inputs;
}

/// Multiplies the two whose product has the fewest cells: those that have much in common need not be neighbours in any
/// order.
/// \return false if it has too many
bool merge_smallest_pair(HostReductions& reductions, std::vector<Index>& inputs, MergeLimit limit,
                         std::span<Index const> place) {
  auto const scope_of = [&](std::size_t i) -> auto const& { return reductions.tables()[inputs[i]].scope; };
  double fewest = std::numeric_limits<double>::infinity();
  std::size_t first = 0, second = 0;
  for (std::size_t i = 0; i < inputs.size(); ++i)
    for (std::size_t j = i + 1; j < inputs.size(); ++j)
      if (double const cells = reductions.states_of(detail::united(scope_of(i), scope_of(j), place)); cells < fewest) {
        fewest = cells;
        first = i;
        second = j;
      }
  if (fewest > limit.max_cells) return false;
  auto scope = detail::united(scope_of(first), scope_of(second), place);
  inputs[first] = reductions.add_reduction({inputs[first], inputs[second]}, std::move(scope), {});
  inputs.erase(inputs.begin() + static_cast<std::ptrdiff_t>(second));
  return true;
}

}  // namespace

std::vector<Index> merge_small(HostReductions& reductions, std::vector<Index> inputs, double max_cells,
                               std::span<Index const> place) {
  return merge(reductions, std::move(inputs), {max_cells}, place);
}

std::vector<Index> merge_for(HostReductions& reductions, std::vector<Index> inputs, double combined_cells,
                             double output_cells, std::span<Index const> place) {
  constexpr std::size_t few = 2;
  // large: what is saved takes longer than to start one more reduction
  constexpr double small = 8, always = 64, large = 1 << 20;
  if (inputs.size() <= few) return inputs;
  bool const are_many = inputs.size() > max_factors;
  auto const largest_of = [&](std::vector<Index> const& tables) {
    double cells = 0;
    for (Index t : tables) cells = std::max(cells, static_cast<double>(reductions.tables()[t].cells));
    return cells;
  };
  double const there = std::max(largest_of(inputs), output_cells);  // what has no more cells adds little to that
  double const worth = std::max(std::min(combined_cells / small, there), are_many ? always : 0.0);
  MergeLimit limit{std::min(worth, static_cast<double>(max_table_cells)), are_many};
  inputs = merge(reductions, std::move(inputs), limit, place);
  if (combined_cells < large) return inputs;
  limit.max_cells = std::min(limit.max_cells, largest_of(inputs));
  while (inputs.size() > few && inputs.size() <= max_factors && merge_smallest_pair(reductions, inputs, limit, place)) {
  }
  return inputs;
}

}  // namespace hornbill::tables
