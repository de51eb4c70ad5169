// Public templates of dense tables; HORNBILL_SPACE, HORNBILL_SEMIRING and HORNBILL_VALUE are set by
// backends/CMakeLists.txt.
//
// kinds: plans MinSum_Cost MinSum_NarrowCost MaxProduct_float MaxProduct_double MaxSum_float MaxSum_double
// kinds: CountedMinSum_Cost SumProduct_float SumProduct_double LogSumExp_float LogSumExp_double
#include <hornbill/tables.hpp>

namespace hornbill::tables {
#ifndef HORNBILL_SEMIRING
HORNBILL_INSTANTIATE_TABLES_PLANS(, HORNBILL_SPACE)
HORNBILL_INSTANTIATE_TABLES_DECODE_PLANS(, HORNBILL_SPACE)
HORNBILL_FOR_TABLE_VALUES(HORNBILL_INSTANTIATE_TABLES_VALUES, , HORNBILL_SPACE)
#else
using Semiring = HORNBILL_SEMIRING<HORNBILL_VALUE>;
HORNBILL_INSTANTIATE_TABLES_REDUCE(, HORNBILL_SPACE, Semiring)
HORNBILL_INSTANTIATE_TABLES_SLICES(, HORNBILL_SPACE, Semiring)
#ifdef HORNBILL_SELECTS
HORNBILL_INSTANTIATE_TABLES_DECODE(, HORNBILL_SPACE, Semiring)
#endif
#endif
}  // namespace hornbill::tables
