#include "allocators.hpp"

#include <algorithm>
#include <unordered_set>
#include <vector>

#include <llvm/ADT/SmallPtrSet.h>
#include <llvm/ADT/SmallVector.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/Instructions.h>
#include <llvm/Transforms/Utils/Cloning.h>

#include "memory.hpp"

namespace hornbill::extract {

using llvm::dyn_cast, llvm::isa;

namespace {

using Functions = std::unordered_set<llvm::Function const*>;

bool allocates(llvm::CallBase const& call, Externals const& externals) {
  auto const* effects = effects_of(call, externals);
  return effects && std::ranges::any_of(*effects, [](ExternalEffect const& effect) {
           return effect.returns_a(ExternalValue::Kind::fresh);
         });
}

/// Whether a value is what such a call returned, or null.
bool is_fresh(llvm::Value const& value, Externals const& externals) {
  llvm::SmallPtrSet<llvm::Value const*, 8> seen;
  llvm::SmallVector<llvm::Value const*, 8> work{&value};
  bool is_any = false;
  while (!work.empty()) {
    auto const* next = work.pop_back_val()->stripPointerCasts();
    if (!seen.insert(next).second || isa<llvm::ConstantPointerNull>(next)) continue;
    if (auto const* call = dyn_cast<llvm::CallBase>(next)) {
      if (!allocates(*call, externals)) return false;
      is_any = true;
    } else if (isa<llvm::PHINode, llvm::SelectInst>(next)) {
      for (auto const& operand : llvm::cast<llvm::User>(next)->operands())
        if (operand->getType()->isPointerTy()) work.push_back(operand);
    } else {
      return false;
    }
  }
  return is_any;
}

bool is_allocator(llvm::Function const& function, Externals const& externals) {
  constexpr unsigned most_instructions = 60;
  if (function.isDeclaration() || function.isVarArg() || !function.getReturnType()->isPointerTy()) return false;
  if (function.getInstructionCount() > most_instructions) return false;
  bool returns = false;
  for (auto const& instruction : llvm::instructions(function)) {
    auto const* call = dyn_cast<llvm::CallBase>(&instruction);
    if (call && callee_of(*call) == &function) return false;
    auto const* result = dyn_cast<llvm::ReturnInst>(&instruction);
    if (!result) continue;
    if (!isa<llvm::ConstantPointerNull>(result->getReturnValue()) && !is_fresh(*result->getReturnValue(), externals))
      return false;
    returns = returns || !isa<llvm::ConstantPointerNull>(result->getReturnValue());
  }
  return returns;
}

std::vector<llvm::CallBase*> calls_of(llvm::Module& module, Functions const& functions) {
  std::vector<llvm::CallBase*> calls;
  for (auto& caller : module)
    for (auto& instruction : llvm::instructions(caller))
      if (auto* call = dyn_cast<llvm::CallBase>(&instruction);
          call && functions.contains(call->getCalledFunction()) && call->getCalledFunction() != &caller)
        calls.push_back(call);
  return calls;
}

}  // namespace

void inline_calls(llvm::Module& module, std::function<bool(llvm::Function const&)> const& is_wanted,
                  std::function<void(llvm::Function&)> const& prepare) {
  constexpr int most_levels = 3;
  constexpr std::size_t most_calls = 5000;
  Functions known;
  for (int level = 0; level < most_levels; ++level) {
    Functions found;
    for (auto& function : module)
      if (!known.contains(&function) && is_wanted(function)) {
        prepare(function);
        found.insert(&function);
      }
    auto const calls = calls_of(module, found);
    if (found.empty() || calls.size() > most_calls) break;
    for (auto* call : calls) {
      llvm::InlineFunctionInfo info;
      llvm::InlineFunction(*call, info);
    }
    known.merge(found);
  }
}

void inline_allocators(llvm::Module& module, Externals const& externals) {
  auto const is_wanted = [&](llvm::Function const& function) { return is_allocator(function, externals); };
  inline_calls(module, is_wanted, [](llvm::Function&) {});
}

}  // namespace hornbill::extract
