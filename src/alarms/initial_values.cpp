#include "initial_values.hpp"

#include <algorithm>

#include <llvm/IR/CFG.h>
#include <llvm/IR/InstIterator.h>
#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

InitialValues::Place InitialValues::place_of(llvm::Value const& pointer) const {
  auto const& layout = effects_.module().getDataLayout();
  llvm::APInt bytes(layout.getIndexTypeSizeInBits(pointer.getType()), 0);
  auto const* base = pointer.stripAndAccumulateConstantOffsets(layout, bytes, true);
  return {isa<llvm::GlobalVariable>(base) ? base : nullptr, bytes.getSExtValue()};
}

InitialValues::Outline const& InitialValues::outline_of(llvm::Function const& function) {
  auto const [known, is_new] = outlines_.try_emplace(&function);
  auto& outline = known->second;
  if (!is_new) return outline;
  std::unordered_map<llvm::BasicBlock const*, std::size_t> numbers;
  for (auto const& block : function) numbers.emplace(&block, numbers.size());
  for (auto const& block : function) {
    auto& own = outline.emplace_back();
    for (auto const& instruction : block) {
      auto const* store = dyn_cast<llvm::StoreInst>(&instruction);
      if (auto const place = store ? place_of(*store->getPointerOperand()) : Place(); place.first)
        own.steps.push_back({store, place});
      auto const* call = dyn_cast<llvm::CallBase>(&instruction);
      if (!call || isa<llvm::IntrinsicInst>(call)) continue;
      auto const& callees = effects_.callees_of(*call);
      bool const is_end = effects_.never_returns(*call);
      if (is_end || !callees.functions.empty()) own.steps.push_back({call, {}, &callees, is_end});
    }
    own.is_return = isa<llvm::ReturnInst>(block.getTerminator());
    for (auto const* next : llvm::successors(&block)) own.next.push_back(numbers.at(next));
  }
  return outline;
}

bool InitialValues::sets(Step const& step, Place const& place, Setters const& setters) const {
  if (step.place.first) return step.place == place;
  if (step.is_end) return true;
  return !step.callees->is_open && std::ranges::all_of(step.callees->functions, [&](auto const* callee) {
    return setters.always_set.contains(callee);
  });
}

InitialValues::Reached InitialValues::reached_unset(llvm::Function const& function, Place const& place,
                                                    Setters const& setters) {
  auto const& outline = outline_of(function);
  Reached reached;
  std::vector<bool> seen(outline.size());
  std::vector<std::size_t> work{0};
  seen[0] = true;
  while (!work.empty()) {
    auto const number = work.back();
    work.pop_back();
    auto const& block = outline[number];
    llvm::Instruction const* store = nullptr;
    for (auto const& step : block.steps) {
      if (auto const* call = dyn_cast<llvm::CallBase>(step.instruction)) reached.calls.push_back(call);
      if (!sets(step, place, setters)) continue;
      store = step.instruction;
      break;
    }
    reached.blocks.emplace_back(number, store);
    if (store) continue;
    reached.is_return = reached.is_return || block.is_return;
    for (auto const next : block.next)
      if (!seen[next]) {
        seen[next] = true;
        work.push_back(next);
      }
  }
  return reached;
}

std::vector<llvm::Function const*> const& InitialValues::callees_of(llvm::Function const& function) {
  auto const [known, is_new] = callees_.try_emplace(&function);
  if (!is_new) return known->second;
  std::unordered_set<llvm::Function const*> callees;
  for (auto const& instruction : llvm::instructions(function))
    if (auto const* call = dyn_cast<llvm::CallBase>(&instruction))
      callees.insert(effects_.callees_of(*call).functions.begin(), effects_.callees_of(*call).functions.end());
  known->second.assign(callees.begin(), callees.end());
  return known->second;
}

/// All that may set always do, until a way to a return shows that one does not: of one that calls itself, its other
/// ways decide.
void InitialValues::find_setters(Place const& place, Setters& setters) {
  std::vector<llvm::Function const*> work;
  auto const add = [&](llvm::Function const* function) {
    if (setters.may_set.insert(function).second) work.push_back(function);
  };
  std::vector<llvm::User const*> users(place.first->user_begin(), place.first->user_end());
  for (std::size_t i = 0; i < users.size(); ++i) {
    auto const* store = dyn_cast<llvm::StoreInst>(users[i]);
    if (store && place_of(*store->getPointerOperand()) == place) add(store->getFunction());
    if (isa<llvm::ConstantExpr, llvm::GetElementPtrInst, llvm::CastInst>(users[i]))
      users.insert(users.end(), users[i]->user_begin(), users[i]->user_end());
  }
  while (!work.empty()) {
    auto const* function = work.back();
    work.pop_back();
    for (auto const* call : effects_.callers_of(*function)) add(call->getFunction());
  }
  setters.always_set = setters.may_set;
  auto const does_not = [&](llvm::Function const* function) {
    return reached_unset(*function, place, setters).is_return;
  };
  while (std::erase_if(setters.always_set, does_not) > 0) {
  }
}

/// From functions that are called from outside, along calls before a store.
void InitialValues::find_beginnings(Place const& place, Setters& setters) {
  std::vector<llvm::Function const*> work;
  auto const add = [&](llvm::Function const* function) {
    if (setters.begin_unset.insert(function).second) work.push_back(function);
  };
  for (auto const& function : effects_.module())
    if (!function.isDeclaration() && (!effects_.is_closed(function) || effects_.callers_of(function).empty()))
      add(&function);
  while (!work.empty()) {
    auto const* function = work.back();
    work.pop_back();
    if (!setters.may_set.contains(function)) {
      for (auto const* callee : callees_of(*function)) add(callee);
      continue;
    }
    for (auto const* call : reached_unset(*function, place, setters).calls)
      for (auto const* callee : effects_.callees_of(*call).functions) add(callee);
  }
}

InitialValues::Setters const& InitialValues::setters_of(Place const& place) {
  auto const [known, is_new] = setters_.try_emplace(place);
  if (is_new) {
    find_setters(place, known->second);
    if (!known->second.may_set.empty()) find_beginnings(place, known->second);
  }
  return known->second;
}

bool InitialValues::may_read_initial(llvm::LoadInst const& load) {
  auto const place = place_of(*load.getPointerOperand());
  if (!place.first) return true;
  auto const& setters = setters_of(place);
  if (setters.may_set.empty()) return true;
  auto const& function = *load.getFunction();
  if (!setters.begin_unset.contains(&function)) return false;
  if (!setters.may_set.contains(&function)) return true;
  auto const number = std::ranges::distance(function.begin(), load.getParent()->getIterator());
  return std::ranges::any_of(reached_unset(function, place, setters).blocks, [&](auto const& block) {
    auto const [reached, store] = block;
    return static_cast<std::ptrdiff_t>(reached) == number && (!store || load.comesBefore(store));
  });
}

}  // namespace hornbill::alarms
