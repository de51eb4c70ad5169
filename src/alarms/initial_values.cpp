#include "initial_values.hpp"

#include <algorithm>

#include <llvm/IR/IntrinsicInst.h>
#include <llvm/IR/Module.h>

#include "look_back.hpp"

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

InitialValues::Place InitialValues::place_of(llvm::Value const& pointer) const {
  auto const& layout = effects_.module().getDataLayout();
  llvm::APInt bytes(layout.getIndexTypeSizeInBits(pointer.getType()), 0);
  auto const* base = pointer.stripAndAccumulateConstantOffsets(layout, bytes, true);
  return {isa<llvm::GlobalVariable>(base) ? base : nullptr, bytes.getSExtValue()};
}

bool InitialValues::sets(llvm::Instruction const& instruction, Place const& place) {
  if (auto const* store = dyn_cast<llvm::StoreInst>(&instruction))
    return place_of(*store->getPointerOperand()) == place;
  auto const* call = dyn_cast<llvm::CallBase>(&instruction);
  if (!call || isa<llvm::IntrinsicInst>(call)) return false;
  if (effects_.never_returns(*call)) return true;  // no way leads on from there
  auto const& callees = effects_.callees_of(*call);
  return !callees.is_open && !callees.functions.empty() &&
         std::ranges::all_of(callees.functions, [&](auto const* callee) { return always_sets(*callee, place); });
}

/// Whether all ways through a function do. Of one that calls itself, its other ways decide.
bool InitialValues::always_sets(llvm::Function const& function, Place const& place) {
  auto const [known, is_new] = always_sets_.try_emplace({&function, place}, false);
  if (!is_new) return known->second;
  bool const is_enough = false;
  return known->second = std::ranges::all_of(function, [&](llvm::BasicBlock const& block) {
           auto const* end = block.getTerminator();
           return !isa<llvm::ReturnInst>(end) ||
                  look_back(
                      *end, [&](llvm::Instruction const& before) { return sets(before, place); }, is_enough);
         });
}

bool InitialValues::is_set_before(llvm::Instruction const& instruction, Place const& place) {
  bool const is_enough = false;
  return look_back(
             instruction, [&](llvm::Instruction const& before) { return sets(before, place); }, is_enough) ||
         is_set_before(*instruction.getFunction(), place);
}

/// Whether all calls of a function come behind a store. Of one that calls itself, other calls decide.
bool InitialValues::is_set_before(llvm::Function const& function, Place const& place) {
  auto const [known, is_new] = is_set_before_.try_emplace({&function, place}, true);
  if (!is_new) return known->second;
  auto const& callers = effects_.callers_of(function);
  bool const is_set = effects_.is_closed(function) && !callers.empty() &&
                      std::ranges::all_of(callers, [&](auto const* call) { return is_set_before(*call, place); });
  return is_set_before_[{&function, place}] = is_set;
}

bool InitialValues::may_read_initial(llvm::LoadInst const& load) {
  auto const place = place_of(*load.getPointerOperand());
  return !place.first || !is_set_before(load, place);
}

}  // namespace hornbill::alarms
