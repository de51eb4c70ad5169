#include "hooks.hpp"

#include <algorithm>

#include <llvm/Analysis/ConstantFolding.h>
#include <llvm/IR/GlobalVariable.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>

namespace hornbill::extract {

using llvm::dyn_cast;

namespace {

constexpr char const* mark = "hornbill.hook";

bool allocates_or_frees(llvm::Function const& function, Externals const& externals) {
  auto const known = externals.find(function.getName().str());
  return known != externals.end() && std::ranges::any_of(known->second, [](ExternalEffect const& effect) {
           return effect.kind == ExternalEffect::Kind::frees || effect.returns_a(ExternalValue::Kind::fresh);
         });
}

/// The function outside that a variable, or a member of one, is at first, through which a call goes; or none.
llvm::Function* function_of_hook(llvm::CallBase const& call, llvm::DataLayout const& layout) {
  auto const* load = dyn_cast<llvm::LoadInst>(call.getCalledOperand()->stripPointerCasts());
  if (!load) return nullptr;
  auto const* pointer = load->getPointerOperand();
  llvm::APInt offset(layout.getIndexTypeSizeInBits(pointer->getType()), 0);
  auto const* variable =
      dyn_cast<llvm::GlobalVariable>(pointer->stripAndAccumulateConstantOffsets(layout, offset, true));
  if (!variable || !variable->hasInitializer()) return nullptr;
  auto* const initial = const_cast<llvm::Constant*>(variable->getInitializer());  // which stays as it is
  auto* const content = llvm::ConstantFoldLoadFromConst(initial, load->getType(), offset, layout);
  auto* const function = content ? dyn_cast<llvm::Function>(content->stripPointerCasts()) : nullptr;
  return function && function->isDeclaration() ? function : nullptr;
}

}  // namespace

void call_functions_of_hooks(llvm::Module& module, Externals const& externals) {
  for (auto& caller : module)
    for (auto& instruction : llvm::instructions(caller)) {
      auto* call = dyn_cast<llvm::CallBase>(&instruction);
      if (!call || call->getCalledFunction() || call->isInlineAsm()) continue;
      auto* const function = function_of_hook(*call, module.getDataLayout());
      if (!function || function->getFunctionType() != call->getFunctionType()) continue;
      if (!allocates_or_frees(*function, externals)) continue;
      call->setCalledFunction(function);
      call->setMetadata(mark, llvm::MDNode::get(module.getContext(), {}));
    }
}

bool is_of_hook(llvm::CallBase const& call) { return call.getMetadata(mark) != nullptr; }

}  // namespace hornbill::extract
