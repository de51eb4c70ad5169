#include "order.hpp"

#include <algorithm>

#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>

namespace hornbill::alarms {

using llvm::dyn_cast;

/// Functions that the rest of a block calls, and what those call.
void Order::add_callees(llvm::Instruction const& from, After& after) {
  std::vector<llvm::Function const*> work;
  auto const add = [&](llvm::Instruction const& instruction) {
    if (auto const* call = dyn_cast<llvm::CallBase>(&instruction))
      for (auto const* callee : effects_.callees_of(*call).functions)
        if (after.functions.insert(callee).second) work.push_back(callee);
  };
  for (auto const* instruction = &from; instruction; instruction = instruction->getNextNode()) add(*instruction);
  while (!work.empty()) {
    auto const* function = work.back();
    work.pop_back();
    for (auto const& instruction : llvm::instructions(*function)) add(instruction);
  }
}

Order::After const& Order::after(llvm::Instruction const& first) {
  auto const [at, is_new] = after_.try_emplace(&first);
  auto& after = at->second;
  if (!is_new) return after;
  std::unordered_set<llvm::Instruction const*> seen{&first};
  std::vector<llvm::Instruction const*> work{&first};
  while (!work.empty()) {
    auto const* from = work.back();
    work.pop_back();
    after.instructions.push_back(from);
    if (from->getNextNode()) add_callees(*from->getNextNode(), after);
    std::vector<llvm::BasicBlock const*> blocks{from->getParent()};
    while (!blocks.empty()) {
      auto const* block = blocks.back();
      blocks.pop_back();
      for (auto const* next : llvm::successors(block))
        if (after.blocks.insert(next).second) {
          add_callees(next->front(), after);
          blocks.push_back(next);
        }
    }
    for (auto const* call : effects_.callers_of(*from->getFunction()))
      if (seen.insert(call).second) work.push_back(call);
  }
  return after;
}

bool Order::leads_to(llvm::CallBase const& call, llvm::Function const& function) {
  auto const [at, is_new] = callers_.try_emplace(&function);
  auto& callers = at->second;
  if (is_new) {
    std::vector<llvm::Function const*> work{&function};
    callers.insert(&function);
    while (!work.empty()) {
      auto const* callee = work.back();
      work.pop_back();
      for (auto const* caller : effects_.callers_of(*callee))
        if (callers.insert(caller->getFunction()).second) work.push_back(caller->getFunction());
    }
  }
  return std::ranges::any_of(effects_.callees_of(call).functions,
                             [&](llvm::Function const* callee) { return callers.contains(callee); });
}

bool Order::is_called_after(llvm::Instruction const& first, llvm::Function const& function) {
  return after(first).functions.contains(&function);
}

bool Order::may_follow(llvm::Instruction const& first, llvm::Instruction const& then) {
  auto const& places = after(first);
  if (places.functions.contains(then.getFunction()) || places.blocks.contains(then.getParent())) return true;
  return std::ranges::any_of(places.instructions, [&](llvm::Instruction const* from) {
    return from->getParent() == then.getParent() && from->comesBefore(&then);
  });
}

}  // namespace hornbill::alarms
