// Small functions that say what became of pointers, or hand them on. Internal to src/extract.
#pragma once

#include <optional>
#include <unordered_set>

#include <llvm/IR/Instructions.h>
#include <llvm/IR/Module.h>

#include "externals.hpp"

namespace hornbill::extract {

/// Puts small functions that test, return, store or free pointers, and return one of several constants or null, into
/// the functions that call them: there, a branch on the result says which way the function took.
/// The same of those that do little else than load or store a pointer, such as getters and setters.
/// \param is_program  nothing but `main` is called from outside
/// \return functions that nobody calls then
std::unordered_set<llvm::Function const*> inline_choices(llvm::Module& module, Externals const& externals,
                                                         bool is_program);

/// The number of an instruction of such a function, which its copies have too; none of others.
std::optional<std::uint64_t> number_of_choice(llvm::Instruction const& instruction);

}  // namespace hornbill::extract
