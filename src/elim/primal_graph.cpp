#include "primal_graph.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::elim {

PrimalGraph::PrimalGraph(std::span<Index const> cardinality, std::vector<std::span<Index const>> const& scopes)
    : cardinality_(cardinality), neighbours_(cardinality.size()), is_marked_(cardinality.size()) {
  auto const num_variables = static_cast<Index>(cardinality.size());
  for (auto const& scope : scopes)
    for (Index v : scope) {
      if (v < 0 || v >= num_variables)
        throw InputError(fmt::format("a table has the variable {}; variables are 0 to {}", v, num_variables - 1));
      for (Index w : scope)
        if (w != v) neighbours_[v].push_back(w);
    }
  for (auto& list : neighbours_) {
    std::sort(list.begin(), list.end());
    list.erase(std::unique(list.begin(), list.end()), list.end());
  }
}

double PrimalGraph::table_cells(Index v) const {
  double cells = 1;
  for (Index w : neighbours_[v]) cells *= cardinality_[w];
  return cells;
}

double PrimalGraph::fill(Index v) {
  auto const& around = neighbours_[v];
  for (Index w : around) is_marked_[w] = true;
  double ends = 0;  // of edges among the neighbours
  for (Index w : around)
    ends += static_cast<double>(
        std::count_if(neighbours_[w].begin(), neighbours_[w].end(), [&](Index x) { return is_marked_[x]; }));
  for (Index w : around) is_marked_[w] = false;
  auto const degree = static_cast<double>(around.size());
  return (degree * (degree - 1) - ends) / 2;
}

void PrimalGraph::eliminate(Index v, bool connect) {
  auto const around = std::exchange(neighbours_[v], {});
  for (Index w : around) {
    auto& of_w = neighbours_[w];
    of_w.erase(std::lower_bound(of_w.begin(), of_w.end(), v));
    if (!connect || std::all_of(around.begin(), around.end(),
                                [&](Index x) { return x == w || std::binary_search(of_w.begin(), of_w.end(), x); }))
      continue;
    std::vector<Index> joined;
    joined.reserve(of_w.size() + around.size());
    std::set_union(of_w.begin(), of_w.end(), around.begin(), around.end(), std::back_inserter(joined));
    joined.erase(std::lower_bound(joined.begin(), joined.end(), w));
    of_w = std::move(joined);
  }
}

/// An edge more: their common neighbours have a pair less to connect, and each end has it with all neighbours that the
/// other end lacks.
void PrimalGraph::connect(Index a, Index b, FillChanges& changes) {
  auto &of_a = neighbours_[a], &of_b = neighbours_[b];
  auto const &few = of_a.size() < of_b.size() ? of_a : of_b, &many = of_a.size() < of_b.size() ? of_b : of_a;
  std::size_t common = 0;
  for (Index w : few)
    if (std::binary_search(many.begin(), many.end(), w)) {
      ++common;
      changes.add(w, -1);
    }
  changes.add(a, static_cast<double>(of_a.size() - common));
  changes.add(b, static_cast<double>(of_b.size() - common));
  of_a.insert(std::lower_bound(of_a.begin(), of_a.end(), b), b);
  of_b.insert(std::lower_bound(of_b.begin(), of_b.end(), a), a);
}

void PrimalGraph::eliminate(Index v, FillChanges& changes) {
  auto const around = neighbours_[v];
  for (std::size_t i = 0; i < around.size(); ++i) {
    // Those that lack the edge first, as connecting changes the list.
    auto const& of_a = neighbours_[around[i]];
    std::vector<Index> apart;
    std::set_difference(around.begin() + static_cast<std::ptrdiff_t>(i) + 1, around.end(), of_a.begin(), of_a.end(),
                        std::back_inserter(apart));
    for (Index b : apart) connect(around[i], b, changes);
  }
  neighbours_[v].clear();
  for (Index w : around) {  // loses the pairs of v and those that were not v's neighbours
    auto& of_w = neighbours_[w];
    of_w.erase(std::lower_bound(of_w.begin(), of_w.end(), v));
    changes.add(w, -static_cast<double>(of_w.size() + 1 - around.size()));
  }
}

}  // namespace hornbill::elim
