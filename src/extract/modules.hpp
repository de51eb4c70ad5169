// Programs in LLVM bitcode, from files. Internal to src/extract.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <hornbill/extract/extract.hpp>

namespace hornbill::extract {

/// Reads and links files; local variables whose address is not taken become values.
/// \throws InputError naming the file, for what cannot be read, verified or linked, and where no function has a body
std::unique_ptr<llvm::Module> read_program(std::vector<std::string> const& files, llvm::LLVMContext& context);

/// Local variables whose address is not taken become values, and constants stand on the right of comparisons: in a
/// program that is read, and again where functions were put into their callers.
void canonicalise(llvm::Module& module);

/// Whether functions that other programs see are called from outside, or `main` alone.
bool is_library(llvm::Module const& module, Entry entry);

}  // namespace hornbill::extract
