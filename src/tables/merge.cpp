// Products of tables that are small together.
#include <algorithm>
#include <iterator>

#include <hornbill/tables/reduction.hpp>

namespace hornbill::tables {
namespace {

// So few factors, each of which may be far below its table's largest value, that their product is not below the smallest number.
constexpr std::size_t most_factors = 8;

/// Goes through the tables in an order in which neighbours have much in common, and multiplies runs of them.
std::vector<Index> merge_once(HostReductions& reductions, std::vector<Index> inputs, double most_cells, std::span<Index const> place) {
  auto const before = [&](Index v, Index w) { return place[v] < place[w]; };
  auto const scope_of = [&](Index t) -> auto const& { return reductions.tables()[t].scope; };
  std::stable_sort(inputs.begin(), inputs.end(), [&](Index s, Index t) { return std::lexicographical_compare(scope_of(s).begin(), scope_of(s).end(), scope_of(t).begin(), scope_of(t).end(), before); });
  std::vector<Index> result, group, scope;
  auto const finish = [&] {
    if (group.size() == 1) result.push_back(group.front());
    if (group.size() > 1) result.push_back(reductions.add_reduction(group, scope, {}));
    group.clear();
    scope.clear();
  };
  for (Index t : inputs) {
    std::vector<Index> joined;
    std::set_union(scope.begin(), scope.end(), scope_of(t).begin(), scope_of(t).end(), std::back_inserter(joined), before);
    if (group.size() == most_factors || (!group.empty() && reductions.states_of(joined) > most_cells)) {
      finish();
      joined = scope_of(t);
    }
    group.push_back(t);
    scope = std::move(joined);
  }
  finish();
  return result;
}

}  // namespace

std::vector<Index> merge_small(HostReductions& reductions, std::vector<Index> inputs, double most_cells, std::span<Index const> place) {
  for (std::size_t before = 0; before != inputs.size();) {
    before = inputs.size();
    inputs = merge_once(reductions, std::move(inputs), most_cells, place);
  }
  return inputs;
}

std::vector<Index> merge_for(HostReductions& reductions, std::vector<Index> inputs, double combined_cells, std::span<Index const> place) {
  constexpr std::size_t few = 2;
  constexpr double small = 8, always = 64;
  if (inputs.size() <= few) return inputs;
  double most_cells = combined_cells / small;
  if (inputs.size() > most_factors) {  // those of one scope at least
    most_cells = std::max(most_cells, always);
    for (Index t : inputs) most_cells = std::max(most_cells, static_cast<double>(reductions.tables()[t].cells));
  }
  return merge_small(reductions, std::move(inputs), most_cells, place);
}

}  // namespace hornbill::tables
