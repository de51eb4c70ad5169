#include "depth_first.hpp"

#include <algorithm>
#include <random>
#include <tuple>

namespace hornbill::elim {
namespace {

class Search {
 public:
  Search(PrimalGraph const& graph, Index num_variables, std::uint64_t seed)
      : graph_(graph), visited_neighbours_(num_variables), is_visited_(num_variables) {
    std::mt19937_64 random(seed);
    for (Index v = 0; v < num_variables; ++v) tie_.push_back(random());
  }

  std::vector<Index> order() {
    std::vector<Index> roots(tie_.size());
    for (std::size_t i = 0; i < roots.size(); ++i) roots[i] = static_cast<Index>(i);
    std::sort(roots.begin(), roots.end(), [&](Index v, Index w) { return key(v) > key(w); });
    for (Index root : roots)
      if (!is_visited_[root]) search(root);
    return order_;
  }

 private:
  std::tuple<Index, std::size_t, std::uint64_t> key(Index v) const {
    return {visited_neighbours_[v], graph_.neighbours(v).size(), tie_[v]};
  }

  /// A visited variable, and where to go from it, the best last. What is left there keeps its order: a subtree that has
  /// been searched has no neighbours outside but ancestors.
  struct Step {
    Index variable;
    std::vector<Index> next;
  };

  Step visit(Index v) {
    is_visited_[v] = true;
    Step step{v, {}};
    for (Index w : graph_.neighbours(v)) {
      ++visited_neighbours_[w];
      if (!is_visited_[w]) step.next.push_back(w);
    }
    std::sort(step.next.begin(), step.next.end(), [&](Index w, Index x) { return key(w) < key(x); });
    return step;
  }

  void search(Index root) {
    std::vector<Step> path{visit(root)};  // not recursion: a chain of variables may be very long
    while (!path.empty()) {
      auto& [v, next] = path.back();
      while (!next.empty() && is_visited_[next.back()]) next.pop_back();
      if (!next.empty()) {
        path.push_back(visit(next.back()));
      } else {
        order_.push_back(v);
        path.pop_back();
      }
    }
  }

  PrimalGraph const& graph_;
  std::vector<Index> visited_neighbours_;
  std::vector<std::uint64_t> tie_;
  std::vector<bool> is_visited_;
  std::vector<Index> order_;
};

}  // namespace

std::vector<Index> depth_first_order(PrimalGraph const& graph, Index num_variables, std::uint64_t seed) {
  return Search(graph, num_variables, seed).order();
}

}  // namespace hornbill::elim
