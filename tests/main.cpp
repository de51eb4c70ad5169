// Kokkos is started once for all tests; invalid floating-point operations on the host are trapped (log 0 passes, inf -
// inf does not).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cfenv>

#include <Kokkos_Core.hpp>

#include "support/hygiene.hpp"

int main(int argc, char** argv) {
#if defined(__GLIBC__) && !defined(KOKKOS_ENABLE_CUDA)
  feenableexcept(FE_INVALID);  // before Kokkos starts its threads, which inherit it
#endif
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  hornbill::test::watch_labels();
  return doctest::Context(argc, argv).run();
}
