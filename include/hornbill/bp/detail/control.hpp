// How a run stands, and what it has recorded.
#pragma once

#include <cstddef>
#include <cstdint>
#include <limits>
#include <memory>

#include <Kokkos_Core.hpp>

#include <hornbill/bp/acceleration.hpp>
#include <hornbill/types.hpp>

namespace hornbill::bp::detail {

/// How a run stands, kept on the device so that iterations can be submitted without waiting for the host to judge them.
template <class Value>
struct Control {
  double tolerance = 0;
  Value residual = 0;                                       ///< of the last iteration judged
  Index iterations = 0;                                     ///< judged, each or at the end of several
  Index contradiction = std::numeric_limits<Index>::max();  ///< lowest contradicted variable seen, or the largest Index
  Index stopped = 0;                                        ///< converged or contradicted
  Value damping = 0;                                        ///< of messages; acceleration changes it
  Value lowest_residual = std::numeric_limits<Value>::max();  ///< at the end of any cycle of acceleration
  Index stalled = 0;                                          ///< cycles since then
  /// cycles follow without an extrapolation where one has failed
  Index careful = 0;
  Value previous_residual = 0;  ///< at the end of the cycle before
  Index extrapolated = 0;       ///< whether that cycle ended in an extrapolation
  /// cycles still to go without one; and after the last that failed
  Index pause = 0, last_pause = 0;
};

/// Bins that residuals are counted in.
inline constexpr Index num_bins = 512;
/// How the messages of a round are selected, see selection.hpp.
struct Selection {
  Index threshold = 0;  ///< lowest bin that is selected
  std::uint32_t round = 0;
};

/// Work of a local update so far.
struct LocalWork {
  Offset edges = 0;   ///< whose messages were computed, or which were followed from a variable
  Index overrun = 0;  ///< more would move than is worth it
};
/// Which steps are to be updated, a bit each.
template <class MemorySpace>
struct LocalMarks {
  static constexpr Index bits = 32;
  static std::size_t words(std::size_t steps) { return (steps + bits - 1) / bits; }
  Kokkos::View<std::uint32_t*, MemorySpace> marks, taken;  ///< from now on; in this round
  Kokkos::View<LocalWork, MemorySpace> work;
};

/// What a recording of iterations depends on, beside the state that it belongs to.
struct RecordingKey {
  void const* graph = nullptr;
  void const* parameters = nullptr;  ///< of its Horn factors, in which graphs of the same factors may differ
  void const* evidence = nullptr;
  void const* plan = nullptr;
  int iterations = 0;
  bp::Acceleration acceleration{.after = -1};
  bool operator==(RecordingKey const&) const = default;
};
struct Recording {
  /// a Kokkos::Experimental::Graph, which keeps the factor graph and the evidence alive
  std::shared_ptr<void> graph;
  std::shared_ptr<void const> plan;  ///< so that no other plan can have its address
  RecordingKey key;
};

}  // namespace hornbill::bp::detail
