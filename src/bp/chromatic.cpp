#include <algorithm>
#include <limits>
#include <numeric>
#include <span>

#include <KokkosGraph_Distance1Color.hpp>

#include <hornbill/bp/schedule.hpp>
#include <hornbill/error.hpp>
#include <hornbill/graph/factor_traits.hpp>

namespace hornbill::bp {
namespace {

using Host = Kokkos::DefaultHostExecutionSpace;
template <class T>
using HostArray = Kokkos::View<T*, Kokkos::Device<Host, Kokkos::HostSpace>>;

/// At a variable with more conflicts than so many a neighbour, its factors read it at old values.
constexpr Offset max_conflicts = 16;

/// Which factors must differ in colour, in CSR form; symmetric. A pair that meets in two variables is there twice.
struct Conflicts {
  HostArray<Index> offsets, neighbours;
};

/// The factors at a variable: those that conclude it, and those that have it as a premise. A table does both.
struct Neighbourhood {
  std::vector<Index> concluding, using_it;

  void gather(HostFactorGraph const& graph, std::vector<Index> const& factor_of_edge, std::span<Offset const> edges) {
    concluding.clear();
    using_it.clear();
    for (Offset e : edges) {
      Index const a = factor_of_edge[e];
      bool const table = is_table(graph.factor_type[a]), head = e == graph.factor_offsets[a];
      if (head || table) concluding.push_back(a);
      if (!head || table) using_it.push_back(a);
    }
  }
  /// Calls pair(a, b) for each two factors of which one concludes what the other uses.
  template <class Pair>
  void for_each_conflict(Pair const& pair) const {
    auto const writers = static_cast<Offset>(concluding.size()), readers = static_cast<Offset>(using_it.size());
    if (writers * readers > max_conflicts * (writers + readers)) return;
    for (Index a : concluding)
      for (Index b : using_it)
        if (a != b) pair(a, b);
  }
};

Conflicts conflicts_of(HostFactorGraph const& graph, std::vector<Index> const& factor_of_edge) {
  auto const variable_edges = edges_of_variables(graph);
  auto for_each_conflict = [&](auto const& pair) {
    Neighbourhood neighbourhood;
    for (Index v = 0; v < graph.num_variables; ++v) {
      Offset const first = variable_edges.offsets[v];
      neighbourhood.gather(graph, factor_of_edge,
                           std::span(variable_edges.edges).subspan(first, variable_edges.offsets[v + 1] - first));
      neighbourhood.for_each_conflict(pair);
    }
  };
  std::vector<Offset> next(graph.num_factors() + 1, 0);
  for_each_conflict([&](Index a, Index b) {
    ++next[a];
    ++next[b];
  });
  std::exclusive_scan(next.begin(), next.end(), next.begin(), Offset{0});
  if (next.back() > std::numeric_limits<Index>::max())
    throw CapacityError("the conflicts of this graph's factors are too many to colour");
  Conflicts result{{"hornbill::bp::conflict_offsets", next.size()},
                   {"hornbill::bp::conflicts", static_cast<std::size_t>(next.back())}};
  std::copy(next.begin(), next.end(), result.offsets.data());
  for_each_conflict([&](Index a, Index b) {
    result.neighbours(next[a]++) = b;
    result.neighbours(next[b]++) = a;
  });
  return result;
}

/// Numbers factors by breadth-first search over their conflicts: coloured in this order, a graph without odd cycles
/// needs two colours, where in file order it needs six to eight.
/// \return number of each factor
std::vector<Index> breadth_first_numbers(Conflicts const& conflicts, Index num_factors) {
  std::vector<Index> number(num_factors, -1), queue;
  queue.reserve(num_factors);
  for (Index root = 0; root < num_factors; ++root) {
    if (number[root] >= 0) continue;
    number[root] = static_cast<Index>(queue.size());
    queue.push_back(root);
    for (std::size_t i = number[root]; i < queue.size(); ++i)
      for (Index k = conflicts.offsets(queue[i]); k < conflicts.offsets(queue[i] + 1); ++k)
        if (Index const b = conflicts.neighbours(k); number[b] < 0) {
          number[b] = static_cast<Index>(queue.size());
          queue.push_back(b);
        }
  }
  return number;
}

Conflicts renumbered(Conflicts const& conflicts, std::vector<Index> const& number) {
  auto const num_factors = static_cast<Index>(number.size());
  Conflicts result{{"hornbill::bp::conflict_offsets", conflicts.offsets.extent(0)},
                   {"hornbill::bp::conflicts", conflicts.neighbours.extent(0)}};
  std::vector<Index> factor(num_factors);
  for (Index a = 0; a < num_factors; ++a) factor[number[a]] = a;
  for (Index n = 0, at = 0; n < num_factors; ++n) {
    for (Index k = conflicts.offsets(factor[n]); k < conflicts.offsets(factor[n] + 1); ++k)
      result.neighbours(at++) = number[conflicts.neighbours(k)];
    result.offsets(n + 1) = at;
  }
  return result;
}

}  // namespace

std::vector<Index> colours_of_factors(HostFactorGraph const& graph) {
  if (!Kokkos::is_initialized())
    throw InputError("CHROMATIC colours with Kokkos Kernels, which needs Kokkos to be initialised first");
  Index const num_factors = graph.num_factors();
  if (num_factors == 0) return {};
  auto const by_factor = conflicts_of(graph, factors_of_edges(graph));
  auto const number = breadth_first_numbers(by_factor, num_factors);
  auto const conflicts = renumbered(by_factor, number);
  KokkosKernels::Experimental::KokkosKernelsHandle<Index, Index, double, Host, Kokkos::HostSpace, Kokkos::HostSpace>
      handle;
  handle.create_graph_coloring_handle(KokkosGraph::COLORING_SERIAL);  // the same colours in every run
  KokkosGraph::Experimental::graph_color(&handle, num_factors, num_factors, conflicts.offsets, conflicts.neighbours);
  auto const colours = handle.get_graph_coloring_handle()->get_vertex_colors();
  std::vector<Index> result(num_factors);
  for (Index a = 0; a < num_factors; ++a) result[a] = colours(number[a]) - 1;
  handle.destroy_graph_coloring_handle();
  return result;
}

std::vector<Index> levels_of_colouring(HostFactorGraph const& graph, std::vector<Index> const& colours) {
  Index const most = colours.empty() ? -1 : *std::max_element(colours.begin(), colours.end());
  std::vector<Index> level(graph.factor_variables.size());
  for (Index a = 0; a < graph.num_factors(); ++a)
    for (Offset e = graph.factor_offsets[a]; e < graph.factor_offsets[a + 1]; ++e)
      level[e] = e == graph.factor_offsets[a] ? colours[a] : 2 * most + 1 - colours[a];
  return level;
}

}  // namespace hornbill::bp
