// A program's bitcode, and which variables its values are. Internal to src/extract and src/alarms.
#pragma once

#include <memory>
#include <string>
#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <llvm/IR/LLVMContext.h>
#include <llvm/IR/Module.h>
#include <hornbill/extract/extract.hpp>

#include "externals.hpp"
#include "memory.hpp"
#include "system_builder.hpp"
#include "translator.hpp"

namespace hornbill::extract {

class Program::Bitcode {
 public:
  Bitcode(std::vector<std::string> const& files, Options const& options, Report& report);
  points_to::ConstraintSystem take_constraints() { return system_.take(); }

  llvm::Module const& module() const { return *module_; }
  Externals const& externals() const { return externals_; }
  Memory const& memory() const { return *memory_; }
  /// The variable of an operand that is a pointer; nothing if that points to nothing.
  Index variable_of(llvm::Value const& pointer) const {
    auto const found = variables_.find(&pointer);
    return found == variables_.end() ? nothing : found->second;
  }
  /// Of an instruction of a function that is in its callers too, or of a copy there, the one that stands for all; none
  /// of other ones.
  llvm::Instruction const* original_of(llvm::Instruction const& instruction) const {
    auto const found = originals_.find(&instruction);
    return found == originals_.end() ? nullptr : found->second;
  }
  /// Whether a function is only in its callers, as copies.
  bool is_only_copied(llvm::Function const& function) const { return uncalled_.contains(&function); }

 private:
  void find_originals();

  llvm::LLVMContext context_;
  Externals externals_;
  std::unique_ptr<llvm::Module> module_;
  SystemBuilder system_;
  std::unique_ptr<Memory> memory_;
  std::unordered_map<llvm::Value const*, Index> variables_;
  std::unordered_map<llvm::Instruction const*, llvm::Instruction const*> originals_;
  std::unordered_set<llvm::Function const*> uncalled_;
};

}  // namespace hornbill::extract
