// Compiled once for each semiring, as backends/CMakeLists.txt says, and once for what needs none.
#define HORNBILL_INSTANTIATING
#include <hornbill/backend/table_instantiations.hpp>

namespace hornbill::tables {
#ifdef HORNBILL_SEMIRING
HORNBILL_INSTANTIATE_REDUCE(, Kokkos::Cuda, HORNBILL_SEMIRING<HORNBILL_VALUE>)
#else
HORNBILL_INSTANTIATE_TABLE_PLANS(, Kokkos::Cuda)
#endif
}  // namespace hornbill::tables
