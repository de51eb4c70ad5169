// Public templates of junction trees; HORNBILL_SPACE, HORNBILL_SEMIRING and HORNBILL_VALUE are set by
// backends/CMakeLists.txt.
//
// kinds: plans MaxProduct_float MaxProduct_double MaxSum_float MaxSum_double SumProduct_float SumProduct_double
// kinds: LogSumExp_float LogSumExp_double
#include <hornbill/jtree.hpp>

namespace hornbill::jtree {
#ifndef HORNBILL_SEMIRING
HORNBILL_INSTANTIATE_JTREE_PLANS(, HORNBILL_SPACE)
#else
using Semiring = tables::HORNBILL_SEMIRING<HORNBILL_VALUE>;
HORNBILL_INSTANTIATE_JTREE(, HORNBILL_SPACE, Semiring)
#ifdef HORNBILL_SELECTS
HORNBILL_INSTANTIATE_JTREE_BEST(, HORNBILL_SPACE, Semiring)
#endif
#endif
}  // namespace hornbill::jtree
