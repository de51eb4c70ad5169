// Public templates of probabilistic circuits; HORNBILL_SPACE and HORNBILL_VALUE are set by backends/CMakeLists.txt.
//
// kinds: plans float double
#include <hornbill/circuit.hpp>

namespace hornbill::circuit {
#ifndef HORNBILL_VALUE
HORNBILL_INSTANTIATE_CIRCUIT_PLANS(, HORNBILL_SPACE)
#else
HORNBILL_INSTANTIATE_CIRCUIT(, HORNBILL_SPACE, HORNBILL_VALUE)
#endif
}  // namespace hornbill::circuit
