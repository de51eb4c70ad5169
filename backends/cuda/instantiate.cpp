// Compiled once for each value type; HORNBILL_VALUE is set by backends/CMakeLists.txt.
#define HORNBILL_INSTANTIATING
#include <hornbill/backend/instantiations.hpp>

namespace hornbill {
HORNBILL_INSTANTIATE(, Kokkos::Cuda, HORNBILL_VALUE)
#ifdef HORNBILL_WITH_PLANS
HORNBILL_INSTANTIATE_PLANS(, Kokkos::Cuda)
#endif
}  // namespace hornbill
