#include "primal_graph.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <fmt/format.h>

#include <hornbill/error.hpp>

namespace hornbill::elim {

PrimalGraph::PrimalGraph(std::span<Index const> cardinality, std::vector<std::span<Index const>> const& scopes) : cardinality_(cardinality), neighbours_(cardinality.size()) {
  auto const num_variables = static_cast<Index>(cardinality.size());
  for (auto const& scope : scopes)
    for (Index v : scope) {
      if (v < 0 || v >= num_variables) throw InputError(fmt::format("a table has the variable {}; variables are 0 to {}", v, num_variables - 1));
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

double PrimalGraph::fill(Index v) const {
  double missing = 0;
  auto const& around = neighbours_[v];
  for (Index w : around) {
    auto const& others = neighbours_[w];
    auto at = others.begin();
    for (Index x : around) {
      at = std::lower_bound(at, others.end(), x);
      missing += x != w && (at == others.end() || *at != x);
    }
  }
  return missing / 2;
}

void PrimalGraph::eliminate(Index v, bool connect) {
  auto const around = std::exchange(neighbours_[v], {});
  for (Index w : around) {
    auto& of_w = neighbours_[w];
    std::vector<Index> joined;
    joined.reserve(of_w.size() + around.size());
    if (connect) std::set_union(of_w.begin(), of_w.end(), around.begin(), around.end(), std::back_inserter(joined));
    else joined = of_w;
    std::erase_if(joined, [=](Index x) { return x == v || x == w; });
    of_w = std::move(joined);
  }
}

}  // namespace hornbill::elim
