// Kokkos is started once for all tests; invalid floating-point operations on the host are trapped (log 0 passes, inf -
// inf does not).
#define DOCTEST_CONFIG_IMPLEMENT
#include <doctest/doctest.h>

#include <cfenv>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include "support/hygiene.hpp"

int main(int argc, char** argv) {
#ifdef __GLIBC__
  constexpr bool on_host = std::is_same_v<Kokkos::DefaultExecutionSpace, Kokkos::DefaultHostExecutionSpace>;
  if (on_host) feenableexcept(FE_INVALID);  // before Kokkos starts its threads, which inherit it
#endif
  Kokkos::ScopeGuard kokkos(Kokkos::InitializationSettings().set_disable_warnings(true));
  hornbill::test::watch_labels();
  return doctest::Context(argc, argv).run();
}
