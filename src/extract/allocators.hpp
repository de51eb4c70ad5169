// Functions of a program that allocate memory for others. Internal to src/extract.
#pragma once

#include <functional>

#include <llvm/IR/Module.h>

#include "externals.hpp"

namespace hornbill::extract {

/// Puts functions of a kind into the functions that call them, and those that are of the kind then, and so on, a few
/// levels deep.
/// \param prepare  what is done to a function of the kind before
void inline_calls(llvm::Module& module, std::function<bool(llvm::Function const&)> const& is_wanted,
                  std::function<void(llvm::Function&)> const& prepare);

/// Puts small functions that return memory of their own, such as a malloc() that ends the program where it fails, into
/// the functions that call them: then each call has an object of its own.
void inline_allocators(llvm::Module& module, Externals const& externals);

}  // namespace hornbill::extract
