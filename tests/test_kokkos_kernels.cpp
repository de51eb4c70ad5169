// Kokkos Kernels, as dependencies.cmake provides it: one template on each backend, in the one file that pays for it.
#include <doctest/doctest.h>

#include <KokkosGraph_Distance1Color.hpp>

#include <hornbill/backend/enabled.hpp>

#include "support/cells.hpp"
#include "support/hygiene.hpp"

namespace {

/// Colours a ring of n vertices and returns the number of edges whose ends have one colour.
template <class Exec>
int conflicts_on_ring(int n) {
  using Device = typename Exec::device_type;
  using Memory = typename Exec::memory_space;
  Kokkos::View<int*, Device> offsets("test::offsets", n + 1), neighbours("test::neighbours", 2 * n);
  auto offsets_host = Kokkos::create_mirror_view(offsets);
  auto neighbours_host = Kokkos::create_mirror_view(neighbours);
  for (int v = 0; v < n; ++v) {
    offsets_host(v + 1) = 2 * (v + 1);
    neighbours_host(2 * v) = (v + n - 1) % n;
    neighbours_host(2 * v + 1) = (v + 1) % n;
  }
  Kokkos::deep_copy(offsets, offsets_host);
  Kokkos::deep_copy(neighbours, neighbours_host);
  KokkosKernels::Experimental::KokkosKernelsHandle<int, int, double, Exec, Memory, Memory> handle;
  handle.create_graph_coloring_handle();
  KokkosGraph::Experimental::graph_color(&handle, n, n, offsets, neighbours);
  auto colors =
      Kokkos::create_mirror_view_and_copy(Kokkos::HostSpace{}, handle.get_graph_coloring_handle()->get_vertex_colors());
  handle.destroy_graph_coloring_handle();
  int conflicts = 0;
  for (int v = 0; v < n; ++v) conflicts += colors(v) == colors((v + 1) % n) || colors(v) == 0;
  return conflicts;
}

}  // namespace

TEST_CASE("Kokkos Kernels colours a graph on every backend") {
  hornbill::test::LabelsUnwatched const unwatched;
#define HORNBILL_COLOUR(SPACE) CHECK(conflicts_on_ring<SPACE>(1001) == 0);
  HORNBILL_FOR_EACH_BACKEND(HORNBILL_COLOUR)
#undef HORNBILL_COLOUR
}
