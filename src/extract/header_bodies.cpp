#include "header_bodies.hpp"

#include <map>
#include <string>
#include <utility>
#include <vector>

#include <llvm/ADT/StringExtras.h>
#include <llvm/IR/Function.h>
#include <llvm/IR/IRBuilder.h>
#include <llvm/IR/Instructions.h>

namespace hornbill::extract {
namespace {

/// The function of the library to which a header gives a body that Clang calls `NAME.inline`; where several files are
/// linked, `NAME.inline.3`.
llvm::StringRef library_name(llvm::Function const& function) {
  auto const [name, rest] = function.getName().split(".inline");
  bool const is_own = rest.drop_while([](char c) { return c == '.' || llvm::isDigit(c); }).empty();
  return is_own ? name : function.getName();
}

/// Whether arguments are those of memset, or of memcpy.
bool is_of_memory(llvm::CallInst const& call, bool is_fill) {
  if (call.arg_size() < 3 || call.getType() != call.getArgOperand(0)->getType()) return false;
  auto const* second = call.getArgOperand(1)->getType();
  return call.getType()->isPointerTy() && call.getArgOperand(2)->getType()->isIntegerTy() &&
         (is_fill ? second->isIntegerTy() : second->isPointerTy());
}

}  // namespace

void drop_header_bodies(llvm::Module& module, Externals const& externals) {
  std::vector<llvm::Function*> functions;
  for (auto& function : module) {
    bool const is_of_header = function.hasAvailableExternallyLinkage() ||
                              (function.hasLocalLinkage() && library_name(function) != function.getName());
    if (is_of_header && externals.contains(library_name(function).str())) functions.push_back(&function);
  }
  for (auto* function : functions) {
    if (function->hasAvailableExternallyLinkage()) {
      function->deleteBody();
      continue;
    }
    auto declared = module.getOrInsertFunction(library_name(*function), function->getFunctionType());
    function->replaceAllUsesWith(declared.getCallee());
    function->eraseFromParent();
  }
}

void use_memory_intrinsics(llvm::Module& module) {
  using Replace = void (*)(llvm::IRBuilder<>&, llvm::CallInst&);
  static std::map<llvm::StringRef, Replace> const replacements{
      {"memset",
       [](llvm::IRBuilder<>& builder, llvm::CallInst& call) {
         auto* const byte = builder.CreateTrunc(call.getArgOperand(1), builder.getInt8Ty());
         builder.CreateMemSet(call.getArgOperand(0), byte, call.getArgOperand(2), llvm::MaybeAlign());
       }},
      {"memcpy",
       [](llvm::IRBuilder<>& builder, llvm::CallInst& call) {
         builder.CreateMemCpy(call.getArgOperand(0), llvm::MaybeAlign(), call.getArgOperand(1), llvm::MaybeAlign(),
                              call.getArgOperand(2));
       }},
      {"memmove", [](llvm::IRBuilder<>& builder, llvm::CallInst& call) {
         builder.CreateMemMove(call.getArgOperand(0), llvm::MaybeAlign(), call.getArgOperand(1), llvm::MaybeAlign(),
                               call.getArgOperand(2));
       }}};
  std::vector<std::pair<llvm::CallInst*, Replace>> calls;
  for (auto const& [name, replace] : replacements)
    for (auto const& full : {name.str(), "__" + name.str() + "_chk"}) {
      auto const* function = module.getFunction(full);
      if (!function || !function->isDeclaration()) continue;
      for (auto const* user : function->users())
        if (auto* call = const_cast<llvm::CallInst*>(llvm::dyn_cast<llvm::CallInst>(user));
            call && call->getCalledFunction() == function && is_of_memory(*call, name == "memset"))
          calls.emplace_back(call, replace);
    }
  for (auto const& [call, replace] : calls) {
    llvm::IRBuilder<> builder(call);
    replace(builder, *call);
    call->replaceAllUsesWith(call->getArgOperand(0));
    call->eraseFromParent();
  }
}

}  // namespace hornbill::extract
