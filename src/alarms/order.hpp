// Whether one statement of a program may run after another one. Internal to src/alarms.
#pragma once

#include <unordered_map>
#include <unordered_set>
#include <vector>

#include <llvm/IR/Instructions.h>

#include "memory_effects.hpp"

namespace hornbill::alarms {

/// By calls and returns, whoever calls.
class Order {
 public:
  explicit Order(MemoryEffects& effects) : effects_(effects) {}

  bool may_follow(llvm::Instruction const& first, llvm::Instruction const& then);
  /// Whether a function may be called behind a statement.
  bool is_called_after(llvm::Instruction const& first, llvm::Function const& function);
  /// Whether a call may lead to a function.
  bool leads_to(llvm::CallBase const& call, llvm::Function const& function);

 private:
  /// What may run after a statement.
  struct After {
    std::unordered_set<llvm::Function const*> functions;  ///< from their beginning
    std::unordered_set<llvm::BasicBlock const*> blocks;   ///< from their beginning
    std::vector<llvm::Instruction const*> instructions;   ///< behind them, to the end of their block
  };
  After const& after(llvm::Instruction const& first);
  void add_callees(llvm::Instruction const& from, After& after);

  MemoryEffects& effects_;
  std::unordered_map<llvm::Instruction const*, After> after_;
  std::unordered_map<llvm::Function const*, std::unordered_set<llvm::Function const*>>
      callers_;  // also theirs, and itself
};

}  // namespace hornbill::alarms
