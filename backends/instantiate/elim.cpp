// Elimination's public templates; HORNBILL_SPACE, HORNBILL_SEMIRING and HORNBILL_VALUE are set by
// backends/CMakeLists.txt.
//
// kinds: plans MinSum_Cost MinSum_NarrowCost MaxProduct_float MaxProduct_double MaxSum_float MaxSum_double
// kinds: CountedMinSum_Cost SumProduct_float SumProduct_double LogSumExp_float LogSumExp_double
#include <hornbill/elim.hpp>

namespace hornbill::elim {
#ifndef HORNBILL_SEMIRING
HORNBILL_INSTANTIATE_ELIM_PLANS(, HORNBILL_SPACE)
HORNBILL_INSTANTIATE_ELIM_DPOP(, HORNBILL_SPACE)
HORNBILL_FOR_TABLE_VALUES(HORNBILL_INSTANTIATE_ELIM_VALUES, , HORNBILL_SPACE)
#else
using tables::Cost, tables::NarrowCost;
using Semiring = tables::HORNBILL_SEMIRING<HORNBILL_VALUE>;
HORNBILL_INSTANTIATE_ELIM(, HORNBILL_SPACE, Semiring)
#ifdef HORNBILL_SELECTS
HORNBILL_INSTANTIATE_ELIM_CONTENT(, HORNBILL_SPACE, Semiring)
#endif
#endif
}  // namespace hornbill::elim
