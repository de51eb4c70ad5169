#include "header_bodies.hpp"

#include <vector>

#include <llvm/IR/Function.h>

namespace hornbill::extract {
namespace {

/// The name of the function that Clang calls so where a header gives it a body beside the one in the library.
llvm::StringRef library_name(llvm::Function const& function) {
  auto name = function.getName();
  name.consume_back(".inline");
  return name;
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

}  // namespace hornbill::extract
