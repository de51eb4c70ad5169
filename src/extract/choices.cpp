#include "choices.hpp"

#include <algorithm>
#include <set>
#include <vector>

#include <llvm/ADT/SmallVector.h>
#include <llvm/Analysis/CFG.h>
#include <llvm/IR/Constants.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>

#include "allocators.hpp"
#include "memory.hpp"

namespace hornbill::extract {

using llvm::dyn_cast, llvm::isa;

namespace {

constexpr char const* metadata = "hornbill.choice";

/// What a function may return; through selections.
std::set<llvm::Value const*> results_of(llvm::Function const& function) {
  std::set<llvm::Value const*> seen, results;
  auto work = returned_values(function);
  while (!work.empty()) {
    auto const* value = work.back();
    work.pop_back();
    if (!seen.insert(value).second) continue;
    if (auto const* phi = dyn_cast<llvm::PHINode>(value))
      work.insert(work.end(), phi->value_op_begin(), phi->value_op_end());
    else if (auto const* select = dyn_cast<llvm::SelectInst>(value))
      work.insert(work.end(), {select->getTrueValue(), select->getFalseValue()});
    else if (isa<llvm::ZExtInst, llvm::SExtInst, llvm::BitCastInst>(value))
      work.push_back(llvm::cast<llvm::User>(value)->getOperand(0));
    else
      results.insert(value);
  }
  return results;
}

/// Whether the result is one of several values, a constant or a comparison among them.
bool chooses(llvm::Function const& function) {
  auto const results = results_of(function);
  auto const is_comparison = [](llvm::Value const* value) { return isa<llvm::ICmpInst>(value); };
  auto const is_constant = [](llvm::Value const* value) {
    return isa<llvm::ConstantInt, llvm::ConstantPointerNull>(value);
  };
  return std::ranges::any_of(results, is_comparison) ||
         (results.size() > 1 && std::ranges::any_of(results, is_constant));
}

bool frees(llvm::CallBase const& call, Externals const& externals) {
  auto const* effects = effects_of(call, externals);
  return effects && std::ranges::any_of(*effects, [](ExternalEffect const& effect) {
           return effect.kind == ExternalEffect::Kind::frees;
         });
}

bool is_about_pointers(llvm::Instruction const& instruction, Externals const& externals) {
  auto const is_pointer = [](llvm::Value const* value) { return value->getType()->isPointerTy(); };
  if (auto const* store = dyn_cast<llvm::StoreInst>(&instruction)) return is_pointer(store->getValueOperand());
  if (auto const* end = dyn_cast<llvm::ReturnInst>(&instruction))
    return end->getReturnValue() && is_pointer(end->getReturnValue());
  if (auto const* call = dyn_cast<llvm::CallBase>(&instruction)) return frees(*call, externals);
  return isa<llvm::ICmpInst>(instruction) && is_pointer(instruction.getOperand(0));
}

bool has_loop(llvm::Function const& function) {
  llvm::SmallVector<std::pair<llvm::BasicBlock const*, llvm::BasicBlock const*>, 4> edges;
  llvm::FindFunctionBackedges(function, edges);
  return !edges.empty();
}

bool may_be_inlined(llvm::Function const& function) {
  return !function.isDeclaration() && !function.isVarArg() && !function.isInterposable();
}

/// Whether a function calls nothing, and loads, stores or returns a pointer.
bool is_accessor(llvm::Function const& function, Externals const& externals) {
  constexpr unsigned most_instructions = 16;
  if (!may_be_inlined(function) || has_loop(function) || function.getName() == "main") return false;
  unsigned instructions = 0;
  bool is_any = false;
  for (auto const& instruction : llvm::instructions(function)) {
    if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd()) continue;
    if (isa<llvm::CallBase, llvm::IndirectBrInst>(instruction) || ++instructions > most_instructions) return false;
    is_any = is_any || is_about_pointers(instruction, externals);
  }
  return is_any;
}

bool is_choice(llvm::Function const& function, Externals const& externals) {
  constexpr unsigned most_instructions = 40, most_calls = 4;
  if (!may_be_inlined(function)) return false;
  auto* const type = function.getReturnType();
  if (!type->isIntegerTy() && !type->isPointerTy()) return false;
  unsigned instructions = 0, calls = 0;
  bool is_any = false;
  for (auto const& instruction : llvm::instructions(function)) {
    if (instruction.isDebugOrPseudoInst() || instruction.isLifetimeStartOrEnd()) continue;
    auto const* call = dyn_cast<llvm::CallBase>(&instruction);
    if (call && call->getCalledFunction() == &function) return false;
    if (isa<llvm::InvokeInst, llvm::IndirectBrInst, llvm::CallBrInst>(instruction)) return false;
    calls += call && !isa<llvm::IntrinsicInst>(call) ? 1 : 0;
    is_any = is_any || is_about_pointers(instruction, externals);
    if (++instructions > most_instructions || calls > most_calls) return false;
  }
  return is_any && !has_loop(function) && chooses(function);
}

}  // namespace

std::unordered_set<llvm::Function const*> inline_choices(llvm::Module& module, Externals const& externals,
                                                         bool is_program) {
  std::uint64_t number = 0;
  auto& context = module.getContext();
  auto* const type = llvm::Type::getInt64Ty(context);
  std::vector<llvm::Function const*> found;
  auto const mark = [&](llvm::Function& function) {
    found.push_back(&function);
    for (auto& instruction : llvm::instructions(function))
      if (!instruction.getMetadata(metadata))
        instruction.setMetadata(
            metadata,
            llvm::MDNode::get(context, llvm::ConstantAsMetadata::get(llvm::ConstantInt::get(type, ++number))));
  };
  auto const is_first = [&](llvm::Function const& function) { return is_choice(function, externals); };
  auto const is_second = [&](llvm::Function const& function) { return is_accessor(function, externals); };
  inline_calls(module, is_first, mark);
  inline_calls(module, is_second, mark);
  std::unordered_set<llvm::Function const*> uncalled;
  for (auto const* function : found)
    if (function->use_empty() && function->getName() != "main" && (is_program || function->hasLocalLinkage()))
      uncalled.insert(function);
  return uncalled;
}

std::optional<std::uint64_t> number_of_choice(llvm::Instruction const& instruction) {
  auto const* node = instruction.getMetadata(metadata);
  if (!node) return {};
  return llvm::mdconst::extract<llvm::ConstantInt>(node->getOperand(0))->getZExtValue();
}

}  // namespace hornbill::extract
