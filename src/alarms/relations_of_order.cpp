// Whether a load may run after a statement that freed what it reads.
#include <algorithm>
#include <unordered_set>
#include <utility>
#include <vector>

#include <llvm/Analysis/CFG.h>
#include <llvm/Analysis/ValueTracking.h>
#include <llvm/IR/InstIterator.h>

#include "relations.hpp"

namespace hornbill::alarms {

using llvm::dyn_cast, llvm::isa;

namespace {

/// Whether each round of a loop loads from another place: at an index, or by a pointer, that the loop steps on.
bool steps_on(llvm::LoadInst const& load) {
  constexpr std::size_t most = 32;
  std::vector<llvm::Value const*> work{load.getPointerOperand()};
  std::unordered_set<llvm::Value const*> seen;
  while (!work.empty() && seen.size() < most) {
    auto const* value = work.back();
    work.pop_back();
    if (!seen.insert(value).second) continue;
    if (auto const* phi = dyn_cast<llvm::PHINode>(value)) {
      bool const is_stepped = std::ranges::any_of(phi->incoming_values(), [&](auto const& incoming) {
        auto const* step = dyn_cast<llvm::Instruction>(incoming);
        return step && isa<llvm::BinaryOperator, llvm::GetElementPtrInst>(step) && step->getOperand(0) == phi;
      });
      if (is_stepped) return true;
    } else if (isa<llvm::GetElementPtrInst, llvm::CastInst, llvm::BinaryOperator>(value)) {
      for (auto const& operand : llvm::cast<llvm::User>(value)->operands()) work.push_back(operand);
    }
  }
  return false;
}

}  // namespace

/// Where a function runs a statement: itself, or by calls that lead there.
std::vector<llvm::Instruction const*> Relations::ways_within(llvm::Function const& function,
                                                             llvm::Instruction const& statement) {
  auto const [at, is_new] = ways_within_.try_emplace({&function, statement.getFunction()});
  if (is_new)
    for (auto const& instruction : llvm::instructions(function))
      if (auto const* call = dyn_cast<llvm::CallBase>(&instruction);
          call && facts_.order().leads_to(*call, *statement.getFunction()))
        at->second.push_back(call);
  auto ways = at->second;
  if (statement.getFunction() == &function) ways.push_back(&statement);
  return ways;
}

/// The variable of the program that an object is; none of other objects.
llvm::Value const* Relations::variable_of_object(Index object) {
  auto const& memory = facts_.program().bitcode().memory();
  if (variable_of_object_.empty()) {
    for (auto const& global : facts_.effects().module().globals())
      variable_of_object_[memory.object_of(global)] = &global;
    for (auto const& function : facts_.effects().module())
      for (auto const& instruction : llvm::instructions(function))
        if (isa<llvm::AllocaInst>(instruction)) variable_of_object_[memory.object_of(instruction)] = &instruction;
  }
  auto const found = variable_of_object_.find(facts_.fields().first[object]);
  return found == variable_of_object_.end() ? nullptr : found->second;
}

namespace {

/// Whether one statement may run after another one, in one run of their function.
bool reaches(llvm::Instruction const& first, llvm::Instruction const& then) {
  return llvm::isPotentiallyReachable(first.getNextNode() ? first.getNextNode() : &first, &then);
}

}  // namespace

/// Each run of a function has variables of its own.
bool Relations::is_in_one_run(Use const& use, llvm::LoadInst const& load, Index object) {
  auto const* local = llvm::dyn_cast_or_null<llvm::AllocaInst>(variable_of_object(object));
  if (!local) return true;
  auto const& function = *local->getFunction();
  auto const& freeing = *use.instruction;
  auto const& values = facts_.tracker(*freeing.getFunction()).values();
  bool const is_next = values.address_of(use.value()).base == &load && steps_on(load);  // another element
  auto const ways_of_load = ways_within(function, load);
  for (auto const* first : ways_within(function, freeing))
    for (auto const* then : ways_of_load) {
      if (reaches(*first, *then)) return true;
      bool const is_in_one_call = first == then && first != &freeing && !is_next;
      if (is_in_one_call && (freeing.getFunction() != load.getFunction() || reaches(freeing, load))) return true;
    }
  return false;
}

bool Relations::are_elements_freed_before(Use const& use, llvm::LoadInst const& load) {
  auto const& values = facts_.tracker(*use.instruction->getFunction()).values();
  auto const* freed = dyn_cast<llvm::LoadInst>(values.address_of(use.value()).base);
  bool const is_own = isa<llvm::AllocaInst>(llvm::getUnderlyingObject(load.getPointerOperand()));
  return freed && is_own && use.instruction->getFunction() != load.getFunction() && steps_on(*freed);
}

/// Whether a load may read what was there at a use. One that reads what this function put there does so if a call lies
/// between that leads to the use.
bool Relations::may_read_after(Use const& use, llvm::LoadInst const& load) {
  if (facts_.is_freed_itself(use, load)) return false;
  auto const& values = facts_.tracker(*load.getFunction()).values();
  auto& order = facts_.order();
  if (values.address_of(use.value()).base == &load && steps_on(load)) {  // the next element; or all of them again
    bool const is_own = isa<llvm::AllocaInst>(llvm::getUnderlyingObject(load.getPointerOperand()));
    return !is_own && order.is_called_after(*use.instruction, *load.getFunction());
  }
  if (values.is_open(load)) return order.may_follow(*use.instruction, load);
  return std::ranges::any_of(values.calls_before(load), [&](llvm::CallBase const* call) {
    return order.leads_to(*call, *use.instruction->getFunction());
  });
}

}  // namespace hornbill::alarms
