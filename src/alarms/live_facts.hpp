// Which facts of a function are still asked. Internal to src/alarms.
#pragma once

#include <unordered_map>
#include <vector>

#include <llvm/ADT/BitVector.h>
#include <llvm/ADT/DenseMap.h>
#include <llvm/IR/BasicBlock.h>

#include "local_values.hpp"

namespace hornbill::alarms {

/// Values and the leaders that depend on them, of which facts are of the past where the value is there anew.
using Dependents = std::unordered_map<llvm::Value const*, std::vector<llvm::Value const*>>;

/// Live facts, as compilers know live variables: a branch, a selection or a phi behind the beginning of a block asks
/// them, before the values that they are of are there anew. Other facts need not keep paths apart.
class LiveFacts {
 public:
  /// \param related  conditions that are asked where another value is
  LiveFacts(LocalValues const& values, std::vector<llvm::Value const*> const& leaders, Dependents const& dependents,
            Dependents related);

  /// Whether the fact of a leader is live behind the phis of a block.
  bool is_live(llvm::Value const& leader, llvm::BasicBlock const& block) const;

 private:
  void add_asked(llvm::Value const* value, llvm::BitVector& asked, int depth = 0) const;
  void forget(llvm::Instruction const& instruction, llvm::BitVector& live) const;
  llvm::BitVector live_in(llvm::BasicBlock const& block) const;
  llvm::BitVector live_out(llvm::BasicBlock const& block) const;

  LocalValues const& values_;
  Dependents const& dependents_;
  Dependents related_;
  llvm::DenseMap<llvm::Value const*, unsigned> number_of_;  // leaders
  llvm::DenseMap<llvm::BasicBlock const*, llvm::BitVector> live_;
};

}  // namespace hornbill::alarms
