#include "depth_first.hpp"

#include <algorithm>
#include <random>
#include <tuple>

namespace hornbill::elim {
namespace {

class Search {
 public:
  Search(PrimalGraph const& graph, Index num_variables, std::uint64_t seed) : graph_(graph), visited_neighbours_(num_variables), is_visited_(num_variables) {
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
  std::tuple<Index, std::size_t, std::uint64_t> key(Index v) const { return {visited_neighbours_[v], graph_.neighbours(v).size(), tie_[v]}; }

  void visit(Index v, std::vector<Index>& path) {
    is_visited_[v] = true;
    for (Index w : graph_.neighbours(v)) ++visited_neighbours_[w];
    path.push_back(v);
  }

  void search(Index root) {
    std::vector<Index> path;  // not recursion: a chain of variables may be very long
    visit(root, path);
    while (!path.empty()) {
      Index next = -1;
      for (Index w : graph_.neighbours(path.back()))
        if (!is_visited_[w] && (next < 0 || key(w) > key(next))) next = w;
      if (next >= 0) {
        visit(next, path);
      } else {
        order_.push_back(path.back());
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

std::vector<Index> depth_first_order(PrimalGraph const& graph, Index num_variables, std::uint64_t seed) { return Search(graph, num_variables, seed).order(); }

}  // namespace hornbill::elim
