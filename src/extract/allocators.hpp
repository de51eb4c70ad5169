// Functions of a program that allocate memory for others. Internal to src/extract.
#pragma once

#include <llvm/IR/Module.h>

#include "externals.hpp"

namespace hornbill::extract {

/// Puts small functions that return memory of their own, such as a malloc() that ends the program where it fails, into
/// the functions that call them: then each call has an object of its own.
void inline_allocators(llvm::Module& module, Externals const& externals);

}  // namespace hornbill::extract
