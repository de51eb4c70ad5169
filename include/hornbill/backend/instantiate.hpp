/// \file
/// Public templates are compiled once for each backend, by backends/instantiate/ENGINE.cpp, and declared extern
/// everywhere else. So users' files need not compile kernels, and the flag that keeps a multiplication and an addition
/// apart reaches all kernels. Other value types and semirings work from the headers, without that flag.
///
/// Behind its definitions a header lists what is to be compiled in a macro (PREFIX, SPACE, KIND), and declares it
/// extern for all kinds of a list: HORNBILL_EXTERN(HORNBILL_FOR_REALS, MACRO).
#pragma once

#include <hornbill/backend/enabled.hpp>

#define HORNBILL_EXTERN(FOR_KINDS, MACRO) HORNBILL_FOR_EACH_BACKEND(HORNBILL_EXTERN_ON, FOR_KINDS, MACRO)
#define HORNBILL_EXTERN_ON(SPACE, FOR_KINDS, MACRO) FOR_KINDS(MACRO, extern, SPACE)

/// For what depends on the execution space alone; MACRO has no KIND.
#define HORNBILL_FOR_PLANS(MACRO, PREFIX, SPACE) MACRO(PREFIX, SPACE)
/// For numbers that messages are made of.
#define HORNBILL_FOR_REALS(MACRO, PREFIX, SPACE) MACRO(PREFIX, SPACE, float) MACRO(PREFIX, SPACE, double)
