// Bodies that headers give functions of the library. Internal to src/extract.
#pragma once

#include <llvm/IR/Module.h>

#include "externals.hpp"

namespace hornbill::extract {

/// Leave out bodies of functions that the table knows: of inline functions of headers (`atoi`), and of those that check
/// sizes (`strcpy.inline`). Then calls are known for what they are, at their own places.
void drop_header_bodies(llvm::Module& module, Externals const& externals);

/// Replace calls of memset, memcpy and memmove, which headers call in place of LLVM's own, by these.
void use_memory_intrinsics(llvm::Module& module);

}  // namespace hornbill::extract
