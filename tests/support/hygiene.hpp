// Kernels and allocations without a hornbill:: label fail the test that made them.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>

#include <Kokkos_Core.hpp>

namespace hornbill::test {

inline bool labels_are_watched = true;

/// While one lives, other libraries' labels are let through.
struct LabelsUnwatched {
  LabelsUnwatched() { labels_are_watched = false; }
  ~LabelsUnwatched() { labels_are_watched = true; }
};

/// Kokkos' own (copies, fills) and those of tests are let through.
inline void require_label(char const* kind, char const* label) {
  if (!labels_are_watched) return;
  for (char const* known : {"hornbill::", "Kokkos", "test::"})
    if (std::strstr(label, known)) return;
  std::fprintf(stderr, "%s without a hornbill:: label: '%s'\n", kind, label);
  std::abort();
}

inline void watch_labels() {
  namespace tools = Kokkos::Tools::Experimental;
  tools::set_begin_parallel_for_callback(
      [](char const* label, std::uint32_t, std::uint64_t*) { require_label("parallel_for", label); });
  tools::set_begin_parallel_reduce_callback(
      [](char const* label, std::uint32_t, std::uint64_t*) { require_label("parallel_reduce", label); });
  tools::set_allocate_data_callback(
      [](Kokkos_Profiling_SpaceHandle, char const* label, void const*, std::uint64_t bytes) {
        if (bytes > 0) require_label("allocation", label);
      });
}

}  // namespace hornbill::test
