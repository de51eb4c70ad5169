#include "live_facts.hpp"

#include <llvm/ADT/PostOrderIterator.h>
#include <llvm/IR/CFG.h>
#include <llvm/IR/Instructions.h>

#include "conditions.hpp"

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

/// Backwards, until nothing changes.
LiveFacts::LiveFacts(LocalValues const& values, std::vector<llvm::Value const*> const& leaders,
                     Dependents const& dependents, Dependents related)
    : values_(values), dependents_(dependents), related_(std::move(related)) {
  for (auto const* leader : leaders) number_of_.try_emplace(leader, number_of_.size());
  for (bool has_changed = true; has_changed;) {
    has_changed = false;
    for (auto const* block : llvm::post_order(&values.function())) {
      auto live = live_in(*block);
      auto& known = live_[block];
      if (live == known) continue;
      known = std::move(live);
      has_changed = true;
    }
  }
}

bool LiveFacts::is_live(llvm::Value const& leader, llvm::BasicBlock const& block) const {
  auto const number = number_of_.find(&leader);
  auto const live = live_.find(&block);
  return number != number_of_.end() && live != live_.end() && live->second.test(number->second);
}

/// Adds leaders whose facts may say what a value is.
void LiveFacts::add_asked(llvm::Value const* value, llvm::BitVector& asked, int depth) const {
  auto const* leader = values_.leader_of(value);
  if (auto const number = number_of_.find(leader); number != number_of_.end()) {
    if (asked.test(number->second)) return;
    asked.set(number->second);
  }
  if (auto const related = related_.find(leader); related != related_.end() && depth < deepest_condition)
    for (auto const* other : related->second) add_asked(other, asked, depth + 1);
  auto const* chosen = dyn_cast<llvm::SelectInst>(leader);
  if (depth == deepest_condition || !(chosen || is_of_conditions(leader))) return;
  if (chosen && chosen->getType()->isPointerTy()) return add_asked(chosen->getCondition(), asked, depth + 1);
  for (auto const& operand : llvm::cast<llvm::User>(leader)->operands()) add_asked(operand, asked, depth + 1);
}

void LiveFacts::forget(llvm::Instruction const& instruction, llvm::BitVector& live) const {
  auto const found = dependents_.find(&instruction);
  if (found == dependents_.end()) return;
  for (auto const* leader : found->second) live.reset(number_of_.lookup(leader));
}

llvm::BitVector LiveFacts::live_out(llvm::BasicBlock const& block) const {
  llvm::BitVector live(number_of_.size());
  for (auto const* next : llvm::successors(&block)) {
    auto behind_phis = live_.lookup(next);
    behind_phis.resize(number_of_.size());
    for (auto const& phi : next->phis()) forget(phi, behind_phis);
    live |= behind_phis;
    for (auto const& phi : next->phis())
      if (number_of_.count(&phi) != 0) add_asked(phi.getIncomingValueForBlock(&block), live);
  }
  return live;
}

llvm::BitVector LiveFacts::live_in(llvm::BasicBlock const& block) const {
  auto live = live_out(block);
  if (auto const* branch = dyn_cast<llvm::BranchInst>(block.getTerminator()); branch && branch->isConditional())
    add_asked(branch->getCondition(), live);
  else if (auto const* choice = dyn_cast<llvm::SwitchInst>(block.getTerminator()))
    add_asked(choice->getCondition(), live);
  for (auto const* instruction = block.getTerminator(); instruction && !isa<llvm::PHINode>(instruction);
       instruction = instruction->getPrevNode()) {
    forget(*instruction, live);
    if (auto const* select = dyn_cast<llvm::SelectInst>(instruction); select && select->getType()->isPointerTy())
      add_asked(select->getCondition(), live);
  }
  return live;
}

}  // namespace hornbill::alarms
