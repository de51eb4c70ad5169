// Programs in LLVM bitcode, from files. Internal to src/extract.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>

namespace hornbill::extract {

/// Reads and links files; local variables whose address is not taken become values.
/// \throws InputError naming the file, for what cannot be read, verified or linked, and where no function has a body
std::unique_ptr<llvm::Module> read_program(std::vector<std::string> const& files, llvm::LLVMContext& context);

}  // namespace hornbill::extract
