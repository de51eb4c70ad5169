// Variables through which programs allocate and free. Internal to src/extract.
#pragma once

#include <llvm/IR/InstrTypes.h>
#include <llvm/IR/Module.h>

#include "externals.hpp"

namespace hornbill::extract {

/// Replace calls through a variable that begins as a function outside which allocates or frees, such as
/// `void (*hook)(void*) = free`, by calls of that function. What else a program may set the variable to is not followed
/// there.
void call_functions_of_hooks(llvm::Module& module, Externals const& externals);

/// Whether a call went through such a variable. Libraries have thousands, most of them for text.
bool is_of_hook(llvm::CallBase const& call);

}  // namespace hornbill::extract
