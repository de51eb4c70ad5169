#include <hornbill/extract.hpp>

#include <llvm/Config/llvm-config.h>
#include <llvm/IR/DebugInfoMetadata.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/LLVMContext.h>

#include <hornbill/error.hpp>
#include <hornbill/io/text_file.hpp>

#include "allocators.hpp"
#include "bitcode.hpp"
#include "choices.hpp"
#include "externals.hpp"
#include "header_bodies.hpp"
#include "hooks.hpp"
#include "memory.hpp"
#include "modules.hpp"
#include "translator.hpp"

namespace hornbill::extract {

std::string llvm_version() { return LLVM_VERSION_STRING; }

Program::Bitcode::Bitcode(std::vector<std::string> const& files, Options const& options, Report& report) {
  if (files.empty()) throw InputError("no file of bitcode is given");
  externals_ = standard_externals();
  for (auto const& file : options.externals) read_externals(file, io::read_text(file), externals_);
  module_ = read_program(files, context_);
  drop_header_bodies(*module_, externals_);
  use_memory_intrinsics(*module_);
  if (options.are_choices_inlined) call_functions_of_hooks(*module_, externals_);
  inline_allocators(*module_, externals_);
  if (options.are_choices_inlined) {
    uncalled_ = inline_choices(*module_, externals_, !is_library(*module_, options.entry));
    canonicalise(*module_);
  }
  find_originals();
  memory_ = std::make_unique<Memory>(*module_, externals_, options, system_, report);
  Translator translator(*module_, *memory_, externals_, options, system_, report);
  translator.translate();
  for (auto const& function : *module_)
    for (auto const& instruction : llvm::instructions(function))
      for (auto const& operand : instruction.operands())
        if (operand->getType()->isPointerTy() && !llvm::isa<llvm::BasicBlock, llvm::Function>(operand))
          variables_.try_emplace(operand, translator.variable_of(*operand));
}

/// Of an instruction and its copies, the one that is no copy; or, where that is no longer there, the first.
void Program::Bitcode::find_originals() {
  std::unordered_map<std::uint64_t, llvm::Instruction const*> first;
  for (bool const is_copy : {false, true})
    for (auto const& function : *module_)
      for (auto const& instruction : llvm::instructions(function)) {
        auto const* at = instruction.getDebugLoc().get();
        auto const number = number_of_choice(instruction);
        if (!number || (at && at->getInlinedAt()) != is_copy) continue;
        auto const [original, is_new] = first.try_emplace(*number, &instruction);
        originals_[&instruction] = original->second;
      }
}

Program::Program(std::vector<std::string> const& files, Options const& options) {
  bitcode_ = std::make_unique<Bitcode>(files, options, report_);
  constraints_ = bitcode_->take_constraints();
}
Program::Program(Program&&) noexcept = default;
Program& Program::operator=(Program&&) noexcept = default;
Program::~Program() = default;

Extracted extract(std::vector<std::string> const& files, Options const& options) {
  Program program(files, options);
  return {std::move(program.constraints_), std::move(program.report_)};
}

}  // namespace hornbill::extract
