/// \file
/// Public templates are compiled once for each backend, by backends/instantiate/ENGINE.cpp, and declared extern
/// everywhere else. So users' files need not compile kernels, and the flag that keeps a multiplication and an addition
/// apart reaches all arithmetic. Other value types and semirings work from the headers, without that flag.
///
/// A header lists what is to be compiled in a macro (PREFIX, SPACE, KIND), behind the definitions, and passes it to one
/// of these, which declares it extern.
#pragma once

#include <hornbill/backend/enabled.hpp>

/// For what depends on the execution space alone.
#define HORNBILL_EXTERN_PLANS(MACRO) HORNBILL_FOR_EACH_BACKEND(HORNBILL_EXTERN_PLANS_ON, MACRO)
#define HORNBILL_EXTERN_PLANS_ON(SPACE, MACRO) MACRO(extern, SPACE)

/// For numbers that messages are made of.
#define HORNBILL_EXTERN_REALS(MACRO) HORNBILL_FOR_EACH_BACKEND(HORNBILL_EXTERN_REALS_ON, MACRO)
#define HORNBILL_EXTERN_REALS_ON(SPACE, MACRO) HORNBILL_FOR_REALS(MACRO, extern, SPACE)
#define HORNBILL_FOR_REALS(MACRO, PREFIX, SPACE) MACRO(PREFIX, SPACE, float) MACRO(PREFIX, SPACE, double)
